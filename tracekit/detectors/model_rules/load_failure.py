"""`load-failure`: what keeps a model file from being loaded."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, name_list
from tracekit.model_files.facts import Form, WeightState
from tracekit.model_files.versions import NEWEST

_WORDS = {
    WeightState.MISSING: "Weights missing",
    WeightState.POINTER: "Weights missing",
    WeightState.DAMAGED: "Weights damaged",
}


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Goes through the list: there, readable, whole, weights there, version known, compiled or source."""
    model = view.model
    weights, version = model.weights, model.specification_version
    metrics = () if weights.bytes is None else (tk.Metric("weights", "weights", weights.bytes, "bytes"),)
    if weights.state in _WORDS:
        size = "" if weights.bytes is None else f" ({tk.format_bytes(weights.bytes)} expected)"
        return view.finding(f"{_WORDS[weights.state]}: {weights.reason}{size}.", metrics)
    if model.absent:
        return view.finding(f"Incomplete: {name_list(map(code, model.absent))} is missing.", metrics)
    if version is not None and version > NEWEST:
        return view.finding(
            f"Specification version {version} is newer than this tool knows ({NEWEST}: iOS 26, macOS 26), and may be "
            "newer than the system.",
            metrics,
        )
    if model.form is Form.CORE_AI_PACKAGE:
        return view.passed("Complete, as far as others reported the form.", metrics)
    if model.form is Form.COMPILER_JSON:
        return view.unknown(
            "Only the compiler's description was given, not the files.",
            "Inspect the .mlpackage or .mlmodelc that does not load.",
        )
    size = f" with {tk.format_bytes(weights.bytes)} of weights" if weights.bytes else ""
    if model.form is Form.COMPILED:
        return view.passed(f"Complete{size}; compiled, so `MLModel(contentsOf:)` takes it.", metrics)
    return view.passed(
        f"Complete{size}; source form, so Xcode or `MLModel.compileModel(at:)` compiles it before it loads.", metrics
    )


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
