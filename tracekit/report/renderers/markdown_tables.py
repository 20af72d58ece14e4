"""The tables of the Markdown report that are folded: models, their time, events and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report import formatting, over_time
from tracekit.report.columns import (
    OVERLAP_NOTE,
    WARM,
    WARM_NOTE,
    by_model,
    event_columns,
    event_rows,
    model_columns,
    model_rows,
)
from tracekit.report.renderers.markdown_text import code, escape, left_out, paragraphs, sentence, table
from tracekit.report.time_breakdown import parts_notes, parts_rows, shown_groups
from tracekit.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.models import ModelSummary
    from tracekit.report.report import CoverageInfo

MODELS_SHOWN = 20
EVENTS_SHOWN = 150
"""Most lines of a table: GitHub takes no more than 65,536 characters in a comment. The JSON report holds all."""


def loads_and_predictions(models: Sequence[ModelSummary]) -> str:
    """Counts and durations per model."""
    rows = model_rows(models)
    if not rows:
        return ""
    columns = model_columns(rows)
    header = ["model", *(column.title.replace("\n", " ") for column in columns)]
    shown = rows if len(rows) <= MODELS_SHOWN else (*rows[: MODELS_SHOWN - 1], rows[-1])
    lines = [[code(row.name), *(column.cell(row) for column in columns)] for row in shown]
    return paragraphs(table(header, lines), left_out(len(rows) - len(shown)))


def time_parts(models: Sequence[ModelSummary]) -> str:
    """Where the time of a prediction goes, per model."""
    rows = parts_rows(models)
    if not rows:
        return ""
    shown = rows[:MODELS_SHOWN]
    groups = shown_groups(shown)
    lines = []
    for row in shown:
        words = {part.group: part.words for part in row.slices}
        cells = [words.get(group, "") for group in groups]
        rates = (formatting.frames(row.quantities.get(name)) for name in ("fps", "fps_at_p95"))
        lines.append([code(row.name), format_time(row.mean_ns), *cells, *rates])
    header = ["model", "mean of all", *(group.name for group in groups), "fps", "fps at p95"]
    notes = "\n".join(f"- {note}" for note in parts_notes(shown))
    return paragraphs(table(header, lines), left_out(len(rows) - len(shown)), notes)


def predictions_over_time(models: Sequence[ModelSummary]) -> str:
    """How predictions follow each other, per model."""
    rows = over_time.time_rows(models)
    if not rows:
        return ""
    shown = rows[:MODELS_SHOWN]
    filled = [index for index in range(len(over_time.COLUMNS)) if any(row.cells[index] for row in shown)]
    lines = [[code(row.name), *(row.cells[index] for index in filled)] for row in shown]
    trends = "\n".join(f"- {code(row.name)}: {row.trend}" for row in shown if row.trend)
    grid = table(["model", *(over_time.COLUMNS[index] for index in filled)], lines)
    notes = f"- {over_time.NOTE}\n- {formatting.ABSENT_NOTE}"
    return paragraphs(grid, left_out(len(rows) - len(shown)), trends, notes)


def aggregation(aggregated: Iterable[AggregationRow]) -> str:
    """Statistics by model and event as a table, with notes; empty without rows. The strings must be `visible`."""
    lines = [
        (model, entry) for model, group in by_model(aggregated).items() for row in group for entry in event_rows(row)
    ]
    if not lines:
        return ""
    columns = event_columns([entry for _, entry in lines])
    header = ["model", "event", *(column.title for column in columns)]
    rows = [
        [code(model) if model else "", code(entry.event), *(column.cell(entry) for column in columns)]
        for model, entry in lines[:EVENTS_SHOWN]
    ]
    notes = [OVERLAP_NOTE] if any(column.title == "elapsed" for column in columns) else []
    notes += [WARM_NOTE] if any(entry.event.endswith(WARM) for _, entry in lines) else []
    notes += [formatting.ABSENT_NOTE, left_out(len(lines) - EVENTS_SHOWN)]
    return paragraphs(table(header, rows, words=3), "\n".join(f"- {note}" for note in notes if note))


def coverage(entries: Sequence[CoverageInfo]) -> str:
    """What the recording contains, per instrument."""
    if not entries:
        return ""
    rows = [
        [
            escape(entry.instrument),
            formatting.coverage_state(entry),
            sentence(entry.conclusion),
            sentence(entry.advice),
            formatting.count(entry.rows),
        ]
        for entry in entries
    ]
    return table(["instrument", "state", "details", "to record it", "rows"], rows, words=4)
