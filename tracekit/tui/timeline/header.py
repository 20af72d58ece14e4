"""The lines above the lanes: the whole recording with the part in view, and the axis of time. Titles of all lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment

from tracekit.arrays import BoolArray
from tracekit.intervals import CoveredTime, Intervals
from tracekit.lanes.events import Events
from tracekit.report.formatting import moment, shorten, visible
from tracekit.tui.state import State
from tracekit.tui.text import pointer
from tracekit.tui.theme import Palette, style
from tracekit.tui.timeline.glyphs import LOWER_BLOCKS
from tracekit.tui.timeline.layout import ScreenLine
from tracekit.tui.timeline.tracks import Lanes, TimelineLane, edges
from tracekit.tui.viewport import Span, Viewport, column_of, columns_of


@dataclass(frozen=True, slots=True)
class TimelineStyle:
    """How the lines of one timeline are drawn."""

    palette: Palette
    gutter: int
    """Cells for titles."""
    columns: int
    monochrome: bool
    leads: bool
    """Whether the recording that is drawn is the active one."""
    has_keys: bool = False

    def title(self, text: str, ground: str) -> Segment:
        """What stands in front of a line."""
        look = style(self.palette.text_on(ground, self.palette.dim), ground)
        return Segment(set_cell_size(shorten(text, self.gutter - 1), self.gutter), look)

    def line_title(self, text: str, line: ScreenLine, ground: str, hidden: str = "") -> Segment:
        """What stands in front of a line of the lanes, with the rows that are out of sight beyond it."""
        return self.title(self._title_with_hidden(text, line, hidden), ground)

    def lane_title(self, lane: TimelineLane, line: ScreenLine, *, current: bool, hidden: str = "") -> Segment:
        """The name of a lane, set off where it has the cursor. hidden: the sign that rows of it are joined."""
        text = self._title_with_hidden(f"{self.pointer(current)}{visible(lane.title)}", line, hidden)
        ground = self.palette.cursor if current else self.palette.pinned if lane.pinned else self.palette.gutter
        return Segment(set_cell_size(text, self.gutter), style(self.palette.text, ground, bold=current))

    def pointer(self, current: bool) -> str:
        """The sign of the lane with the cursor, a blank before others."""
        return pointer(keys=self.has_keys) if current else " "

    def _title_with_hidden(self, title: str, line: ScreenLine, hidden: str) -> str:
        """A title (after the sign of the lane) with, at the right end, the rows out of sight beyond the line.

        hidden: the sign at the very end, for rows of the lane that are joined.
        """
        room = self.gutter - 1
        tail = beyond(line, " {} {} more") + hidden
        if cell_len(title) + cell_len(tail) > room:
            tail = beyond(line, " {}{}") + hidden
        left = max(room - cell_len(tail), 1)
        return set_cell_size(title[:1] + shorten(title[1:], left - 1), left) + tail


def beyond(line: ScreenLine, words: str) -> str:
    """How many rows are out of sight above and below a line; `words` has places for an arrow and a number."""
    return "".join(words.format(sign, count) for sign, count in (("▴", line.above), ("▾", line.below)) if count)


def minimap(state: State, covered_times: tuple[CoveredTime, CoveredTime], look: TimelineStyle) -> list[Segment]:
    """The whole recording, with the part in view set off and the findings marked. `covered_times`: see `overview`."""
    palette, columns = look.palette, look.columns
    blocks, has_evidence = _whole(covered_times, state.bounds, columns)
    low, high = columns_of(state.bounds, columns, state.view)
    # A view within one column has two ends too.
    opens = min(low, max(columns - 2, 0))
    brackets = {max(high - 1, opens + 1): "]", opens: "["} if look.monochrome else {}
    several = len(state.sessions) > 1
    name = visible(state.session.name.removesuffix(".trace")) if several else "overview"
    # No filter takes anything away here.
    tail, sign = " (all)" if state.filter.active else "", "▸" if several and look.leads else " "
    room = max(look.gutter - 2 - cell_len(tail), 1)
    ground = look.palette.cursor if sign.strip() else look.palette.gutter
    line = [look.title(f"{sign}{shorten(name, room)}{tail}", ground)]
    for (inside, marked), run in groupby(range(columns), lambda at: (low <= at < high, has_evidence[at])):
        color = palette.severity if marked else palette.text if inside else palette.dim
        text = "".join(brackets.get(column, blocks[column]) for column in run)
        line.append(Segment(text, style(color, palette.range if inside else palette.gutter)))
    return line


# The recordings of a comparison, each at one size.
@lru_cache(maxsize=2)
def _whole(covered_times: tuple[CoveredTime, CoveredTime], bounds: Span, columns: int) -> tuple[str, list[bool]]:
    """A block for each column of a recording, and whether evidence lies in it."""
    times = edges(bounds, columns)
    # In a recording of a few ns there are columns without any time.
    share = covered_times[0].between(times) / np.maximum(np.diff(times), 1)
    evidence = covered_times[1].between(times) > 0
    level = np.maximum(np.ceil(share * 8).astype(int), evidence)
    return "".join(LOWER_BLOCKS[height] for height in level.tolist()), evidence.tolist()


def time_axis(state: State, look: TimelineStyle) -> list[Segment]:
    """Ticks, and the signs of cursor, mark, bookmarks and range."""
    palette, columns = look.palette, look.columns
    filled = columns_seen(state.range, state.view, columns) if look.monochrome else (0, 0)
    marked = [("◇", entry.time_ns) for entry in state.bookmarks]
    marked += [("◆", state.mark.start_ns)] if state.mark is not None else []
    signs = {column_of(state.view, columns, time): sign for sign, time in (*marked, ("▼", state.cursor_ns))}
    signs |= _ends(state.range, state.view, filled, signs, columns)
    line, (first, after) = axis(ruler(state.view, columns), signs, columns, filled), filled
    plain, reverse = (style(palette.text, palette.gutter, reverse=reverse) for reverse in (False, True))
    return [
        look.title(" time", palette.gutter),
        Segment(line[:first], plain),
        Segment(line[first:after], reverse),
        Segment(line[after:], plain),
    ]


def _ends(
    what: Span | None, view: Viewport, filled: tuple[int, int], signs: Mapping[int, str], columns: int
) -> dict[int, str]:
    """Brackets by column, for the ends of a range that are in view: on its outer columns, or beside a sign there."""
    first, last = filled[0], filled[1] - 1
    brackets: dict[int, str] = {}
    if what is None or last < first:
        return brackets
    opens = (first, first - 1, first + 1) if what.start_ns >= view.start_ns else ()
    closes = (last, last + 1, last - 1) if what.end_ns <= view.end_ns else ()
    for bracket, candidates in (("[", opens), ("]", closes)):
        taken = {**signs, **brackets}
        free = [column for column in candidates if 0 <= column < columns and column not in taken]
        brackets |= dict.fromkeys(free[:1], bracket)
    return brackets


def columns_seen(what: Span | None, view: Viewport, columns: int) -> tuple[int, int]:
    """First column that shows any of it and the one after the last; (0, 0) where there is none or it is out of view."""
    if what is None or what.start_ns >= view.end_ns or what.end_ns <= view.start_ns:
        return (0, 0)
    return columns_of(view, columns, what)


def overview(lanes: Lanes) -> tuple[CoveredTime, CoveredTime]:
    """Where any lane of Core ML has rows (any lane at all, where none has), and where evidence lies."""
    core_ml_events = [lane.events for lane in lanes.lanes if lane.events is not None and not lane.pinned]
    events = core_ml_events or [lane.events for lane in lanes.lanes if lane.events is not None and not lane.strip]
    return _union(events, None), _union(events, lanes.evidence)


def _union(events: list[Events], chosen: Mapping[str, BoolArray] | None) -> CoveredTime:
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for entry in events:
        mask: slice | np.ndarray = slice(None)
        if chosen is not None:
            of_frame = chosen.get(entry.frame)
            mask = slice(0) if of_frame is None else of_frame[entry.index]
        starts.append(entry.starts[mask])
        ends.append(entry.ends[mask])
    return Intervals(np.concatenate(starts), np.concatenate(ends)).covered_time()


MS, S = 1_000_000, 1_000_000_000
MINUTE, HOUR = 60 * S, 3600 * S

STEPS: tuple[int, ...] = (
    *(factor * 10**power for power in range(10) for factor in (1, 2, 5)),
    *(10 * S, 20 * S, 30 * S),
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE),
    *(factor * HOUR for factor in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000)),
)
"""Distances between ticks in ns: 1, 2, 5 and their tens up to 5 s, then parts of minutes and hours."""

_GAP = 3
"""Blank cells between two labels."""
_FILLED = "="
"""Along a range."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis."""

    column: int
    label: str


def ruler(view: Viewport, columns: int) -> tuple[Tick, ...]:
    """The densest ticks whose labels leave each other room. O(columns)."""
    for step in STEPS:
        if step * columns < view.span_ns * (_GAP + 2):
            continue
        first = -(-view.start_ns // step) * step
        widest = max(len(moment(time, step)) for time in (first, view.end_ns // step * step))
        if step * columns >= view.span_ns * (widest + _GAP) or step == STEPS[-1]:
            times = range(first, view.end_ns, step)
            return tuple(Tick(column_of(view, columns, time), moment(time, step)) for time in times)
    return ()


def axis(ticks: Sequence[Tick], signs: Mapping[int, str], columns: int, filled: tuple[int, int] = (0, 0)) -> str:
    """The characters of the axis: ticks with their labels, and signs by column.

    A sign in the middle of a label would make another number of it, and a label behind a sign would seem to be the time
    of the sign: the label stands before its tick then, or nowhere.

    filled: first column and the one after the last that have `=` instead of blanks, to show a range.
    """
    cells = [_FILLED if filled[0] <= column < filled[1] else " " for column in range(columns)]
    for column, sign in signs.items():
        if 0 <= column < columns:
            cells[column] = sign

    def free(first: int, after: int) -> bool:
        return first >= 0 and all(cell in (" ", _FILLED) for cell in cells[first:after])

    for tick in ticks:
        at, size = tick.column, len(tick.label)
        if at + size >= columns:
            continue
        if free(at, at + 1):
            cells[at] = "╵"
        if free(at + 1, at + 1 + size):
            cells[at + 1 : at + 1 + size] = tick.label
        elif free(at - size - 1, at):
            cells[at - size : at] = tick.label
    return "".join(cells)
