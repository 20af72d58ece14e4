"""Core ML models of every kind that coremltools builds on Linux, each for one fact that an inspector must get right.

Weights and shapes are chosen so that every number can be worked out by hand. `build(folder)` writes all of them.
"""

from __future__ import annotations

import gc
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from support.models import compressed, older, programs
from support.models.programs import CHANNELS, TARGETS, WEIGHTS, coremltools

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CHANNELS", "MODELS", "TARGETS", "WEIGHTS", "build", "coremltools", "needs_coremltools"]

needs_coremltools = pytest.mark.skipif(
    find_spec("coremltools") is None, reason="coremltools is not available for this platform and Python"
)

MODELS = programs.MODELS | compressed.MODELS | older.MODELS
"""By file name: what makes the model."""


def build(folder: Path) -> None:
    """Write every model into the folder, by the name of what it shows."""
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        # coremltools leaves its temporary folders to the garbage collector.
        warnings.simplefilter("ignore")
        coremltools()
        # It collects garbage for every model, and would look through itself and all that other tests left each time.
        gc.collect()
        gc.freeze()
        for name, make in MODELS.items():
            make().save(str(folder / name))
        _save_multifunction(folder)
        gc.collect()


def _save_multifunction(folder: Path) -> None:
    """Two functions that share their weights."""
    ct = coremltools()
    described = ct.utils.MultiFunctionDescriptor()
    described.add_function(str(folder / "target_iOS18.mlpackage"), "main", "encode")
    described.add_function(str(folder / "target_iOS18.mlpackage"), "main", "decode")
    described.default_function_name = "decode"
    ct.utils.save_multifunction(described, str(folder / "multifunction.mlpackage"))
