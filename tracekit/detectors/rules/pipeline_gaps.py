"""`pipeline-gaps`: the app's own work around the predictions takes longer than they do."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.idle_gaps import Activity, SequenceGaps, find_gaps, gap_finding, unclear
from tracekit.detectors.shared.options import GAP_SHARE
from tracekit.detectors.shared.partitions import why_no_gaps


class Options(tk.Options):
    gap_share: float = tk.option(
        GAP_SHARE,
        "share of the time",
        "From one half on, the app's own work takes longer than the predictions, so a faster model hardly helps.",
    )
    min_predictions: int = tk.option(
        10, "predictions in a row", "Heuristic: fewer predictions in a row are not a pipeline."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for work of the app that fills the time between calls."""
    gaps = find_gaps(view, options.min_predictions)
    if not isinstance(gaps, SequenceGaps):
        return gaps
    idle, share = gaps.idle, gaps.idle.share
    gap, interval, busy = (median_of(times) for times in (idle.idle_ns, idle.distance_ns, idle.busy_ns))
    metrics = (
        tk.above("idle", "time without Core ML work", share, "share", options.gap_share),
        tk.Metric("median-gap", "median gap per prediction", gap, "ns"),
        tk.Metric("median-interval", "median interval", interval, "ns"),
    )
    if not tk.reached(metrics, "idle") or not share:
        return view.passed(
            f"Core ML is idle {tk.format_share(share)} of the time between successive predictions.", metrics
        )
    if other := why_no_gaps(view, gaps):
        return view.passed(other, metrics)
    if gaps.activity is Activity.UNCLEAR:
        return unclear(view, gaps, f"Core ML is idle {tk.format_share(share)}")
    why = (
        "the gaps have similar lengths however long predictions take, so the app probably works in them; waiting for a "
        "camera, a timer or a sleep looks different"
    )
    why = gaps.seen if gaps.marked or gaps.by_stacks else why
    turns, models = len(idle.distance_ns) + 1, len({*idle.next_model[idle.next_model >= 0].tolist()})
    if models > 1:
        during = f"{turns:,} rounds of {models} models: in each, gaps of {view.time(gap)} and predictions"
    else:
        # Loads between them are busy time too.
        busy = median_of(view.durations)
        during = f"{tk.format_count(turns, 'successive prediction')}: gaps of {view.time(gap)} between predictions"
    summary = (
        f"Core ML is idle {tk.format_share(share)} of the time during {during} of {view.time(busy)} (medians); {why}."
    )
    return gap_finding(view, idle, summary, metrics, gaps.sites)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    uses=("Signposts", "Call Stacks"),
    options=Options,
    detect=detect,
)
