"""`work-outside-model`: tokenizer, sampling and cache take a large part of requests to a language model."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.requests import OUTSIDE_PHASES, RECORD_MORE, USES, Asked, judge_requests


class Options(tk.Options):
    share: float = tk.option(
        0.25, "share of the requests' time", "Heuristic: a quarter is worth moving off the path of each token."
    )
    min_time_ms: float = tk.option(500.0, "ms", "Heuristic: in less time of requests, one slow step would decide.")


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Adds up what requests spend on steps in which the model does not run."""
    view, outside = asked.view, asked.rows.outside_ns.or_nan()
    known = ~np.isnan(outside)
    if not known.any():
        return view.unknown(
            "The recording does not show what requests did outside the model.",
            "Add the Time Profiler instrument and read `tracekit stacks`, or log the steps as signposts.",
        )
    elapsed, spent = int(asked.elapsed_ns[known].sum()), float(outside[known].sum())
    share = spent / max(elapsed, 1)
    metrics = (
        tk.above("outside", "time outside the model", share, "share", options.share),
        tk.above("elapsed", "time of requests", elapsed, "ns", round(options.min_time_ms * 1e6)),
    )
    if not metrics[1].reached:
        needed = tk.format_time(options.min_time_ms * 1e6)
        return view.unknown(f"Requests took {tk.format_time(elapsed)} in all, {needed} needed.", RECORD_MORE)
    words = (
        f"{tk.format_count(int(known.sum()), 'request')} spent {tk.format_time(spent)} of {tk.format_time(elapsed)} "
        f"({tk.format_share(share)}) outside the model"
    )
    if not metrics[0].reached:
        return view.passed(f"{words}.", metrics)
    rows = asked.rows.where(known)
    columns = {"the tokenizer": rows.tokenizer_ns, "sampling": rows.sampling_ns, "the cache": rows.cache_ns}
    parts = {name: float(cells.values.sum()) for name, cells in columns.items()}
    most = max(parts, key=lambda name: parts[name])
    model = asked.times("forward pass", of=known).union()
    steps = asked.times(*OUTSIDE_PHASES, of=known)
    alone = _without(steps.union(), model)
    return asked.finding(
        f"{words}, most of it in {most} ({tk.format_time(parts[most])}).",
        metrics,
        known & (outside > 0),
        cost=(round(spent), "Time in tokenizer, sampling and cache while no forward pass runs", alone),
    )


def _without(times: tk.Intervals, others: tk.Intervals) -> tk.Intervals:
    """The parts of merged times that others do not cover."""
    edges = np.concatenate(([np.iinfo(np.int64).min], np.column_stack((others.starts, others.ends)).ravel()))
    free = tk.Intervals(edges[::2], np.append(edges[1::2], np.iinfo(np.int64).max))
    return times.intersection(free)


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
