"""Operations of ML programs (`MIL.proto`); layers of old networks with their weights, which the specification holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from tracekit.model_files.facts import BITS, Operation, Stored, Value, Weight
from tracekit.model_files.untrusted import MAX_OPERATIONS, UnreadableModel
from tracekit.model_files.words import snake

MOST_VALUES = 8
"""Elements of a constant whose values are kept."""
_DEEPEST = 16
"""Levels of loops and branches in each other."""
_SPELLINGS = {name.upper(): name for name in BITS} | {"FLOAT64": "Double", "STRING": "String"}
"""Types by the names that they have in coremltools."""


@cache
def _names_of(types: Any) -> dict[int, str]:
    """Types by the number that they have in an enumeration of coremltools."""
    return {value.number: _SPELLINGS[value.name] for value in types.values if value.name in _SPELLINGS}


def data_type(message: Any) -> str | None:
    """The type that a message states; None for one that is not known."""
    return _names_of(message.DESCRIPTOR.fields_by_name["dataType"].enum_type).get(message.dataType)


def function_parts(function: Any) -> tuple[tuple[Value, ...], tuple[Operation, ...]]:
    """Parameters and operations of a `Function` message. Raises `UnreadableModel`."""
    blocks = function.block_specializations
    operations: list[Operation] = []
    if len(blocks):
        # The block for the function's opset; of others the first by name.
        _collect(blocks[function.opset if function.opset in blocks else min(blocks)], 0, operations)
    return tuple(map(_value, function.inputs)), tuple(operations)


def _collect(block: Any, depth: int, operations: list[Operation]) -> None:
    for message in block.operations:
        if len(operations) >= MAX_OPERATIONS:
            raise UnreadableModel(f"the model has more than {MAX_OPERATIONS:,} operations; it is damaged or hostile")
        outputs = tuple(_value(entry) for entry in message.outputs)
        arguments, stored = [], []
        for parameter, argument in message.inputs.items():
            names = []
            for binding in argument.arguments:
                if binding.WhichOneof("binding") == "name":
                    names.append(binding.name)
                elif binding.WhichOneof("binding") == "value":
                    stored += _large_constant(parameter, binding.value)
            arguments.append((parameter, tuple(names)))
        for parameter, value in message.attributes.items():
            if parameter != "name":
                stored += _large_constant(parameter, value)
        operations.append(
            Operation(
                type=message.type,
                name=_text(message.attributes, "name") or (outputs[0].name if outputs else ""),
                arguments=tuple(sorted(arguments)),
                outputs=outputs,
                stored=tuple(sorted(stored, key=lambda entry: entry.parameter)),
                depth=depth,
                backend=_text(message.attributes, "IntendedBackend"),
            )
        )
        for inner in message.blocks:
            _collect(inner, depth + 1, operations)


def _value(message: Any) -> Value:
    kind = message.type
    if kind.WhichOneof("type") == "stateType":
        kind = kind.stateType.wrappedType
    if kind.WhichOneof("type") != "tensorType":
        return Value(message.name, None, None)
    tensor = kind.tensorType
    return Value(message.name, data_type(tensor), _dimensions(tensor))


def _dimensions(tensor: Any) -> tuple[int | None, ...] | None:
    sizes: list[int | None] = []
    for entry in tensor.dimensions:
        if entry.WhichOneof("dimension") == "constant":
            sizes.append(int(entry.constant.size))
        elif entry.unknown.variadic:
            return None
        else:
            sizes.append(None)
    return None if tensor.rank and not sizes else tuple(sizes)


def _large_constant(parameter: str, value: Any) -> list[Stored]:
    """The constant, where it is a tensor that lies in a weight file or is as large as weights."""
    if value.type.WhichOneof("type") != "tensorType":
        return []
    tensor = value.type.tensorType
    sizes = _dimensions(tensor)
    if sizes is None or any(size is None for size in sizes):
        return []
    stored = Stored(parameter, data_type(tensor), tuple(size for size in sizes if size is not None))
    if value.WhichOneof("value") == "blobFileValue":
        return [replace(stored, offset=value.blobFileValue.offset, file=value.blobFileValue.fileName)]
    numbers = value.immediateValue.tensor.ints.values
    return [replace(stored, values=tuple(numbers)) if 0 < len(numbers) <= MOST_VALUES else stored]


def _text(attributes: Any, key: str) -> str | None:
    """A text among the attributes. Looking a key up would add it."""
    if key not in attributes:
        return None
    values = attributes[key].immediateValue.tensor.strings.values
    return str(values[0]) if len(values) else None


def layers_of(network: Any) -> tuple[tuple[Operation, ...], tuple[Weight, ...], tuple[str, ...]]:
    """Layers as operations, weights, and names of the classes of custom layers. Raises `UnreadableModel`."""
    operations: list[Operation] = []
    weights: list[Weight] = []
    classes: dict[str, None] = {}
    for layer, parameters, depth in _layers(network, 0):
        if len(operations) >= MAX_OPERATIONS:
            raise UnreadableModel(f"the model has more than {MAX_OPERATIONS:,} layers; it is damaged or hostile")
        kind = layer.WhichOneof("layer")
        outputs = tuple(Value(name, None, _layer_dimensions(layer, index)) for index, name in enumerate(layer.output))
        inputs = tuple((name, (value,)) for name, value in zip(_PARAMETERS, layer.input, strict=False))
        inputs += tuple((f"more_{index}", (value,)) for index, value in enumerate(layer.input[len(_PARAMETERS) :]))
        stored = () if parameters is None else tuple(_settings_in(parameters))
        operations.append(Operation(snake(kind or "unknown"), layer.name, inputs, outputs, stored, depth))
        weights += () if kind is None else _weights_in(layer.name, parameters)
        if kind == "custom":
            classes[parameters.className] = None
    return tuple(operations), tuple(weights), tuple(classes)


_PARAMETERS = ("x", "indices")
"""What operations of programs call the first values that a layer is given."""
_SETTINGS = {"kernelSize": "kernel_sizes", "stride": "strides", "isDeconvolution": "transposed", "type": "type"}
"""Settings of convolutions and pooling, by the names of operations of programs where these have them."""


def _settings_in(message: Any) -> Iterator[Stored]:
    """Settings of a layer that limits of the Neural Engine are about."""
    for field, value in message.ListFields():
        if field.name in _SETTINGS and field.message_type is None:
            values = tuple(map(int, value if field.is_repeated else (value,)))[:MOST_VALUES]
            yield Stored(_SETTINGS[field.name], "Int32", (len(values),), values=values)


def _layers(network: Any, depth: int) -> Iterator[tuple[Any, Any, int]]:
    """Each layer with its parameters and its depth; those of a loop or branch after the layer that holds them."""
    for layer in network.layers:
        kind = layer.WhichOneof("layer")
        parameters = None if kind is None else getattr(layer, kind)
        yield layer, parameters, depth
        for field, value in () if parameters is None else parameters.ListFields():
            inner = field.message_type
            if inner is not None and inner.name == "NeuralNetwork" and depth < _DEEPEST:
                yield from _layers(value, depth + 1)


def _weights_in(layer: str, message: Any) -> Iterator[Weight]:
    """Weights of a layer. Those of an LSTM and of some activations lie in messages within its own."""
    for field, value in message.ListFields():
        inner = field.message_type
        if inner is None or inner.name == "NeuralNetwork" or inner.GetOptions().map_entry:
            continue
        for each in value if field.is_repeated else (value,):
            if inner.name != "WeightParams":
                yield from _weights_in(layer, each)
            elif (weight := _weight(layer, field.name, each)) is not None:
                yield weight


def _weight(layer: str, name: str, message: Any) -> Weight | None:
    """The tensor in a `WeightParams` message; None for an empty one."""
    quantization = message.quantization if message.HasField("quantization") else None
    raw = bytes(message.rawValue) or bytes(message.int8RawValue)
    if len(message.floatValue):
        count = len(message.floatValue)
        return Weight(f"{layer} {name}", "Float32", "Float32", count, 4 * count, bits=32)
    if len(message.float16Value):
        size = len(message.float16Value)
        return Weight(f"{layer} {name}", "Float16", "Float16", size // 2, size, bits=16)
    if not raw or quantization is None:
        return None
    bits = int(quantization.numberOfBits) or 8
    table, scales = quantization.lookupTableQuantization.floatValue, quantization.linearQuantization.scale
    return Weight(
        name=f"{layer} {name}",
        element="Float32",
        stored=f"UInt{bits}",
        count=len(raw) * 8 // bits,
        bytes=len(raw) + 4 * (len(table) + 2 * len(scales)),
        technique=("palettized",) if len(table) else ("quantized",),
        bits=bits,
        granularity="per channel" if len(scales) > 1 else "per tensor",
    )


def _layer_dimensions(layer: Any, index: int) -> tuple[int | None, ...] | None:
    """Shape of an output, which few specifications give."""
    if index >= len(layer.outputTensor):
        return None
    sizes = tuple(int(size) for size in layer.outputTensor[index].dimValue)
    return tuple(size if size > 0 else None for size in sizes) or None
