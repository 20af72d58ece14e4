"""`unexplained-time`: nothing that was recorded explains most of a model's predictions."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.ledger.account import unseen_ns
from tracekit.detectors.shared.wording import RECORD_PHASE_ALONE

_PAGE = tk.page_beside(__file__)


class Options(tk.Options):
    unexplained_share: float = tk.option(
        0.5,
        "share of prediction time",
        "Heuristic: from here on, more is unknown than known; in a public recording, two models have 97% and 65%.",
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")
    min_mean_ms: float = tk.option(
        1.0, "ms", "Heuristic: per-call overhead fills shorter predictions and leaves no rows."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions most of whose time lies in no recorded row, and in no call stack."""
    durations, needed = view.durations, options.min_predictions
    timed = durations > 0
    count, total = int(timed.sum()), int(durations.sum())
    if count < needed:
        return view.too_few_predictions(count, needed, "with a duration")
    if total < count * options.min_mean_ms * 1e6:
        return tk.too_short(view, total / count)
    # Those that queue behind others leave no rows.
    alone = timed & tk.Intervals.from_rows(view.predictions).alone()
    judged = alone if alone.sum() >= needed else timed
    total, known = int(durations[judged].sum()), "Recorded events"
    unknown, sampled = view.breakdown.part(Part.UNEXPLAINED).filled(0), view.trace.samples is not None
    if sampled and unknown[judged].sum() >= options.unexplained_share * total:
        unknown, known = np.minimum(unknown, unseen_ns(view.trace, view.predictions.id)), f"{known}, call stacks"
    share = int(unknown[judged].sum()) / total
    metrics = (tk.above("unexplained", "unexplained time", share, "share", options.unexplained_share),)
    if not tk.all_reached(metrics):
        words = f"{known} and known queueing account for {tk.format_share(1 - share)} of prediction time."
        return view.passed(words, metrics)
    unexplained = f"{tk.format_share(share)} of prediction time is unexplained"
    if not (view.data.prediction.known.any() or view.compute.prediction.known.any()):
        return view.unknown(
            f"{unexplained}: Core ML recorded no data or compute events in any prediction, although each has some.",
            "Record with the Core ML template of a current Xcode.",
        )
    if (blind := view.missing_units_answer(before=f"{unexplained}. ")) is not None:
        return blind
    if judged is timed:
        words = f"{unexplained}, but predictions overlap, and queueing behind each other leaves no event."
        return view.unknown(words, RECORD_PHASE_ALONE)
    # It has no cost: what happened in the time is not known, so nothing says that it can be saved.
    chosen = judged & (unknown >= options.unexplained_share * durations)
    mean, rest = float(durations[chosen].mean()), float(unknown[chosen].mean())
    empty = [name for name in (tk.NEURAL_ENGINE, tk.GPU) if view.trace.coverage_of(name).state is tk.TableState.EMPTY]
    also = f" No {' or '.join(empty)} activity was recorded." if empty else ""
    return view.finding(
        f"{unexplained}: {tk.format_time(rest)} of {tk.format_time(mean)} on average, in "
        f"{tk.format_count(int(chosen.sum()), 'prediction')}.{also} This is a blind spot of the recording, not proof "
        "that the CPU did the work.",
        (
            *metrics,
            tk.Metric("mean-prediction", "mean prediction", mean, "ns"),
            tk.Metric("mean-unexplained", "mean unexplained time", rest, "ns"),
        ),
        rows=view.predictions.where(chosen),
        # It was recorded with Time Profiler, which shows nothing.
        fix=_PAGE.fix_from("Put signposts") if sampled else "",
    )


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Call Stacks"),
    options=Options,
    causes=(tk.Cause.NOT_VISIBLE,),
    detect=detect,
)
