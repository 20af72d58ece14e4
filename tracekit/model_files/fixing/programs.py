"""Edits of ML programs and neural networks by coremltools: the only module that writes models with it.

A program is loaded, edited and written again without any pass but those named here, so that operations keep their names
and nothing else changes. Parts of what is called are not the public interface of coremltools 9.0: that renames outputs,
refuses models with several functions, and runs all passes of a conversion.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.errors import TracekitError
from tracekit.model_files.conversions import PASSED_BY
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import BLOCKS, HALF, INTERFACE, REMEDIES, SHAPES, convertible
from tracekit.model_files.read import specification_in

if TYPE_CHECKING:
    Shapes = Mapping[str, Sequence[tuple[int, ...]]]
    """Of each input, the default first."""

WAYS = {"8-bit": 8, "6-bit-palettes": 6, "4-bit-palettes": 4}
"""How weights can be compressed, and bits of each."""
_FLOAT16, _GRAYSCALE_HALF = 65552, 40
"""`ArrayFeatureType.ArrayDataType` and `ImageFeatureType.ColorSpace`."""
_SEVERAL_LISTS = 9
"""Specification version from which on shapes of more than one input can be listed."""
_FULL_BYTES = 1_000_000
"""A disk with less space is full: coremltools calls it an unknown error (heuristic)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user chose."""

    shapes: Shapes
    """One for each input: the only one that the model then takes."""
    weights: str
    """One of `WAYS`."""


def write_fixed(finding: str, model: ModelFile, source: Path, target: Path, wanted: Wanted, tools: Any) -> None:
    """Write the model at `source` to `target` with the remedy of a finding; `model` are the facts of the former,
    `tools` is coremltools. Raises `TracekitError` for whatever coremltools raises."""
    with _refused(f"'{finding}' cannot be fixed in {model.source}"):
        # Where the files lie is what the facts were read from, whatever else a manifest names.
        path = specification_in(source) if source.is_dir() else source
        spec = tools.utils.load_spec(str(path))
        if spec.WhichOneof("Type") == "mlProgram":
            edited = _edited_program(finding, model, spec, str(path.parent / "weights"), wanted, tools)
        else:
            edited = tools.models.MLModel(_edited_network(finding, spec, wanted, tools), skip_model_load=True)
        if len(spec.description.functions) > 1:
            whole = str(target.with_name(f"whole-{target.name}"))
            edited.save(whole)
            described = tools.utils.MultiFunctionDescriptor(whole)
            described.default_function_name = spec.description.defaultFunctionName
            _save_functions(described, target, spec.description.metadata, tools)
        else:
            edited.save(str(target))


def write_joined(functions: Mapping[str, Path], target: Path, tools: Any) -> None:
    """Write one package with the main function of each model under a name; the first is the default one, and its
    metadata are kept. Raises `TracekitError`."""
    with _refused("the models cannot be put together"):
        described = tools.utils.MultiFunctionDescriptor()
        for name, path in functions.items():
            described.add_function(str(path), "main", name)
        described.default_function_name, first = next(iter(functions.items()))
        _save_functions(described, target, tools.utils.load_spec(str(first)).description.metadata, tools)


def _save_functions(described: Any, target: Path, metadata: Any, tools: Any) -> None:
    """Write functions into one package, with these metadata; what they share is stored once."""
    joined = str(target.with_name(f"joined-{target.name}"))
    tools.utils.save_multifunction(described, joined)
    model = tools.models.MLModel(joined, skip_model_load=True)
    spec = model.get_spec()
    spec.description.metadata.CopyFrom(metadata)
    tools.models.MLModel(spec, weights_dir=model.weights_dir, skip_model_load=True).save(str(target))


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Raise `TracekitError` for whatever coremltools raises, but OSError for a full disk and what else the system
    refuses; and keep its warnings: it leaves folders behind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:  # coremltools raises bare exceptions
        full = os.strerror(errno.ENOSPC)
        if shutil.disk_usage(tempfile.gettempdir()).free >= _FULL_BYTES and full not in str(error):
            if isinstance(error, OSError):
                raise
            words = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
            raise TracekitError(f"{what}: coremltools refuses it: {words}") from error
    else:
        return
    # Not while the error is held, and with it temporary files, whose folder is removed first.
    raise OSError(errno.ENOSPC, full)


def _edited_program(finding: str, model: ModelFile, spec: Any, weights: str, wanted: Wanted, tools: Any) -> Any:
    """The program of a specification and a folder of weights after an edit, as a model of coremltools."""
    lists = finding == SHAPES and len(wanted.shapes) > 1 and any(len(shape) > 1 for shape in wanted.shapes.values())
    version = max(int(spec.specificationVersion), _SEVERAL_LISTS if lists else REMEDIES[finding].version)
    load = import_module("coremltools.converters.mil.frontend.milproto.load").load
    program, description = load(spec, version, weights), spec.description
    described = {each.name: each for each in description.functions} or {"main": description}
    if description.functions:
        program.default_function_name = description.defaultFunctionName
    outputs = {name: [value.name for value in function.outputs] for name, function in program.functions.items()}
    if finding == HALF:
        # The labels of a classifier are a list, which has no type to change.
        _pass("common::add_fp16_cast", op_selector=lambda operation: operation.op_type != "classify").apply(program)
    elif finding == INTERFACE:
        for facts in model.functions:
            names = {conversion.feature for conversion in facts.conversions or () if convertible(facts, conversion)}
            _make_interface_half(program, program.functions[facts.name], described[facts.name], names)
    elif finding == SHAPES:
        _fix_shapes(program, described, wanted.shapes)
    else:
        _compress(finding, program, wanted.weights)
    # Casts back and forth go, and constants in another type are worked out.
    _pass("common::cast_optimization").apply(program)
    if finding in (HALF, INTERFACE, SHAPES):
        _pass("common::const_elimination").apply(program)
    _pass("common::dead_code_elimination").apply(program)
    for name, function in program.functions.items():
        _name_outputs(function, outputs[name])
    program.skip_all_passes = True
    # Its bars of progress are of steps that no user knows.
    with redirect_stderr(io.StringIO()):
        return import_module("coremltools.converters.mil.converter").mil_convert(
            program,
            convert_to="mlprogram",
            convert_from="milinternal",
            specification_version=version,
            compute_units=tools.ComputeUnit.CPU_ONLY,
            model_description=description,
            skip_model_load=True,
        )


def _pass(name: str, **options: Any) -> Any:
    """A pass of coremltools of its own: those in its registry keep their options."""
    made = type(import_module("coremltools.converters.mil.mil.passes.pass_registry").PASS_REGISTRY[name])()
    for option, value in options.items():
        setattr(made, option, value)
    return made


def _make_interface_half(program: Any, function: Any, description: Any, names: set[str]) -> None:
    """Float16 for these inputs and outputs of a function, and for what only moves or scales them in Float32."""
    mil = import_module("coremltools.converters.mil.mil")
    inputs = [value for name, value in function.inputs.items() if name in names]
    given = [index for index, value in enumerate(function.outputs) if value.name in names]
    beside = {operation for value in inputs for operation in _on_the_way(value, onward=True)}
    beside |= {operation for index in given for operation in _on_the_way(function.outputs[index], onward=False)}
    _pass("common::add_fp16_cast", op_selector=beside.__contains__).apply(program)
    outputs = list(function.outputs)
    with function:
        for value in inputs:
            half = mil.Placeholder(value.shape, dtype=mil.types.fp16, name=value.name)
            cast = mil.Builder.cast(x=half.outputs[0], dtype="fp32", before_op=function.operations[0])
            function.replace_uses_of_var_after_op(anchor_op=cast.op, old_var=value, new_var=cast)
            function.inputs[value.name] = half.outputs[0]
        for index in given:
            outputs[index] = mil.Builder.cast(x=outputs[index], dtype="fp16")
    function.set_outputs(outputs)
    for feature in (*description.input, *description.output):
        if feature.name in names and feature.type.WhichOneof("Type") == "imageType":
            feature.type.imageType.colorSpace = _GRAYSCALE_HALF
        elif feature.name in names:
            feature.type.multiArrayType.dataType = _FLOAT16


def _on_the_way(value: Any, *, onward: bool) -> Iterator[Any]:
    """Operations between an input and its cast, or an output and its cast, which have nothing else to do with it."""
    while value is not None:
        near = value.child_ops if onward else [value.op]
        if len(near) != 1 or near[0] is None or near[0].op_type not in PASSED_BY:
            return
        yield near[0]
        before = (each for each in near[0].inputs.values() if getattr(each, "val", 0) is None)
        value = near[0].outputs[0] if onward else next(before, None)


def _name_outputs(function: Any, names: Sequence[str]) -> None:
    """Give outputs the names that they had: an app asks for them."""
    outputs = list(function.outputs)
    for index, name in enumerate(names):
        if outputs[index].name == name:
            continue
        if outputs[index].op is None or outputs[index] in outputs[:index]:
            with function:
                outputs[index] = import_module("coremltools.converters.mil").Builder.identity(x=outputs[index])
        for other in (value for operation in function.operations for value in operation.outputs if value.name == name):
            other.set_name(f"{name}_before")
        outputs[index].set_name(name)
    function.set_outputs(outputs)


def _fix_shapes(program: Any, described: Mapping[str, Any], shapes: Shapes) -> None:
    """List shapes, of which a program leaves the sizes open, or fix the only one; None for a neural network."""
    for name, description in described.items():
        inputs = [feature for feature in description.input if feature.name in shapes]
        for feature in inputs:
            _set_shapes(feature, shapes[feature.name])
        if program is None or not inputs or any(len(shapes[feature.name]) > 1 for feature in inputs):
            continue
        fixed = {name: {feature.name: shapes[feature.name][0] for feature in inputs}}
        materialize = "common::materialize_symbolic_shape_program"
        _pass(materialize, source_function_name=name, function_name_to_materialization_map=fixed).apply(program)
        sizes = {value.name: value.shape for value in program.functions[name].outputs}
        for feature in description.output:
            known = sizes.get(feature.name, ())
            if feature.type.WhichOneof("Type") == "multiArrayType" and all(isinstance(size, int) for size in known):
                _set_shapes(feature, [known])


def _set_shapes(feature: Any, shapes: Sequence[tuple[int, ...]]) -> None:
    array = feature.type.multiArrayType
    array.ClearField("ShapeFlexibility")
    array.shape[:] = shapes[0]
    for sizes in shapes if len(shapes) > 1 else ():
        array.enumeratedShapes.shapes.add().shape.extend(sizes)


def _compress(finding: str, program: Any, way: str) -> None:
    """Compress the weights of a program; those that have a scale per block lose it first."""
    coreml = import_module("coremltools.optimize.coreml")
    if finding == BLOCKS:
        passes = import_module("coremltools.optimize.coreml._quantization_passes")
        # What scales weights along two dimensions does so by blocks.
        scales = "constexpr_blockwise_shift_scale"
        passes.WeightDecompressor(
            op_selector=lambda op: op.op_type == scales and sum(size > 1 for size in op.scale.shape) > 1
        ).apply(program)
    if finding == BLOCKS or way == "8-bit":
        name, settings = "linear_quantize_weights", coreml.OpLinearQuantizerConfig(mode="linear_symmetric")
    else:
        palette = _palette(WAYS[way])
        name, settings = "palettize_weights", coreml.OpPalettizerConfig(mode="custom", lut_function=palette)
    _pass(f"compression::{name}", config=coreml.OptimizationConfig(global_config=settings)).apply(program)


def _palette(bits: int) -> Callable[[Any], tuple[Any, Any]]:
    """What gives the best palette of a tensor: k-means in one dimension, which comes with coremltools."""
    utilities = import_module("coremltools.models.neural_network.quantization_utils")

    def palette(values: Any) -> tuple[Any, Any]:
        # Rounded, millions of weights are a few thousand values, and differ by less than the steps of a palette.
        scale = abs(values).max() or 1
        rounded = (values / scale).astype("float16")
        # What is public needs scikit-learn for small tensors.
        table, indices = utilities._get_kmeans_lookup_table_and_weight(bits, rounded, force_kmeans1d=True)  # noqa: SLF001
        return (table * scale).astype(values.dtype), indices.astype("uint8")

    return palette


def _edited_network(finding: str, spec: Any, wanted: Wanted, tools: Any) -> Any:
    """The specification of a neural network after an edit."""
    bits = WAYS[wanted.weights]
    if finding == SHAPES:
        _fix_shapes(None, {"main": spec.description}, wanted.shapes)
        return spec
    palette, mode = _palette(bits), "linear" if bits == 8 else "custom_lut"
    utilities = import_module("coremltools.models.neural_network.quantization_utils")
    # It prints each layer.
    with redirect_stdout(io.StringIO()):
        loaded = tools.models.MLModel(spec, skip_model_load=True)
        made = utilities.quantize_weights(loaded, bits, mode, lut_function=lambda _, values: palette(values))
    # A specification where Core ML is absent, else a model.
    return made.get_spec() if hasattr(made, "get_spec") else made
