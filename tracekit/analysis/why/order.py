"""Rows that could be of several predictions in flight, linked by the order of submission.

The Neural Engine and the GPU take one request after the other. Where predictions of a model overlap and each has as
many rows of one sort as the others, the first rows are of the first prediction, and so on. Where the numbers differ, a
row is of the prediction that ends first among those that it fits into: that one has the unit, the others still wait.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.rows import POSSIBLE
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.frame import rows_of
from tracekit.intervals import Intervals
from tracekit.trace.attribution import GPU_OUTLIVES_NS
from tracekit.trace.events import Attribution, Events, Kind, Lane
from tracekit.trace.frames import categorical, cells, is_any, or_minus_one, rows_where
from tracekit.trace.prediction_lookup import codes_in
from tracekit.trace.trace import Trace, cached_by_trace


@cached_by_trace
def in_order(trace: Trace) -> Trace:
    """The trace with such rows linked to one prediction each; the trace itself where there are none. Those in stages
    of a pipeline are linked to its prediction. O(n log n)."""
    calls = top_calls(trace, Kind.PREDICTION).frame()
    calls = rows_where(calls, ~is_any(cells(calls, "attribution"), Attribution.INFERRED))
    frames = trace.data.frame(), trace.compute.frame(), trace.hardware.frame()
    data, compute, hardware = (_linked(frame, calls) for frame in frames)
    if all(new is old for new, old in zip((data, compute, hardware), frames, strict=True)):
        return trace
    return replace(
        trace, data=rows_of(Events, data), compute=rows_of(Events, compute), hardware=rows_of(Events, hardware)
    )


def _linked(frame: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """The frame with `prediction` filled where the order tells it; the frame itself where no row needs that."""
    prediction = or_minus_one(cells(frame, "prediction"))
    open_rows = np.flatnonzero((prediction < 0) & is_any(cells(frame, "attribution"), *POSSIBLE))
    if not len(open_rows):
        return frame
    stage, outer = (codes_in(cells(frame, name), calls["model"].cat.categories) for name in ("model", "parent_model"))
    model = np.where(outer >= 0, outer, stage)
    open_rows = open_rows[model[open_rows] >= 0]
    if not len(open_rows) or calls.empty:
        return frame
    for code in np.unique(model[open_rows]):
        own = rows_where(calls, calls["model"].cat.codes.to_numpy() == code)
        if len(own):
            _link_model(frame, np.flatnonzero(model == code), own, prediction)
    none = prediction < 0
    return frame.assign(prediction=pd.arrays.IntegerArray(np.where(none, 0, prediction), none))


def _link_model(frame: pd.DataFrame, rows: IntArray, calls: pd.DataFrame, prediction: IntArray) -> None:
    """Fill `prediction`, shape (rows of the frame,), for the open ones among the `rows` of one model."""
    called, times = Intervals.from_rows(calls), Intervals.from_rows(frame).where(rows)
    slack = np.where(is_any(cells(frame, "lane"), Lane.GPU, Lane.MPS)[rows], GPU_OUTLIVES_NS, 0)
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
    sort = categorical(cells(frame, "label")).codes[rows].astype(np.int64)
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
    prediction[rows[open_rows]] = calls.index.to_numpy()[chosen[open_rows]]


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
