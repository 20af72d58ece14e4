"""The lanes of a recording, and of two on one scale, where the script of a page draws them; and both sides of a
comparison in one picture: where the time of a prediction went, and how long predictions took."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.characters import visible
from tracekit.comparison.models import Basis, ModelComparison
from tracekit.comparison.words import arrow
from tracekit.documents import pictures
from tracekit.documents.pictures import BINS, Scale, axis_time, drawing, figure, legend
from tracekit.documents.why import UNSAMPLED, caller, sentence, why_facts
from tracekit.grouping import grouped
from tracekit.render.blocks import Figure, Paragraph, Role, Section, section
from tracekit.render.markup import Html, join, page_data, tag
from tracekit.report.formatting import moment
from tracekit.report.viewers.lane_columns import Words, fit_page, payload
from tracekit.units import format_count, format_percent, format_time

if TYPE_CHECKING:
    from tracekit.analysis.ledger.explain import Why
    from tracekit.arrays import IntArray
    from tracekit.comparison.comparison import Comparison
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

    Drawing = tuple[Report, Timeline]
    """The lanes of one side, with the report that they belong to."""


HEAD_PX, LANE_PX, ROW_PX, COUNTER_PX, RULER_PX, STRIP_PX = 22, 6, 16, 36, 26, 18
"""Heights of the lanes as the script draws them (`web/src/layout.ts`): the page keeps their place free."""
ROWS, TALLEST_PX, STRIPS = 4, 620, 5
SIDES = ("lanes", "lanes-after")
"""Ids of the elements in which the script draws (`web/src/main.ts`)."""
BEFORE, AFTER = "before", "after"
GROUP_OF = {group.name: group for group in GROUPS}


def lanes_section(report: Report, timeline: Timeline) -> Section | None:
    """Where the script draws the lanes, and why some show nothing."""
    drawn = lanes(report, fit_page(timeline))
    return section("Timeline", no_script("Everything else is complete"), drawn, name="timeline")


def no_script(rest: str) -> Figure:
    """What is read where the script does not run; `rest` says what is there all the same."""
    return Figure(tag("noscript", tag("p", f"Scripts are switched off, so the lanes are not drawn. {rest}.")))


def lanes(
    report: Report,
    timeline: Timeline,
    *,
    name: str = "lanes",
    title: str = "",
    origin_ns: int | None = None,
    marked: bool | None = None,
) -> Figure:
    """Lanes in the element `name`, and why some show nothing. `origin_ns` stands above that of another recording.
    `marked`: they begin with the first slow prediction."""
    data = page_data(name, *payload(report, timeline, origin_ns, partial(_words, sampled=report.code is not None)))
    heading = tag("h3", title, class_="side") if title else None
    reasons = grouped((lane.words, lane.title) for lane in timeline.lanes if lane.words)
    lines = "; ".join(f"{', '.join(titles)} ({words})" for words, titles in reasons.items())
    empty = tag("p", f"Lanes without events: {lines}", class_="dim") if lines else None
    markup = join([heading, tag("div", id=name, data_marked=marked), empty])
    # Pixels that are kept free until the script has drawn the lanes.
    drawn = [lane for lane in timeline.lanes if len(lane.starts)]
    height = RULER_PX + HEAD_PX * len({lane.section for lane in drawn})
    height += sum(LANE_PX + ROW_PX * min(lane.depth, 1 if lane.strip else ROWS) for lane in drawn)
    height += 2 * COUNTER_PX if any(lane.calls.any() for lane in drawn) else 0
    marked_checks = sum(any(len(marked.starts) for _, marked in checks) for checks in timeline.findings(report.results))
    height += STRIP_PX * (min(marked_checks, STRIPS) + bool(timeline.slow))
    return Figure(markup, f"#{name}{{--lanes-height:{min(height, TALLEST_PX)}px}}", data)


def _words(why: Why, *, sampled: bool) -> Words:
    code = caller(why) if sampled else (UNSAMPLED,)
    return sentence(why), [*(("code", words) for words in code), *why_facts(why)]


def lanes_of_both(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> Section:
    """Where the script draws both sides, and from when on they are the same time."""
    if sides is None:
        why = "Lanes are drawn where each side has a recording, not only reports."
        return Section("Timeline", (Paragraph(why, Role.DIM),), name="timeline")
    starts = [[int(lane.starts[lane.calls][0]) for lane in drawn.lanes if lane.calls.any()] for _, drawn in sides]
    aligned = "One scale. Each recording begins at its start: one has no prediction to align it by."
    origins = [min(of_side) for of_side in starts] if all(starts) else [0, 0]
    if all(starts):
        at = arrow(*map(moment, origins))
        aligned = f"One scale, aligned at the first prediction ({at}). Times are those of each recording."
    # Both sides as long, with the origins above one another.
    figures = [no_script("All answers are above")]
    before_ns = max(origin - timeline.start_ns for (_, timeline), origin in zip(sides, origins, strict=True))
    after_ns = max(timeline.end_ns - origin for (_, timeline), origin in zip(sides, origins, strict=True))
    named = zip(("before", "after"), SIDES, (comparison.before, comparison.after), sides, origins, strict=True)
    for when, name, recordings, (report, timeline), origin in named:
        title = f"{when}: {visible(report.recording.source)}"
        if len(recordings) > 1:
            title += f", the most typical of {format_count(len(recordings), 'recording')}"
        shared = replace(timeline, start_ns=origin - before_ns, end_ns=origin + after_ns, flame=None)
        figures.append(lanes(report, shared, name=name, title=title, origin_ns=origin))
    return Section("Timeline", (Paragraph(aligned, Role.DIM), *figures), name="timeline")


def pictures_of_both(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> list[Figure]:
    """The pictures of each model that can be compared; without `sides`, no latencies are known one by one."""
    calls = [{call.model: call for call in pictures.calls_of(timeline)} for _, timeline in sides or ()]
    found = []
    for model in comparison.compared:
        latencies = [
            each.durations if model.basis is Basis.ALL or each.cold.all() else each.durations[~each.cold]
            for known, name in zip(calls, (model.name_before, model.name), strict=False)
            if (each := known.get(name)) is not None
        ]
        charts = [_parts(model) if model.parts else None, _latencies(*latencies) if len(latencies) == 2 else None]
        if any(charts):
            head = tag("h3", tag("code", visible(model.name)), " ", tag("small", "before and after"))
            found.append(Figure(join([head, tag("div", *charts, class_="charts")])))
    return found


def _parts(model: ModelComparison) -> Html:
    """A bar for each side, both on one scale, of the parts of the mean prediction."""
    groups = [GROUP_OF[part.part] for part in model.parts]
    sides = {BEFORE: [part.before_ns for part in model.parts], AFTER: [part.after_ns for part in model.parts]}
    longest = max(sum(times) for times in sides.values()) or 1.0
    rows: list[Html] = []
    for side, times in sides.items():
        titles = [f"{group.name} {format_time(ns)}" for group, ns in zip(groups, times, strict=True)]
        widths = (100 * ns / longest for ns in times)
        bar = pictures.stacked_bar(zip(groups, widths, titles, strict=True), f"{side}: {', '.join(titles)}")
        rows.append(tag("div", tag("span", side), bar, tag("span", format_time(sum(times))), class_="pair"))
    kinds = {pictures.group_class(group): group.name for group in groups}
    title = tag("figcaption", "Where the time of a mean prediction goes")
    return tag("figure", title, *rows, legend(kinds), class_="pairs")


def _latencies(before: IntArray, after: IntArray) -> Html:
    """The distributions of both sides over each other, each as shares of its own predictions."""
    scale = Scale.of(np.concatenate((before, after)))
    shares = [scale.counts(durations) / len(durations) for durations in (before, after)]
    top = max(float(share.max()) for share in shares)
    marks = []
    for side, share in zip((BEFORE, AFTER), shares, strict=True):
        heights = (share / top).tolist()
        corners = (f"V{100 - 100 * height:.1f}H{at + 1}" for at, height in enumerate(heights))
        marks.append(tag("path", d=f"M0 100{''.join(corners)}V100Z", class_=side))
    chart = drawing(marks, f"0 0 {BINS} 100", "Distribution of the latencies of both sides")
    x = map(axis_time, (scale.low, scale.value(0.5), scale.high))
    y = (f"{format_percent(top)} of predictions", "0")
    picture = figure(f"How long predictions took{scale.note}", chart, y, x, "x-broken" if scale.is_broken else "")
    return tag("div", legend({"side before": BEFORE, "side after": AFTER}), picture)
