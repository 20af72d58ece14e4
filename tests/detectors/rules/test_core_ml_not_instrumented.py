"""Models that ran without Core ML telling of them, and what only looks like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.analyses import kept_analysis
from support.forms import short_text
from support.handover import trace_of
from tracekit.api import judge as judge_trace
from tracekit.detectors import RecordingView
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.detectors.rules.core_ml_not_instrumented import Options, detect
from tracekit.detectors.runner import run_detectors
from tracekit.recording.contents import TableEntry
from tracekit.recording.table import TableState
from tracekit.report.serialize import to_json
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.rows import ENGINE_LOAD, Model, SignpostRow
from tracekit.testing.scenario import CORE_ML

ID = "core-ml-not-instrumented"
MS = 1_000_000
NET = Model("Net")
ON_GPU = "Net_main__Op0_MpsGraphInference:Compute Command 0"


def executions(scenario, count: int, label: str = "Neural Engine Prediction") -> None:
    """Executions of 5 ms."""
    for number in range(count):
        scenario.other_neural_engine(number * 20 * MS, 5 * MS, label)


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)[None]


def test_work_of_the_target_on_the_gpu_that_names_a_model_proves_it(scenario, judge):
    scenario.gpu_work(100 * MS, 3 * MS, scenario.target, "Compute", ON_GPU)
    finding = judged(judge, scenario)
    assert (finding.model, finding.cost) == (None, None)
    assert "The target ran Net on the GPU (1 row, 3.00 ms), but the Core ML table is empty." in finding.summary
    assert "possible" not in finding.summary
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(100 * MS, 103 * MS)]


def test_the_neural_engine_alone_makes_it_possible(scenario, judge):
    executions(scenario, 30)
    scenario.other_neural_engine(700 * MS, 50 * MS, ENGINE_LOAD)
    finding = judged(judge, scenario)
    assert "executed 30 requests (150 ms)" in finding.summary
    assert "another process may have made them" in finding.summary
    assert finding.evidence_total == 30


def test_requests_that_name_a_model_are_counted(scenario, judge):
    executions(scenario, 20, NET.engine_label())
    assert "20 requests of Net" in judged(judge, scenario).summary


def test_work_of_others_proves_nothing(scenario, judge):
    scenario.gpu_work(100 * MS, 3 * MS, WINDOW_SERVER, "Compute", ON_GPU)
    executions(scenario, 30, NET.engine_label())
    assert isinstance(judged(judge, scenario), NotEvaluated), "only another process is seen with this model"


def test_other_work_of_the_target_proves_nothing(scenario, judge):
    for number in range(40):
        scenario.gpu_work(number * MS, MS, scenario.target)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotEvaluated)
    assert "get-task-allow" in outcome.record


def test_with_rows_of_core_ml_there_is_nothing_to_find(scenario, judge):
    scenario.load(NET, 0, 5 * MS)
    executions(scenario, 30)
    assert judged(judge, scenario) == Passed(None, "Core ML recorded 1 event.")


def test_signposts_tell_that_the_log_is_intact(scenario, judge):
    scenario.gpu_work(100 * MS, 3 * MS, scenario.target, "Compute", ON_GPU)
    scenario.signposts.append(SignpostRow(0, MS, "step", "com.example.app", "work"))
    assert "the likely cause is a missing entitlement" in judged(judge, scenario).summary


def test_an_instrument_that_was_not_recorded_is_named_where_the_target_ran_a_model(scenario, judge):
    scenario.missing.add(CORE_ML)
    executions(scenario, 30)
    assert isinstance(judged(judge, scenario), NotEvaluated), "nobody asked for Core ML's events"
    scenario.gpu_work(700 * MS, 3 * MS, scenario.target, "Compute", ON_GPU)
    finding = judged(judge, scenario)
    assert isinstance(finding, Finding)
    assert "the Core ML instrument was not recorded" in finding.summary


def test_an_export_without_the_table_may_have_left_it_out(scenario):
    scenario.missing.add(CORE_ML)
    scenario.gpu_work(100 * MS, 3 * MS, scenario.target, "Compute", ON_GPU)
    (judgment,) = run_detectors(trace_of(scenario, with_toc=False), only=[ID])
    assert isinstance(judgment.outcome, NotEvaluated)
    assert "unknown" in judgment.outcome.reason


def with_run(trace, **changes):
    return replace(trace, run=replace(trace.run, **changes))


def test_models_of_another_framework_need_no_core_ml(scenario):
    executions(scenario, 30)
    trace = trace_of(scenario)
    assert isinstance(detect(RecordingView(trace), Options()), Finding)
    tables = (TableEntry("CoreAIProfile", TableState.ROWS, rows=12),)
    outcome = detect(RecordingView(with_run(trace, tables=tables)), Options())
    assert isinstance(outcome, NotEvaluated)
    assert "but Core AI did" in outcome.reason
    without_rows = (TableEntry("CoreAIProfile", TableState.EMPTY, rows=0),)
    assert isinstance(detect(RecordingView(with_run(trace, tables=without_rows)), Options()), Finding)


def test_a_damaged_log_is_named_as_the_cause(scenario):
    executions(scenario, 30)
    issues = ("Fatal logging system error: The log archive is corrupt or incomplete",)
    outcome = detect(RecordingView(with_run(trace_of(scenario), issues=issues)), Options())
    assert "a damaged log archive" in outcome.summary


def test_an_import_is_named_as_the_cause(scenario):
    executions(scenario, 30)
    scenario.imported_from = "/Users/me/Attachments/trace-data.atrc"
    report = judge_trace(trace_of(scenario))
    assert report.recording.imported_from == "trace-data.atrc"
    (findings,) = (check for check in report.results if check.outcome == "finding" and check.id == ID)
    assert "imported from" in findings.summary
    assert "/Users/me" not in to_json(report)
    # The short report and the coverage say so, and blame no entitlement.
    (core_ml,) = (entry for entry in report.coverage if entry.instrument == "Core ML")
    short = short_text(report, width=200, color=False)
    for text in (core_ml.conclusion, short):
        assert "trace-data.atrc" in text
        assert "`xctrace import` loses" in text
    assert "entitlement" not in core_ml.conclusion + core_ml.advice


def test_work_of_a_unit_that_was_not_recorded_is_not_none(scenario, judge):
    scenario.missing.add("metal-gpu-intervals")
    executions(scenario, 30)
    outcome = judged(judge, scenario)
    assert [metric.value for metric in outcome.metrics] == [None, 30]


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize("name", ["quick_probe", "fp16_w8_60s_all", "hello_coreml"])
def test_real_recordings_whose_call_stacks_show_the_calls_are_judged_by_them(corpus, name):
    report = kept_analysis(corpus / "bundles" / f"{name}.trace").report
    (check,) = (check for check in report.results if check.id == ID)
    assert (check.outcome, report.summary.evaluated) == ("not_applicable", True)
    assert "inferred from call stacks" in check.summary
    text = " ".join(short_text(report, width=200, color=False).split())
    what, why = "data lane, hand-offs, compute unit per layer (", " checks): Core ML recorded no events, likely"
    assert text.index("NOT EVALUATED") < text.index(what) < text.index(why)
    assert "`tracekit doctor --target APP` checks it" in text
