"""`tracekit sql`."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from time import process_time

import pytest

pytest.importorskip("duckdb")
COUNT = "select model, count(*) as n from predictions group by model"


@pytest.fixture
def path(samples):
    return samples / "captions_concurrent.trace"


def test_one_query_is_answered_in_every_form(tracekit, path, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    files = [tmp_path / f"out.{ending}" for ending in ("csv", "json", "md", "parquet")]
    result = tracekit("sql", path, COUNT, *(part for file in files for part in ("-o", file)))
    assert result.status == 0
    assert list(csv.reader(io.StringIO(files[0].read_text()))) == [["model", "n"], ["CaptionEncoder", "276"]]
    document = json.loads(files[1].read_text())
    assert document["rows"] == [["CaptionEncoder", 276]]
    assert document["coverage"] == [{"view": "predictions", "recorded": True, "note": ""}]
    assert "| CaptionEncoder | 276 |" in files[2].read_text().replace("`", "")
    table = parquet.read_table(files[3])
    assert table.to_pylist() == [{"model": "CaptionEncoder", "n": 276}]
    assert json.loads(table.schema.metadata[b"tracekit"])["coverage"][0]["recorded"]
    assert tracekit("sql", path, COUNT).out.split() == ["model", "n", "CaptionEncoder", "276", "1", "row"]


def test_what_was_not_recorded_is_said_in_every_form(tracekit, path):
    for form, shown in (
        ("text", "0 rows"),
        ("csv", "# thermal: Thermal State was not recorded"),
        ("json", '"recorded": false'),
    ):
        result = tracekit("sql", path, "from thermal", "--format", form, "-q")
        assert (result.status, shown in result.out) == (3, True)
        assert "thermal: Thermal State was not recorded" in result.err


def test_rows_that_are_too_many_to_be_fetched_fit_into_parquet(tracekit, path, tmp_path, monkeypatch):
    monkeypatch.setattr("tracekit.query.database.MOST_CELLS", 100)
    said = tracekit("sql", path, "select start_ns from predictions", "-o", tmp_path / "rows.csv")
    assert (said.status, said.err.count("\n"), "limit 100" in said.err) == (2, 1, True)
    assert not (tmp_path / "rows.csv").exists()
    parquet = pytest.importorskip("pyarrow.parquet")
    assert tracekit("sql", path, "select start_ns from predictions", "-o", tmp_path / "rows.parquet").status == 0
    assert parquet.read_table(tmp_path / "rows.parquet").num_rows == 276


def test_cells_are_json_and_run_in_no_spreadsheet(tracekit, path):
    query = "select 1 / 0 as a, ['nan'::double, 2] as b, map {date '2026-11-27': 1.5::decimal(3, 1)} as c, 3 as d"

    def refuse_constant(name):
        raise AssertionError(name)

    document = json.loads(tracekit("sql", path, query, "--json").out, parse_constant=refuse_constant)
    assert document["rows"] == [[None, [None, 2], {"2026-11-27": 1.5}, 3]]

    said = tracekit("sql", path, """select '=2+2' as "=1+1", '@x' as b""", "--format", "csv")
    assert list(csv.reader(io.StringIO(said.out))) == [["'=1+1", "b"], ["'=2+2", "'@x"]]


def test_a_query_is_given_between_options_in_a_file_or_a_pipe(tracekit, path, tmp_path, monkeypatch):
    said = tracekit("sql", path, "--format", "csv", COUNT)
    assert (said.status, said.out) == (0, tracekit("sql", path, COUNT, "--format", "csv").out)

    (tmp_path / "ask.sql").write_text(COUNT)
    assert "276" in tracekit("sql", path, "-f", tmp_path / "ask.sql").out
    for arguments, sentence in (
        (("-f", tmp_path / "none.sql"), "none.sql: No such file or directory\n"),
        ((COUNT, "-f", tmp_path / "ask.sql"), "give QUERY or --file, not both"),
        (("from nobody",), "unknown view 'nobody'"),
    ):
        result = tracekit("sql", path, *arguments)
        assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1)

    for query, status, shown in (
        (COUNT, 0, "model,n\nCaptionEncoder,276\n"),
        ("", 2, "missing QUERY"),
        ("select \udcff", 2, "not UTF-8"),
        ("from loads; from loads;", 2, "one query at a time"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(query))
        result = tracekit("sql", path, "--format", "csv")
        assert (result.status, shown in result.out + result.err) == (status, True)
        assert result.err.count("\n") == (status == 2)


def test_views_and_recorded_tables_are_listed_with_their_rows(tracekit, path):
    lines = {
        line.split()[0]: line.split()[1] for line in tracekit("sql", path, "--list").out.splitlines() if line.strip()
    }
    assert lines["predictions"] == "276"
    assert lines["thermal"] == "–"
    assert lines['raw."coreml-os-signpost"'] == "1,105"


@pytest.mark.sweep
def test_tab_completes_views_and_columns_on_a_terminal(path):
    person, terminal = pty.openpty()
    command = [sys.executable, "-m", "tracekit", "sql", str(path), "--no-config"]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True) as process:
        os.close(terminal)
        said = b""
        with suppress(OSError):
            while chunk := os.read(person, 1_000):
                said += chunk
                if said.endswith(b"sql> "):
                    os.write(person, b".quit\n" if b" row" in said else b"select max(is_fi\t::int) from predic\ts;\n")
    os.close(person)
    assert process.returncode == 0
    # No column is called is_fi, and no view predics.
    assert b"1 row" in said


def test_a_prompt_answers_until_the_end_and_survives_mistakes(tracekit, path, monkeypatch):
    said = iter(["select count(*)", "from predictions;", "from nobody;", ".columns loads", ".help", ".quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(said))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    result = tracekit("sql", path)
    assert (result.status, "276" in result.out) == (0, True)
    assert "unknown view 'nobody'" in result.err
    assert "is_cold" in result.err


def test_without_duckdb_one_sentence_says_what_to_install(tracekit, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr(sys, "executable", "/opt/my tools/bin/python")
    result = tracekit("sql", path, COUNT)
    installed = "'/opt/my tools/bin/python' -m pip install 'coreml-tracekit[sql]'"
    assert (result.status, result.err) == (2, f"tracekit: SQL needs the package duckdb: {installed}\n")
    # Of uv, in the home folder, which names the user.
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr(sys, "executable", "/home/ada/tools/bin/python")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    installed = "uv pip install --python ~/tools/bin/python 'coreml-tracekit[sql]'"
    assert tracekit("sql", path, COUNT).err == f"tracekit: SQL needs the package duckdb: {installed}\n"


def test_a_huge_cell_is_laid_out_in_time_that_grows_with_its_size(tracekit, path):
    before = process_time()
    said = tracekit("sql", path, "select repeat('x', 100_000) as b")
    # It was a minute, with its square.
    assert (said.out.count("x"), process_time() - before < 20) == (100_000, True)
