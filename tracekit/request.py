"""What is asked of a recording: one object from the arguments of a user to whatever does the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tracekit.config import Config
from tracekit.recording import Progress, XctraceOptions
from tracekit.recording.open import Paths
from tracekit.report.choice import Part, choose_shown
from tracekit.trace.build import open_trace
from tracekit.trace.file_matching import join_files
from tracekit.trace.filter import Shown
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to read, what to judge and what to show. `tracekit.api.request_of` makes one from what a user gives, and
    checks it. Can be sent to another process unless functions of this one are to be called (`xctrace`, `progress`)."""

    run: int | None = None
    reader: str = "auto"
    xctrace: XctraceOptions | None = None
    progress: Callable[[Progress], None] | None = None
    """Called while it is read."""
    model_files: tuple[str, ...] = ()
    """Model files that were given, as `PATH` or `MODEL=PATH`."""
    perf_reports: tuple[str, ...] = ()
    """Performance reports that were given, in the same form."""

    settings: Config = field(default_factory=Config)
    """Those of the project, with what was given on top."""
    named: tuple[str, ...] = ()
    """Patterns of models that a budget or an expected unit was given for."""

    models: tuple[str, ...] = ()
    """Names or patterns of the models that are shown; empty: all."""
    process: str | int | None = None
    """Name or pid of the process that is shown; None: all."""
    part: Part | None = None
    """Part of the time that is shown; None: all."""
    sort: str = "total"
    redact: bool = True
    functions: bool = True
    """Whether names of the app's functions and source files may be shown."""
    commit: str | None = None
    """The commit that was recorded, where one was given."""


ALL = Request()
"""Of a whole recording, by the defaults."""


def open_requested(path: Paths, request: Request) -> Trace:
    """The trace of a recording, read as asked, without files of its models. Raises as `open_trace`."""
    return open_trace(
        path,
        run=request.run,
        reader=request.reader,
        xctrace=request.xctrace,
        progress=request.progress,
        units=request.settings.units,
    )


def read_trace(path: Paths, request: Request) -> Trace:
    """The trace of a recording, with the model files and performance reports of its models. Raises as `open_trace`, and
    `TracekitError` for a file that was given and cannot be read."""
    project = request.settings
    files = (request.model_files, project.model_files)
    return join_files(open_requested(path, request), path, files, (request.perf_reports, project.perf_reports))


def shown_of_request(trace: Trace, request: Request) -> Shown | None:
    """What of a trace a request shows; None: all. Raises `UsageError` for a name that the recording does not hold."""
    return choose_shown(trace, models=request.models, process=request.process, part=request.part, redact=request.redact)
