"""`neural-engine-contention`: predictions queue for a Neural Engine that works for others (catalogue entry A08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.breakdown.breakdown import REASONS, Part, Unknown
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
from tracekit.detectors.shared.wording import too_few
from tracekit.intervals import depth_profile, integrate, union
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.frames import is_any
from tracekit.units import format_count, format_duration, format_share

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.neural_engine_queue import EngineWaits
    from tracekit.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    wait_share: float = option(
        0.2,
        "share of a prediction's time",
        "Heuristic: shorter waits are within the usual spread of latencies.",
        maximum=1,
    )
    affected_share: float = option(
        0.1, "share of predictions", "Heuristic: fewer predictions of two models meet by chance.", maximum=1
    )
    min_predictions: int = option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for predictions whose work on the Neural Engine begins when work of others ends."""
    if view.predictions.empty:
        return NotApplicable(view.name, "No prediction was recorded.")
    own = view.engine_rows
    called = own["prediction"].to_numpy(dtype=np.int64, na_value=-1)
    on_engine = view.predictions.index.isin(called) & (view.predictions["duration_ns"].to_numpy() > 0)
    named = is_any(own["attribution"], Attribution.LABEL, Attribution.EXACT).any()
    unclear = 0.0 if named else _unclear_share(view)
    if not on_engine.any() and not unclear:
        return NotApplicable(view.name, "None of its recorded work ran on the Neural Engine.")
    if not named and (view.trace.sharing.is_shared or unclear >= options.affected_share):
        return InsufficientData(
            view.name,
            "Rows of the Neural Engine name no model here, and others used the engine at the same time, so its own "
            "work cannot be told from theirs.",
            "Record with a newer Xcode and system, whose rows name the model, or once with this model alone.",
        )
    count = int(on_engine.sum())
    if count < options.min_predictions:
        return InsufficientData(
            view.name,
            too_few(count, options.min_predictions, "whose work on the Neural Engine is known"),
            "Record the feature for longer, so that the model is used more often.",
        )
    waits = view.engine_waits
    waited = waits.by_prediction(view.predictions.index, waits.others_ns)
    affected = on_engine & (waited > 0) & (waited >= options.wait_share * view.predictions["duration_ns"].to_numpy())
    share = int(affected.sum()) / count
    metrics = (
        Metric("predictions that waited for others", share, "share", options.affected_share, Direction.ABOVE),
        Metric("longest wait for others", int(waited.max()), "ns"),
    )
    if not metrics[0].reached or not affected.any():
        words = f"{int(affected.sum()):,} of {format_count(count, 'prediction')} waited for work of others"
        return Passed(
            view.name, f"{words if affected.any() else 'None of its predictions waited for others'}.", metrics
        )
    return _finding(view, waits, waited, affected, metrics)


def _unclear_share(view: ModelView) -> float:
    """Share of the predictions during which the engine worked for them or for another one in flight."""
    return float((view.breakdown.unknown[Part.ANE] == REASONS.index(Unknown.AMBIGUOUS)).mean())


def _finding(
    view: ModelView, waits: EngineWaits, waited: IntArray, affected: BoolArray, metrics: tuple[Metric, ...]
) -> Finding:
    """The finding with its cost: the time in which affected predictions waited for others."""
    rows = view.predictions[affected]
    chosen = (waits.others_ns > 0) & np.isin(waits.prediction, rows.index.to_numpy())
    lost = Intervals(*union(waits.start_ns[chosen], waits.end_ns[chosen]))
    cost = min(int(waited[affected].sum()), int((lost.ends - lost.starts).sum()))
    spent = covered_ns(view.predictions)
    median = float(np.median(waited[affected]))
    typical = float(rows["duration_ns"].median())
    return Finding(
        model=view.name,
        summary=(
            f"{len(rows):,} of {format_count(len(view.predictions), 'prediction')} waited while the Neural Engine "
            f"worked for others, half of them for {format_duration(median)} or more of the {format_duration(typical)} "
            f"that they take (median). {_whose(view, lost)}"
        ),
        metrics=(*metrics, Metric("median wait of these", median, "ns")),
        cost=Cost(
            ns=cost,
            share=cost / spent,
            basis=(
                "Time in which these predictions waited while the Neural Engine worked for others; share of the time "
                "with predictions of the model in flight."
            ),
        ),
        evidence=evidence_of(rows),
        evidence_total=len(rows),
        lost=lost,
    )


def _whose(view: ModelView, lost: Intervals) -> str:
    """Sentence for whose work the engine did in these times. Other processes are not named: labels do not tell them."""
    hardware = view.trace.hardware
    mine = np.zeros(len(hardware), np.bool_)
    mine[view.engine_rows.index.to_numpy()] = True
    executed = is_any(hardware["kind"], Kind.ANE_EXEC) & ~mine
    of_app = executed & is_any(hardware["attribution"], Attribution.LABEL, Attribution.EXACT)
    rows = hardware[of_app]
    by_model = {
        str(name): int(integrate(*_profile(group["start_ns"], group["duration_ns"]), *lost).sum())
        for name, group in rows.groupby("model", observed=True)
    }
    working = sorted((name for name, time in by_model.items() if time), key=lambda name: (-by_model[name], name))
    if not working:
        return "No row names another model of this app, so that the others were most likely other processes."
    whole = int((lost.ends - lost.starts).sum())
    part = min(sum(by_model.values()) / whole, 1.0)
    more = f" and {len(working) - 2} more" if len(working) > 2 else ""
    noun = "Another model" if len(working) == 1 else "Other models"
    return f"{noun} of this app ({', '.join(working[:2])}{more}) used it for {format_share(part)} of that time."


def _profile(starts: pd.Series, durations: pd.Series) -> tuple[IntArray, IntArray]:
    begin = starts.to_numpy()
    return depth_profile(*union(begin, begin + durations.to_numpy()))


DESCRIPTION = """
The Neural Engine runs one request after the other, from all processes. A model that queues behind another one looks
slow although its own work takes no longer.

## On the timeline

    Activity       |Prediction A          |
                   |Prediction B                    |
    Neural Engine    |A                  | |B      |        problem: B is queued for most of its time

    Activity       |Prediction A          ||Prediction B|
    Neural Engine    |A                  |    |B      |     expected, if A can go first

## How it is measured

Per model, on predictions with work on the Neural Engine. A prediction was queued if other work used the engine after
the prediction was ready, and its own work started right after that work ended, later than it does when the engine is
free (later than p95, and than twice the median). The hand-off time is measured in the recording. If other work had
nothing to do with the prediction, it would end at any time before the prediction's own work; the hand-off time is the
period in which more of it ends than that, with a probability of 5% or less for chance. The wait starts where the
prediction's own earlier work ends, and no earlier than the engine's last longer break.

A wait counts if it takes `wait_share` or more of the prediction. Reported when `affected_share` or more of the
predictions waited. At least `min_predictions` predictions are needed. Estimated savings are the time they waited. How
much of it the app gains depends on which of the models can wait.

## Not a problem when

- Other work runs next to that of the model: in a public measurement, two processes had twice the throughput of one, so
  overlap alone is harmless.
- Other work ended long before: the prediction was busy with something else.
- Other work ends while a prediction is on its way to the engine, without delaying it.
- Several predictions of the same model queue: see `concurrent-predictions`.
- Rows name no model: if other models or processes are active too, it is unknown whose rows they are, and the check is
  not evaluated.
"""

FIX = """
Run the model that the user waits for first, and the other one after it:

```swift
actor NeuralEngineQueue {
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

Or move the less important model to another compute unit, and measure both again:

```swift
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuAndGPU
let background = try await MLModel.load(contentsOf: url, configuration: configuration)
```

If other processes did the work, close them and record again before you change anything.
"""

DETECTOR = Detector(
    id="neural-engine-contention",
    title="Predictions get the Neural Engine when they need it",
    finding_title="Predictions queue behind other work on the Neural Engine",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="A queued prediction takes longer than its own work, and how long depends on other models or processes.",
    fix=FIX,
    references=(
        Reference(
            "MLModelConfiguration.computeUnits",
            "https://developer.apple.com/documentation/coreml/mlmodelconfiguration/computeunits",
        ),
        Reference(
            "Two processes on the Neural Engine (coremltools 1356)",
            "https://github.com/apple/coremltools/issues/1356",
        ),
    ),
    needs=("Core ML", "Neural Engine"),
    options=Options,
    detect=detect,
)
