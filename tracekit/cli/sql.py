"""`tracekit sql`: questions about recordings in SQL; `tracekit lake`: recordings in a folder of Parquet files."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from tracekit.api import Analysis, judge
from tracekit.cli.forms import deliver, files_of, print_document, write_file
from tracekit.cli.options import refuse
from tracekit.cli.output import narrate, tell, typed_line
from tracekit.cli.process import ExitStatus, Next
from tracekit.cli.reading import RUNNING, check_recordings, recordings_in, showing_progress, tell_unreadable
from tracekit.cli.requests import PROCESS_DIED, request_from, results_of, sentence_on
from tracekit.documents.query import answer_csv, answer_document, answer_json, answer_parquet, views_document
from tracekit.errors import TracekitError, UnreadableRecording, UsageError, unknown
from tracekit.named_files import read_file
from tracekit.query.database import Answer, Database, RecordingViews, ViewCoverage, notes_of
from tracekit.query.lake import TABLES, LakeViews, add_to_lake, holds, make_lake, note_skipped, remove_from_lake
from tracekit.query.private import recorded_rows
from tracekit.query.views import VIEWS, Source
from tracekit.recording.table import TableState
from tracekit.render.blocks import Document
from tracekit.report.choice import plain
from tracekit.report.lake_reports import is_lake, runs_in
from tracekit.request import Request, read_trace
from tracekit.trace.coverage import tables_of, unreadable_tables
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.trace.trace import identity_of
from tracekit.units import format_count

LISTED = (
    "select run_id, source, start_date, target, device_model, os_version, commit, app_version "
    "from runs order by start_date, run_id"
)
PROMPT, MORE = "sql> ", "...> "
HELP = """\
End a query with a semicolon. Tab completes views and columns.
.views lists the views, .columns VIEW the columns of one; .quit ends."""
MOST_QUERY = 1 << 20
"""Bytes of a query."""
Result = TypeVar("Result")
Added = tuple[str | None, str, tuple[str, ...]]
"""What became of a recording: its id, why it was skipped, in one sentence, and its tables that could not be read."""


@dataclass(slots=True)
class _OnCluster(Database):
    """Lets a worker of a Dask cluster answer each query, near the files: it sees the lake under the same path."""

    address: str = ""

    def answer(self, query: str, most: int | None = None) -> Answer:
        return self._there(partial(Database.answer, query=query, most=most))

    def arrow(self, query: str) -> tuple[Any, tuple[ViewCoverage, ...]]:
        return self._there(partial(Database.arrow, query=query))

    def _there(self, ask: Callable[[Database], Result]) -> Result:
        from tracekit.cli.workers import on_cluster

        work = partial(_ask_lake, folder=str(self.views.folder), seconds=self.seconds)
        results: list[Result | None] = list(on_cluster(work, [ask], self.address))
        if results[0] is None:
            raise TracekitError("the Dask workers that were asked died, as when memory runs out; ask for less")
        return results[0]


def _ask_lake(ask: Callable[[Database], Result], *, folder: str, seconds: float) -> Result:
    if not is_lake(lake := Path(folder)):
        raise TracekitError(f"a Dask worker finds no lake at {lake}; let all of them see it under that path")
    return ask(Database(LakeViews(lake), seconds))


def run(arguments: Namespace) -> ExitStatus:
    """Answer a query, list the views, or ask for queries."""
    query = _query_of(arguments)
    files = files_of(arguments, [arguments.path])
    database = _database(arguments)
    if arguments.list:
        print_document(_views(database), arguments.format or "text")
        return _tell_damage(database, database.views.names)
    if query is None:
        if files or arguments.format:
            raise UsageError("missing QUERY; give one, or --file with it")
        return _ask(database)
    others = {path: form for path, form in files.items() if form != "parquet"}
    coverage: tuple[ViewCoverage, ...] = ()
    # More rows fit into a file of columns than are fetched for the other forms.
    for path in files.keys() - others.keys():
        rows, coverage = database.arrow(query)
        write_file(path, answer_parquet(rows, coverage))
    answer = database.answer(query) if others or not files or arguments.format else None
    coverage = answer.coverage if answer else coverage
    _tell(coverage, arguments.quiet)
    if answer:
        data = {"csv": lambda: answer_csv(answer), "json": lambda: answer_json(answer)}
        deliver(arguments, others, lambda form: answer_document(answer, form), data, whole=not files)
    status = ExitStatus.DONE if all(view.recorded for view in coverage) else ExitStatus.INCONCLUSIVE
    return _tell_damage(database, [view.view for view in coverage]) or status


def _query_of(arguments: Namespace) -> str | None:
    """The query that is given, on the line, in a file or on standard input; None where a person is to be asked."""
    if arguments.query is not None and arguments.file is not None:
        raise UsageError("give QUERY or --file, not both")
    if arguments.query is not None and os.path.exists(arguments.query):  # noqa: PTH110 - also for what is no path
        raise UsageError(f"{arguments.query} is a path; give one recording and one query, or a file of a query with -f")
    if arguments.query is not None or arguments.list:
        return arguments.query  # type: ignore[no-any-return]
    stream = sys.stdin
    if arguments.file is None and stream is not None and stream.isatty():
        return None
    try:
        if arguments.file not in (None, "-"):
            return read_file(Path(arguments.file), MOST_QUERY).decode()
        query = "" if stream is None else stream.read(MOST_QUERY + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {arguments.file or 'standard input'}: {reason}") from error
    if len(query) > MOST_QUERY:
        raise UsageError("the query on standard input has more than 1 MB")
    if not query.strip():
        raise UsageError("missing QUERY; give one, on standard input too, or --file with it")
    return query


def _database(arguments: Namespace) -> Database:
    """The views of the recording or lake; a recorded table is read when a query asks for it."""
    if is_lake(Path(arguments.path)):
        refuse(arguments, "run no-redact no-functions model-file perf-report", "is for a recording, not for a lake")
        views = LakeViews(Path(arguments.path))
        if arguments.dask is not None:
            return _OnCluster(views, arguments.query_timeout, arguments.dask)
        return Database(views, arguments.query_timeout)
    refuse(arguments, "dask", "is for a lake, not for a recording")
    check_recordings([arguments.path])
    request = request_from(arguments)
    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        trace = read_trace(arguments.path, replace(request, progress=progress))

    options: dict[str, Any] = {"run": request.run, "reader": request.reader, "xctrace": request.xctrace}
    read_table = partial(recorded_rows, path=arguments.path, **options)
    source = Source(trace, cache(lambda: judge(trace, request, None)))
    return Database(RecordingViews(source, read_table, request.redact, request.functions), arguments.query_timeout)


def _tell(coverage: tuple[ViewCoverage, ...], quiet: bool) -> None:
    """Say on standard error what was not recorded; also where `quiet`, since no rows would say something else."""
    for note in notes_of(view for view in coverage if not (quiet and view.recorded)):
        narrate(f"tracekit: {note}")


def _tell_damage(database: Database, read: Collection[str]) -> ExitStatus:
    """Name damaged tables of a recording, as `analyze` does; call stacks only where a view that was read needs them."""
    if not isinstance(database.views, RecordingViews):
        return ExitStatus.DONE
    trace = database.views.source.trace
    stacked = any(CALL_STACKS in (VIEWS[name].instruments or (CALL_STACKS,)) for name in read if name in VIEWS)
    return tell_unreadable(trace.contents.source, tables_of(trace) if stacked else trace.run.tables)


def _views(database: Database) -> Document:
    rows: dict[str, int] = {}
    views = database.views
    for entry in views.source.trace.run.tables if isinstance(views, RecordingViews) else ():
        if entry.state in (TableState.ROWS, TableState.EMPTY):
            rows[entry.schema] = rows.get(entry.schema, 0) + (entry.rows or 0)
    return views_document([database.counted(view) for view in views.names], list(rows.items()))


def _ask(database: Database) -> ExitStatus:
    """A prompt on a terminal: one answer after another, until the end of the input."""
    views = database.views.names
    with suppress(ImportError):
        import readline

        words = sorted({*views, *(column.name for view in views for column in TABLES[view].columns)})

        def complete(text: str, state: int) -> str | None:
            return next(islice((word for word in words if word.startswith(text)), state, None), None)

        readline.set_completer(complete)
        readline.set_completer_delims(" \t\n,();=<>.\"'")
        readline.parse_and_bind("tab: complete")
    narrate(HELP, multiline=True)
    lines: list[str] = []
    while True:
        try:
            line = typed_line(MORE if lines else PROMPT)
        except EOFError:
            narrate("")
            return ExitStatus.DONE
        except KeyboardInterrupt:
            narrate("")
            lines = []
            continue
        lines.append(line)
        query = "\n".join(lines).strip()
        if query.startswith(".") or query.endswith(";"):
            lines = []
            if query == ".quit":
                return ExitStatus.DONE
            _reply(database, query)


def _reply(database: Database, said: str) -> None:
    try:
        if said == ".views":
            print_document(_views(database))
        elif said.startswith(".columns "):
            view = said.removeprefix(".columns ").strip()
            if view not in database.views.names:
                raise unknown("view", view, dict.fromkeys(database.views.names))
            holds = {column.name: column.says for column in TABLES[view].columns}
            for name, kind, *_ in database.answer(f"describe {view}").rows:
                narrate(f"{name:<26} {kind:<8} {holds.get(name, 'of its recording, as in runs')}")
        elif said.startswith("."):
            narrate(HELP, multiline=True)
        else:
            answer = database.answer(said)
            _tell(answer.coverage, quiet=False)
            print_document(answer_document(answer))
    except TracekitError as error:
        narrate(f"tracekit: {error}")


def run_lake(arguments: Namespace) -> ExitStatus | Next:
    """List or remove recordings of a lake; or add some, and name each that is skipped."""
    lake, action = Path(arguments.lake).resolve(), arguments.action
    if action != "add":
        if not is_lake(lake):
            raise UsageError(f"{arguments.lake} is not a lake; `tracekit lake add` makes one")
        if action == "list":
            return Next(("sql", arguments.lake, LISTED))
    if not arguments.path:
        example = "lake/ run.trace" if action == "add" else "lake/ RUN_ID, as lake list shows it"
        raise UsageError(f"missing {'PATH' if action == 'add' else 'RUN_ID'}, as in: tracekit lake {action} {example}")
    if action == "remove":
        chosen = {_run_in(lake, given) for given in arguments.path}
        for run in chosen:
            remove_from_lake(lake, run)
        tell(arguments, f"removed {format_count(len(chosen), 'recording')} from {arguments.lake}")
        return ExitStatus.DONE
    make_lake(lake)
    paths = recordings_in(*arguments.path)
    work = partial(_add_one, folder=Path.cwd(), lake=lake, app_version=arguments.app_version)
    # A worker that died may have added what another one then finds there.
    before, new, versions, skipped, damaged = runs_in(lake), set[str | None](), list[str | None](), 0, 0
    request = request_from(arguments)
    results = results_of(work, paths, lambda path: Path(path).name, arguments, request)
    for path, result in zip(paths, results, strict=True):
        run_id, error, unreadable = result or (None, f"{path}: {PROCESS_DIED}", ())
        note_skipped(lake, path, error)
        damaged += bool(unreadable)
        for clause in unreadable:
            narrate(f"tracekit: {plain(f'{Path(path).name}: {clause}')}")
        if error:
            skipped += 1
            narrate(f"tracekit: skipped: {plain(error)}")
        elif run_id in before | new:
            versions.append(run_id)
        else:
            new.add(run_id)
    counts = {"in it already": len(versions), "skipped": skipped, "with tables that cannot be read": damaged}
    others = [f"{count:,} {what}" for what, count in counts.items() if count]
    more = f" ({', '.join(others)})" if others else ""
    tell(arguments, f"added {format_count(len(new), 'recording')} to {arguments.lake}{more}")
    if versions and (arguments.commit or arguments.app_version):
        narrate(
            "tracekit: a recording that is in it already keeps its commit and app version; to change them, "
            f"run `tracekit lake remove {arguments.lake} {versions[0]}`, and add it again"
        )
    return ExitStatus.UNUSABLE if skipped or damaged else ExitStatus.DONE


def _run_in(lake: Path, given: str) -> str:
    """The id of a recording of a lake by its beginning. Raises `UsageError` for none, or several."""
    runs = sorted(runs_in(lake))
    found = [run for run in runs if given and run.startswith(given)]
    if len(found) != 1:
        raise unknown("recording of the lake", given, found or runs)
    return found[0]


def _add_one(path: str, *, request: Request, folder: Path, lake: Path, app_version: str | None) -> Added:
    """Add one recording, unless it is there. Whatever goes wrong is part of the result, so that the others go on."""
    where = str(folder / path)
    try:
        check_recordings([where])
        trace = read_trace(where, request)
        run_id = identity_of(trace)
        if run_id is None:
            raise UnreadableRecording(f"{path} has neither a date nor a row, so it cannot be told from others")
        if not holds(lake, run_id):
            report = judge(trace, request, None)
            source, read_table = Source(trace, lambda: report), partial(recorded_rows, path=where)
            views = RecordingViews(source, read_table, request.redact, request.functions)
            add_to_lake(lake, run_id, views, Analysis(trace, None, report).measured_report(), app_version)
        return run_id, "", unreadable_tables(trace.run.tables)
    except Exception as error:  # one recording that breaks tracekit must not stop the rest
        return None, sentence_on(error, path, where), ()
