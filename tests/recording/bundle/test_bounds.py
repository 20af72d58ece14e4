"""What a small bundle may make the reader do: each of these asked for gigabytes, had no end, or ran SQL."""

from __future__ import annotations

import io
import os
import plistlib
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import PrintedAttributes, read_archive, read_plist
from tracekit.recording.bundle.arrays import parse_arrays
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.values import TextBudget

if TYPE_CHECKING:
    from typing import Any

ISSUES = "Trace1.run/RunIssues.storedata"
CORE = "corespace/run1/core"
TABLE = "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, ZMESSAGE VARCHAR)"
ROW = "INSERT INTO ZISSUE VALUES (1, 'Lost events')"


def database(*statements: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        data: bytes = connection.serialize()
    return data


def lying(statement: str, change: str) -> bytes:
    """A database whose list of objects was changed by hand."""
    return database(TABLE, ROW, statement, "PRAGMA writable_schema = ON", change)


@pytest.fixture
def opened(made_bundle, made_table, tmp_path):
    def of(*tables, **changes):
        made = made_bundle(list(tables) or [made_table("sample", "time:event-time", [(1,)])], **changes)
        return open_recording(made.write(tmp_path / "run.trace"))

    return of


def issues(opened, data: bytes) -> tuple[str, ...] | None:
    texts: tuple[str, ...] | None = opened(replace={ISSUES: data}).run.issues
    return texts


@pytest.mark.parametrize(
    "data",
    [
        database("CREATE VIEW ZISSUE AS SELECT 1 AS Z_PK, 'x' AS ZMESSAGE"),
        database(TABLE, ROW, "CREATE VIEW other AS SELECT 1"),
        database(TABLE, ROW, "CREATE TRIGGER t AFTER INSERT ON ZISSUE BEGIN SELECT 1; END"),
        database(
            "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, ZMESSAGE TEXT GENERATED ALWAYS AS (hex(zeroblob(10))))",
            "INSERT INTO ZISSUE (Z_PK) VALUES (1)",
        ),
        lying("CREATE VIEW v AS SELECT 1", "UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE name = 'v'"),
        database("CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, other TEXT)"),
    ],
)
def test_sql_of_a_recording_does_not_run(opened, data):
    assert issues(opened, data) is None


def test_a_table_of_issues_with_indexes_is_read_and_a_long_query_given_up(opened, monkeypatch):
    index = ("CREATE INDEX i ON ZISSUE (ZMESSAGE)", "CREATE TABLE Z_METADATA (Z_VERSION INTEGER)")
    assert issues(opened, database(TABLE, ROW, *index)) == ("Lost events",)
    rows = ["INSERT INTO ZISSUE (ZMESSAGE) VALUES ('Lost events')"] * 500
    assert issues(opened, database(TABLE, *rows)) == ("Lost events",)
    monkeypatch.setattr(limits, "MAX_ISSUE_STEPS", 100)
    assert issues(opened, database(TABLE, *rows)) is None


def test_run_issues_that_were_cut_off_or_left_a_journal_are_not_told_as_none(opened):
    data = database(TABLE, *(f"CREATE TABLE t{number} (a)" for number in range(6)))
    assert issues(opened, data) == ()
    for share in (0.25, 0.5, 0.75, 0.99):
        recording = opened(replace={ISSUES: data[: int(len(data) * share)]})
        assert recording.run.issues is None
        assert any("the file of run issues is cut off" in note for note in recording.contents.notes)
    assert opened(replace={ISSUES: database(TABLE), f"{ISSUES}-wal": b"x" * 100}).run.issues is None


@pytest.mark.parametrize("width", [1, 4])
def test_a_list_of_objects_of_zeros_is_refused(width):
    count = 5_000_000 // width
    data = b"bplist00" + bytes(count * width) + struct.pack(">6xBBQQQ", width, 1, count, 0, 8)
    with pytest.raises(DamageError, match="not a readable property list"):
        read_plist(data, "it")


@pytest.mark.parametrize(("kind", "count"), [(0x1F, 2_000), (0x14, 20_000)], ids=["of 32 kB", "of 16 bytes"])
def test_long_integers_that_share_bytes_are_refused(kind, count):
    integers = bytes([kind]) * count
    array = b"\xaf\x11" + struct.pack(">H", count) + b"".join(struct.pack(">H", each) for each in range(1, count + 1))
    objects = array + integers + bytes(40_000)
    offsets = [8, *(8 + len(array) + each for each in range(count))]
    table = b"".join(struct.pack(">I", offset) for offset in offsets)
    data = b"bplist00" + objects + table + struct.pack(">6xBBQQQ", 4, 2, count + 1, 0, 8 + len(objects))
    with pytest.raises(DamageError, match="not a readable property list"):
        read_plist(data, "it")


@pytest.mark.parametrize("form", [plistlib.FMT_BINARY, plistlib.FMT_XML])
def test_objects_of_a_property_list_are_bounded(monkeypatch, form):
    data = plistlib.dumps([str(number) for number in range(50)], fmt=form)
    read_plist(data, "it")
    monkeypatch.setattr(limits, "MAX_OBJECTS", 50)
    with pytest.raises(DamageError):
        read_plist(data, "it")


def test_arrays_that_share_bytes_are_refused(shared_arrays):
    index, data = shared_arrays([[1] * 100_000])
    one = index[40:48]
    assert len(parse_arrays(index, data)) == 1
    with pytest.raises(DamageError, match="shared arrays overlap"):
        parse_arrays(index[:40] + one * 2, data)


@pytest.mark.parametrize("part", ["strings", "arrayUniquer/integeruniquer.data"])
def test_shared_parts_that_shrink_too_well_are_refused(opened, made_table, monkeypatch, part):
    for name in ("SHARED_FREE_BYTES", "STRINGS_FREE_BYTES"):
        monkeypatch.setattr(limits, name, 1_000_000)
    bomb = zlib.compress(bytes(5_000_000))
    table = made_table("sample", "time:event-time name:string process", [(1, 0, 0)])
    recording = opened(table, arrays=[[7, 0]], replace={f"{CORE}/uniquing/{part}": bomb})
    (table,) = recording.tables("sample")
    assert "inflates to more than 1,000,000 bytes" in table.reason


def test_labels_that_share_one_text_are_bounded_by_the_size_of_their_bundle(opened, made_table, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_FREE_CHARS", 100_000)
    long = os.urandom(5_000).hex()
    rows = [(1, number) for number in range(200)]
    typed = [[("string", 1), ("uint64", number)] for number in range(200)]
    columns = "time:event-time label:formatted-label"
    (table,) = opened(made_table("sample", columns, rows), strings=["", "short"], typed=typed).tables("sample")
    assert table.column("label").item(199) == "short199"
    monkeypatch.setattr(limits, "MAX_TEXT_GROWTH", 1)
    (table,) = opened(made_table("sample", columns, rows), strings=["", long], typed=typed).tables("sample")
    assert "characters in total" in table.reason


def test_texts_count_over_all_tables_and_once_for_a_table_that_is_read_again():
    budget = TextBudget(0)
    for _ in range(3):
        budget.begin("first")
        budget.spend(limits.TEXT_FREE_CHARS - 10)
    budget.begin("second")
    budget.spend(10)
    with pytest.raises(DamageError, match="characters in total"):
        budget.spend(1)


def test_a_part_that_cannot_be_read_is_read_once(opened, made_table, monkeypatch):
    tables = [made_table(f"sample{number}", "time:event-time name:string", [(1, 0)]) for number in range(5)]
    recording = opened(*tables, replace={f"{CORE}/uniquing/strings": b"broken"})
    read: list[str] = []
    pieces = BundleFiles.pieces

    def counted(files: BundleFiles, path: str, limit: int):
        read.append(path)
        return pieces(files, path, limit)

    monkeypatch.setattr(BundleFiles, "pieces", counted)
    for _ in range(2):
        for number in range(5):
            (table,) = recording.tables(f"sample{number}")
            assert "'strings' is not a readable property list" in table.reason
    assert read.count(f"{CORE}/uniquing/strings") == 1
    # Nor are the rows of a table that failed.
    assert read.count(f"{CORE}/stores/indexed-store-0/bulkstore") == 1


def attributes(archive, *lists: list[int]) -> PrintedAttributes:
    """Attribute `a` is list 0; each list holds other lists by number, and the text `x` for -1."""
    made = archive()
    text = made.add("x")
    first = len(made.objects)
    for members in lists:
        references = [text if member < 0 else plistlib.UID(first + member) for member in members]
        made.objects.append({"NS.objects": references})
    made.objects.append({"NS.keys": [made.add("a")], "NS.objects": [plistlib.UID(first)]})
    root = plistlib.UID(len(made.objects) - 1)
    document = {"$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": made.objects}
    return PrintedAttributes(read_archive(plistlib.dumps(document, fmt=plistlib.FMT_BINARY), "spec.plist"))


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ([[0]], "nested too deep"),
        ([[1], [0]], "nested too deep"),
        ([[each + 1, each + 1] for each in range(40)] + [[-1]], "nested too deep|too often"),
        ([[each + 1] * 400 for each in range(6)] + [[-1]], "too often|characters"),
    ],
)
def test_attributes_that_hold_themselves_or_double_are_refused(archive, lists, sentence):
    printed = attributes(archive, *lists)
    with pytest.raises(DamageError, match=sentence):
        printed.of(printed._archive.top["root"])


def test_attributes_that_are_lists_are_printed_as_before(archive):
    printed = attributes(archive, [1, -1, -1], [-1, -1])
    assert printed.of(printed._archive.top["root"]) == {"a": "x x x x"}


def test_durations_whose_sum_would_wrap_around_make_a_table_unreadable(opened, made_table):
    columns = "time:start-time length:duration"
    rows = [(number, 2**50) for number in range(65)]
    (table,) = opened(made_table("sample", columns, rows, interval=True)).tables("sample")
    assert (table.state, "add up to too much" in table.reason) == ("unreadable", True)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_of_an_instrument_is_told(opened, method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("run", bytes(range(256)) * 20)
    data = bytearray(buffer.getvalue())
    data[40:80] = bytes(40)
    recording = opened(replace={"instrument_data/A/run_data/1.run.zip": bytes(data)})
    assert "instruments of run 1 whose files cannot be read: 1" in recording.contents.notes


def test_a_bundle_of_links_is_not_called_unfinished(made_bundle, made_table, tmp_path):
    made = made_bundle([made_table("sample", "time:event-time", [(1,)])])
    bundle = made.write(tmp_path / "annex")
    for path in made.files():
        file = tmp_path / "run.trace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(bundle / path)
    with pytest.raises(UnreadableRecording, match=r"symbolic links inside the bundle were ignored") as caught:
        open_recording(tmp_path / "run.trace")
    assert "not finished" not in str(caught.value)


def test_more_runs_than_any_document_are_refused(made_bundle, made_table, tmp_path):
    made = made_bundle([made_table("sample", "time:event-time", [(1,)])])
    for number in range(2, limits.MAX_RUNS + 2):
        made.replace[f"corespace/run{number}/core/x"] = b""
    with pytest.raises(UnreadableRecording, match="contains 201 runs, more than 200"):
        open_recording(made.write(tmp_path / "run.trace"))


def test_many_sequences_of_types_in_labels_are_refused(shared_arrays, monkeypatch):
    from tracekit.recording.bundle.labels import Labels
    from tracekit.recording.bundle.types import KNOWN

    monkeypatch.setattr(limits, "MAX_PATTERNS", 7)
    types: Any = [KNOWN["XRPrototypeValueTypeID"], KNOWN["XRUnsignedIntegerHexLowercaseTypeID"]]
    arrays = [[part for bit in range(3) for part in (number >> bit & 1, 1)] for number in range(8)]
    reader = Labels(
        parse_arrays(*shared_arrays(arrays)), types, lambda _, numbers: [""] * len(numbers), TextBudget(0).spend
    )
    with pytest.raises(DamageError, match="more than 7 different sequences of types"):
        reader.texts(np.arange(8))
