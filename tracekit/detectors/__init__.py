"""What a rule is written with, tracekit's own and those of plug-ins alike: `from tracekit.detectors import ...`.

Here is what a rule is (`Detector`), what it sees (`ModelView`, or a `Trace`), what it answers (`Outcome`) and the words
that its rows and sentences use. How rules are found, configured, run and ranked lies in the modules of this package.

A name is imported when it is first used: checks of model files need no pandas.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tracekit.analysis.statistics import covered_ns
    from tracekit.detectors.answers import (
        RECORD_EARLIER,
        RECORD_LONGER,
        cost_of,
        finding,
        no_prediction,
        reached,
        too_few_predictions,
        value_of,
    )
    from tracekit.detectors.framework import Detector, ModelView, RecordingDetector
    from tracekit.detectors.options import option
    from tracekit.detectors.outcomes import (
        Cost,
        Direction,
        Evidence,
        Finding,
        InsufficientData,
        Metric,
        NotApplicable,
        Outcome,
        Passed,
        above,
        below,
    )
    from tracekit.detectors.pages import Page, Reference, page_beside
    from tracekit.detectors.patterns import Pattern
    from tracekit.intervals import Intervals
    from tracekit.trace.events import LOAD_KINDS, Attribution, Device, Kind, Lane, Level
    from tracekit.trace.frames import is_any
    from tracekit.trace.trace import Trace
    from tracekit.units import format_count, format_duration, format_share, format_time

__all__ = [
    "LOAD_KINDS",
    "RECORD_EARLIER",
    "RECORD_LONGER",
    "Attribution",
    "Cost",
    "Detector",
    "Device",
    "Direction",
    "Evidence",
    "Finding",
    "InsufficientData",
    "Intervals",
    "Kind",
    "Lane",
    "Level",
    "Metric",
    "ModelView",
    "NotApplicable",
    "Outcome",
    "Page",
    "Passed",
    "Pattern",
    "RecordingDetector",
    "Reference",
    "Trace",
    "above",
    "below",
    "cost_of",
    "covered_ns",
    "finding",
    "format_count",
    "format_duration",
    "format_share",
    "format_time",
    "is_any",
    "no_prediction",
    "option",
    "page_beside",
    "reached",
    "too_few_predictions",
    "value_of",
]

_MODULES = {
    "Attribution": "tracekit.trace.events",
    "Cost": "tracekit.detectors.outcomes",
    "Detector": "tracekit.detectors.framework",
    "Device": "tracekit.trace.events",
    "Direction": "tracekit.detectors.outcomes",
    "Evidence": "tracekit.detectors.outcomes",
    "Finding": "tracekit.detectors.outcomes",
    "InsufficientData": "tracekit.detectors.outcomes",
    "Intervals": "tracekit.intervals",
    "Kind": "tracekit.trace.events",
    "LOAD_KINDS": "tracekit.trace.events",
    "Lane": "tracekit.trace.events",
    "Level": "tracekit.trace.events",
    "Metric": "tracekit.detectors.outcomes",
    "ModelView": "tracekit.detectors.framework",
    "NotApplicable": "tracekit.detectors.outcomes",
    "Outcome": "tracekit.detectors.outcomes",
    "Page": "tracekit.detectors.pages",
    "Passed": "tracekit.detectors.outcomes",
    "Pattern": "tracekit.detectors.patterns",
    "RECORD_EARLIER": "tracekit.detectors.answers",
    "RECORD_LONGER": "tracekit.detectors.answers",
    "RecordingDetector": "tracekit.detectors.framework",
    "Reference": "tracekit.detectors.pages",
    "Trace": "tracekit.trace.trace",
    "above": "tracekit.detectors.outcomes",
    "below": "tracekit.detectors.outcomes",
    "cost_of": "tracekit.detectors.answers",
    "covered_ns": "tracekit.analysis.statistics",
    "finding": "tracekit.detectors.answers",
    "format_count": "tracekit.units",
    "format_duration": "tracekit.units",
    "format_share": "tracekit.units",
    "format_time": "tracekit.units",
    "is_any": "tracekit.trace.frames",
    "no_prediction": "tracekit.detectors.answers",
    "option": "tracekit.detectors.options",
    "page_beside": "tracekit.detectors.pages",
    "reached": "tracekit.detectors.answers",
    "too_few_predictions": "tracekit.detectors.answers",
    "value_of": "tracekit.detectors.answers",
}
"""Module that holds each name."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
