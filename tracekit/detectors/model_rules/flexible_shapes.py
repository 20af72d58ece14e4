"""`flexible-shapes`: an input takes several shapes, in a form that may leave the Neural Engine."""

from __future__ import annotations

from collections.abc import Sequence

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import (
    code,
    convert_code,
    inputs_of,
    literal,
    name_list,
    no_operations,
    type_code,
)
from tracekit.model_files.engine import of_apple
from tracekit.model_files.facts import Feature, FeatureKind
from tracekit.model_files.words import allowed_shapes


class Options(tk.Options):
    max_listed: int = tk.option(128, "shapes", "Core ML Tools: more are refused; 144 failed, 120 worked.")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Looks at the shapes of all inputs."""
    model = view.model
    inputs = inputs_of(model)
    if not inputs:
        return view.unknown("The file does not describe the inputs.", "Inspect the model itself.")
    own = of_apple(model)
    if not own and not any(part.has_operations for part in model.parts):
        return no_operations(view)
    scaled = [entry for entry in inputs if entry.shape and entry.shape.flexible and entry.name in own]
    flexible = [entry for entry in inputs if entry.shape and entry.shape.flexible and entry.name not in own]
    ranged = [entry for entry in flexible if entry.shape and entry.shape.ranges]
    normed = any("layer_norm" in dict(function.counts) for function in model.functions)
    metrics = (tk.Metric("ranged-inputs", "inputs with a range of shapes", len(ranged), "count"),)
    shown = name_list(f"{code(entry.name)} ({shape_words(entry)})" for entry in ranged or flexible)
    many = [entry for entry in flexible if entry.shape and len(entry.shape.choices) > options.max_listed]
    if flexible and any(function.states for function in model.functions):
        words = "inputs of several shapes are not supported beside states, and may crash."
        return view.finding(f"{shown}: {words}", metrics, fix=_FIXED)
    if many:
        words = f"more than {options.max_listed} listed shapes, which Core ML refuses."
        return view.finding(f"{_names(many)}: {words}", metrics, fix=_FIXED)
    if ranged and normed:
        words = "a range may run on the Neural Engine at its default shape alone. Listing shapes is no gain here: with"
        more = "`layer_norm`, listed shapes ran off it (175 ms, 20 ms as a range; measured)."
        return view.finding(f"{shown}: {words} {more}", metrics, fix=_FIXED)
    if ranged:
        words = "a range of shapes may keep operations off the Neural Engine, except at the default shape."
        return view.finding(f"{shown}: {words}", metrics, fix=_listed(inputs, ranged, model.specification_version or 6))
    if flexible and normed:
        words = "listed shapes with `layer_norm` ran off the Neural Engine: 175 ms, and 20 ms as a range (measured)."
        return view.finding(f"{shown}: {words}", metrics, fix=_FIXED)
    words = f"Listed shapes only ({_names(flexible)})." if flexible else "Every input has one shape."
    if scaled:
        words = f"{_names(scaled)} goes to a model of Apple's own, which takes any size that is allowed."
    return view.passed(words, metrics)


_FIXED = """
Convert one model for each shape that the app uses; from iOS 18, macOS 15 on, they can be functions of one package that
share their weights:

```sh
tracekit fix MODEL flexible-shapes --shape INPUT=SIZES -o Fixed.mlpackage
tracekit fix Small.mlpackage --function large=Large.mlpackage -o Both.mlpackage
```
"""


def _listed(inputs: Sequence[Feature], ranged: Sequence[Feature], version: int) -> str:
    names = {entry.name for entry in ranged}
    lines = [f"        {_shapes_code(entry) if entry.name in names else type_code(entry)},\n" for entry in inputs]
    return (
        "Convert one model per shape; or list the shapes that the app uses, up to 128, with the most frequent one as "
        "default (iOS 15, macOS 12 or later for ML programs):\n\n"
        + convert_code([f"inputs=[\n{''.join(lines)}    ],"], max(version, 6))
    )


def _names(entries: list[Feature]) -> str:
    return name_list(code(entry.name) for entry in entries)


def shape_words(entry: Feature) -> str:
    """`1...16 × 4`, or the shapes that are listed: `1 × 4 | 2 × 4`; of images with the order of their sizes."""
    if entry.shape is None:
        return ""
    order = ", width × height" if entry.kind is FeatureKind.IMAGE else ""
    return f"{allowed_shapes(entry.shape)}{order}"


def _shapes_code(entry: Feature) -> str:
    sizes = entry.shape.ranges if entry.shape else ()
    default = tuple(entry.shape.dimensions) if entry.shape else ()
    lowest = tuple(size.lower for size in sizes)
    highest = tuple(size.lower if size.upper is None else size.upper for size in sizes)
    shapes = list(dict.fromkeys((default, lowest, highest)))
    if entry.kind is FeatureKind.IMAGE:
        images = [(1, 3, *shape) for shape in shapes]
        return f"ct.ImageType(name={literal(entry.name)}, shape=ct.EnumeratedShapes({images}))"
    return f"ct.TensorType(name={literal(entry.name)}, shape=ct.EnumeratedShapes({shapes}, default={default}))"


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
