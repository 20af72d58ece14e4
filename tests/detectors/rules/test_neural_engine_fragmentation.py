"""Predictions in pieces on the Neural Engine."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import ENGINE_PREDICTION, Model

ID = "neural-engine-fragmentation"
MS = 1_000_000
ENCODER = Model("Encoder")


def calls(scenario, pieces=3, work=4, gap=2, count=20, label=None, first=0):
    """Predictions of `pieces` pieces with a gap after each but the last, all in ms."""
    for k in range(first, first + count):
        length = pieces * work + (pieces - 1) * gap
        prediction = scenario.predict(ENCODER, (100 + k * 100) * MS, round(length * MS))
        for number in range(pieces):
            at = round(number * (work + gap) * MS)
            prediction.neural_engine(at, round(work * MS), label, operation=2 * number)


def test_pieces_are_found_with_the_time_of_their_gaps(scenario, judge):
    calls(scenario)
    finding = judge(scenario, ID)["Encoder"]
    assert finding.cost.ns == 20 * 2 * 2 * MS
    assert finding.cost.share == pytest.approx(4 / 16)
    assert values(finding)["segments per prediction (median)"] == 3
    assert values(finding)["mean gap time per prediction"] == 4 * MS
    assert finding.affected.starts.tolist()[:2] == [104 * MS, 110 * MS]
    assert finding.affected.ends.tolist()[:2] == [106 * MS, 112 * MS]
    assert finding.evidence_total == 20


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"pieces": 2}, {}, Passed),
        ({"count": 10}, {}, Finding),
        ({"count": 9}, {}, NotEvaluated),
        ({"label": ENGINE_PREDICTION}, {}, Finding),  # Nobody else used the engine.
        ({}, {"segments": 4}, Passed),
        ({}, {"gap_share": 0.25}, Finding),
        ({}, {"gap_share": 0.26}, Passed),
        ({}, {"min_predictions": 21}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID, **settings)["Encoder"], expected)


@pytest.mark.parametrize(("often", "expected"), [(11, Finding), (9, Passed)])
def test_half_of_the_predictions_decide(scenario, judge, often, expected):
    calls(scenario, count=often)
    calls(scenario, 1, count=20 - often, first=often)
    assert isinstance(judge(scenario, ID)["Encoder"], expected)


def test_pieces_inside_a_stage_count(scenario, judge):
    for k in range(20):
        prediction = scenario.predict(ENCODER, (100 + k * 100) * MS, 30 * MS)
        stage = prediction.stage("Backbone", 0, 30 * MS)
        for number in range(3):
            stage.neural_engine(number * 10 * MS, 6 * MS, operation=number)
    assert isinstance(judge(scenario, ID)["Encoder"], Finding)


def test_pieces_without_a_name_are_not_counted_where_others_did(scenario, judge):
    calls(scenario, label=ENGINE_PREDICTION)
    for k in range(20):
        scenario.other_neural_engine((150 + k * 100) * MS, 10 * MS, ENGINE_PREDICTION)
    assert isinstance(judge(scenario, ID)["Encoder"], NotEvaluated)
