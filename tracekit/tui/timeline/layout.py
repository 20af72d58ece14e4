"""Which lane stands on which line of the timeline, and how the reasons of several lanes without rows share few."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from rich.cells import cell_len

from tracekit.grouping import grouped
from tracekit.report.formatting import visible
from tracekit.tui.timeline.tracks import TimelineLane


class Line(Enum):
    """What one line of the screen shows."""

    MINIMAP = auto()
    RULER = auto()
    HEADING = auto()
    TRACK = auto()
    """A row of intervals."""
    WORDS = auto()
    """Why one lane, or several, have no rows."""
    IN_FLIGHT = auto()
    """How many predictions are in flight, over time."""
    LATENCY = auto()
    """How long they take, over time."""
    BLANK = auto()


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """One line of the timeline."""

    line: Line
    lanes: tuple[int, ...] = ()
    """Indices of the lanes it is about."""
    track: int = 0
    part: int = 0
    """Line within the track, or of the reasons of several lanes, from the top."""
    parts: int = 1
    """Lines of the track, or of the reasons."""
    text: str = ""
    """Of a heading, or of the reasons of several lanes."""
    above: int = 0
    """On the first line of the scrolled part: rows of lanes that are scrolled out of sight before it."""
    below: int = 0
    """On its last line: those after it."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """All lines, and how far the lanes above the pinned ones can be scrolled."""

    lines: tuple[ScreenLine, ...]
    top: int
    """First line of the scrolled part that is shown."""
    last_top: int
    visible: int
    """Lines of the scrolled part."""
    first_of_lane: Mapping[int, int]
    """Place of the first line of each lane in the scrolled part, with a heading over it; pinned lanes have none."""
    last_of_lane: Mapping[int, int]
    """Place of its last line."""
    joined: Mapping[int, int] = field(default_factory=dict)
    """Lanes that have fewer rows than usual for want of room: their number, the last of which combines the rest."""


HEADER = (ScreenLine(Line.MINIMAP), ScreenLine(Line.RULER))
_MIN_SCROLLED_LINES, _LOWEST_SCROLLED_LINES = 3, 2
"""Lines that pinned lanes leave to the others; the latter where they would not have `_LEAST_PINNED` otherwise."""
_MIN_PINNED_LINES = 2
"""Lines of pinned lanes: one with rows, and the reasons of those without."""
MAX_STRIPS = 3
"""Lines of strips beside lanes: one of those in flight, two of latency."""
_TALLEST_LATENCY = 4
"""Lines of latency where nothing else needs them: an outlier leaves eighths to the rest. Our judgment."""
_STRIPS = ((16, MAX_STRIPS), (10, 2), (8, 1))
"""Lines below the header from which there are so many of strips. Our judgment: lanes come first."""
STRIPS_FROM = len(HEADER) + _STRIPS[0][0]
"""Lines of a timeline that shows all strips."""


def arrange(
    lanes: Sequence[TimelineLane],
    rows: Sequence[int],
    height: int,
    columns: int,
    top: int,
    *,
    reached: Sequence[Sequence[int]] | None = None,
    expanded: Collection[int] = (),
    strips: int = 0,
    tall: Mapping[tuple[int, int], int] | None = None,
) -> Arrangement:
    """Lines for a timeline of `height` lines.

    rows: number of tracks of each lane. columns: cells for reasons. top: first line wanted of the scrolled part.
    reached: the tracks of each lane that have anything in view (None: all of them); where there is little room, the
    others make way, but for the first. expanded: lanes that keep all their rows; of others the last ones are joined
    where a lane would be out of sight otherwise. strips: most lines of in flight and latency, below all lanes; all but
    the first make way for the reasons of lanes without rows, and latency takes more where lines are left. tall:
    lines wanted by tracks that show something in an upper half, by lane and track (None: 2 for all).

    Pinned lanes stand below the others, and below them lanes without rows share lines; Core ML's do if any of them has
    rows. In a low timeline the rows of each pinned lane are joined, and what still does not fit is scrolled with the
    rest.
    """
    body = max(height - len(HEADER), 0)
    count = min(next((count for min_lines, count in _STRIPS if body >= min_lines), 0), strips)
    placed = _lines_for(lanes, rows, body - count, columns, reached, expanded, one_strip=count == 1)
    while count > 1 and not placed.complete:
        count -= 1
        placed = _lines_for(lanes, rows, body - count, columns, reached, expanded, one_strip=count == 1)
    body -= count
    scrolled, pinned = placed.scrolled, placed.pinned
    for most in (3, 2):
        if len(taller := _lines_each(scrolled, tall, most)) + len(pinned) <= body:
            scrolled = taller
            if len(scrolled) + len(taller := _lines_each(pinned, tall, most)) <= body:
                pinned = taller
            break
    if placed.steady and count == MAX_STRIPS:
        more = min(body - len(scrolled) - len(pinned), _TALLEST_LATENCY - (count - 1))
        body, count = body - more, count + more
    visible = body - len(pinned)
    last_top = max(len(scrolled) - visible, 0)
    first = min(max(top, 0), last_top)
    headings = _headings(lanes, scrolled) if visible >= _MIN_SCROLLED_LINES else {}
    announced = _announcing(scrolled, first, first + visible, headings)
    blank = [ScreenLine(Line.BLANK)] * (visible - len(announced))
    numbers = [(lane, number) for number, line in enumerate(scrolled) for lane in line.lanes]
    # Where the number of rows changes with the view, pinned lanes stay where they are.
    between, below = ([], blank) if placed.steady else (blank, [])
    latency = [ScreenLine(Line.LATENCY, part=part, parts=count - 1) for part in range(count - 1)]
    over_time = [ScreenLine(Line.IN_FLIGHT), *latency][:count]
    lines = (*HEADER, *announced, *between, *pinned, *over_time, *below)[:height]
    first_of_lane = {
        lane: number - (number in headings or (number > 0 and scrolled[number - 1].line is Line.HEADING))
        for lane, number in reversed(numbers)
    }
    return Arrangement(lines, first, last_top, visible, first_of_lane, dict(numbers), placed.joined)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of lanes before any is scrolled out of sight."""

    scrolled: Sequence[ScreenLine]
    pinned: Sequence[ScreenLine]
    joined: Mapping[int, int]
    complete: bool
    """Whether the reasons of all lanes without rows are shown."""
    steady: bool
    """Whether all rows are shown, whatever is in view."""


def _lines_for(
    lanes: Sequence[TimelineLane],
    rows: Sequence[int],
    body: int,
    columns: int,
    reached: Sequence[Sequence[int]] | None,
    expanded: Collection[int],
    *,
    one_strip: bool,
) -> _Lines:
    """Lines of lanes for `body` lines; see `arrange`. one_strip: it is shown, and rows are joined before reasons go."""
    drawn = any(lane.events is not None for lane in lanes if not lane.pinned)
    silent = [index for index, lane in enumerate(lanes) if lane.events is None and (lane.pinned or drawn)]
    free = [index for index, lane in enumerate(lanes) if not lane.pinned and index not in silent]
    pinned_lanes = [index for index, lane in enumerate(lanes) if lane.pinned and index not in silent]
    tracks: list[Sequence[int]] = [range(count) for count in rows]
    scrolled = _lines(lanes, tracks, free, headings=True)
    words = _lines_of_reasons(lanes, silent, columns, len(silent))
    pinned = [*_lines(lanes, tracks, pinned_lanes, headings=False), *words]
    if len(scrolled) + len(pinned) <= body:
        return _Lines(scrolled, pinned, {}, complete=True, steady=True)
    share = max(_MIN_SCROLLED_LINES, body // 2)
    lowest = len(_lines(lanes, [range(1)] * len(lanes), free, headings=True))
    left = body - len(pinned_lanes) - len(words)
    if one_strip and lowest <= left:
        share = min(share, left)
    # What happened comes before why nothing did: reasons keep a line of those that the first rows of lanes need.
    share = max(share, left, min(lowest, body - len(pinned_lanes) - 1))
    if reached is not None:
        tracks = [sorted({0, *numbers} & set(all_of)) for numbers, all_of in zip(reached, tracks, strict=True)]
    counts = [len(of_lane) for of_lane in tracks]
    joined = _rows_that_remain(counts, [at for at in free if at not in expanded], len(free), share)
    tracks = [range(joined.get(index, 0)) or of_lane for index, of_lane in enumerate(tracks)]
    scrolled = _lines(lanes, tracks, free, headings=True)
    room = body - min(len(scrolled), share)
    room = max(room, min(body - _LOWEST_SCROLLED_LINES, _MIN_PINNED_LINES), 0)
    pinned, over = _tight(lanes, pinned_lanes, silent, columns, room)
    joined |= {index: 1 for index in pinned_lanes if counts[index] > 1}
    complete = [line.text for line in (*pinned, *over) if line.line is Line.WORDS] == [line.text for line in words]
    return _Lines([*scrolled, *over], pinned, joined, complete, steady=False)


def _rows_that_remain(rows: Sequence[int], candidates: Sequence[int], lanes: int, room: int) -> dict[int, int]:
    """Rows of the lanes that give some up so that all `lanes` are seen on `room` lines; the one with most gives first.
    None do where that would not suffice."""
    if lanes > room:
        return {}
    counts = {index: rows[index] for index in candidates}
    others = lanes - len(counts)
    while counts and others + sum(counts.values()) > room and max(counts.values()) > 1:
        counts[max(counts, key=lambda index: (counts[index], index))] -= 1
    return {index: count for index, count in counts.items() if count < rows[index]}


def _headings(lanes: Sequence[TimelineLane], lines: Sequence[ScreenLine]) -> dict[int, ScreenLine]:
    """The heading under which each line stands, by its place; pinned lanes and headings themselves have none."""
    headings: dict[int, ScreenLine] = {}
    heading = None
    for at, line in enumerate(lines):
        heading = line if line.line is Line.HEADING else heading
        if heading is not None and line is not heading and not line.text and not lanes[line.lanes[0]].pinned:
            headings[at] = heading
    return headings


def _announcing(
    lines: Sequence[ScreenLine], first: int, after: int, headings: Mapping[int, ScreenLine]
) -> list[ScreenLine]:
    """The lines from `first` to before `after`, the first one under its heading, which takes its place where it is
    scrolled away; the outer ones show how many rows there are beyond them."""
    visible_lines = list(lines[first:after])
    if visible_lines:
        hidden = lines[: first + (first in headings)]
        visible_lines[0] = replace(
            headings.get(first, visible_lines[0]), above=sum(bool(line.lanes) for line in hidden)
        )
        visible_lines[-1] = replace(visible_lines[-1], below=sum(bool(line.lanes) for line in lines[after:]))
    return visible_lines


def _lines(
    lanes: Sequence[TimelineLane], tracks: Sequence[Sequence[int]], indices: Sequence[int], *, headings: bool
) -> list[ScreenLine]:
    lines: list[ScreenLine] = []
    several = len({lanes[index].section for index in indices}) > 1
    section = None
    for index in indices:
        lane = lanes[index]
        if headings and several and lane.section != section:
            section = lane.section
            lines.append(ScreenLine(Line.HEADING, text=section))
        if lane.events is None:
            lines.append(ScreenLine(Line.WORDS, (index,)))
        lines.extend(ScreenLine(Line.TRACK, (index,), track) for track in tracks[index])
    return lines


def _tight(
    lanes: Sequence[TimelineLane], indices: Sequence[int], silent: Sequence[int], columns: int, room: int
) -> tuple[list[ScreenLine], list[ScreenLine]]:
    """Pinned lanes in as few lines as can be: those for which there is room beside reasons, and the others."""
    tracks = [ScreenLine(Line.TRACK, (index,)) for index in indices]
    words = _lines_of_reasons(lanes, silent, columns, max(room - len(tracks), 1))
    if not room:
        return [], [*tracks, *words]
    free = room - len(words)
    return [*tracks[:free], *words], tracks[free:]


def _lines_of_reasons(
    lanes: Sequence[TimelineLane], silent: Sequence[int], columns: int, max_lines: int
) -> list[ScreenLine]:
    """Lanes without rows and their reasons, on as few lines as can be."""
    if len(silent) < 2:
        return [ScreenLine(Line.WORDS, (index,)) for index in silent]
    lines = reasons([(lanes[index].title, lanes[index].words) for index in silent], columns, max_lines)
    return [ScreenLine(Line.WORDS, tuple(silent), 0, part, len(lines), text) for part, text in enumerate(lines)]


def _lines_each(lines: Sequence[ScreenLine], tall: Mapping[tuple[int, int], int] | None, most: int) -> list[ScreenLine]:
    """Every tall track on the lines that it wants, at most so many, for as many times the levels."""
    higher: list[ScreenLine] = []
    for line in lines:
        wanted = 2 if tall is None else tall.get((line.lanes[0], line.track), 1) if line.lanes else 1
        parts = min(wanted, most) if line.line is Line.TRACK else 1
        higher.extend([line] if parts == 1 else [replace(line, part=part, parts=parts) for part in range(parts)])
    return higher


def reasons(lanes: Sequence[tuple[str, str]], columns: int, max_lines: int) -> tuple[str, ...]:
    """Titles of lanes with their reasons, given in pairs, on as few lines of `columns` cells as can be, at most `most`.

    A reason stands on one line where that costs none. Half a reason would be another one ("recorded" of "recorded, no
    events"): where the lines do not hold all, the last reasons give way to the number of their lanes.
    """
    titles = grouped((why, visible(title)) for title, why in lanes)
    described = [f"{', '.join(of_reason)}: {why}" for why, of_reason in titles.items()]
    left = [len(of_reason) for of_reason in titles.values()]
    for count in range(len(described), 0, -1):
        rest = [f"{sum(left[count:])} more"] if count < len(described) else []
        parts = [*described[:count], *rest]
        ended = [*(f"{part};" for part in parts[:-1]), parts[-1]]
        by_word = _lines_of_units(" ".join(ended).split(), columns)
        by_part = _lines_of_units(ended, columns)
        fits = all(cell_len(line) <= columns for line in by_part)
        lines = by_part if fits and len(by_part) <= len(by_word) else by_word
        if len(lines) <= max_lines:
            return tuple(lines)
    return (f"{len(lanes)} lanes",)


def whole_words(text: str, cells: int) -> str:
    """Text in at most `cells` cells, with `…` after the last word that fits where it is longer."""
    if cell_len(text) <= cells:
        return text
    words = text.split()
    while words and cell_len(" ".join(words)) + 2 > cells:
        words.pop()
    return " ".join([*words, "…"]) if cells > 0 else ""


def _lines_of_units(units: Sequence[str], columns: int) -> list[str]:
    """Units with a blank between them, as many on each line as fit; one that is longer than a line stands alone."""
    lines = [units[0]]
    for unit in units[1:]:
        if cell_len(lines[-1]) + 1 + cell_len(unit) <= columns:
            lines[-1] += f" {unit}"
        else:
            lines.append(unit)
    return lines
