"""`per-block-weights`: compressed weights that the Neural Engine may not decompress."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import no_weights
from tracekit.model_files.engine_limits import Bounds, weight_limit


class Options(tk.Options):
    max_vector: int = tk.option(16, "elements", "Seen once: palettes of longer vectors did not run there.")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Looks at how the values of compressed weights are shared."""
    tensors = view.model.weights.tensors
    if tensors is None:
        return no_weights(view)
    compressed = [weight for weight in tensors if set(weight.technique) & {"quantized", "palettized"}]
    if not compressed:
        return view.not_applicable("No weights are quantized or palettized.")
    bounds = Bounds(max_vector=options.max_vector)
    beyond = [(weight, limit) for weight in compressed if (limit := weight_limit(weight, bounds))]
    metrics = (tk.Metric("per-block", "tensors that may keep work off it", len(beyond), "count"),)
    if not beyond:
        return view.passed("The Neural Engine may decompress all compressed weights.", metrics)
    kinds = " and ".join(dict.fromkeys(limit.words for _, limit in beyond))
    size = tk.format_bytes(sum(weight.bytes for weight, _ in beyond))
    return view.finding(
        f"{tk.format_count(len(beyond), 'tensor')} ({size}) with {kinds}: the operations with them may run on the CPU "
        "or GPU.",
        metrics,
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
