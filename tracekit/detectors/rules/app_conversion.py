"""`app-conversion`: the app converts pixels or audio samples between predictions."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.code import conversions
from tracekit.detectors import (
    InsufficientData,
    Outcome,
    Passed,
    Pattern,
    RecordingDetector,
    Reference,
    Trace,
    above,
    cost_of,
    finding,
    format_count,
    format_share,
    option,
    reached,
)
from tracekit.detectors.shared.call_stacks import MIN_SAMPLES, nothing_to_ask

_OF = "the samples of these threads"


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    share: float = option(0.1, "share of samples", "Heuristic: below a tenth, other work comes first.", maximum=1)
    min_samples: int = option(
        MIN_SAMPLES, "samples", "Heuristic: a sample stands for 1 ms, and less than 20 ms hardly matters."
    )


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for samples in which a thread that predicts converts pixels or audio samples."""
    app_work = conversions(trace)
    if (answer := nothing_to_ask(trace)) is not None or app_work is None:
        return answer or InsufficientData(
            None, "No call stack could be read.", "Record with --instrument 'Time Profiler'."
        )
    if app_work.of < options.min_samples:
        return InsufficientData(
            None,
            f"{format_count(app_work.of, 'sample')} of threads that predict, {options.min_samples} needed.",
            "Record the feature for longer.",
        )
    metrics = (
        above("samples in conversions", app_work.samples, "count", options.min_samples),
        above("share of the samples of these threads", app_work.share, "share", options.share),
    )
    if not app_work.samples:
        return Passed(None, "No call stack shows the app converting pixels or audio between predictions.", metrics)
    if not all(reached(metrics, metric.name) for metric in metrics):
        return Passed(
            None, f"{format_share(app_work.share)} of the samples of threads that predict are in conversions.", metrics
        )
    return finding(
        model=None,
        summary=(
            f"Between predictions, the app converts pixels or audio in {app_work.samples:,} of "
            f"{format_count(app_work.of, 'sample')} of the threads that predict ({format_share(app_work.share)})."
        ),
        metrics=metrics,
        cost=cost_of(
            app_work.time.covered_ns,
            round(app_work.time.covered_ns / app_work.share),
            "Time that the samples in conversions stand for, 1 ms each. Inputs that arrive in the format of the model "
            "need none of it.",
            of=_OF,
        ),
        rows=app_work.pieces,
        affected=app_work.time,
        call_sites=app_work.sites,
    )


DESCRIPTION = """
Cameras, files and microphones deliver other formats and sizes than a model takes. An app that scales, rotates or
converts each input on the CPU, on the thread that predicts, makes the compute unit wait for it.

## On the timeline

    Worker  |convert    |Pred|  |convert    |Pred|  |convert    |Pred|     problem
    Worker  |Pred|Pred|Pred|                                               expected: nothing to convert

## How it is measured

From call stacks: samples in functions that convert pixels or audio samples and that code of the app calls
(`vImageConvert...`, `vImageScale...`, `-[CIContext render:...]`, `CGContextDrawImage`,
`VTPixelTransferSessionTransferImage`, `-[AVAudioConverter convertTo...]`, `vDSP_vflt...` and the like), between
predictions of the same thread, as a share of all samples of the threads that do so, without those in loads and
compilations. A gap of more than five times the usual one separates two bursts, and does not count. Reported from
`min_samples` samples and `share` on. Loops that the app wrote itself are not known as conversions.

## Not a problem when

- The app converts images that it shows, on another thread.
- Conversions of the next input run while the model predicts, on a thread of their own.
- Core ML or Vision converts inputs itself, inside its own calls: see float-conversion and excess-data-copies.
"""

FIX = """
Let inputs arrive in the format and size that the model takes, so that the app converts nothing.

```swift
// A camera can deliver the pixel format of the model.
let format = kCVPixelBufferPixelFormatTypeKey as String
output.videoSettings = [format: kCVPixelFormatType_32BGRA]
```

Give the model an image input: Core ML then takes pixel buffers as they are, and scaling of values is part of the model.

```python
image = ct.ImageType(shape=(1, 3, 512, 512), scale=1 / 255)
model = ct.convert(traced, inputs=[image])
```

Where a conversion is needed, do it on the GPU, or on another thread while the model predicts the input before, into
buffers that are reused.
"""

DETECTOR = RecordingDetector(
    id="app-conversion",
    title="Inputs arrive in the format of the model",
    finding_title="The app converts inputs between predictions",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="The compute unit waits while the CPU converts each input.",
    fix=FIX,
    references=(
        Reference(
            "Core ML Tools: image inputs", "https://apple.github.io/coremltools/docs-guides/source/image-inputs.html"
        ),
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
    ),
    needs=("Call Stacks",),
    options=Options,
    detect=detect,
)
