"""`compute-unit-ping-pong`: the work of a prediction goes back and forth between units (catalogue entry A06)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.device_switches import SHORT_CPU_NS, turns
from tracekit.detectors import (
    Detector,
    Finding,
    InsufficientData,
    Intervals,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    cost_of,
    covered_ns,
    finding,
    format_duration,
    format_share,
    no_prediction,
    option,
    reached,
    too_few_predictions,
    value_of,
)
from tracekit.detectors.caveats import units_not_recorded
from tracekit.detectors.shared.snippets import OPERATIONS
from tracekit.detectors.shared.wording import UNIT_NAMES, course_words

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.breakdown import DeviceRuns


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    changes: int = option(
        4,
        "changes of the unit per prediction",
        "One planned hand-over is normal; there and back twice is not.",
    )
    interrupted_share: float = option(
        0.05, "share of the predictions' time", "Less is hardly worth changing a model for (our judgement).", maximum=1
    )
    min_cpu_us: float = option(
        SHORT_CPU_NS / 1e3,
        "µs",
        "Shorter `CPU` rows come with a request to the GPU; a public recording has 28 µs for each.",
    )
    min_predictions: int = option(10, "predictions", "Fewer calls show no habit (our judgement).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for predictions whose main unit is interrupted by others again and again."""
    if view.predictions.empty:
        return no_prediction(view.name)
    frame = view.breakdown.frame
    known = frame["handoffs"].notna().to_numpy() & (frame["duration_ns"].to_numpy() > 0)
    rows = view.predictions[known]
    if len(rows) < options.min_predictions:
        return _too_few(view, len(rows), options)
    handoffs = frame["handoffs"].to_numpy(dtype=np.int64, na_value=0)[known]
    runs = None
    changes = handoffs
    # The quick count holds every change that the exact one does.
    if np.median(handoffs) >= options.changes:
        runs = turns(view.compute, view.hardware, rows.index, round(options.min_cpu_us * 1e3))
        changes = runs.changes(rows.index)
    usual = float(np.median(changes))
    if runs is None or usual < options.changes:
        metric = above("changes of the unit (median)", usual, "count", options.changes)
        words = f"Half of its predictions change the unit {usual:.0f} times or less"
        return Passed(view.name, f"{words if usual else 'Its work stays on one unit'}.", (metric,))
    share = int(_interruptions(runs).durations.sum()) / int(rows["duration_ns"].sum())
    metrics = (
        above("changes of the unit (median)", usual, "count", options.changes),
        above("main unit interrupted", share, "share", options.interrupted_share),
    )
    if not reached(metrics, "main unit interrupted") or not share:
        return Passed(
            view.name,
            f"Half of its predictions change the unit {usual:.0f} times or more, but that interrupts the "
            f"{UNIT_NAMES[runs.main_unit]} for {format_share(share)} of their time only.",
            metrics,
        )
    return _finding(view, rows[changes >= options.changes], runs, metrics)


def _too_few(view: ModelView, known: int, options: Options) -> InsufficientData:
    """What to say where too few predictions show which units worked in them."""
    not_recorded = units_not_recorded(view.trace)
    if known < len(view.predictions) and not_recorded:
        return InsufficientData(
            view.name,
            " ".join(entry.conclusion for entry in not_recorded),
            " ".join(dict.fromkeys(entry.advice for entry in not_recorded)),
        )
    return too_few_predictions(
        view.name,
        known,
        options.min_predictions,
        "whose compute units are known",
        record="Record the feature for longer, one prediction at a time.",
    )


def _interruptions(runs: DeviceRuns) -> Intervals:
    """When the main unit was interrupted, prediction by prediction."""
    _, starts, ends = runs.interruptions()
    return Intervals(starts, ends)


def _finding(view: ModelView, rows: pd.DataFrame, runs: DeviceRuns, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: the time for which the main unit was interrupted."""
    interruptions = _interruptions(runs)
    affected = interruptions.union()
    main = UNIT_NAMES[runs.main_unit]
    mean = int(interruptions.durations.sum()) / len(view.predictions)
    changes = value_of(metrics, "changes of the unit (median)")
    share = format_share(value_of(metrics, "main unit interrupted"))
    return finding(
        model=view.name,
        summary=(
            f"Half of its predictions change the compute unit {changes:.0f} times or more "
            f"(mostly {course_words(runs.usual_course())}). That interrupts the {main}, which does most of the work, "
            f"for {format_duration(mean)} of each prediction on average ({share} of its time)."
        ),
        metrics=(*metrics, Metric("mean interruption of a prediction", mean, "ns")),
        cost=cost_of(
            affected.covered_ns,
            covered_ns(view.predictions),
            (
                f"Time between two turns of the {main} in one prediction, of which it would need a part to do the work "
                "of the other units itself; share of the time with predictions of the model in flight."
            ),
        ),
        rows=rows,
        affected=affected,
    )


DESCRIPTION = """
A model of which one unit cannot run every operation is split, and its parts run where they can. Each hand-over costs
copies and synchronisation, and the unit that does most of the work stands still meanwhile.

## On the lanes

    Activity       |Prediction                                |
    Compute              |CPU|      |CPU|      |CPU|               problem: back and forth
    Neural Engine    |Op0|    |Op2|      |Op4|    |Op6|

    Activity       |Prediction             |
    Compute                       |CPU  |                          as it should be: one hand-over
    Neural Engine    |Op0         |

## How it is measured

Per model, on predictions of which is known which units worked in them. Execution rows of the Neural Engine and the GPU
and `CPU` rows of at least `min_cpu_us`, in the order of their starts, are the turns of the units; requests stand for
a unit whose execution was not recorded in the prediction. It is a finding when half of the predictions or more change
the unit `changes` times, and when the time between two turns of the unit that does most of the work is
`interrupted_share` of the predictions' time or more. Fewer than `min_predictions` predictions are not judged. The cost
is the time of these interruptions; work before the first and after the last turn of that unit is none.

## What can look like it and is not

- One planned hand-over, as from the Neural Engine to the GPU.
- A pipeline whose stages run on different units, one after the other.
- The short `CPU` row that comes with each request to the GPU.
- Gaps in which no other unit works: `neural-engine-fragmentation` judges those of the Neural Engine.
"""

FIX = (
    """
Find the operations that run elsewhere, and replace them:

"""
    + OPERATIONS
    + """

Where they cannot be replaced, move them to the beginning or the end of the model, or keep the whole model on fewer
units and measure both:

```swift
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuAndGPU
let model = try await MLModel.load(contentsOf: url, configuration: configuration)
```
"""
)

DETECTOR = Detector(
    id="compute-unit-ping-pong",
    title="Predictions stay on their compute unit",
    finding_title="Predictions go back and forth between compute units",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Each change of the unit costs copies and synchronisation, while the unit that matters stands still.",
    fix=FIX,
    references=(
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
        Reference(
            "A model in 14 parts with the CPU between them (onnxruntime 28022)",
            "https://github.com/microsoft/onnxruntime/issues/28022",
        ),
        Reference("MLComputePlan", "https://developer.apple.com/documentation/coreml/mlcomputeplan-1w21n"),
    ),
    needs=("Core ML",),
    uses=("Neural Engine", "GPU"),
    options=Options,
    detect=detect,
)
