"""`queued-requests`: requests to a language model wait for each other."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.requests import MODEL_PHASES, USES, Asked, judge_requests, times_of


class Options(tk.Options):
    min_wait_ms: float = tk.option(100.0, "ms", "From about 0.1 s on, users notice that they wait (Nielsen, 1993).")
    share: float = tk.option(
        0.2, "share of a request's time", "Heuristic: a shorter wait is lost in the time that the answer takes."
    )
    min_requests: int = tk.option(
        2, "requests", "Heuristic: one request that waits can be chance, such as a double tap."
    )


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Adds up, for each request, how long others had the model before it did."""
    view, rows = asked.view, asked.rows
    together = rows.overlapping
    if not together.any():
        return view.passed(f"None of {tk.format_count(len(rows), 'request')} ran while another did.")
    work = asked.phases(*MODEL_PHASES)
    owner, times = view.trace.phases.request.filled()[work], times_of(view, work)
    wait_ns, waits = np.zeros(len(rows), np.int64), []
    shown = ~rows.uncertain
    for at in np.flatnonzero(together & shown).tolist():
        own = owner == rows.request[at]
        if not own.any():
            shown[at] = False
            continue
        window = tk.Intervals(rows.start_ns[[at]], times.starts[own].min(keepdims=True))
        waited = times.where(~own).intersection(window)
        wait_ns[at] = waited.covered_ns
        waits.append((at, waited))
    unknown = int((together & ~shown).sum())
    queued = shown & (wait_ns >= options.min_wait_ms * 1e6) & (wait_ns > 0)
    queued &= wait_ns >= options.share * asked.elapsed_ns
    metrics = (
        tk.above("waiting", "requests that waited", int(queued.sum()), "count", options.min_requests),
        tk.Metric("longest-wait", "longest wait", int(wait_ns.max()), "ns"),
        tk.Metric("together", "requests that ran while another did", int(together.sum()), "count"),
    )
    words = f"{int(queued.sum()):,} of {tk.format_count(len(rows), 'request')} waited while another had the model"
    if not metrics[0].reached:
        if int(queued.sum()) + unknown >= options.min_requests:
            return view.unknown(
                f"{tk.format_count(unknown, 'request')} ran while another did, and the recording does not show which "
                "steps are whose.",
                "Ask from different threads or sessions, or one request at a time.",
            )
        return view.passed(f"{words}, at most {tk.format_time(int(wait_ns.max()))}.", metrics)
    taken = tk.Intervals.none().joined(*(each for at, each in waits if queued[at]))
    return asked.finding(
        f"{words}, up to {tk.format_time(int(wait_ns[queued].max()))} (median "
        f"{tk.format_time(median_of(wait_ns[queued]))}).",
        metrics,
        queued,
        cost=(taken.covered_ns, "Time from the start of a request to its own work in which another ran", taken),
        longest_wait_ns=int(wait_ns[queued].max()),
    )


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
