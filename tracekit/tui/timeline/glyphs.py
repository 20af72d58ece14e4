"""Turns tracks into characters: eighth blocks for density, bars with labels where an interval is wide enough; without
colors, letters between brackets.

A `Picture` depends on track, view and width alone, so it is kept; selection, range, cursor and marks are laid over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from tracekit.arrays import FloatArray, IntArray
from tracekit.lanes.categories import FILLINGS, Category
from tracekit.report.formatting import visible
from tracekit.tui.theme import Palette, style
from tracekit.tui.timeline.tracks import Bar, Track, bars, edges, starting
from tracekit.tui.viewport import Viewport

LITTLE = ":"
"""What is on for less than `_MUCH` of a column."""
_MUCH = 1 / 3
"""Share of a column from which on narrow intervals have their letter. Our judgment."""
_OPEN, _CLOSE = "[", "]"
_BRACKETED = 3
"""Columns in which both brackets leave room for a letter."""


class _Block(NamedTuple):
    """The columns that an interval takes for itself."""

    position: int
    """In `Events`."""
    first: int
    after: int
    category: Category
    opens: bool
    """Whether it begins in view."""
    closes: bool
    """Whether it ends in view."""


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """What a track shows in each column."""

    blocks: tuple[_Block, ...]
    shares: FloatArray
    """Shape (columns,): share in which narrow intervals are on."""
    categories: IntArray
    """Shape (columns,): the category of those that covers most, -1 where there are none."""


def letters_of_track(
    track: Track, unfiltered: Track, label: Callable[[int], str], view: Viewport, columns: int
) -> Picture:
    """The line of a track where there are no colors.

    An interval that fills a whole column or more is one block: brackets with its letter between, the same on each line
    of its track. A column that a block fills in part is the block's own, or that of what covers more of it. What is
    narrower is shown by letters alone.

    unfiltered: the track with all intervals, where a filter took some away; blocks are as wide as among all.
    """
    bounds = edges(view, columns)
    among = _contents(unfiltered, bounds)
    # What overlaps has no blocks, even where the filter leaves nothing that does.
    contents = among if track is unfiltered else _contents(track, bounds, blocks=unfiltered.disjoint)
    blocks = among.blocks if track is unfiltered else [block for block in among.blocks if track.holds(block.position)]
    taken = among.categories >= 0
    for block in among.blocks:
        taken[block.first : block.after] = True
    narrow = contents.categories.tolist()
    result = Picture(
        [
            " " if code < 0 else Category(code).letter if share >= _MUCH else LITTLE
            for code, share in zip(narrow, contents.shares.tolist(), strict=True)
        ],
        narrow,
        [Ink.BLOCK] * columns,
        {block.position: (block.first, block.after) for block in blocks},
    )
    for block in blocks:
        text = label(block.position) if block.after - block.first >= LABEL_COLUMNS else ""
        size, joined = block.after - block.first, block.first > 0 and bool(taken[block.first - 1])
        # `[LLLL]`, in two columns `LL`, and `[L` behind another.
        opens = block.opens and (size >= _BRACKETED or (joined and size > 1))
        closes = block.closes and size >= _BRACKETED
        inner = size - opens - closes
        body = cells(visible(text), inner, block.category.letter)
        result.characters[block.first : block.after] = [*[_OPEN] * opens, *body, *[_CLOSE] * closes]
        result.categories[block.first : block.after] = [block.category.value] * size
    return result


def fade_letters(unfiltered: Picture, chosen: Picture) -> Picture:
    """What is chosen as it is, and of all else dots, and the brackets of blocks. `unfiltered` has no labels."""
    dot = Category.FADED.letter
    dots = [
        one if code < 0 or one in (_OPEN, _CLOSE) else dot
        for one, code in zip(unfiltered.characters, unfiltered.categories, strict=True)
    ]
    return fade(replace(unfiltered, characters=dots), chosen)


def _contents(track: Track, bounds: IntArray, *, blocks: bool = True) -> _Contents:
    """Blocks (if wanted), and what is left for narrow intervals. O(categories * columns * log n)."""
    width = np.diff(bounds)
    if not track.parts:
        return _Contents((), np.zeros(len(width)), np.full(len(width), -1, np.int64))
    codes = np.array([code for code, _ in track.parts])
    amounts = np.stack([part.between(bounds) for _, part in track.parts])
    begun = starting(track.starts, bounds)
    wide = bars(track, bounds, 1) if blocks else []
    at = np.searchsorted(track.positions, np.array([bar.position for bar in wide], np.int64))
    starts, ends = track.starts[at], track.ends[at]
    firsts = np.array([bar.first for bar in wide], np.int64)
    afters = np.array([bar.after for bar in wide], np.int64)
    # ns that each fills of the column before its first whole one, and of the one after its last.
    early, late = bounds[firsts] - starts, ends - bounds[afters]
    early[firsts == 0] = 0
    late[afters == len(width)] = 0
    category = amounts[:, firsts].argmax(axis=0)
    for row, bar, before, behind in zip(category.tolist(), wide, early.tolist(), late.tolist(), strict=True):
        amounts[row, bar.first : bar.after] = 0
        if before:
            amounts[row, bar.first - 1] -= before
        if behind:
            amounts[row, bar.after] -= behind
    starts_in_view = np.flatnonzero(starts >= bounds[0])
    begun -= np.bincount(np.searchsorted(bounds, starts[starts_in_view], side="right") - 1, minlength=len(width))
    narrow = amounts.sum(axis=0)
    categories = np.where((narrow > 0) | (begun > 0), codes[amounts.argmax(axis=0)], -1)
    columns = _columns(wide, early.tolist(), late.tolist(), narrow)
    wide_blocks = tuple(
        _Block(bar.position, first, after, Category(int(codes[row])), bool(start >= bounds[0]), bool(end <= bounds[-1]))
        for bar, (first, after), row, start, end in zip(wide, columns, category, starts, ends, strict=True)
    )
    return _Contents(wide_blocks, narrow / width, categories)


def _columns(wide: Sequence[Bar], early: Sequence[int], late: Sequence[int], narrow: IntArray) -> list[tuple[int, int]]:
    """First column of each interval and the one after its last: the whole ones, and one that it fills in part where it
    covers as much as the narrow ones there, and no neighbor covers more; of two equal ones, the first takes it."""
    runs = []
    for number, bar in enumerate(wide):
        rival_before = late[number - 1] if number and wide[number - 1].after == bar.first - 1 else 0
        follows = number + 1 < len(wide) and wide[number + 1].first - 1 == bar.after
        rival_after = early[number + 1] if follows else 0
        before, behind = early[number], late[number]
        first = bar.first - (before > rival_before and before >= narrow[bar.first - 1])
        after = bar.after + (behind > 0 and behind >= rival_after and bool(behind >= narrow[bar.after]))
        runs.append((int(first), int(after)))
    return runs


LOWER_BLOCKS = " ▁▂▃▄▅▆▇█"
LEFT_BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_COLUMNS = 2
"""Whole columns that an interval fills before it is drawn by itself."""
LABEL_COLUMNS = 4
"""Cells that a label needs to say anything."""


class Ink(IntEnum):
    """How a cell takes its colors."""

    BLOCK = 0
    """A block in the color of the category, on the ground."""
    LABEL = 1
    """Text on the color of the category."""
    CUT = 2
    """A block in the color of the ground, on the color of the category: the beginning of a bar."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One line of a track. All lists have one entry for each column."""

    characters: list[str]
    """One cell each; "" where a wide character began in the cell before."""
    categories: list[int]
    """-1 where there is nothing."""
    inks: list[Ink]
    blocks: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By position in `Events`, first column of intervals and the one after the last, where others show some of them."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is laid over a line. Ranges are first column and the one after the last; empty ones are (0, 0)."""

    marked: Sequence[bool] = ()
    """Columns with evidence of a finding; empty for none."""
    selected: tuple[int, int] = (0, 0)
    range: tuple[int, int] = (0, 0)
    cursor: int = -1
    recorded: tuple[int, int] | None = None
    """Columns that the recording reaches; None for all."""


def pictures(
    track: Track, label: Callable[[int], str], view: Viewport, columns: int, parts: int
) -> tuple[Picture, ...]:
    """The `parts` lines of a track, from the top."""
    bounds = edges(view, columns)
    shares = track.shares(bounds)
    level = np.rint(shares.total * 8 * parts).astype(np.int64)
    # What is there at all is never shown as nothing.
    level = np.where(shares.touched, np.maximum(level, 1), 0)
    lines = tuple(of_level(level, shares.category, part, parts) for part in range(parts))
    for bar in bars(track, bounds, BAR_COLUMNS):
        text = label(bar.position) if bar.after - bar.first >= LABEL_COLUMNS else ""
        for part, line in enumerate(lines):
            _solid(line, bar, text if part == 0 else "")
            # Columns that it fills in part are drawn to an eighth where it is alone in them.
            before, after = bar.first - 1, bar.after
            category = line.categories[bar.first]
            if bar.early and before >= 0 and shares.single[before]:
                gap = 8 - round(float(shares.total[before]) * 8)
                line.characters[before] = LEFT_BLOCKS[min(max(gap, 1), 7)]
                line.inks[before] = Ink.CUT
                line.categories[before] = category
            if after < len(line.inks) and shares.alone[after]:
                eighths = round(float(shares.total[after]) * 8)
                line.characters[after] = LEFT_BLOCKS[min(max(eighths, 1), 7)]
                line.inks[after] = Ink.BLOCK
                # The upper lines have none where little of the column is covered.
                line.categories[after] = category
    return lines


def of_level(level: IntArray, categories: IntArray, part: int, parts: int) -> Picture:
    """Line `part` of `parts` (from the top) of blocks as high as `level`, in eighths of a line.

    `level` and `categories` have the shape (columns,).
    """
    eighths = np.clip(level - 8 * (parts - 1 - part), 0, 8)
    codes = np.where(eighths > 0, categories, -1).tolist()
    return Picture([LOWER_BLOCKS[height] for height in eighths.tolist()], codes, [Ink.BLOCK] * len(codes))


def fade(unfiltered: Picture, chosen: Picture) -> Picture:
    """What is chosen as it is, and all else that is there faded. `unfiltered` has no labels, which would be cut."""
    cells = [
        one if one[1] >= 0 else (character, Category.FADED.value if code >= 0 else code, ink)
        for one, (character, code, ink) in zip(_cells(chosen), _cells(unfiltered), strict=True)
    ]
    characters, categories, inks = (list(of_cells) for of_cells in zip(*cells, strict=True))
    return Picture(characters, categories, inks, unfiltered.blocks)


def _cells(picture: Picture) -> Iterator[tuple[str, int, Ink]]:
    return zip(picture.characters, picture.categories, picture.inks, strict=True)


def _solid(result: Picture, bar: Bar, text: str) -> None:
    """Fill whole columns, with a thin gap before a bar that begins where another ends."""
    first, after = bar.first, bar.after
    joined = first > 0 and not bar.early and result.inks[first - 1] is Ink.LABEL
    filling = FILLINGS.get(Category(result.categories[first]), " ")
    result.characters[first:after] = cells(f" {text}" if text else "", after - first, filling)
    result.inks[first:after] = [Ink.LABEL] * (after - first)
    if joined:
        result.characters[first] = LEFT_BLOCKS[1]
        result.inks[first] = Ink.CUT


def cells(text: str, width: int, filling: str = " ") -> list[str]:
    """A text in exactly `width` cells, one entry each; cut with `…`, or filled up."""
    label = visible(text)
    if cell_len(label) > width:
        label = f"{set_cell_size(label, width - 1)}…" if width else ""
    characters: list[str] = []
    for character in label + filling * (width - cell_len(label)):
        size = cell_len(character)
        if size == 0 and characters:
            characters[-1] += character
        else:
            characters.extend([character, *[""] * (size - 1)])
    return characters


_RANGE, _CURSOR, _MARKED, _SELECTED, _OUTSIDE, _REVERSED = 1, 2, 4, 8, 16, 32
"""Flags of a column."""
_HATCH = "╱"
"""Where the recording has not begun or is over, beside a longer one."""


def segments(picture: Picture, palette: Palette, overlay: Overlay, *, monochrome: bool) -> list[Segment]:
    """A line as segments, one for each run of equal style. With `monochrome`, what is selected is reversed."""
    count = len(picture.characters)
    flags = [_MARKED if marked else 0 for marked in overlay.marked] or [0] * count
    selected = _SELECTED | _REVERSED if monochrome else _SELECTED
    for (first, after), flag in ((overlay.range, _RANGE), (overlay.selected, selected)):
        for column in range(first, after):
            flags[column] |= flag
    if 0 <= overlay.cursor < count:
        flags[overlay.cursor] |= _CURSOR
    first, after = overlay.recorded or (0, count)
    for column in (*range(first), *range(after, count)):
        flags[column] |= _OUTSIDE
    line = []
    column = 0
    for (code, ink, flag), run in groupby(zip(picture.categories, picture.inks, flags, strict=True)):
        after = column + sum(1 for _ in run)
        text = "".join(picture.characters[column:after])
        if flag & _OUTSIDE and code < 0:
            text = _HATCH * len(text)
        line.append(Segment(text, _style(palette, code, ink, flag)))
        column = after
    return line


def _style(palette: Palette, code: int, ink: Ink, flags: int) -> Style:
    ground = palette.background
    marked = bool(flags & _MARKED) and code >= 0 and code != Category.FADED
    if marked:
        ground = palette.finding
    elif flags & _CURSOR:
        ground = palette.cursor
    elif flags & _RANGE:
        ground = palette.range
    if code < 0:
        return style(palette.dim, ground)
    color = palette.categories[Category(code)]
    text = palette.ink_on(Category(code))
    if flags & _SELECTED:
        color, text = palette.selected, palette.selected_ink
    if ink is Ink.BLOCK:
        return style(color, ground, underline=marked, reverse=bool(flags & _REVERSED))
    return style(text if ink is Ink.LABEL else ground, color, bold=bool(flags & _SELECTED), underline=marked)
