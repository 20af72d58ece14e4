"""`unaccounted-time`: nothing that was recorded explains most of a model's predictions."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.wording import RECORD_PHASE_ALONE


class Options(tk.Options):
    unaccounted_share: float = tk.option(
        0.5,
        "share of prediction time",
        "Heuristic: from here on, more is unknown than known; in a public recording, two models have 97% and 65%.",
        maximum=1,
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")
    min_mean_ms: float = tk.option(
        1.0, "ms", "Heuristic: per-call overhead fills shorter predictions and leaves no rows."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions most of whose time lies in no recorded row."""
    durations = view.predictions["duration_ns"].to_numpy()
    count, total = int((durations > 0).sum()), int(durations.sum())
    if count < options.min_predictions:
        return view.too_few_predictions(count, options.min_predictions, "with a duration")
    if total < count * options.min_mean_ms * 1e6:
        return tk.too_short(view, total / count)
    frame = view.breakdown.frame
    unknown = frame["unaccounted_ns"].to_numpy(dtype=np.int64)
    share = int(unknown.sum()) / total
    if share < options.unaccounted_share:
        return view.passed(_explanation_words(share), _metrics(share, options))
    blind = _blind(view, share)
    if blind is not None:
        return blind
    alone = tk.Intervals.from_rows(view.predictions).alone() & (durations > 0)
    if int(alone.sum()) < options.min_predictions:
        return view.unknown(
            f"{tk.format_share(share)} of prediction time is unaccounted for, but predictions overlap, and queueing "
            "behind each other leaves no event.",
            RECORD_PHASE_ALONE,
        )
    metrics = _metrics(int(unknown[alone].sum()) / int(durations[alone].sum()), options)
    if not tk.reached(metrics, _UNACCOUNTED):
        return view.passed(_explanation_words(share, overlapping=True), metrics)
    return _finding(view, alone & (unknown >= options.unaccounted_share * durations), unknown, metrics)


_UNACCOUNTED = "unaccounted time"


def _metrics(share: float, options: Options) -> tuple[tk.Metric, ...]:
    return (tk.above(_UNACCOUNTED, share, "share", options.unaccounted_share),)


def _explanation_words(share: float, overlapping: bool = False) -> str:
    """Words for time that is explained well enough."""
    if overlapping:
        return (
            f"{tk.format_share(share)} of prediction time has no event of its own, but during much of it another "
            "prediction of the model was in flight."
        )
    return f"Recorded events and known queueing account for {tk.format_share(1 - share)} of prediction time."


def _blind(view: tk.ModelView, share: float) -> tk.Outcome | None:
    """What to say where rows are not there that would explain time."""
    if not (view.data["prediction"].notna().any() or view.compute["prediction"].notna().any()):
        return view.unknown(
            "Core ML recorded no data or compute events in any prediction, although each prediction has some, so the "
            "recording does not show what happens in a prediction.",
            "Record with the Core ML template of a current Xcode.",
        )
    unaccounted = f"{tk.format_share(share)} of prediction time is unaccounted for. "
    return view.missing_units_answer(before=unaccounted)


def _finding(view: tk.ModelView, chosen: tk.BoolArray, rest: tk.IntArray, metrics: tuple[tk.Metric, ...]) -> tk.Outcome:
    """The finding. It has no cost: what happened in the time is not known, so nothing says that it can be saved."""
    rows = view.predictions[chosen]
    mean, unknown = float(rows["duration_ns"].mean()), float(rest[chosen].mean())
    empty = [name for name in (tk.NEURAL_ENGINE, tk.GPU) if view.trace.coverage_of(name).state is tk.TableState.EMPTY]
    also = f" No {' or '.join(empty)} activity was recorded." if empty else ""
    share = tk.value_of(metrics, _UNACCOUNTED)
    return view.finding(
        summary=(
            f"{tk.format_share(share)} of prediction time is unaccounted for: {tk.format_time(unknown)} of "
            f"{tk.format_time(mean)} on average, in {tk.format_count(len(rows), 'prediction')}.{also} This is a blind "
            "spot of the recording, not proof that the CPU did the work."
        ),
        metrics=(*metrics, tk.Metric("mean prediction", mean, "ns"), tk.Metric("mean unaccounted time", unknown, "ns")),
        rows=rows,
    )


DETECTOR = tk.Detector(
    id="unaccounted-time",
    page=tk.page_beside(__file__),
    needs=("Core ML",),
    uses=("Neural Engine", "GPU"),
    options=Options,
    detect=detect,
)
