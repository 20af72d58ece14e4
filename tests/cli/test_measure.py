"""`tracekit inspect --measure` as users call it, with a stand-in for Core ML."""

from __future__ import annotations

import json

import pytest
from standin.core_ml import StandIn

from tracekit.model_files.performance.read import load_performance_report
from tracekit.model_files.profiling import core_ml


@pytest.fixture
def runtime(monkeypatch) -> StandIn:
    standin = StandIn()
    monkeypatch.setattr(core_ml, "runtime", lambda: standin)
    return standin


def test_choices_stand_side_by_side_and_are_saved(tracekit, built_models, runtime, tmp_path) -> None:
    model = built_models / "float16_interface.mlpackage"
    result = tracekit(
        "inspect",
        model,
        "--measure",
        "--units",
        "all",
        "--units",
        "cpuOnly",
        "--predictions",
        "3",
        "--folder",
        tmp_path,
    )
    assert result.status == 0
    assert result.out.splitlines()[0].split() == ["all", "cpuOnly"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["float16_interface-all.json", "float16_interface-cpuOnly.json"]
    report = load_performance_report(tmp_path / names[0])
    assert (report.name, report.prediction.count, report.system) == ("float16_interface", 3, "macOS 26.2")
    assert "\nfloat16_interface · Mac16,1, macOS 26.2 · CPU only" in tracekit("inspect", tmp_path / names[1]).out
    assert tracekit("compare", tmp_path, "--label", "{name}", "--no-config").status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--predictions", "0"), "expected a number from 1 to 100,000"),
        (("--units", "gpu"), "unknown units 'gpu'"),
        (("--folder", "/no/such/folder"), "no such folder"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, built_models, runtime, arguments, words) -> None:
    result = tracekit("inspect", built_models / "float16_interface.mlpackage", "--measure", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1


def test_where_nothing_runs_there_is_one_sentence(tracekit, built_models, runtime, tmp_path) -> None:
    runtime.failing = {"load cpuAndGPU": RuntimeError("Error in building plan.")}
    model = built_models / "float16_interface.mlpackage"
    result = tracekit("inspect", model, "--measure", "--predictions", "1", "--folder", tmp_path)
    assert result.status == 2
    assert "loading failed for cpuAndGPU: Error in building plan" in result.out
    assert len(list(tmp_path.iterdir())) == 3

    runtime.failing = {"compile": Exception("no compiler")}
    result = tracekit("inspect", model, "--measure", "--units", "all", "--folder", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines()[-1] == "tracekit: compiling failed for all: no compiler"
    (tmp_path / "r.json").write_text(json.dumps({"deviceResults": {"predict": {"samples": [1]}}}))
    report = tracekit("inspect", tmp_path / "r.json", "--measure", "--folder", tmp_path)
    assert "'r.json' is a performance report; expected a model" in report.err


def test_off_a_mac_one_sentence_says_so(tracekit, built_models, monkeypatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    result = tracekit("inspect", built_models / "float16_interface.mlpackage", "--measure")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "needs a Mac" in result.err
