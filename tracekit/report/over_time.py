"""How each model's predictions follow each other, and how their latency runs, in words for all readable formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.quantities import MODEL
from tracekit.report import formatting
from tracekit.units import format_count, format_share, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tracekit.analysis.concurrency import InFlight
    from tracekit.analysis.latency import Latency, LatencyTrend
    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.throughput import Throughput

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

LATENCIES = ("first_p50_ns", "p50_ns", "p95_ns", "p99_ns")
"""Ids of the last cells of a row."""

COLUMNS = (
    "predictions/s",
    "interval",
    "bursts",
    "most in flight",
    "mean in flight",
    "in flight over time",
    "gap p50",
    "gap p95",
    "gaps, % of time",
    "units idle, % of gaps",
    *(MODEL[name].label for name in LATENCIES),
)
"""Titles of the cells of a row."""


QUANTITIES = ("predictions_per_second", *[""] * (len(COLUMNS) - len(LATENCIES) - 1), *LATENCIES)
"""Ids of what the cells show; empty for what is no number of a model as a whole."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One model whose predictions follow each other."""

    name: str
    cells: tuple[str, ...]
    """One for each of `COLUMNS`."""
    pace: str
    """How they follow each other, in words."""
    trend: str
    """How their latency runs; empty where they are too few to tell."""
    quantities: Mapping[str, float | None]
    """Numbers of the model, by id."""

    @property
    def sentence(self) -> str:
        """Pace and trend in one line."""
        return "; ".join(part for part in (self.pace, self.trend) if part)


def time_rows(models: Iterable[ModelSummary]) -> tuple[TimeRow, ...]:
    """One row for each model with predictions that follow each other."""
    return tuple(
        TimeRow(
            model.name,
            _cells(model.throughput, model.in_flight, model.quantities),
            _pace(model.throughput, model.in_flight),
            _trend_words(model.latency_trend, model.latency),
            model.quantities,
        )
        for model in models
        if model.throughput is not None and model.throughput.per_second is not None
    )


def bars(values: Sequence[float]) -> str:
    """Values as a row of bars, the largest of them at full height; 0 is a dot."""
    top = max(values, default=0)
    heights = [int(value / top * len(_BARS) - 1e-9) if top else 0 for value in values]
    return "".join(_BARS[height] if value else "·" for height, value in zip(heights, values, strict=True))


def _cells(
    throughput: Throughput, in_flight: InFlight | None, quantities: Mapping[str, float | None]
) -> tuple[str, ...]:
    gaps, idle, share = throughput.gaps, throughput.device_idle_ns, formatting.quantity
    return (
        _rate(throughput.per_second),
        formatting.duration(throughput.interval_ns),
        formatting.count(throughput.bursts),
        formatting.count(in_flight.max if in_flight else None),
        share(round(in_flight.mean, 1) if in_flight else None, "ratio"),
        bars(in_flight.slices) if in_flight and in_flight.max > 1 else "",
        formatting.duration(gaps.p50_ns if gaps else None),
        formatting.duration(gaps.p95_ns if gaps else None),
        share(throughput.gap_ns / throughput.span_ns if throughput.span_ns else None, "share"),
        share(idle / throughput.gap_ns if idle is not None and throughput.gap_ns else None, "share"),
        *(formatting.duration(quantities.get(name)) for name in LATENCIES),
    )


def _pace(throughput: Throughput, in_flight: InFlight | None) -> str:
    every = f"every {format_time(throughput.interval_ns)}" if throughput.interval_ns is not None else ""
    steady = f"steady {throughput.steady_rate.fps} fps" if throughput.steady_rate else ""
    words = f"{_rate(throughput.per_second)}/s"
    words += f" ({', '.join(filter(None, (every, steady)))})" if every or steady else ""
    words += f", in {format_count(throughput.bursts, 'burst')}" if throughput.bursts > 1 else ""
    if in_flight is not None:
        mean = formatting.quantity(round(in_flight.mean, 1), "ratio")
        words += ", never concurrent" if in_flight.max == 1 else f", up to {in_flight.max} in flight (mean {mean})"
    if throughput.gaps is not None and throughput.span_ns:
        share = format_share(throughput.gap_ns / throughput.span_ns)
        words += f"; gaps of {format_time(throughput.gaps.p50_ns)} ({share} of the time)"
    return words


def _trend_words(latency_trend: LatencyTrend | None, latency: Latency | None) -> str:
    """What the latency does: the first calls, then the plainest of trend, shifts and levels."""
    parts = []
    warm, cold = (latency.warm, latency.cold) if latency else (None, None)
    if warm and cold and cold.p50_ns >= SLOWER * warm.p50_ns:
        parts.append(f"first after a load {format_time(cold.p50_ns)}, then {format_time(warm.p50_ns)} (medians)")
    if latency_trend is not None:
        parts.append(_trend_sentence(latency_trend))
    return "; ".join(parts)


def _trend_sentence(latency_trend: LatencyTrend) -> str:
    drift, correlation = latency_trend.trend.last_to_first_third, latency_trend.trend.correlation
    if drift is not None and correlation is not None and abs(correlation) >= TREND and _apart(drift):
        return f"latency {'grows' if drift > 1 else 'falls'}: the last third takes {drift:.1f}x as long as the first"
    if len(latency_trend.levels) > 1:
        steps = [
            f"{format_time(level.median_ns)} at {formatting.moment(level.start_ns)}"
            for level in latency_trend.levels[1 : 1 + SHIFTS]
        ]
        more = len(latency_trend.levels) - 1 - len(steps)
        first = format_time(latency_trend.levels[0].median_ns)
        return f"latency shifts from {first} to {', to '.join(steps)}{f' and {more} more' if more else ''} (medians)"
    if len(latency_trend.modes) > 1:
        levels = [f"{format_time(mode.median_ns)} ({format_share(mode.share)})" for mode in latency_trend.modes]
        kind = "bimodal latency" if len(levels) == 2 else f"latency has {len(levels)} modes"
        return f"{kind}: {formatting.listed(levels)}"
    return "stable latency"


def _apart(ratio: float) -> bool:
    return ratio >= SLOWER or ratio <= 1 / SLOWER


def _rate(per_second: float | None) -> str:
    """A rate with at most three figures before a decimal is worth giving."""
    return (
        formatting.ABSENT if per_second is None else f"{per_second:,.0f}" if per_second >= 100 else f"{per_second:.1f}"
    )
