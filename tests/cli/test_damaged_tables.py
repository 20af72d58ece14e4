"""Each command says which tables of which recording it could not read, and exits with status 2."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from support.choice import sweep_rest
from tracekit.recording import open_recording
from tracekit.testing import Draws, Model, Scenario, gpu, neural_engine, start_recording, write_bundle
from tracekit.trace.calls.stacks import DataPhase
from tracekit.trace.instruments.catalogue import SCHEMAS

MS = 1_000_000
SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
CORE = "corespace/run1/core"
CORE_ML = "coreml-os-signpost"
SHARED = ("strings", "typedArrayUniquer/integeruniquer.data")
"""What cells of all tables refer to."""
COMMANDS = (
    "analyze {bad}",
    "analyze {good} {bad} --json",
    "compare {good} {bad}",
    "compare {good} {other} {bad}",
    "check {bad} --no-config",
    "check --save-baseline --baseline {out}/b.json {good} {bad}",
    "export {bad} --folder {out}/tables",
    "export {bad} -o {out}/t.json",
    "explain {bad}",
    "why {bad} --without",
)
MORE_COMMANDS = (
    "analyze -q {bad}",
    "analyze {good} {bad}",
    "compare --before {good} {bad} --after {other}",
    "compare {good} {bad} --label app",
    "check {good} {bad} --no-config",
    "export {bad} -q --folder {out}/tables --format xml",
    "stacks {bad} -q",
    "analyze {bad} -o {out}/b.zip",
    "analyze {bad} --list",
)


def cut_sample(name: str, schema: str, folder: Path) -> Path:
    """A copy of a sample in which the table of a schema is damaged."""
    bad = Path(shutil.copytree(SAMPLES / f"{name}.trace", folder / "bad.trace"))
    (bad / sources(bad)[schema]).write_bytes(b"damage")
    return bad


def app(seed: int) -> Scenario:
    """An app that uses Neural Engine and GPU, with call stacks."""
    recording = start_recording(Draws(seed), code=True, noise=False, machine=0)
    model = Model("Depth")
    recording.load(model, 20 * MS)
    for _ in range(25):
        recording.predict(model, neural_engine(4 * MS), gpu(2 * MS))
        recording.pause(20 * MS)
    return recording.finish()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory, unchanged_folders: set[Path]) -> Path:
    """A folder with `good.trace` and `other.trace`."""
    folder = tmp_path_factory.mktemp("recordings")
    unchanged_folders.add(folder)
    for seed, name in enumerate(("good", "other")):
        write_bundle(app(seed), folder / f"{name}.trace", rows_per_block=512)
    return folder


def sources(bundle: Path) -> dict[str, str]:
    """The file with the rows of each table that answers rest on, by schema."""
    return {
        entry.schema: f"{CORE}/stores/{entry.source}/bulkstore"
        for entry in open_recording(bundle, schemas=()).run.tables
        if entry.schema in SCHEMAS and entry.rows
    }


@pytest.fixture(scope="module")
def damaged(
    recordings: Path, tmp_path_factory: pytest.TempPathFactory, unchanged_folders: set[Path]
) -> Callable[[str], Path]:
    """A copy of `good.trace` with one file replaced, the same for all tests that damage this file."""

    @cache
    def damage(file: str) -> Path:
        folder = tmp_path_factory.mktemp("damaged")
        path = Path(shutil.copytree(recordings / "good.trace", folder / "bad.trace"))
        assert (path / file).exists()
        (path / file).write_bytes(b"damage")
        unchanged_folders.add(folder)
        return path

    return damage


def file_of(bundle: Path, part: str) -> str:
    return f"{CORE}/uniquing/{part}" if part in SHARED else sources(bundle)[part]


@pytest.mark.turns(3)
@pytest.mark.parametrize("part", [CORE_ML, SHARED[0]])
@pytest.mark.parametrize(
    "command", [*COMMANDS, *(pytest.param(line, marks=pytest.mark.sweep) for line in MORE_COMMANDS)]
)
def test_every_command_names_recording_table_and_reason(
    tracekit, recordings: Path, damaged, tmp_path: Path, command: str, part: str
) -> None:
    bad = damaged(file_of(recordings / "good.trace", part))
    names = {"good": recordings / "good.trace", "other": recordings / "other.trace", "bad": bad, "out": tmp_path}
    result = tracekit(*(word.format(**names) for word in command.split()))
    said = " ".join(f"{result.out if command.startswith('check {') else ''} {result.err}".split())
    assert result.status == 2
    assert "bad.trace: table" in said
    assert CORE_ML in said
    assert "cannot be read: " in said
    assert "good.trace: table" not in said


@pytest.mark.sweep
def test_every_table_of_every_instrument_counts(
    tracekit, recordings: Path, damaged, request: pytest.FixtureRequest
) -> None:
    tables = sources(recordings / "good.trace")
    assert len(tables) > 5
    commands = (
        ("analyze {0}", "explain {0}", "check {0} --no-config")
        if request.config.getoption("--every-case")
        else ("analyze {0}",)
    )
    for schema, file in tables.items():
        bad = damaged(file)
        for command in commands:
            result = tracekit(*command.format(bad).split())
            assert result.status == 2, (schema, command)
            assert schema in " ".join(f"{result.out} {result.err}".split())
            assert "bad.trace: table" in " ".join(f"{result.out} {result.err}".split())


def test_a_report_on_a_damaged_recording_stands_for_it(tracekit, recordings: Path, damaged, tmp_path: Path) -> None:
    bad = damaged(file_of(recordings / "good.trace", CORE_ML))
    assert tracekit("analyze", bad, "-q", "-o", tmp_path / "bad.json").status == 2
    for command in ("check", "compare"):
        beside = [recordings / "good.trace"] if command == "compare" else []
        result = tracekit(command, *beside, tmp_path / "bad.json", "--no-config")
        assert result.status == 2
        said = " ".join(f"{result.out} {result.err}".split())
        assert f"bad.json: {bad.name}: table {CORE_ML} cannot be read: " in said


@pytest.mark.parametrize(
    "command", ["compare --before {good} {bad} --after {gone}", "check --save-baseline --baseline {out} {bad} {gone}"]
)
def test_each_of_several_is_named(tracekit, recordings: Path, damaged, tmp_path: Path, command: str) -> None:
    bad = damaged(file_of(recordings / "good.trace", CORE_ML))
    gone = [str(tmp_path / f"{name}.trace") for name in ("one", "two", "three")]
    words = command.format(
        good=recordings / "good.trace", bad=bad, out=tmp_path / "b.json", gone=" ".join(gone)
    ).split()
    result = tracekit(*words)
    assert result.status == 2
    assert all(f"{name}.trace" in result.err for name in ("bad", "one", "two", "three"))
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("part", [CORE_ML, SHARED[0]])
def test_a_redacted_export_has_all_other_tables(tracekit, recordings, damaged, tmp_path: Path, part: str) -> None:
    bad = damaged(file_of(recordings / "good.trace", part))
    assert tracekit("export", recordings / "good.trace", "--folder", tmp_path / "good", "-q").status == 0
    result = tracekit("export", bad, "--folder", tmp_path / "bad", "-q")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert result.err.startswith("tracekit: bad.trace: table")
    listed = json.loads((tmp_path / "bad" / "tables.json").read_text())["tables"]
    lost = {each["schema"]: each["file"] for each in listed if each["state"] == "unreadable"}
    assert (lost[CORE_ML], all(schema in result.err for schema in lost)) == (None, True)
    whole = {path.name: path.read_bytes() for path in (tmp_path / "good").glob("*.csv")}
    kept = {name: rows for name, rows in whole.items() if name.removesuffix(".csv") not in lost}
    assert {path.name: path.read_bytes() for path in (tmp_path / "bad").glob("*.csv")} == kept
    alone = tracekit("export", bad, "--schema", CORE_ML, "-o", tmp_path / "rows.csv", "-q")
    assert (alone.status, alone.err.count("\n"), (tmp_path / "rows.csv").exists()) == (2, 1, False)


def test_a_table_that_is_cut_off_is_to_be_copied_again(tracekit, recordings: Path, damaged, tmp_path: Path) -> None:
    """It was recorded, so recording it would not help, and no tool exports what is not there."""
    copy = "cut off: copy the bundle again from where it was recorded"
    said = " ".join(tracekit("analyze", damaged(file_of(recordings / "good.trace", "time-profile"))).out.split())
    assert f"Call Stacks were recorded but are {copy}" in said
    assert "Time Profiler" not in said
    bad = cut_sample("sharpen_8bit", CORE_ML, tmp_path)
    said = " ".join(tracekit("analyze", bad, "-v").out.split())
    assert said.startswith("Inconclusive: Core ML was recorded but is cut off.")
    assert f"checks: Core ML was recorded but is {copy}" in said
    assert "(Core ML's table cannot be read)" in said
    assert "xctrace export" not in said


@pytest.mark.sweep
def test_what_call_stacks_show_of_copies_is_the_same_in_all_answers(tracekit, tmp_path: Path) -> None:
    bad = cut_sample("sharpen_8bit", CORE_ML, tmp_path)
    (model,) = tracekit("analyze", bad, "--json").json["models"]
    phases = next(calls["phases"] for calls in model["phases"] if calls["kind"] == "prediction")
    copies_ns = sum(phase["mean_ns"] for phase in phases if phase["path"][-1] in {str(data) for data in DataPhase})
    said = tracekit("why", bad, "--json")
    (slow,) = said.json["models"][0]["predictions"]
    # Most of it is copying, not binding; a usual prediction is one of those that the mean is of.
    assert copies_ns > 4 * MS
    assert slow["usual"]["data"] == pytest.approx(copies_ns, abs=slow["resolution_ns"])


@pytest.mark.sweep
def test_damage_is_said_before_the_signature_is_blamed(tracekit, tmp_path: Path) -> None:
    """An app that needs no Core ML leaves its table empty: who signs it again still has the damaged copy."""
    bad = cut_sample("local_chat", "os-signpost", tmp_path)
    lost = "table os-signpost cannot be read: its rows file is cut off"
    page = tmp_path / "report.html"
    results = [tracekit(*words, bad) for words in (["analyze"], ["analyze", "-v"], ["explain"])]
    results.append(tracekit("analyze", bad, "-q", "-o", page))
    assert {result.status for result in results} == {2}
    for result in results[:3]:
        assert result.out.startswith(f"Inconclusive: {lost}.\n")
    for result in (results[0], results[3]):
        assert f"Inconclusive: 48 checks not evaluated · {lost} · exit status 2" in spaced(result.out)
    assert f"45 checks: {lost}: copy the bundle again from where" in spaced(results[0].out)
    assert "get-task-allow" not in results[0].out
    for said in map(spaced, (results[1].out, results[2].out, page.read_text("utf-8"))):
        assert said.lower().index("copy the bundle again") < said.index("get-task-allow")
        assert "Only if Core ML's table is empty even then: sign" in said.replace("&#x27;", "'")
        assert "the likely cause is a target without" not in said


@pytest.mark.parametrize(
    ("schema", "query", "note"),
    sweep_rest(
        (CORE_ML, "select count(origin) from predictions", "column origin. Core ML was recorded but is cut off. Copy"),
        (CORE_ML, "from breakdown", "the column origin of predictions. Core ML was recorded but is cut off. Copy the"),
        (CORE_ML, "select count(*) from processes", ""),
        ("time-profile", "from samples", "samples: Call Stacks were recorded but are cut off. Copy the bundle again"),
        ("time-profile", "select count(*) from findings", ""),
    ),
)
def test_sql_names_damaged_tables(tracekit, tmp_path: Path, schema: str, query: str, note: str) -> None:
    result = tracekit("sql", cut_sample("sharpen_8bit", schema, tmp_path), query)
    assert result.status == 2
    assert f"tracekit: bad.trace: table {schema} cannot be read: " in result.err
    assert note in result.err


def spaced(text: str) -> str:
    return " ".join(text.split())
