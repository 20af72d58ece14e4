"""`growing-latency`: each call of a sequence takes longer than the one before."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.latency_growth import CORRELATION, MIN_CALLS, RATIO
from tracekit.analysis.ledger.patterns import Grows
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.stands_out import Alike, judge_alike


@judge_alike((tk.Cause.GROWTH,), MIN_CALLS)
def detect(calls: Alike, _options: tk.NoOptions) -> tk.Outcome:
    """Looks for sequences in which calls become longer and longer, and start afresh with the next one."""
    view, (growth, cause, across) = calls.view, calls.usual.growth
    if not len(growth.count):
        return view.unknown(
            f"No sequence has {MIN_CALLS} predictions without a pause before latency falls back.",
            "Record a longer sequence of predictions, such as a long answer of a language model.",
        )
    known = growth.correlation[~np.isnan(growth.correlation)]
    correlation = median_of(known) if len(known) else None
    several, ratio = len(growth.count) > 1, median_of(growth.ratio[growth.grows if cause else slice(None)])
    metrics = (
        tk.Metric("sequences", "sequences", len(growth.count), "count"),
        tk.Metric("growing", "sequences that grow", int(growth.grows.sum()), "count"),
        tk.above("correlation", "rank correlation of latency with order", correlation, "ratio", CORRELATION),
        tk.above("ratio", "last tenth of a sequence to the first", ratio, "ratio", RATIO),
    )
    if cause is None:
        where = f"{tk.format_count(len(growth.count), 'sequence')} of up to" if several else "a sequence of"
        return view.passed(
            f"In {where} {int(growth.count.max()):,} predictions, the last tenth takes {ratio:.2f}x as long as the "
            f"first{' (median)' if several else ''}{', without a steady rise' if ratio >= RATIO else ''}.",
            metrics,
        )
    if cause is Grows.HEAT:
        return view.passed("Latency rises with the device's thermal state: see thermal-throttling.", metrics)
    if cause is Grows.UNCLEAR:
        return view.unknown(
            f"Latency rises to {float(growth.ratio[growth.grows].max()):.1f}x, so slowly that heat could be the cause.",
            "Start on a cool device, record at least two such sequences, and add the Thermal State instrument.",
        )
    longest, sequences = int(growth.count[growth.grows].max()), int(growth.grows.sum())
    where = f"within a sequence of {longest:,} predictions"
    if across:
        where = f"from sequence to sequence, over {longest:,} predictions"
    elif sequences > 1:
        where = f"within {sequences:,} sequences of up to {longest:,} predictions"
    start = median_of(growth.start_ns[growth.grows])
    afresh = "; each sequence starts fast again" if growth.starts_afresh else ""
    summary = f"Latency grows from {view.time(start)} to {view.time(start * ratio)} ({ratio:.1f}x) {where}{afresh}."
    words = "Time predictions took beyond the beginning of their sequence"
    return calls.finding(calls.usual.grows, (summary, metrics), words)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Thermal State",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=tk.NoOptions,
    causes=(tk.Cause.GROWTH,),
    detect=detect,
)
