"""`action.yml`: its scripts, run as the runner runs them, and what the rules of such files ask for."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tracekit.cli.dispatch import main

ROOT = Path(__file__).resolve().parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

PAGE = (ROOT / "docs" / "action.md").read_text(encoding="utf-8")
SHORT, *WORKFLOWS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

STUB = """\
#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done >> "$CALLS"
[ "$1" = check ] || exit 0
echo verdict=stubbed >> "$GITHUB_OUTPUT"
exit "$STUB_STATUS"
"""


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """Runs the script of a step, with a `tracekit` that notes how it is called; gives its exit status."""
    programs = tmp_path / "bin"
    programs.mkdir()
    stub = programs / "tracekit"
    stub.write_text(STUB)
    stub.chmod(0o755)
    (tmp_path / "calls").touch()
    for variable in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH"):
        (tmp_path / variable).touch()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))
    monkeypatch.setenv("GITHUB_ACTION_PATH", str(ROOT))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)

    def run(name, *, status=0, **inputs):
        env = dict.fromkeys(STEPS[name].get("env", ()), "") | {"STUB_STATUS": str(status)} | inputs
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        return subprocess.run(
            command, env={**os.environ, **env}, check=False, capture_output=True, text=True, timeout=60
        )

    return run


def outputs(folder):
    """What a step gave to later ones; of a name that is written twice the last value counts."""
    return dict(line.split("=", 1) for line in (folder / "GITHUB_OUTPUT").read_text().splitlines())


@pytest.mark.parametrize("status", [0, 1, 2, 3])
def test_the_check_hands_on_its_status_and_does_not_fail_before_the_upload(runner, tmp_path, status):
    assert runner("Check", status=status, RECORDINGS="a.trace").returncode == 0
    written = outputs(tmp_path)
    assert (written["verdict"], written["exit-code"]) == ("stubbed", str(status))
    assert set(written) == set(ACTION["outputs"])


@pytest.mark.parametrize(("status", "warn_only", "expected"), [
    ("0", "false", 0),
    ("1", "false", 1),
    ("2", "false", 2),
    ("3", "false", 3),
    ("", "false", 2),  # the step before never came to its end
    ("1", "true", 0),
    ("", "true", 0),
    ("0", "true", 0),
])  # fmt: skip
def test_the_last_step_fails_the_job_unless_it_only_warns(runner, status, warn_only, expected):
    result = runner("Verdict", STATUS=status, WARN_ONLY=warn_only)
    assert result.returncode == expected
    assert ("::warning" in result.stdout) == (warn_only == "true" and status != "0")


def test_inputs_are_words_and_never_code(runner, tmp_path):
    for name in ("one run.trace", "two.trace", "$(touch owned).trace"):
        (tmp_path / name).mkdir()
    result = runner(
        "Check",
        RECORDINGS="*.trace\nnot there.trace\n-o.trace",
        CONFIG="a b.toml",
        BASELINE="$(touch owned)",
        ARGUMENTS="--allow-missing\nOld*; touch owned",
    )
    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "owned").exists()
    words = (tmp_path / "calls").read_text().splitlines()
    call = words[: words.index("analyze")]
    assert {"--config=a b.toml", "--baseline=$(touch owned)", "--allow-missing", "Old*; touch owned"} <= set(call)
    recordings = call[call.index("--") + 1 :]
    assert sorted(recordings[:3]) == ["$(touch owned).trace", "one run.trace", "two.trace"]
    assert recordings[3:] == ["not there.trace", "-o.trace"]


@pytest.mark.sweep
def test_with_tracekit_itself_a_failing_build_has_all_files(runner, tmp_path, samples):
    program = tmp_path / "bin" / "tracekit"
    real = f'exec "{sys.executable}" -m tracekit "$@"'
    program.write_text(STUB.replace("[ ", f'[ "$1" = check ] && {real}\n[ ', 1))
    (tmp_path / "tracekit.toml").write_text('[check.limits."*"]\np50 = "10ms"\n')
    result = runner("Check", RECORDINGS=str(samples / "sharpen_8bit.trace"), PYTHONPATH=str(ROOT))
    assert result.returncode == 0, result.stderr
    assert "title=SharpenFilter p50::" in result.stdout
    written_outputs = outputs(tmp_path)
    assert (written_outputs["verdict"], written_outputs["exit-code"]) == ("failed", "1")
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text().startswith("**tracekit check: 1 failed")
    written = {path.name for path in (tmp_path / "temp" / "tracekit-check").iterdir() if path.is_file()}
    assert written == {f"check.{ending}" for ending in ("json", "md", "txt", "xml")}
    assert {written_outputs["json"], written_outputs["summary"]} <= {
        str(tmp_path / "temp" / "tracekit-check" / name) for name in written
    }
    words = (tmp_path / "calls").read_text().splitlines()
    assert main(words[words.index("analyze") :]) == 0
    assert [path.name for path in Path(written_outputs["html"]).iterdir()] == ["1-sharpen_8bit.trace.html"]


def test_no_input_is_written_into_a_script_and_the_verdict_comes_always_and_last():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell") == "bash" or "uses" in step

    assert list(STEPS)[-1] == "Verdict"
    for name in ("Upload outputs", "Verdict"):
        assert STEPS[name]["if"].startswith("always()")


def test_the_workflow_in_the_documentation_gives_inputs_that_there_are():
    steps = [step for text in WORKFLOWS for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    uses = [each for each in steps + yaml.safe_load(SHORT) if each.get("uses", "").startswith("coreml-tracekit/")]
    assert len(uses) == 2
    required = {name for name, entry in ACTION["inputs"].items() if entry.get("required")}
    assert all(required <= set(step["with"]) <= set(ACTION["inputs"]) for step in uses)
    assert not [name for name in (*ACTION["inputs"], *ACTION["outputs"]) if f"`{name}`" not in PAGE]


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
@pytest.mark.parametrize("text", WORKFLOWS, ids=["performance", "comment"])
def test_the_workflows_in_the_documentation_are_workflows(text, tmp_path):
    config = tmp_path / "actionlint.yaml"
    config.write_text("self-hosted-runner:\n  labels: [coreml]\n")
    command = ["actionlint", "-config-file", str(config), "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)
    assert not result.stdout
