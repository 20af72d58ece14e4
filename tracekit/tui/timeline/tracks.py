"""The lanes of a trace with their intervals in rows, what lies under a cell of the screen, and what passes a filter.

The busy time of a column is the covered time before its end less that before its start (`CoveredTime`), exact for every
zoom and as cheap for a million intervals as for ten: O(columns log n)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import CoveredTime, Intervals
from tracekit.lanes.events import Events, LaneRows, position_of, stack
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.trace.trace import Trace
from tracekit.tui.ranges import passing
from tracekit.tui.state import EVIDENCE_FRAMES, EventFilter, EventRef
from tracekit.tui.viewport import Viewport


def edges(view: Viewport, columns: int) -> IntArray:
    """Edges of the columns in ns: shape (columns + 1,), as `viewport.time_of` gives them one by one."""
    quotient, remainder = divmod(view.span_ns, columns)
    column = np.arange(columns + 1, dtype=np.int64)
    # column * span overflows int64 in a long recording; quotient and remainder apart do not.
    return view.start_ns + column * quotient + column * remainder // columns


def starting(starts: IntArray, bounds: IntArray) -> IntArray:
    """How many of the sorted starts lie between neighboring edges: shape (edges - 1,). O(m log n)."""
    return np.diff(np.searchsorted(starts, bounds, side="left"))


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What a row of a lane shows in each column."""

    total: FloatArray
    """Shape (columns,): share of the column in which at least one interval is on, 0 to 1."""
    category: IntArray
    """Shape (columns,): the category that covers most of the column, -1 where the column is empty."""
    touched: BoolArray
    """Shape (columns,): whether any interval is on or begins there; also true for instants, whose share is 0."""
    single: BoolArray
    """Shape (columns,): whether exactly one interval begins in the column, and none is on at its first ns."""
    alone: BoolArray
    """Shape (columns,): whether an interval is on at the first ns of the column, and none begins in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """One row of a lane on screen."""

    positions: IntArray
    """Shape (k,): positions in `Events` of the intervals of this row, sorted."""
    starts: IntArray
    """Shape (k,)."""
    ends: IntArray
    """Shape (k,); an instant ends 1 ns after its start here, so that it has a place."""
    parts: tuple[tuple[int, CoveredTime], ...]
    """Union of each category that occurs."""
    total: CoveredTime
    disjoint: bool
    """Whether no two of its intervals overlap. False only for the last row of a lane that has more than are shown."""
    longest_ns: int = 0
    """Duration of the longest of them."""

    def shares(self, bounds: IntArray) -> Shares:
        """Busy share of each column between the edges `bounds`. O(categories * columns * log n)."""
        width = np.diff(bounds)
        until = self.total.until(bounds)
        covered = np.diff(until)
        begun = starting(self.starts, bounds)
        running = self.total.until(bounds[:-1] + 1) > until[:-1]
        touched = (covered > 0) | (begun > 0)
        category = np.full(len(width), -1, np.int64)
        if len(self.parts) == 1:
            category[touched] = self.parts[0][0]
        elif self.parts:
            amounts = np.stack([part.between(bounds) for _, part in self.parts])
            codes = np.array([code for code, _ in self.parts])
            category[touched] = codes[amounts.argmax(axis=0)][touched]
        return Shares(covered / width, category, touched, (begun == 1) & ~running, (begun == 0) & running)

    def reaches(self, low_ns: int, high_ns: int) -> bool:
        """Whether any interval or instant is in `[low_ns, high_ns)`, if in part. O(log n), O(n) where they overlap."""
        upper = int(np.searchsorted(self.starts, high_ns, side="left"))
        ends = self.ends[upper - 1 : upper] if self.disjoint else self.ends[:upper]
        return bool((ends > low_ns).any())

    def holds(self, position: int) -> bool:
        """Whether the interval at a position in `Events` is in this row. O(log n)."""
        return position_of(self.positions, position) is not None


def tracks(events: Events, limit: int) -> tuple[Track, ...]:
    """The rows of a lane, at most `limit`; what does not fit is joined in the last one. O(n log n)."""
    drawn = _drawn_ends(events)
    row = np.minimum(stack(events.starts, drawn), limit - 1) if limit > 1 else np.zeros(len(events), np.int64)
    deepest = int(row.max(initial=-1))
    return tuple(_track(events, drawn, np.flatnonzero(row == number)) for number in range(deepest + 1))


def passing_track(events: Events, row: Track, keep: BoolArray) -> Track:
    """The same row with only the intervals that `keep` names: shape (frame,), by index in the frame. O(n log n)."""
    return _track(events, _drawn_ends(events), row.positions[keep[events.index[row.positions]]])


def _drawn_ends(events: Events) -> IntArray:
    if (events.ends > events.starts).all():
        return events.ends
    return np.maximum(events.ends, events.starts + 1)


def _track(events: Events, drawn: IntArray, positions: IntArray) -> Track:
    if len(positions) == len(events):
        starts, ends, recorded = events.starts, drawn, events.ends
    else:
        starts, ends, recorded = events.starts[positions], drawn[positions], events.ends[positions]
    total = Intervals(starts, recorded).covered_time()
    codes = events.categories[positions]
    if codes.size and (codes == codes[0]).all():
        parts = [(int(codes[0]), total)]
    else:
        parts = []
        for code in np.unique(codes).tolist():
            of_code = positions[codes == code]
            parts.append((code, Intervals(events.starts[of_code], events.ends[of_code]).covered_time()))
    disjoint = bool((starts[1:] >= ends[:-1]).all())
    return Track(positions, starts, ends, tuple(parts), total, disjoint, int((ends - starts).max(initial=0)))


class Bar(NamedTuple):
    """An interval that is wide enough on screen to be drawn by itself."""

    position: int
    """In `Events`."""
    first: int
    """First column that it fills from edge to edge."""
    after: int
    """The one after the last of those."""
    early: bool
    """Whether it begins before its first whole column."""


def bars(track: Track, bounds: IntArray, min_columns: int) -> list[Bar]:
    """Intervals that fill at least `min_columns` whole columns, from left to right. O(columns log n).

    Exact, since such an interval covers an edge between columns.
    `min_columns` is at least 1. Empty for a row whose intervals overlap: there, no bar stands for one of them alone.
    """
    if not track.disjoint or not len(track.starts):
        return []
    column = np.searchsorted(track.starts, bounds, side="right") - 1
    candidates = column[np.diff(column, prepend=-1) > 0]
    starts = track.starts[candidates]
    first = np.searchsorted(bounds, starts, side="left")
    after = np.searchsorted(bounds, track.ends[candidates], side="right") - 1
    wide = np.flatnonzero(after - first >= min_columns)
    early = starts[wide] < bounds[first[wide]]
    columns = (track.positions[candidates[wide]], first[wide], after[wide], early)
    return [Bar(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]


def hit(track: Track, low_ns: int, high_ns: int) -> int | None:
    """The interval that covers most of `[low_ns, high_ns)`: its position in `Events`; the earliest among equals."""
    upper = int(np.searchsorted(track.starts, high_ns, side="left"))
    lower = int(np.searchsorted(track.ends, low_ns, side="right")) if track.disjoint else 0
    if lower >= upper:
        return None
    overlap = np.minimum(track.ends[lower:upper], high_ns) - np.maximum(track.starts[lower:upper], low_ns)
    best = int(overlap.argmax())
    return int(track.positions[lower + best]) if overlap[best] > 0 else None


def nearest(events: Events, time_ns: int) -> int | None:
    """Position of the interval that is on at a time, the innermost one; else of the one that starts nearest."""
    if not len(events):
        return None
    upper = int(np.searchsorted(events.starts, time_ns, side="right"))
    on = np.flatnonzero(np.maximum(events.ends[:upper], events.starts[:upper] + 1) > time_ns)
    if on.size:
        return int(on[-1])
    around = [position for position in (upper - 1, upper) if 0 <= position < len(events)]
    return min(around, key=lambda position: abs(int(events.starts[position]) - time_ns))


def step(events: Events, position: int, forward: bool, chosen: BoolArray | None = None) -> int | None:
    """The next or previous interval after `position`, among those `chosen` (shape (n,)); None where there is none."""
    rest = slice(position + 1, None) if forward else slice(0, max(position, 0))
    if chosen is None:
        target = position + 1 if forward else position - 1
        return target if 0 <= target < len(events) else None
    ahead = np.flatnonzero(chosen[rest])
    if not ahead.size:
        return None
    return position + 1 + int(ahead[0]) if forward else int(ahead[-1])


def snapped(events: Events | None, time_ns: int, within_ns: int) -> int:
    """The start or end of an interval nearest to a time and at most `within_ns` away; the time itself without one."""
    if events is None or not len(events):
        return time_ns
    # Of those equally near, a start comes before an end, and the earlier one first.
    start = int(events.starts[np.abs(events.starts - time_ns).argmin()])
    away = np.abs(events.ends - time_ns)
    end = int(events.ends[away == away.min()].min())
    nearest_of_all = min(start, end, key=lambda edge: abs(edge - time_ns))
    return nearest_of_all if abs(nearest_of_all - time_ns) <= within_ns else time_ns


DEPTH_LIMIT = 4
"""Rows of a lane unless it is expanded. Our judgment: four show nesting and a pile-up, and leave room for others."""
ROOMY, ROOMY_LIMIT, FEW_EVENTS = 34, 8, 50_000
"""Lines of a high timeline; in it, rows of a lane that has no more than so many events, whose rows are worked out while
it is drawn."""
EXPANDED_LIMIT = 40
"""Rows of an expanded lane."""


@dataclass(frozen=True, slots=True, eq=False)
class TimelineLane(LaneRows):
    """One lane as it is drawn."""

    tracks: tuple[Track, ...] = ()

    def position(self, ref: EventRef) -> int | None:
        """Where a row stands in its events; None where it is not on this lane. O(log n)."""
        events = self.events
        return events.position(ref.index) if events is not None and events.frame == ref.frame else None


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """The lanes of one recording under one grouping, and the rows that are evidence."""

    lanes: tuple[TimelineLane, ...]
    evidence: Mapping[str, BoolArray] = field(default_factory=dict)
    """Which rows are evidence of a finding, by frame: shape (rows,) each."""

    def events_of(self, identity: str) -> Events | None:
        """Events of the lane of that id; None where it has none."""
        return next((lane.events for lane in self.lanes if lane.id == identity), None)

    @property
    def hold_events(self) -> bool:
        """Whether any lane has an event."""
        return any(lane.events is not None for lane in self.lanes)


def timeline_lanes(trace: Trace, grouping: Grouping) -> tuple[TimelineLane, ...]:
    """All lanes but that of the main thread, top to bottom; pinned ones last. O(n log n)."""
    return with_tracks(lanes_of(trace, grouping))


def with_tracks(lanes: Iterable[LaneRows]) -> tuple[TimelineLane, ...]:
    """The lanes, with their intervals in rows. O(n log n)."""
    return tuple(
        TimelineLane(
            **{field.name: getattr(lane, field.name) for field in fields(LaneRows)},
            tracks=() if lane.events is None else tracks(lane.events, 1 if lane.strip else DEPTH_LIMIT),
        )
        for lane in lanes
    )


@dataclass(frozen=True, slots=True, eq=False)
class FilterMask:
    """What a filter lets through."""

    keep: Mapping[str, BoolArray]
    """By frame, shape (rows,) each. Strips of states are in none of the frames, and stay as they are."""
    tracks: dict[Track, Track]
    """Rows with only what passes: some made beforehand, since they take long, others once they are drawn."""

    def passing(self, events: Events, track: Track) -> Track | None:
        """A row of a lane with only what passes; None where it stays as it is. O(n log n) once."""
        if events.frame not in self.keep:
            return None
        if track not in self.tracks:
            self.tracks[track] = passing_track(events, track, self.keep[events.frame])
        return self.tracks[track]


def filter_mask(lanes: Sequence[TimelineLane], trace: Trace, chosen: EventFilter) -> FilterMask:
    """What passes a filter. O(n log n)."""
    keep = {name: passing(trace, name, chosen, None) for name in EVIDENCE_FRAMES}
    mask = FilterMask(keep, {})
    for lane in lanes:
        for track in lane.tracks:
            if lane.events is not None:
                mask.passing(lane.events, track)
    return mask
