"""`uncompressed-weights`: large weights are stored as floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector, Reference
from tracekit.detectors.model_rules.shared import DOCS, listed, no_weights
from tracekit.detectors.options import option
from tracekit.detectors.outcomes import Finding, NotApplicable, Passed, above
from tracekit.detectors.patterns import Pattern
from tracekit.model_files import Kind
from tracekit.model_files.compression import HALF, PALETTES_4, QUANTIZED, compressible, savings_of
from tracekit.units import format_bytes

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_mb: float = option(10.0, "MB", "Heuristic: smaller weights matter little for download, memory and load time.")


def detect(view: InspectedModel, options: Options) -> Outcome:
    """Adds up weights that coremltools would compress."""
    model = view.model
    tensors = model.weights.tensors
    if tensors is None:
        return no_weights(model)
    if not tensors:
        return NotApplicable(model.name, "The model has no weights.")
    weights = compressible(tensors)
    size = sum(weight.bytes for weight in weights)
    metrics = (above("uncompressed weights", size / 1e6, "MB", options.min_mb),)
    if size < options.min_mb * 1e6:
        words = f"{format_bytes(size)} of weights are not compressed." if size else "All large weights are compressed."
        return Passed(model.name, words, metrics)
    saved = {entry.technique: entry.saved_bytes for entry in savings_of(tensors)}
    ways = [name for name in (HALF.name, QUANTIZED.name, PALETTES_4.name) if name in saved]
    words = listed(f"{name} would save about {format_bytes(saved[name])}" for name in ways)
    kinds = listed(weight.stored or "" for weight in weights)
    return Finding(
        model.name,
        f"{format_bytes(size)} of weights are stored as {kinds}: {words}.",
        metrics,
        None,
        (),
        fix=NETWORK_FIX if all(part.kind == Kind.NEURAL_NETWORK for part in model.parts) else "",
    )


DESCRIPTION = """
Weights that are stored as Float16 or Float32 take more storage, memory and load time than they may have to. Compressed
weights are decompressed when the model is loaded, or, on newer systems, when they are used.

## How it is measured

Tensors of floats with at least 2,048 elements, the size from which on coremltools compresses, are added up. Reported
from `min_mb` on. `tracekit inspect` lists what each technique would save; these are estimates from the number of
weights, and say nothing about accuracy.

## Not a problem when

- The model must not lose accuracy, and storage and memory suffice.
- The same weights are compressed in the package that ships.
"""

FIX = """
Compress the weights after conversion (iOS 16, macOS 13 or later), and compare the results:

```python
import coremltools.optimize as cto

config = cto.coreml.OpLinearQuantizerConfig(mode="linear_symmetric")  # 8 bits, per channel
model = cto.coreml.linear_quantize_weights(model, cto.coreml.OptimizationConfig(global_config=config))

# Or palettes of 4 or 6 bits, which the Neural Engine may also use without decompressing them first:
config = cto.coreml.OpPalettizerConfig(mode="kmeans", nbits=4)
model = cto.coreml.palettize_weights(model, cto.coreml.OptimizationConfig(global_config=config))
```

For the Neural Engine, prefer per-channel quantization or palettes to per-block quantization, which may give wrong
results there.
"""

NETWORK_FIX = """
Convert the source again as an ML program (iOS 15, macOS 12 or later), or quantize the network as it is:

```python
from coremltools.models.neural_network import quantization_utils

model = quantization_utils.quantize_weights(model, nbits=8)  # 16 bits: iOS 11.2, fewer: iOS 12
```
"""

DETECTOR = ModelFileDetector(
    id="uncompressed-weights",
    title="Large weights are compressed",
    finding_title="Large weights are stored without compression",
    pattern=Pattern.OUT_OF_MEMORY_ON_LOAD,
    description=DESCRIPTION,
    why="The model takes more storage, memory and load time than it may have to.",
    fix=FIX,
    references=(Reference("Core ML Tools: optimizing models", f"{DOCS}/opt-overview.html"),),
    options=Options,
    detect=detect,
)
