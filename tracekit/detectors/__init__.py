"""What a rule is written with, tracekit's own and those of plug-ins alike: `import tracekit.detectors as tk`.

Here is what a rule is (`Detector`), what it sees (`ModelView`, `RecordingView`), what it answers (`Outcome`) and the
words that its rows and sentences use. Its modules find, configure, run and rank rules.

A name is imported when it is first used: checks of model files need nothing that reads recordings.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # Read at run time too: these lines are the one list of what the facade holds.
    from tracekit.analysis.ledger.causes import Cause
    from tracekit.analysis.statistics import covered_ns
    from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray
    from tracekit.columns import Numbers, Texts, coded, constant
    from tracekit.detectors.answers import (
        RECORD_CORE_ML,
        RECORD_EARLIER,
        RECORD_LONGER,
        Showing,
        Shown,
        all_reached,
        reached,
        value_of,
    )
    from tracekit.detectors.expectations import UNIT_NUMBERS
    from tracekit.detectors.framework import (
        Detector,
        InspectedModel,
        ModelFileDetector,
        NoOptions,
        RecordingDetector,
        any_load,
        any_prediction,
        least_mean,
        least_predictions,
        too_short,
    )
    from tracekit.detectors.options import Options, option
    from tracekit.detectors.outcomes import (
        Cost,
        Direction,
        Evidence,
        Finding,
        Metric,
        NotApplicable,
        NotEvaluated,
        Outcome,
        Passed,
        above,
        below,
    )
    from tracekit.detectors.pages import Page, Pattern, Reference, page_beside
    from tracekit.detectors.views import ModelView, RecordingView, cached_by_model, unnamed_predictions
    from tracekit.intervals import Intervals, union_length_by_group
    from tracekit.model_files.facts import ModelFile
    from tracekit.recording.table import TableState
    from tracekit.rows import counts_by, joined, places_of, sums_by
    from tracekit.trace.calls.stacks import Api
    from tracekit.trace.coverage import issues_about_data
    from tracekit.trace.events import (
        DEVICE_NAMES,
        LOAD_KINDS,
        SETUP_KINDS,
        Attribution,
        Calls,
        Device,
        Events,
        Kind,
        Lane,
        Level,
        Origin,
    )
    from tracekit.trace.instruments.catalogue import CORE_ML, GPU, NEURAL_ENGINE
    from tracekit.trace.instruments.metal import MetalEncoders, MetalIntervals, SubmittedBuffers
    from tracekit.trace.instruments.tables import (
        GpuPerformance,
        GpuStates,
        HangRisks,
        Hangs,
        LifeCycle,
        MetalPipelines,
        PointsOfInterest,
        ShaderCompilations,
        SignpostEvents,
        Signposts,
        Thermal,
    )
    from tracekit.trace.sharing import MAX_OUTSIDE_SHARE, SharingState
    from tracekit.trace.trace import Trace, cached_by_trace
    from tracekit.units import format_bytes, format_count, format_names, format_parts, format_share, format_time

_IMPORT = re.compile(r"^    from (tracekit[.\w]*) import (\([^)]*\)|[^\n]*)$", re.MULTILINE)
_MODULES = {
    name: module
    for module, names in _IMPORT.findall(Path(__file__).read_text("utf-8"))
    for name in re.findall(r"\w+", names)
}
"""Module that holds each name."""

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
