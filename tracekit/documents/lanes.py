"""The lanes of a recording, and of two on one scale, where the script of a page draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.comparison.words import arrow
from tracekit.documents.why import UNSAMPLED, caller, sentence, why_facts
from tracekit.grouping import grouped
from tracekit.render.blocks import Figure, Paragraph, Role, Section, section
from tracekit.render.markup import Html, join, page_data, tag
from tracekit.report.formatting import moment
from tracekit.report.viewers.lane_columns import fit_page, payload
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.analysis.why.explain import Why
    from tracekit.comparison.comparison import Comparison
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline
    from tracekit.report.viewers.lane_columns import Words

HEAD_PX, LANE_PX, ROW_PX, COUNTER_PX, RULER_PX, STRIP_PX = 22, 6, 16, 36, 26, 18
"""Heights of the lanes as the script draws them (`web/src/layout.ts`): the page keeps their place free."""
ROWS, TALLEST_PX, STRIPS = 4, 620, 5
SIDES = ("lanes", "lanes-after")
"""Ids of the elements in which the script draws (`web/src/main.ts`)."""


def lanes_section(report: Report, timeline: Timeline) -> Section | None:
    """Where the script draws the lanes, and why some show nothing."""
    drawn = lanes(report, fit_page(timeline))
    return section("Timeline", no_script("Everything else is complete"), drawn, name="timeline")


def no_script(rest: str) -> Figure:
    """What is read where the script does not run; `rest` says what is there all the same."""
    return Figure(tag("noscript", tag("p", f"Scripts are switched off, so the lanes are not drawn. {rest}.")))


def lanes(
    report: Report, timeline: Timeline, *, name: str = "lanes", title: str = "", origin_ns: int | None = None
) -> Figure:
    """Lanes in the element with the id `name`, below a title, and why some show nothing. `origin_ns` is the time that
    stands above that of another recording."""
    data = page_data(name, *payload(report, timeline, origin_ns, partial(_words, sampled=report.code is not None)))
    heading = tag("h3", title, class_="side") if title else None
    markup = join([heading, tag("div", id=name), _empty_lanes(timeline)])
    return Figure(markup, f"#{name}{{--lanes-height:{_height(report, timeline)}px}}", data)


def _words(why: Why, *, sampled: bool) -> Words:
    code = caller(why) if sampled else (UNSAMPLED,)
    return sentence(why), [*(("code", words) for words in code), *why_facts(why)]


def _empty_lanes(timeline: Timeline) -> Html | None:
    """Why some lanes show nothing; None where all show something."""
    reasons = grouped((lane.words, lane.title) for lane in timeline.lanes if lane.words)
    lines = "; ".join(f"{', '.join(titles)} ({words})" for words, titles in reasons.items())
    return tag("p", f"Lanes without events: {lines}", class_="dim") if lines else None


def _height(report: Report, timeline: Timeline) -> int:
    """Pixels that are kept free until the script has drawn the lanes."""
    drawn = [lane for lane in timeline.lanes if len(lane.starts)]
    height = RULER_PX + HEAD_PX * len({lane.section for lane in drawn})
    height += sum(LANE_PX + ROW_PX * min(lane.depth, 1 if lane.strip else ROWS) for lane in drawn)
    height += 2 * COUNTER_PX if any(lane.calls.any() for lane in drawn) else 0
    found = sum(any(len(marked.starts) for _, marked in checks) for checks in timeline.findings(report.results))
    height += STRIP_PX * (min(found, STRIPS) + bool(timeline.slow))
    return min(height, TALLEST_PX)


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
    origins = [start or 0 for start in starts] if None not in starts else [0, 0]
    if None not in starts:
        at = arrow(*map(moment, origins))
        aligned = f"One scale, aligned at the first prediction ({at}). Times are those of each recording."
    figures = (no_script("All answers are above"), *_lanes(comparison, sides, origins))
    return Section("Timeline", (Paragraph(aligned, Role.DIM), *figures), name="timeline")


def _lanes(comparison: Comparison, sides: tuple[Drawing, Drawing], origins: Sequence[int]) -> Iterator[Figure]:
    """Both sides as long, with the `origins`, each in its own time, above one another."""
    before = max(origin - side.timeline.start_ns for side, origin in zip(sides, origins, strict=True))
    after = max(side.timeline.end_ns - origin for side, origin in zip(sides, origins, strict=True))
    named = zip(("before", "after"), SIDES, (comparison.before, comparison.after), sides, origins, strict=True)
    for when, name, recordings, side, origin in named:
        title = f"{when}: {visible(side.report.recording.source)}"
        if len(recordings) > 1:
            title += f", the most typical of {format_count(len(recordings), 'recording')}"
        shared = replace(side.timeline, start_ns=origin - before, end_ns=origin + after, flame=None)
        yield lanes(side.report, shared, name=name, title=title, origin_ns=origin)


def _first_call(timeline: Timeline) -> int | None:
    """Start of the first prediction that the app called, in ns; None where there is none."""
    starts = [int(lane.starts[called][0]) for lane in timeline.lanes if (called := lane.calls).any()]
    return min(starts, default=None)
