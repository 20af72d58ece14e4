"""Core ML through coremltools: the only module that runs models. It adds nothing to the calls.

What it calls was read in coremltools 9.0; it was not run on a Mac yet.
"""

from __future__ import annotations

import logging
import os
import platform
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

from tracekit.arrays import AnyArray
from tracekit.errors import TracekitError

COREMLTOOLS_UNITS = {
    "all": "ALL",
    "cpuOnly": "CPU_ONLY",
    "cpuAndGPU": "CPU_AND_GPU",
    "cpuAndNeuralEngine": "CPU_AND_NE",
}
"""Names of `coremltools.ComputeUnit` by those of `MLComputeUnits`."""

MODES = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L", "Grayscale16Half": "F"}
"""Modes of Pillow by color space."""


class CoreML:
    """Core ML on this machine. Choices are the names of `MLComputeUnits`, such as `cpuOnly`. Any method may raise any
    exception: coremltools raises bare ones."""

    def __init__(self) -> None:
        self._tools = coremltools()

    def device(self) -> str | None:
        """Model of the machine, such as `Mac16,1`."""
        try:
            answer = subprocess.run(
                ["/usr/sbin/sysctl", "-n", "hw.model"], capture_output=True, text=True, check=True, timeout=10
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return answer.stdout.strip() or None

    def system(self) -> str | None:
        """Such as `macOS 26.2`."""
        version = platform.mac_ver()[0]
        return f"macOS {version}" if version else None

    def compile(self, model: Path, target: Path) -> Path:
        """Compile a package or `.mlmodel` to a `.mlmodelc` folder at `target`, and give its path."""
        return Path(self._tools.models.utils.compile_model(str(model), str(target)))

    def load(self, compiled: Path, choice: str) -> Any:
        """Load a compiled model: a `CompiledMLModel`."""
        return self._tools.models.CompiledMLModel(str(compiled), self._unit(choice))

    def plan(self, compiled: Path, choice: str) -> Any:
        """The `MLComputePlan` of a compiled model. Raises before macOS 14.4."""
        plans = import_module("coremltools.models.compute_plan")
        return plans.MLComputePlan.load_from_path(str(compiled), self._unit(choice))

    def image(self, pixels: AnyArray, color_space: str) -> object:
        """An image of Pillow, which coremltools takes: pixels of shape (height, width) or (height, width, 3)."""
        try:
            pillow: Any = import_module("PIL.Image")
        except ImportError:
            raise TracekitError(
                "the model takes images, which needs Pillow; install it with: pip install pillow"
            ) from None
        return pillow.fromarray(pixels, MODES.get(color_space, "RGB"))

    def _unit(self, choice: str) -> Any:
        return self._tools.ComputeUnit[COREMLTOOLS_UNITS[choice]]


def runtime() -> CoreML:
    """Core ML on this machine. Raises `TracekitError` where there is none."""
    if platform.system() != "Darwin":
        raise TracekitError(
            "profiling runs the model with Core ML, which needs a Mac; run `tracekit inspect MODEL --measure` there, "
            "and `tracekit inspect` and `tracekit compare` read its reports on any machine"
        )
    return CoreML()


def coremltools() -> Any:
    """The library, without its notices. Raises `TracekitError` where it is not installed. That takes a second."""
    # It logs each native library that it does not find, and draws bars of its own.
    logging.getLogger("coremltools").setLevel(logging.CRITICAL)
    os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        return import_module("coremltools")
    except ImportError:
        raise TracekitError(
            "coremltools is not installed, and this needs it; install tracekit with Python 3.11 to 3.13"
        ) from None
