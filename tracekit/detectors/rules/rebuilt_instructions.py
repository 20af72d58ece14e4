"""`rebuilt-instructions`: the instructions of a language model are built again for each request."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.requests import USES, Asked, is_open, judge_requests


class Options(tk.Options):
    share: float = tk.option(
        0.8, "share of requests", "Heuristic: at nearly each request, so that no change of the task explains it."
    )
    min_requests: int = tk.option(3, "requests", "Heuristic: once or twice, a new chat may have begun.")
    cached_share: float = tk.option(
        0.2, "share of the tokens", "Heuristic: a cache that still holds the instructions holds as much."
    )


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Compares the instructions of each request with those of the request before it in its session; of the first one
    in a session, with those of the last request."""
    view = asked.view
    rows = asked.rows
    columns = (rows.instructions_region, rows.instructions, rows.instructions_form, rows.session)
    region, text, form, session = (cells.or_nan() for cells in columns)
    if np.isnan(region).all():
        return asked.unknown("The recording does not show instructions.")
    of = len(region) - 1
    if of < options.min_requests:
        return view.unknown(
            f"{tk.format_count(of + 1, 'request')}, {options.min_requests + 1} needed.", "Record more requests."
        )
    before = np.arange(-1, of)
    for at in asked.sessions:
        if rows.session.known[at[0]]:
            before[at[1:]] = at[:-1]
    before = before[1:]
    known = ~np.isnan(region)
    both = known[1:] & known[before]
    new = both & (region[1:] != region[before])
    unknown = ~both | (new & (np.isnan(form[1:]) | np.isnan(form[before])))
    again = new & ~unknown & (form[1:] == form[before])
    # What the cache still holds was built in vain and cost nothing.
    cached = rows.cached_tokens.or_nan() >= options.cached_share * rows.consumed_tokens.or_nan()
    again &= ~cached[1:]
    count, judged = int(again.sum()), int((~unknown).sum())
    share = count / judged if judged else None
    digits, sessions = (int((again & (of[1:] != of[before])).sum()) for of in (text, session))
    metrics = (
        tk.above("share", "requests with instructions built again", share, "share", options.share),
        tk.above("rebuilt", "such requests", count, "count", options.min_requests),
        tk.Metric("digits", "of them with other digits", digits, "count"),
        tk.Metric("sessions", "of them in a session of their own", sessions, "count"),
    )
    words = f"{count:,} of {tk.format_count(judged, 'request')} behind another have the same instructions, built again"
    if all(metric.reached for metric in metrics[:2]):
        how = []
        if digits:
            how.append(f"{digits:,} with other digits in them, such as a date or a counter")
        if sessions:
            how.append(f"{sessions:,} in a new session")
        tail = f": {', '.join(how)}" if how else ""
        return asked.finding(f"{words}{tail}.", metrics, np.append(False, again), missed=count / judged)
    if is_open(count, int(unknown.sum()), judged, options.share, options.min_requests):
        return asked.unknown(f"{words}; of {int(unknown.sum()):,} more it is not recorded.")
    return view.passed(f"{words}.", metrics)


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
