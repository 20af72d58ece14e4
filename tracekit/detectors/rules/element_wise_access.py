"""`element-wise-access`: the app reads or writes a multi-array one element at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.code import element_access
from tracekit.detectors import Outcome, Pattern, RecordingDetector, Reference, Trace, format_count, format_share
from tracekit.detectors.shared.call_stacks import AppWorkWords, judge_app_work, min_samples_option, share_option

if TYPE_CHECKING:
    from tracekit.analysis.code import AppWork


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    share: float = share_option(" A public recording of a speech recognizer has a fifth.")
    min_samples: int = min_samples_option()


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for samples in which the app reads or writes single elements."""
    return judge_app_work(trace, element_access(trace), options, _WORDS)


def _summary(work: AppWork) -> str:
    return (
        f"{work.samples:,} of {format_count(work.of, 'sample')} outside of loads read or write single elements of "
        f"MLMultiArray ({format_share(work.share)})."
    )


_WORDS = AppWorkWords(
    which="outside of loads",
    counted="samples in element access",
    threads="its threads",
    none="No call stack shows the app reading or writing single elements.",
    little="of the samples of its threads are in reading or writing single elements.",
    summary=_summary,
    saved="Reading or writing through a pointer takes a small part of it.",
)


DESCRIPTION = """
`array[[0, i]]` looks like access to memory and is a call: each element is boxed into an `NSNumber`, and its position is
computed from strides. For inputs and outputs with thousands of elements, that can take longer than the prediction.

## On the timeline

    Main thread  |Pred|[i][i][i][i][i][i]|Pred|[i][i][i][i][i][i]     problem: the app reads element by element
    Main thread  |Pred|[]|Pred|[]|Pred|[]                             expected

## How it is measured

From call stacks: samples of running threads in functions such as `-[MLMultiArray objectAtIndexedSubscript:]` or
`setObject:atIndexedSubscript:` that code of the app calls, as a share of all samples of the threads that do so, without
those in loads and compilations. Reported from `min_samples` samples and `share` on. The finding names the functions and
lines. A function that the compiler put into another one is known by its line.

Estimated savings are CPU time, 1 ms for each sample, since only running threads are sampled. Predictions start earlier
by that much only if the access is on the thread that predicts. On another thread, the fix frees a CPU core.

## Not a problem when

- Few elements are read, such as the scores of a classifier: that takes few samples.
- Core ML or another framework reads elements for itself: only code of the app counts.
- Elements are read once, while the app starts: then it is a small share of what the thread does.
"""

FIX = """
Read and write multi-arrays through a pointer, or as MLShapedArray.

```swift
// All elements at once, without boxing.
input.withUnsafeMutableBufferPointer(ofType: Float32.self) { buffer, strides in
    buffer.baseAddress!.update(from: samples, count: samples.count)
}

let scores = MLShapedArray<Float>(output).scalars        // [Float]
```

Check `strides` where the array is not contiguous. For loops over many elements, vDSP and BNNS work on such buffers too.
"""

DETECTOR = RecordingDetector(
    id="element-wise-access",
    title="Multi-arrays are read and written as a whole",
    finding_title="The app reads or writes multi-arrays element by element",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Each element costs a call and an object, and an array can have thousands of elements.",
    fix=FIX,
    references=(
        Reference("Apple: MLMultiArray", "https://developer.apple.com/documentation/coreml/mlmultiarray"),
        Reference("Apple: MLShapedArray", "https://developer.apple.com/documentation/coreml/mlshapedarray"),
    ),
    needs=("Call Stacks",),
    options=Options,
    detect=detect,
)
