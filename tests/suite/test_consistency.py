"""No report contradicts itself, and a report that does is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from suite import consistent_findings, consistent_numbers
from suite.cases.app_conversion import permille
from suite.cases.neural_engine_contention import behind_another_model
from suite.conftest import numbers_of
from suite.consistency import contradictions, contradictions_of
from suite.frame import SHARED, detector_ids, module_of, read_back
from suite.reported import Reported, reported
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.detectors.outcomes import Each, Savings
from tracekit.detectors.ranking import Related, Relation
from tracekit.intervals import Intervals
from tracekit.report.verdict import first_words
from tracekit.testing import Draws, Model
from tracekit.testing.recorder import neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD

RARER = 9
"""Without `--every-case`, one in so many of the cases that are judged has its report looked at too, and those of one
detector in four."""
MODULES = [*map(module_of, detector_ids()), *SHARED]


def pytest_generate_tests(metafunc):
    if "module" in metafunc.fixturenames:
        metafunc.parametrize("module", MODULES[:: 1 if metafunc.config.getoption("--every-case") else 4])


@pytest.mark.turns(2)
def test_no_report_contradicts_itself(request, module):
    step = 1 if request.config.getoption("--every-case") else RARER
    wrong = contradictions_of((module, number) for number in numbers_of(request.config, module)[::step])
    assert not wrong, "\n".join(wrong)


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_no_report_of_a_sample_contradicts_itself(name):
    assert contradictions(reported(trace_of(SAMPLES[name]()))) == []


@pytest.fixture(scope="module")
def queued() -> Reported:
    """A model that waits for another one of its app on the Neural Engine."""
    return reported(read_back(behind_another_model(Draws(1)), bundle=False))


@pytest.fixture
def told(queued):
    """`told(check, made)`: what a check says of a changed report that it does not say of the report as it was."""

    def complaints(check, made):
        return set(check(made)) - set(check(queued))

    return complaints


def with_report(made: Reported, **changes) -> Reported:
    return replace(made, report=replace(made.report, **changes))


def with_model(made: Reported, **changes) -> Reported:
    """The first model of the report with other facts."""
    first, *others = made.report.models
    return with_report(made, models=(replace(first, **changes), *others))


def with_check(made: Reported, **changes) -> Reported:
    """The first finding of the report says something else."""
    first, *others = made.report.results
    assert first.outcome == "finding"
    return with_report(made, results=(replace(first, **changes), *others))


def changed(made: Reported) -> Iterator[tuple[Callable[[Reported], Iterator[str]], Reported, bool]]:
    """Checks, reports that were changed, and whether the check says so."""
    report, model = made.report, made.report.models[0]
    numbers, findings = consistent_numbers, consistent_findings
    percentiles = {"p50_ns": model.prediction.max_ns + 1.0}, {"p95_ns": 0.0}, {"mean_ns": 1.0}, {"elapsed_ns": 1}
    for change in percentiles:
        yield numbers.statistics, with_model(made, prediction=replace(model.prediction, **change)), True
    for change in ({"predictions": 1}, {"loads": 77}, {"cold_loads": 77}):
        yield numbers.counts, with_model(made, **change), True
    times = model.throughput
    slightly = times.predictions * 1e9 / (times.span_ns - times.gap_ns) * 1.01
    for rate in (150_000.0, slightly):
        yield numbers.rates, with_model(made, throughput=replace(times, per_second=rate)), True
    parts = (*model.breakdown.parts[:-1], replace(model.breakdown.parts[-1], share=1.0))
    yield numbers.shares, with_model(made, breakdown=replace(model.breakdown, parts=parts)), True
    yield numbers.shares, with_check(made, summary="It took 118% of the time."), True
    metrics = tuple(replace(metric, value=1.2, unit="share") for metric in report.results[0].metrics)
    yield numbers.shares, with_check(made, metrics=metrics), True
    info, *others = report.findings
    for change in ({"savings_ns": 1 << 60}, {"extra_savings_ns": 1 << 60}):
        yield findings.savings, with_report(made, findings=(replace(info, **change), *others)), True
    yield findings.savings, with_report(made, summary=replace(report.summary, savings_ns=1 << 60)), True
    for change in ({"findings": 9}, {"critical": 9}, {"models": 9}, {"verdict": "7 findings."}):
        yield findings.verdict, with_report(made, summary=replace(report.summary, **change)), True
    yield findings.verdict, with_report(made, findings=(replace(info, models=("Other",)), *others)), True
    yield findings.words, with_check(made, summary="7,000 of 8,000 predictions queued."), True
    yield findings.words, with_check(made, summary="9 of 8 warm predictions queued."), True
    yield findings.words, with_check(made, summary="It is the p95 of 8 predictions."), False
    yield findings.words, with_check(made, record="Record longer, without overlapping predictions."), True
    related = Related("cold-load", None, Relation.CAUSED_BY)
    yield findings.relations, with_check(made, related=(related,)), False
    yield findings.relations, with_check(made, related=(related, related)), True


def test_a_report_that_contradicts_itself_is_told(told, queued):
    for number, (check, made, wrong) in enumerate(changed(queued)):
        assert bool(told(check, made)) == wrong, (number, check.__name__)


def test_a_queue_that_the_breakdown_lacks_is_told(told, queued):
    def without_queue(model):
        parts = [replace(part, total_ns=0) if part.part == "ane_queue" else part for part in model.breakdown.parts]
        return replace(model, breakdown=replace(model.breakdown, parts=tuple(parts)))

    models = tuple(map(without_queue, queued.report.models))
    assert told(consistent_findings.queues, with_report(queued, models=models))


@pytest.fixture(scope="module")
def ranked() -> Reported:
    """Two findings of one severity in order, of which none causes the other."""
    made = reported(trace_of(SAMPLES["sharpen_8bit"]()))
    first, second, *_ = made.report.findings
    findings = (replace(first, severity="high", savings_ns=2_000), replace(second, severity="high", savings_ns=1_000))
    checks = [check for check in made.report.results if check.id in (first.id, second.id)]
    return with_report(made, findings=findings, results=tuple(replace(check, related=()) for check in checks))


def test_findings_out_of_order_are_told(ranked):
    first, second = ranked.report.findings
    assert not list(consistent_findings.order(ranked))
    for findings in (
        (second, first),
        (replace(first, severity="low"), second),
        (first, replace(second, savings_ns=3_000)),
    ):
        assert list(consistent_findings.order(with_report(ranked, findings=findings)))


def test_a_symptom_above_its_cause_is_told(ranked):
    first, second = ranked.report.findings

    def caused(effect, cause):
        related = (Related(cause.id, None, Relation.CAUSED_BY),)
        checks = [replace(check, related=related * (check.id == effect.id)) for check in ranked.report.results]
        return list(consistent_findings.order(with_report(ranked, results=tuple(checks))))

    assert caused(effect=first, cause=second)
    assert not caused(effect=second, cause=first)


def test_a_cost_beyond_what_is_affected_is_told(told, queued):
    def nowhere(entry):
        cost = getattr(entry.outcome, "cost", None)
        return entry if cost is None else entry._replace(outcome=replace(entry.outcome, affected=Intervals.none()))

    assert told(consistent_findings.savings, replace(queued, answers=tuple(map(nowhere, queued.answers))))


@pytest.fixture(scope="module")
def own_code() -> Reported:
    """An app that hardly uses Core ML, with a finding."""
    return reported(read_back(permille(Draws(1), 110), bundle=False))


@pytest.mark.parametrize("platform", ["iOS", "iOS Simulator"])
@pytest.mark.parametrize(
    ("counted", "wrong"), [("{}", False), ("9 findings.", True), ("", True), ("Of 9 findings: {}", True)]
)
def test_a_verdict_counts_findings_right_behind_its_first_words(own_code, platform, counted, wrong):
    made = with_report(own_code, recording=replace(own_code.report.recording, platform=platform))
    first = first_words(made.report)
    assert "another runtime" in first
    assert first.startswith("Recorded in a simulator") == (platform != "iOS")
    _, _, counts = own_code.report.summary.verdict.partition(" shows it. ")
    summary = replace(own_code.report.summary, verdict=f"{first} {counted.format(counts)}")
    assert bool(list(consistent_findings.verdict(with_report(made, summary=summary)))) == wrong


@pytest.mark.parametrize(
    ("saved_ns", "summary", "wrong"),
    [
        (9_000_000, "Two in flight.", False),
        (12_000_000, "Two in flight.", True),
        (9_000_000, "Two would allow one every 10.0 ms.", False),
        (9_000_000, "Two would allow one every 12.0 ms.", True),
    ],
)
def test_two_in_flight_have_one_figure_and_at_most_double_the_rate(told, queued, saved_ns, summary, wrong):
    each = Each("step", 100, saved_ns, 19_000_000)
    first, *others = queued.report.results
    savings = Savings(1, 1, 0.1, 10, "", each=each)
    made = with_report(queued, results=(replace(first, savings=savings, summary=summary), *others))
    assert bool(told(consistent_findings.steps, made)) == wrong


@pytest.mark.parametrize("label", [LOAD_COLD, LOAD_CACHED])
def test_one_wait_ranks_alike_in_recordings_of_seconds_and_minutes(label):
    severities = set()
    for seconds in (9, 60, 900):
        app = start_recording(Draws(5), jitter=0, noise=False)
        model = Model("Segmenter")
        app.load(model, 7_200_000_000, label)
        for _ in range(60):
            app.predict(model, neural_engine((seconds - 8) * 1_000_000_000 // 60))
            app.pause(1_000_000)
        check = next(check for check in reported(trace_of(app.finish())).report.results if check.id.endswith("-load"))
        assert check.outcome == "finding"
        severities.add(check.severity)
    assert len(severities) == 1
