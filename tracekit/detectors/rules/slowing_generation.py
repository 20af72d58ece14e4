"""`slowing-generation`: tokens become slower with context than attention explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.device_states import thermal_states
from tracekit.analysis.latency_growth import context_growth
from tracekit.analysis.ledger.patterns import HEATING_NS
from tracekit.analysis.requests import token_intervals
from tracekit.detectors.shared.requests import RECORD_MORE, USES, Asked, judge_requests, times_of


class Options(tk.Options):
    excess: float = tk.option(
        0.15,
        "share of the time expected",
        "Heuristic: half of the context later, users read such a slowdown as a stall.",
        maximum=1_000_000_000,
    )
    min_tokens: int = tk.option(80, "tokens", "Heuristic: fewer do not show a curve.")
    min_range: int = tk.option(
        128, "tokens of context", "Heuristic: shorter contexts barely differ in their attention."
    )


_SAME_WAY = 0.8
"""From this correlation of context with time on, what heats up with time looks like context (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """Tokens of known context; or, where single ones are not recorded, those of each request as one."""

    row: tk.IntArray
    """Place of the request of each."""
    context: tk.FloatArray
    times: tk.Intervals
    count: tk.FloatArray
    """How many tokens it stands for."""

    @property
    def each_ns(self) -> tk.FloatArray:
        return np.asarray(self.times.durations / self.count, np.float64)


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Compares the time of tokens in long contexts with the line that short ones follow."""
    view, tokens = asked.view, _tokens(asked)
    if len(tokens.context) < options.min_tokens:
        what = "requests" if asked.recorded else "tokens"
        return view.unknown(
            f"{len(tokens.context):,} {what} of known time and context, {options.min_tokens:,} needed.", RECORD_MORE
        )
    low, high = tokens.context.min(), tokens.context.max()
    where = f"contexts of {low:,.0f} to {high:,.0f} tokens"
    growth = context_growth(tokens.context, tokens.each_ns)
    is_short = high - low < options.min_range
    if is_short or growth is None:
        why = f"a range of {options.min_range:,} needed" if is_short else "with gaps between them"
        return view.unknown(f"Only {where}, {why}.", "Record longer answers, or a chat of several requests.")
    metrics = (
        tk.above("growth", "time in the upper half to the line", 1 + growth.excess, "ratio", 1 + options.excess),
        tk.Metric("lower-bound", "lower bound of that", 1 + growth.excess - growth.excess_error, "ratio"),
        tk.Metric("time-per-token", "time for each token of context", growth.slope_ns, "ns"),
        tk.Metric("tokens", "tokens", len(tokens.context), "count"),
    )
    line = (
        f"{tk.format_time(growth.slope_ns)} (±{tk.format_time(growth.slope_error_ns)}) more for each token of context"
        if growth.slope_ns > growth.slope_error_ns
        else "no more with context"
    )
    if not (growth.curved and metrics[0].reached and growth.excess > growth.excess_error):
        return view.passed(f"In {where}, tokens take {line}, and not more than that in the upper half.", metrics)
    if (unclear := _heat(view, tokens)) is not None:
        return unclear
    beyond = (tokens.each_ns - growth.line(tokens.context)) * tokens.count
    late = (tokens.context >= growth.middle) & (beyond > 0)
    chosen = np.isin(np.arange(len(asked.rows)), tokens.row[late])
    more = f"{tk.format_share(growth.excess)} (±{tk.format_share(growth.excess_error)}) longer than that"
    basis = "Time of tokens in the upper half of the contexts beyond the line that those in the lower half follow"
    return asked.finding(
        f"In the lower half of {where}, tokens take {line}; in the upper half {more}, and more with each.",
        metrics,
        chosen,
        cost=(round(float(beyond[late].sum())), basis, tokens.times.where(late)),
    )


def _tokens(asked: Asked) -> _Tokens:
    rows, between = asked.rows, token_intervals(asked.view.trace)
    consumed, alone = rows.consumed_tokens.or_nan(), ~rows.overlapping
    at = tk.places_of(rows.request, between.request)
    known = (at >= 0) & alone[at] & ~np.isnan(consumed[at]) & (between.duration_ns > 0)
    if known.any():
        at, between = at[known], between.where(known)
        return _Tokens(at, consumed[at] + between.token, tk.Intervals.from_rows(between), np.ones(len(at)))
    generated, time_ns = rows.generated_tokens.or_nan(), rows.generation_ns.or_nan()
    of = alone & (rows.inferences.filled() == 1) & (generated > 0) & (time_ns > 0) & ~np.isnan(consumed)
    phases = np.flatnonzero(asked.phases("generation", of=of))
    at, first = np.unique(
        tk.places_of(rows.request, asked.view.trace.phases.request.filled()[phases]), return_index=True
    )
    times = times_of(asked.view, phases[first])
    return _Tokens(at, consumed[at] + generated[at] / 2, times, generated[at])


def _heat(view: tk.RecordingView, tokens: _Tokens) -> tk.Outcome | None:
    """The answer where the device may have become hot meanwhile; None where it did not."""
    states = thermal_states(view.trace, tokens.times.starts)
    if states is not None:
        if (states >= 0).all() and not np.ptp(states):
            return None
        reason = "Tokens become slower with context, and the thermal state changed meanwhile."
        return view.unknown(reason, "Record on a cool device.")
    quick = int(tokens.times.ends.max() - tokens.times.starts.min()) < HEATING_NS
    if quick or np.corrcoef(tokens.context, tokens.times.starts)[0, 1] < _SAME_WAY:
        return None
    return view.unknown(
        "Tokens become slower with context, so slowly that heat could be the cause.",
        "Add the Thermal State instrument, and ask again with a short context at the end.",
    )


DETECTOR = tk.RecordingDetector(uses=(*USES, "Thermal State"), options=Options, detect=detect)
