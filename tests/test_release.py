"""Workflows keep the rules that make a release trustworthy, and its scripts say no where they must."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml

import tracekit

ROOT = Path(__file__).resolve().parents[1]
PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in PATHS}
RELEASE = WORKFLOWS["release"]["jobs"]
PINNED = re.compile(r"uses: ([\w.-]+/[\w.-]+)@[0-9a-f]{40} # v\d+(?:\.\d+)*$")


def script(name):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / "scripts" / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps():
    """Each step of each job of each workflow."""
    return [step for flow in WORKFLOWS.values() for job in flow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", [*PATHS, ROOT / "action.yml", ROOT / "docs/action.md"], ids=lambda path: path.name)
def test_actions_are_pinned_by_their_commit(path):
    uses = [line.strip().removeprefix("- ") for line in path.read_text().splitlines() if "uses:" in line]
    others = [line for line in uses if "coreml-tracekit/" not in line]
    assert others
    assert [line for line in others if not PINNED.match(line)] == []


def test_workflows_are_limited_and_take_what_others_give_from_the_environment():
    for flow in WORKFLOWS.values():
        assert flow["permissions"] == {}
        assert all(job["timeout-minutes"] <= 90 for job in flow["jobs"].values())

    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    assert [step for step in steps() if "cache" in step.get("uses", "") or "cache" in step.get("with", {})] == []


def test_only_jobs_that_run_nothing_of_the_repository_may_publish():
    writing = {
        name: job["permissions"] for name, job in RELEASE.items() if "write" in job.get("permissions", {}).values()
    }
    assert writing == {
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
        "github-release": {"contents": "write"},
    }
    for name in writing:
        said = " ".join(step.get("run", "") + step.get("uses", "") for step in RELEASE[name]["steps"])
        assert not re.search(r"checkout|python|scripts/|pip ", said), name
    assert RELEASE["publish"]["environment"]["name"] == "pypi"
    assert RELEASE["attest"]["if"] == "github.ref_type == 'tag'"
    assert set(RELEASE["attest"]["needs"]) == {"try", "inspect"}


def test_every_wheel_of_the_project_is_built_and_tried_with_every_python_outside_a_checkout():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = {entry["wheel"] for entry in RELEASE["wheels"]["strategy"]["matrix"]["include"]}
    assert wheels == {*project["tool"]["cibuildwheel"]["build"], "pure"}
    built_on = {entry["runner"] for entry in RELEASE["wheels"]["strategy"]["matrix"]["include"]}
    assert set(RELEASE["try"]["strategy"]["matrix"]["runner"]) == built_on
    assert RELEASE["try"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    without_checkout = [name for name, job in RELEASE.items() if "checkout" not in str(job["steps"])]
    assert set(RELEASE) - set(without_checkout) == {"sdist"}


BACKEND = ROOT / "scripts" / "release" / "backend.txt"


def test_what_builds_is_pinned_with_hashes_in_the_tested_versions_and_complete():
    pins = [line for line in BACKEND.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}", line) for line in pins)
    tested = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in pins if line.partition(" ")[0] not in tested] == []
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    needed += [each for each in requires("hatchling") if "python_version" not in each]
    names = {re.match(r"[\w.-]+", each)[0] for each in needed}
    assert names | {"hatchling"} == {line.partition("==")[0] for line in pins}


def test_nothing_is_fetched_to_build_but_what_has_a_hash():
    made = "--require-hashes --only-binary :all: -r"
    built = {name: str(RELEASE[name]["steps"]) for name in ("sdist", "wheels")}
    built["action"] = (ROOT / "action.yml").read_text("utf-8")
    built["cibuildwheel"] = str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"])
    built["formula"] = re.sub(r'",? "?', " ", script("release/formula.py").FORMULA)
    built["page"] = (ROOT / "docs" / "releasing.md").read_text("utf-8")
    for where, text in built.items():
        assert f"{made} " in text, where
        assert "backend.txt" in text, where
        assert "-m build" not in text, where
        # hatchling alone never fetches anything; pip does unless it is told.
        assert "hatchling build" in text or "build.sh" in text or "--no-build-isolation" in text, where


def test_pages_forms_and_dependabot_keep_what_is_said_of_them():
    said = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
    assert "a Dask scheduler can run code on its workers and on each machine that connects to it" in said

    forms = {
        path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()
    }
    contact = forms.pop("config")
    assert contact["contact_links"][0]["url"].endswith("/security/advisories/new")
    for name, form in forms.items():
        assert {"name", "description", "body"} <= set(form), name
        assert "analyze run.trace -o findings.zip" in str(form), name
        assert [part["id"] for part in form["body"] if part["type"] != "markdown"][-1] == "archive"

    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    folders = {
        update["package-ecosystem"]: [
            ROOT / folder.strip("/") for folder in update.get("directories", [update.get("directory")])
        ]
        for update in updates
    }
    assert set(folders) == {"github-actions", "pip", "npm"}
    assert [any(folder.glob("*.txt")) for folder in folders["pip"]] == [True, True]
    assert all((folder / "package-lock.json").is_file() for folder in folders["npm"])


def test_pull_requests_and_pushes_run_all_tests_on_linux_and_macos():
    flow = WORKFLOWS["tests"]
    # YAML reads the key `on` as true.
    assert set(flow[True]) == {"pull_request", "push"}
    (job,) = flow["jobs"].values()
    assert {entry["runner"].partition("-")[0] for entry in job["strategy"]["matrix"]["include"]} == {"ubuntu", "macos"}
    assert job["steps"][-2:] == [{"run": "make test"}, {"run": "make test-all"}]


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_workflows_are_workflows(path):
    result = subprocess.run(["actionlint", str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert not result.stdout


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_scripts_have_no_known_traps():
    scripts = [str(path) for path in (ROOT / "scripts").glob("*/*.sh")]
    result = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True, check=False, timeout=60)
    assert not result.stdout


def test_notes_and_formula_name_the_release(tmp_path):
    changelog = "# Changelog\n\n## Unreleased\n\n- later\n\n## 0.2.0 (2026-12-01)\n\n- new\n\n## 0.1.0\n\n"
    notes = script("release/notes.py").notes
    assert notes("v0.2.0", changelog) == "- new\n"
    for version in ("v0.1.0", "v0.3.0"):
        with pytest.raises(LookupError, match=version):
            notes(version, changelog)

    sdist = tmp_path / "coreml_tracekit-1.2.3.tar.gz"
    sdist.write_bytes(b"sources")
    text = script("release/formula.py").formula(sdist)
    assert f'sha256 "{hashlib.sha256(b"sources").hexdigest()}"' in text
    assert 'releases/download/v1.2.3/coreml_tracekit-1.2.3.tar.gz"' in text
    assert '"#{bin}/tracekit --version"' in text


@pytest.mark.sweep
def test_what_is_tried_is_what_was_installed_and_sources_are_named_as_the_workflow_names_them(
    tmp_path, monkeypatch, samples
):
    with pytest.raises(AssertionError, match="not what is installed"):
        script("release/try_wheel.py").main(Path(tracekit.__file__).parents[1], pure=False)

    tried = script("release/try_wheel.py")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "sample_traces").symlink_to(samples)
    monkeypatch.chdir(tmp_path)
    pure = importlib.util.find_spec("tracekit.recording.export._scan") is None
    assert "style_transfer_reload" in tried.main(Path("sources"), pure=pure)


WITHOUT_POSIX = """
import os, signal, sys
for module, names in (
    (signal, "SIGHUP SIGALRM SIGCHLD SIGKILL SIGQUIT SIGTSTP SIGWINCH SIGPIPE setitimer ITIMER_REAL pthread_sigmask"),
    (os, "killpg posix_spawn posix_spawnp pread setsid getpgid mkfifo openpty sched_getaffinity O_NOFOLLOW O_NONBLOCK"),
):
    for name in names.split():
        vars(module).pop(name, None)
for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"):
    sys.modules[name] = None
from tracekit.cli.main import run
run()
"""


@pytest.mark.sweep
@pytest.mark.parametrize("recording", ["style_transfer_reload.trace", "style_transfer_reload_xml"])
def test_a_recording_is_analyzed_without_what_windows_does_not_have(samples, recording):
    command = [sys.executable, "-c", WITHOUT_POSIX, "analyze", str(samples / recording)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert "reload-before-predict" in result.stdout
