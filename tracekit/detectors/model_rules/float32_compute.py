"""`float32-compute`: the model computes in Float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector, Reference
from tracekit.detectors.model_rules.shared import DOCS, UNITS, NoOptions, functions_of, listed, no_precision
from tracekit.detectors.outcomes import Finding, Passed
from tracekit.detectors.patterns import Pattern

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Looks at the type that most operations of each function compute."""
    model = view.model
    known = [(where, function.precision) for where, function in functions_of(model) if function.precision]
    if not known:
        return no_precision(model)
    wide = [(where, types) for where, types in known if types[0] in ("Float32", "Double")]
    if wide:
        where = listed(name for name, _ in wide if name)
        mixed = ", some of it in Float16" if any("Float16" in types for _, types in wide) else ""
        return Finding(
            model.name,
            f"{where or 'The model'} computes in {wide[0][1][0]}{mixed}, so it may run on the CPU or GPU only.",
            (),
            None,
            (),
        )
    rest = listed(name for _, types in known for name in types[1:])
    return Passed(model.name, f"Computes in Float16{f', in part in {rest}' if rest else ''}.")


DESCRIPTION = """
The Neural Engine computes in Float16. A model that was converted with Float32 precision may run on the CPU or GPU only.

## How it is measured

The types of what the operations of each function compute are counted, without constants, casts and the scaling of
images. Reported where most are Float32. A neural network of the old form names no type: Core ML chooses it.

## Not a problem when

- The model needs the range or precision of Float32, or is meant for the CPU or GPU.
- It is so small that the CPU is fastest.
"""

FIX = """
Convert with Float16 precision, the default from iOS 15, macOS 12 on:

```python
model = ct.convert(source, convert_to="mlprogram", compute_precision=ct.precision.FLOAT16)

# If the results get worse, keep the operations that need it in Float32.
keep = ct.transform.FP16ComputePrecision(op_selector=lambda op: op.op_type not in ("softmax", "reduce_sum"))
model = ct.convert(source, convert_to="mlprogram", compute_precision=keep)
```

Compare the results of both models before you ship.
"""

DETECTOR = ModelFileDetector(
    id="float32-compute",
    title="The model computes in Float16",
    finding_title="The model computes in Float32, which may keep it off the Neural Engine",
    pattern=Pattern.SLOW_ON_ONE_DEVICE,
    description=DESCRIPTION,
    why="Float32 may keep the model off the Neural Engine, and moves twice the bytes.",
    fix=FIX,
    references=(Reference("Core ML Tools: typed execution", f"{DOCS}/typed-execution.html"), UNITS),
    options=NoOptions,
    detect=detect,
)
