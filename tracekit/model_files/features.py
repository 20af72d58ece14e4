"""Inputs, outputs and states from the description in a specification."""

from __future__ import annotations

from typing import Any

from tracekit.model_files.facts import IMAGE_AXES, Feature, FeatureKind, Shape, SizeRange

ARRAY_TYPES = {65568: "Float32", 65600: "Double", 131104: "Int32", 65552: "Float16", 131080: "Int8"}
"""`ArrayFeatureType.ArrayDataType` of `FeatureTypes.proto`."""

COLOR_SPACES = {10: "Grayscale", 20: "RGB", 30: "BGR", 40: "Grayscale16Half"}
"""`ImageFeatureType.ColorSpace`, in the words of the compiler."""

_NUMBERS = {"int64Type": "Int64", "doubleType": "Double"}


def feature_of(message: Any, *, state: bool = False) -> Feature:
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
        return _array(message.type.multiArrayType, FeatureKind.ARRAY, common)
    if kind == "stateType":
        return _array(message.type.stateType.arrayType, FeatureKind.STATE, common)
    if kind in _NUMBERS:
        return Feature(kind=FeatureKind.NUMBER, element=_NUMBERS[kind], shape=None, **common)
    if kind == "stringType":
        return Feature(kind=FeatureKind.STRING, element="String", shape=None, **common)
    if kind == "dictionaryType":
        key = message.type.dictionaryType.WhichOneof("KeyType")
        element = {"int64KeyType": "Int64", "stringKeyType": "String"}.get(key)
        return Feature(kind=FeatureKind.DICTIONARY, element=element, shape=None, **common)
    if kind == "sequenceType":
        element_type = message.type.sequenceType.WhichOneof("Type")
        element = {"int64Type": "Int64", "stringType": "String"}.get(element_type)
        return Feature(kind=FeatureKind.SEQUENCE, element=element, shape=None, **common)
    return Feature(kind=FeatureKind.STATE if state else FeatureKind.UNKNOWN, element=None, shape=None, **common)


def _array(message: Any, kind: FeatureKind, common: dict[str, Any]) -> Feature:
    sizes = tuple(int(size) for size in message.shape)
    flexibility = message.WhichOneof("ShapeFlexibility")
    choices: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[SizeRange, ...] = ()
    if flexibility == "enumeratedShapes":
        choices = tuple(tuple(int(size) for size in shape.shape) for shape in message.enumeratedShapes.shapes)
    elif flexibility == "shapeRange":
        ranges = tuple(_range(entry) for entry in message.shapeRange.sizeRanges)
    # A description without any size says nothing of the shape: outputs of flexible models have none.
    known = bool(sizes or choices or ranges)
    shape = Shape(sizes or (choices[0] if choices else tuple(entry.lower for entry in ranges)), choices, ranges)
    return Feature(
        kind=kind, element=ARRAY_TYPES.get(message.dataType), shape=shape if known else None, color_space=None, **common
    )


def _image(message: Any, common: dict[str, Any]) -> Feature:
    color = COLOR_SPACES.get(message.colorSpace)
    flexibility = message.WhichOneof("SizeFlexibility")
    choices: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[SizeRange, ...] = ()
    if flexibility == "enumeratedSizes":
        choices = tuple((int(size.height), int(size.width)) for size in message.enumeratedSizes.sizes)
    elif flexibility == "imageSizeRange":
        ranges = (_range(message.imageSizeRange.heightRange), _range(message.imageSizeRange.widthRange))
    return Feature(
        kind=FeatureKind.IMAGE,
        element="Float16" if color == "Grayscale16Half" else "UInt8",
        shape=Shape((int(message.height), int(message.width)), choices, ranges, IMAGE_AXES),
        color_space=color,
        **common,
    )


def _range(message: Any) -> SizeRange:
    """A range of sizes; a negative upper bound means that there is none."""
    upper = int(message.upperBound)
    return SizeRange(int(message.lowerBound), None if upper < 0 else upper)
