"""A lake: the views of many recordings as Parquet files that any reader of Parquet takes as they are.

`TABLE/device_model=…/os_version=…/target=…/RUN_ID.parquet`, no file where a view has no rows. A recording counts once
`runs/RUN_ID.parquet` is there, which is written last: a writer that dies leaves nothing that counts, and writers beside
one another write different files, or the same ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import numpy as np

from tracekit._version import __version__
from tracekit.columns import Codes, Column, constant
from tracekit.errors import TracekitError, UsageError, import_extra, refusals
from tracekit.named_files import read_file
from tracekit.query import columns as of
from tracekit.query.columns import SQL_TYPES, Cells, ViewRows, count
from tracekit.query.database import Database, RecordingViews, ViewCoverage, coverage_of, quoted
from tracekit.query.private import RAW, redacted
from tracekit.query.views import LAKE_KEY, VERSION, VIEWS, typed
from tracekit.recording.writing.files import staging_folder
from tracekit.report.choice import plain
from tracekit.report.lake_reports import MARK, REPORTS, RUNS as RUNS_FOLDER, is_lake, report_of
from tracekit.report.report import Report
from tracekit.report.serialize import to_json
from tracekit.trace.coverage import unreadable_tables

if TYPE_CHECKING:
    import duckdb

PARTS: Final = ("device_model", "os_version", "target")
"""Columns of `runs` that folders are named by, as Hive does."""
_OF_FOLDERS: Final = tuple(column for column in of.RUNS if column.name in (LAKE_KEY, *PARTS))
OF_RUN: Final = ("commit", "app_version", "start_date")
"""Further columns of `runs` in each view."""
SKIPPED: Final = "skipped"
_UNKNOWN: Final = "__HIVE_DEFAULT_PARTITION__"
_ADDING: Final = ".adding"
_LONGEST: Final = 255
"""Bytes of a name."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a lake."""

    holds: str
    columns: tuple[Column, ...]


TABLES: Final = {
    **{name: Table(view.holds, view.columns) for name, view in VIEWS.items()},
    RUNS_FOLDER: Table("the recordings of a lake: one row each", of.RUNS),
    SKIPPED: Table("recordings that could not be added to a lake", of.SKIPPED),
    "view_coverage": Table("what was recorded of each view, by recording", of.VIEW_COVERAGE),
}
"""By name; `recording` is only there for one recording, and the last three only in a lake."""
_OF_VIEWS: Final = tuple(name for name in VIEWS if name != "recording")
_NAMES: Final = (*_OF_VIEWS, RUNS_FOLDER, SKIPPED, "view_coverage")


def make_lake(lake: Path) -> None:
    """Make a folder a lake, unless it is one. Raises `TracekitError` where that cannot be, and without pyarrow."""
    _arrow()
    _check_place(lake)
    if is_lake(lake):
        _check_version(lake)
        return
    with refusals(f"write {lake}"):
        if lake.is_dir() and any(entry.name != _ADDING for entry in lake.iterdir()):
            raise UsageError(f"{lake} is a folder that is no lake; name a new or an empty one")
        with staging_folder(lake / _ADDING) as folder:
            new = folder / MARK
            new.write_text(json.dumps({"views_version": VERSION}) + "\n", encoding="ascii")
            new.replace(lake / MARK)


def _check_place(lake: Path) -> None:
    """Raise `UsageError` below a folder whose name would be a column of every row."""
    columns = {column.name for table in TABLES.values() for column in table.columns}
    for part in lake.resolve().parts:
        if "=" in part and part.partition("=")[0].lower() in columns:
            raise UsageError(f"{lake} lies below '{part}', which names a column of a lake; move it")


def _check_version(lake: Path) -> None:
    try:
        version = json.loads(read_file(lake / MARK, 1 << 16))["views_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise TracekitError(f'{lake / MARK} cannot be read; write {{"views_version": {VERSION}}} there') from None
    if version != VERSION:
        raise TracekitError(f"{lake} holds version {version} of the views, not {VERSION}; make a new lake")


def holds(lake: Path, run_id: str) -> bool:
    """Whether a recording is in a lake, whole."""
    return (lake / RUNS_FOLDER / f"{run_id}.parquet").exists()


def add_to_lake(lake: Path, run_id: str, views: RecordingViews, report: Report, app_version: str | None = None) -> None:
    """Add a recording. `report` is the one with measurements. Raises `TracekitError` without pyarrow, OSError."""
    held, entries = views.rows(_OF_VIEWS), []
    for name, rows in held.items():
        entry = coverage_of(VIEWS[name], count(rows), views.source)
        entries.append((name, entry.recorded, count(rows) if entry.recorded else None, entry.note))
    coverage = {"view_coverage": typed(entries, of.VIEW_COVERAGE)}
    held |= redacted(coverage, views.source.trace) if views.redact else coverage
    facts, address = report.recording, f"{REPORTS}/{run_id}.json"
    fitting: dict[str, Any] = {}
    for part in PARTS:
        value = getattr(facts, part)
        while value and len(_folder(part, value).encode()) > _LONGEST:
            # File systems have no room for its folder.
            value = f"{value[:-2]}…"
        fitting[part] = value
    facts = replace(facts, **fitting)
    place = "/".join(_folder(part, getattr(facts, part)) for part in PARTS)
    known_of_it = (getattr(facts, column.name) for column in of.RECORDING)
    unreadable = plain("; ".join(unreadable_tables(views.source.trace.run.tables))) or None
    run = (run_id, *known_of_it, facts.commit, app_version, unreadable, facts.redacted, address, __version__, VERSION)
    with staging_folder(lake / _ADDING) as folder:
        new: list[tuple[Path, Path]] = []
        for name, rows in held.items():
            path = lake / name / place / f"{run_id}.parquet"
            if count(rows):
                new.append((folder / name, path))
                _write(
                    new[-1][0], {**rows, LAKE_KEY: constant(run_id, count(rows))}, (*of.RUNS[:1], *TABLES[name].columns)
                )
            else:
                # A writer that died may have had rows there, by an earlier version.
                path.unlink(missing_ok=True)
        new.append((folder / REPORTS, lake / address))
        new[-1][0].write_text(to_json(report), encoding="utf-8")
        new.append((folder / RUNS_FOLDER, lake / RUNS_FOLDER / f"{run_id}.parquet"))
        _write(new[-1][0], typed([run], of.RUNS), of.RUNS)
        for written, path in new:
            path.parent.mkdir(parents=True, exist_ok=True)
            written.replace(path)


def remove_from_lake(lake: Path, run_id: str) -> None:
    """Remove a recording, its mark first: one that dies halfway leaves nothing that counts. Raises `TracekitError`."""
    with refusals(f"write {lake}"):
        (lake / RUNS_FOLDER / f"{run_id}.parquet").unlink()
        for path in (*lake.glob(f"*/**/{run_id}.parquet"), lake / REPORTS / f"{run_id}.json"):
            path.unlink(missing_ok=True)


def _folder(part: str, value: str | None) -> str:
    """The folder of a value, as readers of Hive's folders decode names."""
    text = "".join(char if char.isprintable() and not char.isascii() else quote(char, safe="") for char in value or "")
    return f"{part}={text or _UNKNOWN}"


def note_skipped(lake: Path, path: str, reason: str) -> None:
    """Keep why the recording at a path could not be added; without a reason, forget it. Raises OSError."""
    # The folder of it may name a user or a project.
    kept = lake / SKIPPED / f"{sha256(os.fsencode(Path(path).resolve())).hexdigest()[:32]}.parquet"
    if not reason:
        kept.unlink(missing_ok=True)
        return
    date = datetime.now(UTC).isoformat(timespec="seconds")
    kept.parent.mkdir(exist_ok=True)
    with staging_folder(lake / _ADDING) as folder:
        new = folder / SKIPPED
        name = Path(path).name
        row = (plain(name), plain(reason.replace(path, name)), date, __version__)
        _write(new, typed([row], of.SKIPPED), of.SKIPPED)
        new.replace(kept)


def _write(path: Path, rows: ViewRows, columns: Sequence[Column]) -> None:
    pa, parquet = _arrow()
    types = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
    schema = pa.schema([(column.name, types[SQL_TYPES[column.type]]) for column in columns])

    def cells(cells: Cells, type_: Any) -> Any:
        if isinstance(cells, Codes):
            return pa.array(cells.as_objects(), type_)
        values, null = (cells, None) if isinstance(cells, np.ndarray) else (cells.values, ~cells.known)
        return pa.array(values, type_, mask=null, from_pandas=True)

    arrays = [cells(rows[column.name], column.type) for column in schema]
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def _arrow() -> tuple[Any, Any]:
    needed = "a lake needs the package pyarrow"
    return import_extra("pyarrow", "lake", needed), import_extra("pyarrow.parquet", "lake", needed)


class LakeViews:
    """The views of all recordings of a lake, with columns of the run."""

    names: Collection[str] = _NAMES

    def __init__(self, lake: Path) -> None:
        _check_place(lake)
        _check_version(lake)
        self._lake = lake.resolve()
        self.folder: Path | None = self._lake

    def make(self, connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, ViewCoverage]:
        """Make views that read files when they are queried, and only those of the folders that a query asks for."""
        for name in names:
            if name.startswith(f"{RAW}."):
                raise UsageError(f"a lake holds no recorded tables; ask a recording for {name}")
            columns = TABLES[name].columns
            if name in (RUNS_FOLDER, SKIPPED):
                connection.execute(f"create view {name} as from {self._rows(name, '*', columns)}")
                continue
            selected = [
                *(f't."{column.name}"' for column in columns),
                f"t.{LAKE_KEY}",
                *(f't."{part}"' for part in PARTS),
            ]
            selected += [f"r.{column}" for column in OF_RUN]
            rows = self._rows(name, "*/*/*/*", (*columns, *_OF_FOLDERS))
            # What a writer that died left has no row in runs.
            joined = f"{rows} t join {self._rows(RUNS_FOLDER, '*', of.RUNS)} r using ({LAKE_KEY})"
            connection.execute(f"create view {name} as select {', '.join(selected)} from {joined}")  # noqa: S608
        return {name: self._coverage(connection, name) for name in names}

    def _rows(self, name: str, below: str, columns: Sequence[Column]) -> str:
        folder = self._lake / name
        if next(folder.glob(f"{below}.parquet"), None) is None:
            cells = ", ".join(f'null::{SQL_TYPES[column.type]} as "{column.name}"' for column in columns)
            return f"(select {cells} where false)"
        files = quoted(f"{escape(str(folder))}/{below}.parquet", "'")
        return f"read_parquet({files}, hive_partitioning = {below != '*'}, hive_types_autocast = false)"

    def _coverage(self, connection: duckdb.DuckDBPyConnection, name: str) -> ViewCoverage:
        """What of a view the recordings hold, with the commonest note of those without it and of those with it."""
        if name == SKIPPED:
            return ViewCoverage(name, True, "")
        entries = self._rows("view_coverage", "*/*/*/*", (*of.VIEW_COVERAGE, *of.RUNS[:1]))
        runs = self._rows(RUNS_FOLDER, "*", of.RUNS)
        query = (
            "select recorded, count(*), count(*) filter (note <> ''), mode(note) filter (note <> '') "  # noqa: S608
            f"from {entries} join {runs} using ({LAKE_KEY}) where view = ? or (? and view = 'activity') "
            "group by recorded order by recorded"
        )
        rows = connection.execute(query, [name, name not in _OF_VIEWS]).fetchall()
        if not rows:
            return ViewCoverage(name, False, "no recording in the lake has this view.")
        count = sum(recordings for _, recordings, *_ in rows)
        whose = ("not recorded by", "Of" if len(rows) > 1 else "of")
        notes = [
            f"{whose[recorded]} {told} of {count} recordings (view_coverage names them), as: {note}"
            for recorded, _, told, note in rows
            if told and name in _OF_VIEWS
        ]
        return ViewCoverage(name, rows[-1][0] or name not in _OF_VIEWS, " ".join(notes))


def reports_where(lake: Path, condition: str) -> list[str]:
    """Paths of the JSON reports of the recordings of a lake that meet a condition on `runs`, the earliest first. Raises
    `UsageError` for a condition that cannot be answered, and where none meets it."""
    query = f"select {LAKE_KEY} from runs where {condition} order by start_date, report"  # noqa: S608 - it can only read
    rows = Database(LakeViews(lake)).answer(query).rows
    if not rows:
        raise UsageError(f"no recording of {lake} meets: {condition}; see: tracekit sql {lake} 'from runs'")
    return [report_of(lake, run_id) for (run_id,) in rows]
