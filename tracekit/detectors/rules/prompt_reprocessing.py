"""`prompt-reprocessing`: a prompt is processed again although its beginning could come from the cache."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.requests import USES, Asked, is_open, judge_requests


class Options(tk.Options):
    cached_share: float = tk.option(
        0.2, "share of the tokens before", "Heuristic: a cache that works holds nearly all of them."
    )
    min_tokens: int = tk.option(200, "tokens", "Heuristic: a shorter beginning is processed in no time.")
    missed_share: float = tk.option(
        0.5, "share of requests", "Heuristic: less often, the cache may have been given up on purpose."
    )
    min_requests: int = tk.option(3, "requests", "Heuristic: once or twice, memory may have run low.")


_LEAST_CHAIN = 5
"""So many requests in a row that each hold a little more than all before them continue each other, also where the
recording does not say so: by chance lengths do not grow so (heuristic)."""
_ADDED = 0.5
"""What such a request adds at most, as a share of what was there (heuristic)."""
_EVEN = 0.1
"""Steps or ratios of lengths that vary by less are those of a benchmark (heuristic)."""


_RECORD_CHAT = "Record a longer chat."


class _Beginnings(NamedTuple):
    """What each request could take from the cache. Shape (requests,) each; NaN for what is not known."""

    tokens: tk.FloatArray
    """Tokens of the request before it, in all inferences."""
    continues: tk.FloatArray
    """1 where it goes on from the request before, 0 where it does not."""


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Looks for requests that continue the one before and reuse little of it."""
    view, cached = asked.view, asked.rows.cached_tokens.or_nan()
    before = _beginnings(asked, options)
    reused = cached / np.maximum(before.tokens, 1)
    long = before.tokens >= options.min_tokens
    goes_on = long & (before.continues == 1)
    missed = goes_on & (reused < options.cached_share)
    judged = goes_on & ~np.isnan(cached)
    maybe = (before.continues != 0) & (long | np.isnan(before.tokens)) & ~(reused >= options.cached_share)
    count, of, unknown = int(missed.sum()), int(judged.sum()), int((maybe & ~judged).sum())
    if not of and not unknown:
        return view.not_applicable("No request continues one of enough tokens before it.")
    metrics = (
        tk.above("share", "requests that process all again", count / of if of else None, "share", options.missed_share),
        tk.above("repeated", "such requests", count, "count", options.min_requests),
        tk.Metric("continuing", "requests that continue the one before", of, "count"),
    )
    words = f"{count:,} of {tk.format_count(of, 'request')} that continue the one before reused less than "
    words += f"{tk.format_share(options.cached_share)} of its tokens"
    if all(metric.reached for metric in metrics[:2]):
        return _finding(asked, before, missed, metrics, words)
    if not of or is_open(count, unknown, of, options.missed_share, options.min_requests):
        which, verb = tk.format_count(unknown, "request"), "continues" if unknown == 1 else "continue"
        why = f"Whether {which} {verb} the one before is not recorded."
        if np.isnan(cached).all():
            why = (
                f"The recording does not say how many tokens came from the cache ({which} may continue the one before)."
            )
        counted = not asked.recorded and not np.isnan(cached).all()
        return asked.unknown(why, _RECORD_CHAT if counted else "")
    if of < options.min_requests:
        return view.unknown(
            f"{tk.format_count(of, 'request')} with known counts {'continues' if of == 1 else 'continue'} the one "
            f"before, {options.min_requests} needed.",
            _RECORD_CHAT,
        )
    return view.passed(f"{words}.", metrics)


def _beginnings(asked: Asked, options: Options) -> _Beginnings:
    rows, consumed = asked.rows, asked.rows.consumed_tokens.or_nan()
    context = np.where(rows.context_tokens.known, rows.context_tokens.values, consumed)
    runs = np.maximum(rows.inferences.filled(1), 1)
    tokens, continues = np.full(len(rows), np.nan), np.zeros(len(rows))
    for place in asked.sessions:
        previous, now = place[:-1], place[1:]
        tokens[now] = np.minimum(context[previous] * runs[now], consumed[now])
        grown = consumed[now] / runs[now] - context[previous]
        unknown = np.isnan(grown)
        if asked.recorded and rows.session.known[place].all():
            # A session only ever appends to its transcript, unless the recording shows another one.
            said = rows.appended.take(now)
            continues[now] = np.where(said.known, said.values, np.where(unknown, np.nan, grown >= 0))
            continue
        chain = _chains(consumed[place], context[place])
        reused = rows.cached_tokens.or_nan()[now] >= options.cached_share * tokens[now]
        continues[now] = np.where(chain | reused, 1, np.where(unknown | (grown >= 0), np.nan, 0))
    return _Beginnings(tokens, continues)


def _chains(consumed: tk.FloatArray, context: tk.FloatArray) -> tk.BoolArray:
    """Shape (requests - 1,): whether a request is one of a row that continue each other, by their lengths."""
    grown = consumed[1:] - context[:-1]
    little = (grown >= 0) & (grown <= _ADDED * context[:-1])
    found = np.zeros(len(little), np.bool_)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], little.astype(np.int8), [0]))))
    for first, after in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        lengths = consumed[first : after + 1]
        steps = (np.diff(lengths), lengths[1:] / lengths[:-1] - 1)
        even = any(float(np.std(step)) < _EVEN * float(np.mean(step)) for step in steps)
        found[first:after] = after - first >= _LEAST_CHAIN and not even
    return found


def _finding(
    asked: Asked, before: _Beginnings, missed: tk.BoolArray, metrics: tuple[tk.Metric, ...], words: str
) -> tk.Outcome:
    prompt, processed = asked.rows.prompt_ns.or_nan(), asked.rows.processed_tokens.or_nan()
    again = np.maximum(before.tokens - asked.rows.cached_tokens.or_nan(), 0)
    known = missed & ~np.isnan(prompt) & (processed > 0)
    part = np.minimum(again[known] / processed[known], 1)
    tokens = int(again[missed].sum())
    summary = f"{words}: {tokens:,} tokens are processed again."
    share = int(missed.sum()) / int(metrics[2].value or 1)
    if not known.any():
        return asked.finding(summary, metrics, missed, missed=share)
    ns = prompt[known] * part
    return asked.finding(
        summary,
        metrics,
        missed,
        cost=(
            int(ns.sum()),
            "Time of prompts, by tokens, for those that the request before had processed",
            asked.times("prompt", of=known),
        ),
        longest_wait_ns=int(ns.max()),
    )


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect, caused_by=("rebuilt-instructions",))
