"""What detectors ask of a model before they set a cost of every call against its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.detectors import (
    InsufficientData,
    ModelView,
    NotApplicable,
    format_time,
    no_prediction,
    option,
    too_few_predictions,
)

if TYPE_CHECKING:
    from tracekit.detectors.framework import ModelView


def min_mean_option() -> Any:
    """Option: shortest mean prediction in ms that is judged."""
    return option(1.0, "ms", "Heuristic: below this, per-call overhead dominates, whatever the app does.")


def min_calls_option() -> Any:
    """Option: fewest predictions that are judged."""
    return option(3, "predictions", "Heuristic: the first prediction after a load differs; three show what is usual.")


def not_evaluated(view: ModelView, calls: int, mean_ms: float) -> NotApplicable | InsufficientData | None:
    """Why nothing can be said of what costs every call of the model: fewer than `calls` predictions, or below `mean_ms`
    on average; None where there are enough. O(predictions)."""
    count = len(view.predictions)
    if count == 0:
        return no_prediction(view.name)
    if count < calls:
        return too_few_predictions(view.name, count, calls)
    mean_ns = float(view.predictions["duration_ns"].mean())
    if mean_ns < mean_ms * 1e6:
        return NotApplicable(view.name, too_short(mean_ns))
    return None


def too_short(mean_ns: float) -> str:
    """Says that predictions are too short for what costs every one of them."""
    return f"Predictions average {format_time(mean_ns)}, too short to evaluate: per-call overhead dominates."
