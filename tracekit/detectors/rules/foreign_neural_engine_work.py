"""`foreign-neural-engine-work`: other processes used the Neural Engine while the app was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.detectors import (
    MAX_OUTSIDE_SHARE,
    NEURAL_ENGINE,
    Attribution,
    Kind,
    Metric,
    Outcome,
    RecordingDetector,
    RecordingView,
    SharingState,
    TableState,
    above,
    covered_ns,
    format_share,
    format_time,
    is_any,
    option,
    page_beside,
    reached,
    rows_where,
    value_of,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_share: float = option(
        MAX_OUTSIDE_SHARE,
        "share of the Neural Engine's execution time",
        "Heuristic: below this share, a few rows of the system change no result.",
        maximum=1,
    )


def detect(view: RecordingView, options: Options) -> Outcome:
    """Looks for execution on the Neural Engine that is not the target's."""
    trace = view.trace
    sharing, engine = trace.sharing, trace.coverage_of(NEURAL_ENGINE)
    if engine.state in (TableState.MISSING, TableState.UNREADABLE):
        return view.unknown(engine.conclusion, engine.advice)
    if sharing.state is SharingState.NONE:
        return view.not_applicable(sharing.sentence)
    if sharing.state is SharingState.UNKNOWN:
        return view.unknown(
            sharing.sentence, "Start recording before the app loads its models, and use its Core ML features."
        )
    executed = rows_where(trace.hardware, is_any(trace.hardware["kind"], Kind.ANE_EXEC))
    named = rows_where(executed, is_any(executed["attribution"], Attribution.FOREIGN))
    executed_ns = covered_ns(executed)
    foreign_share = covered_ns(named) / executed_ns if executed_ns else 0.0
    metrics = (
        above("execution outside all predictions", sharing.outside_share, "share", options.min_share),
        above("execution of models that the target never loaded", foreign_share, "share", options.min_share),
        Metric("execution on the Neural Engine", executed_ns, "ns"),
    )
    if not any(metric.reached for metric in metrics):
        share = max(sharing.outside_share or 0.0, foreign_share)
        if not share:
            return view.passed("All execution on the Neural Engine matches the target's predictions.", metrics)
        words = f"Only {format_share(share)} of the execution on the Neural Engine is not the target's"
        return view.passed(f"{words}, too little to matter.", metrics)
    return _finding(view, executed, metrics)


def _finding(view: RecordingView, executed: pd.DataFrame, metrics: tuple[Metric, ...]) -> Outcome:
    """The finding. Its rows name models of others, or lie outside the predictions and name nothing."""
    # What lies outside the predictions is in the sentence before already.
    outside = reached(metrics, "execution outside all predictions")
    share = value_of(metrics, "execution of models that the target never loaded")
    part = "" if outside else f", {format_share(share)} of that for models of other processes"
    busy = format_time(value_of(metrics, "execution on the Neural Engine"))
    others = executed[is_any(executed["attribution"], Attribution.FOREIGN, Attribution.UNATTRIBUTED)]
    return view.finding(
        summary=(
            f"{view.trace.sharing.sentence} In total, the engine was busy for {busy}{part}. The app's predictions may "
            "have queued behind this work."
        ),
        metrics=metrics,
        rows=others,
    )


DETECTOR = RecordingDetector(
    id="foreign-neural-engine-work", page=page_beside(__file__), needs=("Core ML",), options=Options, detect=detect
)
