"""`uncompressed-weights`: large weights are stored as floats."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import name_list, no_weights
from tracekit.model_files.weights import HALF, PALETTES_4, QUANTIZED, compressible, savings_of


class Options(tk.Options):
    min_mb: float = tk.option(
        10.0, "MB", "Heuristic: smaller weights matter little for download, memory and load time."
    )


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Adds up weights that coremltools would compress."""
    model = view.model
    tensors = model.weights.tensors
    if tensors is None:
        return no_weights(view)
    if not tensors:
        return view.not_applicable("The model has no weights.")
    weights = compressible(tensors)
    size = sum(weight.bytes for weight in weights)
    metrics = (tk.above("uncompressed", "uncompressed weights", size / 1e6, "MB", options.min_mb),)
    if size < options.min_mb * 1e6:
        words = "No weights are large enough to compress."
        if any(weight.technique for weight in tensors):
            words = "All large weights are compressed."
        words = f"{tk.format_bytes(size)} of large weights are not compressed." if size else words
        return view.passed(words, metrics)
    saved = {entry.technique: entry.saved_bytes for entry in savings_of(tensors)}
    ways = [name for name in (HALF.name, QUANTIZED.name, PALETTES_4.name) if name in saved]
    words = name_list(f"{name} would save about {tk.format_bytes(saved[name])}" for name in ways)
    kinds = name_list(weight.stored or "" for weight in weights)
    return view.finding(
        f"{tk.format_bytes(size)} of large weights are stored as {kinds}: {words}.",
        metrics,
        fix=NETWORK_FIX if all(part.is_network for part in model.parts) else "",
    )


NETWORK_FIX = """
Convert the source again as an ML program (iOS 15, macOS 12 or later), or quantize the network as it is:

```python
from coremltools.models.neural_network import quantization_utils

model = quantization_utils.quantize_weights(model, nbits=8)  # 16 bits: iOS 11.2, fewer: iOS 12
```
"""

DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
