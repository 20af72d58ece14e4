"""The lanes of two recordings on one scale, for the page of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.compare.words import arrow
from tracekit.documents.report_lanes import lanes, no_script
from tracekit.render.blocks import Paragraph, Role, Section
from tracekit.report.formatting import moment
from tracekit.report.timeline import CALL
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.compare.comparison import Comparison
    from tracekit.render.blocks import Block, Figure
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

SIDES = ("lanes", "lanes-after")
"""Ids of the elements in which the script draws (`web/src/main.ts`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """The lanes of one side, with the report that they belong to."""

    report: Report
    timeline: Timeline


def lanes_of_both(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> Section:
    """Where the script draws both sides, and from when on they are the same time."""
    if sides is None:
        why = "Lanes are drawn where each side has a recording, not only reports."
        return Section("Timeline", (Paragraph(why, Role.DIM),), name="timeline")
    starts = [_first_call(side.timeline) for side in sides]
    aligned = "One scale. Each recording begins at its start: one has no prediction to align it by."
    if None not in starts:
        at = arrow(*(moment(start or 0) for start in starts))
        aligned = f"One scale, aligned at the first prediction ({at}). Times are those of each recording."
    blocks: tuple[Block, ...] = (
        Paragraph(aligned, Role.DIM),
        no_script("All answers are above"),
        *_lanes(comparison, sides),
    )
    return Section("Timeline", blocks, name="timeline")


def _lanes(comparison: Comparison, sides: tuple[Drawing, Drawing]) -> Iterator[Figure]:
    named = zip(("before", "after"), SIDES, (comparison.before, comparison.after), sides, _bounds(sides), strict=True)
    for when, name, recordings, side, (start, end, origin) in named:
        title = f"{when}: {visible(side.report.recording.source)}"
        if len(recordings) > 1:
            title += f", the most typical of {format_count(len(recordings), 'recording')}"
        shared = replace(side.timeline, start_ns=start, end_ns=end, flame=None)
        yield lanes(side.report, shared, name=name, title=title, origin_ns=origin)


def _first_call(timeline: Timeline) -> int | None:
    """Start of the first prediction that the app called, in ns; None where there is none."""
    starts = [int(lane.starts[called][0]) for lane in timeline.lanes if (called := (lane.flags & CALL) > 0).any()]
    return min(starts, default=None)


def _bounds(sides: tuple[Drawing, Drawing]) -> list[tuple[int, int, int]]:
    """Start, end and origin of each side in its own time, so that both are as long and their origins stand together."""
    timelines = [side.timeline for side in sides]
    first_calls = [_first_call(timeline) for timeline in timelines]
    origins = [0, 0] if None in first_calls else [start or 0 for start in first_calls]
    pairs = list(zip(timelines, origins, strict=True))
    before = max(origin - timeline.start_ns for timeline, origin in pairs)
    after = max(timeline.end_ns - origin for timeline, origin in pairs)
    return [(origin - before, origin + after, origin) for origin in origins]
