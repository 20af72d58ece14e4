"""`app-conversion`: the app converts pixels or audio samples between predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.code import conversions
from tracekit.detectors import Outcome, Pattern, RecordingDetector, Reference, Trace, format_count, format_share
from tracekit.detectors.shared.call_stacks import AppWorkWords, judge_app_work, min_samples_option, share_option
from tracekit.detectors.shared.references import CORE_ML_USAGE

if TYPE_CHECKING:
    from tracekit.analysis.code import AppWork


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    share: float = share_option()
    min_samples: int = min_samples_option()


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for samples in which a thread that predicts converts pixels or audio samples."""
    return judge_app_work(trace, conversions(trace), options, _WORDS)


def _summary(work: AppWork) -> str:
    return (
        f"Between predictions, the app converts pixels or audio in {work.samples:,} of "
        f"{format_count(work.of, 'sample')} of the threads that predict ({format_share(work.share)})."
    )


_WORDS = AppWorkWords(
    which="of threads that predict",
    counted="samples in conversions",
    threads="these threads",
    none="No call stack shows the app converting pixels or audio between predictions.",
    little="of the samples of threads that predict are in conversions.",
    summary=_summary,
    saved="Inputs that arrive in the format of the model need none of it.",
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

Estimated savings are CPU time, 1 ms for each sample, since only running threads are sampled.

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
        CORE_ML_USAGE,
    ),
    needs=("Call Stacks",),
    options=Options,
    detect=detect,
)
