"""`concurrent-predictions`: too many predictions of a model are in flight at once."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.concurrency import ConcurrencySummary, summarize_concurrency


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
    count = len(view.predictions)
    if count <= options.limit:
        return view.not_applicable(
            f"Only {tk.format_count(count, 'prediction')}, so no more than {options.limit} can be in flight."
        )
    concurrency = summarize_concurrency(view.predictions, options.limit)
    if not concurrency.busy_ns:
        return view.unknown(
            f"None of {tk.format_count(count, 'prediction')} has a duration, so it is unknown how many overlap.",
            "Record again, and stop only after the predictions have ended.",
        )
    if concurrency.max_depth > options.limit and count < options.min_predictions:
        return view.unknown(
            f"Up to {concurrency.max_depth} in flight, but only {tk.format_count(count, 'prediction')}; "
            f"{options.min_predictions} needed.",
            tk.RECORD_LONGER,
        )
    slowdown, alone_ns, above_ns = None, concurrency.alone_median_ns, concurrency.above_median_ns
    enough = min(concurrency.alone_count, int(concurrency.is_above.sum())) >= options.min_compared
    if enough and alone_ns and above_ns is not None:
        slowdown = above_ns / alone_ns
    metrics = (
        tk.above("in-flight", "most in flight", concurrency.max_depth, "count", options.limit + 1),
        tk.above("above-limit", "time above the limit", concurrency.share_above, "share", options.busy_share),
        tk.above("slowdown", "slowdown above the limit", slowdown, "ratio", options.slowdown),
        tk.Metric("median-alone", "median alone", alone_ns, "ns"),
        tk.Metric("median-above", "median above the limit", above_ns, "ns"),
    )
    if concurrency.max_depth <= options.limit:
        return view.passed(f"At most {concurrency.max_depth} in flight.", metrics)
    if concurrency.share_above < options.busy_share:
        rarely = f"more than {options.limit} for only {tk.format_share(concurrency.share_above)} of busy time"
        return view.passed(f"At most {concurrency.max_depth} in flight; {rarely}.", metrics)
    if slowdown is not None and slowdown < options.slowdown:
        return view.passed(
            f"Up to {concurrency.max_depth} in flight, hardly slower than alone ({slowdown:.1f}x).", metrics
        )
    if slowdown is None:
        deep = summarize_concurrency(view.predictions, max(options.unsupported_depth - 1, options.limit))
        instances = view.predictions.instance
        # Several instances may well run on different devices, where depth alone shows nothing.
        if deep.share_above < options.busy_share or len(np.unique(instances.values[instances.known])) > 1:
            return view.unknown(
                f"Up to {concurrency.max_depth} in flight, but too few predictions ran alone to tell whether they slow "
                "each other down.",
                "For comparison, record a phase without overlapping predictions.",
            )
    return _finding(view, concurrency, slowdown, metrics)


def _finding(
    view: tk.ModelView, concurrency: ConcurrencySummary, slowdown: float | None, metrics: tuple[tk.Metric, ...]
) -> tk.Finding:
    """The finding with its cost: the part of the busy time that belongs to calls beyond the limit."""
    limit, share = concurrency.limit, tk.format_share(concurrency.share_above)
    slower = (
        "Too few ran alone to compare their latency with."
        if slowdown is None
        else f"Median latency rises from {view.time(concurrency.alone_median_ns or 0)} alone to "
        f"{view.time(concurrency.above_median_ns or 0)} with more than {limit} in flight ({slowdown:.1f}x)."
    )
    return view.finding(
        f"Up to {tk.format_count(concurrency.max_depth, 'prediction')} in flight (more than {limit} for "
        f"{share} of busy time). {slower}",
        metrics,
        rows=view.predictions.where(concurrency.is_above),
        cost=tk.Cost(
            concurrency.excess_ns,
            concurrency.excess_ns / max(concurrency.busy_ns, 1),
            f"Of the time with more than {limit} in flight, the part of those beyond the first {limit} (half of it "
            f"with {2 * limit} in flight), as a share of all time with predictions in flight.",
            of=f"the {view.time(concurrency.busy_ns)} with predictions in flight",
        ),
    )


DETECTOR = tk.Detector(
    needs=("Core ML",), origins=(tk.Origin.CALL_STACKS,), options=Options, causes=(tk.Cause.QUEUED_OWN,), detect=detect
)
