"""What `tracekit inspect` says of a performance report or a compute plan: one object that every renderer reads.

Keys are those of the JSON, and `tracekit.model_files.performance` reads that JSON again. None means that the report
does not say it. The words are the same in every readable format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tracekit._version import __version__
from tracekit.analysis.quantities import fast_enough
from tracekit.characters import map_strings
from tracekit.detectors.shared import planned
from tracekit.model_files.performance.facts import (
    ALL_UNITS,
    ComputeUnit,
    Mark,
    PerformanceReport,
    PlannedOperation,
    Timing,
    Transition,
)
from tracekit.model_files.performance.read import SCHEMA_VERSION
from tracekit.report.formatting import ABSENT, frames
from tracekit.report.redact import without_private
from tracekit.report.report import ToolInfo
from tracekit.units import format_count, format_duration, format_names, format_share, format_time


@dataclass(frozen=True, slots=True)
class PerformanceSummary:
    """What follows from the report."""

    fps: float | None
    """Frames per second that the median is fast enough for, rounded down."""
    operations: int | None
    """None where the report lists none."""
    units: dict[str, int]
    """Operations on each compute unit; those whose unit is unknown are missing."""
    cost: dict[str, float]
    """Estimated share of each compute unit in a prediction, where costs are known."""
    hand_offs: tuple[Transition, ...]
    incompatible: dict[str, int]
    """Operations that cannot run on a unit, only for units that the report was made for."""


@dataclass(frozen=True, slots=True)
class InspectedPerformance:
    """Everything that leaves the inspection of a report."""

    schema_version: int
    tool: ToolInfo
    performance: PerformanceReport
    summary: PerformanceSummary
    redacted: bool


def inspected_performance(report: PerformanceReport, *, redact: bool = True) -> InspectedPerformance:
    """The document. Users in paths, mail addresses and ids are taken out of texts unless `redact` is false; names of
    the model and its operations stay. O(operations)."""
    operations = report.operations
    cost = {str(unit): sum(entry.cost or 0 for entry in report.on(unit)) for unit in ALL_UNITS}
    incompatible = {str(unit): len(report.incompatible_with(unit)) for unit in ALL_UNITS}
    document = InspectedPerformance(
        schema_version=SCHEMA_VERSION,
        tool=ToolInfo("tracekit", __version__, None),
        performance=report,
        summary=PerformanceSummary(
            fps=fast_enough(report.prediction.median_ns if report.prediction else None),
            operations=None if operations is None else len(operations),
            units={str(unit): count for unit, count in report.counts.items()},
            cost={unit: share for unit, share in cost.items() if share},
            hand_offs=report.transitions,
            incompatible={unit: count for unit, count in incompatible.items() if count},
        ),
        redacted=redact,
    )
    return map_strings(document, lambda _, text: without_private(text)) if redact else document


MARKS = {Mark.RAN: "runs", Mark.COULD_RUN: "can", Mark.INCOMPATIBLE: "cannot", Mark.UNKNOWN: ABSENT}
"""Marks in a column."""

MARKS_NOTE = (
    "runs: planned there; can: compatible, and placed elsewhere; cannot: incompatible with the unit in this "
    f"configuration; {ABSENT}: unknown, as for units that the report was not made for"
)

PLAN_NOTE = (
    "Where operations run is the plan of this device and system; a compatible operation may be placed elsewhere "
    "because of transfers, which is no error by itself. Record the app to see what happened."
)

TIMES = (("median", "median_ns"), ("mean", "mean_ns"), ("min", "min_ns"), ("max", "max_ns"), ("std dev", "stdev_ns"))
"""Columns of times, and the statistics in them."""


def context(report: PerformanceReport) -> str:
    """One line: which model, on which device, with which units, and what was read."""
    device = ", ".join(filter(None, (report.device, report.system))) or "unknown device"
    return " · ".join((report.name, device, planned.requested_units(report), str(report.form)))


def result(document: InspectedPerformance) -> str:
    """The result in one line: latency, rate, and where the operations run."""
    report = document.performance
    speed = "prediction not timed"
    median = report.prediction.median_ns if report.prediction else None
    if median is not None:
        rate = document.summary.fps
        speed = f"{format_duration(median)} per prediction (median)"
        speed += f", fast enough for {frames(rate)} fps" if rate else ""
    return f"{speed[0].upper()}{speed[1:]} · {planned.placement(report) or 'no operations listed'}"


def timings(report: PerformanceReport) -> Iterator[tuple[str, Timing, str]]:
    """Each phase that was timed, and what the values kept apart are."""
    if report.prediction is not None:
        yield "prediction", report.prediction, "first of each experiment"
    if report.load is not None:
        # Where nothing is kept apart, it is unknown which of the loads were cached.
        yield ("load, cached" if report.load.first_ns else "load"), report.load, "not cached"
    if report.compile is not None:
        yield "compile", report.compile, "first"


def first(timing: Timing, words: str) -> str:
    """The values that are kept apart, the first few of them."""
    return f"{words}: {format_names([*map(format_duration, timing.first_ns)])}" if timing.first_ns else ""


def hand_offs(document: InspectedPerformance) -> str:
    """Changes of the compute unit, the most frequent first; empty where no operation is placed."""
    transitions = document.summary.hand_offs
    if not document.summary.units:
        return ""
    if not transitions:
        return "no hand-offs: all operations run on one compute unit"
    listed = ", ".join(f"{entry.source} → {entry.target} {entry.count:,}" for entry in transitions)
    return f"{format_count(sum(entry.count for entry in transitions), 'hand-off')} in the order of the report: {listed}"


def cost(operation: PlannedOperation) -> str:
    """Estimated time and share of an operation."""
    share = format_share(operation.cost) if operation.cost is not None else ""
    time = format_time(operation.estimated_ns) if operation.estimated_ns is not None else ""
    return ", ".join(filter(None, (time, share))) or ABSENT


def kind(operation: PlannedOperation) -> str:
    """Type of an operation."""
    return operation.type or "unknown type"


def by_type(operations: Iterable[PlannedOperation]) -> str:
    """Operations counted by type, the most frequent first."""
    counts = Counter(map(kind, operations)).most_common()
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def elsewhere(report: PerformanceReport) -> Sequence[tuple[str, tuple[PlannedOperation, ...]]]:
    """Operations that do not run on the Neural Engine: that cannot, and that can. Empty without a report about it."""
    unit = ComputeUnit.NEURAL_ENGINE
    could = tuple(entry for entry in report.operations or () if report.mark(entry, unit) == Mark.COULD_RUN)
    groups = (("cannot run there", report.incompatible_with(unit)), ("can run there", could))
    return [(words, operations) for words, operations in groups if operations]


def reasons(operations: Iterable[PlannedOperation]) -> str:
    """Why operations cannot run on the Neural Engine, in the words of the report."""
    texts = (text for entry in operations for unit, text in entry.reasons if unit == ComputeUnit.NEURAL_ENGINE)
    return "; ".join(dict.fromkeys(texts))
