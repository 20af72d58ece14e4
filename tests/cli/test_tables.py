"""`tracekit export` without a place to write to: what a recording holds, with nothing turned into zero."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

TWO_TABLES = """<?xml version="1.0"?>
<trace-query-result>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[3]'><schema name="first"><col><mnemonic>time</mnemonic><name>T</name>
<engineering-type>event-time</engineering-type></col></schema>
<row><event-time id="1" fmt="0">0</event-time></row><row><event-time ref="1"/></row></node>
<node xpath='//trace-toc[1]/run[1]/data[1]/table[7]'><schema name="second"><col><mnemonic>time</mnemonic><name>T</name>
<engineering-type>event-time</engineering-type></col><col><mnemonic>what</mnemonic><name>W</name>
<engineering-type>string</engineering-type></col></schema></node>
</trace-query-result>
"""

TOC = """<?xml version="1.0"?>
<trace-toc><run number="1"><info/><data>
<table schema="tick"/><table schema="never-exported" target-pid="SINGLE" device-uuid="SECRET"/><table schema="first"/>
<table schema="tick"/><table schema="tick"/><table schema="tick"/><table schema="second"/>
</data></run></trace-toc>
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file with a table of two rows and an empty one."""
    path = tmp_path / "export.xml"
    path.write_text(TWO_TABLES, encoding="utf-8")
    return path


def test_each_table_has_its_place_state_and_counts_from_several_paths_too(
    tracekit, export: Path, tmp_path: Path
) -> None:
    result = tracekit("export", export)
    assert (result.status, result.err) == (0, "")
    heading, *lines = [line.split() for line in result.out.splitlines()]
    assert heading == ["run", "position", "state", "rows", "columns", "schema"]
    assert lines == [
        ["1", "3", "recorded", "2", "1", "first"],
        ["1", "7", "recorded,", "no", "events", "0", "2", "second"],
    ]

    toc = tmp_path / "elsewhere" / "list.xml"
    toc.parent.mkdir()
    toc.write_text(TOC, encoding="utf-8")
    listed = tracekit("export", export, toc, "--json").json
    assert {entry["schema"] for entry in listed} >= {"first", "second", "never-exported"}


def test_what_is_not_known_is_null_or_a_dash_and_each_reason_is_told_once(
    tracekit, export: Path, tmp_path: Path
) -> None:
    (tmp_path / "toc.xml").write_text(TOC, encoding="utf-8")
    listed = {entry["schema"]: entry for entry in tracekit("export", tmp_path, "--json").json}
    absent = listed["never-exported"]
    assert absent["state"] == "unreadable"
    assert (absent["rows"], absent["columns"]) == (None, None)
    assert absent["attributes"] == {"target-pid": "SINGLE", "device-uuid": "<private>"}
    assert "not exported" in absent["reason"]

    result = tracekit("export", tmp_path)
    (line,) = (line for line in result.out.splitlines() if "never-exported" in line)
    assert line.split()[2:5] == ["unreadable", "-", "-"]
    assert "SECRET" not in result.out

    assert result.out.endswith("\n\nUnreadable: 5 tables (listed in the table of contents but not exported)\n")


def test_a_narrow_terminal_keeps_state_rows_and_schema(tracekit, export: Path, monkeypatch) -> None:
    def heading(columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = tracekit("export", export).out.splitlines()
        assert max(map(len, lines)) <= columns
        return lines[0].split()

    assert heading(80) == ["run", "position", "state", "rows", "columns", "schema"]
    assert heading(30) == ["state", "rows", "schema"]


def test_a_table_of_contents_without_tables_lists_none(tracekit, tmp_path: Path) -> None:
    path = tmp_path / "toc.xml"
    path.write_text('<trace-toc><run number="1"><info/><data/></run></trace-toc>', encoding="utf-8")
    assert tracekit("export", path).out == "No tables are listed.\n"


def test_standard_input_is_a_path(tracekit, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TWO_TABLES.encode())))
    result = tracekit("export", "-", "--json")
    assert result.status == 0
    assert {entry["source"] for entry in result.json} == {"standard input"}
