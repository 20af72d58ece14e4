"""`make mac` with stand-ins for Apple's tools: its script runs, and its judge says what is not as planted."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.models import needs_coremltools
from tracekit.detectors.registry import DETECTORS
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.schemas import columns_of

ROOT = Path(__file__).resolve().parents[1]
MAC = ROOT / "scripts" / "mac"
MS = 1_000_000


def reloading() -> Scenario:
    """What the program does in mode `reload`, with 20 loads."""
    scenario = Scenario(Process("planted", 501), duration_ns=10_000 * MS)
    for number in range(20):
        end = scenario.load(Model("Float16"), (2_000 + 100 * number) * MS, 60 * MS)
        scenario.predict(Model("Float16"), end + MS, 20 * MS)
    return scenario


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    """A folder with a bundle that tracekit reads by itself and through the stand-in, by mode of the program."""
    folder = tmp_path / "bundles"
    write_bundle(reloading(), folder / "reload.trace")
    write_export(reloading(), folder / "reload.trace" / "tables")
    return folder


@needs_coremltools
def test_the_script_records_reads_and_judges(
    standin, standin_log, bundles: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--every-case"):
        pytest.skip("builds models and starts tracekit for each question: run with --every-case")
    standin(bundles=str(bundles))
    folder, plan = tmp_path / "a folder", tmp_path / "plan.txt"
    plan.write_text("# mode model loads predictions problem\nreload Float16 20 20 reload-before-predict\n", "utf-8")
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = [str(MAC / "record.sh"), str(folder), str(plan)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert summary in result.stdout
    assert summary.startswith("**As planted**")
    for name in ("reload", "reload-alone"):
        assert f"| {name} | 40 | 20 | 20 | reload-before-predict | none | yes |" in summary
    recorded = [call for call in standin_log() if call[:3] == ["xcrun", "xctrace", "record"]]
    assert [call[call.index("--") + 1 :][2:] for call in recorded] == [["reload", "20", "20"]] * 2
    (signed,) = [call for call in standin_log() if call[0] == "codesign" and "--sign" in call]
    assert signed[-3:-1] == ["--entitlements", str(MAC / "entitlements.plist")]

    spoil(folder)
    plan.write_text("reload Float16 20 21 concurrent-predictions\nonce Float16 1 1 -\n", "utf-8")
    judge = [sys.executable, str(MAC / "judge.py"), str(folder), str(plan)]
    judged = subprocess.run(judge, capture_output=True, text=True, check=False, timeout=60)
    assert judged.returncode == 1
    assert [line for line in judged.stdout.partition("```")[0].splitlines() if line.startswith("- ")] == [
        "- reload: 20 loads and 20 predictions, but the program made 20 loads and 21 predictions",
        "- reload: concurrent-predictions was planted and not found",
        "- reload: xctrace: finds [], native: ['reload-before-predict']",
        "- reload-alone: no report of export",
        "- reload-alone: Core ML's table has no rows",
        "- reload-alone: 20 loads and 20 predictions, but the program made 20 loads and 21 predictions",
        "- reload-alone: concurrent-predictions was planted and not found",
        "- once: no report; see the log of native and xctrace and export",
        "- once-alone: no report; see the log of native and xctrace and export",
    ]
    assert "Strange NameA; column app-note" in judged.stdout


def spoil(folder: Path) -> None:
    """What may go wrong on a Mac: a reader that finds nothing, one that fails, and a table that is empty or strange."""
    report = json.loads((folder / "reload.xctrace.json").read_text(encoding="utf-8"))
    (folder / "reload.xctrace.json").write_text(json.dumps(report | {"findings": []}), encoding="utf-8")
    (folder / "reload-alone.export.json").unlink()
    rows = {"tables": [{"rows": []}], "unknown_events": ["Strange NameA"], "unknown_columns": ["app-note"]}
    with zipfile.ZipFile(folder / "reload-alone.zip", "w") as archive:
        archive.writestr("core-ml-rows.json", json.dumps(rows))


def instruments_package(folder: Path) -> None:
    """A package with a property list, rules as text, and a program."""
    contents = folder / "CoreML.instrdst" / "Contents"
    rules = contents / "Extensions" / "coreml.dtac" / "modeling-rules"
    rules.mkdir(parents=True)
    (rules / "rules-0001.clp").write_text(
        '(defrule load (table (schema coreml-os-signpost) (event-label ?l)) => (assert "Load (cached)" "Prediction"))\n'
        "; \"This is a sentence of Apple's, which is nobody's business.\"\n(create coreml-function-intervals)\n"
    )
    columns = [each.mnemonic for each in columns_of("coreml-os-signpost", 27) if each.mnemonic != "graph-event-label"]
    listed = {"schemas": [{"name": "ane-hw-intervals", "columns": columns}], "title": "Neural Engine Request"}
    (contents / "tables.plist").write_bytes(plistlib.dumps(listed, fmt=plistlib.FMT_BINARY))
    (contents / "CoreML").write_bytes(b"\xfe\0\1metal-gpu-intervals\0/usr/lib/some-library.dylib\0")
    (folder / "Audio.instrdst").mkdir()


def test_packages_of_instruments_are_compared_with_what_readers_expect(standin, tmp_path: Path) -> None:
    instruments_package(tmp_path / "Packages")
    command = [sys.executable, str(MAC / "packages.py"), str(tmp_path), str(tmp_path / "Packages")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "packages.json").read_text(encoding="utf-8"))
    (package,) = facts["packages"].values()
    assert package["events"] == ["Load (cached)", "Neural Engine Request", "Prediction"]
    assert {"coreml-os-signpost", "coreml-function-intervals", "metal-gpu-intervals"} <= {*package["names"]}
    assert "sentence" not in (tmp_path / "packages.json").read_text(encoding="utf-8")
    assert facts["xctrace"]["export"] == ["--input", "--output", "--toc", "--xpath"]
    said = (tmp_path / "packages.md").read_text(encoding="utf-8")
    assert "columns of coreml-os-signpost that no package names: graph-event-label\n" in said
    assert "names that may be tables that tracekit does not read: coreml-function-intervals\n" in said
    assert "subcommands of xctrace that tracekit does not know: triage\n" in said
    (lost,) = [line for line in said.splitlines() if line.startswith("- tables that tracekit reads")]
    assert "time-info" in lost
    assert not any(f" {known}," in lost for known in ("coreml-os-signpost", "ane-hw-intervals", "metal-gpu-intervals"))
    (events,) = [line for line in said.splitlines() if line.startswith("- event strings")]
    assert "data cast" in events
    assert "load (cached)" not in events


def test_the_plan_plants_what_checks_are_for_and_instruments_may_look_into_the_program() -> None:
    swift = (MAC / "planted.swift").read_text(encoding="utf-8")
    lines = [line.split() for line in (MAC / "plan.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line[0] for line in lines] == ["once", "reload", "copies", "concurrent"]
    assert {problem for line in lines for problem in line[4].split("/")} - {"-"} <= {
        detector.id for detector in DETECTORS
    }
    assert 'mode == "concurrent"' in swift
    for mode, model, loads, predictions, _ in lines:
        assert model in ("Float16", "Float32")
        # The program makes whole shares of them; nothing may be lost by dividing.
        parts = 8 if mode == "concurrent" else int(loads)
        assert int(predictions) % parts == 0

    entitlements = plistlib.loads((MAC / "entitlements.plist").read_bytes())
    assert entitlements == {"com.apple.security.get-task-allow": True}
