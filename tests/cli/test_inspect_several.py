"""`tracekit inspect` of several models, folders and archives; `compare` of two; `fix --all`; a plan beside a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.models import needs_coremltools

pytestmark = needs_coremltools


@pytest.fixture
def zipped(built_models, tmp_path):
    """A package in an archive, as it is attached to issues."""
    shutil.copytree(built_models / "ranged.mlpackage", tmp_path / "in" / "ranged.mlpackage")
    return shutil.make_archive(str(tmp_path / "ranged.mlpackage"), "zip", tmp_path / "in")


def test_an_archive_with_one_model_is_that_model(tracekit, built_models, zipped) -> None:
    plain, packed = (tracekit("inspect", path) for path in (built_models / "ranged.mlpackage", zipped))
    assert packed.status == 0
    # A command cannot change what is in an archive.
    assert "tracekit fix" not in packed.out
    assert packed.out.splitlines()[:8] == plain.out.splitlines()[:8]
    refused = tracekit("fix", zipped)
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "is an archive; unpack it, and fix the model in it" in refused.err


def test_archives_that_are_not_one_model_are_refused(tracekit, built_models, tmp_path) -> None:
    for name in ("ranged.mlpackage", "enumerated.mlpackage"):
        shutil.copytree(built_models / name, tmp_path / "in" / name)
    two = shutil.make_archive(str(tmp_path / "two.mlpackage"), "zip", tmp_path / "in")
    result = tracekit("inspect", two)
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "'enumerated.mlpackage', 'ranged.mlpackage'; unpack it" in result.err
    bomb = tmp_path / "bomb.zip"
    import zipfile

    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("A.mlmodel", bytes(40_000_000))
    assert "more than a model would" in tracekit("inspect", bomb).err


def test_several_models_and_folders_are_a_table(tracekit, built_models, tmp_path) -> None:
    for name in ("ranged.mlpackage", "network.mlmodel"):
        place = tmp_path / "models" / name
        (shutil.copytree if (built_models / name).is_dir() else shutil.copy)(built_models / name, _made(place))
    result = tracekit("inspect", tmp_path / "models", built_models / "stateful.mlpackage")
    assert result.status == 0
    assert result.out.splitlines()[0] == ("3 models: 2 likely on the Neural Engine, in whole or in part; 3 findings")
    rows = {line.split()[0]: line for line in result.out.splitlines() if ".ml" in line}
    assert "state-shapes" in rows["stateful.mlpackage"]
    assert "iOS 18" in rows["stateful.mlpackage"]
    assert rows["network.mlmodel"].rstrip().endswith("none")
    models = json.loads(tracekit("inspect", tmp_path / "models", "--json").out)["models"]
    assert [each["model"]["name"] for each in models] == ["network", "ranged"]
    (tmp_path / "models" / "bad.mlmodel").write_bytes(b"x")
    broken = tracekit("inspect", tmp_path / "models")
    assert broken.status == 2
    assert "NOT READ" in broken.out


def _made(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def test_two_models_are_compared(tracekit, built_models) -> None:
    result = tracekit("compare", built_models / "target_iOS15.mlpackage", built_models / "float32_compute.mlpackage")
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("target_iOS15.mlpackage → float32_compute.mlpackage: ")
    (engine,) = [line for line in lines if line.startswith("Neural Engine ")]
    assert "no: it computes in Float32" in engine
    assert any(line.split() == ["computes", "in", "Float16", "Float32"] for line in lines)
    assert any(line.split() == ["cast", "operations", "2", "–"] for line in lines)
    three = tracekit("compare", *[built_models / "ranged.mlpackage"] * 3)
    assert (three.status, three.err.count("\n")) == (2, 1)
    assert "`tracekit inspect` shows several in a table" in three.err
    same = tracekit("compare", built_models / "ranged.mlpackage", built_models / "ranged.mlpackage", "--json")
    assert json.loads(same.out)["changes"] == []


def test_all_that_can_be_fixed_is_fixed_in_the_order_that_is_said(tracekit, built_models, tmp_path) -> None:
    target = tmp_path / "Fixed.mlpackage"
    result = tracekit("fix", built_models / "float32_compute.mlpackage", "--all", "-o", target)
    assert result.status == 0
    assert "Fixed.mlpackage: float32-compute and interface-conversion fixed" in " ".join(result.out.split())
    assert "No findings" in tracekit("inspect", target).out
    ranged = tracekit("fix", built_models / "ranged.mlpackage", "--all", "-o", tmp_path / "Own.mlpackage")
    # Which shapes the app uses, no file says.
    assert "Own.mlpackage: interface-conversion fixed" in " ".join(ranged.out.split())
    nothing = tracekit("fix", built_models / "lstm.mlmodel", "--all", "-o", tmp_path / "No.mlmodel")
    assert nothing.status == 2
    assert "lstm.mlmodel has no finding that --all can fix" in nothing.err
    both = tracekit("fix", built_models / "ranged.mlpackage", "interface-conversion", "--all", "-o", target)
    assert "either findings or --all" in both.err


def plan(path, unit: str) -> None:
    operations = [
        {
            "operator": "ios16.conv",
            "outputs": ["conv_0"],
            "preferred": unit,
            "supported": [unit],
            "estimated_weight": 0.9,
        },
        {
            "operator": "ios16.relu",
            "outputs": ["y"],
            "preferred": "MLNeuralEngineComputeDevice",
            "estimated_weight": 0.1,
        },
    ]
    path.write_text(json.dumps({"main": {"operations": operations}}))


def test_a_plan_overrules_the_file_and_both_are_shown(tracekit, built_models, tmp_path) -> None:
    plan(tmp_path / "plan.json", "MLCPUComputeDevice")
    result = tracekit("inspect", built_models / "float16_interface.mlpackage", tmp_path / "plan.json")
    assert result.out.splitlines()[0] == (
        "Will it run on the Neural Engine: 1 of 2 operations by the compute plan (an unknown device)"
    )
    assert "the file alone: likely, all of it" in result.out
    assert "the plan has conv on another unit, which no limit explains" in result.out
    plan(tmp_path / "plan.json", "MLNeuralEngineComputeDevice")
    agrees = tracekit("inspect", built_models / "float16_interface.mlpackage", tmp_path / "plan.json")
    assert agrees.out.splitlines()[0].endswith(": all by the compute plan (an unknown device)")
    alone = tracekit("inspect", tmp_path / "plan.json")
    assert "2 operations: 2 on the Neural Engine" in alone.out
    assert [
        each["cost"]
        for each in json.loads(tracekit("inspect", tmp_path / "plan.json", "--json").out)["performance"]["operations"]
    ] == [0.9, 0.1]


def test_the_sample_model_has_one_finding_with_a_fix(tracekit, tmp_path) -> None:
    path = Path(__file__).resolve().parents[2] / "sample_models" / "SharpenFilter.mlpackage"
    inspected = tracekit("inspect", path)
    assert inspected.out.splitlines()[1].startswith("1 finding · ")
    assert "interface-conversion" in inspected.out
    assert tracekit("fix", path, "--all", "-o", tmp_path / "Fixed.mlpackage").status == 0
    assert tracekit("inspect", tmp_path / "Fixed.mlpackage").out.splitlines()[1].startswith("No findings · ")
