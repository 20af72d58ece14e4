"""Whole bundles, made byte by byte: what reads, what is unreadable and why, and what is refused."""

from __future__ import annotations

import plistlib
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_contents, open_recording
from tracekit.recording.table import Column, Process, TableState, Thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tracekit.recording.table import Table

    Make = Callable[..., Any]

NOTHING = 0xFFFF_FFFF
NONE_64 = 0xFFFF_FFFF_FFFF_FFFF


def cells(table: Table, mnemonic: str) -> list[object]:
    column = table.column(mnemonic)
    return [column.item(row) for row in range(table.rows)]


def only(path: Path, schema: str) -> Table:
    (table,) = open_recording(path).tables(schema)
    return table


@pytest.fixture
def sample(made_table: Make) -> Callable[..., Any]:
    """A table with one row, changed as the test needs."""
    return lambda **changes: made_table("sample", "time:event-time count:uint32", [(5, 7)], **changes)


@pytest.mark.parametrize("compressed", [True, False])
def test_rows_come_in_order_of_time_and_of_insertion_where_times_are_equal(
    made_bundle: Make, made_table: Make, tmp_path: Path, compressed: bool
) -> None:
    rows = [(30, 1), (10, 2), (30, 3), (20, 4), (10, 5)]
    bundle = made_bundle([made_table("sample", "time:event-time count:uint32", rows)], compressed=compressed)
    table = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert table.columns == (Column("time", "event-time", "Time"), Column("count", "uint32", "Count"))
    assert cells(table, "time") == [10, 10, 20, 30, 30]
    assert cells(table, "count") == [2, 5, 4, 1, 3]
    assert (table.state, table.rows, table.run, table.reason) == (TableState.ROWS, 5, 1, "")


def test_no_value_is_told_by_the_type_of_the_column(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    """A duration of 0 is no value; a count of all ones is one; reference 0 and text 0 are values."""
    columns = "start:start-time duration name:string flag:boolean count:uint32 id:uint64 process"
    rows = [
        (1, 0, NOTHING, NOTHING, NOTHING, NONE_64, NOTHING),
        (2, 9, 0, 0, 0, 0, 0),
    ]
    bundle = made_bundle([made_table("sample", columns, rows, interval=True)], strings=[""], arrays=[[4, 0]])
    table = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert [cells(table, column.mnemonic) for column in table.columns] == [
        [1, 2],
        [None, 9],
        [None, ""],
        [None, 0],
        [NOTHING, 0],
        [-1, 0],
        [None, Process("pid 4", 4)],
    ]


def test_names_come_from_the_tables_of_processes_and_threads(
    made_bundle: Make, made_table: Make, tmp_path: Path
) -> None:
    """The later name of a process holds, since it may have started another program."""
    strings = ["", "first", "second", "worker"]
    tables = [
        made_table("sample", "time:event-time thread", [(1, 2), (2, 3), (3, 4)]),
        made_table("process-info", "time:event-time pid process process-name:string", [(9, 77, 0, 2), (1, 77, 0, 1)]),
        made_table(
            "thread-info",
            "time:event-time tid thread name:thread-name main-thread:boolean",
            [(0, 0x10, 2, NONE_64, 1), (0, 0x11, 3, (3 << 32) | 3, 0), (0, 0x12, 4, NONE_64, 0)],
        ),
    ]
    arrays = [[77, 0], [78, 0], [0x10, 0], [0x11, 0], [0x12, 1]]
    path = made_bundle(tables, strings=strings, arrays=arrays).write(tmp_path / "run.trace")
    mine = Process("second", 77)
    assert cells(only(path, "sample"), "thread") == [
        Thread("Main Thread (0x10) (second, pid: 77)", 0x10, mine),
        Thread("worker (0x11) (second, pid: 77)", 0x11, mine),
        Thread("0x12 (pid 78, pid: 78)", 0x12, Process("pid 78", 78)),
    ]


def test_two_references_to_the_same_value_are_one_value(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    tables = [made_table("sample", "time:event-time name:string", [(1, 2), (2, 1), (3, 2), (4, 0)])]
    table = only(made_bundle(tables, strings=["b", "a", "a"]).write(tmp_path / "run.trace"), "sample")
    column = table.column("name")
    assert getattr(column, "values", None) == ("a", "b")
    assert cells(table, "name") == ["a", "a", "a", "b"]


def test_labels_are_composed_of_their_parts(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    typed = [
        [("narrative-text", 1), ("uint64-hex-lowercase", 255), ("process", 0)],
        [("narrative-text", 1), ("uint64-hex-lowercase", 256), ("process", NOTHING)],
        [("string", 2), ("formatted-label", 0), ("duration", 1_500), ("uint64", NONE_64)],
        [],
    ]
    tables = [made_table("sample", "time:event-time label:formatted-label", [(n, n) for n in range(4)])]
    bundle = made_bundle(tables, strings=["", "0x", "in "], arrays=[[9, 0]], typed=typed)
    assert cells(only(bundle.write(tmp_path / "run.trace"), "sample"), "label") == [
        "0xffpid 9 (9)",
        "0x100<none>",
        "in 0xffpid 9 (9)1.50 µs18446744073709551615",
        "",
    ]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ([[("uint64", 3)], [("uint32", 4)]], [3, 4]),
        ([[("uint64", 3)], [("string", 1)]], ["3", "word"]),
        ([[("uint64", NONE_64)], [("string", 2)]], [-1, -12]),
        ([[("string", NOTHING)], [("string", 1)]], [None, "word"]),
        ([[("string", NOTHING)], [("uint64", 7)]], [None, 7]),
    ],
)
def test_cells_with_a_type_of_their_own_are_numbers_where_all_of_them_are(
    made_bundle: Make, made_table: Make, tmp_path: Path, typed: list[object], expected: list[object]
) -> None:
    tables = [made_table("sample", "time:event-time value:any", [(1, 0), (2, 1)])]
    bundle = made_bundle(tables, strings=["", "word", "-12"], typed=typed)
    assert cells(only(bundle.write(tmp_path / "run.trace"), "sample"), "value") == expected


def test_values_of_two_parts_are_taken_apart(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    """Dates and fixed-point numbers count from 2^63 - 1."""
    zero = (1 << 63) - 1
    columns = "time:event-time base:mach-timebase-info date:time-since-epoch number:fixed-decimal place:return-location"
    rows = [(1, (125 << 32) | 3, zero + 1_755_552_427_000_000_000, zero - 1_500_000_000, (0 << 32) | 0x1F0)]
    bundle = made_bundle([made_table("sample", columns, rows)], arrays=[[1, 2]])
    table = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert [cells(table, column.mnemonic)[0] for column in table.columns[1:]] == [
        "125/3",
        1_755_552_427_000_000_000,
        "-1.500000000",
        "00000000-0000-0001-0000-000000000002+0x1f0",
    ]


def test_call_stacks_are_addresses_leaf_first(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    arrays = [[7, 0], [0x10], [0x20, 0x30, 0], [(0 << 32) | 1, (0 << 32) | 2], [(0 << 32) | 1], []]
    tables = [made_table("sample", "time:event-time stack:backtrace", [(1, 3), (2, 4), (3, NOTHING), (4, 5)])]
    table = only(made_bundle(tables, arrays=arrays).write(tmp_path / "run.trace"), "sample")
    assert cells(table, "stack") == ["0x10 ← 0x20 ← 0x30", "0x10", None, ""]


def test_attributes_read_as_a_table_of_contents_prints_them(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    attributes: dict[str, object] = {
        "target-pid": "SINGLE",
        "category": "CAMetalLayer.Stalls",
        "codes": ["0x06,0x1b", "plain"],
        "enabled": False,
        "frequency": 10,
    }
    path = made_bundle([sample(attributes=attributes)]).write(tmp_path / "run.trace")
    recording = open_recording(path)
    (entry,) = recording.run.tables
    assert dict(entry.attributes) == {
        "target-pid": "SINGLE",
        "category": '"CAMetalLayer.Stalls"',
        "codes": '"0x06,0x1b" plain',
        "enabled": "0",
        "frequency": "10",
    }
    assert len(recording.tables("sample", category="CAMetalLayer.Stalls", codes="0x06,0x1b")) == 1
    assert recording.tables("sample", category="CAMetalLayer") == []
    assert recording.tables("other") == []


def test_a_table_without_rows_is_empty_with_and_without_its_rows_file(
    made_bundle: Make, made_table: Make, tmp_path: Path
) -> None:
    tables = [
        made_table("a", "time:event-time", []),
        made_table("b", "time:event-time", [], replace={"bulkstore": None}),
    ]
    recording = open_recording(made_bundle(tables).write(tmp_path / "run.trace"))
    assert [(entry.state, entry.rows, entry.columns) for entry in recording.run.tables] == [
        (TableState.EMPTY, 0, 1)
    ] * 2
    assert [table.state for name in "ab" for table in recording.tables(name)] == [TableState.EMPTY] * 2


BROKEN = [
    ({"replace": {"bulkstore": None}}, "1 rows were recorded, but their file is missing"),
    ({"replace": {"bulkstore": b"\0" * 5000}}, "unknown format 0x0 version 0"),
    ({"replace": {"bulkstore": b"\x0a"}}, "its rows file is cut off"),
    ({"replace": {"schema.xml": None}}, "schema.xml' is missing"),
    ({"replace": {"schema.xml": b"<schema"}}, "schema.xml is not well-formed"),
    ({"replace": {"schema.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><schema/>'}}, "declares a document type"),
    ({"replace": {"schema.xml": b'<schema name="other" topology="x"/>'}}, "contains the schema 'other'"),
    ({"replace": {"spec.plist": b"bplist00"}}, "spec.plist is not a readable property list"),
    ({"replace": {"bulkstore_descriptor": b"<plist/>"}}, "bulkstore_descriptor is no"),
    ({"topology": "XRT99_TypeID"}, "unknown topology 'XRT99_TypeID'"),
    ({"declared": -1}, "the number of its rows is -1"),
    ({"declared": 1 << 40}, "the number of its rows is"),
]


@pytest.mark.parametrize(("changes", "reason"), BROKEN)
def test_a_table_that_a_guard_refuses_is_unreadable_and_the_rest_reads(
    made_bundle: Make, made_table: Make, sample: Make, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    tables = [sample(**changes), made_table("sound", "time:event-time", [(1,), (2,)])]
    recording = open_recording(made_bundle(tables, compressed=False).write(tmp_path / "run.trace"))
    broken, sound = recording.run.tables
    assert (broken.state, broken.rows) == (TableState.UNREADABLE, None)
    assert reason in broken.reason
    xpath = '/trace-toc/run[@number="1"]/data/table[@schema="sample"]'
    command = f"xcrun xctrace export --input run.trace --xpath '{xpath}'"
    assert broken.reason.endswith(f"; export it on a Mac with `{command}`")
    assert (sound.state, sound.rows) == (TableState.ROWS, 2)
    (table,) = recording.tables("sample")
    assert (table.state, table.reason, table.cells) == (TableState.UNREADABLE, broken.reason, ())
    assert cells(recording.tables("sound")[0], "time") == [1, 2]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"declared": 2}, "contains fewer than the 2 rows that are declared"),
        ({"declared": 65}, "65 rows are declared, and its rows file ends before them"),
        ({"declared": 150_000_000}, "150,000,000 rows do not fit in the"),
    ],
)
def test_a_wrong_number_of_rows_is_noticed_when_the_table_is_read(
    made_bundle: Make, sample: Make, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    table = only(made_bundle([sample(**changes)]).write(tmp_path / "run.trace"), "sample")
    assert table.state is TableState.UNREADABLE
    assert reason in table.reason


def test_rows_beyond_the_declared_ones_are_noticed(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    table = made_table("sample", "time:event-time count:uint32", [(1, 1), (2, 2)], declared=1)
    read_back = only(made_bundle([table]).write(tmp_path / "run.trace"), "sample")
    assert "contains more than the 1 rows" in read_back.reason


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("name:string", 3, "it refers to string 3, and there are 1"),
        ("process", 1, "it refers to shared array 1, and there are 1"),
        ("label:formatted-label", 2, "it refers to shared array 2, and there are 2"),
        ("label:formatted-label", 1, "a label has a part without type"),
        ("label:formatted-label", 0, "labels are nested more than 16 levels deep"),
        ("stack:backtrace", 0, "a call stack refers to shared array 7"),
        ("duration", 1 << 60, "contains 1152921504606846976 ns, longer than any recording"),
        ("odd:XRNewThingTypeID", 1, "has the engineering type 'XRNewThingTypeID', which tracekit does not know"),
    ],
)
def test_a_value_that_cannot_be_makes_its_table_unreadable(
    made_bundle: Make, made_table: Make, tmp_path: Path, column: str, value: int, reason: str
) -> None:
    """Text 0 is the only one; array 0 is (7, 0); label 0 holds itself, label 1 has an odd number of numbers."""
    bundle = made_bundle(
        [made_table("sample", f"time:event-time {column}", [(1, value)])],
        arrays=[[7, 0]],
        typed=[[("formatted-label", 0)], [("string", 0)]],
    )
    files = bundle.files()
    path = "corespace/run1/core/uniquing/typedArrayUniquer/integeruniquer.data"
    data = bytearray(zlib.decompress(files[path]))
    # Count of label 1, which follows the header and label 0 (a count and two numbers).
    assert data[32 + 20] == 2
    data[32 + 20] = 1
    bundle.replace[path] = bytes(data)
    table = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert table.state is TableState.UNREADABLE
    assert reason in table.reason


def announcing(bundle: Any, **types: str) -> Any:
    """The bundle with further types in its requirements: mnemonic by id."""
    requirements = plistlib.loads(bundle.files()["open.creq"])
    requirements |= {
        f"com.apple.dt.etype.{identity}": [1, f"does not support the new engineering type '{name}'."]
        for identity, name in types.items()
    }
    bundle.replace["open.creq"] = plistlib.dumps(requirements)
    return bundle


def test_a_column_of_a_new_type_is_left_out_and_the_others_read(
    made_bundle: Make, made_table: Make, tmp_path: Path
) -> None:
    rows = [(5, 77, 3), (6, 78, 4)]
    table = made_table("sample", "time:event-time odd:XRNewThingTypeID count:uint32", rows)
    bundle = announcing(made_bundle([table]), XRNewThingTypeID="new-thing")
    recording = open_recording(bundle.write(tmp_path / "run.trace"))
    (read,) = recording.tables("sample")
    (entry,) = recording.run.tables
    assert (read.state, read.rows) == (TableState.ROWS, 2)
    assert [column.mnemonic for column in read.columns] == ["time", "count"]
    assert (cells(read, "time"), cells(read, "count")) == ([5, 6], [3, 4])
    message = "tracekit does not know the engineering type of the column 'odd' of type 'new-thing' and ignores it"
    assert read.reason.startswith(f"{message}; export it on a Mac")
    assert (entry.state, entry.rows, entry.columns, entry.reason) == (TableState.ROWS, 2, 2, read.reason)
    assert f"the table sample is incomplete: {message}" in recording.contents.notes


def test_a_table_of_new_types_alone_is_unreadable(made_bundle: Make, made_table: Make, tmp_path: Path) -> None:
    bundle = made_bundle([made_table("sample", "time:XRNewThingTypeID odd:XRNewThingTypeID", [(5, 77)])])
    table = only(announcing(bundle, XRNewThingTypeID="new-thing").write(tmp_path / "run.trace"), "sample")
    assert table.state is TableState.UNREADABLE
    assert "does not know the engineering type of any of its columns" in table.reason


def test_values_of_another_run_are_noticed_by_the_numbers_of_processes(
    made_bundle: Make, made_table: Make, tmp_path: Path
) -> None:
    tables = [
        made_table("sample", "time:event-time process", [(1, 0)]),
        made_table("process-info", "time:event-time pid process process-name:string", [(1, 78, 0, 0)]),
    ]
    table = only(made_bundle(tables, arrays=[[77, 0]]).write(tmp_path / "run.trace"), "sample")
    assert "give different numbers to a process" in table.reason


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("uniquing/strings", None),
        ("uniquing/strings", b"junk"),
        ("uniquing/strings", plistlib.dumps({"a": 1})),
        ("uniquing/strings", zlib.compress(plistlib.dumps([""]))[:-3]),
        ("uniquing/strings", zlib.compress(plistlib.dumps([""])) + b"more"),
    ],
)
def test_values_that_are_missing_or_broken_cost_only_the_tables_that_need_them(
    made_bundle: Make, made_table: Make, tmp_path: Path, path: str, content: bytes | None
) -> None:
    tables = [
        made_table("texts", "time:event-time name:string", [(1, 0)]),
        made_table("numbers", "time:event-time count:uint32", [(1, 5)]),
    ]
    bundle = made_bundle(tables, replace={f"corespace/run1/core/{path}": content})
    recording = open_recording(bundle.write(tmp_path / "run.trace"))
    assert recording.tables("texts")[0].state is TableState.UNREADABLE
    assert "strings' " in recording.tables("texts")[0].reason
    assert cells(recording.tables("numbers")[0], "count") == [5]


def test_a_recording_that_was_not_finished_says_how_to_recover_it(
    made_bundle: Make, sample: Make, tmp_path: Path
) -> None:
    stream = tmp_path / "raw.trace/Trace1.run/Attachments/trace-data.atrc"
    stream.parent.mkdir(parents=True)
    stream.write_bytes(b"raw")
    recipe = r"unfinished.*xctrace import --input X.trace/Trace1.run/Attachments/trace-data.atrc --template 'Core ML'"
    with pytest.raises(UnreadableRecording, match=recipe):
        open_recording(tmp_path / "raw.trace")
    (tmp_path / "issues.trace/Trace1.run").mkdir(parents=True)
    (tmp_path / "issues.trace/Trace1.run/RunIssues.storedata").write_bytes(b"")
    with pytest.raises(UnreadableRecording, match="unfinished recording: it contains no tables; record again"):
        open_recording(tmp_path / "issues.trace")
    partly = made_bundle([sample()], replace={"Trace1.run/Attachments/trace-data.atrc": b"raw"})
    recording = open_recording(partly.write(tmp_path / "partly.trace"))
    assert cells(recording.tables("sample")[0], "count") == [7]
    assert any("not finished: the raw stream 'trace-data.atrc' was left behind" in n for n in recording.contents.notes)
    assert recording.run.raw_stream == "Trace1.run/Attachments/trace-data.atrc"


def test_folders_that_are_no_readable_bundle_get_their_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.trace").mkdir()
    with pytest.raises(
        UnreadableRecording, match=r"named like a trace bundle but contains nothing of one; check the path"
    ):
        open_recording(tmp_path / "empty.trace")
    (tmp_path / "old.trace").mkdir()
    (tmp_path / "old.trace/form.template").write_bytes(b"bplist00")
    with pytest.raises(UnreadableRecording, match=r"no folder 'corespace'.*Instruments 7 or older"):
        open_recording(tmp_path / "old.trace")


def test_a_bundle_in_an_archive_reads_without_unpacking(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    for name, prefix in (("named.zip", "run.trace/"), ("bare.zip", ""), ("deep.zip", "shared/runs/run.trace/")):
        (tmp_path / name).write_bytes(made_bundle([sample()]).zipped(prefix))
        before = set(tmp_path.iterdir())
        assert cells(only(tmp_path / name, "sample"), "count") == [7]
        assert set(tmp_path.iterdir()) == before
        assert open_contents(tmp_path / name).source == name


def test_an_archive_of_several_bundles_is_refused_and_exports_go_first(
    made_bundle: Make, sample: Make, tmp_path: Path
) -> None:
    import io
    import zipfile

    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as archive:
        for prefix in ("a.trace/", "b.trace/"):
            for path, data in made_bundle([sample()]).files().items():
                archive.writestr(prefix + path, data)
    (tmp_path / "two.zip").write_bytes(both.getvalue())
    with pytest.raises(UnreadableRecording, match=r"contains 2 trace bundles \('a.trace', 'b.trace'\); unpack it"):
        open_recording(tmp_path / "two.zip")


def test_links_are_not_followed(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    path = made_bundle([sample()]).write(tmp_path / "run.trace")
    rows = path / "corespace/run1/core/stores/indexed-store-0/bulkstore"
    rows.rename(tmp_path / "elsewhere")
    rows.symlink_to(tmp_path / "elsewhere")
    recording = open_recording(path)
    assert recording.tables("sample")[0].state is TableState.UNREADABLE
    assert "1 symbolic links inside the bundle were ignored" in recording.contents.notes


def test_a_newer_document_and_unknown_topologies_are_told(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    requirements = {
        "com.apple.dt.trace": [6, "newer"],
        "com.apple.dt.ac.topology.XRT64_CC32_R_TypeID": [1, "old"],
        "com.apple.dt.ac.topology.XRNew_TypeID": [1, "new"],
    }
    bundle = made_bundle([sample()], replace={"open.creq": plistlib.dumps(requirements)})
    recording = open_recording(bundle.write(tmp_path / "run.trace"))
    notes = " ".join(recording.contents.notes)
    assert "format version 6, newer than version 5" in notes
    assert "row topology that tracekit does not know (XRNew_TypeID)" in notes
    assert cells(recording.tables("sample")[0], "count") == [7]


def test_a_list_of_tables_that_cannot_be_read_is_an_error(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    bundle = made_bundle([sample()], replace={"corespace/run1/core/table-manager/tables.plist": b"junk"})
    with pytest.raises(UnreadableRecording, match=r"list of tables of run 1 in 'run.trace' cannot be read: .*copy the"):
        open_recording(bundle.write(tmp_path / "run.trace"))


def test_progress_is_reported_in_bytes_of_the_bundle(made_bundle: Make, sample: Make, tmp_path: Path) -> None:
    seen: list[Any] = []
    path = made_bundle([sample()]).write(tmp_path / "run.trace")
    open_recording(path, progress=seen.append).tables("sample")
    size = (path / "corespace/run1/core/stores/indexed-store-0/bulkstore").stat().st_size
    assert [(each.done_bytes, each.total_bytes, each.source) for each in seen] == [(size, size, "run.trace")]
