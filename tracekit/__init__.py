"""tracekit: analyzer for Apple Instruments recordings of on-device machine learning.

    import tracekit

    trace = tracekit.read("run.trace")
    trace.predictions  # a pandas DataFrame
    trace.analyze()  # in a notebook, the report as its page
    trace.plot.latency()

Importing the package is cheap; what a name needs is imported when the name is first used.
"""

from __future__ import annotations

# Without an import, so that the command line can be stopped from its first line on; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tracekit._version import __version__
    from tracekit.errors import MissingColumn, TracekitError, UnreadableRecording, UsageError
    from tracekit.notebook.recordings import LoadedTrace, LoadedTraces, in_ms, read, read_many, why
    from tracekit.notebook.reports import Finding, Replay, Report, Why, analyze
    from tracekit.notebook.several import (
        Checked,
        Comparison,
        History,
        Inspection,
        PerformanceInspection,
        Table,
        check,
        compare,
        history,
        inspect,
    )
    from tracekit.recording import open_recording
    from tracekit.recording.contents import Recording
    from tracekit.trace.build import open_trace
    from tracekit.trace.trace import Trace

__all__ = [
    "Checked",
    "Comparison",
    "Finding",
    "History",
    "Inspection",
    "LoadedTrace",
    "LoadedTraces",
    "MissingColumn",
    "PerformanceInspection",
    "Recording",
    "Replay",
    "Report",
    "Table",
    "Trace",
    "TracekitError",
    "UnreadableRecording",
    "UsageError",
    "Why",
    "__version__",
    "analyze",
    "check",
    "compare",
    "history",
    "in_ms",
    "inspect",
    "open_recording",
    "open_trace",
    "read",
    "read_many",
    "why",
]

_LAZY = {
    "_version": ("__version__",),
    "errors": ("MissingColumn", "TracekitError", "UnreadableRecording", "UsageError"),
    "notebook.recordings": ("LoadedTrace", "LoadedTraces", "in_ms", "read", "read_many", "why"),
    "notebook.reports": ("Finding", "Replay", "Report", "Why", "analyze"),
    "notebook.several": (
        *("Checked", "Comparison", "History", "Inspection", "PerformanceInspection", "Table"),
        *("check", "compare", "history", "inspect"),
    ),
    "recording": ("open_recording",),
    "recording.contents": ("Recording",),
    "trace.build": ("open_trace",),
    "trace.trace": ("Trace",),
}
"""The public names that each module holds; none is imported at once."""


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LAZY.items() if name in names), None)
    if module is None:
        # Only a mistake needs it.
        from tracekit.errors import suggest_name

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{suggest_name(name, __all__)}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
