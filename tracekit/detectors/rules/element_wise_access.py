"""`element-wise-access`: the app reads or writes a multi-array one element at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.code import AppWork, element_access
from tracekit.detectors import (
    Finding,
    InsufficientData,
    Metric,
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

_OF = "the samples of its threads"


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    share: float = option(
        0.1,
        "share of samples",
        "Heuristic: below a tenth, other work comes first. A public recording of a speech recognizer has a fifth.",
        maximum=1,
    )
    min_samples: int = option(
        MIN_SAMPLES, "samples", "Heuristic: a sample stands for 1 ms, and less than 20 ms hardly matters."
    )


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for samples in which the app reads or writes single elements."""
    app_work = element_access(trace)
    if (answer := nothing_to_ask(trace)) is not None or app_work is None:
        return answer or InsufficientData(None, "No call stack could be read.", "Record with the Core ML template.")
    if app_work.of < options.min_samples:
        return InsufficientData(
            None,
            f"{format_count(app_work.of, 'sample')} outside of loads, {options.min_samples} needed.",
            "Record the feature for longer.",
        )
    metrics = (
        above("samples in element access", app_work.samples, "count", options.min_samples),
        above("share of the samples of its threads", app_work.share, "share", options.share),
    )
    if not app_work.samples:
        return Passed(None, "No call stack shows the app reading or writing single elements.", metrics)
    if not all(reached(metrics, metric.name) for metric in metrics):
        return Passed(
            None, f"{format_share(app_work.share)} of {_OF} are in reading or writing single elements.", metrics
        )
    return _finding(app_work, metrics)


def _finding(app_work: AppWork, metrics: tuple[Metric, ...]) -> Finding:
    return finding(
        model=None,
        summary=(
            f"{app_work.samples:,} of {format_count(app_work.of, 'sample')} outside of loads read or write single "
            f"elements of MLMultiArray ({format_share(app_work.share)})."
        ),
        metrics=metrics,
        cost=cost_of(
            app_work.time.covered_ns,
            round(app_work.time.covered_ns / app_work.share),
            "Time that the samples in element access stand for, 1 ms each. Reading or writing through a pointer takes "
            "a small part of it.",
            of=_OF,
        ),
        rows=app_work.pieces,
        affected=app_work.time,
        call_sites=app_work.sites,
    )


DESCRIPTION = """
`array[[0, i]]` looks like access to memory and is a call: each element is boxed into an `NSNumber`, and its position is
computed from strides. For inputs and outputs with thousands of elements, that can take longer than the prediction.

## On the timeline

    Main thread  |Pred|[i][i][i][i][i][i]|Pred|[i][i][i][i][i][i]     problem: the app reads each output by itself
    Main thread  |Pred|[]|Pred|[]|Pred|[]                             expected

## How it is measured

From call stacks: samples of running threads in functions such as `-[MLMultiArray objectAtIndexedSubscript:]` or
`setObject:atIndexedSubscript:` that code of the app calls, as a share of all samples of the threads that do so, without
those in loads and compilations. Reported from `min_samples` samples and `share` on. The finding names the functions and
lines. A function that the compiler put into another one is known by its line.

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
    why="Each element costs a call and an object, and the compute unit waits meanwhile.",
    fix=FIX,
    references=(
        Reference("Apple: MLMultiArray", "https://developer.apple.com/documentation/coreml/mlmultiarray"),
        Reference("Apple: MLShapedArray", "https://developer.apple.com/documentation/coreml/mlshapedarray"),
    ),
    needs=("Call Stacks",),
    options=Options,
    detect=detect,
)
