"""Predictions over time, below the lanes: how many are in flight, and how long they take. Pure numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len

from tracekit.characters import visible
from tracekit.intervals import depth_profile
from tracekit.lanes.categories import Category
from tracekit.trace.events import Attribution, Kind, Level
from tracekit.trace.frames import is_any
from tracekit.tui.timeline.glyphs import LOWER_BLOCKS, Ink, Picture
from tracekit.tui.timeline.layout import Line
from tracekit.units import format_duration, format_estimate

if TYPE_CHECKING:
    from tracekit.arrays import IntArray
    from tracekit.trace.trace import Trace
    from tracekit.tui.state import State
    from tracekit.tui.timeline.layout import ScreenLine


@dataclass(frozen=True, slots=True, eq=False)
class PredictionsOverTime:
    """Predictions that the app called, of one model or of all."""

    starts: IntArray
    """Shape (n,), sorted."""
    ends: IntArray
    times: IntArray
    """Shape (steps + 1,): when the number in flight changes; the first lies before everything."""
    depth: IntArray
    """Shape (steps + 1,): the number from each of these times on."""
    inferred: bool
    """Whether they are known from hardware alone: they took longer than that."""

    def values(self, line: ScreenLine, bounds: IntArray) -> IntArray:
        """What a line shows between neighboring edges: shape (edges - 1,)."""
        return self.in_flight(bounds) if line.line is Line.IN_FLIGHT else self.latency(bounds)

    def title(self, line: ScreenLine, values: IntArray, model: str | None, room: int) -> tuple[str, str]:
        """What stands in front of a line, and the largest of its values, for the right end, in `room` cells."""
        most = int(values.max(initial=0))
        if line.line is Line.IN_FLIGHT:
            return " In flight", f"max {most:,}"
        if line.part:
            return f"   {visible(model) if model is not None else 'all models'}", ""
        sign = " ≥ " if self.inferred else " "
        exact, rough = (f"{sign}{text(most) if most else '–'}" for text in (format_duration, format_estimate))
        ways = ((" Latency, max", exact), (" Latency", exact))
        return next((way for way in ways if cell_len("".join(way)) <= room), (" Latency", rough))

    def in_flight(self, bounds: IntArray) -> IntArray:
        """Most predictions in flight at once between neighboring edges: shape (edges - 1,).

        O(columns log n), and O(steps in view).
        """
        first = np.searchsorted(self.times, bounds[:-1], side="right") - 1
        after = np.searchsorted(self.times, bounds[1:], side="left")
        # One value more, so that the last place is one of the array.
        depth = np.append(self.depth, 0)
        pairs = np.column_stack((first, np.maximum(after, first + 1))).ravel()
        most: IntArray = np.maximum.reduceat(depth, pairs)[::2]
        return most

    def latency(self, bounds: IntArray) -> IntArray:
        """Longest duration, in ns, of those that are on between neighboring edges, 0 where none is: shape (edges - 1,).

        O(n + columns * depth).
        """
        longest = np.zeros(len(bounds) - 1, np.int64)
        seen = np.flatnonzero((self.starts < bounds[-1]) & (np.maximum(self.ends, self.starts + 1) > bounds[0]))
        starts, ends = self.starts[seen], self.ends[seen]
        first = np.maximum(np.searchsorted(bounds, starts, side="right") - 1, 0)
        last = np.minimum(np.searchsorted(bounds, np.maximum(ends, starts + 1), side="left"), len(longest)) - 1
        columns = last - first + 1
        # Each prediction once for each of its columns.
        ahead = np.cumsum(columns) - columns
        column = np.repeat(first - ahead, columns) + np.arange(int(columns.sum()))
        np.maximum.at(longest, column, np.repeat(ends - starts, columns))
        return longest


def predictions_over_time(trace: Trace, model: str | None) -> PredictionsOverTime | None:
    """The predictions that the app called, of a model (None: all); None where there is none. O(n log n)."""
    activity = trace.activity
    called = is_any(activity["kind"], Kind.PREDICTION) & is_any(activity["level"], Level.TOP)
    if model is not None:
        called &= (activity["model"] == model).to_numpy(dtype=bool)
    rows = np.flatnonzero(called)
    if not rows.size:
        return None
    starts = activity["start_ns"].to_numpy()[rows]
    ends = starts + activity["duration_ns"].to_numpy()[rows]
    times, depth = depth_profile(starts, ends)
    before = np.iinfo(np.int64).min
    inferred = bool(is_any(activity["attribution"].iloc[rows], Attribution.INFERRED).any())
    return PredictionsOverTime(starts, ends, np.append(before, times), np.append(0, depth), inferred)


def model_of(state: State) -> str | None:
    """The model that the selection is about, else that of the filter; None for all."""
    selection, session = state.selection, state.session
    if selection.model is not None:
        return selection.model
    if selection.row is not None:
        return selection.row.source.model
    model: object = None
    if selection.event is not None:
        model = session.row(selection.event).get("model")
    elif selection.finding is not None and (check := session.check(selection.finding)) is not None:
        model = check.model
    return model if isinstance(model, str) else state.filter.model or None


def blocks(values: IntArray, part: int, parts: int) -> Picture:
    """Line `part` of `parts` (from the top) of values. The largest is as high as all lines; only 0 shows nothing."""
    most = max(int(values.max(initial=0)), 1)
    level = np.maximum(np.rint(values / most * 8 * parts).astype(np.int64), values > 0)
    here = np.clip(level - 8 * (parts - 1 - part), 0, 8).tolist()
    color = Category.PREDICTION.value
    return Picture(
        [LOWER_BLOCKS[height] for height in here],
        [color if height else -1 for height in here],
        [Ink.BLOCK] * len(here),
    )
