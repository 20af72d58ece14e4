"""Operations of an ML program from its protobuf form (`MIL.proto`)."""

from __future__ import annotations

from functools import cache
from typing import Any

from tracekit.model_files.facts import BITS, Operation, Stored, Value
from tracekit.model_files.failures import MAX_OPERATIONS, UnreadableModel

_SPELLINGS = {name.upper(): name for name in BITS} | {"FLOAT64": "Double", "STRING": "String"}
"""Types by the names that they have in coremltools."""


@cache
def _names_of(types: Any) -> dict[int, str]:
    """Types by the number that they have in an enumeration of coremltools."""
    return {each.number: _SPELLINGS[each.name] for each in types.values if each.name in _SPELLINGS}


def data_type(message: Any) -> str | None:
    """The type that a message states; None for one that is not known."""
    return _names_of(message.DESCRIPTOR.fields_by_name["dataType"].enum_type).get(message.dataType)


def function_parts(function: Any) -> tuple[tuple[Value, ...], tuple[Operation, ...]]:
    """Parameters and operations of a `Function` message. Raises `UnreadableModel`."""
    block = _block(function)
    operations: list[Operation] = []
    if block is not None:
        _collect(block, 0, operations)
    parameters = tuple(_value(entry) for entry in function.inputs)
    return parameters, tuple(operations)


def _block(function: Any) -> Any:
    """The block for the function's opset; of others the first by name. None where there is none."""
    blocks = function.block_specializations
    if function.opset in blocks:
        return blocks[function.opset]
    return blocks[min(blocks)] if len(blocks) else None


def _collect(block: Any, depth: int, operations: list[Operation]) -> None:
    for message in block.operations:
        if len(operations) >= MAX_OPERATIONS:
            raise UnreadableModel(f"the model has more than {MAX_OPERATIONS:,} operations; it is damaged or hostile")
        operations.append(_operation(message, depth))
        for inner in message.blocks:
            _collect(inner, depth + 1, operations)


def _operation(message: Any, depth: int) -> Operation:
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
    return Operation(
        type=message.type,
        name=_text(message.attributes, "name") or (outputs[0].name if outputs else ""),
        arguments=tuple(sorted(arguments)),
        outputs=outputs,
        stored=tuple(sorted(stored, key=lambda entry: entry.parameter)),
        depth=depth,
        backend=_text(message.attributes, "IntendedBackend"),
    )


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
    dimensions = tuple(size for size in sizes if size is not None)
    element = data_type(tensor)
    if value.WhichOneof("value") == "blobFileValue":
        blob = value.blobFileValue
        return [Stored(parameter, element, dimensions, int(blob.offset), blob.fileName)]
    return [Stored(parameter, element, dimensions)]


def _text(attributes: Any, key: str) -> str | None:
    """A text among the attributes. Looking a key up would add it."""
    if key not in attributes:
        return None
    values = attributes[key].immediateValue.tensor.strings.values
    return str(values[0]) if len(values) else None
