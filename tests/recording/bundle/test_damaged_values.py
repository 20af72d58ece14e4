"""Values of bundles, made byte by byte, that cannot be, are of a new type, or are missing."""

from __future__ import annotations

import plistlib
import zlib

import pytest

from support.cells import cells, only
from tracekit.recording import open_recording
from tracekit.recording.table import TableState


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
def test_a_value_that_cannot_be_makes_its_table_unreadable(made_bundle, made_table, tmp_path, column, value, reason):
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


def announcing(bundle, **types: str):
    """The bundle with further types in its requirements: mnemonic by id."""
    requirements = plistlib.loads(bundle.files()["open.creq"])
    requirements |= {
        f"com.apple.dt.etype.{identity}": [1, f"does not support the new engineering type '{name}'."]
        for identity, name in types.items()
    }
    bundle.replace["open.creq"] = plistlib.dumps(requirements)
    return bundle


def test_a_column_of_a_new_type_is_left_out_and_the_others_read(made_bundle, made_table, tmp_path):
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


def test_types_of_file_activity_and_system_trace_are_read(made_bundle, made_table, tmp_path):
    """Their ids are told by the bundle; what stands behind a mnemonic by Apple's type reference."""
    none = 0xFFFF_FFFF
    columns = "time:event-time call:XRSystemCallNameTypeID fd:XRFileDescriptorTypeID vnode:XRVFSVnodeTypeID"
    columns += " kind:XRDiskIOOperationTypeID priority:XRSchedulingPriorityTypeID"
    table = made_table("sample", columns, [(5, 1, 3, none, 2, 31), (6, none, none, 9, none, none)])
    bundle = announcing(
        made_bundle([table], strings=["", "BSC_read", "Page In"]),
        XRSystemCallNameTypeID="syscall",
        XRFileDescriptorTypeID="fd",
        XRVFSVnodeTypeID="vnode",
        XRDiskIOOperationTypeID="diskio-operation",
        XRSchedulingPriorityTypeID="sched-priority",
    )
    read = only(bundle.write(tmp_path / "run.trace"), "sample")
    assert (read.state, read.reason) == (TableState.ROWS, "")
    assert {name: cells(read, name) for name in ("call", "fd", "vnode", "kind", "priority")} == {
        "call": ["BSC_read", None],
        "fd": [3, None],
        # Every number is a vnode: the type has none that means "no value".
        "vnode": [none, 9],
        "kind": ["Page In", None],
        "priority": [31, None],
    }


def test_a_table_of_new_types_alone_is_unreadable(made_bundle, made_table, tmp_path):
    bundle = made_bundle([made_table("sample", "time:XRNewThingTypeID odd:XRNewThingTypeID", [(5, 77)])])
    table = only(announcing(bundle, XRNewThingTypeID="new-thing").write(tmp_path / "run.trace"), "sample")
    assert table.state is TableState.UNREADABLE
    assert "does not know the engineering type of any of its columns" in table.reason


def test_values_of_another_run_are_noticed_by_the_numbers_of_processes(made_bundle, made_table, tmp_path):
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
    made_bundle, made_table, tmp_path, path, content
):
    tables = [
        made_table("texts", "time:event-time name:string", [(1, 0)]),
        made_table("numbers", "time:event-time count:uint32", [(1, 5)]),
    ]
    bundle = made_bundle(tables, replace={f"corespace/run1/core/{path}": content})
    recording = open_recording(bundle.write(tmp_path / "run.trace"))
    assert recording.tables("texts")[0].state is TableState.UNREADABLE
    assert "strings' " in recording.tables("texts")[0].reason
    assert cells(recording.tables("numbers")[0], "count") == [5]
