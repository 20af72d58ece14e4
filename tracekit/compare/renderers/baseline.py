"""What a baseline holds, for a reader."""

from __future__ import annotations

import statistics
from dataclasses import fields
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.compare.against_baseline import false_alarms
from tracekit.compare.comparison import LABELS
from tracekit.compare.figures import names_of
from tracekit.compare.measurements import Environment, of_model
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.compare.baseline import Baseline
    from tracekit.compare.settings import Floors


def render_baseline(baseline: Baseline, floors: Floors) -> str:
    """Environment, each model with its predictions, median and how far recordings differ, and whether the baseline
    would call one of its own recordings slower, a line each."""
    environment = baseline.recordings[0].environment
    known = [(LABELS[field.name], getattr(environment, field.name)) for field in fields(Environment)]
    count = format_count(len(baseline.recordings), "recording")
    lines = [f"{count}, method {baseline.method}, saved by tracekit {baseline.tracekit}"]
    lines += [f"  {label:<14} {value}" for label, value in known if value is not None]
    lines += [f"  {_model(baseline, name)}" for name in names_of(baseline.recordings)]
    failed = false_alarms(baseline, floors)
    if failed is not None:
        rest = "; add recordings, or set min-change" if failed else ""
        lines.append(f"  checked against the others, {failed or 'none'} of {count} would fail{rest}")
    # Names are a line each, whatever they hold.
    return "".join(f"{visible(line)}\n" for line in lines)


def _model(baseline: Baseline, name: str) -> str:
    models = of_model(baseline.recordings, name)
    medians = [value for model in models if (value := model.quantities["p50_ns"]) is not None]
    if not medians:
        return f"{name}: no prediction with a known latency"
    count = sum(len(model.latency_ns) for model in models)
    words = f"{name}: {format_count(count, 'prediction')}, median {format_duration(statistics.median(medians))}"
    spread = baseline.spread(name)
    if spread is not None:
        words += f", recordings differ by {spread * 100:.1f}% (standard deviation)"
    return words
