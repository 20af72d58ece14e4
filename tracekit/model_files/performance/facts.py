"""What a performance report or a compute plan says, whatever wrote it: frozen facts in one form.

Times are in ns. None means that the file does not say it, never zero. A plan is an intention: where an operation is
planned to run, not where a recording saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from operator import itemgetter


class ComputeUnit(StrEnum):
    """Where an operation can run, as Apple calls it."""

    CPU = "CPU"
    GPU = "GPU"
    NEURAL_ENGINE = "Neural Engine"


ALL_UNITS = tuple(ComputeUnit)


class ReportForm(StrEnum):
    """What was read."""

    XCODE = "Xcode performance report"
    PROFILER = "CoreMLProfiler compute plan"
    COREMLTOOLS = "coremltools compute plan"
    DUMP = "dumped compute plan"
    TRACEKIT = "tracekit inspect --measure"


class Mark(StrEnum):
    """What a report says of an operation and a compute unit."""

    RAN = "ran"
    COULD_RUN = "could run"
    INCOMPATIBLE = "incompatible"
    UNKNOWN = "unknown"
    """Also for each unit that the report was not made for."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long something took, several times. Statistics are None where the report holds none."""

    count: int | None
    """Number of values that the statistics are of."""
    median_ns: float | None
    mean_ns: float | None = None
    min_ns: float | None = None
    max_ns: float | None = None
    stdev_ns: float | None = None
    first_ns: tuple[float, ...] = ()
    """Values that are no part of the statistics: the first prediction of each experiment, which may prepare the input
    shape, or the loads that were not cached, which specialize the model for the device."""


@dataclass(frozen=True, slots=True)
class PlannedOperation:
    """One operation or layer. Constants are not listed: they run nowhere."""

    number: int
    """Its place in the report, from 0 on."""
    name: str
    """Name of its first output, or what the report calls it."""
    type: str
    """Such as `conv`, without the opset; empty where the report does not state it."""
    unit: ComputeUnit | None
    """Where it ran, or is planned to run."""
    supported: tuple[ComputeUnit, ...] | None
    """Where it can run, `unit` included."""
    cost: float | None = None
    """Estimated share of the prediction, from 0 to 1."""
    estimated_ns: float | None = None
    """Estimated time; as the report gives it, else share × median prediction."""
    function: str = "main"
    reasons: tuple[tuple[ComputeUnit, str], ...] = ()
    """Why it cannot run on a unit, in the words of the report."""


@dataclass(frozen=True, slots=True)
class Transition:
    """Neighboring operations on different compute units, in the order of the report."""

    source: ComputeUnit
    target: ComputeUnit
    count: int


@dataclass(frozen=True, slots=True)
class PerformanceReport:
    """One model on one device with one choice of compute units."""

    name: str
    """Name of the model; the stem of the file where the report does not name it."""
    source: str
    """Name of the file."""
    form: ReportForm
    asked: tuple[ComputeUnit, ...] | None = None
    """Compute units that the model was loaded for."""
    device: str | None = None
    """Model of the device, never its own name or serial number."""
    system: str | None = None
    prediction: Timing | None = None
    load: Timing | None = None
    """Loads of a compiled model that was cached; `first_ns` are the others."""
    compile: Timing | None = None
    """From package to compiled model; matters only for models that the app compiles itself."""
    operations: tuple[PlannedOperation, ...] | None = None
    """In the order of the report; None where it has none."""
    notes: tuple[str, ...] = ()
    """What the report leaves open, in sentences."""

    @property
    def counts(self) -> dict[ComputeUnit, int]:
        """Operations on each compute unit; units without any are absent."""
        by_unit = Counter(operation.unit for operation in self.operations or () if operation.unit is not None)
        return {unit: by_unit[unit] for unit in ALL_UNITS if by_unit[unit]}

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Changes of the compute unit between neighbors of one function, the most frequent first. O(operations)."""
        placed = [operation for operation in self.operations or () if operation.unit is not None]
        by_units = Counter(
            (one.unit, other.unit)
            for one, other in pairwise(placed)
            if one.unit != other.unit and one.function == other.function
        )
        return tuple(
            Transition(one, other, count) for (one, other), count in by_units.most_common() if one is not None and other
        )

    def mark(self, operation: PlannedOperation, unit: ComputeUnit) -> Mark:
        """What the report says of an operation and a unit. "Incompatible" counts only for units that it was made for:
        in a report for the CPU alone, every mark of the others is, which says nothing about the model."""
        if operation.unit == unit:
            return Mark.RAN
        if operation.supported is not None and unit in operation.supported:
            return Mark.COULD_RUN
        if operation.supported is None or self.asked is None or unit not in self.asked:
            return Mark.UNKNOWN
        return Mark.INCOMPATIBLE

    def on(self, unit: ComputeUnit) -> tuple[PlannedOperation, ...]:
        """The operations on a compute unit."""
        return tuple(operation for operation in self.operations or () if operation.unit == unit)

    def incompatible_with(self, unit: ComputeUnit) -> tuple[PlannedOperation, ...]:
        """The operations that the report says cannot run on a compute unit; none where it was not made for it."""
        return tuple(entry for entry in self.operations or () if self.mark(entry, unit) == Mark.INCOMPATIBLE)

    def costliest(self, count: int) -> tuple[PlannedOperation, ...]:
        """The operations of the largest estimated cost, the largest first; those without one are left out."""
        costs = ((entry.estimated_ns if entry.cost is None else entry.cost, entry) for entry in self.operations or ())
        known = [(-cost, entry.number, entry) for cost, entry in costs if cost is not None]
        return tuple(entry for _, _, entry in sorted(known, key=itemgetter(0, 1))[:count])


def timing_of(samples: Sequence[float], first: Sequence[float] = ()) -> Timing | None:
    """Statistics of samples in ns, and values that are kept apart; None where there are neither. O(samples)."""
    import statistics

    if not samples:
        return Timing(0, None, first_ns=tuple(first)) if first else None
    return Timing(
        count=len(samples),
        median_ns=statistics.median(samples),
        mean_ns=statistics.fmean(samples),
        min_ns=min(samples),
        max_ns=max(samples),
        stdev_ns=statistics.stdev(samples) if len(samples) > 1 else None,
        first_ns=tuple(first),
    )
