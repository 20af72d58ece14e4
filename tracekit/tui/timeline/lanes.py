"""The lanes of a trace with their intervals arranged in rows of the screen, and what a filter lets through on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from tracekit.lanes.events import LaneRows
from tracekit.lanes.lanes import Grouping, lanes_of, main_thread
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.ranges import passing
from tracekit.tui.timeline.tracks import Track, passing_tracks, tracks

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray
    from tracekit.lanes.events import Events
    from tracekit.trace.trace import Trace
    from tracekit.tui.state import EventFilter


DEPTH_LIMIT = 4
"""Rows of a lane unless it is expanded. Our judgment: four show nesting and a pile-up, and leave room for others."""
EXPANDED_LIMIT = 40
"""Rows of an expanded lane."""


@dataclass(frozen=True, slots=True, eq=False)
class TimelineLane(LaneRows):
    """One lane as it is drawn."""

    tracks: tuple[Track, ...] = ()


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
    return _with_tracks(lanes_of(trace, grouping))


def main_thread_lanes(trace: Trace) -> tuple[TimelineLane, ...]:
    """The lane of the main thread, or none; see `tracekit.lanes.lanes.main_thread`."""
    return _with_tracks(main_thread(trace))


def _with_tracks(lanes: Iterable[LaneRows]) -> tuple[TimelineLane, ...]:
    return tuple(
        TimelineLane(
            **{field.name: getattr(lane, field.name) for field in fields(LaneRows)},
            tracks=() if lane.events is None else tracks(lane.events, 1 if lane.strip else DEPTH_LIMIT),
        )
        for lane in lanes
    )


@dataclass(frozen=True, slots=True, eq=False)
class FilterMask:
    """What a filter lets through, for some lanes."""

    keep: Mapping[str, BoolArray]
    """By frame, shape (rows,) each. Strips of states are in none of the frames, and stay as they are."""
    tracks: Mapping[str, tuple[Track, ...]]
    """The rows of each lane with only what passes, by id; made beforehand, since they take long."""


def filter_mask(lanes: Sequence[TimelineLane], trace: Trace, chosen: EventFilter) -> FilterMask:
    """What passes a filter. O(n log n)."""
    keep = {name: passing(trace, name, chosen, None) for name in EVENT_FRAMES}
    tracks = {
        lane.id: passing_tracks(lane.events, lane.tracks, keep[lane.events.frame])
        for lane in lanes
        if lane.events is not None and lane.events.frame in keep
    }
    return FilterMask(keep, tracks)
