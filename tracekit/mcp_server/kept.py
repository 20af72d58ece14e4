"""Recordings that were read, kept for the next question."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from tracekit.api import judge
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.measuring import check_models_known, measure
from tracekit.errors import UsageError
from tracekit.mcp_server.call import Call
from tracekit.mcp_server.folders import Folders, State, state_of
from tracekit.measured import measured_report
from tracekit.query.database import Database, RecordingViews
from tracekit.query.reading import recorded_rows
from tracekit.query.views import Source
from tracekit.report.report import Report
from tracekit.request import Request, read_trace
from tracekit.trace.build import open_trace
from tracekit.trace.trace import Trace

MOST = 4
"""Recordings that are kept: the ones that were asked about last. Heuristic: two builds, each recorded twice."""
_MODELS = (".mlpackage", ".mlmodel", ".mlmodelc")


@dataclass(eq=False)
class Kept:
    """A recording that is open, and what has been worked out from it."""

    path: Path
    trace: Trace
    request: Request

    @cached_property
    def report(self) -> Report:
        """What the checks say of all of it."""
        return judge(self.trace, self.request)

    @cached_property
    def measurements(self) -> Measurements:
        """What a comparison takes. Raises `UnreadableRecording` where the tables of Core ML could not be read."""
        check_models_known(self.report.recording.source, self.report.tables)
        return measure(self.trace, self.report, None)

    @cached_property
    def database(self) -> Database:
        """Its views, redacted. Raises `TracekitError` where DuckDB is not installed."""
        read_table = partial(recorded_rows, path=self.path, reader=self.request.reader)
        return Database(RecordingViews(Source(self.trace, lambda: self.report), read_table))


class Recordings:
    """Recordings in the folders; one is read again only when it has changed. For one thread at a time."""

    def __init__(self, folders: Folders, request: Request) -> None:
        self.folders = folders
        self.request = request
        self._kept: OrderedDict[tuple[Path, State], Kept] = OrderedDict()

    def open(self, text: str, call: Call) -> Kept:
        """The recording at a path. Raises `TracekitError`, and `NoLongerWantedError`."""
        path = self.folders.path_of(text)
        if path.suffix in _MODELS:
            raise UsageError(f"{path.name} is a model file; use the tool inspect")
        key = path, state_of(path)
        if key not in self._kept:
            request = replace(self.request, progress=call.reading)
            if self.folders.may_look_beside(path):
                trace = read_trace(str(path), request)
            else:
                trace = open_trace(str(path), reader=request.reader, progress=request.progress)
            self._kept[key] = Kept(path, trace, self.request)
            call.tell("running checks")
        self._kept.move_to_end(key)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return self._kept[key]

    def measured(self, text: str, call: Call) -> Measurements:
        """What a comparison takes from a recording, or from the JSON report that stands for it."""
        path = self.folders.path_of(text)
        if path.suffix == ".json":
            return measured_report(path, self.request)
        return self.open(text, call).measurements
