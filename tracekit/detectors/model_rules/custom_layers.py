"""`custom-layers`: the model needs code of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.model_rules.shared import NoOptions, code, listed
from tracekit.detectors.outcomes import Finding, InsufficientData, Metric, Passed
from tracekit.detectors.pages import page_beside
from tracekit.model_files import Form

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Looks for layers and models that a class of the app computes."""
    model = view.model
    counted = dict(model.counts).get("custom", 0)
    metrics = (Metric("custom layers", max(counted, len(model.custom_layers)), "count"),)
    if model.custom_layers or counted:
        names = listed(map(code, model.custom_layers)) or "an unnamed class"
        return Finding(
            model.name,
            f"Needs {names} in the app: without it the model does not load, and the layer may run on the CPU or GPU, "
            "not on the Neural Engine.",
            metrics,
            None,
            (),
        )
    if model.form in (Form.COMPILED, Form.COMPILER_JSON) and not model.counts:
        return InsufficientData(model.name, "The file does not list the layers.", "Inspect the .mlmodel itself.")
    return Passed(model.name, "No custom layers.", metrics)


DETECTOR = ModelFileDetector(
    id="custom-layers",
    page=page_beside(__file__),
    options=NoOptions,
    detect=detect,
)
