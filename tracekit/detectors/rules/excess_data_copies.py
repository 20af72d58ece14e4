"""`excess-data-copies`: inputs and outputs are copied and converted on every call (catalogue entry A03)."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.copies import CopySummary, summarize_copies
from tracekit.detectors import (
    Cost,
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
    format_duration,
    format_share,
    option,
)
from tracekit.detectors.shared.preconditions import min_calls_option, min_mean_option, not_judged


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    copy_share: float = option(
        0.10,
        "share of prediction time",
        "Recordings without the problem stay below 1 %; published cases lie at 25 to 30 % (our judgement).",
        maximum=1,
    )
    large_input_share: float = option(
        0.05,
        "share of prediction time",
        "Half of `copy_share`: one input that stands out is worth naming earlier (our judgement).",
        maximum=1,
    )
    large_input_ratio: float = option(
        10.0,
        "times the median",
        "One input copy this much longer than its siblings points at one tensor (our judgement).",
    )
    large_input_ms: float = option(
        0.5, "ms", "Copies of a few µs are normal on every call, also in well-built apps (our judgement)."
    )
    min_mean_ms: float = min_mean_option()
    min_predictions: int = min_calls_option()


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for predictions that spend much of their time in the Data lane."""
    reason = not_judged(view, options.min_predictions, options.min_mean_ms, "copies")
    if reason is not None:
        return reason
    count, mean_ns = len(view.predictions), float(view.predictions["duration_ns"].mean())
    summary = summarize_copies(
        view.predictions,
        view.data,
        large_ratio=options.large_input_ratio,
        large_ns=round(options.large_input_ms * 1e6),
    )
    metrics = (
        above("copies and conversions", summary.share, "share", options.copy_share),
        above("input copies far longer than others", summary.large_share, "share", options.large_input_share),
        Metric("mean prediction", mean_ns, "ns"),
        Metric("copy time per prediction", summary.covered_ns / count, "ns"),
        *(Metric(f"{_words(kind)} time", ns, "ns") for kind, ns in summary.by_kind.items()),
    )
    if not any(metric.reached for metric in metrics):
        if summary.covered_ns + summary.outside_ns >= options.copy_share * summary.predicted_ns and summary.outside_ns:
            return _unplaced(view, summary)
        return Passed(view.name, f"Copies take {format_share(summary.share)} of prediction time.", metrics)
    return _finding(view, summary, metrics)


def _unplaced(view: ModelView, summary: CopySummary) -> InsufficientData:
    """The answer where copies that might matter cannot be set against a prediction."""
    rows = format_count(summary.outside_count, "copy row lies", "copy rows lie")
    inside = f", besides {format_duration(summary.covered_ns)} of copies inside them" if summary.covered_ns else ""
    return InsufficientData(
        view.name,
        f"{rows} in none of its predictions ({format_duration(summary.outside_ns)}{inside}), so that their share is "
        "unknown.",
        "Record from before the model loads until its predictions have ended.",
    )


def _words(kind: str) -> str:
    """A kind as readers know it."""
    return kind.replace("_", " ").replace("ane ", "Neural Engine ")


def _finding(view: ModelView, summary: CopySummary, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: all time inside predictions that copies cover."""
    count = len(view.predictions)
    largest = _words(max(summary.by_kind, key=lambda kind: summary.by_kind[kind]))
    text = (
        f"Copies and conversions take {format_duration(summary.covered_ns / count)} of each "
        f"{format_duration(float(view.predictions['duration_ns'].mean()))} prediction "
        f"({format_share(summary.share)} of {format_duration(summary.predicted_ns)} over "
        f"{format_count(count, 'prediction')}); the largest part is {largest}."
    )
    if len(summary.large_rows):
        text += (
            f" {format_count(len(summary.large_rows), 'input copy takes', 'input copies take')} far longer than those "
            "of the other inputs in the same prediction."
        )
    rows = view.data.loc[summary.rows]
    return finding(
        model=view.name,
        summary=text,
        metrics=metrics,
        cost=Cost(
            ns=summary.covered_ns,
            share=summary.share,
            basis=(
                "Time inside the model's predictions that its copy and conversion rows cover, overlaps counted once; "
                "share of the summed duration of its predictions. Some of it remains after the fix."
            ),
        ),
        rows=rows,
    )


DESCRIPTION = """
Core ML copies inputs and outputs, and converts them, when the app's buffers do not have the layout and type that the
compute unit works with. On the Neural Engine that type is Float16.

## On the lanes

    Activity  |Prediction                            |
    Data      |Copy |                          |Copy |      problem
    Compute         |Neural Engine Request     |

    Activity  |Prediction                |
    Data      .                         .                  as it should be: a few µs
    Compute    |Neural Engine Request   |

## How it is measured

Per model, inside its predictions: the time covered by `Input Copy`, `Data Cast`, `Output Transformation` and
`Neural Engine - Data Copy` rows, overlaps counted once, as a share of the summed duration of the predictions. It is a
finding from `copy_share` on; or from `large_input_share` on for input copies that take `large_input_ratio` times the
median of the other inputs of the same call and at least `large_input_ms`. Rows carry no input name; the interval does
show which call it was.

At least `min_predictions` predictions are needed. A copy that lies in several overlapping predictions of the model is
counted once, though not assigned to one of them. Copies that lie in none are not counted; where they could decide,
the model is not judged.

## What can look like it and is not

- Models below `min_mean_ms`: fixed costs outweigh everything there.
- Rows of a few µs: Core ML shows `Input Validation` and `Input Copy` on every call, also in well-built apps.
- A large input that has to be converted once, because it comes from a camera or a file in another format: the cost
  is real, but it may only move into the app.
"""

FIX = """
Hand over the type that the model computes in, in a buffer that Core ML can use without a copy:

```python
# Conversion: Float16 inputs and outputs need iOS 16 or macOS 13.
gray16 = ct.colorlayout.GRAYSCALE_FLOAT16
model = ct.convert(
    source,
    inputs=[ct.ImageType(name="image", shape=shape, color_layout=gray16)],
    outputs=[ct.ImageType(name="sharpened", color_layout=gray16)],
    minimum_deployment_target=ct.target.iOS16,
)
# Tensors: ct.TensorType(name="features", dtype=np.float16)
```

```swift
// Input: an IOSurface-backed pixel buffer in the model's own format.
var input: CVPixelBuffer?
let backed = [kCVPixelBufferIOSurfacePropertiesKey: [CFString: Any]()]
CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_OneComponent16Half,
                    backed as CFDictionary, &input)
let image = MLFeatureValue(pixelBuffer: input!)
let features = try MLDictionaryFeatureProvider(dictionary: ["image": image])

// Output: Core ML writes into a buffer that you own and reuse.
let options = MLPredictionOptions()
options.outputBackings = ["sharpened": outputBuffer]
let result = try await model.prediction(from: features, options: options)
```
"""

DETECTOR = Detector(
    id="excess-data-copies",
    title="Inputs and outputs are handed over without costly copies",
    finding_title="Inputs and outputs are copied and converted on every call",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Copying and converting can take a third of each prediction, and better buffers avoid most of it.",
    fix=FIX,
    references=(
        Reference(
            "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
        ),
        Reference(
            "MLPredictionOptions.outputBackings",
            "https://developer.apple.com/documentation/coreml/mlpredictionoptions/outputbackings",
        ),
        Reference(
            "Core ML Tools: image inputs and outputs",
            "https://apple.github.io/coremltools/docs-guides/source/image-inputs.html",
        ),
    ),
    needs=("Core ML",),
    caused_by=("float-conversion", "state-copies"),
    options=Options,
    detect=detect,
)
