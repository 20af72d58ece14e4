"""Predictions in flight."""

from __future__ import annotations

import pytest

from suite.reported import reported
from support.forms import short_text
from support.handover import trace_of
from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

ID = "concurrent-predictions"
MS = 1_000_000
CAPTIONS = Model("Captions")


def steady(scenario: Scenario, start: int, count: int, duration: int, spacing: int) -> int:
    """`count` predictions, `spacing` apart; returns the end of the last."""
    for k in range(count):
        scenario.predict(CAPTIONS, start + k * spacing, duration)
    return start + (count - 1) * spacing + duration


def test_calls_that_pile_up_and_slow_down_are_found(scenario, judge):
    end = steady(scenario, 0, 20, 10 * MS, 20 * MS)
    # Four calls of 40 ms that start together, ten times: 4 x 40 ms in flight during 40 ms.
    for k in range(10):
        steady(scenario, end + 100 * MS + k * 50 * MS, 4, 40 * MS, 0)
    finding = judge(scenario, ID)["Captions"]
    # Two of each four are beyond the limit of two, so half of the bursts' 10 x 40 ms; busy besides: 20 x 10 ms.
    assert finding.cost.ns == 10 * 20 * MS
    assert finding.cost.share == pytest.approx(200 / 600)
    assert severity_of(finding) is Severity.HIGH
    numbers = values(finding)
    assert numbers["most in flight"] == 4
    assert numbers["slowdown above the limit"] == pytest.approx(4.0)
    assert numbers["time above the limit"] == pytest.approx(400 / 600)
    assert finding.evidence_total == 40


@pytest.mark.parametrize(
    ("count", "duration", "spacing", "expected"),
    [
        (40, 10, 10, Passed),
        (40, 20, 10, Passed),  # Two in flight are the limit.
        (40, 30, 10, NotEvaluated),
        (5, 40, 1, NotEvaluated),
        (20, 0, 10, NotEvaluated),
        (2, 40, 0, NotApplicable),
    ],
)
def test_calls_that_never_run_alone_are_not_compared(scenario, judge, count, duration, spacing, expected):
    steady(scenario, 0, count, duration * MS, spacing * MS)
    outcome = judge(scenario, ID)["Captions"]
    assert isinstance(outcome, expected)
    if duration == 30:
        assert "without overlapping predictions" in outcome.record


def test_without_calls_alone_four_in_flight_are_found(scenario, judge):
    steady(scenario, 0, 40, 40 * MS, 10 * MS)
    finding = judge(scenario, ID)["Captions"]
    assert isinstance(finding, Finding)
    assert values(finding)["slowdown above the limit"] is None
    # What they save is worked out from the queues of the units, not from those that ran alone.
    assert finding.summary.endswith("Too few ran alone to compare their latency with.")


def test_latency_of_many_in_flight_is_no_frame_rate(scenario):
    steady(scenario, 0, 40, 40 * MS, 10 * MS)
    report = reported(trace_of(scenario)).report
    assert report.models[0].quantities["fps"] is None
    assert "fps" not in short_text(report, width=100, color=False)


def test_stages_of_a_pipeline_are_not_calls_of_the_app(scenario, judge):
    for k in range(12):
        prediction = scenario.predict(CAPTIONS, k * 50 * MS, 40 * MS)
        for _ in range(4):
            prediction.stage("Captions", 0, 40 * MS)
    assert isinstance(judge(scenario, ID)["Captions"], Passed)
