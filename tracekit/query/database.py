"""The database that answers queries: DuckDB without files, network, settings and extensions, in limits of time and
memory, over views that are made when a query first reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from sys import platform
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np

from tracekit.characters import lower_first
from tracekit.columns import Codes
from tracekit.errors import UsageError, import_extra
from tracekit.query.columns import Cells, ViewRows, count
from tracekit.query.private import RAW, redacted, views_read, without_functions
from tracekit.query.views import LAKE_KEY, VIEWS, Source, View
from tracekit.recording.table import TableState
from tracekit.report.operations import UNVALIDATED_WORDS
from tracekit.trace.coverage import stacks_coverage
from tracekit.trace.instruments.catalogue import CALL_STACKS, CORE_ML
from tracekit.trace.requests.frame import UNVALIDATED
from tracekit.units import format_count, format_names

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")

MEMORY: Final = "2GB"
MEMORY_BYTES: Final = 2 << 30
"""The same, of all that comes while a query runs: texts and lists lie outside the limit of DuckDB."""
SECONDS: Final = 60.0
"""What a query may take unless something else is asked for."""

_TOO_LONG: Final = "the query took longer than {:g} s; ask for less, or allow more with --query-timeout"
_TOO_LARGE: Final = f"the query needs more than {MEMORY} of memory; ask for fewer rows or aggregate them"
_TOO_WIDE: Final = "a row of the answer has more than 16 MB; ask for less of it"
_HEEDED_S: Final = 1.0
"""How long an interrupted query may go on: DuckDB looks for that between rows, and one row may take minutes."""
_LOOK_S: Final = 0.02
MOST_CELLS: Final = 20_000_000
"""Of an answer: as objects of Python they lie outside the limit of DuckDB."""
MOST_ROW_BYTES: Final = 16 << 20
"""Of the texts and lists of one row: what is made of them in Python cannot be interrupted."""
_ROWS: Final = 16
"""So many are taken at a time."""
_FIXED: Final = re.compile(
    r"BOOLEAN|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\([\d,]+\)|DATE|TIME[A-Z ]*"
)
"""Types whose cells have one size; others are measured as texts."""
_TOO_MANY: Final = (
    "the answer has more than {:,} rows of {}; ask for fewer (limit {}), or write them as Parquet (-o rows.parquet)"
)

_LOCKED: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # Objects are texts, without a look at some of them.
    "pandas_analyze_sample": 0,
    "max_temp_directory_size": "0GB",
    # Files in that folder could be read.
    "temp_directory": "",
    "memory_limit": MEMORY,
}
"""Nor is another Python object, or more memory, reached from a query."""

MACROS: Final[Mapping[str, tuple[str, str]]] = {
    "ms(ns)": ("ns / 1e6", "nanoseconds as milliseconds"),
    "pct(x, p)": ("quantile_cont(x, p)", "the quantile p of x as reports work it out: pct(duration_ns, 0.95)"),
    "overlap_ns(a_start, a_end, b_start, b_end)": (
        "greatest(0, least(a_end, b_end) - greatest(a_start, b_start))",
        "how long two intervals overlap",
    ),
    "by_model(view)": (
        "table select model, count(*) as rows, sum(duration_ns) as total_ns, median(duration_ns) as p50_ns, "
        "quantile_cont(duration_ns, 0.95) as p95_ns, max(duration_ns) as max_ns "
        "from query_table(view) group by model order by total_ns desc",
        "count, total and percentiles of the durations of a view, for each model: from by_model('predictions')",
    ),
    "with_prediction(view)": (
        "table select e.*, p.start_ns as prediction_start_ns, p.duration_ns as prediction_duration_ns, "
        "p.model as prediction_model from query_table(view) e left join query_table('predictions') p "
        "on e.prediction_id = p.id{and_same_run}",
        "rows of a view with the prediction that contains each: from with_prediction('gpu')",
    ),
}
"""Signature, definition and use of each macro."""


@dataclass(frozen=True, slots=True)
class ViewCoverage:
    """What has to be known about the rows of a view."""

    view: str
    recorded: bool
    """Whether the absence of a row means that nothing happened."""
    note: str
    """What is missing and how to get it; empty where nothing is."""


def coverage_of(view: View, rows: int, source: Source) -> ViewCoverage:
    """Whether a view with so many rows holds what happened."""
    trace = source.trace
    stacks = {CALL_STACKS: stacks_coverage(trace)} if CALL_STACKS in view.instruments else {}
    entries = [stacks.get(entry.instrument, entry) for entry in trace.coverage if entry.instrument in view.instruments]
    # What was recorded has advice where a part of it is damaged.
    lacking = [entry for entry in entries if not entry.recorded or entry.advice]
    gaps = [coverage for coverage in lacking if coverage.state is not TableState.ROWS]
    notes = [f"{coverage.conclusion} {coverage.advice}".strip() for coverage in lacking]
    recorded = len(gaps) < len(entries) or not entries
    if rows and gaps and CORE_ML in view.instruments:
        damage = notes if gaps[0].state is TableState.UNREADABLE else []
        where = "" if any(column.name == "origin" for column in view.columns) else " of predictions"
        note = f"Core ML's own rows are missing; these calls are inferred, see the column origin{where}."
        notes, recorded = [note, *damage], True
    if rows and gaps and view.name == "requests":
        # Another instrument shows the requests of other runtimes, which most apps do not have.
        runtimes = format_names([*dict.fromkeys(trace.requests.runtime.as_objects())])
        notes.insert(0, f"All are of {runtimes}. If the app uses another runtime:")
    if view.name in ("requests", "phases"):
        of = UNVALIDATED.intersection((trace.phases if view.name == "phases" else trace.requests).runtime.held())
        notes[:0] = [f"{runtime}: {UNVALIDATED_WORDS}." for runtime in sorted(of)]
    if view.name in ("findings", "evidence"):
        summary = source.report().summary
        recorded = summary.evaluated
        if summary.not_evaluated:
            notes.append(f"{format_count(summary.not_evaluated, 'check')} not evaluated: see the view checks.")
    return ViewCoverage(view.name, recorded, " ".join(notes))


def notes_of(coverage: Iterable[ViewCoverage]) -> list[str]:
    """A sentence for each view with something missing."""
    return [f"{view.view}: {view.note}" for view in coverage if view.note]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gives."""

    query: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    coverage: tuple[ViewCoverage, ...]
    """Of each view that the query reads."""


class Views(Protocol):
    """Where the views of a database come from."""

    names: Collection[str]
    folder: Path | None
    """The only folder that queries may read; None: none."""

    def make(self, connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, ViewCoverage]:
        """Make views, recorded tables named `raw.schema`, and say what of each was recorded."""


@dataclass(slots=True)
class Database:
    """Answers queries over views."""

    views: Views
    seconds: float = SECONDS
    _connection: duckdb.DuckDBPyConnection = field(init=False)
    _known: dict[str, ViewCoverage] = field(init=False)
    _ended: Event = field(init=False)

    def __post_init__(self) -> None:
        package, folder = import_extra("duckdb", "sql", "SQL needs the package duckdb"), self.views.folder
        self._connection, self._known, self._ended = package.connect(config=_LOCKED), {}, Event()
        if folder is not None:
            # Patterns are compared as they are written.
            allowed = ", ".join(quoted(f"{place}/", "'") for place in (folder, escape(str(folder))))
            self._connection.execute(f"set allowed_directories = [{allowed}]")
        self._connection.execute("set enable_external_access = false; set lock_configuration = true")
        same_run = "" if folder is None else f" and e.{LAKE_KEY} = p.{LAKE_KEY}"
        macros = [
            f"create macro {signature} as {body.replace('{and_same_run}', same_run)}"
            for signature, (body, _) in MACROS.items()
        ]
        self._connection.execute(";".join([f"create schema {RAW}", *macros]))

    def answer(self, query: str, most: int | None = None) -> Answer:
        """The rows of a query, or the first `most`. Raises `UsageError` for one without an answer, or that writes."""
        with self._answering(query) as coverage:

            def fetch(ended: Event) -> Answer:
                asked = self._connection.sql(query)
                columns, types = tuple(asked.columns), tuple(map(str, asked.types))
                limit = MOST_CELLS // max(1, len(columns)) if most is None else most
                result, rows = self._connection.execute(self._measured(query, types)), list[tuple[Any, ...]]()
                while not ended.is_set() and (more := result.fetchmany(min(_ROWS, limit + 1 - len(rows)))):
                    rows += more
                if most is None and len(rows) > limit:
                    held = format_count(len(columns), "column")
                    raise UsageError(_TOO_MANY.format(limit, held, limit))
                return Answer(query, columns, types, rows[:limit], coverage)

            return self._within_limits(fetch)

    def arrow(self, query: str) -> tuple[Any, tuple[ViewCoverage, ...]]:
        """The rows of a query as an Arrow table. Raises `UsageError` as `answer` does."""
        with self._answering(query) as coverage:
            return self._within_limits(lambda _: self._connection.sql(query).to_arrow_table()), coverage

    def counted(self, view: str) -> tuple[ViewCoverage, int]:
        """What was recorded of a view, and its rows."""
        answer = self.answer(f"select count(*) from {view}")  # noqa: S608 - it can only read
        return answer.coverage[0], int(answer.rows[0][0])

    def interrupt(self) -> None:
        """End the query that another thread waits for; it raises `UsageError` there."""
        self._ended.set()

    @contextmanager
    def _answering(self, query: str) -> Iterator[tuple[ViewCoverage, ...]]:
        """With what of the views was recorded that the query reads; errors of DuckDB as ours."""
        import duckdb

        self._ended.clear()
        try:
            # A lake asks its files for that, a recording is judged.
            ask = self._within_limits if self.views.folder else lambda work: work(self._ended)
            yield ask(lambda _: self._made(query))
        except duckdb.InterruptException as error:
            raise UsageError(_TOO_LONG.format(self.seconds)) from error
        except RecursionError:
            raise UsageError("the query is nested too deep; name its parts: with part as (…)") from None
        except duckdb.OutOfMemoryException as error:
            raise UsageError(_TOO_LARGE) from error
        except duckdb.Error as error:
            # Without its own class of error, the line that it drew, and settings to change.
            message = re.split(r'\nLINE |Use "?SET ', str(error))[0].removeprefix("Invalid Input Error: ")
            raise UsageError(lower_first(" ".join(message.split(" Error: ", 1)[-1].split()))) from error

    def _within_limits(self, work: Callable[[Event], Result]) -> Result:
        """What work in another thread gives: this one stays awake for signals, for `interrupt`, for the time and for
        the memory of the process. Work that then does not end is left to itself, with its connection."""
        done, ended = Future[Result](), self._ended

        def run() -> None:
            try:
                done.set_result(work(ended))
            except BaseException as error:
                done.set_exception(error)

        thread = Thread(target=run, name="tracekit query", daemon=True)
        until, most = monotonic() + self.seconds, _peak_bytes() + MEMORY_BYTES
        thread.start()
        try:
            while not wait([done], _LOOK_S).done:
                if ended.is_set() or monotonic() > until:
                    raise UsageError(_TOO_LONG.format(self.seconds))
                if _peak_bytes() > most:
                    raise UsageError(_TOO_LARGE)
        except BaseException:
            ended.set()
            self._connection.interrupt()
            if not wait([done], _HEEDED_S).done:
                self.__post_init__()
            raise
        # It would be the last to hold the connection, and ending that aborts once Python has ended.
        thread.join()
        return done.result()

    def _measured(self, query: str, types: Sequence[str]) -> str:
        """The query with an error for a row that is too large, where its types allow one."""
        names = [f"c{number}" for number in range(len(types))]
        large = [name for name, type_ in zip(names, types, strict=True) if not _FIXED.fullmatch(type_)]
        if not large:
            return query
        [(text,)] = self._connection.execute("select json_deserialize_sql(json_serialize_sql(?))", [query]).fetchall()
        size = " + ".join(f"coalesce(strlen({name}::varchar), 0)" for name in large)
        first = f"case when {size} > {MOST_ROW_BYTES} then error({quoted(_TOO_WIDE, chr(39))}) else c0 end"
        return f"select {', '.join([first, *names[1:]])} from ({text}) t({', '.join(names)})"  # noqa: S608 - it can only read

    def _made(self, query: str) -> tuple[ViewCoverage, ...]:
        """Make the views that a query reads, and say what of them was recorded."""
        read = views_read(self._connection, query, self.views.names)
        self._known |= self.views.make(self._connection, [name for name in read if name not in self._known])
        return tuple(self._known[name] for name in read)


@dataclass(slots=True)
class RecordingViews:
    """The views of one recording."""

    source: Source
    read_table: Callable[[str], ViewRows]
    """Rows of the recorded tables of a schema. Raises `TracekitError` for one that is not there."""
    redact: bool = True
    functions: bool = True
    names: Collection[str] = field(init=False, default=tuple(VIEWS))
    folder: Path | None = field(init=False, default=None)

    def make(self, connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, ViewCoverage]:
        """Register the columns of each view."""
        made = {}
        for name, rows in self.rows(names).items():
            connection.register(f"rows of {name}", {column: _array(cells) for column, cells in rows.items()})
            full = name if name in VIEWS else f"{RAW}.{quoted(name.removeprefix(f'{RAW}.'))}"
            connection.execute(f"create view {full} as from {quoted(f'rows of {name}')}")
            is_view = name in VIEWS
            made[name] = coverage_of(VIEWS[name], count(rows), self.source) if is_view else ViewCoverage(name, True, "")
        return made

    def rows(self, names: Sequence[str]) -> dict[str, ViewRows]:
        """The rows of views without what may not be shown, names replaced alike in all of them."""
        rows = {
            name: VIEWS[name].rows(self.source) if name in VIEWS else self.read_table(name.removeprefix(f"{RAW}."))
            for name in names
        }
        if not self.functions and "stacks" in rows:
            rows["stacks"] = without_functions(rows["stacks"])
        return redacted(rows, self.source.trace) if self.redact and rows else rows


def _array(cells: Cells) -> Any:
    """The cells as DuckDB reads them in place. It takes arrays of texts, and none of codes; a text that stands in every
    row is held once."""
    if isinstance(cells, np.ndarray):
        return cells
    if not isinstance(cells, Codes):
        return np.ma.masked_array(cells.values, ~cells.known)
    is_one = len(cells) and (cells.codes == cells.codes[0]).all()
    return np.broadcast_to(cells.take(slice(1)).as_objects(), len(cells)) if is_one else cells.as_objects()


def quoted(text: str, mark: str = '"') -> str:
    """A name as SQL writes it, or a text, which has the other `mark`."""
    return mark + text.replace(mark, mark * 2) + mark


def _peak_bytes() -> int:
    """The most memory that this process ever had; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform == "darwin" else peak << 10
