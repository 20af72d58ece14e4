"""What a rule about models asks before it looks, stated in its metadata and asked by the runner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracekit.units import format_time

if TYPE_CHECKING:
    from tracekit.detectors.outcomes import Outcome
    from tracekit.detectors.views import ModelView

Precondition = Callable[[Any, Any], "Outcome | None"]
"""From a view and options to the answer where the rule cannot look, and None where it can."""


def any_prediction(view: ModelView, _options: Any = None) -> Outcome | None:
    """There is a prediction."""
    return view.not_applicable("No prediction was recorded.") if view.predictions.empty else None


def any_load(unknown: str) -> Precondition:
    """A load was recorded; `unknown` says what cannot be known otherwise."""

    def check(view: ModelView, _options: Any) -> Outcome | None:
        if not view.loads.empty:
            return None
        reason = f"No load of this model was recorded, so it is unknown {unknown}."
        return view.unknown(reason, "Start recording before the app loads the model.")

    return check


def least_predictions(view: ModelView, options: Any) -> Outcome | None:
    """There are at least as many predictions as the option `min_predictions` says."""
    count, needed = len(view.predictions), options.min_predictions
    return view.too_few_predictions(count, needed) if count < needed else None


def least_mean(view: ModelView, options: Any) -> Outcome | None:
    """Predictions average at least `min_mean_ms`, an option."""
    mean_ns = float(view.predictions["duration_ns"].mean())
    return too_short(view, mean_ns) if mean_ns < options.min_mean_ms * 1e6 else None


def too_short(view: ModelView, mean_ns: float) -> Outcome:
    """The answer where predictions are too short for what costs every one of them."""
    words = "too short to evaluate: per-call overhead dominates"
    return view.not_applicable(f"Predictions average {format_time(mean_ns)}, {words}.")
