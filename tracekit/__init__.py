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
    from tracekit.notebook.several import compare, history, inspect
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
    "open_recording",
    "open_trace",
    "read",
    "read_many",
]

_LAZY = {
    "_version": ("__version__",),
    "errors": ("MissingColumn", "TracekitError", "UnreadableRecording", "UsageError"),
    "notebook.recordings": ("in_ms", "read", "read_many"),
    "notebook.reports": ("analyze",),
    "notebook.several": ("compare", "history", "inspect"),
    "recording": ("open_recording",),
    "recording.contents": ("Recording",),
    "report.report": ("Report",),
    "trace.build": ("open_trace",),
    "trace.trace": ("Trace",),
}
"""The public names that each module holds; none is imported at once."""


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LAZY.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
