"""What a finding calls queued is queued where the time of a model goes."""

import numpy as np
import pytest

from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import QUEUED
from tracekit.analysis.ledger.order import in_order
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import start_recording


def test_the_parts_of_a_slow_prediction_and_the_breakdown_name_the_same_queue():
    trace = trace_of(SAMPLES["captions_concurrent"]())
    found = ledger(trace)["CaptionEncoder"]
    queues = sum(found.ns[cause] for cause in QUEUED if cause in found.ns) - found.unclear_ns
    parts = breakdown(in_order(trace)).of(found.calls.id).rows
    assert queues.max() > 80 * MS
    assert (parts.neural_engine_queue_ns.filled(0) == queues).all()


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
    rows = breakdown(trace).every
    queued = {metric.name: metric.value for metric in judgment.outcome.metrics}["median time lost to other work"]
    assert (
        queued
        == np.median(rows.neural_engine_queue_ns.values[rows.neural_engine_queue_ns.known])
        == pytest.approx(45 * MS, rel=0.01)
    )
    assert rows.unexplained_ns.filled().max() < 1.1 * MS
