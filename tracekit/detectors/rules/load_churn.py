"""`load-churn`: a model is released and loaded again while it is still in use."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.loads import for_each_prediction, reload_finding, reloads
from tracekit.detectors.shared.options import ChurnOptions


def detect(view: tk.ModelView, options: ChurnOptions) -> tk.Outcome:
    """Looks for a model that is let go and loaded again, with several calls in between."""
    if len(view.loads) < 2:
        return view.passed(f"{tk.format_count(len(view.loads), 'load')} during the recording.")
    reloaded = reloads(view, round(options.idle_s * 1e9))
    rows, share = reloaded.rows, reloaded.share
    needed = max(options.min_loads - 1, 1)
    metrics = (
        # One reload fewer than loads: the first load of the recording is none.
        tk.above("reloads", "reloads after use", len(rows), "count", needed),
        tk.above("time-share", "time spent on reloads", share, "share", options.load_share),
        tk.Metric("loads", "loads", len(view.loads), "count"),
        tk.Metric("mean-reload", "mean reload", float(rows.duration_ns.mean()) if len(rows) else None, "ns"),
    )
    loads = tk.format_count(len(view.loads), "load")
    if not len(rows):
        return view.passed(f"{loads}, none of them a reload shortly after use.", metrics)
    if share < options.load_share:
        words = f"{loads}, {len(rows):,} of them reloads after use ({tk.format_share(share)} of the model's time)."
        return view.passed(words, metrics)
    if for_each_prediction(view):
        return view.not_applicable("Reloaded before every prediction: see reload-before-predict.")
    if len(rows) < needed:
        times = "once" if len(rows) == 1 else f"{len(rows)} times"
        return view.unknown(f"Reloaded {times} after use, not often enough to be a pattern.", tk.RECORD_LONGER)
    if reloaded.in_turns_share >= options.in_turns_share:
        return view.unknown(
            f"Reloaded {len(rows):,} times after use, alternating with other models; the recording does not show "
            "whether that is intended or memory is short.",
            "Add the Allocations or VM Tracker instrument and check whether memory is short when a model is released.",
        )
    summary = (
        f"Released and reloaded {len(rows):,} times after use: {view.time(tk.covered_ns(rows))} loading, "
        f"{tk.format_share(share)} of the model's time."
    )
    return reload_finding(view, summary, metrics, rows)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    joins=True,
    uses=("Call Stacks",),
    options=ChurnOptions,
    detect=detect,
)
