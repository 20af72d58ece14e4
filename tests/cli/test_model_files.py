"""Model files beside a recording: what the command line takes, and what the report says."""

from __future__ import annotations

import json
import shutil

import pytest
from jsonschema import validate

from tracekit.report.renderers.serialize import schema_text


@pytest.fixture(autouse=True)
def _hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width without a terminal, whatever width a test runner hands to its processes."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def sharpen(built_models, tmp_path):
    """Puts a built model under the name that the sharpen samples have; gives its path."""

    def put(name: str):
        return shutil.copytree(built_models / f"{name}.mlpackage", tmp_path / "SharpenFilter.mlpackage")

    return put


def test_a_model_file_is_part_of_the_report_without_the_way_to_it(tracekit, samples, sharpen) -> None:
    result = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", sharpen("image_gray"), "--json")
    report = json.loads(result.out)
    validate(report, json.loads(schema_text()))
    (entry,) = report["model_files"]
    assert (entry["model"], entry["source"], entry["match"]) == (
        "SharpenFilter",
        "SharpenFilter.mlpackage",
        "same name",
    )
    assert entry["interface"] == (
        "Converted in every prediction: input `picture` (8-bit image to Float16), output `y` (Float16 to Float32)."
    )
    # Specification 6, recorded on iOS 18.5.
    assert entry["loads"] is True
    assert entry["compression"] == []
    assert "SharpenFilter.mlpackage" not in json.dumps(report["recording"]["notes"])


def test_a_bad_model_file_is_an_error_where_it_is_given_and_a_note_where_it_lies_beside(
    tracekit, samples, tmp_path
) -> None:
    path = tmp_path / "SharpenFilter.mlmodel"
    path.write_bytes(b"")
    given = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", path)
    assert (given.status, given.out) == (2, "")
    assert given.err.startswith("tracekit: 'SharpenFilter.mlmodel' is empty; expected ")
    assert given.err.count("\n") == 1
    recording = shutil.copytree(samples / "sharpen_8bit.trace", tmp_path / "run.trace")
    beside = tracekit("analyze", recording)
    assert beside.status == 0
    assert "excess-data-copies" in beside.out
    assert (
        "note: Model file SharpenFilter.mlmodel: not used for SharpenFilter: 'SharpenFilter.mlmodel' is" in beside.out
    )
    missing = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", tmp_path / "none")
    assert (missing.status, missing.out) == (2, "")
    assert missing.err == f"tracekit: --model-file {tmp_path / 'none'}: no such file or folder\n"


def test_settings_name_model_files_as_seen_from_their_folder(tracekit, project, samples, sharpen) -> None:
    project('model-files = ["SharpenFilter.mlpackage"]')
    sharpen("float16_interface")
    report = json.loads(tracekit("analyze", samples / "sharpen_float16.trace", "--json").out)
    assert [entry["model"] for entry in report["model_files"]] == ["SharpenFilter"]
    project('model-files = "SharpenFilter.mlpackage"')
    wrong = tracekit("analyze", samples / "sharpen_float16.trace")
    assert wrong.status == 2
    assert "tracekit.toml: 'model-files': must be a list of paths" in wrong.err


def checks_of(tracekit, recording, *arguments) -> dict:
    report = json.loads(tracekit("analyze", recording, "--json", *arguments).out)
    return {check["id"]: check for check in report["checks"]}


@pytest.mark.parametrize("check", ["excess-data-copies", "float-conversion"])
def test_findings_name_the_input_its_type_and_the_lines_that_fix_it(tracekit, samples, sharpen, check: str) -> None:
    recording = samples / "sharpen_8bit.trace"
    answer = checks_of(tracekit, recording, "--model-file", sharpen("image_gray"))[check]
    alone = checks_of(tracekit, recording)[check]
    words = " The model file shows what is converted: input `picture` (8-bit image to Float16), output `y` (Float16 to "
    assert answer["summary"] == f"{alone['summary']}{words}Float32)."
    for line in (
        'inputs=[ct.ImageType(name="picture", color_layout=ct.colorlayout.GRAYSCALE_FLOAT16)],',
        'outputs=[ct.TensorType(name="y", dtype=np.float16)],',
        "`kCVPixelFormatType_OneComponent16Half` for `picture`",
    ):
        assert line in answer["fix"]
        assert line not in alone["fix"]
    assert answer["fix"].startswith(
        "Convert the model with Float16 where it computes in Float16. Needs iOS 16, macOS 13"
    )
    assert {key: answer[key] for key in ("outcome", "severity", "metrics", "cost", "evidence")} == {
        key: alone[key] for key in ("outcome", "severity", "metrics", "cost", "evidence")
    }


@pytest.mark.parametrize("check", ["excess-data-copies", "float-conversion"])
def test_a_right_interface_is_said_to_be_right(tracekit, samples, sharpen, check: str) -> None:
    answer = checks_of(tracekit, samples / "sharpen_float16.trace", "--model-file", sharpen("float16_interface"))[check]
    assert answer["outcome"] == "passed"
    assert answer["summary"].endswith(
        " of prediction time. The interface is right: by the model file, inputs and outputs need no conversion: "
        "the model computes in Float16."
    )


def test_a_file_that_contradicts_the_recording_is_questioned(tracekit, samples, sharpen) -> None:
    path = sharpen("float16_interface")
    check = checks_of(tracekit, samples / "sharpen_8bit.trace", "--model-file", path)["float-conversion"]
    assert "check that it is the version that ran" in check["summary"]
    assert check["fix"].startswith("Convert the model with Float16 inputs and outputs")


def test_files_of_models_that_are_not_shown_are_left_out(tracekit, samples, built_models) -> None:
    recording, path = samples / "style_transfer_fixed.trace", built_models / "float16_interface.mlpackage"
    models = [model["name"] for model in json.loads(tracekit("analyze", recording, "--json").out)["models"]]
    files = [word for name in models[:2] for word in ("--model-file", f"{name}={path}")]
    report = json.loads(tracekit("analyze", recording, "--json", "--model", models[0], *files).out)
    assert [entry["model"] for entry in report["model_files"]] == [models[0]]


def test_a_project_switches_checks_of_its_model_files_off(tracekit, samples, sharpen, tmp_path) -> None:
    config = tmp_path / "own.toml"
    config.write_text('model-files = ["SharpenFilter.mlpackage"]\nskip = ["interface-conversion"]\n', "utf-8")
    sharpen("ranged")
    run = ("analyze", samples / "sharpen_float16.trace", "--config", config)
    (entry,) = json.loads(tracekit(*run, "--json").out)["model_files"]
    ids = {check["id"] for check in entry["checks"]}
    assert entry["interface"] == ""
    assert "interface-conversion" not in ids
    assert "flexible-shapes" in ids
    every = ", ".join(f'"{name}"' for name in sorted(ids))
    config.write_text(
        f'model-files = ["SharpenFilter.mlpackage"]\n[models."Sharpen*"]\nskip = ["interface-conversion", {every}]\n',
        "utf-8",
    )
    (entry,) = json.loads(tracekit(*run, "--json").out)["model_files"]
    assert (entry["summary"][:10], entry["checks"]) == ("ML program", [])
