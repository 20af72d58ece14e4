"""What `tracekit inspect` says of a performance report or a compute plan: one object that every renderer reads.

Keys are those of the JSON, and `tracekit.model_files.performance` reads that JSON again. None means that the report
does not say it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracekit._version import __version__
from tracekit.analysis.quantities import fast_enough
from tracekit.characters import map_strings
from tracekit.model_files.performance.facts import ALL_UNITS, PerformanceReport, Transition
from tracekit.model_files.performance.read import SCHEMA_VERSION
from tracekit.report.redact import without_private
from tracekit.report.report import ToolInfo


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
