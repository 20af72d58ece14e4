"""Call stacks of exported tables, in every shape that versions of Xcode wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.call_stacks import frames_at
from tracekit.recording import open_recording
from tracekit.recording.call_stacks import CallStacks

COLUMNS = {
    "time": "sample-time",
    "thread": "thread",
    "process": "process",
    "core": "core",
    "thread-state": "thread-state",
    "weight": "weight",
}
PROCESS = '<process id="4" fmt="App (7)"><pid id="5" fmt="7">7</pid></process>'
FIRST = (
    '<sample-time id="1" fmt="x">2000</sample-time>'
    f'<thread id="2" fmt="Main Thread (0x9) (App, pid: 7)"><tid id="3" fmt="0x9">9</tid>{PROCESS}</thread>'
    '<process ref="4"/><core id="6" fmt="CPU 1">1</core><thread-state id="7" fmt="Running">Running</thread-state>'
    '<weight id="8" fmt="1 ms">1000000</weight>'
)
NEXT = (
    '<sample-time id="50" fmt="x">1000</sample-time><thread ref="2"/><process ref="4"/><core ref="6"/>'
    '<thread-state ref="7"/><weight ref="8"/>'
)
LEAF = (
    '<frame id="11" name="App.Loader.load(_: Swift.Int) -> ()" addr="0x100000142">'
    '<binary id="12" name="App" UUID="X" arch="arm64" load-addr="0x100000000" path="/Users/someone/App"/>'
    '<source id="13" line="31"><path id="14">/Users/someone/load.swift</path></source></frame>'
)
CALLER = (
    '<frame id="15" name="E5RT::Ops::Run(int)" addr="0x180001001">'
    '<binary id="16" name="Espresso" load-addr="0x180000000" path="/System/Library/Espresso"/></frame>'
    '<frame id="17" name="main" addr="0x100000211"><binary ref="12"/><source id="18" line="0">'
    '<path ref="14"/></source></frame>'
)


def read(folder: Path, kind: str, *stacks: str) -> CallStacks:
    described = "".join(
        f"<col><mnemonic>{name}</mnemonic><name>{name}</name><engineering-type>{each}</engineering-type></col>"
        for name, each in {**COLUMNS, "stack": kind}.items()
    )
    rows = "".join(f"<row>{cells}{stack}</row>" for cells, stack in zip((FIRST, NEXT), stacks, strict=False))
    xpath = "//trace-toc[1]/run[1]/data[1]/table[4]"
    node = f'<node xpath="{xpath}"><schema name="time-profile">{described}</schema>{rows}</node>'
    (folder / "a.xml").write_text(f'<?xml version="1.0"?><trace-query-result>{node}</trace-query-result>')
    (table,) = open_recording(folder / "a.xml").call_stacks("time-profile")
    return table


WHOLE = [
    ("App", "App.Loader.load", 0x141, "load.swift:31"),
    ("Espresso", "E5RT::Ops::Run", 0x1000, ""),
    ("App", "main", 0x210, ""),
]


@pytest.mark.parametrize(
    ("kind", "stack"),
    [
        ("backtrace", f'<backtrace id="10">{LEAF}{CALLER}</backtrace>'),
        ("tagged-backtrace", f'<tagged-backtrace id="10" fmt="load">{LEAF}{CALLER}</tagged-backtrace>'),
        (
            "tagged-backtrace",
            f'<tagged-backtrace id="9"><backtrace id="10">{LEAF}{CALLER}</backtrace><uint64 id="40" fmt="1">1</uint64>'
            "</tagged-backtrace>",
        ),
    ],
)
def test_frames_have_names_images_and_lines(tmp_path, kind, stack):
    table = read(tmp_path, kind, stack)
    assert frames_at(table, 0) == WHOLE
    assert [image.is_system for image in table.images] == [False, True]
    assert table.weight_ns.values.tolist() == [1_000_000]


def test_samples_are_in_order_of_time_and_share_their_stacks(tmp_path):
    backtrace = f'<backtrace id="10">{LEAF}{CALLER}</backtrace>'
    table = read(tmp_path, "backtrace", backtrace, '<backtrace ref="10"/>')
    assert table.time_ns.tolist() == [1000, 2000]
    assert table.stack.tolist() == [0, 0]
    again = read(tmp_path, "backtrace", backtrace, '<backtrace id="60"><frame ref="17"/></backtrace>')
    assert frames_at(again, 0) == WHOLE[2:]
    assert read(tmp_path, "backtrace", backtrace, "<sentinel/>").stack.tolist() == [-1, 0]


def test_bare_addresses_are_frames_without_names(tmp_path):
    chunks = (
        '<backtrace id="10" fmt="f"><process ref="4"/><text-addresses id="11" fmt="frag 1">650 649</text-addresses>'
        '<process ref="4"/><text-addresses id="12" fmt="frag 2">648 0</text-addresses></backtrace>'
    )
    assert frames_at(read(tmp_path, "backtrace", chunks), 0) == [(None, None, -1, "")] * 3


def test_functions_without_name_are_called_after_their_place(tmp_path):
    binary = '<binary id="12" name="App" load-addr="0x100000000" path="/a/App"/>'
    frame = f'<frame id="11" name="0x100000100" addr="0x100000142">{binary}</frame>'
    assert frames_at(read(tmp_path, "backtrace", f'<backtrace id="10">{frame}</backtrace>'), 0) == [
        ("App", "App + 0x100", 0x141, "")
    ]


@pytest.mark.parametrize("name", ["0xzz", "0x10", "0x"])
def test_a_name_that_only_looks_like_an_address_names_nothing(tmp_path, name):
    binary = '<binary id="12" name="App" load-addr="0x100000000" path="/a/App"/>'
    frame = f'<frame id="11" name="{name}" addr="junk">{binary}</frame>'
    frames = frames_at(read(tmp_path, "backtrace", f'<backtrace id="10">{frame}</backtrace>'), 0)
    assert frames == [("App", None, -1, "")]


def test_a_table_without_stacks_has_none(tmp_path):
    path = tmp_path / "b.xml"
    read(tmp_path, "backtrace", f'<backtrace id="10">{LEAF}</backtrace>')
    text = (tmp_path / "a.xml").read_text().replace("time-profile", "cpu-state").replace("backtrace", "string")
    path.write_text(text)
    assert open_recording(path).call_stacks("cpu-state") == []


@pytest.mark.corpus
def test_public_exports(corpus):
    (named,) = open_recording(corpus / "xml/xcode14-time-profile.xml").call_stacks("time-profile")
    assert (len(named.time_ns), int((named.stack >= 0).sum())) == (105, 102)
    assert frames_at(named, 0) == [
        ("dyld", "_kernelrpc_mach_vm_protect_trap", 0x151E, ""),
        ("dyld", "lsl::MemoryManager::vm_allocate_bytes", 0x2DEA3, ""),
        ("dyld", "lsl::Allocator::persistentAllocator", 0x30A41, ""),
        ("dyld", "start", 0x62FD, ""),
    ]
    (bare,) = open_recording(corpus / "xml/xcode12.5-time-profile.xml").call_stacks("time-profile")
    assert (bare.frames["function"] == -1).all()
