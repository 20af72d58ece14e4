"""Packages of Core AI, written as two authors reported them."""

from __future__ import annotations

import hashlib
import plistlib
import shutil
from pathlib import Path

import pytest

from tracekit.detectors.model_runner import run_model_detectors
from tracekit.detectors.outcomes import Finding, NotApplicable
from tracekit.model_files.engine import placements_of, verdict
from tracekit.model_files.read import read_model

WHOLLY = ["mps.fullyPlacedOnANE", "mps.noGPUActivity", "mps.aneAlignedIO"]


def compiled(folder: Path, name: str, regions: int, flags: list[str], *, gpu: bool = False) -> Path:
    """A `.aimodelc` for one architecture; the region's folder holds a file of its own name."""
    package = folder / f"Net.{name}.aimodelc"
    inside = package / f"main-{name}-delegates" / "MPSGraph" / "mpsExecutable.mpsgraphpackage"
    for number in range(regions):
        region = inside / "binary_0.llir.bundle" / f"main_ANE_region_0_{number}.bc"
        (region / name).mkdir(parents=True)
        (region / f"main_ANE_region_0_{number}.bc").write_bytes(b"x")
        (region / name / f"main_ANE_region_0_{number}.mlir.bc").write_bytes(b"x")
    inside.mkdir(parents=True, exist_ok=True)
    (inside / "model.mpsgraph").write_bytes(b"main_GPU_region_0_0" if gpu else b"graph")
    module = {"File Name": "model.mpsgraph", "Entry Function Attributes": {"main": flags}}
    manifest = {"Package Version": {"7.0": {"Optimized Modules": {"model": module}}}}
    (inside / "manifest.plist").write_bytes(plistlib.dumps(manifest))
    (package / f"main-{name}.mlirb").write_bytes(b"ML\xefR")
    (package / "metadata.json").write_text('{"producer": "coreai-core 1.0.0b2", "assetVersion": "2.0"}')
    return package


@pytest.mark.parametrize(
    ("regions", "flags", "gpu", "right"),
    [
        (0, [], False, "no: compiled for GPU or CPU only"),
        (1, WHOLLY, False, "compiled wholly for it"),
        (1, WHOLLY[:1], False, "in part: 1 region compiled for it"),
        (2, WHOLLY, True, "in part: 2 regions compiled for it"),
        (13, WHOLLY, False, "compiled wholly for it, split finely (13 regions, each submitted in every call)"),
    ],
)
def test_regions_and_flags_say_what_the_compiler_decided(tmp_path, regions, flags, gpu, right) -> None:
    model = read_model(compiled(tmp_path, "h16g", regions, flags, gpu=gpu))
    (placement,) = placements_of(model)
    assert (placement.function, verdict(placement)) == ("main on h16g", right)
    assert model.metadata.user_defined["producer"] == "coreai-core 1.0.0b2"
    assert isinstance(placements_of(model), tuple)


def test_what_the_exporter_asked_for_is_not_what_it_got(tmp_path) -> None:
    package = compiled(tmp_path, "h16g", 0, [])
    (package / "main-h16g.mlirb").write_bytes(b"ML\xefR preferredDevice=NeuralEngine")
    (placement,) = placements_of(read_model(package))
    assert verdict(placement) == "no: compiled for GPU or CPU only, though the Neural Engine was asked for"


def test_a_package_that_is_not_compiled_says_so_and_a_damaged_copy_too(tmp_path) -> None:
    package = tmp_path / "Net.aimodel"
    package.mkdir()
    (package / "main.mlirb").write_bytes(b"ML\xefR")
    (package / "main.hash").write_bytes(hashlib.sha256(b"ML\xefR").digest())
    (placement,) = placements_of(read_model(package))
    assert verdict(placement) == "not known: not compiled yet; placement is decided on the device"
    outcomes = {each.detector.id: each.outcome for each in run_model_detectors(read_model(package))}
    assert isinstance(outcomes["float32-compute"], NotApplicable)
    assert not isinstance(outcomes["load-failure"], Finding)

    (package / "main.mlirb").write_bytes(b"ML\xefR, cut")
    outcomes = {each.detector.id: each.outcome for each in run_model_detectors(read_model(package))}
    assert "does not fit 'main.mlirb'" in outcomes["load-failure"].summary


def test_a_half_built_package_lacks_its_manifest(tmp_path) -> None:
    package = compiled(tmp_path, "h18p", 1, WHOLLY)
    for manifest in package.rglob("manifest.plist"):
        manifest.write_bytes(b"bplist00 not one")
    outcomes = {each.detector.id: each.outcome for each in run_model_detectors(read_model(package))}
    assert "`manifest.plist of h18p` is missing" in outcomes["load-failure"].summary


@pytest.mark.parametrize("flags", [5, None, {"a": 1}, [[]], "x"])
def test_flags_of_another_kind_say_nothing(tmp_path, flags) -> None:
    kept = flags if flags is not None else {}
    (placement,) = placements_of(read_model(compiled(tmp_path, "h16g", 1, kept)))
    assert verdict(placement) == "in part: 1 region compiled for it"


def test_each_architecture_has_its_verdict(tmp_path) -> None:
    package = compiled(tmp_path, "h16g", 1, WHOLLY)
    other = compiled(tmp_path, "h17c", 0, [])
    for path in other.glob("main-*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, package / path.name)
    said = {each.function: verdict(each) for each in placements_of(read_model(package))}
    assert said == {"main on h16g": "compiled wholly for it", "main on h17c": "no: compiled for GPU or CPU only"}
