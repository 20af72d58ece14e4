"""`flexible-shapes`: an input takes a range of shapes."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, convert_code, inputs_of, literal, name_list, type_code
from tracekit.model_files.facts import Feature, FeatureKind, ModelFile
from tracekit.model_files.words import allowed_shapes

VISION_FEATURE_PRINT = "vision feature print"
"""Kind of the stage with which pipelines of Create ML begin."""


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks at the shapes of all inputs."""
    model = view.model
    inputs = inputs_of(model)
    if not inputs:
        return view.unknown("The file does not describe the inputs.", "Inspect the model itself.")
    flexible = [entry for entry in inputs if entry.shape is not None and entry.shape.flexible]
    scaled = [entry for entry in flexible if _is_scaled(entry, model)]
    ranged = [entry for entry in flexible if entry.shape and entry.shape.ranges and entry not in scaled]
    metrics = (tk.Metric("ranged-inputs", "inputs with a range of shapes", len(ranged), "count"),)
    if ranged:
        names = {entry.name for entry in ranged}
        lines = [f"        {_shapes_code(entry) if entry.name in names else type_code(entry)},\n" for entry in inputs]
        fix = (
            "List the shapes that the app uses, up to 128, with the most frequent one as default (iOS 15, macOS 12 or "
            "later for ML programs); or convert one model per shape:\n\n"
            + convert_code([f"inputs=[\n{''.join(lines)}    ],"], max(model.specification_version or 6, 6))
        )
        return view.finding(
            f"{name_list(f'{code(entry.name)} ({shape_words(entry)})' for entry in ranged)}: a range of shapes may "
            "keep operations off the Neural Engine.",
            metrics,
            fix=fix,
        )
    words = f"Listed shapes only ({_names(flexible)})." if flexible else "Every input has one shape."
    if scaled:
        words = f"{_names(scaled)} is scaled to one size before the model computes."
    return view.passed(words, metrics)


def _names(entries: list[Feature]) -> str:
    return name_list(code(entry.name) for entry in entries)


def _is_scaled(entry: Feature, model: ModelFile) -> bool:
    """Whether a feature print of Vision takes the input, as in the classifiers of Create ML: it scales any image to the
    one size that it computes with. The compiler's JSON names the kinds of stages alone."""
    prints = [stage for stage in model.parts if stage.kind == VISION_FEATURE_PRINT]
    names = {taken.name for stage in prints for taken in inputs_of(stage)}
    return entry.kind is FeatureKind.IMAGE and bool(prints) and (not names or entry.name in names)


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


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
