"""Calls of models that the main thread makes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.code.threads import conversions_on_main
from tracekit.analysis.frames.deadlines import NEVER
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import codes_of
from tracekit.intervals import Intervals, containing
from tracekit.rows import places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import SETUP_KINDS, Calls, Events, Kind
from tracekit.trace.instruments.frames import RunLoop
from tracekit.trace.trace import Trace, cached_by_trace

MOST = 0.9
"""So much of a thread or of a sort of calls stands for all of it (heuristic)."""
_BY_CHANCE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class MainCalls:
    """Calls of models on the main thread, by start."""

    calls: Calls
    times: Intervals
    """Of each with the conversions next to it."""
    waits: BoolArray
    """Shape (calls,): for most of its time a unit works, and the thread waits."""
    is_sure: bool
    """Whether call stacks show the thread, and not times alone."""

    def wait_in(self, ids: IntArray) -> BoolArray:
        """Whether calls, by row of the activity, are such that wait; those that are none of these are not."""
        at = places_of(self.calls.id, ids)
        return np.append(self.waits, False)[at]


@cached_by_trace
def main_calls(trace: Trace) -> MainCalls:
    """By call stacks: where most known calls of a model are made on the main thread, all of their sort are. Without
    call stacks: where they begin and end while the main run loop is busy, which is most unlikely by chance."""
    called = top_calls(trace, *SETUP_KINDS, Kind.PREDICTION)
    sort = 2 * called.model.codes.astype(np.int64) + called.kind.is_any(*SETUP_KINDS) + 2
    sites, chosen = call_sites(trace), np.zeros(len(called), np.bool_)
    if sites is not None and len(sites):
        at = places_of(called.id, sites.id)
        known = sites.main_thread.known & ~sites.ambiguous & (at >= 0)
        size = int(sort.max(initial=0)) + 1
        seen = np.bincount(sort[at[known]], minlength=size)
        on_main = np.bincount(sort[at[known & sites.main_thread.values]], minlength=size)
        chosen = ((seen > 0) & (on_main >= MOST * np.maximum(seen, 1)))[sort]
        chosen[at[known]] = sites.main_thread.values[known]
    elif (loop := trace.table(RunLoop)) is not None and len(loop):
        busy, spans = Intervals.from_rows(loop).union(), Intervals.from_rows(called)
        inside = containing(busy.starts, busy.ends, spans.starts, spans.ends)[1] > 0
        end = trace.run.duration_ns or int(busy.ends.max())
        by_chance = min(busy.covered_ns / max(end, 1), 1.0)
        for value in distinct_numbers(sort):
            own = sort == value
            if inside[own].mean() >= MOST and by_chance ** int(own.sum()) < _BY_CHANCE:
                chosen |= own & inside
    calls = called.where(chosen)
    worked = trace.hardware.where(trace.hardware.prediction.known)
    on_units = Intervals.from_rows(worked).covered_by_group(worked.prediction.values, len(trace.activity))
    times = _with_conversions(trace, Intervals.from_rows(calls))
    return MainCalls(calls, times, 2 * on_units[calls.id] > times.durations, sites is not None)


def _with_conversions(trace: Trace, calls: Intervals) -> Intervals:
    """Calls, each with what the main thread converts directly before and after it."""
    pieces, near_ns = conversions_on_main(trace) if len(calls) else (Intervals.none(), 0)
    starts, ends = calls.starts.copy(), calls.ends.copy()
    after = np.searchsorted(starts, pieces.ends)
    to_next = np.append(starts, NEVER)[after] - pieces.ends <= near_ns
    from_last = ~to_next & (after > 0) & (pieces.starts - ends[after - 1] <= near_ns)
    np.minimum.at(starts, after[to_next], pieces.starts[to_next])
    np.maximum.at(ends, after[from_last] - 1, pieces.ends[from_last])
    return Intervals(starts, ends)


def longest(
    times: Intervals, calls: Events, windows: Intervals, ids: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Of each window the call that lies in it longest, among the first and the last of those that reach into it, and
    the code of its model; -1 for none. Calls are sorted by start. O(m log n)."""
    none = np.full(len(windows), -1)
    if not len(times):
        return none, none
    reach = np.maximum.accumulate(times.ends)
    first = np.minimum(np.searchsorted(reach, windows.starts, "right"), len(times) - 1)
    last = np.clip(np.searchsorted(times.starts, windows.ends, "left") - 1, 0, len(times) - 1)

    def inside(at: IndexArray) -> IntArray:
        return np.minimum(times.ends[at], windows.ends) - np.maximum(times.starts[at], windows.starts)

    best = np.where(inside(first) >= inside(last), first, last)
    found = inside(best) > 0
    ids = calls.id if ids is None else ids
    return np.where(found, ids[best], -1), np.where(found, calls.model.codes[best], -1)


def in_activity(trace: Trace, rows: Events, codes: IntArray) -> IntArray:
    """Codes of models of some rows as those of the activity."""
    names = codes_of(np.arange(len(rows.model.values)), rows.model.values)
    return np.append(names.codes_in(trace.activity.model.values), -1)[codes]
