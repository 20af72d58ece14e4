"""Performance reports as sources of a matrix, beside recordings."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from tracekit.compare.matrix import PERFORMANCE_REPORT, Figures, Source
from tracekit.model_files.performance import ComputeUnit

if TYPE_CHECKING:
    from tracekit.model_files.performance import PerformanceReport


def source_of_report(report: PerformanceReport) -> Source:
    """A report as a source. Its placement is a plan, so it has no share of the Neural Engine in what was executed; a
    report without operations states no compute units. O(operations)."""
    prediction, load, counts = report.prediction, report.load, report.counts
    return Source(
        report.source,
        PERFORMANCE_REPORT,
        report.device,
        report.system,
        (
            Figures(
                model=report.name,
                predictions=(prediction.count or None) if prediction else None,
                p50_ns=prediction.median_ns if prediction else None,
                p95_ns=None,
                load_ns=load.median_ns if load else None,
                cold_load_ns=median(load.first_ns) if load and load.first_ns else None,
                neural_engine=None,
                units=tuple(map(str, counts)),
                planned_neural_engine=counts.get(ComputeUnit.NEURAL_ENGINE, 0) / sum(counts.values())
                if counts
                else None,
            ),
        ),
    )
