"""What a matrix says: the same figures of each model in many recordings, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.compare.matrix import FIGURES
from tracekit.render.blocks import Column, Document, Paragraph, Role, Span, items, present, table
from tracekit.report.formatting import ABSENT, quantity
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.compare.matrix import Column as Recordings
    from tracekit.compare.matrix import Matrix
    from tracekit.render.blocks import Line

FACTS = ("device", "system", "compute units")
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
    models = len({row.model for row in matrix.rows})
    title = f"{format_count(models, 'model')} × {format_count(len(matrix.columns), 'column')}"
    lines = _lines(matrix)

    def column(at: int, recordings: Recordings) -> Column[_Line]:
        return Column(recordings.label, lambda line: line.cells[at], lambda line: line.values[at])

    titles: Column[_Line] = Column("", lambda line: line.title, words=True)
    columns = [titles, *(column(at, recordings) for at, recordings in enumerate(matrix.columns))]
    grid = table("Models by recording", columns, lines, group=lambda line: line.model, parts=True)
    empty = None if matrix.rows else Paragraph("no model with a prediction or a load")
    return Document(title, "", Role.PLAIN, blocks=present((empty, grid if matrix.rows else None, items(matrix.notes))))


def _lines(matrix: Matrix) -> list[_Line]:
    """Facts of the recordings, then the figures by model."""
    lines = []
    for at, title in enumerate(FACTS):
        facts = [(one.device, one.system, one.units)[at] for one in matrix.columns]
        if any(facts):
            lines.append(_Line("", title, tuple(fact or ABSENT for fact in facts), (None,) * len(facts)))
    for row in matrix.rows:
        shown = [
            Span(f"{BEST}{text}", Role.BEST, row.figure) if at in row.best else Span(text, quantity=row.figure)
            for at, text in enumerate(quantity(value, FIGURES[row.figure].unit) for value in row.values)
        ]
        lines.append(_Line(row.model, FIGURES[row.figure].label, tuple(shown), row.values))
    return lines
