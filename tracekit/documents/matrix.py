"""What a matrix says: the same figures of each model in many recordings, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from tracekit.comparison.matrix import FIGURES, Column as Recordings, Matrix, Row
from tracekit.documents import columns
from tracekit.documents.launches import launches_section
from tracekit.render.blocks import Column, Document, Line, Paragraph, Role, Span, items, present, table
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


def matrix_document(matrix: Matrix) -> Document:
    """The matrix; a star marks the best of each row."""
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
    grid = table(
        "Models by recording",
        (names, titles, *(column(at, recordings) for at, recordings in enumerate(matrix.columns))),
        (*lines, *(_figure(row, known, pooled) for row in matrix.rows)) if matrix.rows else (),
        parts=True,
    )
    empty = None if matrix.rows else Paragraph("no model with a prediction or a load")
    return Document(
        title, "", Role.PLAIN, blocks=present(empty, grid, launches_section(matrix.launches), items(matrix.notes))
    )


def _figure(row: Row, known: set[tuple[str, int]], pooled: bool) -> _Line:
    """A figure of a model, empty where a recording shows none of it."""
    figure = FIGURES[row.figure]
    title = f"{figure.label}, median of recordings" if pooled and row.figure.endswith("p95_ns") else figure.label

    def cell(at: int, value: float | None) -> Line:
        text = quantity(value, figure.unit, row.resolution_ns) if (row.model, at) in known else ""
        text = f"at least {text}" if at in row.at_least else text
        return Span(f"{BEST}{text}", Role.BEST, row.figure) if at in row.best else Span(text, quantity=row.figure)

    return _Line(row.model, title, tuple(cell(*each) for each in enumerate(row.values)), row.values)
