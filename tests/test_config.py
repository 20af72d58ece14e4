"""Settings of a project: what they change, where they are found, and that each mistake is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import tracekit
from support.analyses import keep
from tracekit.cli.dispatch import main
from tracekit.config import load_config
from tracekit.errors import UsageError
from tracekit.request import request_of
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.tui import opening
from tracekit.tui.export import save_report
from tracekit.tui.opening import Viewed
from tracekit.tui.viewport import Span

MS = 1_000_000


def written(tmp_path, text, name="tracekit.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Two models, each loaded again for each of its ten predictions."""
    scenario = Scenario(Process("App", 7), duration_ns=2_000 * MS)
    for name, offset in (("CaptionA", 0), ("Other", 1_000)):
        for k in range(10):
            scenario.load(Model(name), (offset + 40 * k) * MS, 20 * MS)
            scenario.predict(Model(name), (offset + 40 * k + 21) * MS, 8 * MS)
    path = tmp_path_factory.mktemp("settings") / "recording"
    write_export(scenario, path)
    return path


@pytest.fixture(autouse=True)
def kept(recording, samples, monkeypatch):
    """Each recording is read once."""
    keep(monkeypatch, {recording.parent, samples})


def reloads(report):
    return {check.model: check.outcome for check in report.results if check.id == "reload-before-predict"}


def test_everything_that_can_be_set_is_read(tmp_path):
    path = written(
        tmp_path,
        """
        skip = ["cold-load"]
        fail-on = "high"
        budget = "50fps"
        expect = "neural-engine"
        [checks.reload-before-predict]
        min_loads = 5
        [models."Caption*"]
        budget = 16.7
        expect = "gpu"
        skip = ["excess-data-copies"]
        [models."Caption*".checks.reload-before-predict]
        idle_s = 0
        """,
    )
    config = load_config(path)
    assert (config.skip, config.fail_on) == (("cold-load",), "high")
    assert config.settings == {
        "reload-before-predict.min_loads": 5,
        "missed-deadline.budget_ms": 20,
        "not-on-expected-unit.expected_unit": 1,
    }
    assert config.model_settings == {
        "Caption*": {
            "reload-before-predict.idle_s": 0,
            "missed-deadline.budget_ms": 16.7,
            "not-on-expected-unit.expected_unit": 2,
        }
    }
    assert config.model_skip == {"Caption*": ("excess-data-copies",)}


def test_checks_of_model_files_stand_among_the_others(tmp_path):
    path = written(
        tmp_path,
        """
        only = ["cold-load", "flexible-shapes", "uncompressed-weights"]
        skip = ["float32-compute"]
        [checks.uncompressed-weights]
        min_mb = 5
        [checks.cold-load]
        min_wait_ms = 300
        [models."Caption*"]
        skip = ["custom-layers"]
        [models."Caption*".checks.uncompressed-weights]
        min_mb = 1
        """,
    )
    config, checks = load_config(path), load_config(path).model_checks
    assert (config.only, config.skip) == (("cold-load",), ())
    assert config.settings == {"cold-load.min_wait_ms": 300}
    assert config.model_settings == {"Caption*": {}}
    assert checks.only == ("flexible-shapes", "uncompressed-weights")
    assert (checks.skipped_checks("Other"), checks.skipped_checks("CaptionB")) == (
        ("float32-compute",),
        ("float32-compute", "custom-layers"),
    )
    assert checks.settings_of("Other") == {"uncompressed-weights.min_mb": 5}
    assert checks.settings_of("CaptionB") == {"uncompressed-weights.min_mb": 1}


def test_a_threshold_holds_for_the_models_it_is_set_for_and_what_is_given_goes_before(tmp_path, recording):
    path = written(tmp_path, '[models."Caption*".checks.reload-before-predict]\nidle_s = 0\n')
    report = tracekit.analyze(recording, config=path)
    assert reloads(report) == {"CaptionA": "passed", "Other": "finding"}
    assert report.tool.config == "tracekit.toml"
    assert tracekit.analyze(recording).tool.config is None

    path = written(tmp_path, "[checks.reload-before-predict]\nidle_s = 0\n")
    assert set(reloads(tracekit.analyze(recording, config=path)).values()) == {"passed"}
    given = tracekit.analyze(recording, config=path, settings={"reload-before-predict.idle_s": 5})
    assert set(reloads(given).values()) == {"finding"}

    path = written(tmp_path, '[models.Other]\nskip = ["reload-before-predict"]\n')
    report = tracekit.analyze(recording, config=path)
    assert reloads(report) == {"CaptionA": "finding", "Other": "not_applicable"}

    path = written(tmp_path, 'skip = ["reload-before-predict", "cold-load"]\n')
    report = tracekit.analyze(recording, config=path, only=["reload-before-predict"])
    assert reloads(report) == {"CaptionA": "finding", "Other": "finding"}
    with pytest.raises(UsageError, match="no check is left"):
        tracekit.analyze(recording, config=path, only=["cold-load"], skip=["cold-load"])


def test_what_is_given_for_all_models_goes_before_what_is_set_for_some(tmp_path):
    scenario = Scenario(Process("App", 7), duration_ns=1_000 * MS)
    for k in range(20):
        for name in ("CaptionA", "Other"):
            scenario.predict(Model(name), 40 * k * MS, 8 * MS)
    write_export(scenario, tmp_path / "calls")
    path = written(tmp_path, '[models."Caption*"]\nbudget = "5ms"\n')

    def budgets(**given):
        report = tracekit.analyze(tmp_path / "calls", config=path, only=["missed-deadline"], **given)
        return {
            check.model: metric.value for check in report.results for metric in check.metrics if metric.name == "budget"
        }

    assert budgets() == {"CaptionA": 5 * MS}
    assert budgets(budget="50fps") == {"CaptionA": 20 * MS, "Other": 20 * MS}
    assert budgets(budget=["Other=9ms"]) == {"CaptionA": 5 * MS, "Other": 9 * MS}
    assert budgets(settings={"missed-deadline.budget_ms": 7}) == {"CaptionA": 7 * MS, "Other": 7 * MS}


def test_the_command_line_finds_the_settings_of_its_folder(tmp_path, recording, monkeypatch, capsys):
    folder = tmp_path / "project" / "deep"
    folder.mkdir(parents=True)
    written(tmp_path / "project", 'skip = ["reload-before-predict"]\nfail-on = "low"\n')
    monkeypatch.chdir(folder)
    assert main(["analyze", str(recording), "--format", "json", "-q"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tool"]["config"] == "tracekit.toml"
    assert "reload-before-predict" not in {check["id"] for check in report["results"]}
    # Without the settings there are findings, and no gate.
    assert main(["analyze", str(recording), "--no-config", "--format", "json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["findings"] > 0
    written(tmp_path / "project", 'fail-on = "critical"\n', "other.toml")
    assert main(["analyze", str(recording), "--config", "../other.toml"]) == 1
    assert "config other.toml" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("flag", "value", "detector", "wish"),
    [
        ("--budget", "30fps", "missed-deadline", "budget"),
        ("--expect", "neural-engine", "not-on-expected-unit", "expected compute unit"),
    ],
)
def test_what_only_a_left_out_detector_could_judge_is_refused(tmp_path, recording, capsys, flag, value, detector, wish):
    message = f"{wish} '{value}' is only used by {detector}, which"
    for left_out in (["--skip", detector], ["--only", "cold-load"]):
        assert main(["analyze", str(recording), "--no-config", flag, value, *left_out]) == 2
        assert message in capsys.readouterr().err
    settings = written(tmp_path, f'skip = ["{detector}"]\n')
    assert main(["analyze", str(recording), "--config", str(settings), flag, value]) == 2
    assert message in capsys.readouterr().err
    # Asked for by name, it runs though the settings skip it.
    arguments = ["--only", detector, "-q", "--config", str(settings), flag, value]
    assert main(["analyze", str(recording), *arguments]) in (0, 3)
    assert message not in capsys.readouterr().err


def test_what_the_settings_name_in_vain_is_told(tmp_path, samples, recording):
    text = '[models."Nope*"]\nbudget = "30fps"\n[models."Sharpen*"]\nallow = 0.2\n[models.Gone]\nallow = 0.2\n'
    path = written(tmp_path, text)
    assert tracekit.analyze(samples / "sharpen_8bit.trace", config=path).recording.notes == (
        "No model here matches the pattern 'Gone' of the settings.",
        "No model here matches the pattern 'Nope*' of the settings.",
    )
    # Without any model, patterns say nothing.
    assert not [
        note
        for note in tracekit.analyze(samples / "not_instrumented.trace", config=path).recording.notes
        if "Nope" in note
    ]

    path = written(tmp_path, 'skip = ["missed-deadline", "not-on-expected-unit"]\n[models.Other]\nbudget = "30fps"\n')
    assert tracekit.analyze(recording, config=path).recording.notes == (
        "The config file's budget was not used: missed-deadline did not run.",
    )
    path = written(tmp_path, 'budget = "30fps"\nexpect = "gpu"\n')
    assert tracekit.analyze(recording, config=path).recording.notes == ()


def test_diagnose_judges_by_the_same_settings(tmp_path, recording, monkeypatch, capsys):
    written(tmp_path, 'skip = ["reload-before-predict", "load-churn"]\n')
    monkeypatch.chdir(tmp_path)

    def reload_is_told(*arguments):
        assert main(["explain", str(recording), "--format", "json", *arguments]) == 0
        return "reload-before-predict" in capsys.readouterr().out

    assert not reload_is_told()
    assert reload_is_told("--no-config")
    other = written(tmp_path, "", "other.toml")
    assert reload_is_told("--config", str(other))
    written(tmp_path, "nonsense = 1\n")
    assert main(["explain", str(recording)]) == 2
    assert "tracekit.toml: 'nonsense'" in capsys.readouterr().err


def test_the_terminal_ui_judges_by_the_same_settings(tmp_path, recording):
    path = written(tmp_path, 'skip = ["reload-before-predict"]\n')
    session = opening.judge_session(opening.read(str(recording), request_of(config=path)))
    assert session.report is not None
    assert session.report.tool.config == "tracekit.toml"
    assert reloads(session.report) == {}
    save_report(session, Span(0, 2_000 * MS), tmp_path / "range.json", replace=False)
    saved = json.loads((tmp_path / "range.json").read_text(encoding="utf-8"))
    assert saved["tool"]["config"] == "tracekit.toml"


@pytest.mark.parametrize(
    ("arguments", "used"), [([], "tracekit.toml"), (["--no-config"], None), (["--config", "other.toml"], "other.toml")]
)
def test_view_takes_the_settings_of_its_folder(tmp_path, recording, monkeypatch, arguments, used):
    written(tmp_path, 'fail-on = "low"\n')
    written(tmp_path, "", "other.toml")
    monkeypatch.chdir(tmp_path)
    path = opened_by(monkeypatch, [str(recording), *arguments]).request.settings.path
    assert path == (None if used is None else Path(used).absolute() if not arguments else Path(used))


def test_view_tells_a_mistake_in_the_settings_before_it_takes_the_screen(tmp_path, recording, monkeypatch, capsys):
    written(tmp_path, "nonsense = 1\n")
    monkeypatch.chdir(tmp_path)
    assert opened_by(monkeypatch, [str(recording)]) is None
    assert "tracekit.toml: 'nonsense'" in capsys.readouterr().err


def opened_by(monkeypatch, arguments):
    """What `tracekit view` asks the terminal UI for; None where it does not come so far."""
    requests: list[Viewed] = []
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("tracekit.tui.app.run", lambda request: requests.append(request) or [])
    main(["view", *arguments])
    return requests[0] if requests else None


def test_operations_of_the_app_are_chosen_in_the_settings(tmp_path, samples):
    path = written(tmp_path, '[signposts]\nunits = ["Process*", "Resize"]\nskip = ["Resize"]\n')
    report = tracekit.analyze(samples / "frame_camera.trace", config=path)
    assert [operation.name for operation in report.operations] == ["ProcessFrame"]
    for text, sentence in (
        ('units = "ProcessFrame"', "'signposts.units': must be a list of names"),
        ("unit = []", "'signposts.unit': unknown setting 'unit'"),
    ):
        with pytest.raises(UsageError, match=sentence):
            load_config(written(tmp_path, f"[signposts]\n{text}\n"))


def test_a_memory_limit_is_set_for_the_app_and_outweighed_by_what_is_given(tmp_path):
    path = written(tmp_path, 'memory-limit = "3GB"\n')
    assert load_config(path).settings == {"memory-peak.limit_mb": 3_000}
    assert request_of(config=path, memory_limit="512MB").settings.settings == {"memory-peak.limit_mb": 512}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory-limit = 3\n", "'memory-limit': must be a size with its unit"),
        ('memory-limit = "3"\n', "memory limit '3': write a size above 0 with its unit"),
        ('[models."A"]\nmemory-limit = "3GB"\n', "memory-limit"),
    ],
)
def test_another_memory_limit_is_an_error(tmp_path, text, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        load_config(written(tmp_path, text))
