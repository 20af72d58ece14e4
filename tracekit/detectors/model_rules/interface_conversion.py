"""`interface-conversion`: inputs or outputs have another type than the model computes with."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, convert_code, functions_of, name_list, no_precision, type_code
from tracekit.model_files.facts import Conversion, Feature, Function, ModelFile

FLOAT16_INTERFACE = 7
"""Specification version that has Float16 arrays and images: iOS 16, macOS 13."""


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks for conversions at the inputs and outputs of every function."""
    model = view.model
    known = [(where, function) for where, function in functions_of(model) if function.conversions is not None]
    if not known:
        return no_precision(view)
    count = sum(len(function.conversions or ()) for _, function in known)
    fixable = next((function for _, function in known if _half(function)), None)
    metrics = (tk.Metric("converted", "inputs and outputs that are converted", count, "count"),)
    if not count:
        inside = name_list(name for _, function in known for name in function.precision or ())
        return view.passed(f"Inputs and outputs need no conversion: the model computes in {inside}.", metrics)
    if fixable is None:
        return view.passed(f"Nothing can be done about what is converted: {conversions(model)}.", metrics)
    lists_operations = all(function.operations is not None for _, function in known)
    certain = (
        "Converted" if lists_operations else "The file lists no operations, but by its precision this may be converted"
    )
    return view.finding(
        f"{certain} in every prediction: {conversions(model)}.",
        metrics,
        fix=_fix(model, fixable),
    )


def conversions(model: ModelFile) -> str:
    """The inputs and outputs that are converted, with their types, for a sentence; empty where none is."""
    return name_list(
        _words(where, entry) for where, function in functions_of(model) for entry in function.conversions or ()
    )


def _words(where: str, entry: Conversion) -> str:
    outside = f"8-bit image to {entry.inside}" if entry.image else f"{entry.outside} to {entry.inside}"
    if entry.direction == "output":
        outside = f"{entry.inside} to {'8-bit image' if entry.image else entry.outside}"
    return f"{entry.direction} {code(entry.feature)}{f' of {where}' if where else ''} ({outside})"


def _fix(model: ModelFile, function: Function) -> str:
    """The arguments of `ct.convert` for one function, and what Swift passes."""
    conversions = function.conversions or ()
    names = _half(function)
    version = max(model.specification_version or 0, FLOAT16_INTERFACE)
    types = [
        f"inputs=[{_types(function.inputs, names)}],",
        f"outputs=[{_types(function.outputs, names, output=True)}],",
    ]
    parts = [
        "Convert the model with Float16 where it computes in Float16. Needs iOS 16, macOS 13 or later:\n\n"
        + convert_code(types, version),
        _swift(function, names),
    ]
    color = [entry.feature for entry in conversions if _is_color(entry, function)]
    if color:
        parts.append(
            f"8-bit color images ({name_list(map(code, color))}) have no Float16 form. Declare a Float16 array instead "
            "(`ct.TensorType(..., dtype=np.float16)`, iOS 16, macOS 13 or later) and fill it on the GPU, or accept the "
            "conversion."
        )
    wide = [entry.feature for entry in conversions if entry.inside not in ("Float16", "")]
    if wide:
        parts.append(
            f"The model computes with {name_list(entry.inside for entry in conversions if entry.feature in wide)}: see "
            "`float32-compute` first."
        )
    return "\n\n".join(parts)


def _half(function: Function) -> set[str]:
    """Inputs and outputs that can have the Float16 that the function computes with."""
    found = (each for each in function.conversions or () if each.inside == "Float16" and not _is_color(each, function))
    return {each.feature for each in found}


def _is_color(entry: Conversion, function: Function) -> bool:
    """Whether the conversion is of an image in color, of which there is no Float16 form."""
    spaces = {feature.name: feature.color_space for feature in function.features}
    return entry.image and spaces.get(entry.feature) != "Grayscale"


def _types(features: tuple[Feature, ...], names: set[str], *, output: bool = False) -> str:
    types = [type_code(feature, "np.float16" if feature.name in names else None, output=output) for feature in features]
    return types[0] if len(types) == 1 else "\n" + "".join(f"        {type_},\n" for type_ in types) + "    "


def _swift(function: Function, names: set[str]) -> str:
    first = next((each for each in function.inputs if each.name in names), None)
    if first is None or first.shape is None or None in first.shape.dimensions:
        return "In Swift, pass and read Float16 (`MLMultiArray(shape:dataType: .float16)`, `MLShapedArray<Float16>`)."
    sizes = ", ".join(map(str, first.shape.dimensions))
    if first.color_space is not None:
        return (
            f"In Swift, pass a pixel buffer of the type `kCVPixelFormatType_OneComponent16Half` for {code(first.name)}."
        )
    name = first.name if first.name.isidentifier() and first.name.isascii() else "input"
    return (
        "```swift\n"
        "// A Float16 array; reuse it in every prediction.\n"
        f"let {name} = try MLMultiArray(shape: [{sizes}], dataType: .float16)\n```"
    )


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
