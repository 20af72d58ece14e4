"""A labeled case whose finding weighs otherwise than the recording says is not right."""

import pytest

from suite.cases.reload_before_predict import of_one_length
from suite.weight import Weight
from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws

LOADS = "reload-before-predict"
# 39 of 40 loads of 20 ms are saved, and each of 40 calls takes 20 ms.
RIGHT = Weight("high", savings_ms=780, share=780 / 1_600)


@pytest.fixture(scope="module")
def answered():
    trace = trace_of(of_one_length(Draws(1), 20).finish())
    return run_detectors(trace), trace


def test_what_the_recording_says_is_right(answered):
    assert RIGHT.complaints(LOADS, *answered) == []
    assert Weight().complaints(LOADS, *answered) == []


@pytest.mark.parametrize(
    ("weight", "complaint"),
    [
        (Weight("critical"), "is high, should be critical"),
        (Weight(savings_ms=800), "savings in ms"),
        (Weight(savings_ms=0), "should save nothing"),
        (Weight(share=0.6), "share"),
        (Weight(metrics={"no such metric": 1}), "no such metric: None"),
        (Weight(first=True), "should stand first of several"),
    ],
)
def test_what_is_otherwise_is_told(answered, weight, complaint):
    (line,) = weight.complaints(LOADS, *answered)
    assert complaint in line
