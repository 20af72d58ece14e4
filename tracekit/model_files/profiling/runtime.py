"""What profiling needs of Core ML. Any method may raise any exception: coremltools raises bare ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tracekit.arrays import AnyArray


class Loaded(Protocol):
    """A compiled model, loaded for one choice of compute units."""

    def predict(self, inputs: Mapping[str, Any], state: object) -> object:
        """One prediction; `state` is None for models without states."""
        ...

    def make_state(self) -> object:
        """New states. Raises before macOS 15."""
        ...


class Runtime(Protocol):
    """Core ML on this machine. Choices are the names of `MLComputeUnits`, such as `cpuOnly`."""

    def device(self) -> str | None:
        """Model of the machine, such as `Mac16,1`."""
        ...

    def system(self) -> str | None:
        """Such as `macOS 26.2`."""
        ...

    def compile(self, model: Path, target: Path) -> Path:
        """Compile a package or `.mlmodel` to a `.mlmodelc` folder, and give its path."""
        ...

    def load(self, compiled: Path, choice: str) -> Loaded:
        """Load a compiled model."""
        ...

    def plan(self, compiled: Path, choice: str) -> Any:
        """The `MLComputePlan` of a compiled model. Raises before macOS 14.4."""
        ...

    def image(self, pixels: AnyArray, color_space: str) -> object:
        """An image input: pixels of shape (height, width) or (height, width, 3)."""
        ...
