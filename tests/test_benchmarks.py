"""The benchmarks work; what they measure is for a quiet machine."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tracekit.recording.export._scan", reason="the scanner is not built: there was no C compiler")
ROOT = Path(__file__).resolve().parents[1]


def test_all_readers_find_the_same_in_a_small_export(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--every-case"):
        pytest.skip("starts a process for each reader: run with --every-case")
    output = tmp_path / "results.md"
    script = ROOT / "benchmarks" / "read_export.py"
    command = [sys.executable, str(script), "--rows", "20", "--repeats", "1", "--output", str(output)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command += ["--shapes", "coreml-os-signpost"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    text = output.read_text(encoding="utf-8")
    for reader in ("tracekit, compiled", "tracekit, strict", "lxml iterparse, ids", "ElementTree, whole tree, ids"):
        assert text.count(f"| {reader} |") == 1


def test_one_run_measures_every_reader_and_every_step(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = bool(request.config.getoption("--every-case"))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    names = ("frame", "growth", "read_export", "commands", "run")
    frame, growth, read_export, commands, run = map(importlib.import_module, names)
    from tracekit.cli.dispatch import main
    from tracekit.recording.export import loading

    answers = []

    def here(setup: str, code: str, path: Path, repeats: int) -> object:
        """The same code in this process: to start one for each of many small pieces takes most of the time."""
        names: dict[str, object] = {"path": str(path)}
        with monkeypatch.context() as patch:
            patch.setattr(loading, "scanned", loading.scanned)
            exec(setup, names)  # noqa: S102
            exec(code, names)  # noqa: S102
        answers.append(names["result"])
        return frame.Measurement(str(names["result"]), 0.25, 0.25, repeats)

    def command(arguments: list[str], repeats: int) -> object:
        if "tracekit" in arguments:
            answers.append(main(arguments[3:]) == 0)
        return frame.Measurement("", 0.25, 0.25, repeats)

    for module in (growth, read_export):
        monkeypatch.setattr(module, "measure", here)
    for module in (growth, read_export, commands):
        monkeypatch.setattr(module, "in_own_process", lambda code: exec(code, {}))  # noqa: S102
    monkeypatch.setattr(commands, "measure_program", command)
    monkeypatch.setattr(read_export, "program", lambda _: None)
    output = tmp_path / "results.md"
    # How time grows with a second size is shown by the first of what grows.
    sizes = ["--rows", "20", "40", "--predictions", *("20", "40")[: 1 + every], "--counts", "1", "2", "--repeats", "1"]
    sizes += ["--largest", "20", "--recordings", "2"]
    grown = list(growth.GROWING)[: None if every else 1]
    monkeypatch.setattr(growth, "GROWING", {what: growth.GROWING[what] for what in grown})
    monkeypatch.setattr(sys, "argv", ["run.py", *sizes, "--output", str(output)])
    run.main()
    text = output.read_text(encoding="utf-8")
    assert capsys.readouterr().out.endswith(text)
    assert text.count("| tracekit, compiled | 0.25 |") == 2 * len(read_export.SHAPES)
    assert text.count("Growth: ") == len(read_export.SHAPES)
    for step in growth.STEPS:
        growing = len(grown) * (step in growth.JUDGING)
        assert text.count(f"| {step} | 0.25 |") == 1 + growing
        assert text.count(f"| {step} | 0.25 | 0.25 | 0.00 | 1 |") == every + growing
    assert text.count("| 0.25 | 0.25 | 1 |\n") == 9
    assert all(answers)


def test_a_tree_for_which_memory_is_short_is_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    frame, read_export = map(importlib.import_module, ("frame", "read_export"))
    assert frame.available_mb() > 0
    monkeypatch.setattr(read_export, "available_mb", lambda: 0)
    monkeypatch.setattr(read_export, "measure", lambda *_: frame.Measurement("(20, 1)", 0.25, 0.25, 1))
    monkeypatch.setattr(read_export, "in_own_process", lambda code: exec(code, {}))  # noqa: S102
    monkeypatch.setattr(read_export, "program", lambda _: None)
    text = read_export.tables([20], ["coreml-os-signpost"], 1)
    assert f"| {read_export.TREE} |" not in text
    assert text.endswith(f"{read_export.TREE}: not run, since it may take 0 MB of memory, and 0 MB are available.\n")


def test_a_lake_of_many_rows_holds_what_was_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    from tracekit.query.database import Database
    from tracekit.query.lake import LakeViews

    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    lake_rows = importlib.import_module("lake_rows")
    lake_rows.fill(tmp_path, 8, 500)
    counted, *percentiles = (Database(LakeViews(tmp_path)).answer(each).rows for each in lake_rows.QUESTIONS.values())
    assert counted == [(8 * 500,)]
    true = lake_rows.median_of(3) * np.exp(lake_rows.Z95 * lake_rows.SIGMA)
    assert [dict(rows)["Phone 3"] for rows in percentiles] == [pytest.approx(true, rel=0.1)] * 3
