"""What a baseline holds, for a reader."""

from __future__ import annotations

import statistics
from dataclasses import fields
from typing import TYPE_CHECKING

from tracekit.compare.against_baseline import false_alarms
from tracekit.compare.comparison import LABELS
from tracekit.compare.figures import names_of
from tracekit.compare.measurements import Environment, of_model
from tracekit.documents.columns import words
from tracekit.render.blocks import Column, Document, Paragraph, Role, present, table
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.compare.baseline import Baseline
    from tracekit.compare.settings import Floors


def baseline_document(baseline: Baseline, floors: Floors) -> Document:
    """Environment, predictions, median and spread of each model, and whether it calls its own recordings slower."""
    environment = baseline.recordings[0].environment
    known = [(LABELS[field.name], getattr(environment, field.name)) for field in fields(Environment)]
    count = format_count(len(baseline.recordings), "recording")
    columns: tuple[Column[str], ...] = (words("model", str), words("", lambda name: _words(baseline, name)))
    grid = table("Models", columns, names_of(baseline.recordings))
    failed = false_alarms(baseline, floors)
    rest = "; add recordings, or set min-change" if failed else ""
    alarms = f"Checked against the others, {failed or 'none'} of {count} would fail{rest}."
    title = f"{count}, method {baseline.method}, saved by tracekit {baseline.tracekit}"
    return Document(
        "Baseline",
        title,
        Role.PLAIN,
        context=tuple(Paragraph(str(value), lead=label) for label, value in known if value is not None),
        blocks=present(grid, None if failed is None else Paragraph(alarms)),
    )


def _words(baseline: Baseline, name: str) -> str:
    models = of_model(baseline.recordings, name)
    medians = [value for model in models if (value := model.quantities["p50_ns"]) is not None]
    if not medians:
        return "no prediction with a known latency"
    count = sum(len(model.latency_ns) for model in models)
    said = f"{format_count(count, 'prediction')}, median {format_duration(statistics.median(medians))}"
    spread = baseline.spread(name)
    return said if spread is None else f"{said}, recordings differ by {spread * 100:.1f}% (standard deviation)"
