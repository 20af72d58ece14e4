"""What `model-delays-frames` says, and what it leaves to the checks of the main thread."""

from __future__ import annotations

import pytest

from suite.cases.model_delays_frames import on_gpu, scroll
from suite.frame_worlds import trace_of_app
from tracekit.detectors.outcomes import Finding, Passed
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws, neural_engine
from tracekit.testing.apps import MS


def answers(app):
    ids = ("model-delays-frames", "main-thread-work")
    chosen = [detector for detector in DETECTORS if detector.id in ids]
    found = run_detectors(trace_of_app(app), detectors=chosen)
    return {judgment.detector.id: judgment.outcome for judgment in found}


@pytest.fixture(scope="module")
def waiting():
    return answers(on_gpu(Draws(11)))["model-delays-frames"]


def test_the_finding_counts_frames_by_strength_and_those_that_would_have_come_in_time(waiting):
    assert isinstance(waiting, Finding)
    counts = {metric.id: metric.value for metric in waiting.metrics}
    name = waiting.model
    assert f"{counts['frames']} of {counts['late-frames']} late frames waited for GPU work of {name}" in waiting.summary
    assert waiting.evidence_total == counts["frames"]
    assert {entry.table for entry in waiting.evidence} == {"hitches"}
    assert waiting.cost is None
    assert waiting.call_sites


def test_a_long_wait_on_the_main_thread_is_one_finding(waiting):
    """Predictions of 140 ms belong to `main-thread-work`, with the late frames that they make."""
    on_main = lambda number: neural_engine(140 * MS) if number % 40 == 20 else None  # noqa: E731
    said = answers(scroll(Draws(5), on_main=on_main))
    assert isinstance(said["model-delays-frames"], Passed)
    blocking = said["main-thread-work"]
    assert isinstance(blocking, Finding)
    assert "late frame" in blocking.summary
    assert "hang" in blocking.summary.partition("Instruments recorded")[2]
    assert blocking.call_sites
