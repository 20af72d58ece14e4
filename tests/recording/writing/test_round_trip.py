"""What is written as XML reads back as equal tables."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.choice import sweep_rest
from tracekit.columns import Codes, Numbers
from tracekit.recording import open_recording
from tracekit.recording.table import CellValue, Column, Process, Table, TableState, Thread
from tracekit.recording.writing import forms, xml
from tracekit.recording.writing.folder import write_folder

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn"), include_characters="\t\n\r"), max_size=12)
LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=12)
PIDS = st.integers(0, 2**31)
PROCESSES = st.builds(Process, LINE, st.none() | PIDS)
OWNERS = st.builds(Process, LINE, PIDS)
VALUES = {
    "start-time": st.integers(0, 2**53 - 1),
    "duration": st.integers(0, 2**53 - 1),
    "uint64": st.integers(-(2**63), 2**63 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "kdebug-arg": st.integers(-(2**63), 2**63 - 1),
    "time-since-epoch": st.integers(-(2**63), 2**63 - 1),
    "string": TEXT,
    "formatted-label": TEXT,
    "process": PROCESSES,
    "thread": st.builds(Thread, LINE, st.none() | st.integers(0, 2**63 - 1), st.none() | OWNERS),
    "text-addresses": st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3).map(
        lambda numbers: " ← ".join(map(hex, numbers))
    ),
}
"""What a table holds for each type. Unsigned numbers above 2^63 - 1 stand there in two's complement."""
INTEGERS = {"start-time", "duration", "uint64", "int64", "kdebug-arg", "time-since-epoch"}


def integer_cells(values: list[int | None]) -> Numbers:
    valid = np.array([value is not None for value in values], dtype=bool)
    return Numbers(np.array([value or 0 for value in values], dtype=np.int64), valid)


def coded_cells(values: list[object]) -> Codes[CellValue]:
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    codes = [-1 if value is None else distinct.index(value) for value in values]
    return Codes(np.array(codes, dtype=np.int32), tuple(distinct))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    types = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=6))
    rows = draw(st.integers(0, 12))
    drawn = [draw(st.lists(st.none() | VALUES[kind], min_size=rows, max_size=rows)) for kind in types]
    columns = tuple(Column(f"c{number}", kind, "A & B") for number, kind in enumerate(types))
    content = tuple(
        integer_cells(values) if kind in INTEGERS else coded_cells(values)
        for kind, values in zip(types, drawn, strict=True)
    )
    state = TableState.ROWS if rows else TableState.EMPTY
    return Table("sample", 1, state, columns, content, rows, position=3)


def assert_equal(one: Table, other: Table) -> None:
    assert (one.schema, one.state, one.rows, one.columns) == (other.schema, other.state, other.rows, other.columns)
    for mine, its in zip(one.cells, other.cells, strict=True):
        if isinstance(mine, Numbers):
            assert isinstance(its, Numbers)
            np.testing.assert_array_equal(mine.values, its.values)
            np.testing.assert_array_equal(mine.known, its.known)
        else:
            assert isinstance(its, Codes)
            np.testing.assert_array_equal(mine.codes, its.codes)
            assert mine.values == its.values


@settings(deadline=None, max_examples=200)
@given(table=tables(), chunk=st.sampled_from([2, 65_536]), remembered=st.sampled_from([1, 500_000]))
def test_any_table_reads_back_as_it_was(table, chunk, remembered):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "CHUNK_ROWS", chunk)
        patch.setattr(xml, "MAX_REMEMBERED", remembered)
        path = Path(folder) / "table.xml"
        with path.open("wb") as stream:
            xml.write_xml(table, stream)
        (read,) = open_recording(path).tables("sample")
    assert_equal(replace(table, source="table.xml"), read)
    assert read.position == 3


def test_ids_rise_in_document_order_and_nested_values_take_part(tmp_path):
    owner = Process("app", 7)
    columns = (Column("time", "start-time"), Column("thread", "thread"), Column("process", "process"))
    content = (
        integer_cells([60_505_087_750, 60_505_087_750]),
        coded_cells([Thread("Main Thread", 9, owner)] * 2),
        coded_cells([owner, None]),
    )
    path = tmp_path / "table.xml"
    with path.open("wb") as stream:
        xml.write_xml(Table("sample", 1, TableState.ROWS, columns, content, 2), stream)
    rows = path.read_text(encoding="utf-8").partition("</schema>")[2].splitlines()
    assert rows[0] == (
        '<row><start-time id="1" fmt="01:00.505.087">60505087750</start-time>'
        '<thread id="2" fmt="Main Thread"><tid id="3" fmt="0x9">9</tid><process id="4" fmt="app (7)">'
        '<pid id="5" fmt="7">7</pid><device-session id="6" fmt="TODO">TODO</device-session></process></thread>'
        '<process ref="4"/></row>'
    )
    assert rows[1] == '<row><start-time ref="1"/><thread ref="2"/><sentinel/></row>'
    assert rows[2] == "</node></trace-query-result>"


@pytest.mark.parametrize(
    ("ns", "shown"),
    [(319_125, "319.12 µs"), (91_375, "91.38 µs"), (5_350_000, "5.35 ms"), (28_900_000_000, "28.90 s"), (1, "1 ns")],
)
def test_durations_are_shown_as_instruments_shows_them(tmp_path, ns, shown):
    path = tmp_path / "table.xml"
    table = Table("s", 1, TableState.ROWS, (Column("d", "duration"),), (integer_cells([ns]),), 1)
    with path.open("wb") as stream:
        xml.write_xml(table, stream)
    assert f'fmt="{shown}">{ns}<' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("sample", ["captions_concurrent", "sharpen_8bit", "not_instrumented"])
def test_a_sample_reads_back_as_it_was(exports, tmp_path, sample):
    before = open_recording(exports / sample)
    write_folder(before, tmp_path, "xml", public=None)
    after = open_recording(tmp_path)
    assert_same_recording(before, after)
    # The path of the executable is private, and is not written.
    assert [replace(run, tables=()) for run in after.contents.runs] == [
        replace(run, tables=(), target=replace(run.target, path=None)) for run in before.contents.runs
    ]


def assert_same_recording(before, after) -> None:
    assert len(before.run.tables) == len(after.run.tables)
    for entry, other in zip(before.run.tables, after.run.tables, strict=True):
        assert (entry.schema, entry.state, entry.rows, entry.attributes) == (
            other.schema,
            other.state,
            other.rows,
            other.attributes,
        )
    for schema in dict.fromkeys(entry.schema for entry in before.run.tables):
        for one, other in zip(before.tables(schema), after.tables(schema), strict=True):
            assert_equal(one, other)


def written(table: Table, path: Path) -> str:
    with path.open("wb") as stream:
        xml.write_xml(table, stream)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "kind", ["uint64", "address", "os-signpost-identifier", "connection-filter", "kdebug-arg", "any"]
)
def test_unsigned_numbers_are_written_without_a_sign(tmp_path, kind):
    table = Table(
        "s", 1, TableState.ROWS, (Column("id", kind),), (integer_cells([-1, 17_216_892_719_917_625_070 - 2**64]),), 2
    )
    text = written(table, tmp_path / "table.xml")
    assert ">18446744073709551615<" in text
    assert ">17216892719917625070<" in text
    assert ">-" not in text


def test_numbers_of_types_that_can_be_negative_keep_their_sign(tmp_path):
    for kind in ("int64", "time-since-epoch"):
        table = Table("s", 1, TableState.ROWS, (Column("id", kind),), (integer_cells([-5]),), 1)
        assert ">-5<" in written(table, tmp_path / "table.xml")


@pytest.mark.parametrize("kind", ["kdebug-func", "percent", "time-sample-kind", "metal-workload-priority"])
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", None, "0"], [1, None, 0]),
        (["18446744073709551615"], [-1]),
        (["1", "START"], ["1", "START"]),
        (["12.5 %"], ["12.5 %"]),
        ([None], [None]),
    ],
)
def test_a_type_that_was_never_seen_is_numbers_where_all_its_cells_are(tmp_path, kind, texts, expected):
    cells = ["<sentinel/>" if text is None else f'<{kind} fmt="shown">{text}</{kind}>' for text in texts]
    rows = "".join(f"<row>{cell}</row>" for cell in cells)
    schema = (
        f'<schema name="s"><col><mnemonic>c</mnemonic><name>C</name><engineering-type>{kind}</engineering-type></col>'
    )
    path = tmp_path / "export.xml"
    xpath = "//trace-toc[1]/run[1]/data[1]/table[1]"
    path.write_text(
        f"<trace-query-result><node xpath='{xpath}'>{schema}</schema>{rows}</node></trace-query-result>",
        encoding="utf-8",
    )
    (table,) = open_recording(path).tables("s")
    assert [table.cells[0].item(row) for row in range(table.rows)] == expected
    assert isinstance(table.cells[0], Codes if any(isinstance(each, str) for each in expected) else Numbers)


def test_every_number_of_a_bundle_is_one_in_an_export_too():
    from tracekit.recording.bundle.types import KNOWN, REPORTED, Storage
    from tracekit.recording.engineering_types import Kind, kind_of

    types = (*KNOWN.values(), *REPORTED.values())
    assert len({kind.mnemonic for kind in types}) == len(types)
    numeric = {kind.mnemonic for kind in types if kind.storage is Storage.INTEGER} | {"time-since-epoch"}
    assert {kind for kind in numeric if kind_of(kind) not in (Kind.INTEGER, Kind.NUMBER, Kind.TIME)} == set()


SAMPLED_ROWS = 400


def sampled(table: Table) -> Table:
    """A part of the rows, spread over all of them."""
    rows = np.unique(np.linspace(0, table.rows - 1, SAMPLED_ROWS).astype(int)) if table.rows else np.array([], int)
    cells = tuple(
        Numbers(column.values[rows], column.known[rows])
        if isinstance(column, Numbers)
        else coded_cells([column.item(int(row)) for row in rows])
        for column in table.cells
    )
    return replace(table, cells=cells, rows=len(rows))


@pytest.mark.corpus
@pytest.mark.parametrize("name", sweep_rest("output", "hello_coreml", "quick_probe", "fp16_w8_60s_all"))
def test_every_table_of_a_real_bundle_reads_back_as_it_was(corpus, tmp_path, name, request):
    """Of large tables a part. All rows of all tables were compared once."""
    if name not in ("hello_coreml", "output") and not request.config.getoption("--every-case"):
        pytest.skip("takes seconds: run with --every-case")
    recording = open_recording(corpus / f"bundles/{name}.trace")
    path = tmp_path / "table.xml"
    compared = 0
    for schema in dict.fromkeys(entry.schema for entry in recording.run.tables):
        for table in recording.tables(schema):
            if table.state is not TableState.UNREADABLE:
                part = sampled(table)
                written(replace(part, position=1), path)
                (read,) = open_recording(path).tables(schema)
                assert_equal(part, read)
                compared += 1
    assert compared == len(recording.run.tables) - 2 * (name in ("hello_coreml", "fp16_w8_60s_all"))


def test_a_character_that_xml_cannot_hold_is_replaced(tmp_path):
    path = tmp_path / "table.xml"
    table = Table("s", 1, TableState.ROWS, (Column("t", "string"),), (coded_cells(["a\x00b", "\udc80"]),), 2)
    with path.open("wb") as stream:
        xml.write_xml(table, stream)
    (read,) = open_recording(path).tables("s")
    assert [read.cells[0].item(row) for row in range(2)] == ["a\ufffdb", "\ufffd"]
