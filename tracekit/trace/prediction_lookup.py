"""The predictions that a hardware row may be of: those of a model, those of the pipelines around it, and all at a time.

Each search answers with the index of the one prediction that contains the row, else -1, and how many contain it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals, containing
from tracekit.sorting import distinct_numbers, few_bits
from tracekit.trace.events import Events, Kind, Lane
from tracekit.trace.linking import containing_by_key

CallAndCount = tuple[IntArray, IntArray]

_DEEPEST = 16
"""Levels of pipelines in pipelines that a row without a name is followed into, far more than were seen. A damaged file
can nest as many as it has rows, and each takes a pass over all rows. What lies deeper counts for the last of them."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Predictions of the Core ML table; shape (predictions,) each."""

    label: IntArray
    """Its row in `Trace.activity`."""
    start: IntArray
    end: IntArray
    model: IntArray
    """Code of column `model`; -1 where it is not named."""
    outer: IntArray
    """Index of the prediction around it, for a stage of a pipeline; -1 where there is none."""
    row: IndexArray
    """Index in the Core ML rows."""

    def tiers(self) -> tuple[IntArray, IntArray]:
        """How many predictions lie around each, at most `_DEEPEST` (damage can make a circle), and the outermost."""
        tier = np.zeros(len(self.outer), np.int64)
        outermost = np.arange(len(self.outer))
        for _ in range(_DEEPEST):
            around = self.outer[outermost]
            if (around < 0).all():
                break
            tier += around >= 0
            outermost = np.where(around >= 0, around, outermost)
        return tier, outermost


@dataclass(frozen=True, slots=True)
class Rows:
    """Hardware rows that look for their prediction; shape (rows,) each."""

    start: IntArray
    end: IntArray
    model: IntArray
    """Code of the Core ML rows' column `model`; -1 where the row names none of them."""

    def at(self, row_numbers: IndexArray) -> Rows:
        """Some of the rows."""
        return Rows(self.start[row_numbers], self.end[row_numbers], self.model[row_numbers])


def calls_of(events: Events) -> Calls:
    """The predictions among the linked Core ML rows."""
    activity = events.lane.is_any(Lane.ACTIVITY)
    row = np.flatnonzero(activity & events.kind.is_any(Kind.PREDICTION))
    times = Intervals.from_rows(events).where(row)
    label = (np.cumsum(activity) - 1)[row]
    call_of_label = np.full(int(activity.sum()) + 1, -1, np.int64)
    call_of_label[label] = np.arange(len(row))
    outer = call_of_label[events.prediction.filled()[row]]
    model = events.model.codes[row].astype(np.int64)
    return Calls(label, times.starts, times.ends, model, outer, row)


def of_model(calls: Calls, rows: Rows) -> CallAndCount:
    """The prediction of the model that each row names. O((rows + predictions) log predictions)."""
    return _of_keys(calls, np.arange(len(calls.model)), calls.model, rows, rows.model)


def of_pipelines(calls: Calls, events: Events, rows: Rows) -> CallAndCount:
    """The prediction of one of the pipelines of which the model that each row names is a stage.

    Stages of the same pipelines are sought together, so that a pipeline of many stages is offered once.
    """
    names = events.model.values
    stages, pipelines = (cells.codes_in(names) for cells in (events.model, events.parent_model))
    known = (stages >= 0) & (pipelines >= 0)
    around: dict[int, list[int]] = {stage: [] for stage in distinct_numbers(rows.model).tolist()}
    for pair in distinct_numbers(stages[known] * len(names) + pipelines[known]).tolist():
        stage, pipeline = divmod(pair, len(names))
        if stage in around:
            around[stage].append(pipeline)
    keys: dict[tuple[int, ...], int] = {}
    key_of = {stage: keys.setdefault(tuple(sorted(outer)), len(keys)) for stage, outer in around.items()}
    order = np.argsort(few_bits(calls.model), kind="stable")
    low, high = (np.searchsorted(calls.model[order], np.arange(len(names)), side) for side in ("left", "right"))
    members = [np.concatenate([order[:0], *(order[low[code] : high[code]] for code in outer)]) for outer in keys]
    offered = np.concatenate([order[:0], *members])
    key = np.repeat(np.arange(len(keys)), [len(predictions) for predictions in members])
    return _of_keys(calls, offered, key, rows, np.array([key_of[stage] for stage in rows.model.tolist()], np.int64))


def innermost(calls: Calls, rows: Rows) -> CallAndCount:
    """Of all predictions, the last of those that lie in each other and contain the row.

    The count is that of the outermost predictions that contain it.
    """
    tiers, _ = calls.tiers()
    call = np.full(len(rows.start), -1, np.int64)
    count = np.zeros(len(rows.start), np.int64)
    for tier in np.flatnonzero(np.bincount(tiers)[:_DEEPEST]):
        among = np.flatnonzero(tiers == tier)
        index, containing_count = containing(calls.start[among], calls.end[among], rows.start, rows.end)
        inner = np.append(among, -1)[index]
        if tier == 0:
            call, count = inner, containing_count
        else:
            call = np.where((inner >= 0) & (call >= 0) & (calls.outer[inner] == call), inner, call)
    return call, count


def running(calls: Calls, rows: Rows) -> BoolArray:
    """Whether a prediction is in flight when each row begins."""
    outermost = calls.outer < 0
    _, count = containing(calls.start[outermost], calls.end[outermost], rows.start, rows.start + 1)
    return count > 0


def _of_keys(calls: Calls, offered: IndexArray, key: IntArray, rows: Rows, sought: IntArray) -> CallAndCount:
    """Search among the predictions `offered` under `key` for those of the key that each row seeks."""
    around = Intervals(calls.start[offered], calls.end[offered])
    index, count = containing_by_key(around, key, Intervals(rows.start, rows.end), sought)
    return np.append(offered, -1)[index], count
