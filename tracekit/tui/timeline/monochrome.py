"""Turns tracks into characters where there are no colors.

An interval that fills a whole column or more is one block: brackets with its letter between, the same on each line of
its track. Columns are not divided as they are with colors: one that a block fills in part is the block's own, or that
of what covers more of it. What is narrower is shown by letters alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tracekit.arrays import FloatArray, IntArray
from tracekit.lanes.categories import Category
from tracekit.report.formatting import visible
from tracekit.tui.timeline.glyphs import LABEL_COLUMNS, Ink, Picture, cells, fade
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
    """The line of a track.

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
