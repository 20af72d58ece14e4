"""Which types a function computes with, and where its interface has other ones.

A converter puts a `cast` behind each input and before each output whose type differs from the compute precision. An
image with a scale is multiplied first, and operations that only move data may come before the cast too, so that the
cast is searched along operations that have nothing else to do with the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tracekit.model_files import facts

PASSED_BY = frozenset({"mul", "add", "sub", "transpose", "expand_dims", "squeeze", "reshape"})
"""Operations that may stand between an input or output and its cast."""

_NOT_COMPUTING = frozenset(
    {"cast", "read_state", "write_state", "coreml_update_state", "identity", "cond", "while_loop"}
)
"""What only passes values on, converts them, or stands for the operations of its blocks."""


class _Flow(NamedTuple):
    """Where the values of operations come from and go to."""

    operations: Sequence[facts.Operation]
    users: Mapping[str, Sequence[facts.Operation]]
    """The operations that use each value."""
    producers: Mapping[str, facts.Operation]
    """The operation that makes each value."""


def with_operations(
    function: facts.Function, opset: str, parameters: tuple[facts.Value, ...], operations: tuple[facts.Operation, ...]
) -> facts.Function:
    """The function with its operations, and with what follows from them. O(operations)."""
    users: dict[str, list[facts.Operation]] = {}
    for operation in operations:
        for name in dict.fromkeys(operation.inputs):
            users.setdefault(name, []).append(operation)
    flow = _Flow(operations, users, {value.name: operation for operation in operations for value in operation.outputs})
    beside = {id(entry) for feature in function.inputs for entry in _to_cast(feature.name, flow)[0]}
    beside |= {id(entry) for feature in function.outputs for entry in _from_cast(feature.name, flow)[0]}
    counts: Counter[str] = Counter()
    for operation in flow.operations:
        if not facts.is_constant(operation) and operation.type not in _NOT_COMPUTING and id(operation) not in beside:
            counts.update({value.element for value in operation.outputs if value.element in facts.FLOATS})
    conversions: list[facts.Conversion] = []
    declared = {value.name: value.element for value in parameters}
    for feature in filter(_is_convertible, function.inputs):
        _, cast = _to_cast(feature.name, flow)
        element = declared.get(feature.name) if cast is None else cast.outputs[0].element
        conversions += _conversion(feature, "input", element, cast)
    for feature in filter(_is_convertible, function.outputs):
        _, cast = _from_cast(feature.name, flow)
        element = _element_of(feature.name, flow) if cast is None else _cast_input_type(cast, flow)
        conversions += _conversion(feature, "output", element, cast)
    return replace(
        function,
        opset=opset,
        parameters=parameters,
        operations=operations,
        counts=counts_of(operations),
        precision=tuple(name for name, _ in facts.by_count(counts)),
        conversions=tuple(conversions),
    )


def counts_of(operations: Iterable[facts.Operation]) -> tuple[tuple[str, int], ...]:
    """Operations by type without constants, the most frequent first."""
    return facts.by_count(Counter(entry.type for entry in operations if not facts.is_constant(entry)))


def precision_conversions(
    inputs: Sequence[facts.Feature], outputs: Sequence[facts.Feature], precision: Sequence[str]
) -> tuple[facts.Conversion, ...]:
    """Conversions that follow from the interface and the one float type that the model computes with, where the file
    does not hold the operations."""
    inside = [name for name in precision if name != "Float32"] or list(precision)
    if len(inside) != 1:
        return ()
    return tuple(
        facts.Conversion(
            feature.name, direction, feature.element or "", inside[0], feature.kind is facts.FeatureKind.IMAGE, None
        )
        for direction, features in (("input", inputs), ("output", outputs))
        for feature in features
        if _is_convertible(feature) and feature.element != inside[0]
    )


def _is_convertible(feature: facts.Feature) -> bool:
    if feature.kind is facts.FeatureKind.IMAGE:
        return True
    return feature.kind is facts.FeatureKind.ARRAY and (feature.element in facts.FLOATS or feature.element == "Int8")


def _to_cast(name: str, flow: _Flow) -> tuple[list[facts.Operation], facts.Operation | None]:
    """The `cast` to a float type that an input goes to, and the operations before it; none of them without a cast."""
    passed: list[facts.Operation] = []
    while len(passed) < len(flow.operations):
        using = flow.users.get(name, ())
        casts = [entry for entry in using if entry.type == "cast" and entry.outputs]
        to_float = [entry for entry in casts if entry.outputs[0].element in facts.FLOATS]
        # Where several take the value, each has a cast of its own.
        if to_float and len(casts) == len(using):
            return passed, to_float[0]
        if len(using) != 1 or using[0].type not in PASSED_BY or not _mixes_constants(using[0], name, flow):
            break
        passed.append(using[0])
        name = using[0].outputs[0].name
    return [], None


def _from_cast(name: str, flow: _Flow) -> tuple[list[facts.Operation], facts.Operation | None]:
    """The `cast` of a float type that an output comes from, and the operations behind it; none without a cast."""
    passed: list[facts.Operation] = []
    while len(passed) < len(flow.operations) and name in flow.producers:
        producer = flow.producers[name]
        if producer.type == "cast":
            return (passed, producer) if _cast_input_type(producer, flow) in facts.FLOATS else ([], None)
        sources = [each for each in producer.inputs if not _is_constant_name(each, flow)]
        if producer.type not in PASSED_BY or len(sources) != 1 or len(flow.users.get(sources[0], ())) != 1:
            break
        passed.append(producer)
        name = sources[0]
    return [], None


def _cast_input_type(cast: facts.Operation, flow: _Flow) -> str | None:
    """Type of what a `cast` is given."""
    return _element_of(next(iter(dict(cast.arguments).get("x", ())), ""), flow)


def _element_of(name: str, flow: _Flow) -> str | None:
    """Type of a value that an operation makes."""
    producer = flow.producers.get(name)
    return next((value.element for value in producer.outputs if value.name == name), None) if producer else None


def _conversion(
    feature: facts.Feature, direction: str, inside: str | None, cast: facts.Operation | None
) -> Iterator[facts.Conversion]:
    """The conversion that a `cast` makes, or without one that of an image, which Core ML itself makes floats."""
    outside, is_image = feature.element or "", feature.kind is facts.FeatureKind.IMAGE
    if inside not in (None, outside) and (cast is not None or (is_image and inside in facts.FLOATS)):
        yield facts.Conversion(feature.name, direction, outside, inside, is_image, None if cast is None else cast.name)


def _mixes_constants(operation: facts.Operation, name: str, flow: _Flow) -> bool:
    """Whether the operation has one result and takes nothing but the value `name` and constants."""
    others = [each for each in operation.inputs if each != name]
    return len(operation.outputs) == 1 and all(_is_constant_name(each, flow) for each in others)


def _is_constant_name(name: str, flow: _Flow) -> bool:
    return name in flow.producers and facts.is_constant(flow.producers[name])
