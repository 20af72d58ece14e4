"""Sentences that several detectors say alike."""

from __future__ import annotations

from collections.abc import Sequence

import tracekit.detectors as tk
from tracekit.analysis.frames.paths import Path

RECORD_ALONE = "Record longer, without overlapping predictions."
RECORD_PHASE_ALONE = "Record a phase without overlapping predictions."
NO_LOAD = "No model was loaded during the recording."
RECORD_APP = "Record only the app (--attach or --launch)."
KEEP_LOADED = "Keep the model loaded between predictions and record again."
FOLLOWS_INPUT_SIZE = "Latency follows the size of the inputs, as the time to copy them does."

HELD_UP = {
    Path.GPU: "waited for GPU work of {model}",
    Path.MAIN_BUSY: "waited for the main thread, which was busy with {model}",
    Path.MAIN_WAITS: "waited for the main thread, which waited for {model}",
    Path.CPU: "waited for a core while {model} computed",
}
"""What frames did that a model held up."""
_MAX_UNITS = 5
"""Units of an order that are named: two hand-offs there and back show the pattern."""


def record_alone(predictions: tk.Calls) -> str:
    """Advice to record longer, and alone where predictions overlap."""
    return tk.RECORD_LONGER if tk.Intervals.from_rows(predictions).alone().all() else RECORD_ALONE


def keep_loaded(view: tk.ModelView, otherwise: str) -> str:
    """Advice where too few predictions are warm: `otherwise`, unless most are the first after a load."""
    return KEEP_LOADED if 2 * int(view.warm.sum()) < len(view.warm) else otherwise


def of_models(rows: tk.Events) -> str:
    """Models of rows, after a noun: ` of A, B and 2 more`; empty where none is known."""
    names = sorted(rows.model.held())
    return f" of {tk.format_names(names)}" if names else ""


def order_words(devices: Sequence[tk.Device]) -> str:
    """The order of units with their hand-offs: `Neural Engine → CPU → Neural Engine`."""
    words = [tk.DEVICE_NAMES[device] for device in devices[:_MAX_UNITS]]
    return " → ".join([*words, "…"] if len(devices) > _MAX_UNITS else words)


def what_ran(rows: tk.Events) -> str:
    """Loads, compilations and predictions among rows of the activity, as `2 loads and 25 predictions`."""
    kinds = (("load", tk.LOAD_KINDS), ("compilation", (tk.Kind.COMPILE,)), ("prediction", (tk.Kind.PREDICTION,)))
    counts = [(int(rows.kind.is_any(*kind).sum()), noun) for noun, kind in kinds]
    *head, last = [tk.format_count(count, noun) for count, noun in counts if count] or ["nothing"]
    return f"{', '.join(head)} and {last}" if head else last
