"""`compute-unit-ping-pong`: the work of a prediction goes back and forth between units."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, device_runs_of
from tracekit.detectors.shared.planned import of_hand_offs
from tracekit.detectors.shared.unit_work import unit_suggestion
from tracekit.detectors.shared.wording import order_words, record_alone


class Options(tk.Options):
    hand_offs: int = tk.option(
        4, "hand-offs per prediction", "One planned hand-off is normal; back and forth twice is not."
    )
    interrupted_share: float = tk.option(
        0.05, "share of prediction time", "Heuristic: smaller interruptions are hardly worth changing a model."
    )
    min_cpu_us: float = tk.option(
        SHORT_CPU_NS / 1e3,
        "µs",
        "Shorter `CPU` rows come with a request to the GPU; in a public recording they take 28 µs each.",
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions whose main unit is interrupted by others again and again."""
    counts = view.breakdown.every.handoffs.take(view.breakdown.chosen).filled()
    has_handoffs = (counts >= 0) & (view.durations > 0)
    rows = view.predictions.where(has_handoffs)
    calls = rows.id
    if len(calls) < options.min_predictions:
        not_recorded = view.missing_units_answer(after=f"{unit_suggestion(view)}{of_hand_offs(view)}")
        if len(calls) < len(view.predictions) and not_recorded is not None:
            return not_recorded
        return view.too_few_predictions(
            len(calls),
            options.min_predictions,
            "with known compute units",
            record=record_alone(view.predictions),
        )
    handoffs = counts[has_handoffs]
    runs = None
    changes = handoffs
    # The quick count holds every change that the exact one does.
    if np.median(handoffs) >= options.hand_offs:
        runs = device_runs_of(view.compute, view.hardware, calls, round(options.min_cpu_us * 1e3))
        changes = runs.changes(calls)
    usual = float(np.median(changes))
    if runs is None or usual < options.hand_offs:
        metric = tk.above("hand-offs", "hand-offs per prediction (median)", usual, "count", options.hand_offs)
        words = f"Half of the predictions have {tk.format_count(round(usual), 'hand-off')} or fewer"
        words = words if usual else "The work stays on one compute unit"
        return view.passed(f"{words}.{of_hand_offs(view)}", (metric,))
    interruptions, main = runs.interruptions(), tk.DEVICE_NAMES[runs.main_unit]
    interrupted_ns = int(interruptions.durations.sum())
    share = interrupted_ns / int(view.durations[has_handoffs].sum())
    metrics = (
        tk.above("hand-offs", "hand-offs per prediction (median)", usual, "count", options.hand_offs),
        tk.above("interrupted", "main unit interrupted", share, "share", options.interrupted_share),
    )
    if not tk.reached(metrics, "interrupted") or not share:
        return view.passed(
            f"Half of the predictions have {usual:.0f} or more hand-offs, but they interrupt the "
            f"{main} for only {tk.format_share(share)} of the time.{of_hand_offs(view)}",
            metrics,
        )
    affected = interruptions.union()
    mean = interrupted_ns / len(view.predictions)
    return view.finding(
        f"Half of the predictions have {usual:.0f} or more hand-offs (mostly {order_words(runs.usual_order())}). They "
        f"interrupt the {main}, which does most of the work, for {tk.format_time(mean)} per prediction on average "
        f"({tk.format_share(share)} of its time).{of_hand_offs(view, main)}",
        (*metrics, tk.Metric("mean-interruption", "mean interruption per prediction", mean, "ns")),
        rows=rows.where(changes >= options.hand_offs),
        cost=view.cost(
            affected.covered_ns,
            f"Time between two runs on the {main} in one prediction",
            f"The {main} would need part of it to do the work of the other units.",
        ),
        affected=affected,
    )


DETECTOR = tk.Detector(needs=("Core ML",), uses=("Neural Engine", "GPU"), options=Options, detect=detect)
