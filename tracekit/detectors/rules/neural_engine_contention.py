"""`neural-engine-contention`: predictions queue for a Neural Engine that works for others."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.queued import QueueOptions, Unit, judge_unit

UNIT = Unit(tk.Device.ANE, "queued behind other work on the Neural Engine")


def detect(view: tk.ModelView, options: QueueOptions) -> tk.Outcome:
    """Looks for predictions whose work on the Neural Engine begins when work of others ends."""
    return judge_unit(view, options, UNIT)


DETECTOR = tk.Detector(
    needs=("Core ML", "Neural Engine"),
    options=QueueOptions,
    causes=(tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES, tk.Cause.QUEUED_OWN),
    detect=detect,
)
