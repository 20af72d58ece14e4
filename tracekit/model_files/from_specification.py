"""Facts from a specification message of coremltools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.model_files.conversions import conversions_of, counts_of, precision_of
from tracekit.model_files.facts import (
    Form,
    Function,
    Kind,
    Metadata,
    ModelFile,
    Weights,
    WeightState,
)
from tracekit.model_files.features import feature_of
from tracekit.model_files.network import counts_of_layers, layers_of
from tracekit.model_files.program import function_parts
from tracekit.model_files.weights import inside, weights_of_all
from tracekit.model_files.words import spaced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tracekit.model_files.facts import Operation

_NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
_PIPELINES = ("pipeline", "pipelineClassifier", "pipelineRegressor")

MAIN = "main"
"""Name of the only function of most models."""


def model_of(message: Any, name: str, source: str, form: Form, folder: Path | None) -> ModelFile:
    """Facts of a `Model` message. `folder` is where the specification lies and, in a package, the weights below it;
    None where it lies nowhere. Raises `UnreadableModel`."""
    kind = message.WhichOneof("Type")
    functions = _functions(message, kind)
    weights = Weights(WeightState.UNKNOWN, None, reason=_elsewhere(kind))
    classes: tuple[str, ...] = ()
    stages: tuple[ModelFile, ...] = ()
    if kind == "mlProgram":
        weights = weights_of_all(functions, folder)
    elif kind in _NETWORKS:
        layers, tensors, classes = layers_of(getattr(message, kind))
        functions = tuple(_with_layers(function, layers) for function in functions)
        weights = inside(tensors)
    elif kind in _PIPELINES:
        inner = getattr(message, kind)
        inner = getattr(inner, "pipeline", inner)
        stages = tuple(
            model_of(stage, _stage_name(inner.names, index), source, form, folder)
            for index, stage in enumerate(inner.models)
        )
        weights = together([stage.weights for stage in stages])
        classes = tuple(dict.fromkeys(each for stage in stages for each in stage.custom_layers))
    elif kind == "customModel":
        classes = (message.customModel.className,)
    return ModelFile(
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
    return f"parameters of a {kind_words(kind)} lie in {where} and are not counted"


def kind_words(kind: str) -> str:
    """Kind of a model: `treeEnsembleClassifier` as `tree ensemble classifier`."""
    if kind == "mlProgram":
        return Kind.ML_PROGRAM
    return spaced(kind)


def _functions(message: Any, kind: str) -> tuple[Function, ...]:
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
            functions.append(Function(name, inputs, outputs, states))
            continue
        parameters, operations = function_parts(program)
        functions.append(program_function(name, (inputs, outputs, states), program.opset, parameters, operations))
    return tuple(functions)


def program_function(
    name: str, interface: tuple[Any, Any, Any], opset: str | None, parameters: Any, operations: tuple[Operation, ...]
) -> Function:
    """A function whose operations are known. `interface`: inputs, outputs and states."""
    inputs, outputs, states = interface
    return Function(
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


def _with_layers(function: Function, layers: tuple[Operation, ...]) -> Function:
    return Function(
        function.name,
        function.inputs,
        function.outputs,
        function.states,
        operations=layers,
        counts=counts_of_layers(layers),
    )


def _stage_name(names: Any, index: int) -> str:
    return str(names[index]) if index < len(names) and names[index] else f"stage {index + 1}"


def together(parts: Sequence[Weights]) -> Weights:
    """Weights of all stages of a pipeline; what is wrong with one is wrong with all. Stages of which they cannot be
    counted are left out, unless there is no other."""
    parts_with_weights = [part for part in parts if part.state is not WeightState.NONE]
    parts_with_weights = [
        part for part in parts_with_weights if not part.reason or part.state is not WeightState.UNKNOWN
    ] or parts_with_weights
    if not parts_with_weights:
        return Weights(WeightState.NONE, 0, ())
    usual = (WeightState.FILE, WeightState.INSIDE)
    worst = next((part for part in parts_with_weights if part.state not in usual), parts_with_weights[0])
    sizes = [part.bytes for part in parts_with_weights]
    lists = [part.tensors for part in parts_with_weights]
    return Weights(
        worst.state,
        None if None in sizes else sum(size for size in sizes if size is not None),
        None if None in lists else tuple(weight for each in lists if each is not None for weight in each),
        worst.reason,
    )


def _metadata(message: Any) -> Metadata:
    return Metadata(
        author=message.author,
        description=message.shortDescription,
        license=message.license,
        version=message.versionString,
        user_defined=tuple(sorted(message.userDefined.items())),
    )
