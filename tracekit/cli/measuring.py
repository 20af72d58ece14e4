"""Measurements of the recordings of a command line, for commands that compare. One that cannot be read stops none."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import REPORT, check_recordings
from tracekit.cli.requests import PROCESS_DIED, results_of, sentence_on
from tracekit.comparison.measurements import Measurements
from tracekit.errors import Inconclusive, TracekitError, UnreadableRecording, UsageError, unknown
from tracekit.measured import measured_analysis, measured_report, measured_trace, told_apart
from tracekit.model_files.performance.facts import PerformanceReport
from tracekit.model_files.performance.read import report_in
from tracekit.model_files.untrusted import MAX_TEXT_BYTES, read_bytes
from tracekit.recording.contents import SIMULATOR
from tracekit.report.choice import matching_any, plain
from tracekit.report.report import Report
from tracekit.request import Request, open_requested, read_trace

if TYPE_CHECKING:
    from tracekit.report.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Measured:
    """A recording of the command line, and what became of it."""

    path: str
    measurements: Measurements | None
    error: str = ""
    """Why it could not be measured, in one sentence."""
    drawing: tuple[Report, Timeline] | None = None
    """Its report and lanes, where they are asked for and known."""
    performance: PerformanceReport | None = None
    """The performance report, where the path is one."""
    report: Report | None = None
    """The report on a recording, where it is asked for."""
    inconclusive: bool = False
    """Whether nothing is wrong with it but that it tells nothing: the part that was chosen is empty, or its times are
    those of a simulator."""

    @property
    def failed(self) -> bool:
        """Whether there is nothing to compare."""
        return self.measurements is None and self.performance is None

    @property
    def problems(self) -> list[str]:
        """What could not be read of it, a sentence each."""
        if self.failed:
            return [self.error]
        measurements = self.measurements
        return (
            [] if measurements is None else [f"{measurements.source}: {clause}" for clause in measurements.unreadable]
        )


def measure_all(
    paths: Sequence[str],
    arguments: Namespace,
    request: Request,
    *,
    lanes: bool = False,
    performance: bool = False,
    report: bool = False,
    real: bool = False,
) -> list[Measured]:
    """Measurements of each path, in order; they alone, and what is asked for, are kept, so memory does not grow. With
    `real`, times of a simulator are none."""
    # Workers of a cluster run in folders of their own.
    folder = Path.cwd() if getattr(arguments, "dask", None) else None
    work = partial(measure_one, folder=folder, lanes=lanes, performance=performance, report=report)
    results = results_of(work, paths, lambda path: Path(path).name, arguments, request)
    measured = [
        result or Measured(path, None, f"{path}: {PROCESS_DIED}") for path, result in zip(paths, results, strict=True)
    ]
    # Recordings of one name are named by the shortest ends of their paths that differ.
    sources = [(entry.measurements.source, plain(entry.path)) for entry in measured if entry.measurements]
    names = iter(told_apart(sources))
    named = [
        replace(entry, measurements=replace(entry.measurements, source=next(names))) if entry.measurements else entry
        for entry in measured
    ]
    return [
        Measured(entry.path, None, f"{measurements.source}: {SIMULATOR}", inconclusive=True)
        if real and (measurements := entry.measurements) is not None and measurements.environment.simulated
        else entry
        for entry in named
    ]


def measure_one(
    path: str, *, request: Request, folder: Path | None, lanes: bool, performance: bool, report: bool
) -> Measured:
    """Measure one recording, as `measure_all`. Paths are relative to `folder`; None: to the current one. Whatever goes
    wrong is part of the result, so that the others go on."""
    where = path if folder is None else str(folder / path)
    try:
        check_recordings([where], reports=True)
        if path.endswith(REPORT):
            try:
                return Measured(path, measured_report(Path(where), request))
            except UnreadableRecording:
                file = Path(where)
                profile = report_in(read_bytes(file, MAX_TEXT_BYTES), file) if file.is_file() else None
                if profile is None:
                    raise
                if not performance:
                    raise UsageError(
                        f"{file.name} is a performance report; `tracekit compare` takes it beside recordings"
                    ) from None
                matching_any([profile.name], request.models, lambda pattern: unknown("model", pattern, [profile.name]))
                return Measured(path, None, performance=profile)
        if _is_empty_folder(Path(where)):
            raise UnreadableRecording(f"{path} is an empty folder: no recording and no JSON report")
        # Names of model files tell whose rows are, where they are given.
        read = read_trace if request.model_files or request.settings.model_files else open_requested
        trace = read(where, request)
        if not lanes and not report:
            return Measured(path, measured_trace(trace, request))
        measurements, analysis = measured_analysis(trace, request)
        drawing = (analysis.report, replace(analysis, functions=False).timeline()) if lanes else None
        return Measured(path, measurements, drawing=drawing, report=analysis.report if report else None)
    except Exception as error:  # one recording that breaks tracekit must not stop the rest
        return Measured(path, None, sentence_on(error, path, where), inconclusive=isinstance(error, Inconclusive))


def _is_empty_folder(path: Path) -> bool:
    try:
        return path.is_dir() and not any(path.iterdir())
    except OSError:
        return False


def readable(measured: Sequence[Measured]) -> list[Measurements]:
    """What could be measured; standard error names the rest. Raises `TracekitError` where nothing could be."""
    if all(entry.failed for entry in measured):
        raise _unusable(measured)
    for note in _not_read(measured):
        narrate(f"tracekit: {note}")
    return [entry.measurements for entry in measured if entry.measurements is not None]


def _not_read(measured: Sequence[Measured]) -> list[str]:
    """A note on each recording that was not measured, and each unread table of others, fit to leave the machine."""
    return [plain(f"skipped: {problem}" if one.failed else problem) for one in measured for problem in one.problems]


def notes_on(measured: Sequence[Measured]) -> list[str]:
    """A note on whatever could not be read, and on each recording with more models than are measured."""
    read = [entry.measurements for entry in measured if entry.measurements is not None]
    return [*_not_read(measured), *(plain(f"{one.source}: {one.limited}") for one in read if one.limited)]


def all_measurements(measured: Sequence[Measured]) -> list[Measurements]:
    """All measurements. Raises `TracekitError` for the last recording not read whole; others are on standard error."""
    if any(entry.problems for entry in measured):
        raise _unusable(measured)
    return [entry.measurements for entry in measured if entry.measurements is not None]


def status_of_all(measured: Sequence[Measured]) -> ExitStatus:
    """Whether everything could be read."""
    return ExitStatus.UNUSABLE if any(entry.problems for entry in measured) else ExitStatus.DONE


def _unusable(measured: Sequence[Measured]) -> TracekitError:
    """The last problem, `Inconclusive` where all are that; standard error names the others, one a line."""
    *others, last = [problem for entry in measured for problem in entry.problems]
    for problem in others:
        narrate(f"tracekit: {problem}")
    return (Inconclusive if all(entry.inconclusive for entry in measured if entry.problems) else TracekitError)(last)
