"""Model files and performance reports beside a recording: what the command line takes, and what the report says."""

from __future__ import annotations

import json
import shutil

import pytest
from jsonschema import validate

from support.performance_reports import PRIVATE, experiments, many, xcode_json
from tracekit.report.serialize import schema_text


@pytest.fixture
def sharpen(built_models, tmp_path):
    """Puts a built model under the name that the sharpen samples have; gives its path."""

    def put(name: str):
        return shutil.copytree(built_models / f"{name}.mlpackage", tmp_path / "SharpenFilter.mlpackage")

    return put


def test_a_model_file_is_part_of_the_report_with_its_facts_and_without_the_way_to_it(
    tracekit, samples, sharpen, tmp_path
) -> None:
    result = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", sharpen("image_gray"), "--json")
    report = result.json
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

    shutil.rmtree(tmp_path / "SharpenFilter.mlpackage")
    path = sharpen("palettized_groups")
    result = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", path, "--json")
    (entry,) = result.json["model_files"]
    facts = {fact["name"]: fact["value"] for fact in entry["facts"]}
    assert facts["input"] == "x, Float16, 1 × 32 × 8 × 8"
    assert facts["output"] == "y, Float16, 1 × 32 × 8 × 8"
    assert facts["computes in"] == "Float16; CoreML8"
    assert facts["operations"] == "2: 1 conv, 1 relu"
    assert facts["weights"] == "4.74 KB, 9,216 parameters, in a file of the package"
    assert str(path.parent) not in result.out


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
    assert "Model file SharpenFilter.mlmodel: not used for SharpenFilter: 'SharpenFilter.mlmodel' is" in beside.out
    missing = tracekit("analyze", samples / "sharpen_8bit.trace", "--model-file", tmp_path / "none")
    assert (missing.status, missing.out) == (2, "")
    assert missing.err == f"tracekit: --model-file {tmp_path / 'none'}: no such file or folder\n"


def test_settings_name_model_files_as_seen_from_their_folder(tracekit, project, samples, sharpen) -> None:
    project('model-files = ["SharpenFilter.mlpackage"]')
    sharpen("float16_interface")
    report = tracekit("analyze", samples / "sharpen_float16.trace", "--json").json
    assert [entry["model"] for entry in report["model_files"]] == ["SharpenFilter"]
    project('model-files = "SharpenFilter.mlpackage"')
    wrong = tracekit("analyze", samples / "sharpen_float16.trace")
    assert wrong.status == 2
    assert "tracekit.toml: 'model-files': must be a list of paths" in wrong.err


def checks_of(tracekit, recording, *arguments) -> dict:
    report = tracekit("analyze", recording, "--json", *arguments).json
    fixes = {rule["id"]: rule["fix"] for rule in report["rules"]}
    return {each["id"]: each | {"fix": each["own_fix"] or fixes[each["id"]]} for each in report["results"]}


@pytest.mark.parametrize("check", ["excess-data-copies", "float-conversion"])
def test_findings_name_the_input_its_type_and_the_lines_that_fix_it(tracekit, samples, sharpen, check: str) -> None:
    recording = samples / "sharpen_8bit.trace"
    answer = checks_of(tracekit, recording, "--model-file", sharpen("image_gray"))[check]
    alone = checks_of(tracekit, recording)[check]
    words = " The model file shows what is converted: input `picture` (8-bit image to Float16), output `y` (Float16 to "
    assert answer["summary"].replace(f"{words}Float32).", "", 1) == alone["summary"] != answer["summary"]
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


@pytest.mark.sweep
def test_files_of_models_that_are_not_shown_are_left_out(tracekit, samples, built_models) -> None:
    recording, path = samples / "style_transfer_fixed.trace", built_models / "float16_interface.mlpackage"
    models = [model["name"] for model in tracekit("analyze", recording, "--json").json["models"]]
    files = [word for name in models[:2] for word in ("--model-file", f"{name}={path}")]
    report = tracekit("analyze", recording, "--json", "--model", models[0], *files).json
    assert [entry["model"] for entry in report["model_files"]] == [models[0]]


def test_a_project_switches_checks_of_its_model_files_off(tracekit, samples, sharpen, tmp_path) -> None:
    config = tmp_path / "own.toml"
    config.write_text('model-files = ["SharpenFilter.mlpackage"]\nskip = ["interface-conversion"]\n', "utf-8")
    sharpen("ranged")
    run = ("analyze", samples / "sharpen_float16.trace", "--config", config)
    (entry,) = tracekit(*run, "--json").json["model_files"]
    ids = {check["id"] for check in entry["results"]}
    assert entry["interface"] == ""
    assert "interface-conversion" not in ids
    assert "flexible-shapes" in ids
    every = ", ".join(f'"{name}"' for name in sorted(ids))
    config.write_text(
        f'model-files = ["SharpenFilter.mlpackage"]\n[models."Sharpen*"]\nskip = ["interface-conversion", {every}]\n',
        "utf-8",
    )
    (entry,) = tracekit(*run, "--json").json["model_files"]
    assert (entry["summary"][:10], entry["results"]) == ("ML program", [])


@pytest.fixture
def report_of(tmp_path):
    """Writes Xcode's report of the model of the sharpen samples; gives its path."""

    def write(name: str = "report.json", **options):
        path = tmp_path / name
        layers = [*many(38, "ios16.conv", "neuralEngine"), *many(2, "ios16.topk", "cpu", ["cpu", "gpu"])]
        times = {"predict": experiments([0.3] * 3, [0.0112] * 2), "load": experiments([0.4] * 3, [0.0452] * 2)}
        path.write_text(json.dumps(xcode_json("SharpenFilter", layers, **times, **options)))
        return path

    return write


def test_a_performance_report_is_part_of_the_report_without_what_is_private(tracekit, samples, report_of) -> None:
    path = report_of(device_name="iPhone 14 Pro", system="iOS 18.5")
    result = tracekit("analyze", samples / "sharpen_8bit.trace", "--perf-report", path, "--json")
    report = result.json
    validate(report, json.loads(schema_text()))
    (entry,) = report["performance_reports"]
    assert entry == {
        "model": "SharpenFilter",
        "source": "report.json",
        "match": "same name",
        "problem": "",
        "form": "Xcode performance report",
        "made_on": "iPhone 14 Pro, iOS 18.5, all compute units",
        "same_device": True,
        "median_ns": 11_200_000,
        "load_ns": 45_200_000,
        "operations": 40,
        "units": {"CPU": 2, "Neural Engine": 38},
        "timed": "Prediction of the model alone: 11.2 ms; recorded: 12.4 ms (medians).",
        "planned": "Planned: 40 operations: 38 on the Neural Engine, 2 on the CPU; recorded work: Neural Engine 100%.",
    }
    assert not any(word in result.out for word in (*PRIVATE, str(path.parent)))


def test_settings_name_performance_reports_as_seen_from_their_folder(tracekit, project, samples, report_of) -> None:
    project('perf-reports = ["report.json"]')
    report_of()
    report = tracekit("analyze", samples / "sharpen_float16.trace", "--json").json
    (entry,) = report["performance_reports"]
    assert (entry["model"], entry["same_device"]) == ("SharpenFilter", False)
    assert "not the iPhone 14 Pro that was recorded" in entry["made_on"]
    project('perf-reports = "report.json"')
    wrong = tracekit("analyze", samples / "sharpen_float16.trace")
    assert wrong.status == 2
    assert "tracekit.toml: 'perf-reports': must be a list of paths" in wrong.err


def test_diagnose_answers_with_the_performance_report(tracekit, samples, report_of) -> None:
    arguments = ("explain", samples / "sharpen_float16.trace", "--format", "json", "--perf-report")

    def leaf(path, pattern: str) -> dict:
        branches = tracekit(*arguments, path).json["branches"]
        return next(leaf for branch in branches for leaf in branch["leaves"] if leaf["pattern"].startswith(pattern))

    here = leaf(report_of(device_name="iPhone 14 Pro", system="iOS 18.5"), "1b")
    assert here["answer"] == "not seen"
    assert here["evidence"] == [
        "SharpenFilter (performance report): a compute plan was made (iPhone 14 Pro, iOS 18.5, all compute units)."
    ]
    elsewhere = report_of("other.json")
    assert leaf(elsewhere, "1b")["answer"] == "not evaluated"
    assert any("Prediction of the model alone: 11.2 ms" in words for words in leaf(elsewhere, "2b")["evidence"])
