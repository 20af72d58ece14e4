"""Text in cells of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from textual.color import Color
from textual.filter import LineFilter

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.characters import visible
from tracekit.lanes.categories import Category
from tracekit.report.formatting import extreme_word
from tracekit.report.report import Result
from tracekit.tui.theme import Palette, style

EDGE = "▌"
"""Down the left side of what has the keys."""
GROUP_CATEGORIES: dict[str, Category] = {
    "Neural Engine": Category.ANE,
    "GPU": Category.GPU,
    "CPU": Category.CPU,
    "data": Category.INPUT_COPY,
    "queued": Category.CAST,
    "requested": Category.LOAD,
    "other": Category.APP,
    "ambiguous": Category.OTHER,
    "unexplained": Category.FOREIGN,
    "not recorded": Category.FOREIGN,
}
"""Colors of the groups of `GROUPS`."""
_BY_SIGN = {group.sign: GROUP_CATEGORIES[group.name] for group in GROUPS}


class VisibleText(LineFilter):
    """The last way to the terminal: whatever text a widget draws, no character in it steers the terminal or reorders a
    line. Widgets draw `visible` text, which has a sign for each such character; here cells stay as counted."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments of a line."""
        del background
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment(_visible_text(segment.text), segment.style)
            for segment in segments
        ]


@lru_cache(4096)
def _visible_text(text: str) -> str:
    """The text with a sign in place of each unsafe character; with none where the character takes no cell."""
    plain_text = visible(text)
    if plain_text == text:
        return text
    pairs = zip(text, plain_text, strict=True)
    return "".join(new if cell_len(old) == cell_len(new) else " " * cell_len(old) for old, new in pairs)


def pointer(*, keys: bool) -> str:
    """The sign of the row or lane with the cursor: filled where the keys are, too."""
    return "▸" if keys else "▹"


def with_focus_sign(line: Sequence[Segment], palette: Palette) -> list[Segment]:
    """A line of what has the keys: its first cell, where that is blank, shows so."""
    first, *rest = line
    if not first.text.startswith(" "):
        return list(line)
    ground = first.style.bgcolor.name if first.style is not None and first.style.bgcolor is not None else None
    return [Segment(EDGE, style(palette.accent, ground)), Segment(first.text[1:], first.style), *rest]


def cut(text: str, cells: int) -> str:
    """Text in at most `cells` cells, with `…` at the end where it is longer: for sentences, whose beginning says most.

    `tracekit.report.formatting.shorten` keeps both ends, for names.
    """
    if cell_len(text) <= cells:
        return text
    return f"{set_cell_size(text, cells - 1).rstrip()}…" if cells > 0 else ""


def longest_that_fits(ways: Sequence[str], room: int) -> str:
    """The first of several ways to say something that fits into so many cells; where none does, the last one, cut."""
    return next((way for way in ways if cell_len(way) <= room), cut(ways[-1], room))


def which_interval(check: Result, number: int) -> str:
    """Which interval of evidence one is, from 0: `3 of 4`; `3 of the 50 longest (1,234 in all)` if no more are kept."""
    listed = len(check.evidence)
    if check.evidence_total <= listed:
        return f"{number + 1} of {listed}"
    return f"{number + 1} of the {listed} {extreme_word(check.evidence)} ({check.evidence_total:,} in all)"


class Drawn:
    """Text that is drawn once for a width: Textual does it once for the height, and again for the screen."""

    def __init__(self, text: RenderableType) -> None:
        self._text = text
        self._segments: dict[int, list[Segment]] = {}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width not in self._segments:
            self._segments = {options.max_width: list(console.render(self._text, options))}
        return self._segments[options.max_width]


class Broken:
    """Text that breaks a word longer than a line, as an address or the name of a function, between its parts; with so
    many blanks before each line, or half a line of them."""

    def __init__(self, text: Text, indent: int = 0) -> None:
        self._text, self._indent = text, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = min(self._indent, options.max_width // 2)
        text = self._text
        # Words that take more room are broken at the last end of a part in the second half of a line.
        room = options.max_width - indent
        offsets: list[int] = []
        for word in re.finditer(r"\S+", text.plain):
            first, after = word.span()
            while cell_len(text.plain[first:after]) > room:
                full = first + max(len(chop_cells(text.plain[first:after], room)[0]), 1)
                ends = ([match.end() for match in part.finditer(text.plain[first:after])] for part in _PART_ENDS)
                last = (max((end for end in places if end <= full - first), default=0) for places in ends)
                first = next((first + end for end in last if end > room // 2), full)
                offsets.append(first)
        yield Padding(Text("\n").join(text.divide(offsets)) if offsets else text, (0, 0, 0, indent))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        measured, indent = Measurement.get(console, options, self._text), min(self._indent, options.max_width // 2)
        return Measurement(measured.minimum + indent, measured.maximum + indent).with_maximum(options.max_width)


_PART_ENDS = (re.compile("[/.:?&=,_-](?=[^/.:?&=,_-])"), re.compile("[a-z](?=[A-Z])"))
"""Where a part of a long word ends: at a sign, else before a capital letter."""


def hanging(pairs: Iterable[tuple[Text, Text]], room: int) -> Table:
    """Labels in `room` cells, and beside each its text; both wrap in their own columns."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=room, overflow="fold")
    grid.add_column(ratio=1, overflow="fold")
    for label, text in pairs:
        grid.add_row(Broken(label), Broken(text))
    return grid


def bar_segments(bar: str, palette: Palette, ground: str | None = None, *, monochrome: bool) -> list[Segment]:
    """A bar of signs. Each stretch has its color and its sign once; with `monochrome`, the sign in every
    cell. Blanks have the color of the `ground`."""
    segments = []
    for sign, stretch in groupby(bar):
        size = sum(1 for _ in stretch)
        if sign == " ":
            segments.append(Segment(sign * size, style(None, ground)))
            continue
        text = sign * size if monochrome else sign.ljust(size)
        category = _BY_SIGN[sign]
        segments.append(Segment(text, style(palette.ink_on(category), palette.categories[category])))
    return segments
