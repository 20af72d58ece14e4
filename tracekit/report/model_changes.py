"""What differs between two models, such as one before and after a conversion."""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.report import model_words
from tracekit.report.model_report import ModelChange, ModelReport
from tracekit.units import format_bytes


def changes_of(before: ModelReport, after: ModelReport) -> tuple[ModelChange, ...]:
    """Facts that differ, in the order in which they matter. O(facts)."""
    old, new = (dict(_comparable(report)) for report in (before, after))
    return tuple(
        ModelChange(name, old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    )


def _comparable(report: ModelReport) -> Iterator[tuple[str, str]]:
    model = report.model
    for info in report.neural_engine:
        yield f"Neural Engine{f', {info.function}' if len(report.neural_engine) > 1 else ''}", info.verdict
    yield "loads on", model_words.systems(model)
    yield "size", format_bytes(model.bytes) if model.bytes is not None else "unknown"
    for function in model.functions:
        of = f" of {function.name}" if len(model.functions) > 1 else ""
        for role in ("inputs", "outputs", "states"):
            for each in getattr(function, role):
                shape = model_words.feature_shape(each)
                yield f"{role[:-1]} {each.name}{of}", ", ".join(filter(None, (model_words.feature_type(each), shape)))
        yield f"computes{of} in", ", ".join(function.compute_precision or ()) or "not known"
        yield from ((f"{kind} operations{of}", f"{count:,}") for kind, count in function.operations.items())
    yield "weights", model_words.weight_size(model.weights)
    stored = (model_words.weight_group(group) for group in model.weights.groups or ())
    yield "stored as", "; ".join(dict.fromkeys(stored))
    yield "findings", ", ".join(report.found) or "none"
