"""`full-context-window`: the context window of a language model is nearly full, or was exceeded."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.requests import NO_ERROR, USES, Asked, judge_requests

ON_DEVICE = 4_096
"""Tokens of a session of Foundation Models on device, input and output together (Apple TN3193)."""


class Options(tk.Options):
    share: float = tk.option(
        0.8, "share of the window", "Heuristic: an answer and its next question take what is left."
    )
    window_tokens: int = tk.option(
        0,
        "tokens",
        "Only you know your model's window. 0: what an error names, or 4,096 for Foundation Models on device.",
        minimum=0,
    )


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Compares the longest contexts with the size of the window."""
    view, context, errors = asked.view, asked.rows.context_tokens.or_nan(), asked.rows.error
    exceeded = errors.is_any("context window")
    longest = None if np.isnan(context).all() else int(np.nanmax(context))
    named = asked.rows.window_tokens
    window: int | None = options.window_tokens
    if not window and named.known.any():
        window = int(named.values[named.known].max())
    elif not window:
        # What did fit was not too small.
        window = ON_DEVICE if asked.recorded and (longest or 0) <= ON_DEVICE else None
    full = exceeded | ((context >= options.share * window) & (context > 0) if window else False)
    metrics = (
        tk.above("share", "longest context", longest / window if longest and window else None, "share", options.share),
        tk.above("exceeded", "requests beyond the window", int(exceeded.sum()), "count", 1),
        tk.Metric("longest", "longest context, tokens", longest, "count"),
        tk.Metric("window", "context window, tokens", window, "count"),
    )
    of = tk.format_count(len(full), "request")
    if full.any():
        parts = []
        if exceeded.any():
            parts.append(f"{int(exceeded.sum()):,} of {of} exceeded the context window")
        near = int((full & ~exceeded).sum())
        if near and longest and window:
            share = tk.format_share(longest / window)
            parts.append(
                f"{near:,} of {of} filled up to {share} of a window of {window:,} tokens{_turns(asked, window)}"
            )
        return asked.finding(f"{'; '.join(parts)}.", metrics, full, missed=float(full.mean()))
    # What has no end yet, or ended in another error, has no answer to count.
    other = errors.known & ~errors.is_any(NO_ERROR)
    unknown = int((np.isnan(context) & ~other & asked.rows.duration_ns.known).sum())
    if longest is None or unknown:
        return asked.unknown(f"The recording does not say how many tokens {unknown or len(full):,} of {of} held.")
    if not window:
        return view.unknown(
            f"The longest context has {longest:,} tokens; the size of the window is not recorded.",
            "Name it with --set full-context-window.window_tokens=8192, or what your model has.",
        )
    return view.passed(f"The longest context fills {tk.format_share(longest / window)} of {window:,} tokens.", metrics)


def _turns(asked: Asked, window: int) -> str:
    """How many more requests fit into the fullest session, as a clause; empty where its growth is not known."""
    context, session = asked.rows.context_tokens, asked.rows.session
    at = int(np.nanargmax(context.or_nan()))
    same = session.known & (session.values == session.item(at))
    steps = np.diff(context.values[same & context.known])
    if not len(steps) or median_of(steps) <= 0:
        return ""
    left = int((window - context.values[at]) // median_of(steps))
    fits = tk.format_count(left, "more request fits", "more requests fit") if left else "no further request fits"
    return f", and {fits} at this pace" if left >= 0 else ""


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
