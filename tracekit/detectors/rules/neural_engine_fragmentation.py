"""`neural-engine-fragmentation`: a prediction is cut into pieces between which nothing runs."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, gaps_between
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.quantities import median_of
from tracekit.analysis.queues import all_waits
from tracekit.detectors.shared.queued import nameless_answer


class Options(tk.Options):
    segments: int = tk.option(3, "segments per prediction", "One split may be intended; two are a pattern.")
    gap_share: float = tk.option(
        0.1, "share of prediction time", "Heuristic: smaller gaps are hardly worth changing a model."
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions in which the Neural Engine is left and entered again and again."""
    engine = view.hardware.kind.is_any(tk.Kind.ANE_EXEC) & view.hardware.prediction.known
    if not engine.any():
        return view.not_applicable("None of the recorded work ran on the Neural Engine.")
    nameless = nameless_answer(view)
    if nameless:
        return nameless
    with_rows = tk.counts_by(view.predictions.id, view.hardware.prediction.values[engine]) > 0
    rows = view.predictions.where(with_rows)
    if len(rows) < options.min_predictions:
        return view.too_few_predictions(len(rows), options.min_predictions, "with Neural Engine work")
    within, gaps = gaps_between(view.hardware, engine)
    waits = all_waits(view.trace).get(tk.Device.ANE)
    queued = tk.Intervals.none() if waits is None else waits.of(view.predictions.id)
    on_cpu = view.compute.device.is_any(tk.Device.CPU) & (view.compute.duration_ns >= SHORT_CPU_NS)
    on_gpu = view.hardware.kind.is_any(tk.Kind.GPU_EXEC)
    elsewhere = tk.Intervals.from_rows(view.compute.where(on_cpu), view.hardware.where(on_gpu))
    # The part of each without copies, in which the engine was not busy with others. Another unit that works in it has
    # it whole.
    idle = gaps.durations - queued.joined(tk.Intervals.from_rows(view.data)).covered_within(gaps)
    idle[elsewhere.covered_within(gaps) > 0] = 0
    pieces = 1 + tk.counts_by(rows.id, within)
    account = ledger(view.trace).get(view.name)
    waited = None if account is None else account.of(tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES)
    queued_ns = 0 if waited is None else int(waited[with_rows].sum())
    running_ns = int(rows.duration_ns.sum()) - queued_ns
    share = int(idle.sum()) / running_ns if running_ns else 0.0
    metrics = (
        tk.above("segments", "segments per prediction (median)", median_of(pieces), "count", options.segments),
        tk.above("gaps", "gaps between segments", share, "share", options.gap_share),
    )
    # Words behind a time that leaves out how long predictions queued.
    besides = " without queueing" if queued_ns else ""
    if not tk.all_reached(metrics) or not idle.any():
        return view.passed(
            f"Median: {tk.format_count(int(median_of(pieces)), 'segment')} per prediction; idle gaps "
            f"{tk.format_share(share)} of the time{besides}.",
            metrics,
        )
    chosen, mean, usual = idle > 0, int(idle.sum()) / len(rows), median_of(pieces)
    affected = gaps.where(chosen).union()
    return view.finding(
        f"Half of {tk.format_count(len(rows), 'prediction')} run on the Neural Engine in {usual:.0f} or more segments. "
        f"Between them, all compute units idle for {tk.format_time(mean)} per prediction on average "
        f"({tk.format_share(share)} of its time{besides}).",
        (*metrics, tk.Metric("mean-gap", "mean gap time per prediction", mean, "ns")),
        rows=rows.where(np.isin(rows.id, within[chosen])),
        cost=view.cost(
            min(int(idle.sum()), affected.covered_ns),
            "Time between Neural Engine segments in which no compute unit worked for the prediction",
        ),
        affected=affected,
    )


DETECTOR = tk.Detector(needs=("Core ML", "Neural Engine"), options=Options, detect=detect)
