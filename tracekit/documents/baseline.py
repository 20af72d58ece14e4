"""What a baseline holds, for a reader."""

from __future__ import annotations

import statistics
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from tracekit.comparison.comparison import LABELS
from tracekit.comparison.measurements import Environment, names_of, of_model
from tracekit.comparison.non_inferiority import outlook
from tracekit.documents.columns import words
from tracekit.render.blocks import Column, Document, Paragraph, Role, present, table
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.comparison.baseline import Baseline
    from tracekit.comparison.settings import Floors


def baseline_document(baseline: Baseline, floors: Floors) -> Document:
    """Environment, predictions, median and spread of each model, and what checks against it can show."""
    environment = baseline.recordings[0].environment
    known = [(LABELS[field.name], getattr(environment, field.name)) for field in fields(Environment)]
    count = format_count(len(baseline.recordings), "recording")
    columns: tuple[Column[str], ...] = (words("model", str), words("", lambda name: _words(baseline, name)))
    grid = table("Models", columns, names_of(baseline.recordings))
    title = f"{count}, method {baseline.method}, saved by tracekit {baseline.tracekit}"
    return Document(
        "Baseline",
        title,
        Role.PLAIN,
        context=tuple(Paragraph(str(value), lead=label) for label, value in known if value is not None),
        blocks=present(grid, Paragraph(_outlook(baseline, floors))),
    )


def _outlook(baseline: Baseline, floors: Floors) -> str:
    """What checks against it can show, and what would make them show more."""
    names = names_of(baseline.recordings)
    medians = [
        np.array([value for model in of_model(baseline.recordings, name) if (value := model.quantities["p50_ns"])])
        for name in names
    ]
    one, several = (outlook(medians, [floors.of(name) for name in names], count) for count in (1, _SEVERAL))
    if one is None or several is None:
        return "One recording does not show how much recordings of one build differ; add more with --update-baseline."
    said = (
        f"Checks of one recording: smallest detectable slowdown {_percent(one.smallest)}, inconclusive in "
        f"{_percent(one.inconclusive)} of unchanged builds; of {_SEVERAL} recordings: {_percent(several.smallest)}, "
        f"{_percent(several.inconclusive)}."
    )
    if one.inconclusive < _RARELY:
        return said
    more = f"check {_SEVERAL} recordings of each build" if several.inconclusive < _RARELY else "set a larger allow"
    return f"{said} Add recordings of other days to the baseline, or {more}."


_SEVERAL, _RARELY = 3, 0.05


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= _PERCENT else "under 1%"


_PERCENT = 0.01


def _words(baseline: Baseline, name: str) -> str:
    models = of_model(baseline.recordings, name)
    medians = [value for model in models if (value := model.quantities["p50_ns"]) is not None]
    if not medians:
        return "no prediction with a known latency"
    count = sum(len(model.latency_ns) for model in models)
    said = f"{format_count(count, 'prediction')}, median {format_duration(statistics.median(medians))}"
    spread = baseline.spread(name)
    return said if spread is None else f"{said}, recordings differ by {spread * 100:.1f}% (standard deviation)"
