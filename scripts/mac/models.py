"""Writes two small models that differ in the type of their input and output alone: `python models.py FOLDER`.

Both compute in Float16, so Core ML has to convert what goes into and comes out of `Float32`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder
from coremltools.converters.mil.mil import types

SHAPE = (1, 16, 256, 256)
"""A few milliseconds of work on a CPU, and copies that can be measured."""


def write(folder: Path) -> None:
    """Write `Float16.mlpackage` and `Float32.mlpackage`."""
    folder.mkdir(parents=True, exist_ok=True)
    model(types.fp16, np.float16).save(str(folder / "Float16.mlpackage"))
    model(types.fp32, np.float32).save(str(folder / "Float32.mlpackage"))


def model(held: Any, number: Any) -> Any:
    """Four convolutions, with that type outside."""
    weights = np.random.default_rng(1).standard_normal((SHAPE[1], SHAPE[1], 3, 3)).astype(number) / 12

    @Builder.program(input_specs=[Builder.TensorSpec(SHAPE, dtype=held)], opset_version=ct.target.macOS13)
    def program(x: Any) -> Any:
        for _ in range(4):
            x = Builder.relu(x=Builder.conv(x=x, weight=weights, pad_type="same"))
        return Builder.identity(x=x, name="y")

    half = ct.precision.FLOAT16
    return ct.convert(
        program, minimum_deployment_target=ct.target.macOS13, compute_precision=half, skip_model_load=True
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
