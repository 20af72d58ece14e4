"""Facts about a run that lie outside of its tables."""

from __future__ import annotations

import io
import sqlite3
import struct
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tracekit.recording import open_recording
from tracekit.recording.bundle.run_metadata import iso_date
from tracekit.recording.table import Process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def member(start: float, end: float, names: str = "", *, mark: int = 0x83) -> bytes:
    """An instrument's file of a run: marks at bytes 76 and 92, the dates behind them."""
    data = bytearray(b"\x04\x0bstreamtyped".ljust(120, b"\0"))
    data[76], data[92] = mark, 0x83
    struct.pack_into("<d", data, 77, start)
    struct.pack_into("<d", data, 93, end)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("1.run", bytes(data) + names.encode())
    return stream.getvalue()


def database(tmp_path: Path, statements: list[str], messages: Sequence[str] = ()) -> bytes:
    """A database as Core Data leaves it, with a journal beside it."""
    path = tmp_path / "issues.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        for statement in statements:
            connection.execute(statement)
        if messages:
            connection.executemany(
                "INSERT INTO ZISSUE (ZTYPE, ZMESSAGE) VALUES (2, ?)", [(message,) for message in messages]
            )
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


TABLE = "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, ZTYPE INTEGER, ZMESSAGE VARCHAR)"


@pytest.fixture
def run(made_bundle, made_table, tmp_path):
    """What is known of the run of a bundle with these further files."""

    def described(**changes):
        tables = changes.pop("tables", [made_table("sample", "time:event-time", [(1,)])])
        made = made_bundle(tables, replace=changes.pop("replace", {}), **changes)
        return open_recording(made.write(tmp_path / "run.trace"))

    return described


def test_the_span_is_that_of_the_instruments(run):
    files = {f"instrument_data/{name}/run_data/1.run.zip": member(1_755_535_190.5, 1_755_535_195.0) for name in "ab"}
    run_info = run(replace=files).run
    assert (run_info.start_date, run_info.end_date) == (
        "2025-08-18T16:39:50.500+00:00",
        "2025-08-18T16:39:55.000+00:00",
    )
    assert run_info.duration_ns == 4_500_000_000
    assert run_info.template is None


@pytest.mark.parametrize(
    "files",
    [
        {"a": member(2.0, 1.0)},
        {"a": member(1.0, 2.0, mark=0)},
        {"a": member(1.0, float("nan"))},
        {"a": member(1.0, 2.0), "b": member(1.0, 3.0)},
        {"a": b"junk"},
        {"a": member(1.0, 1e300)},
    ],
)
def test_a_span_that_is_in_doubt_is_unknown(run, files):
    run_info = run(replace={f"instrument_data/{name}/run_data/1.run.zip": data for name, data in files.items()}).run
    assert (run_info.start_date, run_info.end_date, run_info.duration_ns) == (None, None, None)


@pytest.mark.parametrize(
    ("engine", "others", "template"),
    [
        ("ane-hw-intervals-internal", (), "Core ML"),
        ("ane-hw-intervals-internal", ("other",), None),
        # No such bundle of Xcode 27 was seen, and its Core AI template has the tables of all five instruments too.
        ("ane-hw-intervals", (), None),
    ],
)
def test_the_template_is_told_by_its_five_instruments(run, engine, others, template):
    names = ("coreml-os-signpost", engine, "metal-gpu-intervals", "metal-application", "time-profile", *others)
    files = {f"instrument_data/{name}/run_data/1.run.zip": member(1.0, 2.0, name) for name in names}
    assert run(replace=files).run.template == template


def test_the_wall_clock_comes_from_the_table_that_ties_the_clocks(run, made_table):
    zero = (1 << 63) - 1
    clock = made_table("time-info", "time:event-time trace-start-time:time-since-epoch", [(1, zero + 1_000_000_000)])
    assert run(tables=[clock]).run.start_date == "1970-01-01T00:00:01.000+00:00"


def test_target_and_system_come_from_the_configuration(run, made_table, archive):
    tables = [made_table("process-info", "time:event-time pid process process-name:string", [(1, 77, 0, 1)])]
    root = {"modelingParameters": {"target-pid": 77}, "bindingParameters": {"osx-version": 150301}}
    files = {"corespace/run1/core/core-config/exposedTableInfo.plist": archive.dump(root)}
    run_info = run(tables=tables, strings=["", "app"], arrays=[[77, 0]], replace=files).run
    assert run_info.target.process == Process("app", 77)
    assert (run_info.device.platform, run_info.device.os_version) == ("macOS", "15.3.1")


def test_run_issues_are_read_without_noise_from_a_database_with_a_journal(run, tmp_path):
    messages = ["Data stream: Time Mapping", "Lost events", "Lost events", "Late"]
    data = database(tmp_path, [TABLE], messages)
    assert data[18:20] == b"\x02\x02"
    recording = run(replace={"Trace1.run/RunIssues.storedata": data})
    assert recording.run.issues == ("Lost events", "Late")


ENDLESS = (
    "CREATE VIEW ZISSUE AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS Z_PK, 'x' AS ZMESSAGE FROM n"
)


@pytest.mark.parametrize(
    ("statements", "messages"),
    [(["CREATE TABLE t (a)"], []), ([ENDLESS, "CREATE TABLE t (a)"], []), ([TABLE], ["Lost events"])],
    ids=["no issues", "no end", "no text"],
)
def test_a_database_of_no_readable_issues_is_told(run, tmp_path, statements, messages):
    data = database(tmp_path, statements, messages).replace(b"Lost events", b"Lost \xff\xff\xff\xff\xff\xff")
    recording = run(replace={"Trace1.run/RunIssues.storedata": data})
    assert recording.run.issues is None
    assert "issues of run 1 are unknown: the file of run issues is damaged" in recording.contents.notes


def test_run_information_comes_from_the_template(run, archive, made_table):
    info = {
        "_templateName": "Core ML",
        "_instrumentVersion": "16.0 (16F6)",
        "_targetOperatingSystem": "15.6 (24G84)",
        "_targetModel": "Mac",
        "_targetPlatform": "macOS",
        "_targetProcessName": "app",
        "_targetProcessPid": "77",
        "_targetExitStatus": "3",
        "_endReason": "Target app exited",
        "_recordingMode": "Deferred",
        "_timeLimit": ("NSMutableString", {"NS.string": "12 hours"}),
        "_hostName": "$null",
    }
    one = {
        "runInfo": ("XRRunInfo", info),
        "runningTime": 2_000_000_000,
        "startTime": 1_000_000_000,
        "processDatas": [{"coreValueSignature": 1, "displayName": "app"}],
        "threadsByTID": archive.numbered({5: {"coreValueSignature": 2, "preferredName": "Main Thread  0x5"}}),
    }
    root = ("XRRunListData", {"$0": [1], "$1": {1: one, 9: {}}, "$2": 2})
    tables = [made_table("sample", "time:event-time thread", [(1, 2)])]
    files = {"form.template": archive.dump(root, "com.apple.xray.run.data")}
    recording = run(tables=tables, arrays=[[0, 0], [77, 0], [5, 1]], replace=files)
    run_info = recording.run
    assert (run_info.template, run_info.instruments_version) == ("Core ML", "16.0 (16F6)")
    assert (run_info.device.platform, run_info.device.model, run_info.device.os_version) == (
        "macOS",
        "Mac",
        "15.6 (24G84)",
    )
    assert (run_info.target.process, run_info.target.termination_reason) == (Process("app", 77), "exit(3)")
    assert (run_info.end_reason, run_info.recording_mode, run_info.time_limit) == (
        "Target app exited",
        "Deferred",
        "12 hours",
    )
    assert (run_info.start_date, run_info.duration_ns, run_info.host) == (
        "1970-01-01T00:00:01.000+00:00",
        2_000_000_000,
        None,
    )
    assert str(recording.tables("sample")[0].column("thread").item(0)) == "Main Thread (0x5) (app, pid: 77)"


def test_broken_run_information_is_told_and_the_rest_reads(run):
    recording = run(replace={"form.template": b"bplist00 junk"})
    assert "run information is unknown: 'form.template' is not a readable property list" in recording.contents.notes
    assert recording.tables("sample")[0].rows == 1


def information(archive, start: int, duration: int, pid: str) -> bytes:
    info = ("XRRunInfo", {"_targetProcessName": "app", "_targetProcessPid": pid})
    one = {"runInfo": info, "runningTime": duration, "startTime": start}
    return archive.dump(("XRRunListData", {"$0": [1], "$1": {1: one}, "$2": 2}), "com.apple.xray.run.data")


@pytest.mark.parametrize(
    ("start", "duration", "pid", "message"),
    [
        (1_000_000_000, 2_000_000_001, "77", ""),
        (1_000_000_000, 2_000_131_072, "77", "different times for run 1"),
        (1_004_194_304, 2_000_000_000, "77", "different times for run 1"),
        (1_000_000_000, 2_000_000_000, "73", "the number 73, and the configuration 77"),
    ],
)
def test_run_information_that_others_contradict_is_not_believed(run, archive, start, duration, pid, message):
    """One bit of `form.template` differs in each; it has no checksum, and the others have."""
    files = {f"instrument_data/{name}/run_data/1.run.zip": member(1.0, 3.0) for name in "ab"}
    root = {"modelingParameters": {"target-pid": 77}, "bindingParameters": {}}
    files["corespace/run1/core/core-config/exposedTableInfo.plist"] = archive.dump(root)
    files["form.template"] = information(archive, start, duration, pid)
    recording = run(replace=files)
    run_info = recording.run
    assert (run_info.start_date, run_info.duration_ns // 1_000) == ("1970-01-01T00:00:01.000+00:00", 2_000_000)
    assert run_info.target.process.pid == 77
    notes = [note for note in recording.contents.notes if "so one of them is damaged" in note]
    assert [message in note for note in notes] == ([True] if message else [])


def test_a_clock_that_the_instruments_contradict_is_not_believed(run, made_table):
    zero = (1 << 63) - 1
    clock = made_table("time-info", "time:event-time trace-start-time:time-since-epoch", [(1, zero + 5_000_000_000)])
    recording = run(tables=[clock], replace={"instrument_data/a/run_data/1.run.zip": member(1.0, 3.0)})
    assert recording.run.start_date == "1970-01-01T00:00:01.000+00:00"
    assert any("time-info and the files of the instruments give different" in note for note in recording.contents.notes)


def test_lost_parts_of_a_run_are_told(run):
    recording = run(replace={"instrument_data/a/run_data/1.run.zip": b"PK", "Trace2.run/RunIssues.storedata": b""})
    assert set(recording.contents.notes) >= {
        "instruments of run 1 whose files cannot be read: 1",
        "issues of run 1 are unknown: 'Trace1.run/RunIssues.storedata' is missing",
        "the bundle has no readable list of tables for run 2, which was ignored",
    }


def test_a_table_that_turns_out_to_be_damaged_is_so_in_the_list(run, made_table):
    recording = run(
        tables=[
            made_table("sample", "time:event-time name:string", [(1, 9)]),
            made_table("good", "time:event-time", [(1,)]),
        ]
    )
    assert [entry.state for entry in recording.run.tables] == ["rows", "rows"]
    (table,) = recording.tables("sample")
    damaged, good = recording.run.tables
    assert (damaged.state, damaged.rows, damaged.reason) == ("unreadable", None, table.reason)
    assert good.state == "rows"


@pytest.mark.parametrize(
    ("since", "shown"),
    [
        (None, None),
        (-1, None),
        (10**30, None),
        (0, "1970-01-01T00:00:00.000+00:00"),
        (999_600_000, "1970-01-01T00:00:01.000+00:00"),
    ],
)
def test_dates_are_rounded_to_the_millisecond(since, shown):
    assert iso_date(since) == shown
