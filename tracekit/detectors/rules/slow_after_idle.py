"""`slow-after-idle`: the first prediction after each long pause is far slower than those that follow."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger.account import keeps_frame_rate
from tracekit.analysis.ledger.patterns import KNOWN_SHARE
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors.shared.comparable_latency import due_to_work
from tracekit.detectors.shared.comparable_predictions import (
    Calls,
    calls_with_openings,
    judge_by_load_kind,
    longer_than_usual,
)
from tracekit.detectors.shared.latency_causes import busy_times


class Options(tk.Options):
    gap_s: float = tk.option(1.0, "s", "Heuristic: longer than the interval of any camera or timer.")
    ratio: float = tk.option(
        2.0,
        "times the median of the other predictions",
        "Heuristic: twice as long is beyond the usual spread of latencies.",
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    slow_share: float = tk.option(0.5, "share of gaps", "Heuristic: fewer slow predictions do not show a pattern.")
    min_gaps: int = tk.option(4, "gaps", "Heuristic: after fewer gaps, slow predictions can be chance.")
    min_predictions: int = tk.option(
        10, "other predictions", "Heuristic: a median of fewer predictions depends on chance."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares the first predictions after long pauses with all others."""
    times = tk.Intervals.from_rows(view.predictions)
    pauses = times.starts[1:] - np.maximum.accumulate(times.ends)[:-1]
    # A model that is called that seldom opens no burst with each call.
    opens, long = np.diff(burst_numbers(view.predictions)) != 0, pauses >= options.gap_s * 1e9
    after = np.append(False, opens & long)
    if not after.any():
        if not long.any() or len(times) - int(long.sum()) >= options.min_predictions:
            than = " that is longer than five times the usual interval" if long.any() else ""
            return view.not_applicable(f"There is no gap of {options.gap_s:g} s or more between predictions{than}.")
        return view.unknown(
            f"{int(long.sum()):,} of {len(times):,} predictions follow a gap of {options.gap_s:g} s or more "
            f"({tk.format_time(float(np.median(pauses[long])))} at the median), as is usual for this model: too few "
            "others to compare.",
            "Record several predictions in a row, with gaps between such rows.",
        )
    return judge_by_load_kind(view, calls_with_openings(view), lambda calls: _judge(view, calls, after, options))


def _judge(view: tk.ModelView, calls: Calls, after_pause: tk.BoolArray, options: Options) -> tk.Outcome:
    after = after_pause[tk.places_of(view.predictions.id, calls.rows.id)]
    pauses, others = int(after.sum()), int((~after).sum())
    if pauses < options.min_gaps or others < options.min_predictions:
        return view.unknown(
            f"{tk.format_count(pauses, 'prediction')} after a gap of {options.gap_s:g} s or more and {others:,} "
            f"others to compare; {options.min_gaps} and {options.min_predictions} needed.",
            "Record several uses of the feature, with gaps between them.",
        )
    durations = calls.durations
    usual = float(np.median(durations[~after]))
    limit = max(options.ratio * usual, usual + options.min_extra_ms * 1e6)
    slow = after & (durations >= limit)
    share = float(slow.sum()) / pauses
    elsewhere = float((durations[~after] >= limit).mean())
    median_after = float(np.median(durations[after]))
    metrics = (
        tk.above("slow-after-gaps", "slow predictions after gaps", share, "share", options.slow_share),
        tk.Metric("slow-elsewhere", "slow predictions elsewhere", elsewhere, "share"),
        tk.Metric("median-after-gaps", "median after gaps", median_after, "ns"),
        tk.Metric("median-others", "median of the other predictions", usual, "ns"),
    )
    if not tk.reached(metrics, "slow-after-gaps") or not slow.any():
        return view.passed(
            f"{tk.format_share(share)} of {tk.format_count(pauses, 'prediction')} after a gap are slow (median "
            f"{tk.format_time(median_after)}, others {tk.format_time(usual)}).",
            metrics,
        )
    if elsewhere > _RARE * share:
        return view.passed(f"{tk.format_share(elsewhere)} of predictions without a gap are as slow.", metrics)
    alike = keeps_frame_rate(view.trace, int(view.predictions.model.codes[0]), view.predictions)
    larger = np.zeros(len(durations)) if alike else _due_to_work(view, calls, ~after, usual)
    slow &= durations - larger >= limit
    if float(slow.sum()) / pauses < options.slow_share:
        return view.unknown(
            f"The first prediction after a gap takes {tk.format_time(median_after)} instead of {tk.format_time(usual)} "
            "(medians), but it may have more work: a prompt or a larger input would look the same.",
            "Record the feature with the same input each time, at a steady rate, with the Core ML template.",
        )
    summary = (
        f"After a gap of {options.gap_s:g} s or more, {tk.format_count(int(slow.sum()), 'prediction')} took "
        f"{tk.format_time(float(np.median(durations[slow])))} (median) instead of {tk.format_time(usual)}. "
        f"{tk.format_share(share)} of predictions after gaps are that slow, {tk.format_share(elsewhere)} of the others."
    )
    words = "Time slow predictions after gaps took beyond the median of the other predictions"
    return longer_than_usual(view, calls, slow, (usual + larger)[slow], (summary, metrics), words)


_RARE = 0.1
"""Part of the share of slow predictions after pauses that the share elsewhere may be."""


def _due_to_work(view: tk.ModelView, calls: Calls, others: tk.BoolArray, usual: float) -> tk.FloatArray:
    """Shape (calls,): time in ns by which larger work than that of the `others` makes each longer; inf if not known."""
    work = busy_times(view, calls).sum(axis=1)
    if min(float((work[chosen] > 0).mean()) for chosen in (~others, others)) < KNOWN_SHARE:
        return np.full(len(work), np.inf)
    return due_to_work(work, np.median(work[others]), usual)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU"),
    options=Options,
    causes=(tk.Cause.PAUSE,),
    detect=detect,
)
