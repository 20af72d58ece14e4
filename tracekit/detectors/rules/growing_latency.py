"""`growing-latency`: each call of a sequence takes longer than the one before."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.latency_growth import GrowthRule
from tracekit.analysis.ledger.patterns import Grows, GrowthReading
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.comparable_predictions import (
    Calls,
    comparable_calls,
    judge_by_load_kind,
    longer_than_usual,
)
from tracekit.detectors.shared.latency_causes import read_growth


class Options(tk.Options):
    min_predictions: int = tk.option(20, "predictions", "Heuristic: in fewer predictions, a trend can be chance.")
    correlation: float = tk.option(
        0.8,
        "rank correlation",
        "Heuristic: nearly every prediction is then longer than those before it (1 means every one).",
        maximum=1,
    )
    ratio: float = tk.option(
        1.5, "last tenth to first tenth", "Heuristic: half as long again is more than noise and a warm device explain."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for sequences in which calls become longer and longer, and start afresh with the next one."""
    rule = GrowthRule(options.min_predictions, options.correlation, options.ratio)
    return judge_by_load_kind(view, comparable_calls(view), lambda calls: _judge(view, calls, rule))


def _judge(view: tk.ModelView, calls: Calls, rule: GrowthRule) -> tk.Outcome:
    reading = read_growth(view, calls, rule)
    growth = reading.growth
    if len(calls.rows) < rule.min_calls:
        return calls.too_few(view, rule.min_calls)
    if not len(growth.count):
        longest = int(np.bincount(calls.burst).max())
        found = "latency falls back sooner" if longest >= rule.min_calls else f"the longest run has {longest:,}"
        return view.unknown(
            f"Needs {rule.min_calls} predictions without a pause; {found}.",
            "Record a longer sequence of predictions, such as a long answer of a language model.",
        )
    known = growth.correlation[~np.isnan(growth.correlation)]
    correlation = float(np.median(known)) if len(known) else None
    metrics = (
        tk.Metric("sequences", "sequences", len(growth.count), "count"),
        tk.Metric("growing", "sequences that grow", int(growth.grows.sum()), "count"),
        tk.above("correlation", "rank correlation of latency with order", correlation, "ratio", rule.correlation),
        tk.above("ratio", "last tenth of a sequence to the first", median_of(growth.ratio), "ratio", rule.ratio),
    )
    if reading.cause is None:
        several, ratio = len(growth.count) > 1, median_of(growth.ratio)
        where = f"{tk.format_count(len(growth.count), 'sequence')} of up to" if several else "a sequence of"
        median, steadily = " (median)" if several else "", ", without a steady rise" if ratio >= rule.ratio else ""
        return view.passed(
            f"In {where} {int(growth.count.max()):,} predictions, the last tenth takes {ratio:.2f}x as long as the "
            f"first{median}{steadily}.",
            metrics,
        )
    if reading.cause is Grows.HEAT:
        return view.passed("Latency rises with the device's thermal state: see thermal-throttling.", metrics)
    if reading.cause is Grows.UNCLEAR:
        return view.unknown(
            f"Latency rises to {float(growth.ratio[growth.grows].max()):.1f}x, so slowly that heat could be the cause.",
            "Start on a cool device, record at least two such sequences, and add the Thermal State instrument.",
        )
    return _finding(view, calls, reading, metrics)


def _finding(view: tk.ModelView, calls: Calls, reading: GrowthReading, metrics: tuple[tk.Metric, ...]) -> tk.Outcome:
    """The finding with its cost: what calls took beyond the beginning of their sequence."""
    growth = reading.growth
    base = np.zeros(len(calls.rows))
    for number in np.flatnonzero(growth.grows).tolist():
        low = int(growth.first[number])
        base[low : low + int(growth.count[number])] = growth.start_ns[number]
    longest = int(growth.count[growth.grows].max())
    start, ratio = float(np.median(growth.start_ns[growth.grows])), float(np.median(growth.ratio[growth.grows]))
    sequences = int(growth.grows.sum())
    where = f"within a sequence of {longest:,} predictions"
    if sequences > 1:
        where = f"within {sequences:,} sequences of up to {longest:,} predictions"
    if reading.across:
        where = f"from sequence to sequence, over {longest:,} predictions"
    afresh = "; each sequence starts fast again" if growth.starts_afresh else ""
    summary = f"Latency grows from {view.time(start)} to {view.time(start * ratio)} ({ratio:.1f}x) {where}{afresh}."
    words = "Time predictions took beyond the median of the first tenth of their sequence"
    grown = (base > 0) & (calls.durations > base)
    return longer_than_usual(view, calls, grown, base[grown], (summary, metrics), words)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Thermal State",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=Options,
    causes=(tk.Cause.GROWTH,),
    detect=detect,
)
