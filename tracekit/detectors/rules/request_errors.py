"""`request-errors`: requests to a language model end in errors or refusals."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.requests import NO_ERROR, USES, Asked, is_open, judge_requests

CANCELED = "canceled"
"""What the user or the app stopped is no error."""


class Options(tk.Options):
    share: float = tk.option(
        0.05, "share of requests", "Heuristic: users remember one answer in twenty that does not come."
    )
    min_errors: int = tk.option(1, "requests", "Heuristic: each error is an answer that somebody did not get.")


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Counts errors by kind."""
    view, kinds = asked.view, asked.rows.error
    known = kinds.known
    failed = known & ~kinds.is_any(NO_ERROR, CANCELED)
    count, of, unknown = int(failed.sum()), int(known.sum()), int((~known).sum())
    if not of:
        return asked.unknown("The recording does not show whether requests failed.")
    share = count / of
    metrics = (
        tk.above("failed-share", "requests that failed", share, "share", options.share),
        tk.above("failed", "errors", count, "count", options.min_errors),
    )
    named = zip((-kinds.take(failed).counts()).tolist(), kinds.values, strict=True)
    listed = ", ".join(f"{name} {-number:,}" for number, name in sorted(named) if number)
    words = f"{count:,} of {tk.format_count(of, 'request')} failed{listed and f': {listed}'}"
    if count and all(metric.reached for metric in metrics):
        return asked.finding(f"{words}.", metrics, failed, missed=share)
    if is_open(count, unknown, of, options.share, options.min_errors):
        return asked.unknown(f"{words}; of {unknown:,} more it is not recorded.")
    return view.passed(f"{words}.", metrics)


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect, caused_by=("full-context-window",))
