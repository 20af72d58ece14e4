"""The report as one HTML file that asks for nothing: everything that decides is text, and scripts add the lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.characters import map_strings
from tracekit.report import formatting
from tracekit.report.groups import count_checks
from tracekit.report.model_file_words import TITLE as TITLE_OF_FILES
from tracekit.report.renderers.html.call_sites import code_section
from tracekit.report.renderers.html.columns import fitted, payload
from tracekit.report.renderers.html.document import asset, document
from tracekit.report.renderers.html.findings import checks_title, findings_section, not_evaluated_section
from tracekit.report.renderers.html.markup import Html, joined, listed, tag
from tracekit.report.renderers.html.sections import (
    coverage_section,
    events_section,
    latency_section,
    model_files_section,
    models_section,
    recording_section,
)
from tracekit.report.renderers.summary import context_line, summary_line
from tracekit.report.timeline import CALL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

HEAD_PX, LANE_PX, ROW_PX, COUNTER_PX, RULER_PX = 22, 6, 16, 36, 26
"""Heights of the lanes as the script draws them (`web/src/layout.ts`): the page keeps their place free."""
ROWS, TALLEST_PX = 4, 620
NO_REQUESTS = "this file makes no network request"


def render_html(report: Report, timeline: Timeline | None = None) -> str:
    """The page, with a line break at the end; without a `timeline` it has no lanes."""
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field in formatting.PROSE))
    drawn = None if timeline is None else fitted(timeline)
    sections = _sections(safe, timeline, drawn)
    body = [_top(safe, sections), tag("main", *sections.values()), _foot(safe)]
    if drawn is not None:
        body += lanes_data(safe, drawn)
    return document(
        f"{safe.recording.source}: {safe.summary.verdict}",
        f"{safe.tool.name} {safe.tool.version}",
        body,
        script=asset("report.js") if timeline is not None else "",
        style=place_of_lanes(drawn),
    )


def _sections(report: Report, timeline: Timeline | None, drawn: Timeline | None) -> dict[str, Html]:
    """The sections that the page has, by id, in their order. Of the timeline what fits is `drawn`."""
    sections = {
        "findings": findings_section(report),
        "models": models_section(report),
        "files": model_files_section(report),
        "timeline": _lanes(drawn) if drawn is not None else None,
        "latency": latency_section(report, timeline),
        "code": code_section(report, timeline),
        "checks": not_evaluated_section(report),
        "events": events_section(report),
        "coverage": coverage_section(report),
        "recording": recording_section(report),
    }
    return {name: section for name, section in sections.items() if section is not None}


def _top(report: Report, sections: Iterable[str]) -> Html:
    """What the page is about, the verdict, and the way to its sections."""
    titles = {"checks": checks_title(report), "files": TITLE_OF_FILES}
    links = [tag("a", titles.get(name, name.capitalize()), href=f"#{name}") for name in sections]
    context = context_line(report.recording, report.tool.config)
    worst = count_checks(report.results).worst or "clean"
    kind = worst if report.summary.evaluated else "inconclusive"
    judged = report.summary.evaluated or report.summary.errors
    words = summary_line(report).plain if judged else report.summary.verdict
    return joined(
        [
            tag("a", "Skip to the findings", href="#findings", class_="skip"),
            tag(
                "header",
                tag("h1", report.recording.source),
                tag(
                    "p",
                    context.removeprefix(f"{report.recording.source} · "),
                ),
                tag("p", words, class_=f"verdict {kind}"),
                class_="top",
            ),
            tag("nav", *links, aria_label="Sections"),
        ]
    )


def _lanes(timeline: Timeline) -> Html:
    """Where the script draws the lanes, and why some show nothing."""
    noscript = "Scripts are switched off, so the lanes are not drawn. Everything else is complete."
    return tag(
        "section",
        tag("h2", "Timeline"),
        tag("noscript", tag("p", noscript)),
        tag("div", id="lanes"),
        empty_lanes(timeline),
        id="timeline",
    )


def empty_lanes(timeline: Timeline) -> Html | None:
    """Why some lanes show nothing; None where all show something."""
    reasons: dict[str, list[str]] = {}
    for lane in timeline.lanes:
        if lane.words:
            reasons.setdefault(lane.words, []).append(lane.title)
    inner = listed(f"{', '.join(titles)}: {words}" for words, titles in reasons.items())
    return tag("div", tag("p", "Lanes without events"), inner, class_="empty-lanes") if inner else None


def _foot(report: Report) -> Html:
    return tag(
        "footer",
        f"{report.tool.name} {report.tool.version} · report version {report.schema_version} · {NO_REQUESTS}",
    )


def lanes_data(report: Report, timeline: Timeline, *, name: str = "lanes", origin_ns: int | None = None) -> list[Html]:
    """What the script draws the lanes from, in the element with the id `name`."""
    meta, columns = payload(report, timeline, origin_ns)
    return [
        tag("script", Html(meta), type="application/json", id=f"{name}-meta"),
        tag("script", Html(columns), type="text/plain", id=f"{name}-columns"),
    ]


def place_of_lanes(timeline: Timeline | None, name: str = "lanes") -> str:
    """A rule that keeps the place of the lanes free until the script has drawn them."""
    if timeline is None:
        return ""
    drawn = [lane for lane in timeline.lanes if len(lane.starts)]
    height = RULER_PX + HEAD_PX * len({lane.section for lane in drawn})
    height += sum(LANE_PX + ROW_PX * min(lane.depth, 1 if lane.strip else ROWS) for lane in drawn)
    height += 2 * COUNTER_PX if any((lane.flags & CALL).any() for lane in drawn) else 0
    return f"#{name}{{--lanes-height:{min(height, TALLEST_PX)}px}}"
