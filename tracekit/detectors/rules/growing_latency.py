"""`growing-latency`: each call of a sequence takes longer than the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.latency import Growth, GrowthRule
from tracekit.detectors import (
    Detector,
    Finding,
    InsufficientData,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    finding,
    format_count,
    format_time,
    no_prediction,
    option,
)
from tracekit.detectors.shared.comparable_predictions import Calls, comparable_calls, extra_time, judged
from tracekit.detectors.shared.latency_causes import Cause, GrowthReading, read_growth

if TYPE_CHECKING:
    from tracekit.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_calls: int = option(20, "predictions", "Heuristic: in fewer predictions, a trend can be chance.")
    correlation: float = option(
        0.8,
        "rank correlation",
        "Heuristic: nearly every prediction is then longer than those before it (1 means every one).",
        maximum=1,
    )
    ratio: float = option(
        1.5,
        "last tenth to first tenth",
        "Heuristic: half as long again is more than noise and a warm device explain.",
    )


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for sequences in which calls become longer and longer, and start afresh with the next one."""
    if len(view.predictions) == 0:
        return no_prediction(view.name)
    rule = GrowthRule(options.min_calls, options.correlation, options.ratio)
    return judged(view, comparable_calls(view), lambda calls: _judge(view, calls, rule))


def _judge(view: ModelView, calls: Calls, rule: GrowthRule) -> Outcome:
    reading = read_growth(view, calls, rule)
    growth = reading.growth
    if len(calls.rows) < rule.min_calls:
        return calls.too_few(view.name, rule.min_calls)
    if not len(growth.count):
        return InsufficientData(
            view.name,
            f"Needs {rule.min_calls} comparable predictions in a row; found {len(calls.rows):,} separated by gaps.",
            "Record a longer sequence of predictions, such as a long answer of a language model.",
        )
    metrics = (
        Metric("sequences", len(growth.count), "count"),
        Metric("sequences that grow", int(growth.grows.sum()), "count"),
        above("rank correlation of latency with order", _median(growth.correlation), "ratio", rule.correlation),
        above("last tenth of a sequence to the first", float(np.median(growth.ratio)), "ratio", rule.ratio),
    )
    if reading.cause is None:
        return Passed(view.name, _passed(growth, rule), metrics)
    if reading.cause is Cause.HEAT:
        return Passed(view.name, "Latency rises with the device's thermal state: see thermal-throttling.", metrics)
    if reading.cause is Cause.UNCLEAR:
        return InsufficientData(
            view.name,
            f"Latency rises to {float(growth.ratio[growth.grows].max()):.1f}x, so slowly that heat could be the cause.",
            "Start on a cool device, record at least two such sequences, and add the Thermal State instrument.",
        )
    return _finding(view, calls, reading, metrics)


def _median(values: FloatArray) -> float | None:
    """Median of what was measured."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _passed(growth: Growth, rule: GrowthRule) -> str:
    several = len(growth.count) > 1
    words = format_count(len(growth.count), "sequence") if several else "a sequence"
    ratio = float(np.median(growth.ratio))
    steadily = ", without a steady rise" if ratio >= rule.ratio else ""
    return (
        f"In {words} of {'up to ' if several else ''}{int(growth.count.max()):,} predictions, the last tenth takes "
        f"{ratio:.2f}x as long as the first{' (median)' if several else ''}{steadily}."
    )


def _finding(view: ModelView, calls: Calls, reading: GrowthReading, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: what calls took beyond the beginning of their sequence."""
    growth = reading.growth
    base = np.zeros(len(calls.rows))
    for number in np.flatnonzero(growth.grows).tolist():
        low = int(growth.first[number])
        base[low : low + int(growth.count[number])] = growth.start_ns[number]
    grown = base > 0
    affected, cost = extra_time(
        view,
        calls.where(grown),
        base[grown],
        "Time predictions took beyond the median of the first tenth of their sequence",
    )
    rows = calls.rows[grown & (calls.durations > base)]
    longest = int(growth.count[growth.grows].max())
    start, ratio = float(np.median(growth.start_ns[growth.grows])), float(np.median(growth.ratio[growth.grows]))
    sequences = int(growth.grows.sum())
    where = f"within a sequence of {longest:,} predictions"
    if sequences > 1:
        where = f"within {sequences:,} sequences of up to {longest:,} predictions"
    if reading.across:
        where = f"from sequence to sequence, over {longest:,} predictions"
    afresh = "; each sequence starts fast again" if growth.starts_afresh else ""
    return finding(
        model=view.name,
        summary=(
            f"Latency grows from {format_time(start)} to {format_time(start * ratio)} ({ratio:.1f}x) {where}{afresh}."
        ),
        metrics=metrics,
        cost=cost,
        rows=rows,
        affected=affected,
    )


DESCRIPTION = """
A model that processes its whole history in every prediction, such as a language model without a key/value cache, does
more work with each token. The first words come quickly, the last ones slowly.

## On the timeline

    Activity  |Pred|Pred |Pred  |Pred   |Pred    |Pred     |     problem
    Activity  |Pred|Pred|Pred|Pred|Pred|Pred|                     expected

## How it is measured

Per model, on its comparable predictions, which exclude the first after each load, those that overlap each other, those
that queued behind other work, and long predictions that open a sequence (a prompt before its tokens). A gap of more
than five times the usual interval starts a new sequence, and so does a drop in latency to less than two thirds. A
sequence of at least `min_calls` predictions grows if both hold:

- The rank correlation of latency and order is at least `correlation`, and clearly positive in both halves (which rules
  out a single jump).
- The median latency of the last tenth is at least `ratio` times that of the first tenth.

Reported when at least half of the sequences grow, or when all sequences together do because latency keeps rising from
one to the next. Where the thermal state was recorded, latency must grow while the state stays the same. Estimated
savings are the time beyond the latency at the beginning of the sequence.

## Not a problem when

- The device heats up: predictions are then slower in the hotter states. Without recorded states, only a rise within 20
  s, or one that starts over before the device could cool down (30 s), is evaluated.
- Latency jumps once, for example because the input changes: this is not growth.
- Predictions pile up and each queues behind those before it: they overlap, see `concurrent-predictions`.
- A setting changes, and the model is loaded again for it, or another instance or process uses it: only predictions on
  loads, instances and processes of alike latency are compared.
"""

FIX = """
Make the work of each prediction independent of the predictions before it.

For a language model, keep the key/value cache in a state of the model (iOS 18, macOS 15 or later), so each prediction
reads one new token:

```swift
let state = model.makeState()
for token in prompt {
    let output = try model.prediction(from: input(token), using: state)
}
```

```python
states = [
    ct.StateType(wrapped_type=ct.TensorType(shape=shape, dtype=np.float16), name=name)
    for name in ("keyCache", "valueCache")
]
mlmodel = ct.convert(traced, inputs=inputs, outputs=outputs, states=states,
                     minimum_deployment_target=ct.target.iOS18)
```

If the history has no end, limit it: with a sliding window over the last tokens or frames, every prediction does the
same work.
"""

DETECTOR = Detector(
    id="growing-latency",
    title="Predictions in a sequence take the same time",
    finding_title="Latency grows from prediction to prediction",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="The longer the user works with the feature, the slower it gets.",
    fix=FIX,
    references=(
        Reference(
            "WWDC24 10159: Bring your machine learning and AI models to Apple silicon",
            "https://developer.apple.com/videos/play/wwdc2024/10159/",
        ),
        Reference("MLModel.makeState()", "https://developer.apple.com/documentation/coreml/mlmodel/makestate()"),
        Reference(
            "coremltools: Stateful Models",
            "https://apple.github.io/coremltools/docs-guides/source/stateful-models.html",
        ),
    ),
    needs=("Core ML",),
    uses=("Thermal State",),
    on_inferred=True,
    options=Options,
    detect=detect,
)
