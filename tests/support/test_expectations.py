from __future__ import annotations

import pytest

from support.expectations import (
    Expected,
    ModelRows,
    expect_concurrent_predictions,
    expect_excess_data_copies,
    expect_reload_before_predict,
)
from tracekit.testing.rows import EVENT_LANES, LOAD_CACHED, PREDICTION, CoreMLRow, Model

MS = 1_000_000


def row(label: str, start_ns: int, duration_ns: int) -> CoreMLRow:
    """A row of one model."""
    return CoreMLRow(start_ns, duration_ns, label, Model("Net"), EVENT_LANES[label])


def rows(
    predictions: list[tuple[int, int]],
    loads: list[int] | None = None,
    copies: list[tuple[int, int]] | None = None,
    copied: str = "Input Copy",
) -> ModelRows:
    """Predictions at (start, duration), loads of 10 ms, and in each prediction copies at (offset, duration)."""
    return ModelRows(
        loads=tuple(row(LOAD_CACHED, start, 10 * MS) for start in loads or []),
        predictions=tuple(row(PREDICTION, start, length) for start, length in predictions),
        data=tuple(tuple(row(copied, start + at, length) for at, length in copies or []) for start, _ in predictions),
    )


def alternating(predictions_per_load: int, pause_ns: int = 0) -> ModelRows:
    """Thirty loads with the same number of predictions after each."""
    step = 100 * MS + pause_ns
    return rows(
        [(n * step + 20 * MS + k * 10 * MS, 5 * MS) for n in range(30) for k in range(predictions_per_load)],
        [n * step for n in range(30)],
    )


MANY = [(n * 10 * MS, 5 * MS) for n in range(40)]


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        pytest.param(alternating(1), Expected.FINDING, id="a load before each prediction"),
        pytest.param(alternating(4), Expected.PASSED, id="loads for runs of predictions"),
        pytest.param(rows(MANY, [0]), Expected.PASSED, id="one load"),
        pytest.param(rows(MANY), Expected.PASSED, id="no load"),
        pytest.param(rows([(20 * MS, MS)], [0]), Expected.NO_FINDING, id="one prediction"),
        pytest.param(rows([], [0, 20 * MS, 40 * MS]), Expected.NO_FINDING, id="loads alone"),
        pytest.param(alternating(1, pause_ns=4_000 * MS), Expected.UNDECIDED, id="reloads after a long pause"),
        pytest.param(alternating(2), Expected.NO_FINDING, id="near the limit"),
    ],
)
def test_loads_are_held_against_predictions(described: ModelRows, expected: Expected) -> None:
    assert expect_reload_before_predict(described) is expected


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ([(0, 1_500_000)], Expected.FINDING),
        ([(0, 1_000_000)], Expected.UNDECIDED),
        ([(0, 500_000)], Expected.PASSED),
        # The same time covered twice counts once: 0.7 ms of 10.
        ([(0, 700_000), (0, 700_000)], Expected.UNDECIDED),
        ([(0, 350_000), (0, 350_000)], Expected.PASSED),
        ([], Expected.NO_FINDING),
    ],
)
def test_copies_are_measured_against_predictions(copies: list[tuple[int, int]], expected: Expected) -> None:
    expectation = expect_excess_data_copies(rows([(n * 20 * MS, 10 * MS) for n in range(30)], copies=copies))
    assert expectation is expected


def test_validation_is_no_copy_and_tiny_predictions_are_not_judged() -> None:
    long = [(n * 20 * MS, 10 * MS) for n in range(30)]
    checks = rows(long, copies=[(0, 5 * MS)], copied="Input Validation")
    assert expect_excess_data_copies(checks) is Expected.PASSED
    tiny = rows([(n * MS, 500_000) for n in range(30)], copies=[(0, 400_000)])
    assert expect_excess_data_copies(tiny) is Expected.NO_FINDING


def piled_up(stretch: int) -> ModelRows:
    """Thirty predictions alone, then groups of five that start together."""
    alone = [(n * 20 * MS, 10 * MS) for n in range(30)]
    together = [(1_000 * MS + n * 100 * MS + k * MS, 10 * MS * stretch) for n in range(12) for k in range(5)]
    return rows(alone + together)


ONE_BY_ONE = [(n * 20 * MS, 10 * MS) for n in range(40)]
PEAK = [(1_000 * MS + k * 1_000, 10 * MS) for k in range(3)]


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        pytest.param(piled_up(3), Expected.FINDING, id="pile up and slow down"),
        pytest.param(piled_up(1), Expected.UNDECIDED, id="pile up without slowing down"),
        pytest.param(rows([(n * 6 * MS, 10 * MS) for n in range(40)]), Expected.PASSED, id="two in flight"),
        pytest.param(rows([(n * 6 * MS, 10 * MS) for n in range(3)]), Expected.NO_FINDING, id="few in flight"),
        pytest.param(rows(ONE_BY_ONE + PEAK), Expected.PASSED, id="a short peak"),
    ],
)
def test_predictions_in_flight_are_held_against_those_alone(described: ModelRows, expected: Expected) -> None:
    assert expect_concurrent_predictions(described) is expected
