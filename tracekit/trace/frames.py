"""Frames from the tables of late frames, of stages, of refreshes and of pictures shown.

Measured on exports of Xcode 27.0: lateness is a whole number of refresh intervals from the refresh at which a frame was
due; a swap id names one frame in all tables; every table of stages lists all frames, some of them twice, so lateness
comes from the table of hitches alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Numbers, Texts, codes_of, constant, known_where, no_numbers, or_null
from tracekit.recording.table import Process
from tracekit.rows import group_ids, joined, places_of
from tracekit.trace.context import ContextRows, of_target, sorted_by_start
from tracekit.trace.instruments.frames import Aside, Frames, Hitches, Refreshes, Stage, Stages, Swaps

EDGE_NS: Final = 1_000_000_000
"""At the start and at the end of a recording the recorder's own work makes frames late (heuristic)."""
LOCKED: Final = 6
"""So many frames in a row, each shown as long as the others and late by the rest, are a steady lower rate (heuristic:
120 of 216 hitches of one report were)."""
_RATES: Final = (60, 120)
_DISPLAYS: Final = 16
"""Names of displays that are told apart: one machine has fewer."""
_SLACK_NS: Final = 300_000
"""How far refreshes lie from a grid of one rate: 250 ns at most in an export; clocks of displays drift (heuristic)."""


def frames_of(
    tables: Mapping[str, ContextRows | None], target: Process | None, duration_ns: int | None
) -> Frames | None:
    """The frames of a recording, from the rows of `SOURCES`; None without a table of late frames. O(n log n)."""
    stages = {stage: _stages(tables, stage) for stage in (*Stage, "lifetimes")}
    late = tables["late"]
    if not isinstance(late, Hitches):
        late = _from_lifetimes(stages["lifetimes"])
    if late is None:
        return None
    swaps = tables["swaps"]
    shown_at = _last_by_swap(swaps.swap, swaps.start_ns) if isinstance(swaps, Swaps) else None
    in_time = _in_time(late, stages, target, shown_at)
    frames = late if in_time is None else joined([late, in_time])
    refreshes = tables["refreshes"]
    interval = _intervals(frames, len(late), refreshes if isinstance(refreshes, Refreshes) else None)
    count = np.rint(frames.duration_ns / np.maximum(interval.values, 1)).astype(np.int64)
    kept = ("start_ns", "duration_ns", "says", "swap", "display", "process", "pid", "table", "row")
    known: dict[str, Any] = {name: getattr(frames, name) for name in kept}
    for stage in Stage:
        rows = stages[stage]
        for name, ends in ((f"{stage}_ns", False), (f"{stage}_end_ns", True)):
            known[name] = no_numbers(len(frames)) if rows is None else _by_swap(frames.swap, rows, ends=ends)
    made = Frames(
        intervals=known_where(interval.known, count),
        interval_ns=interval,
        aside=_aside(frames, target, duration_ns, interval),
        surface=_surface(frames.swap, stages),
        **known,
    )
    return sorted_by_start(made)


def _stages(tables: Mapping[str, ContextRows | None], name: str) -> Stages | None:
    rows = tables[name]
    return rows.where(rows.swap.known) if isinstance(rows, Stages) else None


def _from_lifetimes(lifetimes: Stages | None) -> Hitches | None:
    """Late frames of iOS 18 where only lifetimes say by how much; they end when the frame is shown."""
    if lifetimes is None or not lifetimes.late_ns.known.any():
        return None
    rows = lifetimes.where(lifetimes.late_ns.filled(0) > 0)
    late = rows.late_ns.values
    return _shown(rows, rows.start_ns + rows.duration_ns - late, late)


def _shown(rows: Stages, start_ns: IntArray, late_ns: IntArray) -> Hitches:
    """Frames of which a table of stages has rows, of which neither the system nor a cause is said."""
    none: Texts = constant(None, len(rows))
    return Hitches(
        *(start_ns, late_ns, no_numbers(len(rows)), rows.swap, rows.display, none),
        *(rows.process, rows.pid, rows.table, rows.row),
    )


def _in_time(
    late: Hitches,
    stages: Mapping[str, Stages | None],
    target: Process | None,
    shown_at: tuple[IntArray, IntArray] | None,
) -> Hitches | None:
    """Frames that came in time, at the moment that they were shown: those that the target made, where tables say who
    made them, else all that were drawn."""
    made, lifetimes = stages[Stage.UPDATE], stages["lifetimes"]
    if made is not None and made.pid.known.any():
        made = made.where(of_target(made.pid, target))
    made = stages[Stage.RENDER] if made is None else made
    if made is None:
        return None
    if shown_at is None and lifetimes is not None:
        shown_at = _last_by_swap(lifetimes.swap, lifetimes.start_ns + lifetimes.duration_ns)
    if shown_at is None:
        return None
    at = places_of(shown_at[0], made.swap.values)
    _, first = np.unique(made.swap.values, return_index=True)
    first = first[(at[first] >= 0) & ~np.isin(made.swap.values[first], late.swap.values[late.swap.known])]
    return _shown(made.take(first), shown_at[1][at[first]], np.zeros(len(first), np.int64))


def _last_by_swap(swap: Numbers, time: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct swap ids, ascending, and the latest time of each."""
    known = np.flatnonzero(swap.known)
    order = known[np.lexsort((time[known], swap.values[known]))]
    ids = swap.values[order]
    last = np.append(ids[1:] != ids[:-1], True)[: len(ids)]
    return ids[last], time[order][last]


def _by_swap(swap: Numbers, rows: Stages, *, ends: bool) -> Numbers:
    """First begin or last end of the rows of each frame, whether or not they are listed twice."""
    ids, time = _last_by_swap(rows.swap, rows.start_ns + rows.duration_ns if ends else -rows.start_ns)
    at = places_of(ids, np.where(swap.known, swap.values, -1))
    return known_where(at >= 0, np.append(time if ends else -time, 0)[at])


def _surface(swap: Numbers, stages: Mapping[str, Stages | None]) -> Numbers:
    for stage in (Stage.RENDER, Stage.UPDATE, Stage.GPU):
        rows = stages[stage]
        if rows is not None and rows.surface.known.any():
            ids, first = np.unique(rows.swap.values, return_index=True)
            at = places_of(ids, np.where(swap.known, swap.values, -1))
            surfaces = np.append(rows.surface.filled()[first], -1)
            return or_null(surfaces[at])
    return no_numbers(len(swap))


def _intervals(frames: Hitches, late: int, refreshes: Refreshes | None) -> Numbers:
    """The refresh interval in force at each frame: the gap before the refresh at which it was due."""
    found = np.full(len(frames), -1, np.int64)
    by_display = {} if refreshes is None or not len(refreshes) else _refresh_times(refreshes)
    only = next(iter(by_display.values())) if len({*map(id, by_display.values())}) == 1 else None
    for code, name in zip((*range(len(frames.display.values)), -1), (*frames.display.values, None), strict=True):
        here, times = np.flatnonzero(frames.display.codes == code), by_display.get(name, only)
        if times is not None and len(times) > 1:
            at = np.clip(np.searchsorted(times, frames.start_ns[here] + _SLACK_NS, "right") - 1, 1, len(times) - 1)
            found[here] = times[at] - times[at - 1]
        elif len(here):
            found[here] = _grid(frames, here[here < late])
    return or_null(found)


def _refresh_times(refreshes: Refreshes) -> dict[str | None, IntArray]:
    """Refreshes of each display by its name, sorted; names with the same refreshes share one array."""
    times: dict[str | None, IntArray] = {}
    for code, name in enumerate(refreshes.display.values[:_DISPLAYS]):
        own = np.unique(refreshes.start_ns[refreshes.display.codes == code])
        if len(own):
            same = (each for each in times.values() if 3 * np.isin(own, each).sum() > 2 * max(len(own), len(each)))
            times[name] = next(same, own)
    return times


def _grid(frames: Hitches, late: IndexArray) -> int:
    """The interval of the slowest usual rate on whose grid all late frames lie, with their lateness; -1 for none."""
    lengths, starts = frames.duration_ns[late], frames.start_ns[late]
    for rate in _RATES if len(late) else ():
        interval = 1_000_000_000 / rate
        off = np.abs(lengths - np.rint(lengths / interval) * interval)
        apart = np.diff(starts)
        # Clocks drift over long distances.
        near = apart < 1_000 * interval
        off_grid = np.abs(apart - np.rint(apart / interval) * interval)[near]
        if off.max() <= _SLACK_NS and off_grid.max(initial=0) <= 4 * _SLACK_NS:
            return round(interval)
    return -1


def _aside(frames: Hitches, target: Process | None, duration_ns: int | None, interval: Numbers) -> Texts:
    """Why late frames are not counted."""
    system = frames.system.filled(0) > 0
    other = frames.pid.known & ~of_target(frames.pid, target)
    end = np.iinfo(np.int64).max if duration_ns is None else duration_ns
    edge = (frames.start_ns < EDGE_NS) | (frames.start_ns + frames.duration_ns > end - EDGE_NS)
    locked = _rate_locked(frames, interval)
    late = frames.duration_ns > 0
    reason = np.select([~late, system, other, edge, locked], [-1, 0, 1, 2, 3], -1)
    return codes_of(reason, tuple(map(str, Aside)), map(str, Aside))


def _rate_locked(frames: Hitches, interval: Numbers) -> BoolArray:
    """Late frames in runs in which each is shown for as long as the others and comes late by the rest of that time."""
    locked = np.zeros(len(frames), np.bool_)
    sort = group_ids([frames.display.codes, frames.pid.filled()], len(frames))
    late = np.flatnonzero(frames.duration_ns > 0)
    late = late[np.lexsort((frames.start_ns[late], sort[late]))]
    starts, lengths, quantum = frames.start_ns[late], frames.duration_ns[late], interval.filled(0)[late]
    apart = np.diff(starts)
    steady = (np.diff(sort[late]) == 0) & (np.abs(apart - lengths[:-1] - quantum[:-1]) <= _SLACK_NS)
    steady &= (np.abs(np.diff(lengths)) <= _SLACK_NS) & (quantum[:-1] > 0)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], steady, [False])).astype(np.int8)))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if last - first + 1 >= LOCKED:
            locked[late[first : last + 1]] = True
    return locked
