"""Inputs that a model takes, made up, since their values do not change how long most models take; and how far the
outputs of two models for them lie apart."""

from __future__ import annotations

import math
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tracekit.arrays import AnyArray
from tracekit.model_files.facts import Feature, FeatureKind, ModelFile
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.untrusted import UnreadableModel

MakeImage = Callable[[AnyArray, str], object]
Side = tuple[ModelFile, Path]

MAX_ELEMENTS = 2**28
"""Of one input: 1 GB as Float32."""

_TYPES = {
    "Float32": np.float32,
    "Float16": np.float16,
    "Double": np.float64,
    "Int32": np.int32,
    "Int8": np.int8,
}


def inputs_for(features: Sequence[Feature], image: MakeImage) -> dict[str, Any]:
    """A value for each input that is not optional, of its default shape. Floating-point numbers are random between 0
    and 1, always the same; integers are 0, which is valid as an index. `image` is `CoreML.image`. Raises
    `UnreadableModel`."""
    source = np.random.default_rng(0)
    return {feature.name: _value(feature, source, image) for feature in features if not feature.optional}


def _value(feature: Feature, source: np.random.Generator, image: MakeImage) -> object:
    number = 0 if feature.element == "Int64" else 0.5
    match feature.kind:
        case FeatureKind.ARRAY:
            return _array(feature, source)
        case FeatureKind.IMAGE:
            return _image(feature, source, image)
        case FeatureKind.NUMBER:
            return number
        case FeatureKind.STRING:
            return "text"
        case FeatureKind.DICTIONARY:
            return {0 if feature.element == "Int64" else "key": 0.5}
        case FeatureKind.SEQUENCE:
            return [0] if feature.element == "Int64" else ["text"]
        case _:
            raise UnreadableModel(f"no value can be made for input '{feature.name}': the file does not state its type")


def _array(feature: Feature, source: np.random.Generator) -> object:
    kind = _TYPES.get(feature.element or "")
    if kind is None:
        raise UnreadableModel(f"no value can be made for input '{feature.name}' of type {feature.element or 'unknown'}")
    shape = _shape(feature)
    if issubclass(kind, np.floating):
        return source.random(shape, dtype=np.float32).astype(kind)
    return np.zeros(shape, dtype=kind)


def _image(feature: Feature, source: np.random.Generator, image: MakeImage) -> object:
    color = feature.color_space or "RGB"
    height, width = _shape(feature)[:2]
    if color == "Grayscale16Half":
        return image(source.random((height, width), dtype=np.float32), color)
    shape = (height, width) if color == "Grayscale" else (height, width, 3)
    return image(source.integers(0, 256, shape, dtype=np.uint8), color)


def _shape(feature: Feature) -> tuple[int, ...]:
    """The default shape; 1 where a size is known only when the model runs."""
    if feature.shape is None:
        raise UnreadableModel(f"no value can be made for input '{feature.name}': the file does not state its shape")
    shape = tuple(1 if size is None else size for size in feature.shape.dimensions)
    count = math.prod(shape)
    if count > MAX_ELEMENTS:
        raise UnreadableModel(f"input '{feature.name}' has {count:,} elements; at most {MAX_ELEMENTS:,} are made up")
    return shape


def compare_outputs(before: Side, after: Side) -> tuple[dict[str, float], str]:
    """The largest absolute difference of each output that is an array, on the same seeded inputs, with all compute
    units; else why they were not compared."""
    if platform.system() != "Darwin":
        return {}, "needs a Mac"
    try:
        # A shape that is fixed now is one that both take.
        shapes = {feature.name: feature.shape for feature in after[0].main.inputs}
        old, new = (_predict(model, path, shapes) for model, path in (before, after))
        pairs = {name: (value, new[name]) for name, value in old.items() if isinstance(value, np.ndarray)}
        return {name: float(np.abs(np.subtract(*pair, dtype=np.float64)).max()) for name, pair in pairs.items()}, ""
    except Exception as error:  # coremltools raises bare exceptions, and the model is written whether it runs or not
        return {}, " ".join(str(error).split())[:200] or type(error).__name__


def _predict(model: ModelFile, path: Path, shapes: dict[str, Any]) -> dict[str, Any]:
    runtime = core_ml.runtime()
    inputs = inputs_for([replace(each, shape=shapes.get(each.name)) for each in model.main.inputs], runtime.image)
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        loaded = runtime.load(runtime.compile(path, Path(folder, f"{model.name}.mlmodelc")), "all")
        outputs: Any = loaded.predict(inputs, loaded.make_state() if model.main.states else None)
        return dict(outputs)
