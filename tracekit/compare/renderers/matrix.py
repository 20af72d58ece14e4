"""Models × recordings as text, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.characters import visible
from tracekit.compare.matrix import FIGURES
from tracekit.recording.writing.text_forms import harmless
from tracekit.report.formatting import ABSENT, shorten
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.markdown_text import escape, sentence, table
from tracekit.report.renderers.text_layout import NARROWEST, printed
from tracekit.report.strings import map_strings
from tracekit.units import format_duration, format_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.compare.matrix import Column, Matrix, Row

LABEL_CELLS = 40
"""Most cells of a label on the screen."""
GAP = 2
BEST = "*"
SHARES = ("neural_engine", "planned_neural_engine")
"""Figures from 0 to 1."""
FACTS = ("device", "system", "compute units")


def safe_matrix(matrix: Matrix) -> Matrix:
    """The matrix without characters that could steer a terminal."""
    return map_strings(matrix, lambda _, text: visible(text))


def cell(figure: str, value: float | None) -> str:
    """A value as every readable format shows it."""
    if value is None:
        return ABSENT
    if figure.endswith("_ns"):
        return format_duration(value)
    if figure in SHARES:
        return format_share(value)
    return f"{value:,.0f}" if value >= 99.5 or figure == "predictions" else f"{value:,.1f}"


def facts(column: Column) -> tuple[str, ...]:
    """What is known of a column, in the order of `FACTS`."""
    return tuple(value or ABSENT for value in (column.device, column.system, column.units))


def differing_facts(matrix: Matrix) -> list[int]:
    """Positions in `FACTS` of what any column states."""
    known = [(column.device, column.system, column.units) for column in matrix.columns]
    return [index for index in range(len(FACTS)) if any(values[index] for values in known)]


def by_model(matrix: Matrix) -> Iterator[tuple[str, list[Row]]]:
    """Each model with its rows."""
    for name, rows in groupby(matrix.rows, key=lambda row: row.model):
        yield name, list(rows)


def render_text(matrix: Matrix, *, width: int, color: bool) -> str:
    """A table for each run of columns that fits into `width` cells, and the notes; a line break at the end."""
    safe = safe_matrix(matrix)
    layout = Layout(max(width, NARROWEST))
    lines: list[Text] = []
    for columns in _fitting(safe, layout.width):
        lines += [*_table(safe, columns, layout.width), Text()]
    for note in safe.notes:
        lines += layout.hanging(Text(note.replace("`", ""), style="dim"), 2)
    if not safe.rows:
        lines = [Text("no model with a prediction or a load"), *lines]
    return printed(lines, layout.width, color)


def _fitting(matrix: Matrix, width: int) -> list[list[int]]:
    """Positions of columns, as many together as fit beside the titles; at least one."""
    room = width - _title_cells(matrix, width)
    groups: list[list[int]] = []
    used = 0
    for position in range(len(matrix.columns)):
        cells = _cells(matrix, position, room) + GAP
        if not groups or used + cells > room:
            groups.append([])
            used = 0
        groups[-1].append(position)
        used += cells
    return groups


def _title_cells(matrix: Matrix, width: int) -> int:
    titles = [f"  {FIGURES[row.figure][0]}" for row in matrix.rows]
    longest = max(map(cell_len, [*titles, *FACTS, *(row.model for row in matrix.rows)]), default=0)
    return min(longest, max(width // 3, 21))


def _cells(matrix: Matrix, position: int, room: int) -> int:
    """Width of a column, its mark included."""
    column = matrix.columns[position]
    known = [facts(column)[index] for index in differing_facts(matrix)]
    longest = max(map(cell_len, [column.label, *known]))
    values = max((cell_len(cell(row.figure, row.values[position])) for row in matrix.rows), default=0)
    return min(max(min(longest, LABEL_CELLS), values) + len(BEST), room - GAP)


def _table(matrix: Matrix, positions: list[int], width: int) -> list[Text]:
    title_cells = _title_cells(matrix, width)
    widths = [_cells(matrix, position, width - title_cells) for position in positions]

    def line(title: Text, cells: list[tuple[str, bool]]) -> Text:
        text = Text(shorten(title.plain, title_cells).ljust(title_cells), style=title.style)
        for (content, is_best), cells_wide in zip(cells, widths, strict=True):
            body = shorten(content, cells_wide - len(BEST)) + (BEST if is_best else " ")
            blanks = " " * (GAP + cells_wide - cell_len(body))
            text.append(blanks, "not bold not dim").append(body, "bold green" if is_best else "not bold not dim")
        return text

    columns = [matrix.columns[position] for position in positions]
    lines = [line(Text(""), [(column.label, False) for column in columns])]
    lines[0].stylize("bold")
    lines += [
        line(Text(FACTS[index], style="dim"), [(facts(column)[index], False) for column in columns])
        for index in differing_facts(matrix)
    ]
    for name, of_model in by_model(matrix):
        rows = [row for row in of_model if any(row.values[position] is not None for position in positions)]
        if not rows:
            continue
        lines += [Text(), Text(shorten(name, width), style="bold")]
        for row in rows:
            cells = [(cell(row.figure, row.values[position]), position in row.best) for position in positions]
            lines.append(line(Text(f"  {FIGURES[row.figure][0]}"), cells))
    return lines


def render_markdown(matrix: Matrix) -> str:
    """One table; the best of each row in bold."""
    safe = safe_matrix(matrix)
    header = ("model", "", *(escape(column.label) for column in safe.columns))
    rows = [
        ("", FACTS[index], *(escape(facts(column)[index]) for column in safe.columns))
        for index in differing_facts(safe)
    ]
    for name, of_model in by_model(safe):
        for number, row in enumerate(of_model):
            values = (cell(row.figure, value) for value in row.values)
            marked = (f"**{text}**" if index in row.best else text for index, text in enumerate(values))
            rows.append((escape(name) if not number else "", FIGURES[row.figure][0], *marked))
    notes = [sentence(note.replace("* best", "Bold: best")) for note in safe.notes]
    return "\n\n".join([table(header, rows, words=2), *notes]) + "\n"


def render_csv(matrix: Matrix) -> str:
    """A line for each model and column, values in ns, predictions per second and shares; empty: not measured."""
    text, safe = io.StringIO(), safe_matrix(matrix)
    writer = csv.writer(text, lineterminator="\n")
    names = (f"{figure}_share" if figure in SHARES else figure for figure in FIGURES)
    writer.writerow(["model", "label", "device", "system", "compute_units", "recordings", *names, "best"])
    for name, rows in by_model(safe):
        values = {row.figure: row for row in rows}
        for position, column in enumerate(safe.columns):
            known = [None if figure not in values else values[figure].values[position] for figure in FIGURES]
            if all(value is None for value in known):
                continue
            best = " ".join(row.figure for row in rows if position in row.best)
            head = (name, column.label, column.device or "", column.system or "", column.units or "")
            numbers = ("" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") for value in known)
            writer.writerow([*map(harmless, head), len(column.sources), *numbers, best])
    return text.getvalue()
