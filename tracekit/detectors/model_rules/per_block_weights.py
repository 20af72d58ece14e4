"""`per-block-weights`: integer weights with a scale for each block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector, Reference
from tracekit.detectors.model_rules.shared import DOCS, NoOptions, no_weights
from tracekit.detectors.outcomes import Finding, Metric, NotApplicable, Passed
from tracekit.detectors.patterns import Pattern
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Looks at the granularity of quantized weights."""
    model = view.model
    tensors = model.weights.tensors
    if tensors is None:
        return no_weights(model)
    quantized = [weight for weight in tensors if "quantized" in weight.technique]
    if not quantized:
        return NotApplicable(model.name, "No weights are quantized.")
    blocks = [weight for weight in quantized if weight.granularity == "per block"]
    metrics = (Metric("tensors quantized per block", len(blocks), "count"),)
    if not blocks:
        return Passed(model.name, "Quantized weights have a scale per channel or per tensor.", metrics)
    return Finding(
        model.name,
        f"{format_count(len(blocks), 'tensor')} ({format_bytes(sum(weight.bytes for weight in blocks))}) with integer "
        "weights per block: results may be wrong on the Neural Engine, and the work may run elsewhere.",
        metrics,
        None,
        (),
    )


DESCRIPTION = """
Integer weights with a scale for each block of a channel are exact on the GPU. On the Neural Engine, wrong results were
reported with Core AI (cosine similarity 0.367 to the right ones, against 0.999 on the GPU and 0.998 with palettes), so
a Core ML model may be affected too.

## How it is measured

Weights quantized with `constexpr_blockwise_shift_scale` whose scales divide a channel, or more than one dimension, are
reported.

## Not a problem when

- The model runs on the GPU (`MLComputeUnits.cpuAndGPU`), for which per-block weights are meant.
- Results on the device were compared with those of the source model.
"""

FIX = """
For the Neural Engine, quantize per channel, or use palettes:

```python
config = cto.coreml.OpLinearQuantizerConfig(mode="linear_symmetric", dtype="int8", granularity="per_channel")
# or, for 4 bits (iOS 18, macOS 15 or later for groups)
config = cto.coreml.OpPalettizerConfig(mode="kmeans", nbits=4, granularity="per_grouped_channel", group_size=16)
```

Compare the results of `MLComputeUnits.cpuAndNeuralEngine` and `.cpuOnly` before you ship.
"""

DETECTOR = ModelFileDetector(
    id="per-block-weights",
    title="Quantized weights suit the Neural Engine, as far as a file may show it",
    finding_title="Integer weights per block may give wrong results on the Neural Engine",
    pattern=Pattern.QUANTIZATION_ACCURACY,
    description=DESCRIPTION,
    why="Results may be wrong on the Neural Engine, or the model may not run there.",
    fix=FIX,
    references=(
        Reference("apple/coreai-models#279", "https://github.com/apple/coreai-models/issues/279"),
        Reference("Core ML Tools: quantization overview", f"{DOCS}/opt-quantization-overview.html"),
    ),
    options=NoOptions,
    detect=detect,
)
