"""What is known about a run, without its tables.

`form.template` is the keyed archive that holds everything a table of contents says of a run; it is missing from bundles
that were stored without it. Span, target, operating system and template are known without it too. Device names,
arguments and the environment are private; the environment is not read.
"""

from __future__ import annotations

import io
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from tracekit.errors import UnreadableRecording
from tracekit.recording import archives
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import KeyedArchive, read_archive
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.values import Names
from tracekit.recording.contents import Device, Run, Target
from tracekit.recording.table import Process

PATH: Final = "form.template"
NO_REFERENCE: Final = 0xFFFF_FFFF
"""Reference of a process that no table refers to."""
_SPAN: Final = struct.Struct("<xd7xxd")
_SPAN_AT: Final = 76
"""Offset of the mark before the start in an archived `XRRun`. Same in all 53 archives of modern bundles."""
_MARK: Final = 0x83
_STREAM: Final = b"\x04\x0bstreamtyped"
_CORE_ML: Final = (
    b"coreml-os-signpost",
    b"ane-hw-intervals-internal",
    b"metal-gpu-intervals",
    b"metal-application",
    b"time-profile",
)
"""A table of each instrument of the Core ML template, which consists of exactly these five. Instruments 16.0.

From Xcode 27 on the template is not inferred: the table of the Neural Engine has another name there, no bundle was
seen, and its Core AI template also has tables of Core ML and of Metal Application.
"""
_LATEST_S: Final = 32_503_680_000.0
"""Year 3000, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class RunInformation:
    """What the archive states of one run."""

    run: Run
    """Without dates, issues and tables."""
    names: Names = field(default_factory=Names)
    start_ns: int | None = None
    """ns since 1970."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """What the files of a run's instruments state."""

    start_ns: int | None = None
    """ns since 1970."""
    duration_ns: int | None = None
    template: str | None = None
    damaged: int = 0
    """Files that cannot be read."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the configuration of the device states."""

    target_pid: int | None = None
    platform: str | None = None
    os_version: str | None = None


def read_information(files: BundleFiles) -> dict[int, RunInformation]:
    """Information by number of the run; empty where the file is missing. Raises `DamageError` for a broken file."""
    if PATH not in files.sizes:
        return {}
    archive = read_archive(files.read(PATH, limits.MAX_TEMPLATE_BYTES), f"'{PATH}'")
    listed = archive.mapping(archive.top.get("com.apple.xray.run.data"))
    runs = archive.mapping(listed.get("$1"))
    information = {}
    for number, reference in runs.items():
        run = archive.mapping(reference)
        if isinstance(number, int) and archive.value(run.get("runInfo")) is not None:
            information[number] = _information(archive, number, run)
    return information


def _information(archive: KeyedArchive, number: int, run: dict[object, object]) -> RunInformation:
    info = archive.mapping(run.get("runInfo"))

    def text(key: str) -> str | None:
        return archive.text(info.get(key))

    status = text("_targetExitStatus")
    name, pid = archive.text(info.get("_targetProcessName")), archive.number(info.get("_targetProcessPid"))
    recorded = Run(
        number,
        device=_device(archive, info, "_target") or Device(),
        host=_device(archive, info, "_host"),
        target=Target(
            process=None if name is None and pid is None else Process(name or f"pid {pid}", pid),
            arguments=text("_arguments"),
            termination_reason=None if status is None else f"exit({status})",
        ),
        duration_ns=archive.number(run.get("runningTime")),
        end_reason=text("_endReason"),
        instruments_version=text("_instrumentVersion"),
        # A recording that was saved in Instruments names its own file.
        template=None if text("_templateName") == PATH.partition(".")[0] else text("_templateName"),
        recording_mode=text("_recordingMode"),
        time_limit=text("_timeLimit"),
    )

    # Names of processes and main threads by reference: `coreValueSignature` is the reference of a shared array.
    def name_pairs(items: Iterable[object], key: str) -> Iterator[tuple[int, str]]:
        for item in items:
            entry = archive.mapping(item)
            reference, name = archive.number(entry.get("coreValueSignature")), archive.text(entry.get(key))
            if reference is not None and name is not None:
                yield reference, name

    processes, threads = run.get("processDatas"), run.get("threadsByTID")
    processes = archive.items(processes) if archive.value(processes) is not None else ()
    threads = archive.mapping(threads).values() if archive.value(threads) is not None else ()
    names = dict(name_pairs(processes, "displayName"))
    names.pop(NO_REFERENCE, None)
    main = (reference for reference, name in name_pairs(threads, "preferredName") if name.startswith("Main Thread"))
    return RunInformation(recorded, Names(names, {}, set(main)), archive.number(run.get("startTime")))


def _device(archive: KeyedArchive, info: dict[object, object], side: str) -> Device | None:
    texts = [archive.text(info.get(side + key)) for key in ("Platform", "Model", "OperatingSystem", "Name", "UUID")]
    return Device(*texts) if any(texts) else None


def read_instruments(files: BundleFiles, run: int) -> Instruments:
    """Span and template of a run from its instruments' files; those that cannot be read are passed over."""
    members = []
    damaged = 0
    for instrument in files.children("instrument_data"):
        path = f"instrument_data/{instrument}/run_data/{run}.run.zip"
        if path in files.sizes:
            try:
                members.append(_member(files.read(path, limits.MAX_DESCRIPTION_BYTES)))
            except DamageError:
                damaged += 1
    spans = {span for member in members if (span := _span(member))}
    is_core_ml = len(members) == len(_CORE_ML) and all(
        sum(name in member for member in members) == 1 for name in _CORE_ML
    )
    template = "Core ML" if is_core_ml else None
    if len(spans) != 1:
        # All instruments of a run agree; where they do not, neither is used.
        return Instruments(template=template, damaged=damaged)
    start, end = spans.pop()
    return Instruments(round(start * 1e9), round((end - start) * 1e9), template, damaged)


def read_configuration(files: BundleFiles, core: str) -> Configuration:
    """Configuration of a run; empty where the file is missing. Raises `DamageError` for a broken file."""
    path = f"{core}/core-config/exposedTableInfo.plist"
    if path not in files.sizes:
        return Configuration()
    archive = read_archive(files.read(path, limits.MAX_DESCRIPTION_BYTES), "'exposedTableInfo.plist'")
    root = archive.mapping(archive.top.get("root"))
    modeling = archive.mapping(root["modelingParameters"]) if "modelingParameters" in root else {}
    binding = archive.mapping(root["bindingParameters"]) if "bindingParameters" in root else {}
    pid = archive.number(modeling.get("target-pid"))
    for key, platform in (("osx-version", "macOS"), ("ios-version", "iOS")):
        if number := archive.number(binding.get(key)):
            major, minor, patch = number // 10_000, number // 100 % 100, number % 100
            return Configuration(pid, platform, f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}")
    return Configuration(pid)


def iso_date(since_1970_ns: int | None) -> str | None:
    """A date as ISO 8601 in UTC, rounded to the millisecond as in a table of contents; None where it is no date."""
    if since_1970_ns is None or not 0 <= since_1970_ns < _LATEST_S * 1e9:
        return None
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=round(since_1970_ns / 1_000_000))
    return date.isoformat(timespec="milliseconds")


def _member(data: bytes) -> bytes:
    """The one member of an instrument's archive."""
    try:
        (member,) = archives.members(io.BytesIO(data), "the archive of an instrument")
        if member.size > limits.MAX_DESCRIPTION_BYTES:
            raise DamageError("the file of an instrument is too large")
        with member.open() as stream:
            return stream.read(member.size)
    except (UnreadableRecording, ValueError) as error:
        raise DamageError("the file of an instrument is damaged") from error


def _span(member: bytes) -> tuple[float, float] | None:
    """Start and end in seconds since 1970; None where the archive has another form."""
    if not member.startswith(_STREAM) or len(member) < _SPAN_AT + _SPAN.size:
        return None
    if member[_SPAN_AT] != _MARK or member[_SPAN_AT + 16] != _MARK:
        return None
    start, end = _SPAN.unpack_from(member, _SPAN_AT)
    return (start, end) if 0 < start <= end < _LATEST_S else None


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
    """What Instruments noted while it recorded, without noise and repetitions.

    RunIssues.storedata is an SQLite database. It is read from memory, so that nothing is written beside it, and none of
    the SQL that it may bring runs: no view, trigger, virtual table or computed column is accepted. Raises `DamageError`
    for a file that is broken or missing: every run has one, with what Instruments lost.
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
