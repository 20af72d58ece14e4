"""`custom-layers`: the model needs code of the app."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, name_list, no_operations
from tracekit.model_files.facts import Form


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks for layers and models that a class of the app computes."""
    model = view.model
    counted = dict(model.counts).get("custom", 0)
    metrics = (tk.Metric("custom-layers", "custom layers", max(counted, len(model.custom_layers)), "count"),)
    if model.custom_layers or counted:
        names = name_list(map(code, model.custom_layers)) or "an unnamed class"
        return view.finding(
            f"Needs {names} in the app: without it the model does not load. What it computes may run on the CPU or "
            "GPU, not on the Neural Engine.",
            metrics,
            fix=_MODEL_FIX if model.kind == "custom model" else "",
        )
    if model.kind == "linked model":
        return no_operations(view)
    if model.form in (Form.COMPILED, Form.COMPILER_JSON) and not model.counts:
        return view.unknown("The file does not list the layers.", "Inspect the .mlmodel itself.")
    return view.passed("No custom layers.", metrics)


_MODEL_FIX = """Add the class to the app, under the name that the model has for it:

```swift
@objc(NAME) final class OwnModel: NSObject, MLCustomModel {
    // init(modelDescription:parameters:) and prediction(from:options:)
}
```
"""

DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
