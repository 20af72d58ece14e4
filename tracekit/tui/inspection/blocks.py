"""What all texts of the inspector are made of; how durations are distributed, as bars for ranges of equal width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.quantities import quantiles
from tracekit.arrays import IntArray
from tracekit.documents.time_breakdown import PartsRow
from tracekit.report.formatting import duration, visible
from tracekit.tui.text import bar_segments, hanging
from tracekit.tui.theme import Palette
from tracekit.tui.timeline.glyphs import LEFT_BLOCKS
from tracekit.units import format_count

LABELS = 13
"""Cells for the names of facts."""

MEASURES = 22
"""Cells for the names of what detectors measure, which are phrases."""

BAR = 40
"""Cells of a bar: what fits beside the scroll bar."""


def heading(text: str) -> Text:
    """The title of a part."""
    return Text(visible(text), "bold")


def facts(pairs: Iterable[tuple[str, str]], room: int = LABELS) -> Table:
    """Names in so many cells, with their values beside them."""
    return hanging(((Text(name, "dim"), Text(visible(value))) for name, value in pairs), room)


def section(title: str, pairs: Iterable[tuple[str, str]], room: int = LABELS) -> Iterator[RenderableType]:
    """A heading, facts and a blank line."""
    yield heading(title)
    yield facts(pairs, room)
    yield ""


def exact(ns: int) -> str:
    """A length of time to read, and to the nanosecond."""
    return f"{duration(ns)} ({ns:,} ns)"


def time_blocks(title: str, row: PartsRow, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """A heading, a bar of where time went, and what its stretches stand for, largest first."""
    yield heading(title)
    bar = bar_segments(row.bar(BAR), palette, monochrome=monochrome)
    yield Text.assemble(*((part.text, part.style or "") for part in bar), end="\n")
    ordered = sorted(row.slices, key=lambda part: -part.mean_ns)
    yield facts(((f"{part.group.sign} {part.group.name}", part.words) for part in ordered), _GROUPS)


_GROUPS = max(len(group.name) for group in GROUPS) + 2


BINS = 12
MIN_VALUES = 5
"""Fewer values are described by their statistics."""
_BAR = 14
"""Cells of the longest bar: what an inspector leaves beside the range and the count."""
_UNITS = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))


def histogram_blocks(durations: IntArray, of: str, resolution_ns: int = 0) -> Iterator[RenderableType]:
    """Durations in ns, known to `resolution_ns`, `of` something in the plural; nothing where there are few."""
    if len(durations) < MIN_VALUES:
        return
    yield heading(f"Durations of {of}")
    yield Text("\n".join(_lines(durations)), no_wrap=True)
    p50, p95 = quantiles(durations, 0.5, 0.95)
    numbers = (("min", float(durations.min())), ("median", p50), ("p95", p95), ("max", float(durations.max())))
    minimum, median, tail, maximum = (f"{name} {duration(value, resolution_ns)}" for name, value in numbers)
    # Four of them do not fit into one line of the inspector.
    yield Text(f"{minimum} · {median}\n{tail} · {maximum}", "dim")
    yield ""


def _lines(durations: IntArray) -> Iterator[str]:
    low, high = int(durations.min()), int(durations.max())
    if low == high:
        yield f"all of {format_count(len(durations), 'value')}: {duration(float(low))}"
        return
    of_bins, edges = np.histogram(durations, BINS)
    counts, max_count = of_bins.tolist(), int(of_bins.max())
    unit, size = next((name, size) for name, size in _UNITS if high >= size)
    width = (high - low) / BINS / size
    decimals = next((digits for digits in range(4) if width >= 10.0**-digits), 3)
    texts = [f"{edge / size:,.{decimals}f}" for edge in edges]
    room = max(map(len, texts))
    # Neighboring ranges without any value take one line.
    for _, run in groupby(range(BINS), key=lambda at: at if counts[at] else -1):
        bins = list(run)
        first, after, count = texts[bins[0]], texts[bins[-1] + 1], counts[bins[0]]
        # What is there at all is never shown as nothing.
        eighths = max(round(count / max_count * _BAR * 8), 1 if count else 0)
        bar = "█" * (eighths // 8) + LEFT_BLOCKS[eighths % 8].strip()
        yield f"{first:>{room}} – {after:>{room}} {unit} {bar} {count:,}".rstrip()
