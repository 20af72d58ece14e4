"""`per-block-weights`: integer weights with a scale for each block."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import no_weights


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks at the granularity of quantized weights."""
    model = view.model
    tensors = model.weights.tensors
    if tensors is None:
        return no_weights(view)
    quantized = [weight for weight in tensors if "quantized" in weight.technique]
    if not quantized:
        return view.not_applicable("No weights are quantized.")
    blocks = [weight for weight in quantized if weight.granularity == "per block"]
    metrics = (tk.Metric("per-block", "tensors quantized per block", len(blocks), "count"),)
    if not blocks:
        return view.passed("Quantized weights have a scale per channel or per tensor.", metrics)
    return view.finding(
        f"{tk.format_count(len(blocks), 'tensor')} ({tk.format_bytes(sum(weight.bytes for weight in blocks))}) with "
        "integer weights per block: results may be wrong on the Neural Engine, and the work may run elsewhere.",
        metrics,
    )


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
