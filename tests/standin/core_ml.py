"""Core ML as profiling sees it, without a Mac: takes the time it is told to take, and fails as coremltools does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

MS = 1_000_000

COMPILING = "Compiling a Core ML models is only support on macOS 10.13 or higher."
STATES = "State functionality is only supported on macOS 15+"
PLANS = "MLComputePlan is not supported."
"""What coremltools raises, word for word, where the system is too old for it."""


class MLCPUComputeDevice:
    """Named like the class of coremltools: profiling knows devices by it."""


class MLGPUComputeDevice:
    """The same for the GPU."""


class MLNeuralEngineComputeDevice:
    """The same for the Neural Engine."""


DEVICES = (MLCPUComputeDevice(), MLGPUComputeDevice(), MLNeuralEngineComputeDevice())


def operation(name: str, kind: str, *, device: object = None, cost: float | None = None, blocks: Any = ()) -> Any:
    """An operation of `MLModelStructure` that knows its own plan."""
    return SimpleNamespace(
        operator_name=kind, outputs=[SimpleNamespace(name=name)], blocks=list(blocks), device=device, cost=cost
    )


def structure(**kinds: Any) -> Any:
    """A `MLModelStructure`, of which one kind is there."""
    return SimpleNamespace(**{kind: kinds.get(kind) for kind in ("program", "neuralnetwork", "pipeline")})


def program(*operations: Any, name: str = "main") -> Any:
    """The structure of an ML program with one function."""
    block = SimpleNamespace(operations=list(operations))
    return structure(program=SimpleNamespace(functions={name: SimpleNamespace(block=block)}))


class Plan:
    """`MLComputePlan`: usage and cost are None where the deployment target is too old."""

    def __init__(self, model_structure: Any) -> None:
        self.model_structure = model_structure

    def get_compute_device_usage_for_mlprogram_operation(self, entry: Any) -> Any:
        if entry.device is None:
            return None
        return SimpleNamespace(preferred_compute_device=entry.device, supported_compute_devices=list(DEVICES))

    get_compute_device_usage_for_neuralnetwork_layer = get_compute_device_usage_for_mlprogram_operation

    def get_estimated_cost_for_mlprogram_operation(self, entry: Any) -> Any:
        return None if entry.cost is None else SimpleNamespace(weight=entry.cost)


@dataclass
class StandIn:
    """Like `CoreML`. Times in ms; the first of each is the cold one."""

    compile_ms: float = 120
    load_ms: tuple[float, float] = (900, 40)
    predict_ms: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Cold and warm predictions by choice."""
    failing: dict[str, Exception] = field(default_factory=dict)
    """What raises what: `compile`, `load cpuOnly`, `predict all`, `make_state`, `plan`."""
    structure: Any = None
    now: int = 0
    calls: list[str] = field(default_factory=list)
    inputs: dict[str, Any] = field(default_factory=dict)
    states: list[object] = field(default_factory=list)

    def clock(self) -> int:
        return self.now

    def _call(self, name: str, ms: float = 0) -> None:
        self.calls.append(name)
        self.now += round(ms * MS)
        for failing, error in self.failing.items():
            if name.startswith(failing):
                raise error

    def device(self) -> str | None:
        return "Mac16,1"

    def system(self) -> str | None:
        return "macOS 26.2"

    def compile(self, _model: Path, target: Path) -> Path:
        self._call("compile", self.compile_ms)
        return target

    def load(self, _compiled: Path, choice: str) -> Any:
        self._call(f"load {choice}", self.load_ms[any(call == f"load {choice}" for call in self.calls)])
        return _Loaded(self, choice)

    def plan(self, _compiled: Path, _choice: str) -> Plan:
        self._call("plan")
        return Plan(self.structure or program(operation("y", "ios16.conv", device=DEVICES[2], cost=1.0)))

    def image(self, pixels: Any, color_space: str) -> object:
        return (pixels, color_space)


@dataclass
class _Loaded:
    runtime: StandIn
    choice: str
    predicted: bool = False

    def predict(self, inputs: Mapping[str, Any], state: object) -> object:
        self.runtime.inputs = dict(inputs)
        self.runtime.states.append(state)
        cold, warm = self.runtime.predict_ms.get(self.choice, (30, 10))
        self.runtime._call(f"predict {self.choice}", warm if self.predicted else cold)
        self.predicted = True
        return {}

    def make_state(self) -> object:
        self.runtime._call("make_state")
        return "state"
