"""`slow-after-idle`: the first prediction after each long pause is far slower than those that follow."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger.account import keeps_frame_rate
from tracekit.analysis.ledger.layers import UNITS
from tracekit.analysis.ledger.patterns import LEAST_SHARE, PAUSE_NS
from tracekit.analysis.quantities import median_of
from tracekit.analysis.throughput import after_pause
from tracekit.detectors.shared.stands_out import Alike, judge_alike


class Options(tk.Options):
    ratio: float = tk.option(
        2.0, "times a usual prediction", "Heuristic: twice as long is beyond the usual spread of latencies."
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    min_gaps: int = tk.option(4, "gaps", "Heuristic: after fewer gaps, slow predictions can be chance.")


def _no_pause(view: tk.ModelView, _options: Options) -> tk.Outcome | None:
    times = tk.Intervals.from_rows(view.predictions)
    usual_gap_ns = median_of(times.starts[1:] - times.ends[:-1]) if len(times) > 1 else 0
    if usual_gap_ns >= PAUSE_NS:
        return view.unknown(
            f"A gap of {tk.format_time(float(usual_gap_ns))} is usual for this model: too few others to compare.",
            "Record several predictions in a row, with gaps between such rows.",
        )
    if after_pause(view.predictions, PAUSE_NS).any():
        return None
    return view.not_applicable("No gap is 1 s or longer and more than five times the usual interval.")


@judge_alike((tk.Cause.PAUSE,))
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Compares the first predictions after long pauses with all others."""
    view, usual = calls.view, calls.usual.ns
    paused = np.isin(calls.calls.id, view.predictions.id[after_pause(view.predictions, PAUSE_NS)])
    after, others = calls.warm & paused, calls.warm & ~paused
    pauses = tk.format_count(int(after.sum()), "prediction")
    if after.sum() < options.min_gaps:
        return view.unknown(
            f"{pauses} after a gap of 1 s or more, {options.min_gaps} needed.",
            "Record several uses of the feature, with gaps between them.",
        )
    limit = max(options.ratio * usual, usual + options.min_extra_ms * 1e6)
    slow, long = after & (usual + calls.extra_ns >= limit), calls.own_ns >= limit
    share, elsewhere, typical = (
        float(each) for each in (long[after].mean(), long[others].mean(), median_of(calls.own_ns[after]))
    )
    metrics = (
        tk.above("slow-after-gaps", "slow predictions after gaps", share, "share", LEAST_SHARE),
        tk.Metric("slow-elsewhere", "slow predictions elsewhere", elsewhere, "share"),
        tk.Metric("median-after-gaps", "median after gaps", typical, "ns"),
        tk.Metric("median-others", "usual prediction", usual, "ns"),
    )
    words = f"take {view.time(typical)} (median) instead of {view.time(usual)}"
    shares = f"{tk.format_share(share)} of them are slow, {tk.format_share(elsewhere)} of the others"
    if not tk.reached(metrics, "slow-after-gaps") or elsewhere > _RARE * share:
        return view.passed(f"{pauses} after a gap {words}; {shares}.", metrics)
    is_known = bool(calls.usual.layers_ns[UNITS].any())
    is_known = is_known or keeps_frame_rate(view.trace, int(view.predictions.model.codes[0]), view.predictions)
    if slow.sum() < LEAST_SHARE * after.sum() or not is_known:
        return view.unknown(
            f"The first predictions after a gap {words}, but they may have more work: a prompt or a larger input would "
            "look the same.",
            "Record the feature with the same input each time, at a steady rate, with the Core ML template.",
        )
    summary = f"After a gap of 1 s or more, {pauses} {words}. {shares[0].upper()}{shares[1:]}."
    return calls.finding(
        slow, (summary, metrics), "Time by which slow predictions are longer because they follow a gap"
    )


_RARE = 0.1
"""Part of the share of slow predictions after pauses that the share elsewhere may be."""

DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU"),
    options=Options,
    asks=(tk.any_prediction, _no_pause),
    causes=(tk.Cause.PAUSE,),
    detect=detect,
)
