"""`memory-peak`: the footprint comes near the limit that was given."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.memory import sizes
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.memory import MB, engine_memory, unsampled
from tracekit.detectors.shared.wording import of_models


class Options(tk.Options):
    limit_mb: float = tk.option(
        0.0, "MB", "Only you know the limit of your oldest device, or of an extension. 0 means that none is set."
    )
    near_share: float = tk.option(
        0.9,
        "share of the limit",
        "Heuristic: what a sample each second misses, and the system itself, need the rest.",
        maximum=1_000_000_000,
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Compares the highest footprint with the limit."""
    if not options.limit_mb:
        return view.not_applicable("No memory limit given; set one with --memory-limit, for example 3GB.")
    if (answer := unsampled(view)) is not None:
        return answer
    known = sizes(view.trace)
    limit, peak = options.limit_mb * MB, int(known.bytes.max())
    metrics = (
        tk.above("peak", "highest footprint", peak, "bytes", options.near_share * limit),
        tk.Metric("limit", "limit", limit, "bytes"),
    )
    beside = "above" if peak > limit else f"{tk.format_share(peak / limit)} of"
    words = f"The footprint reaches {tk.format_bytes(peak)}, {beside} the limit of {tk.format_bytes(round(limit))}"
    if not tk.reached(metrics, "peak"):
        return view.passed(f"{words}. {engine_memory(view)}", metrics)
    calls = top_calls(view.trace, tk.Kind.PREDICTION, *tk.SETUP_KINDS)
    at = known.before(tk.Intervals.from_rows(calls).ends)
    footprint = np.append(known.bytes, 0)[at]
    near = footprint >= options.near_share * limit
    shown = calls.where(near)
    during = f", during {tk.format_count(len(shown), 'call')}{of_models(shown)}" if near.any() else ""
    return view.finding(
        f"{words}{during}. {engine_memory(view)}",
        metrics,
        rows=shown,
        missed=float(near.mean()) if len(near) else 0.0,
        sizes=footprint[near],
    )


DETECTOR = tk.RecordingDetector(needs=("Core ML",), uses=("Activity Monitor",), options=Options, detect=detect)
