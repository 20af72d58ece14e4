"""Performance reports and compute plans: `load_performance_report(path)` gives one form of them, whatever wrote them.

Needs neither coremltools nor a Mac. Knows nothing of recordings.
"""

from tracekit.model_files.performance.facts import (
    ALL_UNITS,
    ComputeUnit,
    Mark,
    PerformanceReport,
    PlannedOperation,
    ReportForm,
    Timing,
    Transition,
)
from tracekit.model_files.performance.read import load_performance_report, report_in, report_of

__all__ = [
    "ALL_UNITS",
    "ComputeUnit",
    "Mark",
    "PerformanceReport",
    "PlannedOperation",
    "ReportForm",
    "Timing",
    "Transition",
    "load_performance_report",
    "report_in",
    "report_of",
]
