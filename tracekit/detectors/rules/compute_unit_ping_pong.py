"""`compute-unit-ping-pong`: the work of a prediction goes back and forth between units."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, device_runs_of
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.planned import of_hand_offs
from tracekit.detectors.shared.wording import order_words, record_alone

THERE_AND_BACK = 2
"""Hand-offs of one interruption."""


class Options(tk.Options):
    hand_offs: int = tk.option(
        4, "hand-offs per prediction", "One planned hand-off is normal; back and forth twice is not."
    )
    interrupted_share: float = tk.option(
        0.05, "share of prediction time", "Heuristic: smaller interruptions are hardly worth changing a model."
    )
    cpu_share: float = tk.option(
        0.5, "share of prediction time", "Heuristic: a unit that waits for the CPU so long hardly speeds the model up."
    )
    min_cpu_us: float = tk.option(
        SHORT_CPU_NS / 1e3,
        "µs",
        "Shorter `CPU` rows come with a request to the GPU; in a public recording they take 28 µs each.",
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions in which others interrupt the work of a unit again and again, or for most of the time."""
    counts = view.breakdown.every.handoffs.take(view.breakdown.chosen).filled()
    has_handoffs = (counts >= 0) & (view.durations > 0)
    rows, changes = view.predictions.where(has_handoffs), counts[has_handoffs]
    count, total_ns = len(rows), int(rows.duration_ns.sum())
    if count < options.min_predictions:
        not_recorded = view.missing_units_answer(after=of_hand_offs(view))
        if count < len(view.predictions) and not_recorded is not None:
            return not_recorded
        record = record_alone(view.predictions)
        return view.too_few_predictions(count, options.min_predictions, "with known compute units", record=record)
    runs, mostly_cpu, least = None, False, options.hand_offs
    # The quick count holds every change that the exact one does.
    if median_of(changes) >= min(least, THERE_AND_BACK):
        runs = device_runs_of(view.compute, view.hardware, rows.id, round(options.min_cpu_us * 1e3))
        changes, interruptions = runs.changes(rows.id), runs.interruptions()
        on_cpu = view.compute.device.is_any(tk.Device.CPU) & np.isin(view.compute.prediction.filled(), rows.id)
        cpu = tk.Intervals.from_rows(view.compute).where(on_cpu).union()
        between_ns = int(cpu.covered_within(interruptions).sum())
        mostly_cpu = between_ns >= options.cpu_share * total_ns and not view.compute.parent_model.known.any()
        least = min(least, THERE_AND_BACK) if mostly_cpu else least
    usual = median_of(changes)
    metric = tk.above("hand-offs", "hand-offs per prediction (median)", usual, "count", least)
    if runs is None or not metric.reached:
        words = f"Half of the predictions have {tk.format_count(round(usual), 'hand-off')} or fewer"
        words = words if usual else "The work stays on one compute unit"
        return view.passed(f"{words}.{of_hand_offs(view)}", (metric,))
    lost = cpu if mostly_cpu else interruptions
    lost_ns, main, on_main = int(lost.durations.sum()), tk.DEVICE_NAMES[runs.main_unit], runs.of_main_unit
    share, mean, affected = lost_ns / total_ns, lost_ns / count, lost.union()
    metrics = (metric, tk.above("interrupted", "main unit interrupted", share, "share", options.interrupted_share))
    if not tk.reached(metrics, "interrupted") or not share:
        return view.passed(
            f"Half of the predictions have {usual:.0f} or more hand-offs, but they interrupt the "
            f"{main} for only {tk.format_share(share)} of the time.{of_hand_offs(view)}",
            metrics,
        )
    order = f"(mostly {order_words(runs.usual_order())})"
    taken = f"{tk.format_time(mean)} per prediction on average ({tk.format_share(share)} of its time)"
    summary = (
        f"Half of the predictions have {usual:.0f} or more hand-offs {order}. They interrupt the {main} for {taken}."
    )
    if mostly_cpu:
        work, pieces = int(runs.work_ns[on_main].sum()) / count, round(int(on_main.sum()) / count)
        summary = (
            f"Operations that Core ML does not run on the {main} take the CPU {taken}, and split the "
            f"{tk.format_time(work)} of work there into {tk.format_count(pieces, 'piece')} {order}."
        )
    return view.finding(
        f"{summary}{of_hand_offs(view, main)}",
        (*metrics, tk.Metric("mean-interruption", "mean interruption per prediction", mean, "ns")),
        rows=rows.where(changes >= least),
        cost=view.cost(
            affected.covered_ns,
            "Time on the CPU" if mostly_cpu else f"Time between two runs on the {main} in one prediction",
            f"The {main} would need part of it to do the work of the other units.",
        ),
        affected=affected,
    )


DETECTOR = tk.Detector(needs=("Core ML",), uses=("Neural Engine", "GPU"), options=Options, detect=detect)
