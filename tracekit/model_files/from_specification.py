"""Facts from a specification message of coremltools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracekit.model_files import facts
from tracekit.model_files.conversions import conversions_of, counts_of, precision_of
from tracekit.model_files.network import layers_of
from tracekit.model_files.program import data_type, function_parts
from tracekit.model_files.weights import inner_weights, weights_of_all
from tracekit.model_files.words import words_of_identifier

_NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
_PIPELINES = ("pipeline", "pipelineClassifier", "pipelineRegressor")

MAIN = "main"
"""Name of the only function of most models."""


def model_of(message: Any, name: str, source: str, form: facts.Form, folder: Path | None) -> facts.ModelFile:
    """Facts of a `Model` message. `folder` is where the specification lies and, in a package, the weights below it;
    None where it lies nowhere. Raises `UnreadableModel`."""
    kind = message.WhichOneof("Type")
    functions = _functions(message, kind)
    weights = facts.Weights(facts.WeightState.UNKNOWN, None, reason=_elsewhere(kind))
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
        classes = tuple(dict.fromkeys(each for stage in stages for each in stage.custom_layers))
    elif kind == "customModel":
        classes = (message.customModel.className,)
    return facts.ModelFile(
        name=name,
        source=source,
        form=form,
        kind=kind_words(kind),
        specification_version=int(message.specificationVersion),
        functions=functions,
        weights=weights,
        metadata=_metadata(message.description.metadata),
        stages=stages,
        custom_layers=classes,
        updatable=bool(message.isUpdatable),
    )


def _elsewhere(kind: str) -> str:
    """Why the parameters of a model that is neither program, network nor pipeline are not counted."""
    where = "the model that it names" if kind == "linkedModel" else "the specification"
    return f"parameters of a {kind_words(kind)} are stored in {where} and are not counted"


def kind_words(kind: str) -> str:
    """Kind of a model: `treeEnsembleClassifier` as `tree ensemble classifier`."""
    if kind == "mlProgram":
        return facts.Kind.ML_PROGRAM
    return words_of_identifier(kind)


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
        inputs = tuple(feature_of(each) for each in entry.input)
        outputs = tuple(feature_of(each) for each in entry.output)
        states = tuple(feature_of(each, state=True) for each in entry.state)
        program = programs.get(name)
        if program is None:
            functions.append(facts.Function(name, inputs, outputs, states))
            continue
        parameters, operations = function_parts(program)
        functions.append(program_function(name, (inputs, outputs, states), program.opset, parameters, operations))
    return tuple(functions)


def program_function(
    name: str,
    interface: tuple[Any, Any, Any],
    opset: str | None,
    parameters: Any,
    operations: tuple[facts.Operation, ...],
) -> facts.Function:
    """A function whose operations are known. `interface`: inputs, outputs and states."""
    inputs, outputs, states = interface
    return facts.Function(
        name=name,
        inputs=inputs,
        outputs=outputs,
        states=states,
        opset=opset,
        parameters=parameters,
        operations=operations,
        counts=counts_of(operations),
        precision=precision_of(operations, (each.name for each in inputs), (each.name for each in outputs)),
        conversions=conversions_of(inputs, outputs, parameters, operations),
    )


def weights_of_stages(parts: Sequence[facts.Weights]) -> facts.Weights:
    """Weights of all stages of a pipeline; what is wrong with one is wrong with all. Stages of which they cannot be
    counted are left out, unless there is no other."""
    parts_with_weights = [part for part in parts if part.state is not facts.WeightState.NONE]
    parts_with_weights = [
        part for part in parts_with_weights if not part.reason or part.state is not facts.WeightState.UNKNOWN
    ] or parts_with_weights
    if not parts_with_weights:
        return facts.Weights(facts.WeightState.NONE, 0, ())
    usual = (facts.WeightState.FILE, facts.WeightState.INSIDE)
    worst = next((part for part in parts_with_weights if part.state not in usual), parts_with_weights[0])
    sizes = [part.bytes for part in parts_with_weights]
    lists = [part.tensors for part in parts_with_weights]
    return facts.Weights(
        worst.state,
        None if None in sizes else sum(size for size in sizes if size is not None),
        None if None in lists else tuple(weight for each in lists if each is not None for weight in each),
        worst.reason,
    )


def _metadata(message: Any) -> facts.Metadata:
    return facts.Metadata(
        author=message.author,
        description=message.shortDescription,
        license=message.license,
        version=message.versionString,
        user_defined=dict(sorted(message.userDefined.items())),
    )


COLOR_SPACES = {10: "Grayscale", 20: "RGB", 30: "BGR", 40: "Grayscale16Half"}
"""`ImageFeatureType.ColorSpace`, in the words of the compiler."""

_ELEMENTS = {
    "int64Type": "Int64",
    "int64KeyType": "Int64",
    "doubleType": "Double",
    "stringType": "String",
    "stringKeyType": "String",
}


def feature_of(message: Any, *, state: bool = False) -> facts.Feature:
    """A `FeatureDescription` message as a fact."""
    kind = message.type.WhichOneof("Type")
    common = {
        "name": message.name,
        "optional": bool(message.type.isOptional),
        "description": message.shortDescription,
    }
    if kind == "imageType":
        return _image(message.type.imageType, common)
    if kind == "multiArrayType":
        return _array(message.type.multiArrayType, facts.FeatureKind.ARRAY, common)
    if kind == "stateType":
        return _array(message.type.stateType.arrayType, facts.FeatureKind.STATE, common)
    held, element = facts.FeatureKind.STATE if state else facts.FeatureKind.UNKNOWN, None
    if kind in ("int64Type", "doubleType"):
        held, element = facts.FeatureKind.NUMBER, kind
    elif kind == "stringType":
        held, element = facts.FeatureKind.STRING, kind
    elif kind == "dictionaryType":
        held, element = facts.FeatureKind.DICTIONARY, message.type.dictionaryType.WhichOneof("KeyType")
    elif kind == "sequenceType":
        held, element = facts.FeatureKind.SEQUENCE, message.type.sequenceType.WhichOneof("Type")
    return facts.Feature(kind=held, element=_ELEMENTS.get(element or ""), shape=None, **common)


def _array(message: Any, kind: facts.FeatureKind, common: dict[str, Any]) -> facts.Feature:
    sizes = tuple(int(size) for size in message.shape)
    flexibility = message.WhichOneof("ShapeFlexibility")
    choices: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[facts.SizeRange, ...] = ()
    if flexibility == "enumeratedShapes":
        choices = tuple(tuple(int(size) for size in shape.shape) for shape in message.enumeratedShapes.shapes)
    elif flexibility == "shapeRange":
        ranges = tuple(_range(entry) for entry in message.shapeRange.sizeRanges)
    shape = facts.Shape.of_array(sizes, choices, ranges)
    return facts.Feature(kind=kind, element=data_type(message), shape=shape, **common)


def _image(message: Any, common: dict[str, Any]) -> facts.Feature:
    color = COLOR_SPACES.get(message.colorSpace)
    flexibility = message.WhichOneof("SizeFlexibility")
    choices: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[facts.SizeRange, ...] = ()
    if flexibility == "enumeratedSizes":
        choices = tuple((int(size.height), int(size.width)) for size in message.enumeratedSizes.sizes)
    elif flexibility == "imageSizeRange":
        ranges = (_range(message.imageSizeRange.heightRange), _range(message.imageSizeRange.widthRange))
    return facts.Feature(
        kind=facts.FeatureKind.IMAGE,
        element="Float16" if color == "Grayscale16Half" else "UInt8",
        shape=facts.Shape((int(message.height), int(message.width)), choices, ranges, facts.IMAGE_AXES),
        color_space=color,
        **common,
    )


def _range(message: Any) -> facts.SizeRange:
    return facts.SizeRange.of(int(message.lowerBound), int(message.upperBound))
