"""Values of the JSON of reports. A wrong type counts as unknown, and what is impossible as damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tracekit.model_files.facts import COMPRESSED, CONSTANTS
from tracekit.model_files.performance.facts import ALL_UNITS, ComputeUnit, PlannedOperation
from tracekit.model_files.untrusted import MAX_OPERATIONS, UnreadableModel, entries, words
from tracekit.units import compute_unit

_UNITS = {"cpu": ComputeUnit.CPU, "gpu": ComputeUnit.GPU, "neural-engine": ComputeUnit.NEURAL_ENGINE}

_CPU, _GPU, _NEURAL_ENGINE = ALL_UNITS
CHOICES: dict[str, tuple[ComputeUnit, ...]] = {
    "all": ALL_UNITS,
    "cpuOnly": (_CPU,),
    "cpuAndGPU": (_CPU, _GPU),
    "cpuAndNeuralEngine": (_CPU, _NEURAL_ENGINE),
}
"""Choices of compute units by the names of `MLComputeUnits`."""

GREATEST_NS = 1e18
"""Of any duration: 30 years."""

DEEPEST = 64
"""Blocks in blocks, and the objects around them."""


def amount(value: object, what: str, greatest: float = GREATEST_NS) -> float | None:
    """A number from 0 to `greatest`; None where there is none. Raises `UnreadableModel` for any other number."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= greatest:
        raise UnreadableModel(f"the report is damaged: {what} is {str(value)[:20]}")
    return float(value)


def samples(value: object, what: str, unit_ns: float) -> list[float]:
    """Durations in ns of a list of numbers in a unit. Raises `UnreadableModel` for anything but durations."""
    amounts = [amount(entry, what, GREATEST_NS / unit_ns) for entry in entries(value)]
    if None in amounts:
        raise UnreadableModel(f"the report is damaged: {what} holds something else than numbers")
    return [entry * unit_ns for entry in amounts if entry is not None]


def unit_of(value: object) -> ComputeUnit | None:
    """A compute unit: its name, or an object with it as the only key, perhaps below `deviceType`."""
    if isinstance(value, Mapping):
        held = value.get("deviceType", value)
        value = next(iter(held), None) if isinstance(held, Mapping) else held
    return _UNITS.get(compute_unit(words(value)) or "")


def units_of(values: object) -> tuple[ComputeUnit, ...] | None:
    """Compute units of a list, each once, in their usual order; None where there is no list."""
    if not isinstance(values, list):
        return None
    units = {unit_of(value) for value in values}
    return tuple(unit for unit in ALL_UNITS if unit in units)


def _bare(operator: str) -> str:
    """`ios18.conv` as `conv`."""
    return operator.rpartition(".")[2]


def is_constant(operator: str) -> bool:
    """Whether the operation is a constant or compressed weights, which run nowhere."""
    name = _bare(operator)
    return name == CONSTANTS or name.startswith(COMPRESSED)


def planned_operation(
    number: int, name: str, operator: str, preferred: object, supported: object, cost: object, **more: Any
) -> PlannedOperation:
    """An operation from what a report says of it: `preferred` and `supported` are compute units, `cost` is a share.
    Raises `UnreadableModel` for an impossible cost."""
    # Where it does run, it can run.
    units = units_of([*supported, preferred] if isinstance(supported, list) else None)
    # Sums of rounded parts may exceed 1 in the last digits.
    share = amount(cost, "the cost of an operation", 1.001)
    return PlannedOperation(number, name, _bare(operator), unit_of(preferred), units, share, **more)


def with_times(operations: Iterable[PlannedOperation], median_ns: float | None) -> tuple[PlannedOperation, ...]:
    """The operations with their estimated times: cost × median prediction."""
    return tuple(
        entry if entry.cost is None or median_ns is None else replace(entry, estimated_ns=entry.cost * median_ns)
        for entry in operations
    )


def check_count(count: int) -> None:
    """Raises `UnreadableModel` if a report holds too many operations."""
    if count > MAX_OPERATIONS:
        raise UnreadableModel(f"the report lists more than {MAX_OPERATIONS:,} operations")
