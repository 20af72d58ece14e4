"""The events of all slices in the order in which a viewer reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.report.viewers.tracks import Tracks

CHUNK = 1 << 16
"""Events that are made into Python numbers at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class SliceRows:
    """All slices of all tracks, track by track and row by row, each row in the order of time: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    lines: IntArray
    """Rows of all tracks, counted through from 0."""
    names: IntArray
    details: IntArray
    works: IntArray
    flows: IntArray
    flow_ends: BoolArray
    """Whether the slice is the last one of its flow."""
    flow_starts: BoolArray


def slice_rows(tracks: Tracks) -> SliceRows:
    """The slices of all tracks, with times as the file has them. O(n log n)."""
    columns_of_tracks: list[tuple[IntArray, ...]] = []
    first = 0
    for track in tracks.slices:
        order = np.lexsort((np.arange(len(track.rows)), track.rows))
        placed = (track.starts + tracks.shift_ns, track.ends + tracks.shift_ns, track.rows + first)
        contents = (track.names, track.details, track.works, track.flows)
        columns_of_tracks.append(tuple(column[order] for column in (*placed, *contents)))
        first += track.row_count
    starts, ends, lines, names, details, works, flows = map(np.concatenate, zip(*columns_of_tracks, strict=True))
    in_time = np.argsort(starts, kind="stable")
    joined = in_time[flows[in_time] > 0]
    flow_starts, flow_ends = np.zeros(len(starts), np.bool_), np.zeros(len(starts), np.bool_)
    flow_starts[joined[np.unique(flows[joined], return_index=True)[1]]] = True
    back = joined[::-1]
    flow_ends[back[np.unique(flows[back], return_index=True)[1]]] = True
    return SliceRows(starts, ends, lines, names, details, works, flows, flow_ends, flow_starts)


def events_of(rows: SliceRows) -> Iterator[tuple[int, bool, int, int, int, int, int, bool]]:
    """The begin and the end of each slice, by time: time, whether it is the end, and of the slice line, name, details,
    work, flow and whether it is the last one of its flow.

    What is at one time keeps the order of its line, so that a slice ends before the next one of its line begins.
    """
    times = np.stack((rows.starts, rows.ends), axis=1).reshape(-1)
    order = np.argsort(times, kind="stable")
    columns = (rows.lines, rows.names, rows.details, rows.works, rows.flows, rows.flow_ends)
    for first in range(0, len(order), CHUNK):
        events = order[first : first + CHUNK]
        slices, ends = events >> 1, (events & 1).astype(np.bool_)
        yield from zip(
            times[events].tolist(), ends.tolist(), *(column[slices].tolist() for column in columns), strict=True
        )
