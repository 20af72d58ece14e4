"""What the element of each engineering type says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tracekit.columns import Numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.export import cells
from tracekit.recording.quoting import excerpt
from tracekit.recording.table import Process, Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[str, str], object]


@pytest.fixture
def read(xml, write):
    """Value of a single cell in a column of that type."""

    def value(engineering_type: str, element: str) -> object:
        (table,) = open_recording(write(xml.one_table(f"value:{engineering_type}", element))).tables("sample")
        return table.cells[0].item(0)

    return value


@pytest.mark.parametrize(
    ("engineering_type", "element", "value"),
    [
        ("start-time", '<start-time fmt="00:00.001">1000</start-time>', 1000),
        ("boolean", '<boolean fmt="Yes">1</boolean>', 1),
        ("metal-command-buffer-id", '<metal-command-buffer-id fmt="0x123">291</metal-command-buffer-id>', 291),
        ("core", '<core fmt="CPU 7 (Performance)">7</core>', 7),
        ("coreml-model-event", '<coreml-model-event fmt="Prediction">Prediction</coreml-model-event>', "Prediction"),
        ("coreml-model-event", "<coreml-model-event>text only</coreml-model-event>", "text only"),
        ("coreml-model-event", '<coreml-model-event fmt="display only"/>', "display only"),
        ("metal-object-label", '<metal-object-label fmt=""></metal-object-label>', ""),
        ("string", '<string fmt="shown"> kept  as it is </string>', " kept  as it is "),
        ("formatted-label", '<formatted-label fmt="a:b"><string>c</string></formatted-label>', "a:b"),
        ("formatted-label", "<formatted-label><string>a</string><uint64>7</uint64></formatted-label>", "a7"),
        ("formatted-label", "<formatted-label>\n  <string>a</string>\n</formatted-label>", "a"),
        ("formatted-label", "<formatted-label>plain</formatted-label>", "plain"),
        ("formatted-label", '<formatted-label fmt=""/>', ""),
        (
            "narrative",
            '<narrative fmt="VSync Request 00:01"><start-time>1</start-time></narrative>',
            "VSync Request 00:01",
        ),
        ("process", '<process fmt="a (b) (42)"><pid fmt="42">42</pid></process>', Process("a (b)", 42)),
        (
            "process",
            '<process fmt="1.024 (1.024)"><pid fmt="1.024">1024</pid></process>',
            Process("1.024 (1.024)", 1024),
        ),
        ("process", '<process fmt="blank  (42)"><pid>42</pid></process>', Process("blank ", 42)),
        ("process", '<process fmt="no pid (7)"/>', Process("no pid (7)", None)),
        ("process", "<process><sentinel/></process>", Process("", None)),
        ("thread", '<thread fmt="Main Thread (0x1)"><tid fmt="0x1">1</tid></thread>', Thread("Main Thread (0x1)", 1)),
        (
            "thread",
            '<thread fmt="t"><tid>5</tid><process fmt="p (9)"><pid>9</pid></process></thread>',
            Thread("t", 5, Process("p", 9)),
        ),
        (
            "backtrace",
            '<backtrace><frame name="leaf" addr="0x1"><binary name="b"/></frame>'
            '<frame name="" addr="0x2"/></backtrace>',
            "leaf ← 0x2",
        ),
        (
            "tagged-backtrace",
            '<tagged-backtrace fmt="leaf ← (1 other frames)"><backtrace><frame name="leaf"/><frame name="main"/>'
            "</backtrace><uint64>3</uint64></tagged-backtrace>",
            "leaf ← main",
        ),
        (
            "tagged-backtrace",
            '<tagged-backtrace><frame name="leaf"/><frame name="main"/></tagged-backtrace>',
            "leaf ← main",
        ),
        (
            "backtrace",
            '<backtrace fmt="f ← (2 other frames)"><process fmt="p"/><text-addresses>16 17</text-addresses>'
            "<process fmt='p'/><text-addresses>255</text-addresses></backtrace>",
            "0x10 ← 0x11 ← 0xff",
        ),
        ("text-backtrace", "<text-backtrace>from a file</text-backtrace>", "from a file"),
        ("kperf-bt", '<kperf-bt fmt="0x1 ← (3 other frames)"/>', "0x1 ← (3 other frames)"),
        ("unheard-of", "<unheard-of>5</unheard-of>", "5"),
        ("unheard-of", "<unheard-of><a><b>deep</b></a></unheard-of>", "deep"),
        ("unheard-of", "<unheard-of/>", ""),
        ("start-time", "<sentinel/>", None),
        ("string", "<sentinel/>", None),
        ("any", "<uint64>18446744073709551615</uint64>", -1),
        ("any", "<string>12</string>", 12),
        ("any", "<string>twelve</string>", "twelve"),
        ("any", "<sentinel/>", None),
    ],
)
def test_an_element_reads_as_its_type_says(read, engineering_type, element, value):
    assert read(engineering_type, element) == value


def test_nested_numbers_must_be_numbers_too(read):
    with pytest.raises(UnreadableRecording, match=r"'value': <pid> contains 'x' where a whole number is expected"):
        read("process", "<process><pid>x</pid></process>")


def test_a_column_of_any_type_is_text_unless_all_its_cells_are_whole_numbers(xml, write, items):
    numbers = ("<uint64>5</uint64>", "<string>-7</string>", "<sentinel/>", "<duration>9</duration>")
    mixed = (*numbers, "<string>no</string>", "<uint64>18446744073709551615</uint64>", '<process fmt="p"/>')
    for rows, expected in ((numbers, [5, -7, None, 9]), (mixed, ["5", "-7", None, "9", "no", f"{2**64 - 1}", "p"])):
        (table,) = open_recording(write(xml.one_table("value:any", *rows))).tables("sample")
        assert items(table.cells[0]) == expected
        assert isinstance(table.cells[0], Numbers) == (rows is numbers)


def test_repeated_values_share_a_code_in_order_of_first_appearance(xml, write):
    rows = ("<string>b</string>", "<sentinel/>", "<string>a</string>", "<string>b</string>")
    (table,) = open_recording(
        write(xml.one_table("unused:string value:string", *(f"<sentinel/>{row}" for row in rows)))
    ).tables("sample")
    cells = table.cells[1]
    assert not isinstance(cells, Numbers)
    assert (cells.values, cells.codes.tolist()) == (("b", "a"), [0, -1, 1, 0])
    assert table.cells[0].codes.tolist() == [-1] * 4


def test_long_tables_cross_the_blocks_they_are_collected_in(xml, write, monkeypatch):
    monkeypatch.setattr("tracekit.recording.export.columns._FLUSH_CELLS", 50)
    rows = [
        f"<start-time>{number}</start-time>" + (f"<string>{number % 7}</string>" if number % 3 else "<sentinel/>")
        for number in range(1000)
    ]
    (table,) = open_recording(write(xml.one_table("start:start-time text:string", *rows))).tables("sample")
    assert [table.cells[0].item(row) for row in range(1000)] == list(range(1000))
    assert [table.cells[1].item(row) for row in range(1000)] == [
        str(number % 7) if number % 3 else None for number in range(1000)
    ]


def test_values_in_messages_are_short_and_printable():
    assert excerpt("a\x1b[31m\n") == r"'a\x1b[31m\n'"
    assert len(excerpt("a" * 10_000)) < 70


@pytest.mark.parametrize("kept", [1, 4_096])
def test_a_reference_means_the_latest_definition_of_its_id(xml, write, monkeypatch, kept):
    monkeypatch.setattr(cells, "_MAX_KNOWN", kept)
    rows = [
        '<uint64 id="1">5</uint64><uint64 id="2">8</uint64>',
        '<uint64 ref="1"/><uint64 ref="2"/>',
        '<uint64 ref="1"/><uint64 ref="1"/>',
        '<uint64 id="1">6</uint64><uint64 ref="1"/>',
        '<uint64 ref="1"/><sentinel ref="2"/>',
        '<uint64 ref="2"/><uint64 ref="1"/>',
    ]
    (table,) = open_recording(write(xml.one_table("first:uint64 second:uint64", *rows))).tables("sample")
    first, second = table.cells
    assert [first.item(row) for row in range(6)] == [5, 5, 5, 6, 6, 8]
    assert [second.item(row) for row in range(6)] == [8, 8, 5, 6, None, 6]
