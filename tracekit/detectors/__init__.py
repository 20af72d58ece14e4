"""What a rule is written with, tracekit's own and those of plug-ins alike: `from tracekit.detectors import ...`.

Here is what a rule is (`Detector`), what it sees (`ModelView`, or a `Trace`), what it answers (`Outcome`) and the words
that its rows and sentences use. How rules are found, configured, run and ranked lies in the modules of this package.
"""

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
from tracekit.detectors.framework import Detector, ModelView, RecordingDetector, Reference
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
    "reached",
    "too_few_predictions",
    "value_of",
]
