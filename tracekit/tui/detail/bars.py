"""Bars that show where the time of a prediction went, in the signs of the report and the colors of the lanes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.segment import Segment

from tracekit.lanes.categories import Category
from tracekit.report.time_breakdown import GROUPS
from tracekit.tui.theme import style

if TYPE_CHECKING:
    from tracekit.tui.theme import Palette

GROUP_CATEGORIES: dict[str, Category] = {
    "Neural Engine": Category.ANE,
    "GPU": Category.GPU,
    "CPU": Category.CPU,
    "data": Category.INPUT_COPY,
    "queued": Category.CAST,
    "requested": Category.LOAD,
    "other": Category.APP,
    "ambiguous": Category.OTHER,
    "unaccounted": Category.FOREIGN,
}
"""Colors of the groups of `GROUPS`."""

_BY_SIGN = {group.sign: GROUP_CATEGORIES[group.name] for group in GROUPS}


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
