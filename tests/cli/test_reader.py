"""`--reader` of the commands that read, on a bundle that the native reader and the stand-in for `xctrace` both know."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import tracekit as package
from support.choice import sweep_rest
from tracekit.errors import UnreadableRecording, UsageError
from tracekit.recording import open_contents, open_recording
from tracekit.recording.xctrace import exporter
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export

MS = 1_000_000
CORE_ML = "coreml-os-signpost"
PREDICTIONS = 20
HEADER_BYTES = 4096
"""What stands before the rows of a table."""


def predictions(label: str = "Segmenter") -> Scenario:
    """One load and `PREDICTIONS` predictions of one model."""
    scenario = Scenario(Process("Camera", 412), duration_ns=2_000 * MS)
    model = Model(label)
    scenario.load(model, 100 * MS, 25 * MS)
    for number in range(PREDICTIONS):
        scenario.predict(model, (200 + 40 * number) * MS, 8 * MS).event("Input Copy", MS, MS)
    return scenario


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(tmp_path_factory.mktemp("made") / "run.trace", [predictions()])


@pytest.fixture
def sound(made: Path, tmp_path: Path) -> Path:
    """A bundle that both readers read."""
    return Path(shutil.copytree(made, tmp_path / "run.trace"))


@pytest.fixture
def broken(sound: Path) -> Path:
    """The same, with a Core ML table whose rows file only Apple's tool can read."""
    damage(sound, CORE_ML, lambda rows: b"\0\0\0\0" + rows[4:])
    return sound


@pytest.fixture
def deceptive(sound: Path) -> Path:
    """The same, with a Core ML table that looks sound until its rows are read: a text that is none of the run's."""
    first_text = HEADER_BYTES + 24 + 4  # behind the topology and the drawing lane
    damage(sound, CORE_ML, lambda rows: rows[:first_text] + struct.pack("<I", 999_999) + rows[first_text + 4 :])
    return sound


def bundle(path: Path, runs: list[Scenario]) -> Path:
    """The runs as a bundle, with the answers of `xctrace` inside for the stand-in: one document for each run."""
    write_bundle(runs, path, compressed=False, rows_per_block=64)
    tables = path / "tables"
    write_export(runs, tables, only=())
    for number, run in enumerate(runs, 1):
        for answer in write_export(run, path.with_name(f"answers {number}"), with_toc=False):
            text = answer.read_text(encoding="utf-8").replace("/run[1]/", f"/run[{number}]/")
            (tables / f"{number} {answer.name}").write_text(text, encoding="utf-8")
    return path


def damage(path: Path, schema: str, change: Callable[[bytes], bytes], run: int = 1) -> None:
    (entry,) = (table for table in open_contents(path).runs[run - 1].tables if table.schema == schema)
    rows = path / f"corespace/run{run}/core/stores/{entry.source}/bulkstore"
    rows.write_bytes(change(rows.read_bytes()))


def asked(log: list[list[str]]) -> list[str]:
    """Schemas that the stand-in was asked for."""
    return [words[-1].rpartition('schema="')[2].rstrip('"]') for words in log if words[-1] != "--toc"]


def judged_count(report: dict) -> int:
    return sum(model["predictions"] for model in report["models"])


@pytest.mark.parametrize("kind", sweep_rest("broken", "deceptive"))
def test_what_cannot_be_read_natively_is_read_through_xctrace_and_the_report_says_so(
    tracekit, standin, standin_log, request, kind: str
) -> None:
    path = request.getfixturevalue(kind)
    standin()
    result = tracekit("analyze", path, "--format", "json")
    report = result.json
    assert result.status == 0
    assert judged_count(report) == PREDICTIONS
    assert asked(standin_log()) == [CORE_ML]
    assert f"read with xctrace, because they cannot be read natively: {CORE_ML}" in report["recording"]["notes"]
    assert f"using xctrace for tables that cannot be read natively: {CORE_ML}" in result.err
    assert report["recording"]["input_type"] == "trace bundle"


def test_a_sound_bundle_is_never_given_to_xctrace(tracekit, sound: Path, standin, standin_log) -> None:
    standin()
    for command in ("analyze", "export"):
        assert tracekit(command, sound).status == 0
    assert tracekit("export", sound, "--folder", sound.parent / "out").status == 0
    assert standin_log() == []


def test_the_native_reader_asks_nobody(tracekit, broken: Path, standin, standin_log) -> None:
    standin()
    assert tracekit("analyze", broken, "--reader", "native").status == 2
    result = tracekit("export", broken, "--reader", "native", "--format", "json")
    (entry,) = (each for each in result.json if each["schema"] == CORE_ML)
    assert (entry["state"], entry["rows"]) == ("unreadable", None)
    assert standin_log() == []


def test_everything_through_xctrace_is_judged_as_natively(tracekit, sound: Path, standin, standin_log) -> None:
    standin()
    natively = tracekit("analyze", sound, "--format", "json").json
    result = tracekit("analyze", sound, "--reader", "xctrace", "--format", "json")
    report = result.json
    assert result.status == 0
    assert standin_log()
    assert CORE_ML in asked(standin_log())
    assert (report["models"], report["aggregation"]) == (natively["models"], natively["aggregation"])
    assert report["recording"]["source"] == natively["recording"]["source"] == "run.trace"
    assert "read with xctrace" in report["recording"]["notes"]


@pytest.mark.sweep
def test_each_run_is_completed(tracekit, tmp_path: Path, standin) -> None:
    standin()
    path = bundle(tmp_path / "two.trace", [predictions("A"), predictions("B")])
    for run in (1, 2):
        damage(path, CORE_ML, lambda rows: b"\0\0\0\0" + rows[4:], run)
    listed = tracekit("export", path, "--format", "json").json
    rows = [(each["run"], each["rows"]) for each in listed if each["schema"] == CORE_ML]
    assert rows == [(1, 1 + 2 * PREDICTIONS), (2, 1 + 2 * PREDICTIONS)]
    for run, model in ((1, "A"), (2, "B")):
        report = tracekit("analyze", path, "--run", str(run), "--format", "json").json
        assert [each["name"] for each in report["models"]] == [model]


def test_where_xctrace_fails_too_both_reasons_are_told(tracekit, broken: Path, standin) -> None:
    standin(export="crash", only=CORE_ML)
    result = tracekit("analyze", broken, "--format", "json")
    report = result.json
    assert result.status == 2
    (entry,) = (each for each in report["coverage"] if each["instrument"] == "Core ML")
    assert "unknown format 0x0" in entry["conclusion"]
    assert any(f"xctrace could not export the table {CORE_ML} either" in note for note in report["recording"]["notes"])


def test_what_neither_reads_gets_both_sentences(
    tracekit, sample_bundle: Path, standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of this module alone: without pauses, waiting for a program keeps a processor busy.
    monkeypatch.setattr(exporter, "time", SimpleNamespace(sleep=lambda _: None))
    standin(export="malformed", only="toc")
    result = tracekit("analyze", sample_bundle)
    assert result.status == 2
    assert "no folder 'corespace'" in result.err
    assert "xctrace cannot read it either: " in result.err
    assert "Trace is malformed" in result.err


def test_a_bundle_that_only_xctrace_reads_is_judged(tracekit, sound: Path, standin) -> None:
    standin()
    shutil.rmtree(sound / "corespace")
    report = tracekit("analyze", sound, "--format", "json").json
    assert judged_count(report) > 0
    assert any("could not be read natively" in note for note in report["recording"]["notes"])


@pytest.mark.parametrize("command", ["analyze", "export"])
def test_xctrace_where_there_is_none_is_one_sentence(tracekit, sound: Path, command: str) -> None:
    result = tracekit(command, sound, "--reader", "xctrace")
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines() == [
        "tracekit: --reader xctrace needs a Mac with Xcode; omit --reader to read the bundle natively"
    ]


@pytest.mark.parametrize("command", ["analyze", "export"])
def test_an_export_has_one_reader(tracekit, sound: Path, standin, standin_log, command: str) -> None:
    standin()
    for reader in ("auto", "native"):
        assert tracekit(command, sound / "tables", "--reader", reader).status == 0
    result = tracekit(command, sound / "tables", "--reader", "xctrace")
    assert (result.status, "takes exactly one unpacked .trace bundle" in result.err) == (2, True)
    assert standin_log() == []


def test_from_python_the_reader_is_chosen_by_name(broken: Path, standin) -> None:
    standin()
    assert package.open_recording(broken).tables(CORE_ML)[0].rows == 1 + 2 * PREDICTIONS
    assert package.open_recording(broken, reader="native").tables(CORE_ML)[0].state == "unreadable"
    assert len(package.open_trace(broken).activity) == 1 + PREDICTIONS
    report = package.analyze(broken, reader="xctrace")
    assert [model.predictions for model in report.models] == [PREDICTIONS]
    with pytest.raises(UsageError, match=r"unknown reader 'nativ'; did you mean 'native'"):
        open_recording(broken, reader="nativ")


def test_an_error_of_the_path_comes_before_that_of_the_tool(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording):
        open_recording(tmp_path / "nothing-here", reader="xctrace")
