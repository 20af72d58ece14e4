"""A matrix as one HTML page that asks for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit._version import __version__
from tracekit.compare.matrix import FIGURES
from tracekit.compare.renderers.matrix import FACTS, by_model, cell, differing_facts, facts, safe_matrix
from tracekit.report.renderers.html.document import document
from tracekit.report.renderers.html.markup import Html, code, listed, tag
from tracekit.report.renderers.html.prose import sentence
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.compare.matrix import Matrix

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
    return tag("footer", f"{GENERATOR} · this file makes no network request")


def _grid(matrix: Matrix) -> Html:
    columns = matrix.columns
    head = tag("tr", tag("td"), *(tag("th", column.label, scope="col", class_="n") for column in columns))
    known = [
        tag("tr", tag("th", FACTS[place], scope="row"), *(tag("td", facts(one)[place], class_="n") for one in columns))
        for place in differing_facts(matrix)
    ]
    bodies = []
    for name, rows in by_model(matrix):
        lines = [tag("tr", tag("th", code(name), scope="rowgroup", colspan=len(columns) + 1, class_="group"))]
        for row in rows:
            cells = [
                tag("td", text, " *" if place in row.best else None, class_="n best" if place in row.best else "n")
                for place, text in enumerate(cell(row.figure, value) for value in row.values)
            ]
            lines.append(tag("tr", tag("th", FIGURES[row.figure][0], scope="row"), *cells))
        bodies.append(tag("tbody", *lines))
    grid = tag("table", tag("thead", head, *known), *bodies, aria_label="Models by recording", class_="matrix")
    return tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label="Models by recording")
