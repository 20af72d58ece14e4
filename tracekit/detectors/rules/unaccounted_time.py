"""`unaccounted-time`: nothing that was recorded explains most of a model's predictions."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.ledger.account import unseen_ns
from tracekit.detectors.shared.wording import RECORD_PHASE_ALONE

_PAGE = tk.page_beside(__file__)


class Options(tk.Options):
    unaccounted_share: float = tk.option(
        0.5,
        "share of prediction time",
        "Heuristic: from here on, more is unknown than known; in a public recording, two models have 97% and 65%.",
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")
    min_mean_ms: float = tk.option(
        1.0, "ms", "Heuristic: per-call overhead fills shorter predictions and leaves no rows."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions most of whose time lies in no recorded row."""
    durations = view.durations
    count, total = int((durations > 0).sum()), int(durations.sum())
    if count < options.min_predictions:
        return view.too_few_predictions(count, options.min_predictions, "with a duration")
    if total < count * options.min_mean_ms * 1e6:
        return tk.too_short(view, total / count)
    unknown, known = view.breakdown.part(Part.UNACCOUNTED).filled(0), "Recorded events"
    sampled = view.trace.samples is not None
    if sampled and unknown.sum() >= options.unaccounted_share * total:
        unknown, known = np.minimum(unknown, unseen_ns(view.trace, view.predictions.id)), f"{known}, call stacks"
    share = int(unknown.sum()) / total
    if share < options.unaccounted_share:
        words = f"{known} and known queueing account for {tk.format_share(1 - share)} of prediction time."
        metric = tk.above("unaccounted", "unaccounted time", share, "share", options.unaccounted_share)
        return view.passed(words, (metric,))
    if not (view.data.prediction.known.any() or view.compute.prediction.known.any()):
        return view.unknown(
            "Core ML recorded no data or compute events in any prediction, although each prediction has some, so the "
            "recording does not show what happens in a prediction.",
            "Record with the Core ML template of a current Xcode.",
        )
    unaccounted = f"{tk.format_share(share)} of prediction time is unaccounted for"
    blind = view.missing_units_answer(before=f"{unaccounted}. ")
    if blind is not None:
        return blind
    alone = tk.Intervals.from_rows(view.predictions).alone() & (durations > 0)
    if int(alone.sum()) < options.min_predictions:
        return view.unknown(
            f"{unaccounted}, but predictions overlap, and queueing behind each other leaves no event.",
            RECORD_PHASE_ALONE,
        )
    share_alone = int(unknown[alone].sum()) / int(durations[alone].sum())
    metrics = (tk.above("unaccounted", "unaccounted time", share_alone, "share", options.unaccounted_share),)
    if not tk.all_reached(metrics):
        return view.passed(
            f"{tk.format_share(share)} of prediction time has no event of its own, but during much of it another "
            "prediction of the model was in flight.",
            metrics,
        )
    # It has no cost: what happened in the time is not known, so nothing says that it can be saved.
    chosen = alone & (unknown >= options.unaccounted_share * durations)
    mean, rest = float(durations[chosen].mean()), float(unknown[chosen].mean())
    empty = [name for name in (tk.NEURAL_ENGINE, tk.GPU) if view.trace.coverage_of(name).state is tk.TableState.EMPTY]
    also = f" No {' or '.join(empty)} activity was recorded." if empty else ""
    return view.finding(
        f"{tk.format_share(share_alone)} of prediction time is unaccounted for: {tk.format_time(rest)} of "
        f"{tk.format_time(mean)} on average, in {tk.format_count(int(chosen.sum()), 'prediction')}.{also} This is a "
        "blind spot of the recording, not proof that the CPU did the work.",
        (
            *metrics,
            tk.Metric("mean-prediction", "mean prediction", mean, "ns"),
            tk.Metric("mean-unaccounted", "mean unaccounted time", rest, "ns"),
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
