"""Predictions that wait for the Neural Engine."""

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import ENGINE_PREDICTION, Model

ID = "neural-engine-contention"
MS = 1_000_000
POSE, DEPTH = Model("PoseNet"), Model("DepthNet")
STRANGER = "Assistant_main__Op0_AneInference Prediction"


def calls(scenario, count=20, waiting=20, wait=5, length=10, label=STRANGER, gap=0, first=100):
    """Predictions of `length` ms every 50 ms; the first `waiting` wait so many ms for work with this label, which ends
    `gap` ms before their own begins."""
    for k in range(count):
        start = (first + k * 50) * MS
        prediction = scenario.predict(POSE, start, length * MS)
        before = round(wait * MS) if k < waiting else 0
        if before:
            scenario.other_neural_engine(start - 2 * MS, 2 * MS + before, label)
        queued_until = before + round(gap * MS)
        prediction.neural_engine(queued_until, length * MS - queued_until)


def test_waits_are_found_with_their_time(scenario, judge):
    calls(scenario, waiting=8)
    finding = judge(scenario, ID)["PoseNet"]
    assert finding.cost.ns == 8 * 5 * MS
    assert finding.cost.share == pytest.approx(8 * 5 / (20 * 10))
    assert values(finding)["predictions queued behind other work on the Neural Engine"] == 0.4
    assert values(finding)["median time lost to other work"] == 5 * MS
    assert finding.evidence_total == 8
    # The wait begins with the call, although the engine was busy before.
    assert finding.affected.starts.tolist() == [(100 + k * 50) * MS for k in range(8)]
    assert finding.affected.ends.tolist() == [(105 + k * 50) * MS for k in range(8)]
    assert "for other processes" in finding.summary
    assert "Assistant" not in finding.summary


def test_other_models_of_the_app_are_named_with_their_part(scenario, judge):
    for k in range(20):
        start = (100 + k * 50) * MS
        long = scenario.predict(DEPTH, start, 20 * MS)
        long.neural_engine(MS, 15 * MS)
        short = scenario.predict(POSE, start + 6 * MS, 15 * MS)
        short.neural_engine(10 * MS, 4 * MS)
    outcomes = judge(scenario, ID)
    assert isinstance(outcomes["DepthNet"], Passed)
    assert isinstance(outcomes["PoseNet"], Finding)
    assert "Nearly all of that work was the app's own (DepthNet)." in outcomes["PoseNet"].summary
    # The way to the engine takes 1 ms where it is free.
    assert values(outcomes["PoseNet"])["median time lost to other work"] == 9 * MS


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"count": 10}, {}, Finding),
        ({"count": 9}, {}, NotEvaluated),
        ({"label": ENGINE_PREDICTION}, {}, Finding),  # Rows without a name are others' where its own have one.
        ({"waiting": 8}, {"wait_share": 0.5}, Finding),
        ({"waiting": 8}, {"wait_share": 0.51}, Passed),
        ({"waiting": 8}, {"affected_share": 0.41}, Passed),
        ({"waiting": 8}, {"min_predictions": 21}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    calls(scenario, **given)
    assert isinstance(judge(scenario, ID, **settings)["PoseNet"], expected)


@pytest.mark.parametrize(
    ("waiting", "expected", "words"),
    [(2, Finding, "2 of 20 predictions"), (1, Passed, "1 of 20 predictions"), (0, Passed, "No prediction")],
)
def test_one_in_ten_predictions_decides(scenario, judge, waiting, expected, words):
    calls(scenario, waiting=waiting)
    outcome = judge(scenario, ID)["PoseNet"]
    assert isinstance(outcome, expected)
    assert outcome.summary.startswith(f"{words} queued behind other work on the Neural Engine")


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.3, 0.5])
def test_a_handover_takes_its_time(scenario, judge, gap):
    calls(scenario, waiting=8, gap=gap)
    finding = judge(scenario, ID)["PoseNet"]
    assert isinstance(finding, Finding)
    # The others take as long to reach the engine when it is free.
    assert values(finding)["median time lost to other work"] == 5 * MS


def test_time_in_which_the_prediction_did_something_itself_is_no_wait(scenario, judge):
    for k in range(20):
        start = (100 + k * 50) * MS
        scenario.other_neural_engine(start, 6 * MS, STRANGER)
        prediction = scenario.predict(POSE, start, 10 * MS)
        prediction.event("CPU", 0, 5 * MS)
        prediction.neural_engine(6 * MS, 3 * MS)
    outcome = judge(scenario, ID)["PoseNet"]
    assert isinstance(outcome, Passed)
    assert values(outcome)["most time lost to other work"] == MS


def test_a_request_row_is_no_work_of_the_prediction(scenario, judge):
    for k in range(20):
        start = (100 + k * 50) * MS
        scenario.other_neural_engine(start, 6 * MS, STRANGER)
        prediction = scenario.predict(POSE, start, 10 * MS)
        prediction.event("Neural Engine Request", 0, 10 * MS)
        prediction.neural_engine(6 * MS, 3 * MS)
    assert isinstance(judge(scenario, ID)["PoseNet"], Finding)


def test_waits_between_two_pieces_of_work_count_too(scenario, judge):
    for k in range(20):
        start = (100 + k * 50) * MS
        prediction = scenario.predict(POSE, start, 10 * MS)
        prediction.neural_engine(0, 3 * MS)
        scenario.other_neural_engine(start + 3 * MS, 4 * MS, STRANGER)
        prediction.neural_engine(7 * MS, 3 * MS, operation=2)
    assert values(judge(scenario, ID)["PoseNet"])["median time lost to other work"] == 4 * MS


def test_nothing_is_told_apart_where_no_row_has_a_name(scenario, judge):
    for k in range(20):
        start = (100 + k * 50) * MS
        scenario.other_neural_engine(start - 8 * MS, 13 * MS)
        scenario.predict(POSE, start, 10 * MS).neural_engine(5 * MS, 5 * MS, ENGINE_PREDICTION)
    outcome = judge(scenario, ID)["PoseNet"]
    assert isinstance(outcome, NotEvaluated)
    assert "do not name a model" in outcome.reason
