"""A report of a part of a recording: judged whole, shown in part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tracekit
from suite.cases.unused_load import forgotten
from support.handover import trace_of
from tracekit.api import judge
from tracekit.cli.dispatch import main
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Cost, Evidence, Finding, NotEvaluated, Passed
from tracekit.detectors.pages import Pattern
from tracekit.detectors.rules import reload_before_predict, run_issues, unused_load
from tracekit.errors import UsageError
from tracekit.intervals import Intervals
from tracekit.report.choice import Part, choose_shown, shown_judgments, unknown_model, unknown_process
from tracekit.request import request_of
from tracekit.testing import Draws, write_export
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario
from tracekit.trace.filter import everything, only_models, only_range, only_ranges
from tracekit.trace.instruments.tables import Processes, Signposts
from tracekit.trace.trace import Trace

MS = 1_000_000
NET, OTHER = Model("Net", 1), Model("Other", 1)


@pytest.fixture(scope="module")
def two():
    """Two models, and a model of another process on the Neural Engine."""
    scenario = Scenario(Process("Camera", 412), duration_ns=60_000 * MS)
    scenario.processes.append(Process("secretd", 66))
    for at, model in enumerate((NET, OTHER)):
        scenario.load(model, at * 100 * MS, 50 * MS)
        for call in range(30):
            scenario.predict(model, (1_000 + 100 * call + 40 * at) * MS, 20 * MS)
    scenario.other_neural_engine(30_000 * MS, 10 * MS, "Hidden_main__Op0_AneInference Prediction")
    return trace_of(scenario)


def evidence(model: str | None, start_ns: int, end_ns: int) -> Evidence:
    return Evidence(start_ns, end_ns, model, "", "t", 0)


def finding(model: str | None, *shown: Evidence, affected: tuple[int, int] | None = None, total: int = 0) -> Finding:
    where = Intervals(*(np.array([edge], np.int64) for edge in affected)) if affected else Intervals.none()
    return Finding(model, "", (), Cost(1, 0.5, "") if affected else None, shown, total, where)


def answers(trace: Trace, shown, *judgments: Judgment) -> list[tuple[str, str | None, str]]:
    return [
        (entry.detector.id, entry.outcome.model, type(entry.outcome).__name__)
        for entry in shown_judgments(judgments, trace, shown)
    ]


def test_of_some_models_only_their_answers_are_shown(two):
    shown = only_models(everything(two), two, ["Net"])
    detector = reload_before_predict.DETECTOR
    both = [Judgment(detector, finding("Net")), Judgment(detector, Passed("Other", ""))]
    assert answers(two, shown, *both) == [(detector.id, "Net", "Finding")]
    assert answers(two, None, *both) == [(detector.id, "Net", "Finding"), (detector.id, "Other", "Passed")]


@pytest.mark.parametrize(
    ("about", "total", "outcome"),
    [
        (["Other"], 0, "NotApplicable"),
        (["Net", "Other"], 0, "Finding"),
        # What tells nothing of its models, or not of all, may be about the one that is shown.
        ([], 0, "Finding"),
        (["Other"], 2, "Finding"),
        (["Other", None], 0, "Finding"),
    ],
)
def test_a_finding_about_several_models_is_shown_with_any_of_them(two, about, total, outcome):
    shown = only_models(everything(two), two, ["Net"])
    entries = [evidence(name, 0, 1) for name in about]
    judgment = Judgment(unused_load.DETECTOR, finding(None, *entries, total=total))
    assert answers(two, shown, judgment) == [("unused-load", None, outcome)]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (finding("Net", evidence("Net", 5, 10)), "NotApplicable"),
        (finding("Net", evidence("Net", 5, 11)), "Finding"),
        (finding("Net", evidence("Net", 5, 10), affected=(12, 13)), "Finding"),
        (finding("Net", evidence("Net", 5, 10), affected=(1, 9), total=9), "NotApplicable"),
        (finding("Net", evidence("Net", 5, 10), total=9), "Finding"),
        (finding("Net"), "Finding"),
        (Passed("Net", ""), "Passed"),
    ],
)
def test_of_a_range_the_findings_that_reach_into_it_are_shown(two, outcome, expected):
    shown = replace(everything(two), ranges=Intervals(np.array([10]), np.array([20])))
    detector = reload_before_predict.DETECTOR
    assert answers(two, shown, Judgment(detector, outcome)) == [(detector.id, "Net", expected)]


def test_fault_with_the_recording_limits_every_part_of_it(two):
    shown = replace(only_range(everything(two), two, 0, 1), models=frozenset(["Net"]))
    judgment = Judgment(run_issues.DETECTOR, finding(None, evidence("Other", 5, 6)))
    assert answers(two, shown, judgment) == [("run-issues", None, "Finding")]


def test_a_detector_that_looked_at_nothing_shown_does_not_say_passed(two):
    detector = reload_before_predict.DETECTOR
    judgments = [Judgment(detector, Passed("Net", "")), Judgment(detector, Passed("Other", ""))]
    for shown in (
        only_models(everything(two), two, ["Hidden"]),
        only_range(everything(two), two, 50_000 * MS, 1 << 62),
    ):
        (answer,) = shown_judgments(judgments, two, shown)
        assert isinstance(answer.outcome, NotEvaluated)
        assert answer.outcome.model is None


@pytest.mark.parametrize(("models", "start_ns", "end_ns", "says"), [
    (["Net"], 10_000 * MS, 11_000 * MS, "Net starts from 10 s to 11 s: the first starts at 0.000 s, the last ends"),
    (["Net", "Other"], 10_000 * MS, None, "Net, Other starts from 10 s: the first starts at 0.000 s, the last ends"),
    ([], None, -1, "starts before -1e-09 s: the first starts at 0.000 s, the last ends at 3.960 s."),
    # Between two predictions, and where only the hardware names the model.
    (["Net"], 1_050 * MS, 1_060 * MS, "of Net starts from 1.05 s to 1.06 s: the first"),
    (["Hidden"], None, None, "a stage is evaluated with its pipeline"),
])  # fmt: skip
def test_a_part_without_an_event_of_what_was_chosen_is_inconclusive_and_says_when_its_events_are(
    two, models, start_ns, end_ns, says
):
    shown = choose_shown(two, models=models) if start_ns is end_ns is None else everything(two)
    if shown.models is None:
        part = Part(start_ns, end_ns)
        ranges = Intervals(np.array([start_ns or -2]), np.array([1 << 62 if end_ns is None else end_ns]))
        shown = only_ranges(shown, two, ranges, *part.words)
        shown = only_models(shown, two, models) if models else shown
    report = judge(two, shown=shown)
    assert not report.summary.says
    assert report.summary.verdict.startswith("Inconclusive: ")
    assert says in report.summary.verdict
    of_app = {check.outcome for check in report.results if check.pattern != Pattern.RECORDING}
    assert of_app == {"not_evaluated"}


def test_what_the_whole_app_suffers_is_said_of_a_part_without_its_models(two):
    shown = only_models(only_range(everything(two), two, 10_000 * MS, 11_000 * MS), two, ["Net"])
    detector = unused_load.DETECTOR
    found = Judgment(detector, finding(None, affected=(10_500 * MS, 10_600 * MS)))
    assert answers(two, shown, found) == [(detector.id, None, "Finding")]
    assert answers(two, shown, Judgment(detector, Passed(None, ""))) == [(detector.id, None, "NotEvaluated")]


def test_a_part_has_the_numbers_of_the_whole(two):
    full, part = judge(two), judge(two, shown=choose_shown(two, models=["Net"]))
    assert part.models == tuple(model for model in full.models if model.name == "Net")
    assert part.aggregation == tuple(row for row in full.aggregation if row.model == "Net")
    assert [row.statistics.count for row in part.aggregation if row.kind == "prediction"] == [30]
    counts = part.summary
    assert counts.findings + counts.passed + counts.not_applicable + counts.not_evaluated == len(part.results)


def test_the_first_call_of_a_range_is_warm_where_the_load_came_long_before(two):
    part = judge(two, shown=only_range(everything(two), two, 1_500 * MS, 2_000 * MS))
    assert [(model.name, model.predictions, model.latency.cold) for model in part.models] == [
        ("Net", 5, None),
        ("Other", 5, None),
    ]
    # The first call after a load stays so where the load lies outside.
    first = judge(two, shown=only_range(everything(two), two, 1_000 * MS, 1_030 * MS))
    assert [(model.name, model.loads, model.latency.warm) for model in first.models] == [("Net", 0, None)]


def test_another_process_than_the_target_is_not_judged_and_nothing_passes(two):
    report = judge(two, shown=choose_shown(two, process=66))
    assert not report.models
    assert not report.summary.evaluated
    outcomes = {check.outcome for check in report.results if check.pattern != Pattern.RECORDING}
    assert outcomes <= {"not_evaluated"}
    health = [check.id for check in report.results if check.outcome != "not_evaluated"]
    assert {"attached-late", "truncated-recording"} <= set(health)


def test_the_target_is_all_that_is_judged_without_it(two):
    full = judge(two)
    for process in ("Camera", 412):
        part = judge(two, shown=choose_shown(two, process=process))
        assert (part.results, part.summary, part.models) == (full.results, full.summary, full.models)


def test_a_gate_fails_for_what_is_shown_alone(tmp_path, capsys):
    app = forgotten(Draws(3))
    used = next(row.model.base for row in app.scenario.coreml if row.label == "Prediction")
    unused = next(row.model.base for row in app.scenario.coreml if row.model.base != used)
    path = str(tmp_path / "export")
    write_export(app.finish(), Path(path))
    for models, outcome in (((), "finding"), ([unused], "finding"), ([used], "not_applicable")):
        (check,) = tracekit.analyze(path, models=models, only=["unused-load"]).results
        assert check.outcome == outcome
    gate = ["analyze", path, "--only", "unused-load,reload-before-predict", "--fail-on", "low", "--no-config"]
    assert main([*gate, "--model", unused]) == 1
    assert main([*gate, "--model", used]) == 0
    assert "unused-load" in capsys.readouterr().err


def test_a_budget_may_name_a_model_that_is_not_shown(two):
    request = request_of(budget="Other=1ms", only=["missed-deadline"])
    report = judge(two, request, choose_shown(two, models=["Net"]))
    assert {check.outcome for check in report.results} <= {"not_applicable", "not_evaluated"}
    report = judge(two, request, choose_shown(two, models=["Other"]))
    assert [check.outcome for check in report.results] == ["finding"]


@pytest.mark.parametrize("count", [{"budget": "x=1ms"}, {"expect": "x=gpu"}])
def test_errors_about_models_do_not_name_those_of_others(two, count):
    with pytest.raises(UsageError, match=r"available: Net, Other\); 'tracekit analyze --no-redact'") as refused:
        judge(two, request_of(**count))
    assert "Hidden" not in str(refused.value)
    with pytest.raises(UsageError, match="available: Hidden, Net, Other"):
        judge(two, request_of(redact=False, **count))
    with pytest.raises(UsageError, match=r"available: Net, Other\)"):
        choose_shown(two, models=["Hiden"])


def test_errors_about_processes_give_pids_for_those_that_are_private(two):
    signposts = Processes.listed(1, {"process": ["secretd"], "pid": [66]})
    with_signposts = replace(two, context={**two.context, "processes": signposts})
    error = str(unknown_process(with_signposts, "secret", redact=True))
    assert "secretd" not in error
    assert "available: Camera, 66)" in error
    assert "did you mean 'secretd'" in str(unknown_process(with_signposts, "secret", redact=False))
    assert choose_shown(with_signposts, process="66") is not None


def test_names_in_errors_cannot_steer_a_terminal(two):
    hostile = "\x1b]0;owned\x07\u202e"
    model = two.activity.model.recoded(lambda name: hostile if name == "Net" else name)
    renamed = replace(two, activity=replace(two.activity, model=model))
    for error in (unknown_model(renamed, "x", redact=True), unknown_model(two, hostile, redact=False)):
        assert str(error).isprintable()


def with_signposts(trace: Trace) -> Trace:
    rows = [("frame", 0, 412), ("frame", 2, 412), ("frame", 5, 66), ("other", 7, 412)]
    names, at, pids = zip(*rows, strict=True)
    starts = [1_000 * MS + each * 100 * MS for each in at]
    cells = {"name": names, "start_ns": starts, "duration_ns": [70 * MS] * len(rows), "pid": pids}
    return replace(trace, context={**trace.context, "signposts": Signposts.listed(len(rows), cells)})


def test_of_a_signpost_what_starts_within_its_intervals_is_shown(two):
    trace = with_signposts(two)
    shown = choose_shown(trace, part=Part(signpost="frame"))
    started = trace.activity.start_ns[shown.rows["activity"]]
    # Predictions start every 100 ms at 1,000 and at 1,040 ms; the interval of the other process does not count.
    assert sorted(started // MS) == [1_000, 1_040, 1_200, 1_240]
    assert [(start // MS, end // MS) for start, end in zip(shown.ranges.starts, shown.ranges.ends, strict=True)] == [
        (1_000, 1_070),
        (1_200, 1_270),
    ]
    assert "within signpost frame" in shown.notes[0]


def test_a_range_cuts_the_intervals_of_a_signpost(two):
    trace = with_signposts(two)
    shown = choose_shown(trace, part=Part(1_020 * MS, 1_210 * MS, "frame"))
    assert sorted(trace.activity.start_ns[shown.rows["activity"]] // MS) == [1_040, 1_200]


def test_a_finding_between_the_intervals_of_a_signpost_is_outside(two):
    shown = choose_shown(with_signposts(two), part=Part(signpost="frame"))
    detector = reload_before_predict.DETECTOR
    for start, expected in ((1_050, "Finding"), (1_100, "NotApplicable")):
        judgment = Judgment(detector, finding("Net", evidence("Net", start * MS, (start + 10) * MS)))
        assert answers(two, shown, judgment) == [(detector.id, "Net", expected)]


def test_an_unknown_signpost_is_an_error(two):
    with pytest.raises(UsageError, match="unknown signpost"):
        choose_shown(with_signposts(two), part=Part(signpost="nothing"))
    with pytest.raises(UsageError, match="no signpost intervals"):
        choose_shown(replace(two, context={}), part=Part(signpost="frame"))
