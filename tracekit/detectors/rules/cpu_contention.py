"""`cpu-contention`: predictions are slow while other models of the app work on the CPU."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.queued import SharedOptions, Unit, judge_unit

UNIT = Unit(
    tk.Device.CPU,
    "shared the CPU with other models",
    "Record longer, with phases in which each model runs alone.",
    "CPU work of the app itself and of other processes is not recorded.",
)


def detect(view: tk.ModelView, options: SharedOptions) -> tk.Outcome:
    """Looks for predictions that take longer while other models use the CPU."""
    return judge_unit(view, options, UNIT)


DETECTOR = tk.Detector(needs=("Core ML",), options=SharedOptions, causes=(tk.Cause.SHARED_CPU,), detect=detect)
