"""Inputs, outputs and states as the compiler's JSON has them (`metadata.json`, `xcrun coremlcompiler metadata`).

Numbers and flags are texts there. Source of the keys: `mlmodel/src/DataType.cpp` of coremltools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracekit.model_files.facts import IMAGE_AXES, Feature, FeatureKind, Shape, SizeRange
from tracekit.model_files.json_values import entries, mapping, parse_json, whole_number, words

_KINDS = {
    "MultiArray": FeatureKind.ARRAY,
    "Image": FeatureKind.IMAGE,
    "State": FeatureKind.STATE,
    "Dictionary": FeatureKind.DICTIONARY,
    "Sequence": FeatureKind.SEQUENCE,
    "Int64": FeatureKind.NUMBER,
    "Double": FeatureKind.NUMBER,
    "String": FeatureKind.STRING,
}
_LONGEST = 100_000
"""Characters of a shape; enumerated ones may be many."""


def items(value: object) -> tuple[Feature, ...]:
    """The features of a schema; whatever is no item is passed over."""
    return tuple(_feature(entry) for entry in map(mapping, entries(value)) if words(entry.get("name")))


def _feature(entry: Mapping[str, Any]) -> Feature:
    kind = _KINDS.get(words(entry.get("type")), FeatureKind.UNKNOWN)
    element: str | None = words(entry.get("dataType")) or None
    shape: Shape | None = None
    color: str | None = None
    if kind in (FeatureKind.ARRAY, FeatureKind.STATE):
        shape = _array_shape(entry)
    elif kind is FeatureKind.IMAGE:
        color = words(entry.get("colorspace")) or None
        element = "Float16" if color == "Grayscale16Half" else "UInt8"
        shape = _image_shape(entry)
    elif kind is FeatureKind.NUMBER:
        element = words(entry.get("type"))
    elif kind is FeatureKind.STRING:
        element = "String"
    elif kind is FeatureKind.DICTIONARY:
        element = words(entry.get("keyType")) or None
    elif kind is FeatureKind.SEQUENCE:
        element = words(entry.get("valueType")) or None
    return Feature(
        name=words(entry["name"]),
        kind=kind,
        element=element,
        shape=shape,
        color_space=color,
        optional=entry.get("isOptional") in ("1", 1, True),
        description=words(entry.get("shortDescription")),
    )


def _array_shape(entry: Mapping[str, Any]) -> Shape | None:
    sizes = tuple(_numbers(entry.get("shape")))
    choices = tuple(tuple(row) for row in _rows(entry.get("enumeratedShapes")))
    ranges = tuple(SizeRange.of(*row) for row in _rows(entry.get("shapeRange")) if len(row) == 2)
    return Shape.of_array(sizes, choices, ranges)


def _image_shape(entry: Mapping[str, Any]) -> Shape | None:
    height, width = whole_number(entry.get("height")), whole_number(entry.get("width"))
    if height is None or width is None:
        return None
    # Sizes of images are written as width and height.
    choices = tuple((row[1], row[0]) for row in _rows(entry.get("enumeratedSizes")) if len(row) == 2)
    ranges = [SizeRange.of(*row) for row in _rows(entry.get("sizeRange")) if len(row) == 2]
    return Shape((height, width), choices, tuple(reversed(ranges)), IMAGE_AXES)


def _as_list(value: object) -> list[Any]:
    """A list, also one written as text."""
    return entries(parse_json(value) if isinstance(value, str) and len(value) <= _LONGEST else value)


def _numbers(value: object) -> list[int]:
    numbers = [whole_number(entry) for entry in _as_list(value)]
    return [entry for entry in numbers if entry is not None] if None not in numbers else []


def _rows(value: object) -> list[list[int]]:
    return [row for entry in _as_list(value) if (row := _numbers(entry))]
