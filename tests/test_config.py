"""Settings of a project: what they change, where they are found, and that each mistake is told."""

from __future__ import annotations

import json

import pytest

import tracekit
from tracekit.cli.main import main
from tracekit.config import find_config, load_config
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError
from tracekit.testing import Model, Process, Scenario, write_export

MS = 1_000_000


def written(tmp_path, text, name="tracekit.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def recording(tmp_path):
    """Two models, each loaded again for each of its ten predictions."""
    scenario = Scenario(Process("App", 7), duration_ns=2_000 * MS)
    for name, offset in (("CaptionA", 0), ("Other", 1_000)):
        for k in range(10):
            scenario.load(Model(name), (offset + 40 * k) * MS, 20 * MS)
            scenario.predict(Model(name), (offset + 40 * k + 21) * MS, 8 * MS)
    write_export(scenario, tmp_path / "recording")
    return tmp_path / "recording"


def reloads(report):
    return {check.model: check.outcome for check in report.checks if check.id == "reload-before-predict"}


def test_everything_that_can_be_set_is_read(tmp_path):
    path = written(
        tmp_path,
        """
        skip = ["cold-load"]
        fail-on = "high"
        budget = "50fps"
        expect = "ane"
        [detectors.reload-before-predict]
        min_loads = 5
        [models."Caption*"]
        budget = 16.7
        expect = "gpu"
        skip = ["excess-data-copies"]
        [models."Caption*".detectors.reload-before-predict]
        idle_s = 0
        """,
    )
    config = load_config(path, DETECTORS)
    assert (config.skip, config.fail_on) == (("cold-load",), "high")
    assert config.settings == {
        "reload-before-predict.min_loads": 5,
        "missed-deadline.budget_ms": 20,
        "unexpected-device.expected_unit": 1,
    }
    assert config.model_settings == {
        "Caption*": {
            "reload-before-predict.idle_s": 0,
            "missed-deadline.budget_ms": 16.7,
            "unexpected-device.expected_unit": 2,
        }
    }
    assert config.model_skip == {"Caption*": ("excess-data-copies",)}


def test_a_threshold_holds_for_the_models_it_is_set_for(tmp_path, recording):
    path = written(tmp_path, '[models."Caption*".detectors.reload-before-predict]\nidle_s = 0\n')
    report = tracekit.analyze(recording, config=path)
    assert reloads(report) == {"CaptionA": "passed", "Other": "finding"}
    assert report.tool.settings == "tracekit.toml"
    assert tracekit.analyze(recording).tool.settings is None


def test_what_is_given_goes_before_what_is_set(tmp_path, recording):
    path = written(tmp_path, "[detectors.reload-before-predict]\nidle_s = 0\n")
    assert set(reloads(tracekit.analyze(recording, config=path)).values()) == {"passed"}
    given = tracekit.analyze(recording, config=path, settings={"reload-before-predict.idle_s": 5})
    assert set(reloads(given).values()) == {"finding"}


def test_a_detector_can_be_left_out_for_some_models(tmp_path, recording):
    path = written(tmp_path, '[models.Other]\nskip = ["reload-before-predict"]\n')
    report = tracekit.analyze(recording, config=path)
    assert reloads(report) == {"CaptionA": "finding", "Other": "not_applicable"}


def test_the_command_line_finds_the_settings_of_its_folder(tmp_path, recording, monkeypatch, capsys):
    folder = tmp_path / "project" / "deep"
    folder.mkdir(parents=True)
    written(tmp_path / "project", 'skip = ["reload-before-predict"]\nfail-on = "low"\n')
    monkeypatch.chdir(folder)
    assert main(["analyze", str(recording), "--format", "json", "-q"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tool"]["settings"] == "tracekit.toml"
    assert "reload-before-predict" not in {check["id"] for check in report["checks"]}
    # Without the settings there are findings, and no gate.
    assert main(["analyze", str(recording), "--no-config", "--format", "json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["findings"] == 2
    written(tmp_path / "project", 'fail-on = "critical"\n', "other.toml")
    assert main(["analyze", str(recording), "--config", "../other.toml", "-q"]) == 1
    assert "settings in other.toml" in capsys.readouterr().out


def test_settings_are_looked_for_up_to_the_top_of_the_repository(tmp_path):
    repository = tmp_path / "repository"
    inside = repository / "app"
    inside.mkdir(parents=True)
    above = written(tmp_path, "")
    assert find_config(inside) == above
    (repository / ".git").mkdir()
    assert find_config(inside) is None
    pyproject = written(repository, "[tool.tracekit]\nfail-on = 'high'\n", "pyproject.toml")
    assert find_config(inside) == pyproject
    assert load_config(pyproject, DETECTORS).fail_on == "high"
    assert find_config(written(repository, "").parent) == repository / "tracekit.toml"
    (repository / "tracekit.toml").unlink()
    written(repository, "[tool.other]\n", "pyproject.toml")
    assert find_config(inside) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("skipp = []", "'skipp': there is no setting named 'skipp'; did you mean 'skip'?"),
        ('skip = "cold-load"', "'skip': must be a list of detector ids"),
        ('skip = ["cold-loads"]', "did you mean 'cold-load'?"),
        ("[detectors.cold-loads]\nx = 1", "did you mean 'cold-load'?"),
        ("[detectors.reload-before-predict]\nmin_load = 1", "did you mean 'min_loads'?"),
        ("[detectors.reload-before-predict]\nmin_loads = 1.5", "must be a whole number"),
        ("[detectors.reload-before-predict]\nmin_loads = -1", "must be 0 or more"),
        ("[detectors.reload-before-predict]\nmin_loads = true", "must be a number"),
        ('[detectors.reload-before-predict]\nmin_loads = "3"', "must be a number"),
        ("detectors = 3", "'detectors': must be a table of tables"),
        ("[models.A]\nonly = []", "'models.\"A\".only': there is no setting named 'only'"),
        ('[models.A]\nskip = ["x"]', "'models.\"A\".skip': there is no detector named 'x'"),
        ("budget = []", "'budget': must be a time or a rate"),
        ('budget = "fast"', "budget 'fast': write a time or a rate above 0"),
        ('budget = "A=3ms"', "'budget': must be a time or a rate"),
        ("budget = 0", "above 0"),
        ('expect = "npu"', "'expect': must be one of 'ane', 'gpu', 'cpu'"),
        ('expect = ["ane"]', "'expect': must be one of"),
        ('[models.A]\nexpect = "B=ane"', "'models.\"A\".expect': must be one of"),
        ('fail-on = "hihg"', "'fail-on': there is no severity named 'hihg'; did you mean 'high'?"),
        ("fail-on = 3", "'fail-on': there is no severity named '3'"),
        ("a = ", "is no valid TOML"),
        ("a = " + "[" * 5_000, "is no valid TOML"),
        ("x = 1\n" + "#" * (1 << 20), "is too large"),
    ],
)
def test_each_mistake_is_told_with_the_name_of_the_file(tmp_path, text, told):
    with pytest.raises(UsageError) as caught:
        load_config(written(tmp_path, text), DETECTORS)
    assert str(caught.value).startswith("tracekit.toml: ")
    assert told in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path, capsys):
    with pytest.raises(UsageError, match=r"tracekit\.toml: cannot be read: No such file"):
        load_config(tmp_path / "tracekit.toml", DETECTORS)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"binary\.toml: is no valid TOML"):
        load_config(tmp_path / "binary.toml", DETECTORS)
    with pytest.raises(UsageError, match=r"pyproject\.toml: has no table"):
        load_config(written(tmp_path, "[tool]\n", "pyproject.toml"), DETECTORS)
    assert main(["analyze", "x.trace", "--config", str(tmp_path / "no.toml")]) == 2
    assert "no.toml: cannot be read" in capsys.readouterr().err
