"""`tracekit export`: tables in other forms, on any machine."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest


def test_csv_holds_the_rows_and_the_list_says_what_lies_where(tracekit, reload_xml: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = tracekit("export", reload_xml, "--folder", folder)
    assert (result.status, result.out) == (0, "")
    listed = json.loads((folder / "tables.json").read_text(encoding="utf-8"))["tables"]
    files = {entry["file"]: entry["rows"] for entry in listed if entry["file"]}
    assert files.keys() | {"tables.json"} == {path.name for path in folder.iterdir()}
    for name, rows in files.items():
        with (folder / name).open(encoding="utf-8", newline="") as stream:
            assert len(list(csv.reader(stream))) == rows + 1
    states = {entry["schema"]: entry["state"] for entry in listed}
    assert states["kdebug"] == "unreadable"
    left_out = sum(entry["state"] == "unreadable" for entry in listed)
    assert f"skipped {left_out} tables: listed in the table of contents but not exported" in result.err
    assert "private texts are replaced" in result.err


def test_cells_are_redacted_as_sql_shows_them_unless_asked_for(tracekit, samples: Path, tmp_path: Path) -> None:
    for flags, kept in (((), False), (("--no-redact",), True)):
        folder = tmp_path / str(kept)
        result = tracekit("export", samples / "meal_planner.trace", "--folder", folder, *flags)
        assert ("cells are not redacted" in result.err) == kept
        texts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.csv"))
        for written in ("You plan meals", "Question 1", "An answer.", "spices", "request_start"):
            assert (written in texts) == kept
        assert "MealPlanner (5127)" in texts
        with (folder / "ModelInferenceTable.csv").open(encoding="utf-8", newline="") as stream:
            assert next(csv.DictReader(stream))["prompt-tokens"] == "412"


@pytest.mark.sweep
def test_xml_has_samples_without_their_call_stacks(tracekit, tmp_path: Path, reload_xml: Path) -> None:
    tracekit("export", reload_xml, "--folder", tmp_path / "again", "--format", "xml", "-q", "--no-redact")
    report = tracekit("analyze", tmp_path / "again", "--format", "json").json
    assert report["code"]["samples"] == 2_410
    assert report["code"]["stacks"] == 0
    assert report["code"]["call_sites"] == []


def test_private_facts_of_the_device_stay_here(tracekit, reload_xml: Path, tmp_path: Path) -> None:
    toc = (reload_xml / "toc.xml").read_text(encoding="utf-8")
    name = toc.partition("<device ")[2].partition('name="')[2].partition('"')[0]
    uuid = toc.partition("<device ")[2].partition('uuid="')[2].partition('"')[0]
    assert name
    assert uuid
    for flags, kept in (((), False), (("--no-redact",), True)):
        folder = tmp_path / str(kept)
        tracekit("export", reload_xml, "--folder", folder, "--format", "xml", *flags)
        written = (folder / "toc.xml").read_text(encoding="utf-8")
        assert (name in written, uuid in written) == (kept, kept)


def test_only_the_wanted_tables_are_written_and_nothing_is_overwritten_unless_forced(
    tracekit, reload_xml: Path, tmp_path: Path
) -> None:
    result = tracekit(
        "export", reload_xml, "--folder", tmp_path / "o", "--schema", "coreml-os-signpost", "--format", "jsonl"
    )
    assert result.status == 0
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"coreml-os-signpost.jsonl", "tables.json"}
    assert "ignored" not in result.err

    (tmp_path / "coreml-os-signpost.csv").write_text("mine")
    result = tracekit("export", reload_xml, "--folder", tmp_path)
    assert (result.status, (tmp_path / "coreml-os-signpost.csv").read_text()) == (2, "mine")
    assert "--force" in result.err
    assert tracekit("export", reload_xml, "--folder", tmp_path, "--force").status == 0
    assert (tmp_path / "coreml-os-signpost.csv").read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schema", "coreml-os-signpots"], "did you mean 'coreml-os-signpost'"),
        (["--schema", "kdebug"], "table 'kdebug' cannot be read: listed in the table of contents but not exported"),
        (["--schema", "zebra"], "unknown table 'zebra'"),
        (["--run", "9"], "has no run 9"),
        (["--run", "0"], "expected a run number, 1 or more, found '0'"),
    ],
)
def test_what_is_not_there_is_said_before_anything_is_written(
    tracekit, reload_xml: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = tracekit("export", reload_xml, "--folder", tmp_path / "o", *arguments)
    assert result.status == 2
    assert message in result.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("ending", "begins"), [("csv", b"start,"), ("jsonl", b'{"start"'), ("xml", b"<?xml")])
def test_one_table_goes_into_one_file(tracekit, reload_xml: Path, tmp_path: Path, ending: str, begins: bytes) -> None:
    file = tmp_path / f"table.{ending}"
    result = tracekit("export", reload_xml, "--schema", "coreml-os-signpost", "-o", file)
    assert (result.status, result.out) == (0, "")
    assert f"wrote 1 table with 1,736 rows to {file}" in result.err
    assert file.read_bytes().startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_without_a_recording_it_says_what_can_be_exported(tracekit) -> None:
    result = tracekit("export")
    assert (result.status, result.err) == (0, "")
    assert all(line.startswith("tracekit export ") for line in result.out.splitlines()[:-2])
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("private", [False, True])
def test_the_timeline_for_other_viewers_is_redacted_like_a_report(
    tracekit, samples: Path, tmp_path: Path, private: bool
) -> None:
    file = tmp_path / "run.json"
    flags = ["--no-redact"] if private else []
    result = tracekit("export", samples / "sharpen_8bit.trace", "-o", file, *flags)
    assert (result.status, result.out) == (0, "")
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    intervals = sum(event["ph"] == "X" for event in events)
    assert f"wrote {file} with {intervals:,} intervals" in result.err
    names = " ".join(event["name"] for event in events)
    assert ("backboardd" in names) == private
    assert ("(process B" in names) != private


def test_without_the_package_perfetto_the_message_says_how_to_get_it(
    tracekit, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "perfetto", None)
    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)
    file = tmp_path / "run.pftrace"
    result = tracekit("export", samples / "sharpen_8bit.trace", "-o", file)
    assert (result.status, file.exists()) == (2, False)
    assert "pip install 'coreml-tracekit[perfetto]'" in result.err


def test_the_format_chooses_the_form_and_names_the_file(
    tracekit, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recording = samples.resolve() / "captions_concurrent.trace"
    result = tracekit("export", recording, "--format", "chrome")
    assert (result.status, "wrote captions_concurrent.json with" in result.err) == (0, True)
    assert tracekit("export", recording, "--format", "chrome", "-o", "any.bin").status == 0
    written = Path("captions_concurrent.json").read_bytes()
    assert Path("any.bin").read_bytes() == written
    assert "Hangs" in json.loads(written)["otherData"]["not_recorded"]
    assert "Hangs" not in {
        event["args"].get("name") for event in json.loads(written)["traceEvents"] if event["ph"] == "M"
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "{tmp}/x.json", "--schema", "kdebug"], "--schema is for tables, and this writes the timeline"),
        (["-o", "{tmp}/x.json", "--format", "csv"], "--format is for tables"),
        (["--folder", "{tmp}/x", "--open"], "--open is for timelines, such as -o run.pftrace"),
        (["--process", "7"], "--process is for timelines"),
        (["-o", "{tmp}/x.json", "--folder", "{tmp}/x"], "give one of them"),
        (["-o", "{tmp}/x.json", "-o", "{tmp}/y.json"], "one file at a time (got 2)"),
        (["-o", "{input}/Trace1.run/x.json"], "it is part of the recording"),
        (["-o", "{tmp}/x.html"], "a report with the findings: `tracekit analyze "),
        (["-o", "{tmp}/no/x.json"], "no such folder"),
        (["-o", "{tmp}/x.csv"], "name it with --schema"),
        (["--format", "csv"], "missing --folder DIR"),
        (["--format", "perfetto", "--folder", "{tmp}/x"], "--folder is for tables"),
        (["--folder", "{tmp}/x", "--format", "json"], "csv, jsonl, parquet, xml, not json"),
    ],
)
def test_what_a_viewer_cannot_get_is_said(
    tracekit, samples: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    recording = samples / "sharpen_8bit.trace"
    given = [argument.format(input=recording, tmp=tmp_path) for argument in arguments]
    result = tracekit("export", recording, *given)
    assert result.status == 2
    assert message in result.err
    assert not list(tmp_path.iterdir())
