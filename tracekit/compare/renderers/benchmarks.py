"""What `tracekit check` measured, for services that keep figures over time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tracekit.characters import visible
from tracekit.compare.limits import SHARES, TIMES
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.compare.figures import Figure
    from tracekit.compare.gate import Gate


def render_benchmark(gate: Gate) -> str:
    """For github-action-benchmark, as `customSmallerIsBetter`: the share of the Neural Engine, of which more is better,
    is not in it. Times in ms."""
    entries = [
        _entry(model.model, name, figure)
        for model in gate.models
        for name, figure in model.figures.items()
        if name not in SHARES
    ]
    return json.dumps(entries, ensure_ascii=True, indent=2) + "\n"


def _entry(model: str, name: str, figure: Figure) -> dict[str, Any]:
    size, unit = (1e6, "ms") if name in TIMES else (1, "per prediction" if name == "copies" else "predictions")
    entry: dict[str, Any] = {"name": f"{visible(model)} {name}", "unit": unit, "value": round(figure.value / size, 4)}
    if figure.low is not None and figure.high is not None:
        entry["range"] = f"{figure.low / size:.4g} to {figure.high / size:.4g}"
    entry["extra"] = format_count(figure.recordings, "recording")
    if figure.predictions is not None:
        entry["extra"] = format_count(figure.predictions, "prediction")
    return entry


def render_bencher(gate: Gate) -> str:
    """Bencher Metric Format: models are the benchmarks, figures the measures. Times in ns, as it has latencies."""
    models = {
        visible(model.model): {name: _metric(figure) for name, figure in model.figures.items()}
        for model in gate.models
        if model.figures
    }
    return json.dumps(models, ensure_ascii=True, indent=2) + "\n"


def _metric(figure: Figure) -> dict[str, float]:
    metric = {"value": round(figure.value, 6)}
    if figure.low is not None and figure.high is not None:
        metric |= {"lower_value": round(figure.low, 6), "upper_value": round(figure.high, 6)}
    return metric
