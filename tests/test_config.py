"""Settings of a project: what they change, where they are found, and that each mistake is told."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import tracekit
from tracekit.cli.main import main
from tracekit.config import load_config
from tracekit.config_file import find_config
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.tui import opening
from tracekit.tui.export import save_report
from tracekit.tui.opening import Request
from tracekit.tui.viewport import Span

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


def test_checks_of_model_files_stand_among_the_others(tmp_path):
    path = written(
        tmp_path,
        """
        only = ["cold-load", "flexible-shapes", "uncompressed-weights"]
        skip = ["float32-compute"]
        [detectors.uncompressed-weights]
        min_mb = 5
        [detectors.cold-load]
        min_wait_ms = 300
        [models."Caption*"]
        skip = ["custom-layers"]
        [models."Caption*".detectors.uncompressed-weights]
        min_mb = 1
        """,
    )
    config, checks = load_config(path, DETECTORS), load_config(path, DETECTORS).model_checks
    assert (config.only, config.skip) == (("cold-load",), ())
    assert config.settings == {"cold-load.min_wait_ms": 300}
    assert config.model_settings == {"Caption*": {}}
    assert checks.only == ("flexible-shapes", "uncompressed-weights")
    assert (checks.skipped("Other"), checks.skipped("CaptionB")) == (
        ("float32-compute",),
        ("float32-compute", "custom-layers"),
    )
    assert checks.settings_of("Other") == {"uncompressed-weights.min_mb": 5}
    assert checks.settings_of("CaptionB") == {"uncompressed-weights.min_mb": 1}


def test_only_checks_of_one_kind_leave_those_of_the_other_alone(tmp_path):
    config = load_config(written(tmp_path, 'only = ["flexible-shapes"]'), DETECTORS)
    assert (config.only, config.model_checks.only) == ((), ("flexible-shapes",))


def test_a_threshold_holds_for_the_models_it_is_set_for(tmp_path, recording):
    path = written(tmp_path, '[models."Caption*".detectors.reload-before-predict]\nidle_s = 0\n')
    report = tracekit.analyze(recording, config=path)
    assert reloads(report) == {"CaptionA": "passed", "Other": "finding"}
    assert report.tool.config == "tracekit.toml"
    assert tracekit.analyze(recording).tool.config is None


def test_what_is_given_goes_before_what_is_set(tmp_path, recording):
    path = written(tmp_path, "[detectors.reload-before-predict]\nidle_s = 0\n")
    assert set(reloads(tracekit.analyze(recording, config=path)).values()) == {"passed"}
    given = tracekit.analyze(recording, config=path, settings={"reload-before-predict.idle_s": 5})
    assert set(reloads(given).values()) == {"finding"}


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
            check.model: metric.value for check in report.checks for metric in check.metrics if metric.name == "budget"
        }

    assert budgets() == {"CaptionA": 5 * MS}
    assert budgets(budget="50fps") == {"CaptionA": 20 * MS, "Other": 20 * MS}
    assert budgets(budget=["Other=9ms"]) == {"CaptionA": 5 * MS, "Other": 9 * MS}
    assert budgets(settings={"missed-deadline.budget_ms": 7}) == {"CaptionA": 7 * MS, "Other": 7 * MS}


def test_a_detector_that_is_asked_for_runs_though_the_project_skips_it(tmp_path, recording):
    path = written(tmp_path, 'skip = ["reload-before-predict", "cold-load"]\n')
    report = tracekit.analyze(recording, config=path, only=["reload-before-predict"])
    assert reloads(report) == {"CaptionA": "finding", "Other": "finding"}
    with pytest.raises(UsageError, match="no check is left"):
        tracekit.analyze(recording, config=path, only=["cold-load"], skip=["cold-load"])


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
    assert report["tool"]["config"] == "tracekit.toml"
    assert "reload-before-predict" not in {check["id"] for check in report["checks"]}
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
        ("--expect", "ane", "unexpected-device", "expected compute unit"),
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


def test_a_wish_of_the_settings_that_nothing_looks_at_is_told(tmp_path, recording):
    path = written(tmp_path, 'skip = ["missed-deadline", "unexpected-device"]\n[models.Other]\nbudget = "30fps"\n')
    assert tracekit.analyze(recording, config=path).recording.notes == (
        "The config file's budget was not used: missed-deadline did not run.",
    )
    path = written(tmp_path, 'budget = "30fps"\nexpect = "gpu"\n')
    assert tracekit.analyze(recording, config=path).recording.notes == ()


def test_diagnose_judges_by_the_same_settings(tmp_path, recording, monkeypatch, capsys):
    written(tmp_path, 'skip = ["reload-before-predict", "load-churn"]\n')
    monkeypatch.chdir(tmp_path)

    def reload_is_told(*arguments):
        assert main(["diagnose", str(recording), "--format", "json", *arguments]) == 0
        return "reload-before-predict" in capsys.readouterr().out

    assert not reload_is_told()
    assert reload_is_told("--no-config")
    other = written(tmp_path, "", "other.toml")
    assert reload_is_told("--config", str(other))
    written(tmp_path, "nonsense = 1\n")
    assert main(["diagnose", str(recording)]) == 2
    assert "tracekit.toml: 'nonsense'" in capsys.readouterr().err


def test_the_terminal_ui_judges_by_the_same_settings(tmp_path, recording):
    path = written(tmp_path, 'skip = ["reload-before-predict"]\n')
    request = Request((str(recording),), config=path)
    session = opening.judged(opening.read(request, str(recording)))
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
    requests = opened_by(monkeypatch, [str(recording), *arguments])
    assert requests.config == (None if used is None else Path(used).absolute() if not arguments else Path(used))


def test_view_tells_a_mistake_in_the_settings_before_it_takes_the_screen(tmp_path, recording, monkeypatch, capsys):
    written(tmp_path, "nonsense = 1\n")
    monkeypatch.chdir(tmp_path)
    assert opened_by(monkeypatch, [str(recording)]) is None
    assert "tracekit.toml: 'nonsense'" in capsys.readouterr().err


def opened_by(monkeypatch, arguments):
    """What `tracekit view` asks the terminal UI for; None where it does not come so far."""
    requests: list[Request] = []
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("tracekit.tui.app.run", requests.append)
    main(["view", *arguments])
    return requests[0] if requests else None


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
    "text",
    [
        "[tool]\ntracekit = {fail-on = 'high'}\n",
        "[ tool . tracekit ]\nfail-on = 'high'\n",
        "tool.tracekit.fail-on = 'high'\n",
    ],
)
def test_settings_in_a_pyproject_are_found_however_they_are_written(tmp_path, text):
    (tmp_path / ".git").mkdir()
    path = written(tmp_path, text, "pyproject.toml")
    assert find_config(tmp_path) == path
    assert load_config(path, DETECTORS).fail_on == "high"


def test_a_pyproject_that_only_mentions_the_name_holds_no_settings(tmp_path):
    (tmp_path / ".git").mkdir()
    written(tmp_path, "# See tool.tracekit.\n[project]\ndependencies = ['coreml-tracekit']\n", "pyproject.toml")
    assert find_config(tmp_path) is None


@pytest.mark.parametrize("name", ["tracekit.toml", "pyproject.toml"])
def test_settings_that_cannot_be_read_are_not_passed_over(tmp_path, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text("tracekit = [")
    assert find_config(tmp_path) == tmp_path / name
    with pytest.raises(UsageError, match="is not valid TOML"):
        load_config(tmp_path / name, DETECTORS)


def test_a_link_that_leads_nowhere_is_told_and_one_in_a_circle_does_not_hang(tmp_path):
    (tmp_path / "tracekit.toml").symlink_to("tracekit.toml")
    assert find_config(tmp_path) == tmp_path / "tracekit.toml"
    with pytest.raises(UsageError, match=r"tracekit\.toml: cannot be read"):
        load_config(tmp_path / "tracekit.toml", DETECTORS)


def test_a_folder_with_the_name_of_the_settings_holds_none(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "tracekit.toml").mkdir()
    (tmp_path / "pyproject.toml").mkdir()
    assert find_config(tmp_path) is None


def test_no_more_than_a_file_of_settings_can_hold_is_read():
    with pytest.raises(UsageError, match="too large for a configuration file"):
        load_config(Path("/dev/zero"), DETECTORS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("skipp = []", "'skipp': unknown setting 'skipp'; did you mean 'skip'?"),
        ('skip = "cold-load"', "'skip': must be a list of check ids"),
        ('skip = ["cold-loads"]', "did you mean 'cold-load'?"),
        ("[detectors.cold-loads]\nx = 1", "did you mean 'cold-load'?"),
        ("[detectors.reload-before-predict]\nmin_load = 1", "did you mean 'min_loads'?"),
        ("[detectors.reload-before-predict]\nmin_loads = 1.5", "must be a whole number"),
        ("[detectors.reload-before-predict]\nmin_loads = -1", "must be 1 to 1,000,000,000 (loads)"),
        ("[detectors.reload-before-predict]\nmin_loads = true", "must be a number"),
        ('[detectors.reload-before-predict]\nmin_loads = "3"', "must be a number"),
        ("detectors = 3", "'detectors': must be a table of tables"),
        ("[models.A]\nonly = []", "'models.\"A\".only': unknown setting 'only'"),
        ('skip = ["flexible-shape"]', "'skip': unknown check 'flexible-shape'; did you mean 'flexible-shapes'?"),
        ("[detectors.uncompressed-weights]\nmin_gb = 1", "'uncompressed-weights.min_gb': unknown option 'min_gb'"),
        ("[detectors.uncompressed-weights]\nmin_mb = -1", "'uncompressed-weights.min_mb=-1': the value must be"),
        ('[models.A]\nskip = ["x"]', "'models.\"A\".skip': unknown check 'x'; list them with `tracekit detectors`"),
        ('[models.A]\nskip = ["run-issues"]', "'models.\"A\".skip': 'run-issues' applies to the whole recording"),
        ("budget = []", "'budget': must be a time or a rate"),
        ('budget = "fast"', "budget 'fast': write a time or a rate above 0"),
        ('budget = "A=3ms"', "'budget': must be a time or a rate"),
        ("budget = 0", "above 0"),
        ("[detectors.reload-before-predict]\nmin_loads = 1" + "0" * 400, "must be a whole number"),
        ("a = " + "1" * 5_000, "is not valid TOML: a number of too many digits"),
        ("budget = 0x" + "f" * 5_000, "'budget': the number has too many digits"),
        ("fail-on = 0x" + "f" * 5_000, "'fail-on': the number has too many digits"),
        ("only = [-0x" + "f" * 5_000 + "]", "not valid TOML"),
        ("only = [0b" + "1" * 20_000 + "]", "'only': the number has too many digits"),
        (
            "[detectors.reload-before-predict]\nmin_loads = 0o" + "7" * 5_000,
            "'detectors.reload-before-predict.min_loads': the number has too many digits",
        ),
        ('expect = "npu"', "'expect': must be one of 'ane', 'gpu', 'cpu'"),
        ('expect = ["ane"]', "'expect': must be one of"),
        ('[models.A]\nexpect = "B=ane"', "'models.\"A\".expect': must be one of"),
        ('fail-on = "hihg"', "'fail-on': unknown severity 'hihg'; did you mean 'high'?"),
        ("fail-on = 3", "'fail-on': unknown severity '3'"),
        ("a = ", "is not valid TOML"),
        ("a = " + "[" * 5_000, "is not valid TOML"),
        ("x = 1\n" + "#" * (1 << 18), "is too large"),
        ("x = 1\n" + ".".join(["a"] * 100_000) + " = 1", "a key with more than 32 parts (at line 2)"),
        ("x = 1\n[" + " . ".join(["'a'", '"b"'] * 10_000) + "]", "a key with more than 32 parts (at line 2)"),
        (".".join(["a"] * 32) + " = 1", "'a': unknown setting 'a'"),
    ],
)
def test_each_mistake_is_told_with_the_name_of_the_file(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        load_config(written(tmp_path, text), DETECTORS)
    assert str(caught.value).startswith("tracekit.toml: ")
    assert message in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path, capsys):
    with pytest.raises(UsageError, match=r"tracekit\.toml: cannot be read: No such file"):
        load_config(tmp_path / "tracekit.toml", DETECTORS)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"binary\.toml: is not valid TOML"):
        load_config(tmp_path / "binary.toml", DETECTORS)
    with pytest.raises(UsageError, match=r"pyproject\.toml: has no table"):
        load_config(written(tmp_path, "[tool]\n", "pyproject.toml"), DETECTORS)
    assert main(["analyze", "x.trace", "--config", str(tmp_path / "no.toml")]) == 2
    assert "no.toml: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        '"\\u001b]0;owned\\u0007" = 1',
        'skip = ["\\u202ecold-load"]',
        '[detectors."\\u009b2J"]\nx = 1',
        '[models."/Users/ann/\\u001b[2J"]\nbudget = "never"',
    ],
)
def test_words_of_a_file_cannot_steer_a_terminal_and_name_nobody(tmp_path, text):
    with pytest.raises(UsageError) as caught:
        load_config(written(tmp_path, text), DETECTORS)
    assert str(caught.value).isprintable()
    assert "ann" not in str(caught.value).replace("cannot", "")


def test_a_number_of_python_that_has_no_text_is_told_too():
    from tracekit.detectors.options import configure

    with pytest.raises(UsageError, match="must be a whole number \\(loads\\), and has too many digits"):
        configure(DETECTORS, {"reload-before-predict.min_loads": 10**5_000})
