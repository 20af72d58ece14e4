"""`serial-predictions`: each call waits until the app has dealt with the last one (catalogue entry A17)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.detectors.framework import Detector, ModelView, Reference
from tracekit.detectors.options import option
from tracekit.detectors.outcomes import (
    Direction,
    Finding,
    InsufficientData,
    Metric,
    Outcome,
    Passed,
)
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.rules.pipeline_gaps import GAP_SHARE
from tracekit.detectors.shared.idle_gaps import (
    Activity,
    Pauses,
    device_idle,
    evidence_of_pauses,
    find_pauses,
    is_autoregressive,
    may_be_one_answer,
    paced_words,
    pause_cost,
    unclear,
)
from tracekit.intervals import depth_profile
from tracekit.units import format_count, format_duration, format_share


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    gap_share: float = option(
        0.2,
        "share of the time",
        "Below a fifth, overlapping calls gains little for its trouble (our judgement).",
        maximum=1,
    )
    min_calls: int = option(20, "predictions in a row", "Shorter runs are over before it matters (our judgement).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for pauses that would vanish if calls overlapped."""
    found = find_pauses(view, options.min_calls)
    if not isinstance(found, Pauses):
        return found
    reason = _other_reason(view, found, options)
    if reason:
        return Passed(view.name, reason, (_idle_metric(found, options),))
    resting = int(device_idle(view, found.idle).sum()) / max(int(found.idle.distance_ns.sum()), 1)
    metrics = (
        Metric("time in which the compute unit rests", resting, "share", options.gap_share, Direction.ABOVE),
        _idle_metric(found, options),
        Metric("median pause per prediction", float(np.median(found.idle.idle_ns)), "ns"),
    )
    if not metrics[0].reached or not resting:
        return Passed(
            view.name,
            f"While predictions follow each other, the compute unit rests {format_share(resting)} of the time.",
            metrics,
        )
    if is_autoregressive(view):
        words = "Each prediction seems to need the result of the one before, as with the tokens of a language model."
        return Passed(view.name, words, metrics)
    if found.activity is Activity.UNCLEAR:
        return unclear(view, f"the compute unit rests {format_share(resting)}")
    if may_be_one_answer(view):
        return InsufficientData(
            view.name,
            "The only sequence begins as a language model does: a long prediction for the prompt, then one for each "
            "token. If each needs the result of the one before, none can overlap another.",
            "Record the feature twice in one recording, with a pause in between.",
        )
    return _finding(view, found, metrics)


def _idle_metric(found: Pauses, options: Options) -> Metric:
    return Metric("time without Core ML work", found.idle.share, "share", options.gap_share, Direction.ABOVE)


def _other_reason(view: ModelView, found: Pauses, options: Options) -> str:
    """Why the pauses are none that overlapping would fill; empty where they may be."""
    if found.idle.share < options.gap_share:
        return f"While predictions follow each other, Core ML is idle {format_share(found.idle.share)} of the time."
    starts = view.predictions["start_ns"].to_numpy()
    _, depth = depth_profile(starts, starts + view.predictions["duration_ns"].to_numpy())
    if int(depth.max(initial=0)) > 1:
        return "Predictions overlap already."
    if found.activity is Activity.PACED:
        return paced_words(found.idle)
    if found.idle.share >= GAP_SHARE:
        return "The pauses are longer than the predictions: see pipeline-gaps."
    if found.culprit != view.name:
        return f"Most of the pauses lie before the predictions of {found.culprit}."
    return ""


def _finding(view: ModelView, found: Pauses, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: the pauses, all of which another call could fill."""
    idle = found.idle
    lost, cost = pause_cost(
        idle, "Time between predictions in which no load, compilation or prediction ran, and another one could"
    )
    busy, distance = (float(np.median(part)) for part in (idle.busy_ns, idle.distance_ns))
    marked = f" ({', '.join(found.marked)})" if found.marked else ""
    return Finding(
        model=view.name,
        summary=(
            f"While {format_count(len(idle.distance_ns) + 1, 'prediction')} follow each other, each waits for the app: "
            f"one is made every {format_duration(distance)}, and {format_duration(float(np.median(idle.idle_ns)))} of "
            f"that pass without Core ML work{marked}. If none needs the result of the one before, two in flight would "
            f"make one every {format_duration(busy)} or so."
        ),
        metrics=metrics,
        cost=cost,
        evidence=evidence_of_pauses(view, idle),
        evidence_total=len(idle.start_ns),
        lost=lost,
    )


DESCRIPTION = """
An app that asks for a prediction, deals with the result, prepares the next input and only then asks again leaves the
compute unit idle in between. With two calls in flight, one is computed while the app works on the other.

## On the lanes

    Activity  |Pred   |  app  |Pred   |  app  |Pred   |          problem
    Activity  |Pred   |Pred   |Pred   |                          as it should be: the app works meanwhile

## How it is measured

Per model, in sequences of at least `min_calls` calls of which no two overlap; a pause of more than five times the usual
distance from call to call ends one. The time without any load, compilation or prediction must be `gap_share` of the
time from the first call to the last, also without the parts in which the model's compute units worked for somebody
else. From one half on the app's own work is the bottleneck, and `pipeline-gaps` says so instead. As there, calls that
keep a beat wait for their input, and pauses that look neither like work nor like a beat are not judged.

## What can look like it and is not

- Calls that need the result of the one before, as with a language model. They are recognised by a long first call, or
  by a call of another model, before each sequence. One sequence that begins like that is not judged.
- A sleep between calls for a fixed time: as with `pipeline-gaps`, it is not judged.
- Frames of a camera, chunks of audio, timers: they keep a beat.
- A batch call, which shows as single predictions in sequence without pauses.
- Several models that take turns: the time of the others is not idle.
"""

FIX = """
Use the asynchronous prediction (iOS 17, macOS 14) and keep two calls in flight:

```swift
try await withThrowingTaskGroup(of: Void.self) { group in
    for (index, image) in images.enumerated() {
        if index >= 2 { _ = try await group.next() }
        group.addTask {
            let input = try makeInput(from: image)
            let output = try await model.prediction(from: input)
            try await store(output, for: index)
        }
    }
}
```

Where all inputs are there from the beginning, hand them over together: `model.predictions(fromBatch:)`.
"""

DETECTOR = Detector(
    id="serial-predictions",
    title="The compute unit works while the app does",
    finding_title="Predictions wait for the app, one after the other",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="The compute unit rests while the app works, and the other way round, so that all takes longer than it must.",
    fix=FIX,
    references=(
        Reference(
            "WWDC23 10049: Improve Core ML integration with async prediction",
            "https://developer.apple.com/videos/play/wwdc2023/10049/",
        ),
        Reference(
            "MLModel.predictions(fromBatch:)",
            "https://developer.apple.com/documentation/coreml/mlmodel/predictions(frombatch:)",
        ),
    ),
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Signposts"),
    options=Options,
    detect=detect,
)
