"""`slow-load`: a prediction waits for a load from the cache that takes a second or longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.cold_loads import ColdRule, cold_loads
from tracekit.detectors import (
    Detector,
    Metric,
    ModelView,
    Outcome,
    above,
    any_load,
    any_prediction,
    covered_ns,
    format_count,
    format_time,
    option,
    page_beside,
    rows_where,
)
from tracekit.detectors.shared.loads import again_and_again, loads_waited_for, perhaps_cold, perhaps_warmed_up
from tracekit.detectors.shared.options import max_delay_option, warm_up_pause_option

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_wait_ms: float = option(
        1_000.0,
        "ms",
        "Heuristic: cached loads in public recordings take 9 to 560 ms, and a wait of a second interrupts the user.",
    )
    soon_ms: float = max_delay_option()
    warm_up_pause_s: float = warm_up_pause_option()


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for long loads that did not specialize the model, and that a prediction waited for."""
    known, durations = cold_loads(view.loads, view.trace, ColdRule()), view.loads["duration_ns"].to_numpy()
    felt = ~known.cold & (durations >= options.min_wait_ms * 1e6)
    surely, warmed = loads_waited_for(view, rows_where(view.loads, felt), options.soon_ms, options.warm_up_pause_s)
    perhaps = felt.copy()
    felt[felt], perhaps[perhaps] = surely, warmed
    sure = rows_where(view.loads, felt & ~known.unknown)
    longest_ns = int(sure["duration_ns"].max()) if len(sure) else 0
    metrics = (
        above("long cached loads the app waited for", len(sure), "count", 1),
        above("longest such load", longest_ns, "ns", round(options.min_wait_ms * 1e6)),
        Metric("loads", len(view.loads), "count"),
    )
    if not felt.any() and perhaps.any():
        longest = format_time(int(durations[perhaps].max()))
        return perhaps_warmed_up(view, f"a prediction right after a load of {longest}")
    if not felt.any():
        loads, longest = format_count(len(durations), "load"), format_time(int(durations.max()))
        return view.passed(f"{loads}, the longest {longest}; no prediction waited for a long one.", metrics)
    if again_and_again(view):
        return view.passed("Its long loads are reloads, which another check reports.", metrics)
    if sure.empty:
        return perhaps_cold(view, "A prediction", int(durations[felt].max()))
    return _finding(view, sure, metrics)


def _finding(view: ModelView, rows: pd.DataFrame, metrics: tuple[Metric, ...]) -> Outcome:
    """The finding with its cost: the loads that were waited for."""
    cost_ns = covered_ns(rows)
    if len(rows) == 1:
        summary = f"A prediction waited {format_time(cost_ns)} for a load from the cache."
    else:
        longest = format_time(int(rows["duration_ns"].max()))
        summary = (
            f"Predictions waited for {format_count(len(rows), 'load')} from the cache ({format_time(cost_ns)} in "
            f"total, longest {longest})."
        )
    return view.finding(
        summary=summary,
        metrics=metrics,
        cost=view.cost(
            cost_ns,
            "Time covered by the long cached loads that a prediction waited for",
            "The load is needed, but can happen before anyone waits.",
            once=True,
        ),
        rows=rows,
    )


DETECTOR = Detector(
    id="slow-load",
    page=page_beside(__file__),
    needs=("Core ML",),
    uses=("Neural Engine",),
    options=Options,
    asks=(any_load("how long it took and whether a prediction waited for it"), any_prediction),
    detect=detect,
)
