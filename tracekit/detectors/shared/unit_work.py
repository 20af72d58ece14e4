"""The compute unit that Core ML's own rows suggest where the hardware was not recorded."""

from __future__ import annotations

from collections.abc import Iterable

import tracekit.detectors as tk
from tracekit.analysis.instances import SHOWN_BY, suggested_unit
from tracekit.analysis.statistics import top_calls


def unit_suggestion(view: tk.ModelView) -> str:
    """The unit that they suggest, and that this is weaker evidence: a sentence after a space, or nothing."""
    suggestion = suggested_unit(view.trace, view.predictions.id)
    if suggestion is None:
        return ""
    device, count = suggestion
    return (
        f" Core ML's own rows suggest the {tk.DEVICE_NAMES[device]} for {count:,} of "
        f"{tk.format_count(len(view.predictions), 'prediction')} ({SHOWN_BY[device]}): weaker evidence than rows of "
        "the hardware."
    )


def unit_suggestion_notes(trace: tk.Trace, models: Iterable[str]) -> tuple[str, ...]:
    """The unit that they suggest for each of these models, in one sentence; none where they suggest nothing."""
    called = top_calls(trace, tk.Kind.PREDICTION)
    words = []
    for model in models:
        suggestion = suggested_unit(trace, called.id[called.model.is_any(model)])
        if suggestion is not None:
            words.append(f"{model} on the {tk.DEVICE_NAMES[suggestion[0]]} ({SHOWN_BY[suggestion[0]]})")
    if not words:
        return ()
    return (f"Hardware was not recorded; Core ML's own rows suggest, as weaker evidence: {'; '.join(words)}.",)
