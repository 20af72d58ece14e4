"""Rows that could be of several predictions, by the order of submission."""

from __future__ import annotations

import numpy as np
import pytest

from support.choice import sweep_rest
from support.handover import trace_of
from tracekit.analysis.ledger.order import in_order
from tracekit.testing import Draws, Model, Process, Scenario
from tracekit.testing.apps import async_app

MS = 1_000_000
NET = Model("Net")


def owners(scenario: Scenario) -> list[int]:
    """Number of the prediction of each row of the Neural Engine, by start; -1 for none."""
    ordered = in_order(trace_of(scenario))
    rows = ordered.hardware.lane.is_any("neural-engine", "gpu")
    owner: list[int] = ordered.hardware.prediction.filled()[rows].tolist()
    return owner


def overlapping(*pieces: tuple[int, int, int]) -> Scenario:
    """Predictions of (start, length, begin of 5 ms on the Neural Engine) in ms, all after the same time."""
    scenario = Scenario(Process("App", 412), duration_ns=1_000 * MS)
    for start, length, begin in pieces:
        scenario.predict(NET, start * MS, length * MS).neural_engine((begin - start) * MS, 5 * MS)
    return scenario


def test_the_first_rows_are_of_the_first_prediction():
    assert owners(overlapping((10, 10, 12), (11, 15, 18), (12, 20, 24))) == [0, 1, 2]


def test_a_prediction_that_ends_first_had_the_unit_first():
    """The second prediction reached the unit before the first."""
    assert owners(overlapping((10, 20, 20), (11, 7, 12))) == [1, 0]


def test_a_row_that_fits_into_no_prediction_stays_alone():
    scenario = overlapping((10, 10, 12), (11, 15, 18))
    scenario.other_neural_engine(100 * MS, 5 * MS, NET.engine_label(0))
    assert owners(scenario) == [0, 1, -1]


def test_a_recording_without_overlap_is_the_same_object():
    trace = trace_of(overlapping((10, 10, 12), (50, 10, 52)))
    assert in_order(trace) is trace


@pytest.mark.parametrize("unit", ["neural engine", "gpu"])
@pytest.mark.parametrize("seed", sweep_rest(*range(4)))
def test_rows_of_overlapping_predictions_are_those_that_the_app_made(seed, unit):
    app = async_app(Draws(seed), in_flight=5, unit=unit, noise=False, generic_labels=False)
    scenario = app.finish()
    rows = scenario.neural_engine if unit == "neural engine" else scenario.gpu
    truth = [row.prediction for row in sorted(rows, key=lambda row: row.start_ns) if row.prediction is not None]
    numbers = {prediction.index: number for number, prediction in enumerate(app.predictions)}
    trace = in_order(trace_of(scenario))
    predicted = np.flatnonzero(trace.activity.kind.is_any("prediction")).tolist()
    found = trace.hardware.prediction.filled()[trace.hardware.kind.is_any("neural_engine_exec", "gpu_exec")]
    assert [predicted.index(row) for row in found.tolist()] == [numbers[index] for index in truth]
