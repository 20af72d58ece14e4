"""Run issues: what Instruments noted while it recorded.

TraceN.run/RunIssues.storedata is an SQLite database. It is read from memory, so that nothing is written beside it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

from tracekit.recording.bundle import limits
from tracekit.recording.bundle.damage import DamageError

if TYPE_CHECKING:
    from tracekit.recording.bundle.files import BundleFiles

NOISE: Final = frozenset({"Data stream: Time Mapping"})
"""Issues that every recording has and that mean nothing."""
_MAGIC: Final = b"SQLite format 3\x00"
_QUERY: Final = "SELECT ZMESSAGE FROM ZISSUE WHERE typeof(ZMESSAGE) = 'text' ORDER BY Z_PK LIMIT ?"
_MAX_CHARS: Final = 1_000
_STEPS: Final = 1_000_000
"""Instructions of the database engine after which a query is given up; a real one needs some hundred."""


def read_issues(files: BundleFiles, run: int) -> tuple[str, ...]:
    """Messages of the issues of a run, without noise and repetitions.

    Raises `DamageError` for a file that is broken or missing: every run has one, and Instruments notes in it what it
    lost.
    """
    path = f"Trace{run}.run/RunIssues.storedata"
    data = bytearray(files.read(path, limits.MAX_ISSUES_BYTES))
    if not data.startswith(_MAGIC) or len(data) < 100:
        raise DamageError("the file of run issues is no database")
    # A database in memory has no journal beside it, and SQLite opens none that claims to have one.
    data[18:20] = b"\x01\x01"
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(bytes(data))
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_progress_handler(lambda: 1, _STEPS)
            messages = [str(row[0])[:_MAX_CHARS] for row in database.execute(_QUERY, (limits.MAX_ISSUES,))]
    except (sqlite3.Error, MemoryError, ValueError) as error:
        # A ValueError is text that is no UTF-8, also in a message of the database engine.
        raise DamageError("the file of run issues is damaged") from error
    return tuple(dict.fromkeys(message for message in messages if message not in NOISE))
