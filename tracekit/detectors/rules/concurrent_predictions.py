"""`concurrent-predictions`: too many predictions of a model are in flight at once."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.concurrency import depth_over_time
from tracekit.analysis.quantities import median

KNOWN_SHARE = 0.9
"""Part of the inferred predictions of a model that must be known to be one call each (heuristic)."""


class Options(tk.Options):
    limit: int = tk.option(
        2, "predictions in flight", "Core ML's own default limit of predictions in flight is reported to be 2."
    )
    busy_share: float = tk.option(0.10, "share of busy time", "Heuristic: short peaks above the limit are harmless.")
    slowdown: float = tk.option(
        1.5,
        "times the median latency alone",
        "Heuristic: if concurrent predictions are no slower, the device does run them in parallel.",
    )
    unsupported_depth: int = tk.option(
        4,
        "predictions in flight",
        "Heuristic: without predictions that ran alone, a slowdown cannot be measured. At twice Core ML's"
        " default limit, throughput no longer explains the depth.",
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")
    min_compared: int = tk.option(
        5, "predictions", "Heuristic: a median of fewer predictions, alone or concurrent, depends on chance."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions that pile up and slow each other down."""
    count, limit, calls = len(view.predictions), options.limit, tk.Intervals.from_rows(view.predictions)
    counted = tk.format_count(count, "prediction")
    if count <= limit:
        return view.not_applicable(f"Only {counted}, so no more than {limit} can be in flight.")
    in_flight = depth_over_time(view.predictions)
    spent_ns = in_flight.at_depth_ns
    most = len(spent_ns) - 1
    if not spent_ns[1:].any():
        return view.unknown(
            f"None of {counted} has a duration, so it is unknown how many overlap.",
            "Record again, and stop only after the predictions have ended.",
        )
    if most > limit and count < options.min_predictions:
        return view.unknown(
            f"Up to {most} in flight, but only {counted}; {options.min_predictions} needed.", tk.RECORD_LONGER
        )
    is_above = 2 * in_flight.above_ns(limit, calls) > calls.durations if most > limit else np.zeros(count, np.bool_)
    return _judge(view, spent_ns, is_above, options)


def _judge(view: tk.ModelView, spent_ns: tk.IntArray, is_above: tk.BoolArray, options: Options) -> tk.Outcome:
    """The answer where each number was in flight for so long, and some predictions mostly with more than the limit."""
    calls, limit = tk.Intervals.from_rows(view.predictions), options.limit
    most, busy_ns = len(spent_ns) - 1, int(spent_ns[1:].sum())
    alone, above = (calls.durations[chosen] for chosen in (calls.alone() & (calls.durations > 0), is_above))
    alone_ns, above_ns = median(alone), median(above)
    enough = min(len(alone), len(above)) >= options.min_compared
    slowdown = above_ns / alone_ns if enough and alone_ns and above_ns else None
    share = int(spent_ns[limit + 1 :].sum()) / busy_ns
    metrics = (
        tk.above("in-flight", "most in flight", most, "count", limit + 1),
        tk.above("above-limit", "time above the limit", share, "share", options.busy_share),
        tk.above("slowdown", "slowdown above the limit", slowdown, "ratio", options.slowdown),
        tk.Metric("median-alone", "median alone", alone_ns, "ns"),
        tk.Metric("median-above", "median above the limit", above_ns, "ns"),
    )
    if most <= limit:
        return view.passed(f"At most {most} in flight.", metrics)
    if share < options.busy_share:
        rarely = f"more than {limit} for only {tk.format_share(share)} of busy time"
        return view.passed(f"At most {most} in flight; {rarely}.", metrics)
    if slowdown is not None and slowdown < options.slowdown:
        return view.passed(f"Up to {most} in flight, hardly slower than alone ({slowdown:.1f}x).", metrics)
    deep_ns = int(spent_ns[max(options.unsupported_depth, limit + 1) :].sum())
    # Several instances may well run on different devices, where depth alone shows nothing.
    several = len({*view.predictions.instance.values[view.predictions.instance.known].tolist()}) > 1
    # Where calls are inferred, so may those of several loads, and what may be several calls hides those that ran alone.
    several |= view.trace.inferred and (len(view.loads) != 1 or view.predictions.single.mean() < KNOWN_SHARE)
    if slowdown is None and (deep_ns < options.busy_share * busy_ns or several):
        return view.unknown(
            f"Up to {most} in flight, but too few predictions ran alone to tell whether they slow each other down.",
            "For comparison, record a phase without overlapping predictions.",
        )
    slower = (
        "Too few ran alone to compare their latency with."
        if slowdown is None
        else f"Median latency rises from {view.time(alone_ns or 0)} alone to {view.time(above_ns or 0)} with more than "
        f"{limit} in flight ({slowdown:.1f}x)."
    )
    depth = np.arange(1, most + 1)
    excess_ns = round(float((spent_ns[1:] * np.maximum(depth - limit, 0) / depth).sum()))
    return view.finding(
        f"Up to {tk.format_count(most, 'prediction')} in flight (more than {limit} for {tk.format_share(share)} of "
        f"busy time). {slower}",
        metrics,
        rows=view.predictions.where(is_above),
        cost=tk.Cost(
            excess_ns,
            excess_ns / busy_ns,
            f"Of the time with more than {limit} in flight, the part of those beyond the first {limit} (half of it "
            f"with {2 * limit} in flight), as a share of all time with predictions in flight.",
            of=f"the {view.time(busy_ns)} with predictions in flight",
        ),
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    options=Options,
    causes=(tk.Cause.QUEUED_OWN,),
    detect=detect,
)
