"""The lanes of a recording, and of two on one scale, where the script of a page draws them; and both sides of a
comparison in one picture: where the time of a prediction went, and how long predictions took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.characters import visible
from tracekit.comparison.latency import CHANGED, Answer
from tracekit.comparison.models import Basis, ModelComparison
from tracekit.comparison.words import arrow
from tracekit.documents import pictures
from tracekit.documents.compared_figures import has_equal_work, total
from tracekit.documents.pictures import BINS, Scale, axis_time, drawing, figure, legend
from tracekit.documents.report_findings import finding_savings
from tracekit.documents.why import UNSAMPLED, caller, sentence, why_facts
from tracekit.grouping import grouped
from tracekit.render.blocks import Figure, Paragraph, Role, Section, section
from tracekit.render.markup import Html, join, page_data, tag
from tracekit.report.call_sites import merge_sites, place
from tracekit.report.formatting import fix_line, moment
from tracekit.report.groups import Group
from tracekit.report.viewers.lane_columns import Words, fit_page, payload
from tracekit.units import format_count, format_percent

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
    words = partial(_words, sampled=report.code is not None)
    data = page_data(name, *payload(report, timeline, origin_ns, words, _about))
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


def _about(group: Group) -> Iterator[tuple[str, str]]:
    """What the fix of a finding saves, the line that it is about, and the fix."""
    if words := finding_savings(*group.results):
        yield "saves", words
    sites = merge_sites(site for check in group.results for site in check.call_sites)
    if sites:
        more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
        yield "line", f"{place(sites[0])}{more}"
    yield "fix", fix_line(group.first.fix)


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
    """Time in Core ML, then the pictures of each model that may have changed; without `sides`, no latencies are known
    one by one."""
    calls = [{call.model: call for call in pictures.calls_of(timeline)} for _, timeline in sides or ()]
    found = [_core_ml_time(comparison.compared)]
    for model in comparison.compared:
        may_differ = model.latency.answer is not Answer.UNCHANGED or model.p95.answer in CHANGED
        if not may_differ and not any(part.differs for part in model.parts):
            continue
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


def _core_ml_time(models: Sequence[ModelComparison]) -> Figure:
    """A bar for each side of the time of loads and of predictions, as far as both are known."""
    loads, every = total(model.load_ns for model in models), total(model.time_ns for model in models)
    sides = [(loads.before or 0, every.before), (loads.after or 0, every.after)]
    if not has_equal_work(models) or any(not time for _, time in sides):
        return Figure("")
    kinds = {"c-load": "loads", "c-prediction": "predictions"}
    times = [[load, max((time or 0) - load, 0)] for load, time in sides]
    return Figure(pictures.pairs("Time in Core ML", kinds, dict(zip((BEFORE, AFTER), times, strict=True))))


def _parts(model: ModelComparison) -> Html:
    """A bar for each side, both on one scale, of the parts of the mean prediction."""
    kinds = {pictures.group_class(GROUP_OF[part.part]): part.part for part in model.parts}
    sides = {BEFORE: [part.before_ns for part in model.parts], AFTER: [part.after_ns for part in model.parts]}
    return pictures.pairs("Where the time of a mean prediction goes", kinds, sides)


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
