"""The answers to what agents ask, each as JSON of at most 8 kB. Redacted always."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from tracekit.analysis.code.call_sites import of_model
from tracekit.analysis.code.tree import Frames, call_tree
from tracekit.analysis.ledger.choice import Choice
from tracekit.api import explain, judge
from tracekit.characters import visible
from tracekit.comparison.comparison import compare as compared
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.measuring import check_models_known, measure
from tracekit.detectors.explanation import listed_page
from tracekit.detectors.pages import own_page
from tracekit.documents import brief
from tracekit.documents.comparison import comparison_document
from tracekit.documents.performance import performance_report_document
from tracekit.documents.query import answer_json, coverage_json
from tracekit.documents.why import why_document
from tracekit.errors import UsageError, unknown
from tracekit.mcp_server.folders import Folders, State, state_of
from tracekit.measured import measured_report, named_apart
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import fix_command
from tracekit.model_files.read import read_subject
from tracekit.query.database import MACROS, Database, RecordingViews
from tracekit.query.private import recorded_rows
from tracekit.query.views import VIEWS, Source
from tracekit.recording import Progress
from tracekit.recording.table import TableState
from tracekit.render.forms import render
from tracekit.report.choice import chosen_models
from tracekit.report.flame import branches, fit_to_leave
from tracekit.report.model_report import model_report
from tracekit.report.performance import inspected_performance
from tracekit.report.report import Report
from tracekit.request import Request, read_trace
from tracekit.trace.build import open_trace
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.trace.trace import Trace

Tell = Callable[[float, float | None, str], None]
"""Says how far the work has come: done, of how much, and what is being done."""


class NoLongerWantedError(Exception):
    """The question was taken back."""


class Call:
    """One question: it says how far its answer has come, and hears when it is taken back."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._gone = Event()
        self._stop: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Take it back, from another thread."""
        self._gone.set()
        if self._stop is not None:
            self._stop()

    def tell(self, words: str, done: float = 0, total: float | None = None) -> None:
        """Say what is being done. Raises `NoLongerWantedError` where nobody waits for it."""
        if self._gone.is_set():
            raise NoLongerWantedError
        self._tell(done, total, visible(words))

    def stopped_by(self, stop: Callable[[], None]) -> None:
        """What ends the work that comes now, from another thread."""
        self._stop = stop
        self.tell("answering")

    def reading(self, progress: Progress) -> None:
        """Say how far reading has come."""
        self.tell(f"reading {progress.source}", progress.done_bytes, progress.total_bytes)


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


TEXT_WIDTH = 120


def analyze(recordings: Recordings, call: Call, path: str, limit: int) -> str:
    """Verdict, coverage, models, findings worst first."""
    report = recordings.open(path, call).report
    ids = dict.fromkeys(result.id for result in report.results if result.outcome == "finding")
    why_slow = ["why"] if any(model.predictions for model in report.models) else []
    return brief.brief_report(report, limit, [*(f"finding id={name}" for name in list(ids)[:2]), *why_slow, "schema"])


def finding(recordings: Recordings, call: Call, path: str, name: str, model: str | None, limit: int) -> str:
    """What one check says: of each model, or of one."""
    report = recordings.open(path, call).report
    answers = [result for result in report.results if result.id == name]
    if not answers:
        raise unknown("check", name, dict.fromkeys(result.id for result in report.results))
    of_one = [result for result in answers if model is None or result.model == model]
    if not of_one:
        raise unknown("model", str(model), [result.model for result in answers if result.model is not None])
    return brief.brief_answers(sorted(of_one, key=lambda result: result.outcome != "finding"), limit)


def why(
    recordings: Recordings,
    call: Call,
    path: str,
    model: str | None,
    slowest: int | None,
    at_ns: int | None,
    over_ns: int | None,
) -> str:
    """What made predictions slow."""
    kept = recordings.open(path, call)
    request = replace(kept.request, models=() if model is None else (model,))
    report = explain(kept.trace, request, Choice(slowest, at_ns, over_ns=over_ns))
    found = dict.fromkeys(name for each in report.models for some in each.findings for name in some.values())
    return brief.brief_why(report, why_document(report), [f"finding id={name}" for name in found] or ["analyze"])


def query(recordings: Recordings, call: Call, path: str, sql: str, limit: int) -> str:
    """Rows, with what was recorded of each view that was read."""
    database = recordings.open(path, call).database
    call.stopped_by(database.interrupt)
    told = json.loads(answer_json(database.answer(sql, limit + 1)))
    rows, columns = told["rows"], [f"{each['name']} {each['type']}" for each in told["columns"]]
    said: dict[str, Any] = {"columns": columns, "coverage": [_known(each) for each in told["coverage"]]}
    if len(rows) > limit:
        said["more_rows"] = f"only the first {limit} are here; aggregate, filter, or raise limit (at most 200)"
    return brief.capped(said | {"rows": rows[:limit]})


def schema(recordings: Recordings, call: Call, path: str, view: str | None) -> str:
    """The views with their rows, or the columns of one."""
    kept = recordings.open(path, call)
    database = kept.database
    call.stopped_by(database.interrupt)
    if view is not None:
        answer = database.answer(f"from {view} limit 0")
        holds = {column.name: column.says for column in VIEWS[view].columns} if view in VIEWS else {}
        typed = zip(answer.columns, answer.types, strict=True)
        columns = [f"{name} {kind}" + (f": {holds[name]}" if name in holds else "") for name, kind in typed]
        return brief.capped({"coverage": [_known(coverage_json(each)) for each in answer.coverage], "columns": columns})
    views = [
        f"{view.view}: {f'{rows} rows' if view.recorded else 'NOT RECORDED'}; {VIEWS[view.view].holds}"
        for view, rows in map(database.counted, VIEWS)
    ]
    macros = [f"{signature}: {use}" for signature, (_, use) in MACROS.items()]
    tables = sorted({f'raw."{table.schema}"' for table in kept.trace.run.tables if table.state is TableState.ROWS})
    return brief.capped({"views": views, "macros": macros, "recorded_tables": tables})


def stacks(
    recordings: Recordings, call: Call, path: str, function: str | None, model: str | None, app_only: bool, limit: int
) -> str:
    """The call tree of running threads: of all samples, of those in a function, or in calls of a model."""
    trace = recordings.open(path, call).trace
    sampled = trace.profiled
    if sampled is None:
        entry = trace.coverage_of(CALL_STACKS)
        raise UsageError(f"{entry.conclusion} {entry.advice}".strip())
    mask = np.ones(len(sampled.samples), np.bool_)
    if model is not None:
        if sampled.unit is not None:
            raise UsageError(f"samples were taken by {sampled.unit}, not by time: leave model out")
        names = chosen_models(trace, [model], redact=True)
        mask = np.logical_or.reduce([of_model(trace, name) for name in sorted(names)])
    if function is not None:
        wanted = function.lower()
        named = sampled.stacks.function.passing(lambda name: wanted in name.lower())
        inside = np.unique(sampled.stacks.stack[named])
        if not len(inside):
            raise UsageError("no sample was in a function with that in its name; call stacks without function")
        mask &= np.isin(sampled.samples.stack.filled(), inside)
    drawn = call_tree(sampled, mask, Frames.APP if app_only else Frames.FOLDED)
    tree = fit_to_leave(drawn, trace, sampled, redact=True)
    lines = [f"{branch.numbers} {branch.indent}{branch.name}" for branch in branches(tree)]
    said = {
        "samples": int(mask.sum()),
        "unit": sampled.unit or "samples of running threads, 1 ms each; waiting threads are not sampled",
        "in_tree": tree.total,
        "notes": list(sampled.notes),
        "tree": list(islice(lines, limit)),
    }
    return brief.capped(said, {"tree": len(lines) - limit} if len(lines) > limit else {})


def compare(recordings: Recordings, call: Call, before: Sequence[str], after: Sequence[str]) -> str:
    """What changed between two builds."""
    paths = [*before, *after]
    measured = named_apart([recordings.measured(path, call) for path in paths], paths)
    sides = measured[: len(before)], measured[len(before) :]
    comparison = compared(*sides, floors=recordings.request.settings.floors)
    return brief.brief_comparison(
        comparison, comparison_document(comparison), ["analyze of the recording after", "why"]
    )


def inspect(recordings: Recordings, call: Call, path: str, system: str | None, chip: str | None) -> str:
    """Facts and findings of a model file, or what a performance report says."""
    place = recordings.folders.path_of(path)
    if place.suffix == ".trace":
        raise UsageError(f"{place.name} is a recording; use the tool analyze")
    call.tell(f"reading {place.name}")
    subject = read_subject(place)
    if not isinstance(subject, ModelFile):
        inspected = inspected_performance(subject, redact=True)
        return brief.capped({"report": render(performance_report_document(inspected, None), "text", width=TEXT_WIDTH)})
    project = recordings.request.settings.model_checks
    skip, settings = project.skipped_checks(subject.name), project.settings_of(subject.name)
    report = model_report(subject, system, chip, only=project.only, skip=skip, settings=settings)
    commands = {check.id: fix_command(check.id, subject, path) for check in report.results}
    return brief.brief_model_file(report, commands)


def page(check: str) -> str:
    """The page of a check, as Markdown. Raises `UsageError`."""
    return own_page(check) or listed_page(check)


def _known(coverage: dict[str, Any]) -> str:
    """What was recorded of a view, in a line."""
    state = "recorded" if coverage["recorded"] else "NOT RECORDED: no rows say nothing"
    return f"{coverage['view']}: {state}. {coverage['note']}".strip()
