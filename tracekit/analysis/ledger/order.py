"""Rows that could be of several predictions in flight, linked by the order of submission.

The Neural Engine and the GPU take one request after the other. Where predictions of a model overlap and each has as
many rows of one sort as the others, the first rows are of the first prediction, and so on. Where the numbers differ, a
row is of the prediction that ends first among those that it fits into: that one has the unit, the others still wait.
Rows without a name are of the one model that has predictions in flight meanwhile, unless others bear its name.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracekit.analysis.breakdown.rows import POSSIBLE
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import or_null
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.attribution import GPU_OUTLIVES_NS
from tracekit.trace.events import Attribution, Calls, Events, Kind, Lane
from tracekit.trace.trace import Trace, cached_by_trace


@cached_by_trace
def in_order(trace: Trace) -> Trace:
    """The trace with such rows linked to one prediction each; the trace itself where there are none. Those in stages
    of a pipeline are linked to its prediction. O(n log n)."""
    calls = top_calls(trace, Kind.PREDICTION)
    calls = calls.where(~calls.attribution.is_any(Attribution.INFERRED))
    lanes = trace.data, trace.compute, trace.hardware
    data, compute, hardware = (_linked(rows, calls) for rows in lanes)
    if all(new is old for new, old in zip((data, compute, hardware), lanes, strict=True)):
        return trace
    return replace(trace, data=data, compute=compute, hardware=hardware)


def _linked(rows: Events, calls: Calls) -> Events:
    """The rows with `prediction` filled where the order tells it; the rows themselves where none needs that."""
    open_rows = np.flatnonzero(~rows.prediction.known & rows.attribution.is_any(*POSSIBLE))
    if not len(open_rows):
        return rows
    stage, outer = (models.codes_in(calls.model.values) for models in (rows.model, rows.parent_model))
    model = np.where(outer >= 0, outer, stage)
    nameless = open_rows[model[open_rows] < 0]
    only = _only_model(Intervals.from_rows(rows).where(nameless), calls)
    named = model[rows.attribution.is_any(Attribution.LABEL, Attribution.EXACT)]
    model[nameless] = np.where(np.isin(only, named), -1, only)
    open_rows = open_rows[model[open_rows] >= 0]
    if not len(open_rows) or not len(calls):
        return rows
    # A copy: some are null.
    prediction = rows.prediction.filled()
    for code in distinct_numbers(model[open_rows]):
        own = np.flatnonzero(calls.model.codes == code)
        if len(own):
            called = Intervals.from_rows(calls).where(own)
            _link_model(rows, np.flatnonzero(model == code), called, calls.id[own], prediction)
    return replace(rows, prediction=or_null(prediction))


def _only_model(times: Intervals, calls: Calls) -> IntArray:
    """Code of the one model that has predictions in flight while each row ran; -1 where several have.
    O(models x n log n)."""
    found, several = np.full((2, len(times)), -1, np.int64)
    if len(times):
        called = Intervals.from_rows(calls)
        for code in distinct_numbers(calls.model.codes).tolist():
            meets = called.where(calls.model.codes == code).union().covered_within(times) > 0
            several[meets & (found >= 0)] = 1
            found[meets] = code
    return np.where(several < 0, found, -1)


def _link_model(every: Events, rows: IntArray, called: Intervals, ids: IntArray, prediction: IntArray) -> None:
    """Fill `prediction`, shape (every row,), for the open ones among the `rows` of one model, whose calls have these
    times and ids."""
    times = Intervals.from_rows(every).where(rows)
    slack = np.where(every.lane.is_any(Lane.GPU, Lane.MPS)[rows], GPU_OUTLIVES_NS, 0)
    reach = np.maximum.accumulate(called.ends)
    # Predictions that overlap, one after the other, are a cluster; its rows lie in it.
    opens = np.concatenate(([True], called.starts[1:] > reach[:-1]))
    first = np.flatnonzero(opens)
    size = np.diff(np.append(first, len(called)))
    of_row = np.searchsorted(called.starts[first], times.starts, side="right") - 1
    inside = of_row >= 0
    inside[inside] &= times.ends[inside] - slack[inside] <= reach[np.append(first[1:], len(reach)) - 1][of_row[inside]]
    of_row = np.where(inside, of_row, 0)
    # By cluster and sort of row: how many, and which one each is.
    sort = every.label.codes[rows].astype(np.int64)
    key = np.where(inside, of_row * (int(sort.max(initial=0)) + 2) + sort + 1, -1)
    order = np.lexsort((times.starts, key))
    group = np.cumsum(np.diff(key[order], prepend=-2) != 0) - 1
    count = np.bincount(group)
    rank = np.arange(len(order)) - (np.cumsum(count) - count)[group]
    each = count[group] // size[of_row[order]]
    even = (each > 0) & (each * size[of_row[order]] == count[group]) & (key[order] >= 0)
    at = first[of_row[order]] + np.where(even, rank // np.maximum(each, 1), 0)
    fits = _fits(called, at, times.where(order), slack[order])
    even &= (np.bincount(group, ~fits, minlength=len(count)) == 0)[group]
    chosen = np.empty(len(rows), np.int64)
    chosen[order] = np.where(even, at, -1)
    for allowed in (np.zeros_like(slack), slack):
        left = np.flatnonzero(inside & (chosen < 0))
        chosen[left] = _ending_first(called, times.where(left), allowed[left])
    open_rows = (prediction[rows] < 0) & (chosen >= 0)
    prediction[rows[open_rows]] = ids[chosen[open_rows]]


_TRIES = 8
"""Predictions that are looked at for a row: those in flight that end first."""


def _ending_first(called: Intervals, times: Intervals, slack: IntArray) -> IntArray:
    """For each row the prediction that ends first among those that it fits into; -1 where none does."""
    by_end = np.argsort(called.ends, kind="stable")
    place = np.searchsorted(called.ends[by_end], times.ends - slack)
    found = np.full(len(times), -1, np.int64)
    for step in range(_TRIES):
        inside = (found < 0) & (place + step < len(by_end))
        at = by_end[np.where(inside, place + step, 0)]
        found = np.where(inside & _fits(called, at, times, slack), at, found)
    return found


def _fits(called: Intervals, at: IntArray, times: Intervals, slack: IntArray) -> BoolArray:
    """Whether each row lies in the prediction at this place."""
    return (called.starts[at] <= times.starts) & (times.ends - slack <= called.ends[at])
