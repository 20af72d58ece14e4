"""`missed-deadline`: predictions take longer than the time that the app gives them (catalogue entry A18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.frames import frame_steps
from tracekit.analysis.statistics import covered_ns
from tracekit.detectors.framework import Detector, ModelView, Reference
from tracekit.detectors.options import option
from tracekit.detectors.outcomes import (
    Cost,
    Direction,
    Finding,
    InsufficientData,
    Intervals,
    Metric,
    NotApplicable,
    Outcome,
    Passed,
)
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.shared.evidence import evidence_of
from tracekit.detectors.shared.idle_gaps import read_pauses
from tracekit.detectors.shared.wording import too_few
from tracekit.intervals import union
from tracekit.units import format_count, format_duration, format_share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    budget_ms: float = option(
        0.0, "ms", "Only the app's author knows it: 16.7 for 60 frames per second, 33.3 for 30. 0 means none is given."
    )
    missed_share: float = option(
        0.05, "share of predictions", "One late frame in twenty is seen as a stutter (our judgement).", maximum=1
    )
    min_predictions: int = option(20, "predictions", "In fewer calls a single late one would decide (our judgement).")
    min_dropped: int = option(5, "predictions", "Fewer dropped frames are no habit of the app (heuristic).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Compares every prediction but the first after each load with the budget."""
    if len(view.predictions) == 0:
        return NotApplicable(view.name, "No prediction was recorded.")
    if not options.budget_ms:
        return _by_frames(view, options)
    timed = view.predictions["duration_ns"].to_numpy() > 0
    judged = view.predictions[view.warm & timed]
    if len(judged) < options.min_predictions:
        return InsufficientData(
            view.name,
            too_few(len(judged), options.min_predictions, "besides the first one after each load"),
            "Record the feature for longer, so that the model is used more often.",
        )
    budget = round(options.budget_ms * 1e6)
    late = judged[judged["duration_ns"].to_numpy() > budget]
    share = len(late) / len(judged)
    durations = judged["duration_ns"].to_numpy()
    typical, slow = (float(value) for value in np.quantile(durations, [0.5, 0.95]))
    metrics = (
        Metric("predictions over the budget", share, "share", options.missed_share, Direction.ABOVE),
        Metric("budget", budget, "ns"),
        Metric("median prediction", typical, "ns"),
        Metric("95th percentile", slow, "ns"),
        Metric("longest prediction", int(durations.max()), "ns"),
    )
    words = (
        f"{len(late):,} of {format_count(len(judged), 'prediction')} ({format_share(share)}) took longer than "
        f"{format_duration(budget)}"
    )
    if not metrics[0].reached or late.empty:
        return Passed(view.name, f"{words if len(late) else 'No prediction took longer than the budget'}.", metrics)
    return _finding(view, judged, late, budget, f"{words}; the median is {format_duration(typical)}", metrics)


_PAIR = 2
"""So many calls have a distance."""

_NEXT_FRAME_MISSED = 1.5
"""Distances of more frames than that are two frames or more; starts vary by less than half a frame (heuristic)."""


def _by_frames(view: ModelView, options: Options) -> Outcome:
    """Without a budget: looks for frames that are dropped because a prediction takes longer than a frame."""
    found = frame_steps(view.predictions)
    if found is None:
        return NotApplicable(view.name, "No time budget was given; give one with --budget, as in --budget 30fps.")
    frame_ns = round(1e9 / found.frames_per_second)
    rows = view.predictions.iloc[found.place]
    long = rows["duration_ns"].to_numpy() > frame_ns
    steady = view.warm[found.place]
    dropped = long & (found.frames > 1) & steady
    share = int(dropped.sum()) / max(int(steady.sum()), 1)
    metrics = (
        Metric("predictions that cost a frame", share, "share", options.missed_share, Direction.ABOVE),
        Metric("dropped after a prediction", int(dropped.sum()), "count", options.min_dropped, Direction.ABOVE),
        Metric("frame", frame_ns, "ns"),
        Metric("median prediction", float(np.median(rows["duration_ns"])), "ns"),
    )
    rate = f"Predictions follow a steady rate of {found.frames_per_second} fps"
    if int(steady.sum()) < options.min_predictions:
        return NotApplicable(view.name, "No time budget was given; give one with --budget, as in --budget 30fps.")
    if not all(metric.reached for metric in metrics[:2]):
        idle = read_pauses(view, _PAIR).idle
        together = int(((idle.busy_ns > frame_ns) & (idle.distance_ns > _NEXT_FRAME_MISSED * frame_ns)).sum())
        if together >= max(options.min_dropped, options.missed_share * len(idle.distance_ns)):
            return InsufficientData(
                view.name,
                f"{rate}. {format_count(together, 'time')} this model and others that take turns with it took longer "
                "than a frame together and cost the next one; none of them does so alone.",
                "Give each model its part of the frame with --budget, as in --budget Segmenter=10ms.",
            )
        few = f"{int(dropped.sum()):,} of {int(steady.sum()):,}" if dropped.any() else "none"
        return Passed(view.name, f"{rate}, and {few} took longer than a frame and cost the next one.", metrics)
    words = (
        f"{rate}, but {int(dropped.sum()):,} of {format_count(int(steady.sum()), 'prediction')} "
        f"({format_share(share)}) took longer than a frame ({format_duration(frame_ns)}) and cost the next one"
    )
    return _finding(view, rows[steady], rows[dropped], frame_ns, words, metrics)


def _finding(
    view: ModelView, judged: pd.DataFrame, late: pd.DataFrame, budget_ns: int, words: str, metrics: tuple[Metric, ...]
) -> Finding:
    """The finding with its cost: the time beyond the budget."""
    slow_ns = float(np.quantile(judged["duration_ns"].to_numpy(), 0.95))
    starts = late["start_ns"].to_numpy()
    lost = Intervals(*union(starts + budget_ns, starts + late["duration_ns"].to_numpy()))
    beyond = int((lost.ends - lost.starts).sum())
    spent = covered_ns(judged)
    return Finding(
        model=view.name,
        summary=f"{words}. Nineteen of twenty take {format_duration(slow_ns)} or less, enough for {1e9 / slow_ns:.0f} "
        "predictions per second.",
        metrics=metrics,
        cost=Cost(
            ns=beyond,
            share=beyond / spent,
            basis=(
                "Time that predictions went on after their budget was used up; share of the time with predictions "
                "of the model in flight."
            ),
        ),
        evidence=evidence_of(late),
        evidence_total=len(late),
        lost=lost,
    )


DESCRIPTION = """
A feature that runs for each frame has a fixed time for it: 16.7 ms at 60 frames per second, 33.3 ms at 30. A
prediction that takes longer drops a frame, however good the average is.

## On the lanes

    Frame     |        |        |        |        |        |
    Activity  |Pred |  |Prediction |     |Pred |  |Pred |        problem: the second call misses its frame
    Activity  |Pred |  |Pred |  |Pred |  |Pred |  |Pred |        as it should be

## How it is measured

Per model, on the predictions that the app itself called, without the first one after each load, which warms up. The
duration of each is compared with `budget_ms`, which `--budget 16.7ms`, `--budget 30fps` or, for one model,
`--budget Segmenter=16.7ms` gives. It is a finding when `missed_share` of them or more took longer. Fewer than
`min_predictions` predictions are not judged. The cost is the time beyond the budget.

Without a budget, a steady rate tells the frame: nine in ten predictions start a whole number of frames of a common
rate (15 to 120 fps) after the one before, a quarter or more of them one frame, and the starts keep that rate however
long predictions take. It is a finding when predictions that take longer than a frame are followed by a dropped frame,
for `missed_share` of the predictions and `min_dropped` times or more. Where every prediction takes longer than a
frame, the recording shows a lower rate and no dropped frame; only a budget finds that.

## What can look like it and is not

- Work that nobody waits for frame by frame, such as indexing a library: give it no budget.
- The first call after a load: it is left out here and judged by `warm-up-spike`.
- Several models in one frame: each is compared with its own budget, so give each its part of the frame. Without
  budgets, models that take turns and drop frames only together are not judged.
- An app that skips frames on purpose, or gets none: its predictions take less than a frame.
- Long predictions whose frame waits in a queue or that overlap: no frame is dropped.
"""

FIX = """
Find out first what the time goes to: the report says so under *Where the time of a prediction goes*. Then make the
model smaller or faster, run it on the Neural Engine, or call it less often and reuse the last result in between:

```swift
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuAndNeuralEngine
let model = try await MLModel.load(contentsOf: url, configuration: configuration)

// Every second frame is enough for many features; drop frames, do not queue.
if frameNumber.isMultiple(of: 2) {
    latest = try await model.prediction(from: input)
}
```

In coremltools, Float16 precision (`compute_precision=ct.precision.FLOAT16`), palettization and smaller inputs reduce
the work of each call.
"""

DETECTOR = Detector(
    id="missed-deadline",
    title="Predictions keep within their time budget",
    finding_title="Predictions take longer than their time budget",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="A feature that works frame by frame stutters with every prediction that comes too late.",
    fix=FIX,
    references=(
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
        Reference(
            "MLModelConfiguration.computeUnits",
            "https://developer.apple.com/documentation/coreml/mlmodelconfiguration/computeunits",
        ),
    ),
    needs=("Core ML",),
    on_inferred=True,
    # A late call is the effect of whatever makes calls slow now and then, or all the time.
    caused_by=(
        "latency-jitter",
        "thermal-throttling",
        "growing-latency",
        "shape-switching",
        "concurrent-predictions",
        "excess-data-copies",
        "neural-engine-contention",
        "gpu-contention",
        "cpu-contention",
    ),
    options=Options,
    detect=detect,
)
