"""What a report says of models of which Core ML recorded no call: how many there were at least, and what they did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracekit.analysis.quantities import MODEL
from tracekit.documents import report_models
from tracekit.documents.columns import names, numbers, quantity, words
from tracekit.render.blocks import Column, Paragraph, Role, Section, Span, items, section, table
from tracekit.report import formatting
from tracekit.report.formatting import ABSENT
from tracekit.report.phases import NOTES, TITLE, PhaseRow, calls_words, headline, phase_lines, phase_rows
from tracekit.report.time_breakdown import AT_LEAST, is_hardware_alone, is_inferred
from tracekit.trace.events import Level
from tracekit.units import format_percent

if TYPE_CHECKING:
    from tracekit.analysis.models import ModelSummary


def models_section(models: Sequence[ModelSummary]) -> Section | None:
    """Loads, predictions and median of each model, and what its predictions do; None without inferred calls."""
    known = [model for model in models if model.level == Level.TOP and is_inferred(model)]
    alone = len(known) == 1
    timed = [model for model in known if model.in_flight is not None]
    return section(
        "Models",
        table("Models", _columns(), known, brief=report_models.MODELS),
        items(phase_lines(known[0])) if alone else None,
        Paragraph(report_models.pace(known[0]), Role.DIM) if alone and timed else None,
        note="inferred: at least these calls",
        name="models",
    )


def _columns() -> tuple[Column[ModelSummary], ...]:
    return (
        names("model", lambda model: model.name),
        words("calls", calls_words),
        Column("median", _median, _median_ns, quantity="p50_ns"),
        quantity(MODEL["p95_ns"].title, "p95_ns", drop=1),
        words("per prediction", lambda model: headline(model) or ABSENT, drop=2),
    )


def _median(model: ModelSummary) -> str:
    """A lower bound where only the hardware shows the predictions."""
    bound = AT_LEAST if is_hardware_alone(model) else ""
    return f"{bound}{formatting.duration(ns, model.resolution_ns)}" if (ns := _median_ns(model)) else ABSENT


def _median_ns(model: ModelSummary) -> float | None:
    if is_hardware_alone(model):
        return model.prediction.p50_ns if model.prediction else None
    return model.quantities.get("p50_ns")


def phases_section(models: Sequence[ModelSummary]) -> Section | None:
    """Where the time of each model's loads and predictions went; None where no call stack shows it."""
    columns: tuple[Column[PhaseRow], ...] = (
        names("model", lambda row: row.model),
        words("call", lambda row: row.calls.kind),
        numbers("calls", lambda row: row.calls.calls),
        words("phase", lambda row: row.words),
        Column("mean per call", _mean, lambda row: row.mean_ns),
        numbers("share", lambda row: row.share, format_percent),
    )
    rows = phase_rows(models)
    return section(TITLE, table(TITLE, columns, rows), items(NOTES, role=Role.DIM) if rows else None, folded=True)


def _mean(row: PhaseRow) -> Span:
    return Span(formatting.duration(row.mean_ns, row.resolution_ns), quantity=row.quantity)
