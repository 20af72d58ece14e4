"""No report contradicts itself, and a report that does is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from suite import consistent_findings, consistent_numbers
from suite.cases.neural_engine_contention import behind_another_model
from suite.conftest import numbers_of
from suite.consistency import contradictions, contradictions_of
from suite.contradictions import contradictions as causes_differ
from suite.frame import SHARED, detector_ids, draws_of, load, module_of, read_back
from suite.reported import Reported, reported
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.ranking import Related, Relation
from tracekit.detectors.runner import run_detectors
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


def test_a_finding_names_the_cause_that_costs_more_than_its_own():
    cases = enumerate(load("slow_after_idle"))
    number, case = next((number, case) for number, case in cases if "with_a_prompt" in case.recipe)
    trace = read_back(case.build(draws_of(case, number)), bundle=case.bundle)
    judgments = run_detectors(trace, only=[case.detector], settings=case.settings)
    (said,) = (judgment for judgment in judgments if isinstance(judgment.outcome, Finding))
    assert not [*causes_differ(trace, [said])]
    head, _, other = said.outcome.summary.partition(" The largest part of the extra time has another cause: ")
    assert other.startswith("work of its own, ")
    assert [*causes_differ(trace, [said._replace(outcome=replace(said.outcome, summary=head))])]


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
