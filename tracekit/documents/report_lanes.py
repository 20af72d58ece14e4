"""What a page draws of a recording: its lanes, by a script, and the latency of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import MODEL
from tracekit.characters import visible
from tracekit.documents.pictures import Calls, distribution, legend, over_time
from tracekit.render.blocks import Figure, Paragraph, Role, section
from tracekit.render.markup import Html, joined, tag
from tracekit.report.time_breakdown import SHOWN
from tracekit.report.timeline import CALL, COLD
from tracekit.report.viewers.lane_columns import fit_page, payload
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.analysis.models import ModelSummary
    from tracekit.render.blocks import Section
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

HEAD_PX, LANE_PX, ROW_PX, COUNTER_PX, RULER_PX = 22, 6, 16, 36, 26
"""Heights of the lanes as the script draws them (`web/src/layout.ts`): the page keeps their place free."""
ROWS, TALLEST_PX = 4, 620
LATENCIES_SHOWN = 24
"""Models whose latencies are drawn, those with most time in predictions; the tables hold all."""
LATENCIES_OPEN = 3
"""Those that are not folded."""


def lanes_section(report: Report, timeline: Timeline) -> Section | None:
    """Where the script draws the lanes, and why some show nothing."""
    return section(
        "Timeline", no_script("Everything else is complete"), lanes(report, fit_page(timeline)), name="timeline"
    )


def no_script(rest: str) -> Figure:
    """What is read where the script does not run; `rest` says what is there all the same."""
    return Figure(tag("noscript", tag("p", f"Scripts are switched off, so the lanes are not drawn. {rest}.")))


def lanes(
    report: Report, timeline: Timeline, *, name: str = "lanes", title: str = "", origin_ns: int | None = None
) -> Figure:
    """Lanes in the element with the id `name`, below a title, and why some show nothing. `origin_ns` is the time that
    stands above that of another recording."""
    meta, columns = payload(report, timeline, origin_ns)
    heading = tag("h3", title, class_="side") if title else None
    data = (
        tag("script", Html(meta), type="application/json", id=f"{name}-meta"),
        tag("script", Html(columns), type="text/plain", id=f"{name}-columns"),
    )
    return Figure(
        joined([heading, tag("div", id=name), _empty_lanes(timeline)]),
        style=f"#{name}{{--lanes-height:{_height(timeline)}px}}",
        data=joined(data),
    )


def _empty_lanes(timeline: Timeline) -> Html | None:
    """Why some lanes show nothing; None where all show something."""
    reasons: dict[str, list[str]] = {}
    for lane in timeline.lanes:
        if lane.words:
            reasons.setdefault(lane.words, []).append(lane.title)
    lines = [tag("li", f"{', '.join(titles)}: {words}") for words, titles in reasons.items()]
    return tag("div", tag("p", "Lanes without events"), tag("ul", *lines), class_="empty-lanes") if lines else None


def _height(timeline: Timeline) -> int:
    """Pixels that are kept free until the script has drawn the lanes."""
    drawn = [lane for lane in timeline.lanes if len(lane.starts)]
    height = RULER_PX + HEAD_PX * len({lane.section for lane in drawn})
    height += sum(LANE_PX + ROW_PX * min(lane.depth, 1 if lane.strip else ROWS) for lane in drawn)
    height += 2 * COUNTER_PX if any((lane.flags & CALL).any() for lane in drawn) else 0
    return min(height, TALLEST_PX)


def latency_section(report: Report, timeline: Timeline) -> Section | None:
    """How long the predictions of each model took, and when; None without predictions."""
    calls = sorted(_calls(timeline), key=lambda each: -int(each.durations.sum()))
    if not calls:
        return None
    known = {model.name: model for model in report.models}
    figures = [Figure(_latency(each, known.get(each.model), timeline)) for each in calls[:LATENCIES_SHOWN]]
    folded, rest = figures[LATENCIES_OPEN:], len(calls) - LATENCIES_SHOWN
    kinds = {"warm": "prediction", "cold": "first after a load"} if any(each.cold.any() for each in calls) else {}
    return section(
        "Latency",
        Figure(legend(kinds)) if kinds else None,
        *figures[:LATENCIES_OPEN],
        section(format_count(len(folded), "more model"), *folded, folded=True),
        Paragraph(f"{format_count(rest, 'more model')} in the tables", Role.DIM) if rest > 0 else None,
        name="latency",
    )


def _latency(calls: Calls, model: ModelSummary | None, timeline: Timeline) -> Html:
    words = [format_count(len(calls.durations), "prediction")]
    for name in SHOWN:
        value = model.quantities.get(name) if model is not None else None
        words += [f"{MODEL[name].title} {format_time(value)}"] if value is not None else []
    words.append(f"longest {format_time(int(calls.durations.max()))}")
    charts = tag("div", distribution(calls), over_time(calls, timeline.start_ns, timeline.end_ns), class_="charts")
    return joined([tag("h3", tag("code", visible(calls.model)), " ", tag("small", " · ".join(words))), charts])


def _calls(timeline: Timeline) -> Iterator[Calls]:
    """Predictions of the lanes with a known duration, by model."""
    for lane in timeline.lanes:
        called = np.flatnonzero(lane.flags & CALL)
        codes = lane.models[called]
        for model in np.unique(codes[codes >= 0]).tolist():
            rows = called[codes == model]
            durations = lane.ends[rows] - lane.starts[rows]
            if durations.max() > 0:
                yield Calls(timeline.texts[model], lane.starts[rows], durations, (lane.flags[rows] & COLD) > 0)
