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


def test_a_load_before_each_prediction_is_found() -> None:
    assert expect_reload_before_predict(alternating(1)) is Expected.FINDING


def test_loads_for_runs_of_predictions_are_not() -> None:
    assert expect_reload_before_predict(alternating(4)) is Expected.PASSED


def test_one_load_passes_and_no_load_too() -> None:
    many = [(n * 10 * MS, 5 * MS) for n in range(40)]
    assert expect_reload_before_predict(rows(many, [0])) is Expected.PASSED
    assert expect_reload_before_predict(rows(many)) is Expected.PASSED


def test_few_rows_give_no_finding_without_saying_which_outcome() -> None:
    assert expect_reload_before_predict(rows([(20 * MS, MS)], [0])) is Expected.NO_FINDING
    assert expect_reload_before_predict(rows([], [0, 20 * MS, 40 * MS])) is Expected.NO_FINDING


def test_reloads_after_a_long_pause_and_loads_near_the_limit_are_left_open() -> None:
    assert expect_reload_before_predict(alternating(1, pause_ns=4_000 * MS)) is Expected.UNDECIDED
    assert expect_reload_before_predict(alternating(2)) is Expected.NO_FINDING


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


def test_predictions_that_pile_up_and_slow_down_are_found() -> None:
    assert expect_concurrent_predictions(piled_up(3)) is Expected.FINDING


def test_predictions_that_pile_up_without_slowing_down_are_left_open() -> None:
    assert expect_concurrent_predictions(piled_up(1)) is Expected.UNDECIDED


def test_two_in_flight_pass() -> None:
    assert expect_concurrent_predictions(rows([(n * 6 * MS, 10 * MS) for n in range(40)])) is Expected.PASSED
    assert expect_concurrent_predictions(rows([(n * 6 * MS, 10 * MS) for n in range(3)])) is Expected.NO_FINDING


def test_a_short_peak_passes() -> None:
    peak = [(1_000 * MS + k * 1_000, 10 * MS) for k in range(3)]
    assert expect_concurrent_predictions(rows([(n * 20 * MS, 10 * MS) for n in range(40)] + peak)) is Expected.PASSED
