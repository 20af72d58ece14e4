"""What several launches say of one another: when each model was compiled, why again, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from tracekit.comparison.launches import CHECK, Launches, Pattern
from tracekit.grouping import grouped
from tracekit.render.blocks import Block, Line, Paragraph, Role, Section, Span, join, section
from tracekit.units import format_names


def launches_section(series: Sequence[Launches], *, quiet: bool = False) -> Section | None:
    """The models of some launches, those that were compiled again first. Those that always came from the cache share a
    line, which a `quiet` section lacks."""
    cached = [one for one in series if one.pattern == Pattern.NEVER and len(one.lines) == 1]
    told = sorted(
        (one for one in series if one not in cached),
        key=lambda one: -max((each.ns or 0 for each in one.unexplained), default=-1),
    )
    blocks: list[Block] = []
    for one in told:
        first, *rest = one.lines
        head: tuple[Line, ...] = (Span(one.model, Role.CODE), f": {first}")
        if one.severity:
            head = (Span(one.severity.upper(), Role(one.severity)), f" {CHECK}: ", *head)
        blocks += [Paragraph(join(head, "")), *(Paragraph(line, Role.DIM) for line in rest)]
    if not quiet:
        for count, names in grouped((len(one.launches), one.model) for one in cached).items():
            blocks.append(Paragraph(f"{format_names(names, 5)}: cached in each of {count} launches"))
    return section("Compiled for the device", *blocks, name="launches")
