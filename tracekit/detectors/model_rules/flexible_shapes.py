"""`flexible-shapes`: an input takes a range of shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector, Reference
from tracekit.detectors.model_rules.shared import (
    DOCS,
    LISTED,
    UNITS,
    NoOptions,
    code,
    convert_code,
    inputs_of,
    listed,
    literal,
    type_code,
)
from tracekit.detectors.outcomes import Finding, InsufficientData, Metric, Passed
from tracekit.detectors.patterns import Pattern
from tracekit.model_files import FeatureKind

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome
    from tracekit.model_files import Feature, SizeRange


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Looks at the shapes of all inputs."""
    model = view.model
    inputs = inputs_of(model)
    if not inputs:
        return InsufficientData(model.name, "The file does not describe the inputs.", "Inspect the model itself.")
    ranged = [entry for entry in inputs if entry.shape is not None and entry.shape.flexible and entry.shape.ranges]
    metrics = (Metric("inputs with a range of shapes", len(ranged), "count"),)
    if ranged:
        return Finding(
            model.name,
            f"{listed(f'{code(entry.name)} ({shape_words(entry)})' for entry in ranged)}: a range of shapes may keep "
            "operations off the Neural Engine.",
            metrics,
            None,
            (),
            fix=_fix(inputs, ranged, model.specification_version or 6),
        )
    several = [entry.name for entry in inputs if entry.shape is not None and entry.shape.flexible]
    words = f"Listed shapes only ({listed(map(code, several))})." if several else "Every input has one shape."
    return Passed(model.name, words, metrics)


def shape_words(entry: Feature) -> str:
    """`1...16 × 4`, or the shapes that are listed: `1 × 4 | 2 × 4`."""
    if entry.shape is None:
        return ""
    if entry.shape.ranges:
        return " × ".join(range_words(size) for size in entry.shape.ranges)
    shown = [" × ".join(map(str, shape)) for shape in entry.shape.choices[:LISTED]]
    more = len(entry.shape.choices) - len(shown)
    return " | ".join([*shown, *([f"{more} more"] if more > 0 else [])])


def range_words(size: SizeRange) -> str:
    """`1...16`; `1...` without an upper bound."""
    if size.lower == size.upper:
        return str(size.lower)
    return f"{size.lower}...{'' if size.upper is None else size.upper}"


def _fix(inputs: tuple[Feature, ...], ranged: list[Feature], version: int) -> str:
    names = {entry.name for entry in ranged}
    lines = [f"        {_listed_shapes(entry) if entry.name in names else type_code(entry)},\n" for entry in inputs]
    return (
        "List the shapes that the app uses, up to 128, with the most frequent one as default (iOS 15, macOS 12 or "
        "later for ML programs); or convert one model per shape:\n\n"
        + convert_code([f"inputs=[\n{''.join(lines)}    ],"], max(version, 6))
    )


def _listed_shapes(entry: Feature) -> str:
    sizes = entry.shape.ranges if entry.shape else ()
    default = tuple(entry.shape.dimensions) if entry.shape else ()
    lowest = tuple(size.lower for size in sizes)
    highest = tuple(size.lower if size.upper is None else size.upper for size in sizes)
    shapes = list(dict.fromkeys((default, lowest, highest)))
    if entry.kind is FeatureKind.IMAGE:
        return (
            f"ct.ImageType(name={literal(entry.name)}, shape=ct.EnumeratedShapes({[(1, 3, *each) for each in shapes]}))"
        )
    return f"ct.TensorType(name={literal(entry.name)}, shape=ct.EnumeratedShapes({shapes}, default={default}))"


DESCRIPTION = """
A model whose input takes a range of shapes is prepared for any of them. Many operations may then run on the CPU or GPU
only, and each new shape may cost a specialization. `shape-switching` and `new-shape-spike` measure that in a recording.

## How it is measured

The description of each input names its shapes: one, a list, or a range per dimension. Ranges are reported, lists are
not.

## Not a problem when

- The model is meant for the CPU or GPU.
- A recording shows that it runs on the Neural Engine all the same: some models with a flexible batch may.
"""

FIX = """
List the shapes that the app uses instead of a range:

```python
shape = ct.EnumeratedShapes([(1, 80, 3000), (1, 80, 1500)], default=(1, 80, 3000))
model = ct.convert(source, inputs=[ct.TensorType(name="mel", shape=shape)])
```
"""

DETECTOR = ModelFileDetector(
    id="flexible-shapes",
    title="Inputs have fixed or listed shapes",
    finding_title="Inputs take a range of shapes, which may keep the model off the Neural Engine",
    pattern=Pattern.SLOW_ON_ONE_DEVICE,
    description=DESCRIPTION,
    why="Operations on shapes that are not known beforehand may run on the CPU or GPU only.",
    fix=FIX,
    references=(Reference("Core ML Tools: flexible input shapes", f"{DOCS}/flexible-inputs.html"), UNITS),
    options=NoOptions,
    detect=detect,
)
