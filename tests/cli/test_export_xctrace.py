"""`tracekit export` through Apple's tool, as the stand-in imitates it, and every way in which it fails."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.choice import sweep_rest
from tracekit.recording.xctrace import exporter

CORE_ML = "coreml-os-signpost"


@pytest.fixture
def export(tracekit, standin, sample_bundle: Path, tmp_path: Path, monkeypatch):
    """Export the sample bundle through the stand-in."""
    # Of this module alone: without pauses, waiting for a program keeps a processor busy.
    monkeypatch.setattr(exporter, "time", SimpleNamespace(sleep=lambda _: None))

    def call(*arguments: str, reader: str = "xctrace", **settings: str):
        standin(**settings)
        return tracekit("export", sample_bundle, "--folder", tmp_path / "out", "--reader", reader, *arguments)

    return call


def test_the_tables_are_those_of_the_recording(export, tracekit, reload_xml: Path, tmp_path: Path, standin_log) -> None:
    result = export("--schema", CORE_ML, "--schema", "os-signpost")
    assert (result.status, result.out) == (0, "")
    assert "xctrace is exporting table 1 of 2" in result.err
    assert tracekit("export", reload_xml, "--folder", tmp_path / "direct", "--schema", CORE_ML).status == 0
    assert (tmp_path / "out" / f"{CORE_ML}.csv").read_bytes() == (tmp_path / "direct" / f"{CORE_ML}.csv").read_bytes()
    exported = [words[-1] for words in standin_log()]
    assert exported == [
        "--toc",
        *(f'/trace-toc/run[@number="1"]/data/table[@schema="{name}"]' for name in (CORE_ML, "os-signpost")),
    ]


def test_a_schema_that_is_not_listed_is_never_asked_for(export, standin_log) -> None:
    result = export("--schema", "coreml-os-signpots")
    assert result.status == 2
    assert f"did you mean '{CORE_ML}'" in result.err
    assert len(standin_log()) == 1


@pytest.mark.parametrize(("failure", "times", "calls"), sweep_rest(("crash", "1", 3), ("missing-template", "3", 5)))
def test_what_fails_at_times_is_tried_again(export, tmp_path: Path, standin_log, failure, times, calls) -> None:
    result = export("--schema", CORE_ML, export=failure, only=CORE_ML, times=times, state=str(tmp_path / "count"))
    assert (result.status, "crashed" in result.err, len(standin_log())) == (0, False, calls)


@pytest.mark.parametrize(
    ("failure", "message", "calls"),
    sweep_rest(
        ("crash", "xctrace crashed 2 times (exit status 133); its output was discarded", 3),
        ("missing-template", "Document Missing Template Error; the recording is incomplete", 6),
        ("malformed", "Trace is malformed - run data is missing; the recording is incomplete", 2),
        ("cut", "cut off, although xctrace reported success", 2),
        ("no-node", "xctrace lists this table but did not export it", 2),
        ("nothing", "reported success but wrote nothing", 2),
        ("refused", "failed with exit status 1: Something that nobody has seen yet", 2),
    ),
)
def test_a_table_that_does_not_come_is_said_and_keeps_nothing_else_back(
    export, tmp_path: Path, standin_log, failure: str, message: str, calls: int
) -> None:
    result = export("--schema", CORE_ML, export=failure, only=CORE_ML)
    assert result.status == 2
    assert message.partition("; ")[0] in result.err
    assert len(standin_log()) == calls
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tables.json"]
    listed = json.loads((tmp_path / "out" / "tables.json").read_text(encoding="utf-8"))["tables"]
    (entry,) = (entry for entry in listed if entry["schema"] == CORE_ML)
    assert (entry["file"], entry["state"], entry["rows"]) == (None, "unreadable", None)


@pytest.mark.parametrize(
    ("failure", "message"),
    sweep_rest(
        ("malformed", "Trace is malformed - run data is missing"),
        ("missing-template", "xcrun xctrace import --input"),
        ("crash", "xctrace crashed"),
        ("cut", "toc.xml"),
        ("refused", "Something that nobody has seen yet"),
    ),
)
def test_without_a_table_of_contents_nothing_is_written(export, tmp_path: Path, failure: str, message: str) -> None:
    result = export(export=failure, only="toc")
    assert result.status == 2
    assert message in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stubborn", sweep_rest(True, False))
def test_a_hanging_call_is_ended(export, monkeypatch, stubborn: bool) -> None:
    from tracekit.recording.xctrace import running

    monkeypatch.setattr(running, "TERMINATE_S", 0.2)
    settings = {"stubborn": "yes"} if stubborn else {}
    result = export("--schema", CORE_ML, "--timeout", "1", export="hang", only=CORE_ML, **settings)
    assert result.status == 2
    assert "did not respond within 1 s and was stopped" in result.err


def test_the_automatic_reader_says_that_it_took_xctrace(export) -> None:
    result = export("--schema", CORE_ML, reader="auto")
    assert result.status == 0
    assert "with xctrace instead" in result.err


def test_command_line_tools_alone_are_not_enough(export) -> None:
    result = export(selected="/Library/Developer/CommandLineTools")
    assert result.status == 2
    assert "sudo xcode-select -s" in result.err


def test_xml_of_xctrace_reads_back_without_private_facts(export, tracekit, tmp_path: Path, reload_xml: Path) -> None:
    chosen = (CORE_ML, "os-signpost")
    assert export("--format", "xml", *(word for schema in chosen for word in ("--schema", schema))).status == 0
    toc = (tmp_path / "out" / "toc.xml").read_text(encoding="utf-8")
    assert "uuid=" not in toc
    before, after = (
        {entry["schema"]: entry["rows"] for entry in tracekit("export", path, "--format", "json").json}
        for path in (reload_xml, tmp_path / "out")
    )
    assert [after[schema] for schema in chosen] == [before[schema] for schema in chosen]
