"""Layers and weights of old networks, whose weights lie in the specification itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracekit.model_files.facts import Operation, Value, Weight
from tracekit.model_files.failures import MAX_OPERATIONS, UnreadableModel
from tracekit.model_files.words import snake

_DEEPEST = 16
"""Levels of loops and branches in each other."""


def layers_of(network: Any) -> tuple[tuple[Operation, ...], tuple[Weight, ...], tuple[str, ...]]:
    """Layers as operations, weights, and names of the classes of custom layers. Raises `UnreadableModel`."""
    operations: list[Operation] = []
    weights: list[Weight] = []
    classes: list[str] = []
    _collect(network, 0, operations, weights, classes)
    return tuple(operations), tuple(weights), tuple(dict.fromkeys(classes))


def _collect(network: Any, depth: int, operations: list[Operation], weights: list[Weight], classes: list[str]) -> None:
    for layer in network.layers:
        if len(operations) >= MAX_OPERATIONS:
            raise UnreadableModel(f"the model has more than {MAX_OPERATIONS:,} layers; it is damaged or hostile")
        kind = layer.WhichOneof("layer")
        operations.append(
            Operation(
                type=snake(kind or "unknown"),
                name=layer.name,
                arguments=(("x", tuple(layer.input)),),
                outputs=tuple(Value(name, None, _dimensions(layer, index)) for index, name in enumerate(layer.output)),
                depth=depth,
            )
        )
        if kind is None:
            continue
        parameters = getattr(layer, kind)
        if kind == "custom":
            classes.append(parameters.className)
        for field, value in parameters.ListFields():
            inner = field.message_type
            if inner is not None and inner.name == "NeuralNetwork" and depth < _DEEPEST:
                _collect(value, depth + 1, operations, weights, classes)
        weights += _weights_in(layer.name, parameters)


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
    kind = quantization.WhichOneof("QuantizationType")
    table = quantization.lookupTableQuantization.floatValue if kind == "lookupTableQuantization" else ()
    scales = quantization.linearQuantization.scale if kind == "linearQuantization" else ()
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


def _dimensions(layer: Any, index: int) -> tuple[int | None, ...] | None:
    """Shape of an output, which few specifications give."""
    if index >= len(layer.outputTensor):
        return None
    sizes = tuple(int(size) for size in layer.outputTensor[index].dimValue)
    return tuple(size if size > 0 else None for size in sizes) or None
