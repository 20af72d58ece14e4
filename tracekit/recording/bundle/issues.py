"""Run issues: what Instruments noted while it recorded.

TraceN.run/RunIssues.storedata is an SQLite database. It is read from memory, so that nothing is written beside it, and
none of the SQL that it may bring runs: no view, trigger, virtual table or computed column is accepted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Final, cast

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.files import BundleFiles

NOISE: Final = frozenset({"Data stream: Time Mapping"})
"""Issues that every recording has and that mean nothing."""
_DAMAGED: Final = "the file of run issues is damaged"
_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_MAX_CHARS: Final = 1_000
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: limits.MAX_ISSUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 1,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""What the engine may be asked for. The longest statement that Instruments stores has 212 characters."""
_SETTINGS: Final = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA query_only = ON",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
)
# The engine goes by the statement of an object alone, whatever its row says of name and type.
_OTHERS: Final = """
SELECT count(*) FROM main.sqlite_master WHERE coalesce(rootpage, 0) < 1 OR type NOT IN ('table', 'index') OR NOT (
sql IS NULL OR sql LIKE 'CREATE TABLE %' OR sql LIKE 'CREATE INDEX %' OR sql LIKE 'CREATE UNIQUE INDEX %')
"""
_COLUMNS: Final = "PRAGMA main.table_xinfo(ZISSUE)"
_QUERY: Final = """
SELECT substr(ZMESSAGE, 1, ?) FROM main.ZISSUE NOT INDEXED WHERE typeof(ZMESSAGE) = 'text' ORDER BY Z_PK LIMIT ?
"""


def read_issues(files: BundleFiles, run: int) -> tuple[str, ...]:
    """Messages of the issues of a run, without noise and repetitions.

    Raises `DamageError` for a file that is broken or missing: every run has one, with what Instruments lost.
    """
    path = f"Trace{run}.run/RunIssues.storedata"
    data = bytearray(files.read(path, limits.MAX_ISSUES_BYTES))
    if any(files.sizes.get(path + journal) for journal in ("-wal", "-journal")):
        raise DamageError("the file of run issues was not saved completely: its journal was left behind")
    if not data.startswith(_MAGIC) or len(data) < _HEADER_BYTES:
        raise DamageError("the file of run issues is not a database")
    # A file that was cut off has fewer pages than its header says; the engine would read the rest as if it were all.
    # Layout: sqlite.org/fileformat2.html, section 1.3. Writers before 2010 leave the number of pages unset.
    page, pages = int.from_bytes(data[16:18], "big"), int.from_bytes(data[28:32], "big")
    page = 65_536 if page == 1 else page
    if page < 512 or page & (page - 1):
        raise DamageError(_DAMAGED)
    if len(data) % page or (pages and len(data) < page * pages):
        raise DamageError("the file of run issues is cut off")
    # A database in memory has no journal beside it, and SQLite opens none that claims to have one.
    data[18:20] = b"\x01\x01"
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            # What the table of issues holds. Raises `DamageError` or an error of the engine.
            for limit, value in _LIMITS.items():
                database.setlimit(limit, value)
            # A class is called without a step of the interpreter, in which Ctrl-C would be raised and lost.
            database.set_progress_handler(cast("Callable[[], int]", object), limits.MAX_ISSUE_STEPS)
            database.deserialize(bytes(data))
            for setting in _SETTINGS:
                database.execute(setting)
            if database.execute(_OTHERS).fetchone()[0]:
                raise DamageError(_DAMAGED)
            columns = {row[1]: row[6] for row in database.execute(_COLUMNS)}
            if any(columns.values()) or not {"Z_PK", "ZMESSAGE"} <= columns.keys():
                raise DamageError(_DAMAGED)
            messages = [str(row[0]) for row in database.execute(_QUERY, (_MAX_CHARS, limits.MAX_ISSUES))]
    except (sqlite3.Error, MemoryError, ValueError) as error:
        # A ValueError is text that is no UTF-8, also in a message of the database engine.
        raise DamageError(_DAMAGED) from error
    return tuple(dict.fromkeys(message for message in messages if message not in NOISE))
