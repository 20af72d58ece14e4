"""`per-block-weights`: integer weights with a scale for each block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.model_rules.shared import NoOptions, no_weights
from tracekit.detectors.outcomes import Finding, Metric, NotApplicable, Passed
from tracekit.detectors.pages import page_beside
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


DETECTOR = ModelFileDetector(
    id="per-block-weights",
    page=page_beside(__file__),
    options=NoOptions,
    detect=detect,
)
