"""What all texts of the inspector are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report.formatting import duration, visible
from tracekit.report.time_breakdown import GROUPS, PartsRow
from tracekit.tui.text import bar_segments, hanging

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from tracekit.tui.theme import Palette

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


def section(title: str, pairs: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    """A heading, facts and a blank line."""
    yield heading(title)
    yield facts(pairs)
    yield ""


def exact(ns: int) -> str:
    """A length of time to read, and to the nanosecond."""
    return f"{duration(ns)} ({ns:,} ns)"


def slices(row: PartsRow) -> Table:
    """What the stretches of a bar stand for, largest first."""
    ordered = sorted(row.slices, key=lambda part: -part.mean_ns)
    return facts(((f"{part.group.sign} {part.group.name}", part.words) for part in ordered), _GROUPS)


_GROUPS = max(len(group.name) for group in GROUPS) + 2


def bar_text(bar: Callable[[int], str], palette: Palette, *, monochrome: bool) -> Text:
    """A bar on a line of its own."""
    return Text.assemble(
        *((part.text, part.style or "") for part in bar_segments(bar(BAR), palette, monochrome=monochrome)), end="\n"
    )
