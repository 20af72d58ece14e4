"""How each model's predictions follow each other, and how their latency runs, in words for all readable formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tracekit.analysis.latency import LatencyTrend
from tracekit.analysis.models import ModelSummary
from tracekit.analysis.throughput import Throughput
from tracekit.report import formatting
from tracekit.units import format_rate, format_share, format_time

TITLE = "Predictions over time"

SLOWER = 1.2
"""Ratio of latencies from which on a difference is put in words."""

TREND = 0.9
"""Rank correlation from which on latencies grow or fall with their order: one step alone reaches 0.87 at most."""

SHIFTS = 3
"""Most shifts that are named one by one."""

_BARS = "▁▂▃▄▅▆▇█"

NOTE = (
    "gap: no prediction of this model in flight. Gaps longer than 5x the usual interval separate bursts and are not "
    "counted."
)
"""Explains what is counted."""


def bars(values: Sequence[float]) -> str:
    """Values as a row of bars, the largest of them at full height; 0 is a dot."""
    top = max(values, default=0)
    heights = [int(value / top * len(_BARS) - 1e-9) if top else 0 for value in values]
    return "".join(_BARS[height] if value else "·" for height, value in zip(heights, values, strict=True))


def trend(model: ModelSummary) -> str:
    """What the latency does: first calls, then the plainest of trend, shifts and levels; empty where too few tell."""
    parts = []
    warm, cold = (model.latency.warm, model.latency.cold) if model.latency else (None, None)
    if warm and cold and cold.p50_ns >= SLOWER * warm.p50_ns:
        first, then = (format_time(statistics.p50_ns, model.resolution_ns) for statistics in (cold, warm))
        parts.append(f"first after a load {first}, then {then} (medians)")
    if model.latency_trend is not None:
        parts.append(_trend_sentence(model.latency_trend, model.resolution_ns))
    return "; ".join(parts)


def _trend_sentence(latency_trend: LatencyTrend, resolution_ns: int) -> str:
    drift, correlation = latency_trend.trend.last_to_first_third, latency_trend.trend.correlation
    apart = drift is not None and (drift >= SLOWER or drift <= 1 / SLOWER)
    if drift is not None and apart and correlation is not None and abs(correlation) >= TREND:
        return f"latency {'grows' if drift > 1 else 'falls'}: the last third takes {drift:.1f}x as long as the first"
    if len(latency_trend.levels) > 1:
        steps = [
            f"{format_time(level.median_ns, resolution_ns)} at {formatting.moment(level.start_ns)}"
            for level in latency_trend.levels[1 : 1 + SHIFTS]
        ]
        more = len(latency_trend.levels) - 1 - len(steps)
        first = format_time(latency_trend.levels[0].median_ns, resolution_ns)
        return f"latency shifts from {first} to {', to '.join(steps)}{f' and {more} more' if more else ''} (medians)"
    if len(latency_trend.modes) > 1:
        levels = [
            f"{format_time(mode.median_ns, resolution_ns)} ({format_share(mode.share)})" for mode in latency_trend.modes
        ]
        kind = "bimodal latency" if len(levels) == 2 else f"latency has {len(levels)} modes"
        return f"{kind}: {formatting.word_list(levels)}"
    return "stable latency"


def _share(part: float | None, whole: float) -> str:
    return formatting.quantity(part / whole if part is not None and whole else None, "share")


def numbers(model: ModelSummary, pace: Throughput) -> dict[str, str]:
    """How the predictions of a model follow each other, at its pace: what the cell of each title shows."""
    time, flight = partial(formatting.duration, resolution_ns=model.resolution_ns), model.in_flight
    return {
        "predictions/s": formatting.ABSENT if pace.per_second is None else format_rate(pace.per_second, ""),
        "interval": time(pace.interval_ns),
        "steady": f"{pace.steady_rate.fps} fps" if pace.steady_rate else formatting.ABSENT,
        "bursts": formatting.count(pace.bursts),
        "most in\nflight": formatting.count(flight.max if flight else None),
        "mean in\nflight": formatting.quantity(round(flight.mean, 1) if flight else None, "ratio"),
        "in flight over time": formatting.ABSENT if flight is None else bars(flight.slices) if flight.max > 1 else "",
        "gap\nmedian": time(pace.gaps.p50_ns if pace.gaps else None),
        "gap\np95": time(pace.gaps.p95_ns if pace.gaps else None),
        "gaps, %\nof time": _share(pace.gap_ns, pace.span_ns),
        "units idle,\n% of gaps": _share(pace.device_idle_ns, pace.gap_ns),
    }
