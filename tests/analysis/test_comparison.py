"""Two aggregations side by side, against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from tracekit.analysis.aggregation import AggregationRow, aggregate
from tracekit.analysis.comparison import FEW, Measure, Presence, differences, recorded_lanes
from tracekit.analysis.statistics import duration_statistics
from tracekit.recording.table import TableState
from tracekit.trace.trace import Coverage

CORE_ML = frozenset({"activity", "data", "compute", "unknown"})


@pytest.fixture
def row(events, trace_of):
    """`row([durations], label=..., model=...)`: one row of an aggregation."""

    def make(durations, **columns) -> AggregationRow:
        values = {"kind": "input_copy", "lane": "data", "label": "Input Copy"} | columns
        rows = events(*((at * 1000, at * 1000 + length) for at, length in enumerate(durations)), **values)
        (difference,) = aggregate(trace_of(events(), data=rows))
        return difference

    return make


def numbers(difference, measure):
    change = difference.change(measure)
    return (change.before, change.after, change.difference, change.ratio)


def test_numbers_of_matched_rows_stand_side_by_side(row):
    (difference,) = differences([row([10, 20])], [row([10, 10, 10, 10, 20])], CORE_ML, CORE_ML)
    assert (difference.label, difference.model, difference.presence) == ("Input Copy", "Model", Presence.BOTH)
    assert numbers(difference, Measure.COUNT) == (2, 5, 3, 2.5)
    assert numbers(difference, Measure.SUM) == (30, 60, 30, 2)
    assert numbers(difference, Measure.MEAN) == (15, 12, -3, 0.8)


def test_a_percentile_needs_enough_values_on_both_sides_and_means_of_few_are_marked(row):
    for count, p95 in ((19, (10, None, None, None)), (20, (10, 5, -5, 0.5))):
        (difference,) = differences([row([10] * 20)], [row([5] * count)], CORE_ML, CORE_ML)
        assert numbers(difference, Measure.P95) == p95
    for count, few in ((FEW - 1, True), (FEW, False)):
        (difference,) = differences([row([10] * count)], [row([5] * 50)], CORE_ML, CORE_ML)
        assert difference.few is few


def test_what_is_only_on_one_side_is_zero_times_and_has_no_mean(row):
    (difference,) = differences([], [row([10, 20])], CORE_ML, CORE_ML)
    assert difference.presence is Presence.ONLY_AFTER
    assert numbers(difference, Measure.COUNT) == (0, 2, 2, None)
    assert numbers(difference, Measure.SUM) == (0, 30, 30, None)
    assert numbers(difference, Measure.MEAN) == (None, 15, None, None)
    (difference,) = differences([row([10, 20])], [], CORE_ML, CORE_ML)
    assert difference.presence is Presence.ONLY_BEFORE
    assert numbers(difference, Measure.COUNT) == (2, 0, -2, 0)


def test_what_was_not_recorded_is_never_zero(row):
    (difference,) = differences([], [row([10])], frozenset(), CORE_ML)
    assert difference.presence is Presence.NOT_RECORDED_BEFORE
    assert numbers(difference, Measure.COUNT) == (None, 1, None, None)
    (difference,) = differences([row([10])], [], CORE_ML, {"gpu"})
    assert difference.presence is Presence.NOT_RECORDED_AFTER
    assert numbers(difference, Measure.SUM) == (10, None, None, None)


def test_only_instruments_with_rows_count_as_recorded(events, trace_of):
    states = {
        "Core ML": TableState.ROWS,
        "Neural Engine": TableState.EMPTY,
        "GPU": TableState.MISSING,
        "MPS": TableState.UNREADABLE,
    }
    coverage = tuple(Coverage(name, state, (), None, "") for name, state in states.items())
    assert recorded_lanes(replace(trace_of(events()), coverage=coverage)) == CORE_ML


def test_another_model_or_lane_is_another_row(row):
    before = [row([1], model="A"), row([2], model="B")]
    after = [row([3], model="B"), replace(row([4], model="A"), lane="compute")]
    by_row = {(entry.lane, entry.model): entry.presence for entry in differences(before, after, CORE_ML, CORE_ML)}
    assert by_row == {
        ("data", "A"): Presence.ONLY_BEFORE,
        ("data", "B"): Presence.BOTH,
        ("compute", "A"): Presence.ONLY_AFTER,
    }


def test_a_process_is_matched_by_name_since_its_number_changes(events, trace_of):
    def rows(pid: int, length: int):
        hardware = events(
            (0, length), lane="gpu", kind="gpu_exec", model=None, level=None, process="WindowServer", pid=pid
        )
        return aggregate(trace_of(events(), hardware=hardware))

    (difference,) = differences(rows(140, 10), rows(177, 30), {"gpu"}, {"gpu"})
    assert difference.label == "GPU execution, WindowServer"
    assert numbers(difference, Measure.SUM) == (10, 30, 20, 3)


def test_warm_predictions_are_compared_by_themselves_where_one_side_tells_them_apart(events, trace_of):
    def rows(kinds, *lengths):
        spans = [(at * 100, at * 100 + length) for at, length in enumerate(lengths)]
        labels = ["Load" if kind == "load" else "Prediction" for kind in kinds]
        return aggregate(trace_of(events(*spans, kind=kinds, label=labels)))

    before = rows(["load", "prediction", "prediction"], 50, 30, 10)
    after = rows(["prediction", "prediction"], 8, 4)
    by_row = {
        (entry.label, entry.warm): numbers(entry, Measure.MEAN)[:2]
        for entry in differences(before, after, CORE_ML, CORE_ML)
    }
    assert by_row == {("Load", False): (50, None), ("Prediction", False): (20, 6), ("Prediction", True): (10, 6)}


LABELS = st.sampled_from(["Input Copy", "Data Cast", "Prediction"])
SIDES = st.dictionaries(LABELS, st.lists(st.integers(1, 10**9), min_size=1, max_size=30))


@given(SIDES, SIDES)
def test_the_other_way_round_only_the_sign_changes(before, after):
    import numpy as np

    def rows(side):
        return [
            AggregationRow(
                "data", label, "input_copy", False, "Model", "top",
                duration_statistics(np.arange(len(lengths)) * 10**10, np.array(lengths)), None,
            )
            for label, lengths in side.items()
        ]  # fmt: skip

    there = differences(rows(before), rows(after), CORE_ML, CORE_ML)
    back = {entry.label: entry for entry in differences(rows(after), rows(before), CORE_ML, CORE_ML)}
    assert {entry.label for entry in there} == before.keys() | after.keys()
    for entry in there:
        for measure in Measure:
            one, other = entry.change(measure), back[entry.label].change(measure)
            assert (one.before, one.after) == (other.after, other.before)
            if one.difference is not None:
                assert one.difference == -other.difference
    sums = [sum(lengths) for lengths in (*before.values(), *after.values())]
    assert sum(entry.change(Measure.SUM).before + entry.change(Measure.SUM).after for entry in there) == sum(sums)
