"""What several checks of model files say alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracekit.detectors import InspectedModel, NotApplicable, NotEvaluated
from tracekit.model_files.engine_limits import Limit
from tracekit.model_files.facts import Feature, FeatureKind, Form, Function, Kind, ModelFile
from tracekit.model_files.versions import deployment_target
from tracekit.units import format_names

LISTED = 4
"""Names that a sentence lists."""

INSPECT_MODEL = "Inspect the model itself (.mlpackage or .mlmodel), or its compiled form (.mlmodelc)."
"""Advice where only the compiler's JSON was given."""


def functions_of(model: ModelFile) -> Iterator[tuple[str, Function]]:
    """Every function with what it is called in a sentence: nothing where there is only one."""
    parts = model.parts
    for part in parts:
        for function in part.functions:
            words = [part.name] if len(parts) > 1 else []
            words += [function.name] if len(part.functions) > 1 else []
            yield " ".join(words), function


def inputs_of(model: ModelFile) -> tuple[Feature, ...]:
    """Inputs of all functions of the model itself, each name once."""
    return tuple({entry.name: entry for function in model.functions for entry in function.inputs}.values())


def name_list(names: Iterable[str], noun: str = "") -> str:
    """Names for a sentence, each once; long lists end with a number, of what the noun says."""
    return format_names(list(dict.fromkeys(names)), LISTED, noun)


def code(name: str) -> str:
    """A name as code in a sentence of ours."""
    return f"`{name.replace('`', chr(39))}`"


def literal(name: str) -> str:
    """A name as a string of Python."""
    # A backtick could end the code that the name stands in.
    for char, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("`", "\\x60")):
        name = name.replace(char, escape)
    return f'"{name}"'


def shape_code(feature: Feature) -> str:
    """The shape as `ct.convert` takes it; `...` where the file gives none."""
    shape = feature.shape
    if shape is None:
        return "..."
    if len(shape.choices) > 1:
        return f"ct.EnumeratedShapes({[*shape.choices]}, default={tuple(shape.dimensions)})"
    if shape.flexible:
        sizes = (
            str(size.lower)
            if size.lower == size.upper
            else f"ct.RangeDim({size.lower}, {-1 if size.upper is None else size.upper})"
            for size in shape.ranges
        )
        return f"ct.Shape(({', '.join(sizes)}))"
    return str(tuple(shape.dimensions))


def type_code(feature: Feature, dtype: str | None = None, *, output: bool = False) -> str:
    """The argument of `ct.convert` for an array or an image; `dtype` is a numpy type, and None keeps its own."""
    parts = [f"name={literal(feature.name)}"]
    if feature.kind is FeatureKind.IMAGE:
        layout = {"Grayscale": "GRAYSCALE", "Grayscale16Half": "GRAYSCALE_FLOAT16"}.get(
            feature.color_space or "", feature.color_space or "RGB"
        )
        half = dtype == "np.float16" and layout == "GRAYSCALE"
        return f"ct.ImageType({parts[0]}, color_layout=ct.colorlayout.{'GRAYSCALE_FLOAT16' if half else layout})"
    type_names = {"Float16": "np.float16", "Float32": "np.float32", "Int32": "np.int32", "Int8": "np.int8"}
    if not output:
        parts.append(f"shape={shape_code(feature)}")
    parts.append(f"dtype={dtype or type_names.get(feature.element or '', 'np.float32')}")
    return f"ct.TensorType({', '.join(parts)})"


def convert_code(arguments: Sequence[str], version: int) -> str:
    """A call of `ct.convert` with these arguments for a specification version."""
    lines = [*arguments, f"minimum_deployment_target={deployment_target(version)},"]
    body = "\n".join(f"    {line}" for line in lines)
    return f"```python\nmodel = ct.convert(\n    source,\n{body}\n)\n```"


def no_precision(view: InspectedModel) -> NotApplicable | NotEvaluated:
    """The answer where no part of the model says which type it computes with."""
    if any(part.kind == Kind.ML_PROGRAM for part in view.model.parts):
        return view.unknown("The file does not say which types it computes with.", INSPECT_MODEL)
    if not any(part.is_network for part in view.model.parts):
        return no_operations(view)
    return view.not_applicable("A neural network does not fix the type it computes with: Core ML chooses one at load.")


def no_weights(view: InspectedModel) -> NotApplicable | NotEvaluated:
    """The answer where the weights are not listed."""
    reason = view.model.weights.reason
    if reason:
        return view.not_applicable(f"{reason[:1].upper()}{reason[1:]}.")
    return view.unknown("The file does not list the weights.", INSPECT_MODEL)


def no_operations(view: InspectedModel) -> NotApplicable | NotEvaluated:
    """The answer where too little is known of the operations, with the reason of the first function that has one."""
    if any(part.has_operations for part in view.model.parts):
        from_source = view.model.form in (Form.PACKAGE, Form.MODEL)
        advice = "Look at the model in Xcode or in a performance report." if from_source else INSPECT_MODEL
        return view.unknown("The file does not list the operations.", advice)
    reasons = [placement.unknown for placement in view.placements if placement.unknown]
    reason = reasons[0] if reasons else "a class of the app computes the model"
    return view.not_applicable(f"{reason[:1].upper()}{reason[1:]}.")


def boundary(limit: Limit) -> str:
    """Which chips a limit is about, for a sentence: nothing for all."""
    return f" on {limit.chips}" if limit.chips else ""
