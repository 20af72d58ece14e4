"""What a filter lets through, so that all else on the lanes can be faded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.filtering import passing
from tracekit.tui.timeline.tracks import passing_tracks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tracekit.arrays import BoolArray
    from tracekit.trace.trace import Trace
    from tracekit.tui.state import EventFilter
    from tracekit.tui.timeline.lanes import TimelineLane
    from tracekit.tui.timeline.tracks import Track


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
