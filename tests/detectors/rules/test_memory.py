"""What the checks of memory say, and how severe it is."""

from dataclasses import replace

import pytest

from suite.cases.duplicate_memory import quiet
from suite.memory_apps import MB, SECOND, predicting, reloading, taking_turns
from support.choice import sweep_rest
from support.forms import short_text
from support.handover import trace_of
from tracekit.api import judge
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, severity_of
from tracekit.detectors.runner import run_detectors
from tracekit.documents.report import report_file
from tracekit.report.verdict import remedies
from tracekit.testing import Draws
from tracekit.testing.machines import IPHONE, NEW_IPHONE


def said(app, check, **settings):
    """The answer of a check about the app or its only model."""
    given = {f"{check}.{name}": value for name, value in settings.items()}
    (judgment,) = run_detectors(trace_of(app.finish()), only=[check], settings=given)
    return judgment.outcome


def growing(each, **options):
    return predicting(Draws(2), lambda _app, _index: each, noise=False, jitter=0, **options)


def test_growth_is_said_per_prediction_with_its_interval():
    found = said(growing(500_000, calls=120), "memory-growth")
    assert found.summary.startswith("The footprint grows by 500 KB per prediction (")
    assert max(each.bytes for each in found.evidence) == pytest.approx(200 * MB, rel=0.02)
    assert found.summary.endswith("The recording does not show what holds it.")
    assert "99% interval): 60.0 MB over 120 predictions" in found.summary
    # 60 of the 200 MB that it holds at last.
    assert found.held == pytest.approx(0.3, abs=0.01)
    assert severity_of(found) == "high"
    assert found.cost is None


def test_growth_that_is_small_beside_the_footprint_is_none():
    assert isinstance(said(growing(200_000, calls=120), "memory-growth"), Finding)
    assert isinstance(said(growing(200_000, calls=120, model_mb=900), "memory-growth"), Passed)
    assert isinstance(said(growing(200_000, calls=120), "memory-growth", min_mb=25), Passed)


def test_reloads_that_keep_their_memory_are_critical():
    app = reloading(Draws(3), lambda _index, size: size, model_mb=100, noise=False, jitter=0)
    found = said(app, "unreturned-load")
    assert found.summary == (
        "Each of 5 reloads adds 100 MB to the footprint, and all of it is still there at the next one: 500 MB in all."
    )
    assert severity_of(found) == "critical"
    assert [each.bytes for each in found.evidence] == [100 * MB] * 5
    assert "largest of 5: 100 MB at " in short_text(judge(trace_of(app.finish())), width=100, color=False)


def test_reloads_that_are_too_few_or_unsampled_are_not_judged():
    def again(loads):
        return reloading(Draws(3), lambda _index, size: size, loads=loads, model_mb=100)

    assert isinstance(said(again(3), "unreturned-load"), NotApplicable)
    assert isinstance(said(again(4), "unreturned-load"), NotEvaluated)
    app = again(6)
    app.memory = False
    answer = said(app, "unreturned-load")
    assert isinstance(answer, NotEvaluated)
    assert answer.record == "Record with --instrument 'Activity Monitor'."


def test_copies_are_counted_beyond_the_first():
    found = said(taking_turns(Draws(6), 200, 190, count=3), "duplicate-memory")
    assert "2 further ones" in found.summary
    assert found.held == pytest.approx(380 / 640, abs=0.03)
    assert [each.bytes for each in found.evidence] == pytest.approx([190 * MB] * 2, abs=5 * MB)
    shared = said(taking_turns(Draws(6), 200, 5), "duplicate-memory")
    assert isinstance(shared, Passed)
    assert "hardly any memory is held twice" in shared.summary
    assert "Neural Engine" in shared.summary


def test_a_peak_is_judged_against_the_limit_that_was_given():
    app = predicting(Draws(8), calls=70, model_mb=940, noise=False, jitter=0)
    assert isinstance(said(app, "memory-peak"), NotApplicable)
    found = said(app, "memory-peak", limit_mb=1_100)
    assert found.summary.startswith("The footprint reaches 1.00 GB, 91% of the limit of 1.10 GB, during ")
    assert found.evidence[0].bytes == 1_000 * MB
    assert isinstance(said(app, "memory-peak", limit_mb=2_000), Passed)


def test_a_report_names_the_instrument_that_is_missing():
    app = predicting(Draws(8), calls=70)
    app.memory = False
    lines = [remedy.line for remedy in remedies(judge(trace_of(app.finish())))]
    assert any("--instrument 'Activity Monitor'" in line for line in lines)


def test_a_report_says_what_each_load_did():
    app = reloading(Draws(3), lambda _index, size: size // 4, model_mb=100, noise=False, jitter=0)
    app.hold_on_gpu(3 * MB)
    report = judge(trace_of(app.finish()))
    assert report.memory is not None
    assert [level.kind for level in report.memory.levels] == ["footprint", "gpu"]
    known = [load for load in report.memory.loads if load.returned_bytes is not None]
    assert {(load.step_bytes, load.returned_bytes) for load in known[:-1]} == {(100 * MB, 75 * MB)}
    assert all(load.apart_ns <= 2 * SECOND for load in known)


def test_a_second_copy_may_add_more_than_the_first():
    found = said(quiet(Draws(6), 210_000, 200_000), "duplicate-memory")
    (metric,) = (each for each in found.metrics if each.name == "further load to the first")
    # 210 of 200 MB: a share could not be more than all.
    assert (metric.unit, metric.value) == ("ratio", pytest.approx(1.05))


@pytest.mark.parametrize(("machine", "words"), sweep_rest(
    (IPHONE, "lies in other processes and is not in it."),
    (NEW_IPHONE, "On devices with Apple Intelligence, it includes memory of the Neural Engine."),
    (replace(IPHONE, os_version=""), "the version of this system is unknown."),
))  # fmt: skip
def test_memory_of_the_neural_engine_is_the_apps_from_os_27_on(machine, words):
    app = growing(100, calls=120)
    app.scenario.device = machine
    assert said(app, "memory-growth").summary.endswith(words)
    assert words[2:-1] in report_file(judge(trace_of(app.finish())), "html")
