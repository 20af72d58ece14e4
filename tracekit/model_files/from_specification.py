"""Facts from a specification message of coremltools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracekit.model_files import facts
from tracekit.model_files.conversions import counts_of, with_operations
from tracekit.model_files.operations import data_type, function_parts, layers_of
from tracekit.model_files.weights import inner_weights, weights_of_all
from tracekit.model_files.words import kind_words

_NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
_PIPELINES = ("pipeline", "pipelineClassifier", "pipelineRegressor")

MAIN = "main"
"""Name of the only function of most models."""


def model_of(message: Any, name: str, source: str, form: facts.Form, folder: Path | None) -> facts.ModelFile:
    """Facts of a `Model` message. `folder` is where the specification lies and, in a package, the weights below it;
    None where it lies nowhere. Raises `UnreadableModel`."""
    kind = message.WhichOneof("Type")
    functions = _functions(message, kind)
    where = "the model that it names" if kind == "linkedModel" else "the specification"
    elsewhere = f"parameters of the {kind_words(kind)} are stored in {where} and are not counted"
    weights = facts.Weights(facts.WeightState.UNKNOWN, None, reason=elsewhere)
    classes: tuple[str, ...] = ()
    stages: tuple[facts.ModelFile, ...] = ()
    if kind == "mlProgram":
        weights = weights_of_all(functions, folder)
    elif kind in _NETWORKS:
        layers, tensors, classes = layers_of(getattr(message, kind))
        counts = counts_of(layers)
        functions = tuple(replace(function, operations=layers, counts=counts) for function in functions)
        weights = inner_weights(tensors)
    elif kind in _PIPELINES:
        inner = getattr(message, kind)
        inner = getattr(inner, "pipeline", inner)
        names = dict(enumerate(inner.names))
        stages = tuple(
            model_of(stage, names.get(index) or f"stage {index + 1}", source, form, folder)
            for index, stage in enumerate(inner.models)
        )
        weights = weights_of_stages([stage.weights for stage in stages])
        classes = tuple(dict.fromkeys(layer for stage in stages for layer in stage.custom_layers))
    elif kind == "customModel":
        classes = (message.customModel.className,)
    described = message.description.metadata
    return facts.ModelFile(
        name=name,
        source=source,
        form=form,
        kind=kind_words(kind),
        specification_version=int(message.specificationVersion),
        functions=functions,
        weights=weights,
        metadata=facts.Metadata(
            author=described.author,
            description=described.shortDescription,
            license=described.license,
            version=described.versionString,
            user_defined=dict(sorted(described.userDefined.items())),
        ),
        stages=stages,
        custom_layers=classes,
        updatable=bool(message.isUpdatable),
    )


def _functions(message: Any, kind: str) -> tuple[facts.Function, ...]:
    """Functions, the default one first."""
    description = message.description
    described = {entry.name: entry for entry in description.functions}
    programs = dict(message.mlProgram.functions) if kind == "mlProgram" else {}
    if not described:
        # The only function of a program is usually, but not necessarily, called main.
        described = {next(iter(programs)) if len(programs) == 1 else MAIN: description}
    default = description.defaultFunctionName
    functions = []
    for name in sorted(described, key=lambda each: (each != default, each)):
        entry = described[name]
        function = facts.Function(
            name,
            tuple(map(_feature, entry.input)),
            tuple(map(_feature, entry.output)),
            tuple(_feature(each, state=True) for each in entry.state),
        )
        if program := programs.get(name):
            function = with_operations(function, program.opset, *function_parts(program))
        functions.append(function)
    return tuple(functions)


def weights_of_stages(parts: Sequence[facts.Weights]) -> facts.Weights:
    """Weights of all stages of a pipeline; what is wrong with one is wrong with all. Stages of which they cannot be
    counted are left out, unless there is no other."""
    present = [part for part in parts if part.state is not facts.WeightState.NONE]
    present = [part for part in present if not part.reason or part.state is not facts.WeightState.UNKNOWN] or present
    if not present:
        return facts.Weights(facts.WeightState.NONE, 0, ())
    usual = (facts.WeightState.FILE, facts.WeightState.INSIDE)
    worst = next((part for part in present if part.state not in usual), present[0])
    sizes, lists = [part.bytes for part in present], [part.tensors for part in present]
    return facts.Weights(
        worst.state,
        None if None in sizes else sum(size for size in sizes if size is not None),
        None if None in lists else tuple(weight for each in lists if each is not None for weight in each),
        worst.reason,
    )


COLOR_SPACES = {10: "Grayscale", 20: "RGB", 30: "BGR", 40: "Grayscale16Half"}
"""`ImageFeatureType.ColorSpace`, in the words of the compiler."""

_KINDS = {
    "imageType": facts.FeatureKind.IMAGE,
    "multiArrayType": facts.FeatureKind.ARRAY,
    "stateType": facts.FeatureKind.STATE,
    "int64Type": facts.FeatureKind.NUMBER,
    "doubleType": facts.FeatureKind.NUMBER,
    "stringType": facts.FeatureKind.STRING,
    "dictionaryType": facts.FeatureKind.DICTIONARY,
    "sequenceType": facts.FeatureKind.SEQUENCE,
}
_HELD = {"dictionaryType": "KeyType", "sequenceType": "Type"}
"""What states the type of the keys or elements of a feature."""
_ELEMENTS = {
    "int64Type": "Int64",
    "int64KeyType": "Int64",
    "doubleType": "Double",
    "stringType": "String",
    "stringKeyType": "String",
}


def _feature(message: Any, *, state: bool = False) -> facts.Feature:
    """A `FeatureDescription` message as a fact."""
    kind = message.type.WhichOneof("Type")
    element: str | None
    color = shape = None
    if kind == "imageType":
        image = message.type.imageType
        color, shape = COLOR_SPACES.get(image.colorSpace), _image_shape(image)
        element = "Float16" if color == "Grayscale16Half" else "UInt8"
    elif kind in ("multiArrayType", "stateType"):
        array = message.type.multiArrayType if kind == "multiArrayType" else message.type.stateType.arrayType
        choices = tuple(tuple(each.shape) for each in array.enumeratedShapes.shapes)
        ranges = tuple(map(_range, array.shapeRange.sizeRanges))
        element, shape = data_type(array), facts.Shape.of_array(tuple(array.shape), choices, ranges)
    else:
        held = getattr(message.type, kind).WhichOneof(_HELD[kind]) if kind in _HELD else kind
        element = _ELEMENTS.get(held)
    unknown = facts.FeatureKind.STATE if state else facts.FeatureKind.UNKNOWN
    optional = bool(message.type.isOptional)
    return facts.Feature(
        message.name, _KINDS.get(kind, unknown), element, shape, color, optional, message.shortDescription
    )


def _image_shape(message: Any) -> facts.Shape:
    choices = tuple((size.height, size.width) for size in message.enumeratedSizes.sizes)
    limits = message.imageSizeRange
    ranges = (_range(limits.heightRange), _range(limits.widthRange)) if message.HasField("imageSizeRange") else ()
    return facts.Shape((message.height, message.width), choices, ranges, facts.IMAGE_AXES)


def _range(message: Any) -> facts.SizeRange:
    return facts.SizeRange.of(message.lowerBound, message.upperBound)
