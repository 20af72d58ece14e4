"""Ctrl-C ends a long read of a bundle at once, whichever part is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import pytest

from support.choice import sweep_rest
from support.interrupts import AT_ONCE_S, interrupted_after_s
from tracekit.recording import open_recording
from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.files import find_bundle
from tracekit.recording.bundle.run_metadata import read_issues

# An interrupt may come while an object is finalized: Python reports it, and files that were being read, as ignored.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.mark.parametrize(("strings", "labels"), sweep_rest((1, 1_500), (60_000, 1)))
def test_strings_and_labels(made_bundle, made_table, tmp_path, strings, labels):
    table = made_table(
        "sample",
        "time:event-time name:string label:formatted-label",
        [(k, k % strings, k % labels) for k in range(20_000)],
    )
    made = made_bundle(
        [table],
        strings=[f"text {k}" for k in range(strings)],
        typed=[[("string", 0), ("uint64", k)] for k in range(labels)],
    )
    path = made.write(tmp_path / "run.trace")
    (read,) = open_recording(path).tables("sample")
    assert (read.rows, read.reason) == (20_000, "")
    assert interrupted_after_s(lambda: open_recording(path).tables("sample")) < AT_ONCE_S


@pytest.mark.sweep
def test_run_issues(made_bundle, made_table, tmp_path):
    """The engine sorts in one step, which its limits keep short."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE ZISSUE (Z_PK INTEGER, ZMESSAGE VARCHAR)")
        database.executemany("INSERT INTO ZISSUE VALUES (?, ?)", ((-k, f"{k} " + "x" * 400) for k in range(30_000)))
        database.commit()
        data = database.serialize()
    table = made_table("sample", "time:event-time", [(1,)])
    made = made_bundle([table], replace={"Trace1.run/RunIssues.storedata": data})
    files = find_bundle([made.write(tmp_path / "run.trace")])
    assert files is not None

    def read() -> None:
        with suppress(DamageError):
            read_issues(files, 1)

    assert interrupted_after_s(read) < AT_ONCE_S
