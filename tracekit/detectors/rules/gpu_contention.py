"""`gpu-contention`: predictions queue behind other work on the GPU, mostly drawing."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.queued import SharedOptions, Unit, judge_unit

UNIT = Unit(
    tk.Device.GPU,
    "queued behind other work on the GPU",
    "Record longer, with phases in which the app draws and phases in which it does not.",
)


def detect(view: tk.ModelView, options: SharedOptions) -> tk.Outcome:
    """Looks for predictions whose work on the GPU begins when work of others ends, or takes longer beside it."""
    return judge_unit(view, options, UNIT)


DETECTOR = tk.Detector(
    needs=("Core ML", "GPU"),
    options=SharedOptions,
    causes=(tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES, tk.Cause.QUEUED_OWN),
    detect=detect,
)
