"""Runs a model before and after, on a Mac, and says how far their outputs lie apart."""

from __future__ import annotations

import platform
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.errors import TracekitError
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.profiling.inputs import inputs_for

if TYPE_CHECKING:
    from tracekit.model_files.profiling.core_ml import CoreML


def compare_outputs(before: tuple[ModelFile, Path], after: tuple[ModelFile, Path]) -> tuple[dict[str, float], str]:
    """The largest absolute difference of each output, on the same seeded inputs; else why they were not compared."""
    if platform.system() != "Darwin":
        return {}, "needs a Mac"
    try:
        return differences(before, after, core_ml.runtime()), ""
    except Exception as error:  # coremltools raises bare exceptions
        return {}, " ".join(str(error).split())[:200] or type(error).__name__


def differences(before: tuple[ModelFile, Path], after: tuple[ModelFile, Path], runtime: CoreML) -> dict[str, float]:
    """The same with a Core ML. Raises whatever that raises."""
    shapes = {feature.name: feature.shape for feature in after[0].main.inputs}
    given = [_predict(model, path, shapes, runtime) for model, path in (before, after)]
    found = {}
    for name, old in given[0].items():
        new = given[1].get(name)
        if isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape:
            found[name] = float(np.max(np.abs(old.astype(np.float64) - new.astype(np.float64)), initial=0.0))
    if not found:
        raise TracekitError("no output is an array of numbers")
    return found


def _predict(model: ModelFile, path: Path, shapes: dict[str, Any], runtime: CoreML) -> dict[str, Any]:
    features = [replace(feature, shape=shapes.get(feature.name, feature.shape)) for feature in model.main.inputs]
    if any(feature.color_space == "Grayscale16Half" for feature in features):
        raise TracekitError("pixels of a Float16 image cannot be made up from those of an 8-bit one")
    inputs = inputs_for(features, runtime.image)
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        loaded = runtime.load(runtime.compile(path, Path(folder, f"{model.name}.mlmodelc")), "all")
        return dict(loaded.predict(inputs, loaded.make_state() if model.main.states else None))  # type: ignore[call-overload]
