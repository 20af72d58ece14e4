"""A comparison, and a matrix, as one HTML page that asks for nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit._version import __version__
from tracekit.characters import visible
from tracekit.compare.findings import FindingStatus
from tracekit.compare.latency import Answer
from tracekit.compare.matrix import FIGURES
from tracekit.compare.models import Basis, Presence
from tracekit.compare.renderers import words
from tracekit.compare.renderers.matrix import FACTS, by_model, cell, differing_facts, facts, safe_matrix
from tracekit.compare.renderers.quantities import COLUMNS, WORDS, quantities
from tracekit.report import formatting
from tracekit.report.formatting import ABSENT
from tracekit.report.renderers.html.document import asset, document
from tracekit.report.renderers.html.markup import Html, code, joined, listed, tag
from tracekit.report.renderers.html.page import NO_REQUESTS, empty_lanes, lanes_data, place_of_lanes
from tracekit.report.renderers.html.prose import sentence
from tracekit.report.renderers.html.tables import Cell, table
from tracekit.report.strings import map_strings
from tracekit.report.timeline import CALL
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.compare.comparison import Comparison
    from tracekit.compare.matrix import Matrix
    from tracekit.compare.models import ModelComparison
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

GENERATOR = f"tracekit {__version__}"


def render_matrix(matrix: Matrix) -> str:
    """The page, with a line break at the end; the best of each row is marked by its look and by a star."""
    safe = safe_matrix(matrix)
    models = format_count(len(list(by_model(safe))), "model")
    title = f"{models} × {format_count(len(safe.columns), 'column')}"
    top = tag("header", tag("h1", title), class_="top")
    notes = listed((sentence(note) for note in safe.notes), class_="notes")
    return document(title, GENERATOR, [top, tag("main", tag("section", _grid(safe), notes)), foot()])


def foot() -> Html:
    """What stands below every page."""
    return tag("footer", f"{GENERATOR} · {NO_REQUESTS}")


def _grid(matrix: Matrix) -> Html:
    columns = matrix.columns
    head = tag("tr", tag("td"), *(tag("th", column.label, scope="col", class_="n") for column in columns))
    known = [
        tag("tr", tag("th", FACTS[index], scope="row"), *(tag("td", facts(one)[index], class_="n") for one in columns))
        for index in differing_facts(matrix)
    ]
    bodies = []
    for name, rows in by_model(matrix):
        lines = [tag("tr", tag("th", code(name), scope="rowgroup", colspan=len(columns) + 1, class_="group"))]
        for row in rows:
            cells = [
                tag("td", text, " *" if index in row.best else None, class_="n best" if index in row.best else "n")
                for index, text in enumerate(cell(row.figure, value) for value in row.values)
            ]
            lines.append(tag("tr", tag("th", FIGURES[row.figure][0], scope="row"), *cells))
        bodies.append(tag("tbody", *lines))
    grid = tag("table", tag("thead", head, *known), *bodies, aria_label="Models by recording", class_="matrix")
    return tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label="Models by recording")


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """The lanes of one side, with the report that they belong to."""

    report: Report
    timeline: Timeline


def render_comparison(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> str:
    """The page, with a line break at the end: the answers, then the lanes of both sides on one scale; without `sides`
    it has none."""
    safe = map_strings(comparison, lambda _, text: visible(text))
    title = words.summary(safe)
    sections = [_unfair(safe), _models(safe), _findings(safe), *_lanes(safe, sides), _notes(safe)]
    top = tag(
        "header",
        tag("h1", words.arrow(words.sources(safe.before), words.sources(safe.after))),
        tag("p", title, class_=f"verdict {_kind(safe)}"),
        tag("p", words.not_recorded(safe), class_="dim"),
        class_="top",
    )
    body = [top, tag("nav", aria_label="Page"), tag("main", *sections)]
    style = ""
    for name, side, (start, end, origin) in zip(SIDES, sides or (), _bounds(sides), strict=False):
        shared = replace(side.timeline, start_ns=start, end_ns=end, flame=None)
        body += lanes_data(side.report, shared, name=name, origin_ns=origin)
        style += place_of_lanes(side.timeline, name)
    return document(f"Comparison: {title}", GENERATOR, [*body, foot()], script=asset("report.js"), style=style)


SIDES = ("lanes", "lanes-after")
"""Ids of the elements in which the script draws (`web/src/main.ts`)."""
KINDS: dict[str, str] = {
    Answer.REGRESSED: "critical",
    Answer.IMPROVED: "clean",
    Answer.UNCHANGED: "clean",
    Answer.NOT_ENOUGH_DATA: "inconclusive",
    FindingStatus.NEW: "critical",
    FindingStatus.STILL_THERE: "inconclusive",
    FindingStatus.FIXED: "clean",
    FindingStatus.NOT_COMPARABLE: "inconclusive",
}
"""Looks of answers and statuses, as the style has them."""


def _kind(comparison: Comparison) -> str:
    """The look of the summary: the worst of all answers."""
    kinds = {
        KINDS[each] for each in (*words.answers(comparison.models), *(change.status for change in comparison.findings))
    }
    return next((kind for kind in ("critical", "clean") if kind in kinds), "inconclusive")


def _unfair(comparison: Comparison) -> Html | None:
    if not comparison.unfair:
        return None
    rows = [[Cell(one.what), Cell(one.before), Cell(one.after)] for one in comparison.unfair]
    return tag(
        "section",
        tag("h2", "Not a fair comparison"),
        tag("p", "These differ, and can change latency by themselves."),
        table(["what", "before", "after"], rows, name="Differences of the environment", words=3, stacked=True),
        id="unfair",
    )


def _models(comparison: Comparison) -> Html | None:
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    alone = listed(words.unmatched(comparison.models), class_="notes")
    if not compared and not alone:
        return None
    titles = ["model", "answer", "before", "after", "ratio", "95% interval", "details"]
    grid = table(titles, map(_model, compared), name="Models", words=2, stacked=True) if compared else None
    totals = words.totals(compared)
    what = "Median of all predictions" if all(one.basis is Basis.ALL for one in compared) else "Median warm latency"
    return tag(
        "section",
        tag("h2", "Models"),
        tag("p", f"{what}; the interval is that of the change.", class_="dim") if grid else None,
        grid,
        tag("p", f"All models: {totals}") if totals else None,
        *map(_quantities, compared),
        alone,
        id="models",
    )


def _model(model: ModelComparison) -> list[Cell]:
    change = model.latency
    name = model.name if model.name == model.name_before else words.arrow(model.name_before, model.name)
    medians = [ABSENT if value is None else format_duration(value) for value in (change.before_ns, change.after_ns)]
    facts = (
        ("", words.reason(change)),
        ("compared: ", "all predictions" if model.basis is Basis.ALL else ""),
        ("where: ", words.parts(model)),
        ("p95: ", words.p95(model)),
        ("also: ", words.facts(model)),
        ("from: ", words.measured(change)),
    )
    details = listed([f"{label}{text}" for label, text in facts if text], class_="details")
    return [
        Cell(code(name)),
        Cell(tag("span", str(change.answer), class_=f"badge {KINDS[change.answer]}")),
        Cell(medians[0], change.before_ns),
        Cell(medians[1], change.after_ns),
        Cell(ABSENT if change.ratio is None else f"{change.ratio:.2f}", change.ratio),
        Cell(words.interval(change) or ABSENT, change.low),
        Cell(details or ABSENT),
    ]


def _quantities(model: ModelComparison) -> Html:
    """All that is compared of a model, folded."""
    rows = [[Cell(text, value) for text, value in row] for row in quantities(model)]
    grid = table(COLUMNS, rows, name=f"All figures of {model.name}", words=WORDS, stacked=True)
    return tag("details", tag("summary", "All figures of ", code(model.name)), grid)


def _findings(comparison: Comparison) -> Html | None:
    if not comparison.findings:
        return None
    rows = [
        [
            Cell(tag("span", str(one.status), class_=f"badge {KINDS[one.status]}")),
            Cell(joined([code(one.id), tag("br"), one.title])),
            Cell(words.finding_models(one) or "recording"),
            Cell(", ".join(filter(None, (words.savings(one), one.reason))) or ABSENT),
        ]
        for one in comparison.findings
    ]
    grid = table(["status", "check", "models", "details"], rows, name="Findings", words=4, stacked=True)
    return tag("section", tag("h2", "Findings"), grid, id="findings")


def _lanes(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> list[Html]:
    """Where the script draws, and from when on both sides are the same time."""
    if sides is None:
        why = "Lanes are drawn where each side has a recording, not only reports."
        return [tag("section", tag("h2", "Timeline"), tag("p", why, class_="dim"), id="timeline")]
    starts = [_first_call(side.timeline) for side in sides]
    aligned = "One scale. Each recording begins at its start: one has no prediction to align it by."
    if None not in starts:
        at = words.arrow(*(formatting.moment(start or 0) for start in starts))
        aligned = f"One scale, aligned at the first prediction ({at}). Times are those of each recording."
    parts: list[Html | None] = [
        tag("h2", "Timeline"),
        tag("p", aligned, class_="dim"),
        tag("noscript", tag("p", "Scripts are switched off, so the lanes are not drawn. All answers are above.")),
    ]
    several = (comparison.before, comparison.after)
    for when, name, names, side in zip(("before", "after"), SIDES, several, sides, strict=True):
        title = f"{when}: {visible(side.report.recording.source)}"
        if len(names) > 1:
            title += f", the most typical of {format_count(len(names), 'recording')}"
        parts += [tag("h3", title, class_="side"), tag("div", id=name), empty_lanes(side.timeline)]
    return [tag("section", *parts, id="timeline")]


def _first_call(timeline: Timeline) -> int | None:
    """Start of the first prediction that the app called, in ns; None where there is none."""
    starts = [int(lane.starts[called][0]) for lane in timeline.lanes if (called := (lane.flags & CALL) > 0).any()]
    return min(starts, default=None)


def _bounds(sides: tuple[Drawing, Drawing] | None) -> list[tuple[int, int, int]]:
    """Start, end and origin of each side in its own time, so that both are as long and their origins stand together."""
    if sides is None:
        return []
    timelines = [side.timeline for side in sides]
    first_calls = [_first_call(timeline) for timeline in timelines]
    origins = [0, 0] if None in first_calls else [start or 0 for start in first_calls]
    pairs = list(zip(timelines, origins, strict=True))
    before = max(origin - timeline.start_ns for timeline, origin in pairs)
    after = max(timeline.end_ns - origin for timeline, origin in pairs)
    return [(origin - before, origin + after, origin) for origin in origins]


def _notes(comparison: Comparison) -> Html | None:
    return tag(
        "section", tag("h2", "Notes"), listed([*comparison.notes, words.method(comparison)], class_="notes"), id="notes"
    )
