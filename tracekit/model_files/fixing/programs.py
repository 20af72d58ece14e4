"""Edits of ML programs and neural networks by coremltools: the only module that calls it to write a model.

A program is loaded, edited and written again without any pass but those named here, so that operations keep their names
and nothing else changes. What was called is there in coremltools 9.0; parts of it are not its public interface, which
would rename outputs, refuse models with several functions, and run all passes of a conversion.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tracekit.errors import TracekitError
from tracekit.model_files.conversions import PASSED_BY
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import BLOCKS, HALF, INTERFACE, REMEDIES, SHAPES, WEIGHTS, convertible

WAYS = {"8-bit": 8, "6-bit-palettes": 6, "4-bit-palettes": 4}
"""How weights can be compressed, and bits of each."""
_MIL = "coremltools.converters.mil"
_FLOAT16, _GRAYSCALE_HALF = 65552, 40
"""`ArrayFeatureType.ArrayDataType` and `ImageFeatureType.ColorSpace`."""
_SEVERAL_LISTS = 9
"""Specification version from which on shapes of more than one input can be listed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user chose."""

    shapes: Mapping[str, Sequence[tuple[int, ...]]] = field(default_factory=dict)
    """By input: the shapes that are listed, the default first. One for each input: the only one."""
    weights: str = "8-bit"
    """One of `WAYS`."""


def write_fixed(finding: str, model: ModelFile, source: Path, target: Path, wanted: Wanted, tools: Any) -> None:
    """Write the model at `source` to `target` with the remedy of a finding; `model` are the facts of the former, `tools`
    is coremltools. Raises `TracekitError` for whatever coremltools raises."""
    with _refused(f"'{finding}' cannot be fixed in {model.source}"):
        loaded = tools.models.MLModel(str(source), skip_model_load=True)
        if loaded.get_spec().WhichOneof("Type") == "mlProgram":
            edited = _edited_program(finding, model, loaded, wanted, tools)
        else:
            edited = tools.models.MLModel(_edited_network(finding, loaded, wanted), skip_model_load=True)
        edited.save(str(target))


def write_joined(functions: Mapping[str, Path], target: Path, tools: Any) -> None:
    """Write one package with the main function of each model under a name; the first is the default one, and its
    metadata are kept. Raises `TracekitError`."""
    with _refused("the models cannot be put together"):
        described = tools.utils.MultiFunctionDescriptor()
        for name, path in functions.items():
            described.add_function(str(path), "main", name)
        described.default_function_name = next(iter(functions))
        joined = target.with_name(f"joined-{target.name}")
        tools.utils.save_multifunction(described, str(joined))
        model = tools.models.MLModel(str(joined), skip_model_load=True)
        spec = model.get_spec()
        first = tools.utils.load_spec(str(next(iter(functions.values()))))
        spec.description.metadata.CopyFrom(first.description.metadata)
        tools.models.MLModel(spec, weights_dir=model.weights_dir, skip_model_load=True).save(str(target))


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Raise `TracekitError` for whatever coremltools raises, and keep its warnings: folders that it leaves to the
    garbage collector, types that it changes on the way."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:  # coremltools raises bare exceptions
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise TracekitError(f"{what}: coremltools refuses it: {words.rstrip('.')}") from error


def _edited_program(finding: str, model: ModelFile, loaded: Any, wanted: Wanted, tools: Any) -> Any:
    """The program after an edit, as a model of coremltools."""
    spec = loaded.get_spec()
    several = finding == SHAPES and len(wanted.shapes) > 1 and not _is_one_each(wanted.shapes)
    needed = _SEVERAL_LISTS if several else REMEDIES[finding].version
    version = max(int(spec.specificationVersion), needed)
    program = import_module(f"{_MIL}.frontend.milproto.load").load(spec, version, loaded.weights_dir)
    description = spec.description
    described = {each.name: each for each in description.functions} or {"main": description}
    if description.functions:
        program.default_function_name = description.defaultFunctionName
    outputs = {name: [value.name for value in function.outputs] for name, function in program.functions.items()}
    if finding == HALF:
        _pass_of("passes.defs.quantization", "FP16ComputePrecision").apply(program)
    elif finding == INTERFACE:
        for facts in model.functions:
            names = {each.feature for each in facts.conversions or () if convertible(facts, each)}
            _make_interface_half(program, program.functions[facts.name], described[facts.name], names)
    elif finding == SHAPES:
        _list_shapes(program, described, wanted.shapes)
    else:
        _compress(finding, program, wanted.weights)
    # Constants in another type are worked out, and casts back and forth go.
    _run(program, "cast_optimization", *(["const_elimination"] if finding in (HALF, SHAPES) else []))
    _run(program, "dead_code_elimination")
    for name, function in program.functions.items():
        _name_outputs(function, outputs[name])
    if len(program.functions) > 1:
        # What functions share is stored once.
        _registry()["common::const_deduplication"]._deduplicate_const_across_functions(program)  # noqa: SLF001
    program.skip_all_passes = True
    return import_module(f"{_MIL}.converter").mil_convert(
        program,
        convert_to="mlprogram",
        convert_from="milinternal",
        specification_version=version,
        compute_units=tools.ComputeUnit.CPU_ONLY,
        model_description=description,
        skip_model_load=True,
    )


def _registry() -> Any:
    return import_module(f"{_MIL}.mil.passes.pass_registry").PASS_REGISTRY


def _run(program: Any, *passes: str) -> None:
    for name in passes:
        _registry()[f"common::{name}"](program)


def _pass_of(module: str, name: str, **options: Any) -> Any:
    return getattr(import_module(f"{_MIL}.mil.{module}"), name)(**options)


def _make_interface_half(program: Any, function: Any, description: Any, names: set[str]) -> None:
    """Float16 for these inputs and outputs of a function, and for what only moves or scales them in Float32."""
    mil = import_module(f"{_MIL}.mil")
    inputs = [value for name, value in function.inputs.items() if name in names]
    given = [index for index, value in enumerate(function.outputs) if value.name in names]
    beside = {operation for value in inputs for operation in _on_the_way(value, onward=True)}
    beside |= {operation for index in given for operation in _on_the_way(function.outputs[index], onward=False)}
    _pass_of(
        "passes.defs.quantization", "FP16ComputePrecision", op_selector=lambda operation: operation in beside
    ).apply(program)
    half, outputs = mil.types.fp16, list(function.outputs)
    with function:
        for value in inputs:
            cast = mil.Builder.cast(x=value, dtype="fp32", before_op=function.operations[0])
            function.replace_uses_of_var_after_op(anchor_op=cast.op, old_var=value, new_var=cast)
            value._sym_type = mil.types.tensor(half, value.sym_type.get_shape())  # noqa: SLF001 - as coremltools does
        for index in given:
            outputs[index] = mil.Builder.cast(x=outputs[index], dtype="fp16")
    function.set_outputs(outputs)
    for feature in (*description.input, *description.output):
        if feature.name in names:
            if feature.type.WhichOneof("Type") == "imageType":
                feature.type.imageType.colorSpace = _GRAYSCALE_HALF
            else:
                feature.type.multiArrayType.dataType = _FLOAT16


def _on_the_way(value: Any, *, onward: bool) -> Iterator[Any]:
    """Operations between an input and its cast, or an output and its cast, which have nothing else to do with it."""
    while value is not None:
        near = list(value.child_ops) if onward else [value.op] if value.op is not None else []
        if len(near) != 1 or near[0].op_type not in PASSED_BY:
            return
        yield near[0]
        before = (each for each in near[0].inputs.values() if getattr(each, "val", 0) is None)
        value = near[0].outputs[0] if onward else next(before, None)


def _name_outputs(function: Any, names: Sequence[str]) -> None:
    """Give outputs the names that they had: an app asks for them."""
    builder = import_module(f"{_MIL}.mil").Builder
    outputs = list(function.outputs)
    for index, (name, value) in enumerate(zip(names, outputs, strict=True)):
        if value.name == name:
            continue
        if value.op is None or value in outputs[:index]:
            with function:
                outputs[index] = value = builder.identity(x=value)
        for operation in function.operations:
            for other in operation.outputs:
                if other.name == name:
                    other.set_name(f"{name}_before")
        value.set_name(name)
    function.set_outputs(outputs)


def _is_one_each(shapes: Mapping[str, Sequence[tuple[int, ...]]]) -> bool:
    return all(len(each) == 1 for each in shapes.values())


def _list_shapes(program: Any, described: Mapping[str, Any], shapes: Mapping[str, Sequence[tuple[int, ...]]]) -> None:
    """One fixed shape for each input, or the listed ones, of which the program leaves the sizes open."""
    for name, description in described.items():
        of_function = {each.name: shapes[each.name] for each in description.input if each.name in shapes}
        _describe_shapes(description, of_function)
        if program is None or not of_function or not _is_one_each(of_function):
            continue
        materialize = type(_registry()["common::materialize_symbolic_shape_program"])()
        materialize.source_function_name = name
        materialize.function_name_to_materialization_map = {name: {key: each[0] for key, each in of_function.items()}}
        materialize.apply(program)
        fixed = {value.name: value.shape for value in program.functions[name].outputs}
        for feature in description.output:
            sizes = fixed.get(feature.name, ())
            if feature.type.WhichOneof("Type") == "multiArrayType" and all(isinstance(size, int) for size in sizes):
                feature.type.multiArrayType.ClearField("ShapeFlexibility")
                feature.type.multiArrayType.shape[:] = sizes


def _describe_shapes(description: Any, shapes: Mapping[str, Sequence[tuple[int, ...]]]) -> None:
    for feature in description.input:
        if feature.name in shapes:
            array, listed = feature.type.multiArrayType, shapes[feature.name]
            array.ClearField("ShapeFlexibility")
            array.shape[:] = listed[0]
            for sizes in listed if len(listed) > 1 else ():
                array.enumeratedShapes.shapes.add().shape.extend(sizes)


def _compress(finding: str, program: Any, way: str) -> None:
    """Compress the weights of a program; those that have a scale per block lose it first."""
    coreml = import_module("coremltools.optimize.coreml")
    passes = import_module("coremltools.optimize.coreml._quantization_passes")
    if finding == BLOCKS:
        passes.WeightDecompressor(op_selector=_is_blockwise).apply(program)
    if finding == BLOCKS or way == "8-bit":
        settings = coreml.OpLinearQuantizerConfig(mode="linear_symmetric")
        kind = passes.linear_quantize_weights
    else:
        settings = coreml.OpPalettizerConfig(mode="custom", lut_function=_palette(WAYS[way]))
        kind = passes.palettize_weights
    kind(coreml.OptimizationConfig(global_config=settings)).apply(program)


def _is_blockwise(operation: Any) -> bool:
    """Whether weights have a scale for each of several blocks along more than one dimension."""
    return operation.op_type == "constexpr_blockwise_shift_scale" and sum(size > 1 for size in operation.scale.shape) > 1


def _palette(bits: int) -> Callable[[Any], tuple[Any, Any]]:
    """The best palette of one tensor, by k-means in one dimension, which comes with coremltools."""
    cluster = import_module("coremltools.models.neural_network.quantization_utils")._get_kmeans_lookup_table_and_weight  # noqa: SLF001

    def palette(values: Any) -> tuple[Any, Any]:
        table, indices = cluster(bits, values, force_kmeans1d=True)
        return table.astype(values.dtype), indices.astype("uint8")

    return palette


def _edited_network(finding: str, loaded: Any, wanted: Wanted) -> Any:
    """The specification of a neural network after an edit."""
    spec = loaded.get_spec()
    if finding == SHAPES:
        _list_shapes(None, {"main": spec.description}, wanted.shapes)
        return spec
    utilities = import_module("coremltools.models.neural_network.quantization_utils")
    bits, way = WAYS[wanted.weights], _palette(WAYS[wanted.weights])
    options = {} if bits == 8 else {"lut_function": lambda _, values: way(values)}
    # It prints each layer.
    with redirect_stdout(io.StringIO()):
        made = utilities.quantize_weights(loaded, bits, "custom_lut" if options else "linear", **options)
    # A specification where Core ML is absent, else a model.
    return made.get_spec() if hasattr(made, "get_spec") else made
