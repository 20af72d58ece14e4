"""`neural-engine-contention`: predictions queue for a Neural Engine that works for others."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import REASONS, Part, Unknown
from tracekit.analysis.queues import NAMED
from tracekit.detectors.shared.competing_work import time_by_model


class Options(tk.Options):
    wait_share: float = tk.option(
        0.2, "share of a prediction's time", "Heuristic: shorter waits are within the usual spread of latencies."
    )
    affected_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions of two models meet by chance."
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions whose work on the Neural Engine begins when work of others ends."""
    engine_rows = view.engine_rows
    called = engine_rows.prediction.filled()
    on_engine = np.isin(view.predictions.id, called) & (view.durations > 0)
    named = engine_rows.attribution.is_any(*NAMED).any()
    # Share of the predictions during which the engine worked for them or for another one in flight.
    ambiguous = view.breakdown.unknown[Part.ANE] == REASONS.index(Unknown.AMBIGUOUS)
    unclear = 0.0 if named else float(ambiguous.mean())
    if not on_engine.any() and not unclear:
        return view.not_applicable("None of the recorded work ran on the Neural Engine.")
    if not named and (view.trace.sharing.is_shared or unclear >= options.affected_share):
        return view.unknown(
            "Neural Engine rows do not name a model here, and other work ran at the same time, so the model's own "
            "work cannot be distinguished.",
            "Record with a newer Xcode and OS, whose rows name the model, or record this model alone.",
        )
    count = int(on_engine.sum())
    if count < options.min_predictions:
        return view.too_few_predictions(count, options.min_predictions, "with known Neural Engine work")
    waits = view.engine_waits
    waited = waits.by_prediction(view.predictions.id)
    delayed = on_engine & (waited > 0) & (waited >= options.wait_share * view.durations)
    share = int(delayed.sum()) / count
    least = tk.format_share(options.wait_share)
    metrics = (
        tk.above("queued", "predictions queued behind other work", share, "share", options.affected_share),
        tk.Metric("longest-wait", "most time queued", int(waited.max()), "ns"),
    )
    if not tk.reached(metrics, "queued") or not delayed.any():
        some = f"{int(delayed.sum()):,} of {tk.format_count(count, 'prediction')}"
        words, whose = (some, "their") if delayed.any() else ("No prediction", "its")
        return view.passed(f"{words} queued behind other work for {least} or more of {whose} time.", metrics)
    rows = view.predictions.where(delayed)
    chosen = (waits.others_ns > 0) & np.isin(waits.prediction, rows.id)
    affected = waits.times.where(chosen).union()
    cost_ns = min(int(waited[delayed].sum()), affected.covered_ns)
    median = float(np.median(waited[delayed]))
    return view.finding(
        f"{len(rows):,} of {tk.format_count(count, 'prediction')} queued behind other work on the Neural Engine for "
        f"{least} or more of their time: {tk.format_time(median)} of "
        f"{tk.format_time(float(np.median(rows.duration_ns)))} each (medians). {_whose(view, affected)}",
        (*metrics, tk.Metric("median-wait", "median time queued", median, "ns")),
        rows=rows,
        cost=view.cost(
            cost_ns,
            "Time these predictions were queued while the Neural Engine did other work",
            longest_wait_ns=min(int(waited.max()), cost_ns),
        ),
        affected=affected,
    )


def _whose(view: tk.ModelView, affected: tk.Intervals) -> str:
    """Sentence for whose work the engine did in these times. Other processes are not named: labels do not name them."""
    hardware = view.trace.hardware
    mine = np.zeros(len(hardware), np.bool_)
    mine[view.engine_rows.id] = True
    executed = hardware.kind.is_any(tk.Kind.ANE_EXEC) & ~mine
    of_app = executed & hardware.attribution.is_any(*NAMED, tk.Attribution.CONTAINED)
    at = np.flatnonzero(of_app)
    by_model = time_by_model(hardware.model.take(at), tk.Intervals.from_rows(hardware).where(at), affected)
    working = list(by_model)
    if not working:
        activity = view.trace.activity
        called = activity.kind.is_any(tk.Kind.PREDICTION) & ~activity.model.is_any(view.name)
        if 2 * tk.Intervals.from_rows(activity).where(called).intersection(affected).covered_ns >= affected.covered_ns:
            return "Other models of this app predicted for most of that time, but no row shows whose work it was."
        return "No row names another model of this app, so the other work was most likely for other processes."
    share = min(sum(by_model.values()) / affected.covered_ns, 1.0)
    noun = "Another model" if len(working) == 1 else "Other models"
    return (
        f"{noun} of this app ({tk.format_names(working, 2)}) used the engine for {tk.format_share(share)} of that time."
    )


DETECTOR = tk.Detector(
    needs=("Core ML", "Neural Engine"),
    options=Options,
    causes=(tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES, tk.Cause.QUEUED_OWN),
    detect=detect,
)
