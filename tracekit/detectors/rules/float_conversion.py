"""`float-conversion`: inputs and outputs are converted to another number type on every call."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.code import sites_of
from tracekit.analysis.conversions import ConversionSummary, summarize_conversions
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
    finding,
    format_share,
    format_time,
    option,
    reached,
)
from tracekit.detectors.shared.interface import interface_of, of_finding, of_passed, of_unclear
from tracekit.detectors.shared.preconditions import min_calls_option, min_mean_option, not_evaluated
from tracekit.detectors.shared.references import CORE_ML_USAGE


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    conversion_share: float = option(
        0.05,
        "share of prediction time",
        "Heuristic: half of the limit for all copies, because only the model's input and output "
        "types determine whether data is converted.",
        maximum=1,
    )
    min_cast_us: float = option(
        20.0,
        "µs",
        "Ten times the cast that recordings of well-built apps show in every prediction (2 µs on iOS 27).",
    )
    min_mean_ms: float = min_mean_option()
    min_predictions: int = min_calls_option()


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for predictions that convert their inputs and outputs."""
    reason = not_evaluated(view, options.min_predictions, options.min_mean_ms)
    if reason is not None:
        return reason
    count, mean_ns = len(view.predictions), float(view.predictions["duration_ns"].mean())
    summary = summarize_conversions(view.predictions, view.data, min_ns=round(options.min_cast_us * 1e3))
    metrics = (
        above("conversions", summary.share, "share", options.conversion_share),
        Metric("conversion time per prediction", summary.covered_ns / count, "ns"),
        Metric("data cast time per prediction", summary.cast_ns / count, "ns"),
        Metric("predictions that convert", summary.converting, "count"),
        Metric("mean prediction", mean_ns, "ns"),
    )
    if reached(metrics, "conversions"):
        return _finding(view, summary, metrics)
    if summary.unclear_ns and (
        summary.covered_ns + summary.unclear_ns >= options.conversion_share * summary.predicted_ns
    ):
        return _unclear(view, summary)
    text = f"Conversions take {format_share(summary.share)} of prediction time.{of_passed(interface_of(view))}"
    return Passed(view.name, text, metrics)


def _unclear(view: ModelView, summary: ConversionSummary) -> InsufficientData:
    """The answer where rows that might convert could decide."""
    return InsufficientData(
        view.name,
        f"Output transformations and Neural Engine data copies take {format_time(summary.unclear_ns)} "
        f"({format_share(summary.unclear_ns / summary.predicted_ns)} of prediction time); without data casts, it is "
        f"unknown whether they convert types or only move data.{of_unclear(interface_of(view))}",
        "Check the types of the model's inputs and outputs in Xcode: Float32 is converted, Float16 is only copied.",
    )


def _finding(view: ModelView, summary: ConversionSummary, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: all time that conversions cover."""
    count = len(view.predictions)
    rows = view.data.loc[summary.rows]
    converted = Intervals.from_rows(rows).union()
    interface = interface_of(view)
    often = "" if summary.converting == count else f" in {summary.converting:,} of {count:,} predictions"
    return finding(
        model=view.name,
        summary=(
            f"Type conversion takes {format_time(summary.covered_ns / count)} of each "
            f"{format_time(float(view.predictions['duration_ns'].mean()))} prediction{often}: "
            f"{format_time(summary.cast_ns / count)} in data casts, the rest in the copies and output transformations "
            f"that go with them.{of_finding(interface)}"
        ),
        metrics=metrics,
        cost=cost_of(
            view,
            min(summary.covered_ns, converted.covered_ns),
            "Time covered by data casts, Neural Engine data copies and output transformations in predictions with a "
            "data cast, with overlaps counted once",
            "Copies that only change the layout remain after the fix.",
        ),
        rows=rows,
        affected=converted,
        call_sites=sites_of(view.trace, view.predictions.index),
        fix=interface.fix if interface else "",
    )


DESCRIPTION = """
The Neural Engine computes in Float16. If a model's inputs and outputs are Float32 or 8-bit images, Core ML converts
them in every prediction: it casts the data, copies it into the engine's buffers, and converts the results back.

## On the timeline

    Activity  |Prediction                                  |
    Data      |Cast| |Copy |                 |Copy | |Out  |    problem
    Compute                |Neural Engine    |

    Activity  |Prediction            |
    Data      .                      .                          expected: Float16 in and out
    Compute    |Neural Engine        |

## How it is measured

Per model. A prediction converts data if one of its `Data Cast` rows takes at least `min_cast_us`. In these predictions,
the time covered by `Data Cast`, `Neural Engine - Data Copy` and `Output Transformation` is added up, with overlaps
counted once. Reported when it takes `conversion_share` or more of the time of all predictions. At least
`min_predictions` predictions are needed, and they must take `min_mean_ms` or more on average.

`excess-data-copies` counts the same rows among all copies. The report never counts the same time twice: what one
finding includes is not added again for the other.

## Not a problem when

- Data is copied without a cast: the copy may only change the layout, so nothing is reported.
- A cast takes a few µs: it is there in every prediction, even with Float16 inputs and outputs.
- Input data arrives as Float32 or 8 bits from elsewhere: it has to be converted once, but the GPU or vImage does that
  at a lower cost.
"""

FIX = """
Convert the model with Float16 inputs and outputs, so Core ML does not need to convert:

```python
# Needs iOS 16 or macOS 13. Replace source, shape and the names with your own.
model = ct.convert(
    source,
    inputs=[ct.TensorType(name="features", shape=shape, dtype=np.float16)],
    outputs=[ct.TensorType(name="scores", dtype=np.float16)],
    minimum_deployment_target=ct.target.iOS16,
)
# For images instead: ct.ImageType(..., color_layout=ct.colorlayout.GRAYSCALE_FLOAT16)
```

```swift
// Once, for the width and height of your input:
// a Float16 buffer that the Neural Engine can use as it is.
var buffer: CVPixelBuffer?
let backed = [kCVPixelBufferIOSurfacePropertiesKey: [CFString: Any]()]
CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_OneComponent16Half,
                    backed as CFDictionary, &buffer)
let shape: [NSNumber] = [1, NSNumber(value: height), NSNumber(value: width)]
// Fill it and pass it in each prediction.
let input = MLMultiArray(pixelBuffer: buffer!, shape: shape)
```

Rows of a `CVPixelBuffer` are padded: the array's `strides` say where each row starts. Fill it row by row, not in one
copy.
"""

DETECTOR = Detector(
    id="float-conversion",
    title="Inputs and outputs have the type the model computes in",
    finding_title="Inputs and outputs are converted to another type in every prediction",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Type conversion costs time in every prediction, and Float16 inputs and outputs make it unnecessary.",
    fix=FIX,
    references=(
        CORE_ML_USAGE,
        Reference(
            "Core ML Tools: typed execution and Float16 inputs",
            "https://apple.github.io/coremltools/docs-guides/source/typed-execution.html",
        ),
        Reference(
            "MLMultiArray.init(pixelBuffer:shape:)",
            "https://developer.apple.com/documentation/coreml/mlmultiarray/init(pixelbuffer:shape:)",
        ),
    ),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
