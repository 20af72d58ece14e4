"""`cpu-contention`: predictions are slow while another model of the app works on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

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
    covered_by,
)
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.rules.gpu_contention import shared_time
from tracekit.detectors.shared.competing_work import certainty_of_longer
from tracekit.detectors.shared.evidence import evidence_of
from tracekit.detectors.shared.wording import too_few
from tracekit.intervals import depth_profile, integrate, union_length_by_group
from tracekit.trace.events import Kind
from tracekit.trace.frames import is_any
from tracekit.units import format_count, format_duration, format_share

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    overlap_share: float = option(
        0.2,
        "share of a prediction's CPU work",
        "Shorter meetings cost less than the usual spread of durations.",
        maximum=1,
    )
    calm_share: float = option(
        0.05, "share of a prediction's CPU work", "So little slows nothing down measurably (heuristic).", maximum=1
    )
    slowdown: float = option(
        1.2, "times the median while calm", "Within a fifth lies the usual spread of durations (heuristic)."
    )
    explained_share: float = option(
        0.5,
        "share of the extra time",
        "Where others worked for less of it, something else makes these predictions long (heuristic).",
        maximum=1,
    )
    affected_share: float = option(0.1, "share of predictions", "Fewer are chance meetings (heuristic).", maximum=1)
    cpu_share: float = option(
        0.2,
        "share of a prediction's time",
        "Two models that share a core double their CPU work; with less of it, a prediction slows down by less than "
        "`slowdown`.",
        maximum=1,
    )
    min_compared: int = option(
        5, "predictions", "A median of fewer predictions, disturbed or calm, is chance (heuristic)."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Predictions with CPU work that can be compared: shape (predictions,) each."""

    rows: pd.DataFrame
    """None overlaps another one of the model, or is the first after a load."""
    cpu_ns: IntArray
    """Time with CPU work of the prediction."""
    at_risk_ns: IntArray
    """Time that other CPU work can make longer: the CPU work, or all of a prediction of a model that uses no other
    compute unit, which may also wait for the CPU."""
    shared_ns: IntArray
    """Part of it in which other models worked on the CPU."""
    overlap: FloatArray
    """That part as a share, at the beginning: over as much time as the shortest tenth takes in all. A long prediction
    meets others more often; counted like this, its length makes no difference."""

    @property
    def durations(self) -> IntArray:
        """Durations of the predictions in ns."""
        return self.rows["duration_ns"].to_numpy()


def detect(view: ModelView, options: Options) -> Outcome:
    """Compares predictions during whose CPU work other models used the CPU with those that met none."""
    if view.predictions.empty:
        return NotApplicable(view.name, "No prediction was recorded.")
    own = view.compute[is_any(view.compute["kind"], Kind.CPU_COMPUTE) & view.compute["prediction"].notna().to_numpy()]
    if own.empty:
        return NotApplicable(view.name, "None of its recorded work ran on the CPU.")
    every = _cpu_work(view.trace)
    mine = every.index.isin(view.compute.index)
    if mine.all():
        return NotApplicable(view.name, f"No other model of this app has CPU work here. {_UNKNOWN}")
    others = every[~mine]
    found = _calls(view, own, others)
    part = float(np.median(found.cpu_ns / found.durations)) if len(found.rows) else 1.0
    if part < options.cpu_share:
        words = f"CPU work is {format_share(part)} of its predictions, too little to slow them down much."
        return NotApplicable(view.name, words)
    if len(found.rows) < 2 * options.min_compared:
        return InsufficientData(
            view.name,
            too_few(len(found.rows), 2 * options.min_compared, "with CPU work to compare")
            + " The first after a load, and those that overlap, are left out.",
            "Record the feature for longer, one prediction of the model at a time.",
        )
    disturbed, calm = found.overlap >= options.overlap_share, found.overlap <= options.calm_share
    share = float(disturbed.mean())
    affected = Metric("predictions with other CPU work", share, "share", options.affected_share, Direction.ABOVE)
    if not affected.reached or not disturbed.any():
        words = f"Other models worked on the CPU during {format_share(share)} of its predictions. {_UNKNOWN}"
        return Passed(view.name, words, (affected,))
    if min(int(disturbed.sum()), int(calm.sum())) < options.min_compared:
        return InsufficientData(
            view.name,
            f"Other models worked on the CPU during {disturbed.sum():,} of "
            f"{format_count(len(found.rows), 'prediction')}, and {calm.sum():,} met none; {options.min_compared} of "
            "each are needed to tell what difference that makes.",
            "Record for longer, with phases in which each model runs alone.",
        )
    return _compared(view, found, (own, others), (disturbed, calm), affected, options)


_UNKNOWN = "CPU work of the app itself and of other processes is not recorded."


_KEPT: WeakKeyDictionary[Trace, pd.DataFrame] = WeakKeyDictionary()


def _cpu_work(trace: Trace) -> pd.DataFrame:
    """CPU work of all models of the app, with the columns of times and `model`; found once per trace."""
    if trace not in _KEPT:
        chosen = is_any(trace.compute["kind"], Kind.CPU_COMPUTE) & (trace.compute["duration_ns"].to_numpy() > 0)
        _KEPT[trace] = trace.compute.loc[chosen, ["start_ns", "duration_ns", "model"]]
    return _KEPT[trace]


def _calls(view: ModelView, own: pd.DataFrame, others: pd.DataFrame) -> Calls:
    """O(n log n) in the predictions and CPU rows."""
    rows = view.predictions
    begin = rows["start_ns"].to_numpy()
    end = begin + rows["duration_ns"].to_numpy()
    place = rows.index.get_indexer(pd.Index(own["prediction"].to_numpy(dtype=np.int64)))
    known = place >= 0
    place, start = place[known], own["start_ns"].to_numpy()[known]
    stop = start + own["duration_ns"].to_numpy()[known]
    low, high = np.full(len(rows), np.iinfo(np.int64).max), np.full(len(rows), -1)
    np.minimum.at(low, place, start)
    np.maximum.at(high, place, stop)
    times, depth = depth_profile(begin, end)
    alone = integrate(times, (depth > 1).astype(np.int64), begin, end) == 0
    kept = (high > low) & alone & view.warm
    cpu = union_length_by_group(place, start, stop, len(rows))[kept]
    if _elsewhere(view):
        mine, low, high = covered_by(own), low[kept], high[kept]
    else:
        mine, low, high = covered_by(rows[kept]), begin[kept], end[kept]
    first = np.minimum(low + (int(np.quantile(high - low, 0.1)) if len(low) else 0), high)
    working, both = depth_profile(*mine), depth_profile(*shared_time(mine, covered_by(others)))
    overlap = integrate(*both, low, first) / np.maximum(integrate(*working, low, first), 1)
    return Calls(rows[kept], cpu, integrate(*working, low, high), integrate(*both, low, high), overlap)


def _elsewhere(view: ModelView) -> bool:
    """Whether work of the model ran on the Neural Engine or the GPU, or was asked of them."""
    return not view.hardware.empty or bool(is_any(view.compute["kind"], Kind.GPU_REQUEST, Kind.ANE_REQUEST).any())


def _compared(
    view: ModelView,
    found: Calls,
    work: tuple[pd.DataFrame, pd.DataFrame],
    groups: tuple[BoolArray, BoolArray],
    affected: Metric,
    options: Options,
) -> Outcome:
    """The answer where enough predictions met others, and enough met none: `groups`, of shape (predictions,) each.
    `work` is CPU work of the model and of others."""
    disturbed, calm = groups
    usual, slow = (float(np.median(found.durations[group])) for group in groups[::-1])
    extra = np.maximum(found.durations - usual, 0)
    longer = np.maximum(found.at_risk_ns - float(np.median(found.at_risk_ns[calm])), 0)
    filled = np.minimum(np.minimum(longer, found.shared_ns), extra)
    explained = (
        float(np.median((filled / np.maximum(extra, 1))[disturbed & (extra > 0)])) if extra[disturbed].any() else 1.0
    )
    metrics = (
        affected,
        Metric("slow-down with other CPU work", slow / usual, "ratio", options.slowdown, Direction.ABOVE),
        Metric("extra time that other CPU work fills", explained, "share", options.explained_share, Direction.ABOVE),
        Metric("median without other CPU work", usual, "ns"),
        Metric("median with other CPU work", slow, "ns"),
    )
    words = f"Predictions take {slow / usual:.2f} times as long while other models work on the CPU"
    if not metrics[1].reached:
        return Passed(view.name, f"{words}.", metrics)
    if not metrics[2].reached:
        return Passed(view.name, f"{words}, but that fills only {format_share(explained)} of the extra time.", metrics)
    if certainty_of_longer(found.durations[disturbed], found.durations[calm]) < CERTAINTY:
        return Passed(view.name, f"{words}, but durations vary so much that this may be chance.", metrics)
    return _finding(view, found, work, disturbed, filled, metrics)


def _finding(
    view: ModelView,
    found: Calls,
    work: tuple[pd.DataFrame, pd.DataFrame],
    disturbed: BoolArray,
    filled: FloatArray,
    metrics: tuple[Metric, ...],
) -> Finding:
    """The finding with its cost: the extra time of disturbed predictions, as far as other models worked meanwhile."""
    own, others = work
    rows = found.rows[disturbed]
    called = own[own["prediction"].isin(rows.index).to_numpy()] if _elsewhere(view) else rows
    lost = shared_time(covered_by(called), covered_by(others))
    cost = min(int(filled[disturbed].sum()), int((lost.ends - lost.starts).sum()))
    spent = covered_ns(view.predictions)
    slow, usual = metrics[4].value or 0, metrics[3].value or 1
    return Finding(
        model=view.name,
        summary=(
            f"During {len(rows):,} of {format_count(len(found.rows), 'prediction')} {_names(others, lost)} worked on "
            f"the CPU too, and they take {slow / usual:.1f} times as long (median {format_duration(slow)} vs. "
            f"{format_duration(usual)})."
        ),
        metrics=metrics,
        cost=Cost(
            ns=cost,
            share=cost / spent,
            basis=(
                "Time that these predictions took beyond the median of undisturbed ones, as far as other models worked "
                "on the CPU meanwhile; share of the time with predictions of the model in flight."
            ),
        ),
        evidence=evidence_of(rows),
        evidence_total=len(rows),
        lost=lost,
    )


def _names(others: pd.DataFrame, lost: Intervals) -> str:
    """The models that worked in the lost time, most time first."""
    by_model = {
        str(name): int(integrate(*depth_profile(*covered_by(rows)), *lost).sum())
        for name, rows in others.groupby("model", observed=True)
    }
    working = sorted((name for name, time in by_model.items() if time), key=lambda name: (-by_model[name], name))
    more = f" and {len(working) - 2} more" if len(working) > 2 else ""
    return f"{' and '.join(working[:2]) if not more else ', '.join(working[:2])}{more}" if working else "other models"


DESCRIPTION = """
Two models that run on the CPU at the same time share its cores and its memory. Each of them uses several threads, so
both slow down, and the user waits for the sum of both.

## On the lanes

    Activity  |Prediction A       |
              |Prediction B       |
    Compute   |CPU A              |                  problem: both take twice their usual time
              |CPU B              |

    Activity  |Pred. A  ||Pred. B  |
    Compute   |CPU A    ||CPU B    |                 as it should be, where one may wait

## How it is measured

Per model, on predictions with CPU rows in the Compute lane that overlap no other one of the model and are not the
first after a load. Work of others are the CPU rows of the app's other models. A prediction is disturbed where they
cover `overlap_share` or more of the beginning of its CPU work, and calm at `calm_share` or less; the beginning is as
long as the shortest tenth, so a long prediction does not count as disturbed for its length. It is a finding when
`affected_share` of the predictions or more are disturbed, when their median is `slowdown` times that of the calm ones,
when longer CPU work beside others explains `explained_share` of the extra time or more (median), and when the
durations of both groups differ by more than chance: 2.5 standard errors of their rank sum. At least `min_compared` of
each are needed. For a model that uses no other compute unit the whole prediction counts as CPU work, since it may wait
for the CPU too. Models whose CPU work is less than `cpu_share` of a prediction are left out. The cost is the extra
time, as far as others worked meanwhile.

Core ML records the CPU work of models only. What the app itself or another process computes is not recorded, so this
check cannot see predictions that wait for it.

## What can look like it and is not

- Models that run at the same time on cores of their own: the overlap does not slow them down.
- Predictions with more work of their own: others then account for little of the extra time.
- A model whose predictions differ much in length, whoever runs beside it: the overlap makes no difference to them.
- Models that take turns: their CPU work does not overlap.
- Two models that always run together: without predictions of one alone there is nothing to compare with.
"""

FIX = """
Run one after the other, the one that the user waits for first:

```swift
actor ModelQueue {
    private var last: Task<Void, Never>?

    /// Runs one prediction after the other, in the order of the calls.
    func run<Output: Sendable>(
        _ work: @Sendable @escaping () async throws -> Output
    ) async throws -> Output {
        let previous = last
        let task = Task { await previous?.value; return try await work() }
        last = Task { _ = try? await task.value }
        return try await task.value
    }
}
```

Or move one of them to another compute unit, and measure both again:

```swift
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuAndNeuralEngine
let model = try await MLModel.load(contentsOf: url, configuration: configuration)
```
"""

DETECTOR = Detector(
    id="cpu-contention",
    title="Models on the CPU do not slow each other down",
    finding_title="Predictions are slow while another model works on the CPU",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Models that share the CPU take longer each, so the result that the user waits for comes later.",
    fix=FIX,
    references=(
        Reference(
            "MLModelConfiguration.computeUnits",
            "https://developer.apple.com/documentation/coreml/mlmodelconfiguration/computeunits",
        ),
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
    ),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
