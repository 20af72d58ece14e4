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
    from tracekit.notebook.recordings import in_ms, read, read_many
    from tracekit.notebook.reports import analyze
    from tracekit.notebook.several import compare, history, inspect, matrix
    from tracekit.recording import open_recording
    from tracekit.recording.contents import Recording
    from tracekit.report.report import Report
    from tracekit.trace.build import open_trace
    from tracekit.trace.trace import Trace

__all__ = [
    "MissingColumn",
    "Recording",
    "Report",
    "Trace",
    "TracekitError",
    "UnreadableRecording",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "history",
    "in_ms",
    "inspect",
    "matrix",
    "open_recording",
    "open_trace",
    "read",
    "read_many",
]

_LAZY = {
    "MissingColumn": "tracekit.errors",
    "Recording": "tracekit.recording.contents",
    "Report": "tracekit.report.report",
    "Trace": "tracekit.trace.trace",
    "TracekitError": "tracekit.errors",
    "UnreadableRecording": "tracekit.errors",
    "UsageError": "tracekit.errors",
    "__version__": "tracekit._version",
    "analyze": "tracekit.notebook.reports",
    "compare": "tracekit.notebook.several",
    "history": "tracekit.notebook.several",
    "in_ms": "tracekit.notebook.recordings",
    "inspect": "tracekit.notebook.several",
    "matrix": "tracekit.notebook.several",
    "open_recording": "tracekit.recording",
    "open_trace": "tracekit.trace.build",
    "read": "tracekit.notebook.recordings",
    "read_many": "tracekit.notebook.recordings",
}
"""Module that holds each public name that is not imported at once."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
