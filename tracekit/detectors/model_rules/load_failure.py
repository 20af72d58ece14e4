"""`load-failure`: what keeps a model file from being loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.model_rules.shared import NoOptions, code, listed
from tracekit.detectors.outcomes import Finding, InsufficientData, Metric, Passed
from tracekit.detectors.pages import page_beside
from tracekit.model_files import NEWEST, Form, WeightState
from tracekit.units import format_bytes

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome

_WORDS = {
    WeightState.MISSING: "Weights missing",
    WeightState.POINTER: "Weights missing",
    WeightState.DAMAGED: "Weights damaged",
}


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Goes through the list: there, readable, whole, weights there, version known, compiled or source."""
    model = view.model
    weights, version = model.weights, model.specification_version
    metrics = () if weights.bytes is None else (Metric("weights", weights.bytes, "bytes"),)
    if weights.state in _WORDS:
        size = "" if weights.bytes is None else f" ({format_bytes(weights.bytes)} expected)"
        return Finding(model.name, f"{_WORDS[weights.state]}: {weights.reason}{size}.", metrics, None, ())
    if model.absent:
        return Finding(model.name, f"Incomplete: {listed(map(code, model.absent))} is missing.", metrics, None, ())
    if version is not None and version > NEWEST:
        return Finding(
            model.name,
            f"Specification version {version} is newer than this tool knows ({NEWEST}: iOS 26, macOS 26), and may be "
            "newer than the system.",
            metrics,
            None,
            (),
        )
    if model.form is Form.COMPILER_JSON:
        return InsufficientData(
            model.name,
            "Only the compiler's description was given, not the files.",
            "Inspect the .mlpackage or .mlmodelc that does not load.",
        )
    size = f" with {format_bytes(weights.bytes)} of weights" if weights.bytes else ""
    if model.form is Form.COMPILED:
        return Passed(model.name, f"Readable and whole{size}; compiled, so `MLModel(contentsOf:)` takes it.", metrics)
    return Passed(
        model.name,
        f"Readable and whole{size}; source form, so Xcode or `MLModel.compileModel(at:)` compiles it before it loads.",
        metrics,
    )


DETECTOR = ModelFileDetector(
    id="load-failure",
    page=page_beside(__file__),
    options=NoOptions,
    detect=detect,
)
