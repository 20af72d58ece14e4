"""`thermal-throttling`: predictions are slower while the device is hot."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN
from tracekit.analysis.ledger.patterns import MIN_IN_STATE, Grows
from tracekit.detectors.shared.comparable_predictions import (
    MIN_CALLS,
    Calls,
    calls_of_same_concurrency,
    judge_by_load_kind,
    longer_than_usual,
)
from tracekit.detectors.shared.latency_causes import read_growth, read_heat
from tracekit.detectors.shared.options import HEAT_RATIO


class Options(tk.Options):
    slowdown: float = tk.option(
        HEAT_RATIO,
        "times the median while cooler",
        "Heuristic: below a fifth, other work of the system can explain a difference as well.",
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares predictions in the hottest thermal state with those in the coolest."""
    thermal = view.trace.table(tk.Thermal)
    if thermal is not None and thermal.state.is_any(THERMAL_STATES[0]).all():
        return view.passed("The device stayed cool: the thermal state was always Nominal.")
    return judge_by_load_kind(view, calls_of_same_concurrency(view), lambda calls: _judge(view, calls, options))


def _judge(view: tk.ModelView, calls: Calls, options: Options) -> tk.Outcome:
    if len(calls.rows) < MIN_CALLS:
        return calls.too_few(view, MIN_CALLS)
    comparison = read_heat(view, calls)
    if comparison is None or comparison.coolest is None:
        return view.unknown(
            f"The thermal state is known for fewer than {MIN_IN_STATE} comparable predictions.",
            "Record with the Thermal State instrument from start to end.",
        )
    if comparison.ratio is None:
        return view.unknown(
            f"Nearly all comparable predictions ran in thermal state {THERMAL_STATES[comparison.coolest]}, so there is "
            "nothing to compare them with.",
            "Start recording on a cool device and continue until it is warm.",
        )
    coolest, hottest = THERMAL_STATES[comparison.coolest], THERMAL_STATES[comparison.hottest or 0]
    metrics = (
        tk.above("ratio", "hottest to coolest state", comparison.ratio, "ratio", options.slowdown),
        tk.Metric(f"median-{coolest.lower()}", f"median in state {coolest}", comparison.cool_median_ns, "ns"),
        tk.Metric(f"median-{hottest.lower()}", f"median in state {hottest}", comparison.hot_median_ns, "ns"),
    )
    if read_growth(view, calls.where(comparison.is_cool)).cause is Grows.SEQUENCE:
        return view.passed("Latency grows within each sequence, in the coolest state too.", metrics)
    if not tk.reached(metrics, "ratio"):
        words = f"Predictions take {comparison.ratio:.2f}x as long in thermal state {hottest}"
        return view.passed(f"{words} as in {coolest}.", metrics)
    usual = comparison.cool_median_ns or 0.0
    hot = (comparison.state != UNKNOWN) & ~comparison.is_cool & (calls.durations > usual)
    # How many ran in one state is no number of intervals: some there are as fast, and there may be a state between.
    summary = (
        f"In thermal state {hottest}, predictions took {view.time(comparison.hot_median_ns or 0)} (median), "
        f"{comparison.ratio:.1f}x the {view.time(usual)} in {coolest}."
    )
    words = f"Time predictions in hotter states took beyond the median in {coolest}"
    return longer_than_usual(view, calls, hot, usual, (summary, metrics), words, causes=DETECTOR.causes)


DETECTOR = tk.Detector(
    needs=("Core ML", "Thermal State"),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=Options,
    causes=(tk.Cause.HEAT,),
    detect=detect,
)
