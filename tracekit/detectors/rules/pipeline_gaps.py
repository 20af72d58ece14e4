"""`pipeline-gaps`: the app's own work around the predictions takes longer than they do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.detectors import (
    Detector,
    Finding,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    format_count,
    format_share,
    format_time,
    option,
    reached,
)
from tracekit.detectors.shared.idle_gaps import (
    GAP_SHARE,
    Activity,
    SequenceGaps,
    find_gaps,
    gap_finding,
    paced_words,
    unclear,
)
from tracekit.detectors.shared.references import SIGNPOSTER


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    gap_share: float = option(
        GAP_SHARE,
        "share of the time",
        "From one half on, the app's own work takes longer than the predictions, so a faster model hardly helps.",
        maximum=1,
    )
    min_calls: int = option(10, "predictions in a row", "Heuristic: fewer predictions in a row are not a pipeline.")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for work of the app that fills the time between calls."""
    gaps = find_gaps(view, options.min_calls)
    if not isinstance(gaps, SequenceGaps):
        return gaps
    share = gaps.idle.share
    metrics = (
        above("time without Core ML work", share, "share", options.gap_share),
        Metric("median gap per prediction", float(np.median(gaps.idle.idle_ns)), "ns"),
        Metric("median interval", float(np.median(gaps.idle.distance_ns)), "ns"),
    )
    if not reached(metrics, "time without Core ML work") or not share:
        return Passed(
            view.name,
            f"Core ML is idle {format_share(share)} of the time between successive predictions.",
            metrics,
        )
    if gaps.activity is Activity.PACED:
        return Passed(view.name, paced_words(gaps), metrics)
    if gaps.culprit != view.name:
        return Passed(view.name, f"Most of the gaps precede predictions of {gaps.culprit}.", metrics)
    if gaps.activity is Activity.UNCLEAR:
        return unclear(view, f"Core ML is idle {format_share(share)}")
    return _finding(view, gaps, metrics)


def _finding(view: ModelView, gaps: SequenceGaps, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: the gaps."""
    idle = gaps.idle
    gap = float(np.median(idle.idle_ns))
    busy = float(np.median(idle.busy_ns))
    if gaps.marked:
        why = f"The app's signposts are in the gaps: {', '.join(gaps.marked)}"
    elif gaps.between is not None and gaps.by_stacks:
        why = f"Code of the app runs for {format_share(gaps.between.running)} of that time"
    else:
        why = (
            "The gaps have similar lengths however long predictions take, so the app probably works in them; waiting "
            "for a camera, a timer or a sleep looks different"
        )
    return gap_finding(
        view,
        idle,
        (
            f"Core ML is idle {format_share(idle.share)} of the time during "
            f"{format_count(len(idle.distance_ns) + 1, 'successive prediction')}: gaps of {format_time(gap)} between "
            f"predictions of {format_time(busy)} (medians). {why}."
        ),
        metrics,
        gaps.sites,
        "Time between predictions without a load, compilation or prediction",
    )


DESCRIPTION = """
Scaling, converting and packing inputs, and decoding outputs, often take longer than the prediction between them. Then a
faster model does not help.

## On the timeline

    Activity  |Pred|                 |Pred|                 |Pred|     problem: the app works in the gaps
    Activity  |Pred| |Pred| |Pred| |Pred|                              expected

## How it is measured

Per model, in sequences of at least `min_calls` predictions. A gap of more than five times the usual interval ends a
sequence, so pauses of the user do not count. The time in which no model loads, compiles or predicts is compared with
the time from the first prediction to the last. Reported when it takes `gap_share` or more of that time, and the gaps
look like the app's own work.

Predictions at a steady rate wait for their input, so they are not reported. The rate is steady if intervals vary by no
more than 1%, if a short interval makes up for a long one, or if gaps get shorter by as much as predictions get longer.
Each sequence, and each part of one after a shift of its intervals, may keep a rate of its own: such parts wait for
their input, and the rest is judged. Otherwise gaps count as the app's work in any of three cases:

- The app's signposts fill half of them.
- Call stacks show code of the app for half of them. The finding then names the functions.
- Gaps are clearly not shorter where predictions are longer, they are at most 100 ms, and half their interquartile range
  is 0.07 to 0.3 of their median. Gaps shorter than a frame at 60 fps may vary less. With fewer than 80 gaps the upper
  limit is lower, since a few random waits can look alike.

If neither is clear, the check is not evaluated. If several models alternate, their predictions count as one, and the
finding names the model with the longest gaps before its predictions. A model alternates with another if it runs between
half or more of the other's predictions, and at most 5% of its runs overlap one. Any other model is independent: it does
not set a steady rate.

## Not a problem when

- Camera frames, audio chunks or timers set a steady rate.
- The user or the network triggers predictions: their intervals vary by any amount.
- Other models run or load between the predictions: this time is not idle.
- The app sleeps for a fixed time between predictions: gaps of a frame or more that hardly vary may be sleep or work.
  Without signposts or call stacks in them, the check is not evaluated.
"""

FIX = """
Find the app's own work between predictions with signposts, then make it shorter:

```swift
let signposter = OSSignposter(subsystem: "com.example.app", category: "Vision")
let state = signposter.beginInterval("Preprocess")
let input = try makeInput(from: frame)
signposter.endInterval("Preprocess", state)
```

- Pass the model what the app already has. An `MLFeatureValue` made from a `CVPixelBuffer` in the model's size and
  format needs no loop over pixels. In coremltools, `ct.ImageType` with `scale` and `bias` moves the normalization into
  the model.
- Use vImage, Core Image or Metal for the rest.
- Prepare the next input while the model works on this one (asynchronous prediction, iOS 17, macOS 14 or later):

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
    why="The model waits for the app most of the time, so a faster model changes little.",
    fix=FIX,
    references=(
        SIGNPOSTER,
        Reference(
            "coremltools: Image Input and Output",
            "https://apple.github.io/coremltools/docs-guides/source/image-inputs.html",
        ),
        Reference("yolo-ios-app#321", "https://github.com/ultralytics/yolo-ios-app/issues/321"),
    ),
    needs=("Core ML",),
    uses=("Signposts", "Call Stacks"),
    options=Options,
    detect=detect,
)
