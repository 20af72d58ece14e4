"""What Core ML's own rows suggest where the hardware was not recorded, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.suggested_units import SHOWN_BY, suggested_unit
from tracekit.detectors import (
    DEVICE_NAMES,
    Kind,
    Level,
    ModelView,
    Trace,
    format_count,
    is_any,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def of_rows(view: ModelView) -> str:
    """The unit that they suggest, and that this is weaker evidence: a sentence after a space, or nothing."""
    suggestion = suggested_unit(view.trace, view.predictions.index)
    if suggestion is None:
        return ""
    count = f"{suggestion.predictions:,} of {format_count(suggestion.of, 'prediction')}"
    return (
        f" Core ML's own rows suggest the {DEVICE_NAMES[suggestion.device]} for {count} "
        f"({SHOWN_BY[suggestion.device]}): weaker evidence than rows of the hardware."
    )


def of_models(trace: Trace, models: Iterable[str]) -> tuple[str, ...]:
    """The unit that they suggest for each of these models, in one sentence; none where they suggest nothing."""
    activity = trace.activity
    called = activity[is_any(activity["kind"], Kind.PREDICTION) & is_any(activity["level"], Level.TOP)]
    words = []
    for model in models:
        suggestion = suggested_unit(trace, called.index[is_any(called["model"], model)])
        if suggestion is not None:
            words.append(f"{model} on the {DEVICE_NAMES[suggestion.device]} ({SHOWN_BY[suggestion.device]})")
    if not words:
        return ()
    return (f"Hardware was not recorded; Core ML's own rows suggest, as weaker evidence: {'; '.join(words)}.",)
