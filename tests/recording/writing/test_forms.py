"""CSV, JSON lines and Parquet hold what the table holds."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tracekit.columns import Codes, Numbers
from tracekit.errors import TracekitError
from tracekit.recording.table import Column, Process, Table, TableState
from tracekit.recording.writing import forms
from tracekit.recording.writing.files import FileNames, check_folder, complete_file, make_folder
from tracekit.recording.writing.folder import writer_for

TABLE = Table(
    "sample",
    1,
    TableState.ROWS,
    (Column("start", "start-time"), Column("id", "uint64"), Column("label", "string"), Column("label", "process")),
    (
        Numbers(np.array([5, 0, 7]), np.array([True, False, True])),
        Numbers(np.array([-1, 2, 3]), np.array([True, True, True])),
        Codes(np.array([0, 1, -1], dtype=np.int32), ("=1+1", 'say "a",\n100 %')),
        Codes(np.array([0, 0, -1], dtype=np.int32), (Process("app", 7),)),
    ),
    3,
)


@pytest.fixture(params=[1, 65_536])
def chunk(request, monkeypatch):
    monkeypatch.setattr(forms, "CHUNK_ROWS", request.param)
    return request.param


def written(form: str, table: Table = TABLE) -> bytes:
    stream = io.BytesIO()
    writer_for(form)(table, stream)
    return stream.getvalue()


def test_csv_is_read_by_any_reader_and_runs_no_formula(chunk):
    rows = list(csv.reader(io.StringIO(written("csv").decode(), newline="")))
    assert rows == [
        ["start", "id", "label", "label-2"],
        ["5", "18446744073709551615", "'=1+1", "app (7)"],
        ["", "2", 'say "a",\n100 %', "app (7)"],
        ["7", "3", "", ""],
    ]


@pytest.mark.parametrize(
    "text", ["+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1", "\ufeff=1", "\ufeff\ufeff+1", "\u200b@A1", "\x00=1"]
)
def test_no_beginning_of_a_formula_reaches_a_spreadsheet(text):
    table = Table("s", 1, TableState.ROWS, (Column(text, "string"),), (Codes(np.zeros(1, np.int32), (text,)),), 1)
    rows = list(csv.reader(io.StringIO(written("csv", table).decode(), newline="")))
    assert rows == [[f"'{text}"], [f"'{text}"]]


def test_json_lines_tell_null_from_text_and_keep_text_as_it_is(chunk):
    rows = [json.loads(line) for line in written("jsonl").decode().splitlines()]
    assert rows == [
        {"start": 5, "id": 2**64 - 1, "label": "=1+1", "label-2": "app (7)"},
        {"start": None, "id": 2, "label": 'say "a",\n100 %', "label-2": "app (7)"},
        {"start": 7, "id": 3, "label": None, "label-2": None},
    ]


def test_parquet_has_types_and_nulls():
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(io.BytesIO(written("parquet")))
    assert [str(kind) for kind in table.schema.types[:2]] == ["int64", "uint64"]
    assert table.to_pydict() == {
        "start": [5, None, 7],
        "id": [2**64 - 1, 2, 3],
        "label": ["=1+1", 'say "a",\n100 %', None],
        "label-2": ["app (7)", "app (7)", None],
    }


def test_without_pyarrow_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(TracekitError, match=r"pip install 'coreml-tracekit\[parquet\]'"):
        writer_for("parquet")


def fail_half_way(path: Path) -> None:
    with complete_file(path) as stream:
        stream.write(b"half")
        raise ZeroDivisionError


def test_a_file_is_whole_or_absent(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(ZeroDivisionError):
        fail_half_way(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        fail_half_way(path)
    assert path.read_text() == "old"


def test_names_of_files_are_tame_and_differ_where_case_does_not_count():
    names = FileNames(reserved=("toc.xml",))
    given = [
        names.name(schema, ".xml") for schema in ("tick", "Tick", "tick", "../../etc/passwd", "TOC", "", "a" * 300)
    ]
    assert given[:4] == ["tick.xml", "Tick-2.xml", "tick-3.xml", "etc_passwd.xml"]
    assert given[4:6] == ["TOC-2.xml", "table.xml"]
    assert len(given[6]) == 104


def test_a_folder_in_use_is_left_alone_unless_forced(tmp_path):
    make_folder(tmp_path / "new" / "folder")
    check_folder(tmp_path / "new" / "folder", force=False)
    check_folder(tmp_path / "absent", force=False)
    (tmp_path / "file").touch()
    with pytest.raises(TracekitError, match="not empty"):
        check_folder(tmp_path, force=False)
    check_folder(tmp_path, force=True)
    with pytest.raises(TracekitError, match="is not a folder"):
        check_folder(tmp_path / "file", force=True)
    with pytest.raises(TracekitError, match="cannot create"):
        make_folder(tmp_path / "file" / "inside")
