"""Which findings coremltools can mend in the model file itself, the one table for `fix`, `inspect` and `analyze`, and
what a remedy must leave as it was."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from tracekit.errors import TracekitError, UsageError
from tracekit.model_files.engine_limits import SEQUENTIAL_TYPES
from tracekit.model_files.facts import Conversion, FeatureKind, Form, Function, Kind, ModelFile, Shape, WeightState
from tracekit.model_files.words import allowed_shapes

HALF, INTERFACE, SHAPES = "float32-compute", "interface-conversion", "flexible-shapes"
BLOCKS, WEIGHTS = "per-block-weights", "uncompressed-weights"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What is done about a finding."""

    title: str
    """Here and in `app`, `words_of` fills in what depends on the choice and the model."""
    version: int
    """Lowest specification version of an ML program that has it."""
    may_change: tuple[str, ...] = ()
    """Fields of `Feature` that it changes; all else of the interface stays."""
    app: str = ""
    """What changes in the app."""


REMEDIES: dict[str, Remedy] = {
    HALF: Remedy(
        "computes in Float16", 6, app="Compare results: Float16 has 11 significant bits, and overflows above 65,504."
    ),
    INTERFACE: Remedy(
        "inputs and outputs in Float16",
        7,
        ("element", "color_space"),
        "Pass and read Float16: `MLMultiArray(shape:dataType: .float16)`, `MLShapedArray<Float16>`{image}.",
    ),
    SHAPES: Remedy("{shapes}", 6, ("shape",), "Pass {given}."),
    BLOCKS: Remedy("8-bit weights with a scale per channel", 7, app="Compare results: weights are quantized again."),
    WEIGHTS: Remedy("{weights} weights", 7, app="Compare results: compressed weights are approximations."),
}
"""By the check of model files that finds it, in the order in which they are done."""
ADVICE = {SHAPES: "Replace the sizes with those your app passes (default first); the fixed model accepts no others."}
"""By check: what to do about its command before it is run."""
OF_NETWORKS = {SHAPES, WEIGHTS}
"""What can be done for neural networks too."""

RECORDED = {
    "float-conversion": INTERFACE,
    "excess-data-copies": INTERFACE,
    "shape-switching": SHAPES,
    "new-shape-spike": SHAPES,
    "repeated-specialization": SHAPES,
    "slow-load": WEIGHTS,
}
"""By the check of recordings: the check of model files whose remedy is its own."""

_SOURCE = "convert the source again"
UNFIXABLE = {
    "load-failure": "what is missing or damaged can only be copied or exported again",
    "deployment-target": "coremltools neither makes an ML program of a neural network nor lowers the specification "
    f"version of a model; {_SOURCE}",
    "custom-layers": f"a class of the app computes them; {_SOURCE} with operations of Core ML in their place",
    "state-in-interface": f"states can only be declared when a model is converted; {_SOURCE} with `ct.StateType`",
    "unsupported-dimensions": "the shapes belong to the operations; change them in the source",
    **dict.fromkeys(
        ("sequential-operations", "unsupported-operations", "engine-pieces"),
        "the operations belong to the model's architecture; change it in the source",
    ),
    "state-shapes": "the shapes of states belong to the operations; change them in the source",
    "weight-file-size": "the model must be split, or its largest tensor compressed, in the source",
    "converter-faults": "the weights must be compressed again; convert and compress the source with coremltools 8.3",
}
"""By check: why coremltools cannot mend it in the file."""


def problem_of(finding: str, model: ModelFile) -> str:
    """Why a finding cannot be mended in this model; empty where it can."""
    if finding in UNFIXABLE:
        return UNFIXABLE[finding]
    if model.weights.state in (WeightState.MISSING, WeightState.POINTER, WeightState.DAMAGED):
        return model.weights.reason
    if model.kind != Kind.ML_PROGRAM and not (model.is_network and finding in OF_NETWORKS):
        stages = "; fix its models before they are put together" if model.is_pipeline else ""
        return f"coremltools does not do that for a {model.kind}{stages}"
    if finding == HALF and any(tensor.technique for tensor in model.weights.tensors or ()):
        return "its weights are compressed for Float32; compress those of the Float16 model"
    if finding == HALF and dict(model.counts).keys() <= SEQUENTIAL_TYPES:
        return "coremltools leaves recurrent operations in Float32"
    if finding == BLOCKS and not any(tensor.granularity == "per block" for tensor in model.weights.tensors or ()):
        return f"palettes of vectors cannot be made shorter; {_SOURCE}, and compress it again"
    stored = {tensor.stored for tensor in model.weights.tensors or ()}
    if finding == WEIGHTS and model.is_network and "Float32" not in stored:
        return "coremltools compresses only weights of a neural network that are stored as Float32"
    if finding == WEIGHTS and model.updatable:
        return "its weights are trained further on the device, as floats"
    conversions = [
        convertible(function, conversion) for function in model.functions for conversion in function.conversions or ()
    ]
    if finding == INTERFACE and not any(conversions):
        return "8-bit color images and integers have no Float16 form, and Float32 inside comes first: `float32-compute`"
    if finding == SHAPES and not _ranged(model):
        return f"fix lists shapes of arrays, not sizes of images; {_SOURCE} with `ct.EnumeratedShapes`"
    return ""


def fixable(found: Collection[str], model: ModelFile, *, shapes: bool) -> list[str]:
    """What can be fixed of what was found, in the order in which it is done. The Float16 of a model comes before that
    of its interface, which it makes possible; shapes are fixed only where the user chose some."""
    able = [name for name in REMEDIES if name in found and not problem_of(name, model) and (shapes or name != SHAPES)]
    arrays = any(each.element == "Float32" for each in (*model.main.inputs, *model.main.outputs))
    return [name for name in REMEDIES if name in able or (name == INTERFACE and HALF in able and arrays)]


def check_fixable_in(findings: Sequence[str], models: Collection[ModelFile]) -> None:
    """Raise `TracekitError` for a finding that none of the models can be fixed for, whatever is done before it."""
    for finding in findings:
        problems = [problem_of(finding, model) for model in models]
        # Only Float32 inside keeps an interface from being Float16, and a step before can change that.
        if all(problems) and not (finding == INTERFACE and HALF in findings):
            raise refusal(finding, next(iter(models)), problems[0])


def refusal(finding: str, model: ModelFile, problem: str) -> TracekitError:
    """The error that says why a finding cannot be fixed in a model."""
    return TracekitError(f"'{finding}' cannot be fixed in {model.source}: {problem}")


def words_of(finding: str, fixed: ModelFile, shapes: Mapping[str, Sequence[object]], weights: str) -> tuple[str, str]:
    """What was done in a model, and what that means for the app."""
    several = any(len(shape) > 1 for shape in shapes.values())
    image = any(
        feature.color_space == "Grayscale16Half" for function in fixed.functions for feature in function.features
    )
    words = {
        "weights": weights.replace("palettes", "palette"),
        "shapes": "listed shapes" if several else "fixed shape",
        "given": "only the shapes that are listed" if several else "exactly this shape",
        "image": "; images in pixel buffers of the type `kCVPixelFormatType_OneComponent16Half`" if image else "",
    }
    return REMEDIES[finding].title.format(**words), REMEDIES[finding].app.format(**words)


def check_fixable(model: ModelFile) -> None:
    """Raise `UsageError` for a model that cannot be written again, whatever the finding."""
    if model.form not in (Form.PACKAGE, Form.MODEL):
        what = "a compiled model" if model.form is Form.COMPILED else "no source form of a model"
        source = "give the .mlpackage or .mlmodel it was compiled from"
        raise UsageError(f"{model.source} is {what} and cannot be fixed; {source}")
    if model.form is Form.MODEL and model.kind == Kind.ML_PROGRAM:
        raise UsageError(f"{model.source} is the specification inside a package; give the .mlpackage")
    if model.weights.state in (WeightState.MISSING, WeightState.POINTER, WeightState.DAMAGED):
        raise UsageError(f"{model.source} cannot be fixed: {model.weights.reason}")


def check_function(model: ModelFile) -> None:
    """Raise `UsageError` for a model that cannot become a function."""
    check_fixable(model)
    if model.kind != Kind.ML_PROGRAM:
        raise UsageError(f"only ML programs can become functions; {model.source} is a {model.kind}")
    if [function.name for function in model.functions] != ["main"]:
        raise UsageError(f"{model.source} already has several functions; give the models it was made from")


def fix_command(finding: str, model: ModelFile, path: str) -> str:
    """The command that mends a finding of a check in the model at a path; empty where none does."""
    if finding not in REMEDIES or model.form not in (Form.PACKAGE, Form.MODEL) or problem_of(finding, model):
        return ""
    file = PurePath(path)
    if file.suffix == ".zip":
        return ""
    output = file.with_name(f"{file.stem}-fixed{file.suffix}")
    shapes = [f"--shape {shlex.quote(shape)}" for shape in _shapes(model)] if finding == SHAPES else []
    return " ".join(["tracekit fix", shlex.quote(path), finding, *shapes, "-o", shlex.quote(str(output))])


def convertible(function: Function, conversion: Conversion) -> bool:
    """Whether an input or output can have the type that the function computes with."""
    if conversion.inside != "Float16":
        return False
    if conversion.image:
        return any(
            feature.name == conversion.feature and feature.color_space == "Grayscale" for feature in function.features
        )
    return conversion.outside == "Float32"


def check_shapes(model: ModelFile, shapes: Mapping[str, Sequence[tuple[int, ...]]]) -> None:
    """Raise `UsageError` for shapes that are not those of the inputs with a range, or beyond it."""
    ranged = _ranged(model)
    for name in shapes.keys() - ranged.keys() if ranged else ():
        typed = f"{name}={'x'.join(map(str, shapes[name][0]))}"
        raise UsageError(
            f"--shape {typed}: no input '{name}' takes a range of shapes; choose from: {', '.join(ranged)}"
        )
    if set(shapes) != set(ranged) or len({len(each) for each in shapes.values()}) > 1:
        example = " ".join(f"--shape {shape}" for shape in _shapes(model))
        raise UsageError(f"flexible-shapes needs the shapes that the app uses, as many of each input, as in: {example}")
    if _normed(model) and any(len(each) > 1 for each in shapes.values()):
        raise UsageError(
            "--shape: with layer_norm, listed shapes leave the Neural Engine (apple/coremltools#1909: 175 ms, and "
            "20 ms as a range); give one shape, and write a model for each"
        )
    for name, sizes in ((name, sizes) for name, each in shapes.items() for sizes in each):
        if not ranged[name].takes(sizes):
            typed = f"{name}={'x'.join(map(str, sizes))}"
            raise UsageError(f"--shape {typed}: the model takes {allowed_shapes(ranged[name])}")


def _normed(model: ModelFile) -> bool:
    """Whether listing shapes is no gain."""
    return "layer_norm" in dict(model.counts)


def _ranged(model: ModelFile) -> dict[str, Shape]:
    """Shapes of the inputs with a range of them, or with a list that is no gain, by name; empty where one of these is
    an image."""
    inputs = [each for function in model.functions for each in function.inputs]
    flexible = {each.name: each.shape for each in inputs if each.shape and each.shape.flexible}
    ranged = {name: shape for name, shape in flexible.items() if shape.ranges or _normed(model)}
    images = {each.name for each in inputs if each.kind is FeatureKind.IMAGE}
    return {} if images & ranged.keys() else ranged


def _shapes(model: ModelFile) -> Iterator[str]:
    """`x=1x4`: the default shape and the largest of each input; which ones the app uses, no file says. The default
    alone where listing is no gain."""
    for name, shape in _ranged(model).items():
        largest = tuple(size.lower if size.upper is None else size.upper for size in shape.ranges)
        for sizes in dict.fromkeys((tuple(shape.dimensions), *([] if _normed(model) else [largest]))):
            yield f"{name}={'x'.join(map(str, sizes))}"


def changes_beside(before: ModelFile, after: ModelFile, may_change: Collection[str]) -> list[str]:
    """Names of what changed though nobody asked for it; `may_change` are fields of `Feature`. O(operations)."""
    old, new = (_facts(model, may_change) for model in (before, after))
    return [name for name in old if old[name] != new.get(name)]


def _facts(model: ModelFile, may_change: Collection[str]) -> dict[str, object]:
    facts: dict[str, object] = {
        "metadata": model.metadata,
        "custom layers": model.custom_layers,
        "training on the device": model.updatable,
        "functions": [function.name for function in model.functions],
    }
    without: dict[str, Any] = dict.fromkeys(may_change)
    for function in model.functions:
        values = {value.name for operation in function.operations or () for value in operation.outputs}
        values |= {value.name for value in function.parameters}
        for role in ("inputs", "outputs", "states"):
            described = getattr(function, role)
            # An app asks by the name in the description, which the program must have too.
            known = [each.name in values for each in described]
            facts[f"{role} of {function.name}"] = [known, *(replace(each, **without) for each in described)]
        facts[f"compute units that {function.name} asks for"] = {each.backend for each in function.operations or ()}
        # Conversions may go, and where a shape becomes fixed, operations that worked sizes out.
        computing = {name: count for name, count in function.counts if name not in ("cast", "identity")}
        facts[f"operations of {function.name}"] = None if "shape" in may_change else computing
    return facts
