"""`custom-layers`: the model needs code of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector, Reference
from tracekit.detectors.model_rules.shared import NoOptions, code, listed
from tracekit.detectors.outcomes import Finding, InsufficientData, Metric, Passed
from tracekit.detectors.patterns import Pattern
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


DESCRIPTION = """
A custom layer is computed by a class of the app (`MLCustomLayer`). The model loads only in an app that has the class,
and the layer may run on the CPU or GPU only, with the work around it split.

## How it is measured

Layers of the type `custom`, and models of the type custom model, are reported with the names of their classes.

## Not a problem when

- The app has the class, and the layer takes little of the time.
"""

FIX = """
Convert the source again as an ML program (iOS 15, macOS 12 or later), which has more operations, and write what is
missing as a composite of them:

```python
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.frontend.torch.torch_op_registry import register_torch_op

@register_torch_op
def selu(context, node):
    x = context[node.inputs[0]]
    context.add(mb.mul(x=mb.elu(x=x, alpha=1.6732632), y=1.0507010, name=node.name))
```
"""

DETECTOR = ModelFileDetector(
    id="custom-layers",
    title="The model needs no code of the app",
    finding_title="The model needs a class of the app to load",
    pattern=Pattern.OTHER_LOAD_FAILURE,
    description=DESCRIPTION,
    why="It loads only in an app with that class, and the layer may not run on the Neural Engine.",
    fix=FIX,
    references=(
        Reference("MLCustomLayer", "https://developer.apple.com/documentation/coreml/mlcustomlayer"),
        Reference(
            "Core ML Tools: composite operators",
            "https://apple.github.io/coremltools/docs-guides/source/composite-operators.html",
        ),
    ),
    options=NoOptions,
    detect=detect,
)
