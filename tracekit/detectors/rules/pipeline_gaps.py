"""`pipeline-gaps`: the app's own work around the predictions takes longer than they do (catalogue entry A14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.detectors.framework import Detector, ModelView, Reference
from tracekit.detectors.options import option
from tracekit.detectors.outcomes import (
    Direction,
    Finding,
    Metric,
    Outcome,
    Passed,
)
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.shared.idle_gaps import (
    Activity,
    Pauses,
    evidence_of_pauses,
    find_pauses,
    paced_words,
    pause_cost,
    unclear,
)
from tracekit.units import format_count, format_duration, format_share

GAP_SHARE = 0.5
"""Share of the time from which on the pauses outweigh the predictions."""


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    gap_share: float = option(
        GAP_SHARE,
        "share of the time",
        "From one half on, the app's own work takes longer than the predictions, so that no faster model helps.",
        maximum=1,
    )
    min_calls: int = option(10, "predictions in a row", "Fewer calls in a row are no pipeline (our judgement).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for work of the app that fills the time between calls."""
    found = find_pauses(view, options.min_calls)
    if not isinstance(found, Pauses):
        return found
    share = found.idle.share
    metrics = (
        Metric("time without Core ML work", share, "share", options.gap_share, Direction.ABOVE),
        Metric("median pause per prediction", float(np.median(found.idle.idle_ns)), "ns"),
        Metric("median time from prediction to prediction", float(np.median(found.idle.distance_ns)), "ns"),
    )
    if not metrics[0].reached or not share:
        return Passed(
            view.name,
            f"While predictions follow each other, Core ML is idle {format_share(share)} of the time.",
            metrics,
        )
    if found.activity is Activity.PACED:
        return Passed(view.name, paced_words(found.idle), metrics)
    if found.culprit != view.name:
        return Passed(view.name, f"Most of the pauses lie before the predictions of {found.culprit}.", metrics)
    if found.activity is Activity.UNCLEAR:
        return unclear(view, f"Core ML is idle {format_share(share)}")
    return _finding(view, found, metrics)


def _finding(view: ModelView, found: Pauses, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: the pauses."""
    idle = found.idle
    lost, cost = pause_cost(idle, "Time between predictions in which no load, compilation or prediction ran")
    pause = float(np.median(idle.idle_ns))
    busy = float(np.median(idle.busy_ns))
    if found.marked:
        why = f"Signposts of the app lie in the pauses: {', '.join(found.marked)}"
    else:
        why = (
            "The pauses are similar, however long the predictions take, as when the app works in them; waiting for a "
            "camera, a timer or a sleep looks different"
        )
    return Finding(
        model=view.name,
        summary=(
            f"While {format_count(len(idle.distance_ns) + 1, 'prediction')} follow each other, Core ML is idle "
            f"{format_share(idle.share)} of the time: {format_duration(pause)} between two predictions, each of which "
            f"takes {format_duration(busy)} (medians). {why}."
        ),
        metrics=metrics,
        cost=cost,
        evidence=evidence_of_pauses(view, idle),
        evidence_total=len(idle.start_ns),
        lost=lost,
    )


DESCRIPTION = """
Scaling, converting and packing inputs, and decoding outputs, often take longer than the prediction between them. A
faster model does not help then.

## On the lanes

    Activity  |Pred|                 |Pred|                 |Pred|     problem: the app works in the pauses
    Activity  |Pred| |Pred| |Pred| |Pred|                              as it should be

## How it is measured

Per model, in sequences of at least `min_calls` calls; a pause of more than five times the usual distance from call to
call ends one, so that a user who pauses does not count. The time in which nothing of Core ML ran, of any model, is set
against the time from the first call to the last; it is a finding from `gap_share` on. Calls that keep a beat wait for
their input: their distances vary by no more than 1 %, or a long distance is made up for by a short one, or pauses are
shorter by as much as calls are longer. Otherwise the pauses count as work of the app if its signposts fill half of
them, or if they are certainly no shorter where calls are longer, no longer than 100 ms, and half the distance between
their quartiles is 0.07 to 0.3 of their median; pauses shorter than a frame at 60 fps may vary less. What is neither is
not judged. Where several models take turns, their calls count as one, and the finding names the one before whose calls
most time passes. Calls of a model that works by itself meanwhile do not make a beat: a model takes turns if it is used
in half of the steps from call to call, or more, and if 5 % of its uses at most overlap a call.

## What can look like it and is not

- Frames of a camera, chunks of audio, timers: they keep a beat.
- Calls that events of the user or the network bring about: their distances vary by any amount.
- Work of other models, and loads, between the calls: that time is not idle.
- An app that sleeps between calls for a fixed time: pauses of a frame and more that hardly vary may be sleep or work.
  Without signposts in them they are not judged.
"""

FIX = """
Measure the app's own work first: put signposts around it and look at it in Instruments.

```swift
let signposter = OSSignposter(subsystem: "com.example.app", category: "Vision")
let state = signposter.beginInterval("Preprocess")
let input = try makeInput(from: frame)
signposter.endInterval("Preprocess", state)
```

Then take it off the way of the predictions. Let the model take what the app has: an `MLFeatureValue` made from a
`CVPixelBuffer` in the size and format of the model needs no loop over pixels, and in coremltools `ct.ImageType` with
`scale` and `bias` moves the normalisation into the model. Use vImage, Core Image or Metal for what is left, and prepare
the next input while the model works on this one:

```swift
async let prediction = model.prediction(from: current)
let next = try makeInput(from: nextFrame)
let output = try await prediction
```
"""

DETECTOR = Detector(
    id="pipeline-gaps",
    title="Predictions follow each other closely",
    finding_title="The app's own work takes longer than the predictions",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="The model waits for the app most of the time, so that making it faster changes little.",
    fix=FIX,
    references=(
        Reference("OSSignposter", "https://developer.apple.com/documentation/os/ossignposter"),
        Reference(
            "coremltools: Image Input and Output",
            "https://apple.github.io/coremltools/docs-guides/source/image-inputs.html",
        ),
        Reference("yolo-ios-app#321", "https://github.com/ultralytics/yolo-ios-app/issues/321"),
    ),
    needs=("Core ML",),
    uses=("Signposts",),
    options=Options,
    detect=detect,
)
