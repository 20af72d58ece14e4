"""What a wait costs, and where its time goes, in whole apps: whatever else the recording holds."""

from __future__ import annotations

import pytest

from suite.frame import load
from support.handover import trace_of
from tracekit.analysis.breakdown import breakdown
from tracekit.detectors.outcomes import Finding, Severity, severity_of
from tracekit.detectors.ranking import rank
from tracekit.detectors.runner import run_detectors
from tracekit.detectors.views import model_views
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD

SECONDS = 1_000_000_000
RATED = [(900, Severity.LOW), (1_500, Severity.MEDIUM), (3_000, Severity.HIGH), (7_200, Severity.CRITICAL)]
"""Waits in ms and their severity, as docs/report.md gives it."""
LENGTHS = [(20, 0), (300, 60), (1_000, 800)]
"""Predictions after the wait, and seconds of idle time behind them."""


def app_that_waits(draws: Draws, label: str, wait_ms: int, calls: int, idle_s: int):
    """A model is loaded when it is needed, and used so often."""
    app = start_recording(draws)
    model = draw_models(draws)[0]
    app.load(model, wait_ms * MS, label, engine=label == LOAD_COLD)
    for _ in range(calls):
        app.predict(model, neural_engine(9 * MS))
        app.pause(MS)
    app.pause(idle_s * 1_000 * MS)
    return app.finish()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("check", "label", "wait_ms", "severity"),
    [
        *(("cold-load", LOAD_COLD, *rated) for rated in RATED),
        # Reported from a second on.
        *(("slow-load", LOAD_CACHED, *rated) for rated in RATED[1:]),
    ],
)
def test_a_wait_that_comes_once_is_as_severe_in_a_recording_of_any_length(check, label, wait_ms, severity, seed):
    rated = []
    for calls, idle_s in LENGTHS:
        trace = trace_of(app_that_waits(Draws(seed), label, wait_ms, calls, idle_s))
        (judgment,) = run_detectors(trace, only=[check])
        rated.append(severity_of(judgment.outcome))
    assert rated == [severity] * len(LENGTHS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("models", [2, 4])
def test_loads_that_run_together_are_waited_for_once(models, seed):
    draws = Draws(seed)
    app = start_recording(draws, jitter=0, noise=False)
    drawn, start = draw_models(draws, models), app.now_ns
    for model in drawn:
        app.scenario.load(model, start, 6_000 * MS, LOAD_COLD)
    app.now_ns = start + 6_000 * MS
    for _ in range(10):
        for model in drawn:
            app.predict(model, neural_engine(9 * MS))
    found = rank(run_detectors(trace_of(app.finish()), only=["cold-load"]))
    assert len(found) == models
    assert sum(entry.judgment.outcome.cost.ns for entry in found) == models * 6 * SECONDS
    assert sum(entry.own_savings_ns for entry in found) == 6 * SECONDS


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_what_a_finding_calls_queued_is_queued_in_the_breakdown(number):
    """Of the cases of neural-engine-contention."""
    cases = load("neural_engine_contention")
    case = cases[number % len(cases)]
    recorded = case.build(Draws(number))
    trace = trace_of(recorded.finish() if hasattr(recorded, "finish") else recorded)
    parts = breakdown(trace)
    for view in model_views(trace):
        waits = view.engine_waits
        inferred = waits.by_prediction(view.predictions.index, waits.length_ns)
        frame = parts.of(view.predictions.index).frame
        queued = frame["ane_queue_ns"].to_numpy(dtype="int64", na_value=0)
        assert (queued + frame["ane_busy_ns"].to_numpy(dtype="int64", na_value=0) >= inferred).all()
        assert (frame.loc[inferred > 0, "unaccounted_ns"] <= (frame["duration_ns"] - inferred)[inferred > 0]).all()


def test_the_finding_and_the_breakdown_name_the_same_queue():
    draws = Draws(3)
    app = start_recording(draws, jitter=0, noise=False)
    model = draw_models(draws)[0]
    app.load(model, 50 * MS)
    for k in range(30):
        start = app.now_ns + k * 100 * MS
        prediction = app.scenario.predict(model, start, 50 * MS)
        app.scenario.other_neural_engine(start, 45 * MS, "Other_main__Op0_AneInference Prediction")
        prediction.neural_engine(45 * MS, 4 * MS)
        prediction.event("Input Validation", 0, 7_500)
    trace = trace_of(app.finish())
    (judgment,) = run_detectors(trace, only=["neural-engine-contention"])
    assert isinstance(judgment.outcome, Finding)
    frame = breakdown(trace).frame
    queued = {metric.name: metric.value for metric in judgment.outcome.metrics}["median time queued"]
    assert queued == frame["ane_queue_ns"].median() == pytest.approx(45 * MS, rel=0.01)
    assert frame["unaccounted_ns"].max() < 1.1 * MS
