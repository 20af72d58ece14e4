"""Conversions of inputs and outputs."""

from __future__ import annotations

import pytest

import tracekit
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated
from tracekit.testing.rows import DATA, CoreMLRow, Model

ID = "float-conversion"
US = 1_000
MS = 1_000_000
NET = Model("Net")


def predictions(scenario, count: int = 20, length: int = 10 * MS):
    return [scenario.predict(NET, 10 * MS + k * 2 * length, length) for k in range(count)]


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)["Net"]


def test_casts_and_the_copies_beside_them_are_found_with_their_cost(scenario, judge):
    for prediction in predictions(scenario):
        prediction.event("Input Copy", 0, 2 * MS)
        prediction.event("Data Cast", 1 * MS, 200 * US)
        prediction.event("Neural Engine - Data Copy", 2 * MS, 1 * MS)
        prediction.event("Output Transformation", 9 * MS, 300 * US)
    finding = judged(judge, scenario)
    assert finding.cost.ns == 20 * 1_500 * US
    assert finding.cost.share == pytest.approx(0.15)
    assert int((finding.affected.ends - finding.affected.starts).sum()) == finding.cost.ns
    assert finding.evidence_total == 60
    assert "1.50 ms of each 10.0 ms prediction: 0.20 ms casts, 1.30 ms copies" in finding.summary


def test_casts_alone_force_no_copies(scenario, judge):
    for prediction in predictions(scenario):
        prediction.event("Data Cast", 0, 1 * MS)
    assert "1.00 ms of each 10.0 ms prediction: all of it casts." in judged(judge, scenario).summary


@pytest.mark.parametrize(
    ("cast", "given", "settings", "expected"),
    [
        (499, {}, {"conversion_share": 0.0499}, Finding),
        (300, {"length": 1_000 * US}, {}, Finding),
        (300, {"length": 999 * US}, {}, NotApplicable),
        (3_000, {"count": 3}, {}, Finding),
        (3_000, {"count": 2}, {}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, cast, given, settings, expected):
    for prediction in predictions(scenario, **given):
        prediction.event("Data Cast", 0, cast * US)
    assert isinstance(judged(judge, scenario, **settings), expected)


@pytest.mark.parametrize(("cast", "expected"), [(20_000, Finding), (19_875, NotEvaluated)])
def test_a_cast_of_some_size_shows_that_copies_convert(scenario, judge, cast, expected):
    for prediction in predictions(scenario):
        prediction.event("Data Cast", 0, cast)
        prediction.event("Neural Engine - Data Copy", 2 * MS, 2 * MS)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, expected)
    if expected is NotEvaluated:
        assert "without data casts" in outcome.reason


def test_only_predictions_with_a_cast_count(scenario, judge):
    for number, prediction in enumerate(predictions(scenario)):
        if number % 2:
            prediction.event("Data Cast", 0, 1 * MS)
        prediction.event("Output Transformation", 9 * MS, 100 * US)
    outcome = judged(judge, scenario)
    assert outcome.cost.ns == 10 * 1_100 * US
    assert "in 10 of 20 predictions" in outcome.summary


def test_rows_that_overlap_are_counted_once(scenario, judge):
    for prediction in predictions(scenario):
        prediction.event("Data Cast", 0, 1 * MS)
        prediction.event("Neural Engine - Data Copy", 500 * US, 1 * MS)
    assert judged(judge, scenario).cost.ns == 20 * 1_500 * US


def test_casts_outside_any_prediction_decide_nothing(scenario, judge):
    for prediction in predictions(scenario):
        scenario.coreml.append(CoreMLRow(prediction.row.end_ns + MS, 2 * MS, "Data Cast", NET, DATA))
    assert isinstance(judged(judge, scenario), NotEvaluated)


def test_no_time_is_counted_for_both_detectors_of_copies(samples):
    report = tracekit.analyze(samples / "sharpen_8bit.trace")
    copies, casts = (
        next(check for check in report.results if check.id == name)
        for name in ("excess-data-copies", "float-conversion")
    )
    assert (copies.outcome, casts.outcome) == ("finding", "finding")
    assert 0 < casts.cost.ns < copies.cost.ns
    assert copies.saved.extra_ns + casts.saved.extra_ns == copies.saved.total_ns
    assert [(other.id, str(other.relation)) for other in copies.related] == [(ID, "possible_cause")]
    assert [(other.id, str(other.relation)) for other in casts.related] == [("excess-data-copies", "possible_effect")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "float16_interface",
            " By the model file, inputs and outputs need no conversion: the model computes in Float16.",
        ),
        ("target_iOS16", " The model file shows what is converted: input `x` (Float32 to Float16), output `y` ("),
    ],
)
def test_the_model_file_adds_to_what_the_rows_leave_open(scenario, judge, inspected, name, words):
    for prediction in predictions(scenario):
        prediction.event("Neural Engine - Data Copy", 2 * MS, 2 * MS)
    alone, outcome = judged(judge, scenario), judged(judge, scenario, file=inspected(name))
    assert isinstance(outcome, NotEvaluated)
    assert outcome.reason.startswith(f"{alone.reason}{words}")
    assert outcome.record == alone.record
