"""What a matrix says: the same figures of each model in many recordings, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from tracekit.comparison.matrix import FIGURES, Column as Recordings, Matrix, Row
from tracekit.documents import columns
from tracekit.documents.launches import launches_section
from tracekit.render.blocks import Column, Document, Line, Paragraph, Role, Span, Table, items, present, table
from tracekit.report.formatting import ABSENT, quantity, word_list
from tracekit.units import format_count

FACTS = {"device": "device", "system": "system", "compute units": "units", "recorded": "recorded"}
"""What is said of recordings, and the attribute that holds it."""
BEST = "*"


@dataclass(frozen=True, slots=True)
class _Line:
    """One figure of one model, or one fact of the recordings."""

    model: str
    title: str
    cells: tuple[Line, ...]
    values: tuple[float | None, ...]


def matrix_document(matrix: Matrix, form: str = "") -> Document:
    """The matrix; a star marks the best of each row. A page has a row for each model of a recording, so that it can be
    sorted by any figure and no cell stays empty for a model that a recording does not have."""
    kinds = dict.fromkeys(kind for column in matrix.columns for kind in column.kinds)
    count, several = sum(len(column.sources) for column in matrix.columns), word_list(f"{kind}s" for kind in kinds)
    models = format_count(len({row.model for row in matrix.rows}), "model")
    title = f"{models} in {format_count(count, ''.join(kinds), several)}"

    def column(at: int, recordings: Recordings) -> Column[_Line]:
        return Column(recordings.label, lambda line: line.cells[at], lambda line: line.values[at])

    known = {(row.model, at) for row in matrix.rows for at, value in enumerate(row.values) if value is not None}
    facts = ((title, tuple(map(attrgetter(name), matrix.columns))) for title, name in FACTS.items())
    rows = ((title, tuple(fact or ABSENT for fact in of)) for title, of in facts if any(of))
    pooled = any(len(column.sources) > 1 for column in matrix.columns)
    lines = (_Line("", title, of, (None,) * len(of)) for title, of in rows)
    names: Column[_Line] = columns.names("model", lambda line: line.model, "", heading=True)
    titles: Column[_Line] = columns.words("", lambda line: line.title)
    grid: Table[Any] | None = table(
        "Models by recording",
        (names, titles, *(column(at, recordings) for at, recordings in enumerate(matrix.columns))),
        (*lines, *(_figure(row, known, pooled) for row in matrix.rows)) if matrix.rows else (),
        parts=True,
    )
    if form == "html":
        grid = _by_model(matrix, known, pooled)
    empty = None if matrix.rows else Paragraph("no model with a prediction or a load")
    return Document(
        title, "", Role.PLAIN, blocks=present(empty, grid, launches_section(matrix.launches), items(matrix.notes))
    )


def _by_model(matrix: Matrix, known: set[tuple[str, int]], pooled: bool) -> Table[tuple[str, int]] | None:
    """A row for each model and recording that has it."""
    lines = {(row.model, row.figure): _figure(row, known, pooled) for row in matrix.rows}
    titles = {figure: line.title for (_, figure), line in lines.items()}
    models = dict.fromkeys(row.model for row in matrix.rows)

    def figure(name: str) -> Column[tuple[str, int]]:
        def value(row: tuple[str, int]) -> float | None:
            line = lines.get((row[0], name))
            return line.values[row[1]] if line else None

        def cell(row: tuple[str, int]) -> Line:
            line = lines.get((row[0], name))
            return (line.cells[row[1]] if line else "") or ABSENT

        return Column(titles[name], cell, value)

    def fact(title: str, name: str) -> Column[tuple[str, int]]:
        return columns.words(title, lambda row: getattr(matrix.columns[row[1]], name) or ABSENT)

    cells = (
        columns.names("model", lambda row: row[0]),
        columns.words("recording", lambda row: matrix.columns[row[1]].label),
        *map(figure, (name for name in FIGURES if name in titles)),
        *(fact(title, name) for title, name in FACTS.items() if any(map(attrgetter(name), matrix.columns))),
    )
    rows = [(model, at) for model in models for at in range(len(matrix.columns)) if (model, at) in known]
    return table("Models by recording", cells, rows, heat=True)


def _figure(row: Row, known: set[tuple[str, int]], pooled: bool) -> _Line:
    """A figure of a model, empty where a recording shows none of it."""
    figure = FIGURES[row.figure]
    title = f"{figure.label}, median of recordings" if pooled and row.figure.endswith("p95_ns") else figure.label

    def cell(at: int, value: float | None) -> Line:
        text = quantity(value, figure.unit, row.resolution_ns) if (row.model, at) in known else ""
        text = f"at least {text}" if at in row.at_least else text
        return Span(f"{BEST}{text}", Role.BEST, row.figure) if at in row.best else Span(text, quantity=row.figure)

    return _Line(row.model, title, tuple(cell(*each) for each in enumerate(row.values)), row.values)
