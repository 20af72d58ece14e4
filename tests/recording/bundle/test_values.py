"""Values of bundles, made byte by byte: how each kind of cell reads."""

import pytest

from support.cells import cells, only
from tracekit.recording.table import Column, Process, TableState, Thread

NOTHING = 0xFFFF_FFFF
NONE_64 = 0xFFFF_FFFF_FFFF_FFFF


@pytest.mark.parametrize("compressed", [True, False])
def test_rows_come_in_order_of_time_and_of_insertion_where_times_are_equal(
    made_bundle, made_table, tmp_path, compressed
):
    rows = [(30, 1), (10, 2), (30, 3), (20, 4), (10, 5)]
    bundle = made_bundle([made_table("sample", "time:event-time count:uint32", rows)], compressed=compressed)
    table = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert table.columns == (Column("time", "event-time", "Time"), Column("count", "uint32", "Count"))
    assert cells(table, "time") == [10, 10, 20, 30, 30]
    assert cells(table, "count") == [2, 5, 4, 1, 3]
    assert (table.state, table.rows, table.run, table.reason) == (TableState.ROWS, 5, 1, "")


def test_no_value_is_told_by_the_type_of_the_column(made_bundle, made_table, tmp_path):
    """A duration of 0 is no value; a count of all ones is one; reference 0 and text 0 are values."""
    columns = "start:start-time duration name:string flag:boolean count:uint32 id:uint64 process"
    rows = [(1, 0, NOTHING, NOTHING, NOTHING, NONE_64, NOTHING), (2, 9, 0, 0, 0, 0, 0)]
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


def test_names_come_from_the_tables_of_processes_and_threads(made_bundle, made_table, tmp_path):
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


def test_two_references_to_the_same_value_are_one_value(made_bundle, made_table, tmp_path):
    tables = [made_table("sample", "time:event-time name:string", [(1, 2), (2, 1), (3, 2), (4, 0)])]
    table = only(made_bundle(tables, strings=["b", "a", "a"]).write(tmp_path / "run.trace"), "sample")
    column = table.column("name")
    assert getattr(column, "values", None) == ("a", "b")
    assert cells(table, "name") == ["a", "a", "a", "b"]


def test_labels_are_composed_of_their_parts(made_bundle, made_table, tmp_path):
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
    made_bundle, made_table, tmp_path, typed, expected
):
    tables = [made_table("sample", "time:event-time value:any", [(1, 0), (2, 1)])]
    bundle = made_bundle(tables, strings=["", "word", "-12"], typed=typed)
    assert cells(only(bundle.write(tmp_path / "run.trace"), "sample"), "value") == expected


def test_values_of_two_parts_are_taken_apart(made_bundle, made_table, tmp_path):
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


def test_call_stacks_are_addresses_leaf_first(made_bundle, made_table, tmp_path):
    arrays = [[7, 0], [0x10], [0x20, 0x30, 0], [(0 << 32) | 1, (0 << 32) | 2], [(0 << 32) | 1], []]
    tables = [made_table("sample", "time:event-time stack:backtrace", [(1, 3), (2, 4), (3, NOTHING), (4, 5)])]
    table = only(made_bundle(tables, arrays=arrays).write(tmp_path / "run.trace"), "sample")
    assert cells(table, "stack") == ["0x10 ← 0x20 ← 0x30", "0x10", None, ""]


@pytest.mark.parametrize(
    ("body", "strings"),
    [
        ("<string></string>", [""]),
        ("<string>a &lt;b&gt; &amp;amp; ü</string>\n\t<string> </string>", ["a <b> &amp; ü", " "]),
        # What only a parser reads right.
        ("<string>&#65;</string><!-- x --><string>b</string>", ["A", "b"]),
        ("<string><![CDATA[<]]></string>", ["<"]),
        ("<string>a\r\nb</string>", ["a\nb"]),
    ],
)
def test_strings_read_as_a_parser_reads_them(made_bundle, made_table, tmp_path, body, strings):
    rows = [(number + 1, number) for number in range(len(strings))]
    bundle = made_bundle([made_table("sample", "time:event-time name:string", rows)])
    dtd = "http://www.apple.com/DTDs/PropertyList-1.0.dtd"
    listed = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "{dtd}">\n'
        f'<plist version="1.0">\n<array>\n\t{body}\n</array>\n</plist>\n'
    )
    bundle.replace["corespace/run1/core/uniquing/strings"] = listed.encode()
    assert cells(only(bundle.write(tmp_path / "run.trace"), "sample"), "name") == strings
