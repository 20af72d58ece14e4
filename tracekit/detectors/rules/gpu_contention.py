"""`gpu-contention`: predictions are slow while the GPU works for others, mostly drawing (catalogue entry A11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from tracekit.analysis.idle import CERTAINTY
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
from tracekit.detectors.shared.competing_work import certainty_of_longer
from tracekit.detectors.shared.evidence import evidence_of
from tracekit.detectors.shared.wording import too_few
from tracekit.intervals import depth_profile, integrate, union
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.frames import is_any
from tracekit.units import format_count, format_duration, format_share

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    overlap_share: float = option(
        0.2, "share of a prediction's time on the GPU", "Drawing an idle screen takes less (our judgement).", maximum=1
    )
    calm_share: float = option(
        0.05, "share of a prediction's time on the GPU", "So little disturbs nobody (our judgement).", maximum=1
    )
    slowdown: float = option(
        1.2, "times the median while calm", "Within a fifth lies the usual spread of durations (our judgement)."
    )
    explained_share: float = option(
        0.5,
        "share of the extra time",
        "Where others worked for less of it, something else makes these calls long (our judgement).",
        maximum=1,
    )
    affected_share: float = option(0.1, "share of predictions", "Fewer are chance meetings (our judgement).", maximum=1)
    min_compared: int = option(
        5, "predictions", "A median of fewer calls, disturbed or calm, is chance (our judgement)."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """The time of predictions on the GPU, from the first request or row to the last: shape (predictions,) each."""

    rows: pd.DataFrame
    """The predictions, none of which overlaps another one of the model or warms up."""
    starts: IntArray
    ends: IntArray
    others_ns: IntArray
    """Time in which the GPU worked for anybody else."""
    overlap_at_first: FloatArray
    """That time as a share, over as much time from the beginning as the shortest tenth takes in all. A long prediction
    meets others more often; counted like this, its length makes no difference."""

    @property
    def overlap(self) -> FloatArray:
        """`others_ns` as a share of the phase."""
        share: FloatArray = self.others_ns / np.maximum(self.ends - self.starts, 1)
        return share

    @property
    def durations(self) -> IntArray:
        """Durations of the predictions in ns."""
        return self.rows["duration_ns"].to_numpy()


def detect(view: ModelView, options: Options) -> Outcome:
    """Compares predictions during which the GPU worked for others with those that had it for themselves."""
    if view.predictions.empty:
        return NotApplicable(view.name, "No prediction was recorded.")
    own = _own_work(view)
    if not len(own.place):
        return NotApplicable(view.name, "None of its recorded work ran on the GPU.")
    others = _of_others(view)
    found = _phases(view, own, others)
    if len(found.rows) < 2 * options.min_compared:
        return InsufficientData(
            view.name,
            too_few(len(found.rows), 2 * options.min_compared, "with work on the GPU to compare")
            + " The first after a load, and those that overlap, are left out.",
            "Record the feature for longer, one prediction at a time.",
        )
    disturbed, calm = found.overlap >= options.overlap_share, found.overlap <= options.calm_share
    share = float(disturbed.mean())
    affected = Metric("predictions with other work on the GPU", share, "share", options.affected_share, Direction.ABOVE)
    if not affected.reached or not disturbed.any():
        return Passed(
            view.name, f"The GPU did much other work during {format_share(share)} of its predictions.", (affected,)
        )
    if min(int(disturbed.sum()), int(calm.sum())) < options.min_compared:
        return InsufficientData(
            view.name,
            f"The GPU did other work during {disturbed.sum():,} of {format_count(len(found.rows), 'prediction')}, and "
            f"{f'{calm.sum():,}' if calm.any() else 'none'} had it to themselves; {options.min_compared} of each are "
            "needed to tell what difference that makes.",
            "Record for longer, with phases in which the app draws and phases in which it does not.",
        )
    usual = float(np.median(found.durations[calm]))
    slow = float(np.median(found.durations[disturbed]))
    extra = np.maximum(found.durations - usual, 0)
    explained = _explained(found.others_ns[disturbed], extra[disturbed])
    metrics = (
        affected,
        Metric("slow-down with other work on the GPU", slow / usual, "ratio", options.slowdown, Direction.ABOVE),
        Metric("extra time that other work fills", explained, "share", options.explained_share, Direction.ABOVE),
        Metric("median with the GPU to itself", usual, "ns"),
        Metric("median with other work on the GPU", slow, "ns"),
    )
    if not metrics[1].reached:
        words = f"Predictions take {slow / usual:.2f} times as long while the GPU does other work."
        return Passed(view.name, words, metrics)
    if not metrics[2].reached:
        return Passed(
            view.name,
            f"Predictions take {slow / usual:.2f} times as long while the GPU does other work, but that fills only "
            f"{format_share(explained)} of the extra time.",
            metrics,
        )
    if _met_for_length(found, options):
        return Passed(
            view.name,
            f"Predictions take {slow / usual:.2f} times as long while the GPU does other work, but not those that meet "
            "it at the beginning: long predictions meet other work more often.",
            metrics,
        )
    return _finding(view, found, others, disturbed, extra, metrics)


def _met_for_length(found: Phases, options: Options) -> bool:
    """Whether predictions that meet others at the beginning, where length makes no difference, are not longer by more
    than chance. Not where these are too few to compare."""
    met, calm = found.overlap_at_first >= options.overlap_share, found.overlap_at_first <= options.calm_share
    if min(int(met.sum()), int(calm.sum())) < options.min_compared:
        return False
    return certainty_of_longer(found.durations[met], found.durations[calm]) < CERTAINTY


def _explained(others_ns: IntArray, extra_ns: FloatArray) -> float:
    """Median share of the extra time of calls in which others worked, at most all of it; 1 where there is none."""
    return float(np.median(np.minimum(others_ns / np.maximum(extra_ns, 1), 1)))


class _OwnWork(NamedTuple):
    """Rows that show when the GPU was asked or worked for a prediction of the model: shape (rows,) each."""

    place: IndexArray
    """Place of the prediction among those of the model."""
    start_ns: IntArray
    end_ns: IntArray


def _own_work(view: ModelView) -> _OwnWork:
    parts = [
        (frame, is_any(frame["kind"], kind))
        for frame, kind in ((view.hardware, Kind.GPU_EXEC), (view.compute, Kind.GPU_REQUEST))
    ]
    start, length = (
        np.concatenate([frame[name].to_numpy()[rows] for frame, rows in parts]) for name in ("start_ns", "duration_ns")
    )
    called = [frame["prediction"].to_numpy(dtype=np.int64, na_value=-1)[rows] for frame, rows in parts]
    place = view.predictions.index.get_indexer(pd.Index(np.concatenate(called)))
    known = place >= 0
    return _OwnWork(place[known], start[known], (start + length)[known])


def _of_others(view: ModelView) -> BoolArray:
    """Shape (hardware rows of the trace,): rows of the GPU that are not the model's."""
    hardware = view.trace.hardware
    chosen = is_any(hardware["kind"], Kind.GPU_EXEC)
    chosen[view.hardware.index.to_numpy()] = False
    return chosen


def _phases(view: ModelView, own: _OwnWork, others: BoolArray) -> Phases:
    count = len(view.predictions)
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(low, own.place, own.start_ns)
    np.maximum.at(high, own.place, own.end_ns)
    begin = view.predictions["start_ns"].to_numpy()
    end = begin + view.predictions["duration_ns"].to_numpy()
    times, depth = depth_profile(begin, end)
    alone = integrate(times, (depth > 1).astype(np.int64), begin, end) == 0
    kept = (high > low) & alone & (end > begin) & view.warm
    low, high = low[kept], high[kept]
    working = depth_profile(*_union(view, others))
    first = np.minimum(low + (int(np.quantile(high - low, 0.1)) if len(low) else 0), high)
    at_first = integrate(*working, low, first) / np.maximum(first - low, 1)
    return Phases(view.predictions[kept], low, high, integrate(*working, low, high), at_first)


def _union(view: ModelView, chosen: BoolArray) -> tuple[IntArray, IntArray]:
    """When any of the chosen hardware rows was active."""
    hardware = view.trace.hardware
    begin = hardware["start_ns"].to_numpy()[chosen]
    return union(begin, begin + hardware["duration_ns"].to_numpy()[chosen])


def _finding(
    view: ModelView,
    found: Phases,
    others: BoolArray,
    disturbed: BoolArray,
    extra: FloatArray,
    metrics: tuple[Metric, ...],
) -> Finding:
    """The finding with its cost: the extra time of disturbed predictions, as far as others worked meanwhile."""
    lost = shared_time(_union(view, others), union(found.starts[disturbed], found.ends[disturbed]))
    cost = min(
        int(np.minimum(extra, found.others_ns)[disturbed].sum()),
        int((lost.ends - lost.starts).sum()),
    )
    spent = covered_ns(view.predictions)
    rows = found.rows[disturbed]
    slow, usual = metrics[4].value or 0, metrics[3].value or 1
    return Finding(
        model=view.name,
        summary=(
            f"During {len(rows):,} of {format_count(len(found.rows), 'prediction')} the GPU did other work too, and "
            f"they take {slow / usual:.1f} times as long (median {format_duration(slow)} against "
            f"{format_duration(usual)}). {_whose(view, others, lost)}"
        ),
        metrics=metrics,
        cost=Cost(
            ns=cost,
            share=cost / spent,
            basis=(
                "Time that these predictions took beyond the median of undisturbed ones, as far as the GPU worked for "
                "others meanwhile; share of the time with predictions of the model in flight."
            ),
        ),
        evidence=evidence_of(rows),
        evidence_total=len(rows),
        lost=lost,
    )


def shared_time(first: tuple[IntArray, IntArray], second: tuple[IntArray, IntArray]) -> Intervals:
    """The time that two sets of intervals share, each without overlaps of its own."""
    times, depth = depth_profile(np.concatenate((first[0], second[0])), np.concatenate((first[1], second[1])))
    both = np.flatnonzero(depth >= 2)
    return Intervals(times[both], times[both + 1])


def _whose(view: ModelView, others: BoolArray, lost: Intervals) -> str:
    """Sentence for whose work that was, as far as rows tell it."""
    hardware = view.trace.hardware
    foreign = is_any(hardware["attribution"], Attribution.FOREIGN)
    own_app = others & ~foreign & hardware["process"].notna().to_numpy(dtype=bool)
    whole = max(int((lost.ends - lost.starts).sum()), 1)
    part = int(integrate(*depth_profile(*_union(view, own_app)), *lost).sum()) / whole
    away = int(integrate(*depth_profile(*_union(view, others & foreign)), *lost).sum()) / whole
    if part >= _NEARLY_ALL > away:
        return "Nearly all of that work was the app's own, such as drawing."
    if away >= _NEARLY_ALL > part:
        return "Nearly all of that work was for other processes."
    return f"The app itself asked for {format_share(part)} of that work, other processes for {format_share(away)}."


_NEARLY_ALL = 0.9
"""Share of the disturbed time from which on one side alone is named."""


DESCRIPTION = """
The GPU draws what the user sees. A model on the GPU shares it with the app's own graphics and with the system, and both
get slower: frames drop, and predictions take longer.

## On the lanes

    Activity       |Prediction           |    |Prediction |
    GPU            |Fragment|  |Model   |      |Model   |          problem: the first call waits for the drawing

    Activity       |Prediction |
    Neural Engine    |Model   |
    GPU            |Fragment|                                      as it should be: each has a unit of its own

## How it is measured

Per model, on predictions with work on the GPU that overlap no other one of the model and are not the first after a
load. The time of a prediction on the GPU goes from its first request or row to its last. In a disturbed prediction the
GPU works for others for `overlap_share` of it or more, whoever they are; in a calm one for `calm_share` at most. It is
a finding when `affected_share` of the predictions or more are disturbed, when their median is `slowdown` times that of
the calm ones, and when others worked for `explained_share` of the extra time or more (median). At least `min_compared`
of each are needed. A long prediction meets other work more often. So those that meet it at the beginning, in as much
time as the shortest tenth takes, must also be longer by more than chance: 2.5 standard errors of their rank sum. The
cost is the extra time, as far as others worked meanwhile.

## What can look like it and is not

- Drawing of an idle desktop: rows of some tenths of a millisecond.
- Drawing that overlaps predictions and does not slow them down.
- Calls with more work of their own: others then account for little of the extra time.
- Predictions of which some are long for their input, beside drawing now and then: the long ones meet more of it.
- An app that draws all the time: without undisturbed calls nothing is compared.
"""

FIX = """
Move the model off the GPU, or draw less while it runs:

```swift
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuAndNeuralEngine
let model = try await MLModel.load(contentsOf: url, configuration: configuration)

metalView.preferredFramesPerSecond = 30
```

Where the model has to stay on the GPU, call it between frames instead of at their beginning, and keep off-screen
rendering and image filters for the time after it.
"""

DETECTOR = Detector(
    id="gpu-contention",
    title="Predictions have the GPU to themselves",
    finding_title="Predictions are slow while the GPU does other work",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Drawing and predicting want the GPU at the same time: frames drop, and predictions take longer.",
    fix=FIX,
    references=(
        Reference(
            "MLModelConfiguration.computeUnits",
            "https://developer.apple.com/documentation/coreml/mlmodelconfiguration/computeunits",
        ),
        Reference(
            "MTKView.preferredFramesPerSecond",
            "https://developer.apple.com/documentation/metalkit/mtkview/preferredframespersecond",
        ),
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
    ),
    needs=("Core ML", "GPU"),
    options=Options,
    detect=detect,
)
