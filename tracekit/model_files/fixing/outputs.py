"""Runs a model before and after, on a Mac, and says how far their outputs lie apart."""

from __future__ import annotations

import platform
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.model_files.profiling import core_ml
from tracekit.model_files.profiling.inputs import inputs_for

if TYPE_CHECKING:
    from tracekit.model_files.facts import ModelFile

    Side = tuple[ModelFile, Path]


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
