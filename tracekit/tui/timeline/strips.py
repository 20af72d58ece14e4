"""Predictions over time, below the lanes: how many are in flight, and how long they take. Pure numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len

from tracekit.arrays import IntArray
from tracekit.characters import shorten, visible
from tracekit.intervals import Intervals, depth_profile
from tracekit.lanes.categories import Category
from tracekit.trace.events import Kind, Level, Origin
from tracekit.trace.trace import Trace
from tracekit.tui.state import State
from tracekit.tui.timeline.glyphs import Picture, of_level
from tracekit.tui.timeline.layout import Line, ScreenLine
from tracekit.units import format_estimate, format_time


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A number over time that changes at some times only."""

    times: IntArray
    """Shape (steps + 1,): when it changes; the first lies before everything."""
    values: IntArray
    """Shape (steps + 2,): the number from each of these times on. The last value stands for nothing."""

    def largest(self, bounds: IntArray) -> IntArray:
        """The largest number between neighboring edges: shape (edges - 1,). O(columns log n), and O(steps in view)."""
        first = np.searchsorted(self.times, bounds[:-1], side="right") - 1
        after = np.searchsorted(self.times, bounds[1:], side="left")
        pairs = np.column_stack((first, np.maximum(after, first + 1))).ravel()
        largest: IntArray = np.maximum.reduceat(self.values, pairs)[::2]
        return largest


@dataclass(frozen=True, slots=True, eq=False)
class PredictionsOverTime:
    """Predictions that the app called, of one model or of all."""

    in_flight: Steps
    latency: Steps
    """The duration in ns of the longest in flight, 0 where none is."""
    inferred: bool
    """Whether they are known from hardware alone: they took longer than that."""
    resolution_ns: int
    """To how much durations are known."""

    def values(self, line: Line, bounds: IntArray) -> IntArray:
        """What a strip shows between each two edges: shape (edges - 1,)."""
        return (self.in_flight if line is Line.IN_FLIGHT else self.latency).largest(bounds)

    def title(self, line: ScreenLine, largest: int, model: str | None, room: int) -> tuple[str, str]:
        """What stands in front of a line, and the scale, for the right end, in `room` cells."""
        if line.line is Line.IN_FLIGHT:
            return " In flight", f"max {largest:,}"
        is_last = line.part == line.parts - 1
        if line.part:
            about = visible(model) if model is not None else "all models"
            left = room - 4 if is_last else room
            return shorten(f"   {about}", left) if line.part == 1 else "", "0" if is_last else ""
        # What the whole height stands for, and where it begins.
        sign = " ≥ " if self.inferred else " "
        exact, rough = (
            f"{sign}{text}" if largest else " –"
            for text in (format_time(largest, self.resolution_ns), format_estimate(largest))
        )
        ways = ((" Latency", f" 0 –{exact}") if is_last else (" Latency, max", exact), (" Latency", exact))
        return next((way for way in ways if cell_len("".join(way)) <= room), (" Latency", rough))


def predictions_over_time(trace: Trace, model: str | None) -> PredictionsOverTime | None:
    """The predictions that the app called, of a model (None: all); None where there is none. O(n log n)."""
    activity = trace.activity
    called = activity.kind.is_any(Kind.PREDICTION) & activity.level.is_any(Level.TOP)
    if model is not None:
        called &= activity.model.is_any(model)
    rows = np.flatnonzero(called)
    if not rows.size:
        return None
    predicted = Intervals.from_rows(activity).where(rows)
    inferred = bool(activity.origin.is_any(Origin.HARDWARE)[rows].any())
    in_flight = _steps(*depth_profile(predicted.starts, predicted.ends))
    times = np.sort(np.concatenate((predicted.starts, predicted.ends)), kind="stable")
    times = times[np.append(True, times[1:] != times[:-1])]
    first, after = np.searchsorted(times, predicted.starts), np.searchsorted(times, predicted.ends)
    # The largest value of the ranges `[first, after)`, maybe empty, that hold each place: (size,), 0 where none does.
    # A range is the union of two whose length is the largest power of two that fits in it. From the longest on, each
    # such range hands its value to its halves. O((n + size) log size).
    power = np.frexp(after - first)[1] - 1
    longest = np.zeros(len(times), np.int64)
    for level in range(int(power.max(initial=-1)), -1, -1):
        length = 1 << level
        of_this_power = power == level
        for begin in (first[of_this_power], after[of_this_power] - length):
            np.maximum.at(longest, begin, predicted.durations[of_this_power])
        if half := length // 2:
            longest[half:] = np.maximum(longest[half:], longest[:-half])
    resolution_ns = int(activity.resolution_ns[rows].max())
    return PredictionsOverTime(in_flight, _steps(times, longest), inferred, resolution_ns)


def _steps(times: IntArray, values: IntArray) -> Steps:
    return Steps(np.append(np.iinfo(np.int64).min, times), np.pad(values, 1))


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
    elif (check := session.check(selection.finding)) is not None:
        model = check.model
    return model if isinstance(model, str) else state.filter.model or None


def blocks(values: IntArray, largest: int, part: int, parts: int) -> Picture:
    """Line `part` of `parts` (from the top) of values. `largest` is as high as all lines; only 0 shows nothing."""
    level = np.maximum(np.rint(values / max(largest, 1) * 8 * parts).astype(np.int64), values > 0)
    return of_level(level, np.full(level.size, Category.PREDICTION.value), part, parts)
