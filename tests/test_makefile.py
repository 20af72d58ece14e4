"""`make` sets up its own environment. A stand-in Python is used, so that nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.choice import SLOW, SWEEPS

ROOT = Path(__file__).resolve().parents[1]
GROUND = ("Makefile", "pyproject.toml", "constraints.txt", "scripts/environment.sh")

TOOLS = ("awk", "cat", "cksum", "cp", "dirname", "make", "mkdir", "rm", "sh")
"""What the Makefile and its script may use besides Python."""

STAND_IN = """#!/bin/sh
echo "$*" >> "{log}"
case "$*" in
    "-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
    *"-m pip install"*) [ ! -e "{broken}" ] || exit 7 ;;
    *"-V"*) echo "Python 3.12.0" ;;
    *"version_info"*) exit {fits} ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that `make` needs, in a folder with a space in its name."""
    folder = tmp_path / "a check out"
    for name in GROUND:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return folder


def write_python(folder: Path, name: str, *, fits: bool, log: Path) -> Path:
    """A stand-in for Python that notes what it is asked to do."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / name
    script = STAND_IN.format(log=log, broken=log.with_name("broken"), fits=0 if fits else 1)
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    return python


def run(checkout: Path, path: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout, with an empty home and a search path without any Python but those in `path`."""
    path.mkdir(exist_ok=True)
    for tool in TOOLS:
        tool_path = shutil.which(tool)
        if tool_path is not None and not (path / tool).exists():
            (path / tool).symlink_to(tool_path)
    environment = {"PATH": str(path), "HOME": str(path / "home")}
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def make(checkout: Path, target: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run `make`."""
    return run(checkout, path, "make", target)


def installs(log: Path) -> int:
    """How often the project was installed."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return sum(" -e " in line for line in lines)


def test_make_installs_once_and_again_only_when_a_pin_changes(checkout: Path, tmp_path: Path) -> None:
    path, log = tmp_path / "bin", tmp_path / "log"
    write_python(path, "python3", fits=True, log=log)
    assert make(checkout, "environment", path).returncode == 0
    assert installs(log) == 1
    assert make(checkout, "environment", path).returncode == 0
    assert installs(log) == 1
    with (checkout / "constraints.txt").open("a", encoding="utf-8") as pins:
        pins.write("another==1.0\n")
    assert make(checkout, "environment", path).returncode == 0
    assert installs(log) == 2


def test_an_install_that_failed_is_done_again(checkout: Path, tmp_path: Path) -> None:
    path, log = tmp_path / "bin", tmp_path / "log"
    write_python(path, "python3", fits=True, log=log)
    broken = tmp_path / "broken"
    broken.touch()
    assert make(checkout, "environment", path).returncode != 0
    broken.unlink()
    before = installs(log)
    assert make(checkout, "environment", path).returncode == 0
    assert installs(log) == before + 1


def test_the_development_environment_is_also_a_runtime_environment(checkout: Path, tmp_path: Path) -> None:
    path, log = tmp_path / "bin", tmp_path / "log"
    write_python(path, "python3", fits=True, log=log)
    assert make(checkout, "environment-dev", path).returncode == 0
    assert make(checkout, "environment", path).returncode == 0
    assert installs(log) == 1


def test_a_newer_python_is_found_where_the_default_is_too_old(checkout: Path, tmp_path: Path) -> None:
    path, log = tmp_path / "bin", tmp_path / "log"
    write_python(path, "python3", fits=False, log=tmp_path / "old log")
    newer = path / "home" / ".pyenv" / "versions" / "3.12.1" / "bin"
    write_python(newer, "python3.12", fits=True, log=log)
    result = make(checkout, "environment", path)
    assert result.returncode == 0, result.stderr
    assert installs(log) == 1


def test_a_named_python_that_is_too_old_is_refused_in_one_sentence(checkout: Path, tmp_path: Path) -> None:
    old = write_python(tmp_path / "old place", "python3", fits=False, log=tmp_path / "log")
    refused = run(checkout, tmp_path / "bin", "make", "environment", f"PYTHON={old}")
    assert refused.returncode != 0
    assert refused.stderr.startswith(f"PYTHON={old} is not a Python 3.11 or newer")
    assert not (checkout / ".venv").exists()


def test_a_machine_without_a_usable_python_is_told_so_in_one_sentence(checkout: Path, tmp_path: Path) -> None:
    usual = ("/opt/homebrew/bin", "/usr/local/bin", "/Library/Frameworks/Python.framework/Versions")
    if any(list(Path(folder).glob("**/python3*")) for folder in usual if Path(folder).is_dir()):
        pytest.skip("this machine has a Python in a usual place")
    path = tmp_path / "bin"
    write_python(path, "python3", fits=False, log=tmp_path / "log")
    refused = make(checkout, "environment", path)
    assert refused.returncode != 0
    assert refused.stderr.startswith("tracekit needs Python 3.11 or newer")
    assert not (checkout / ".venv").exists()


def test_make_alone_lists_the_targets_and_continuous_integration_runs_them(checkout: Path, tmp_path: Path) -> None:
    result = make(checkout, "help", tmp_path)
    assert "make demo" in result.stdout
    assert "make test " in result.stdout
    assert "make test-quick" in result.stdout

    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [line for line in script.splitlines() if line.startswith("make")] == ["make test", "make test-all"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert os.access(ROOT / "scripts" / "environment.sh", os.X_OK)

    assert [name for name in (*SLOW, *SWEEPS) if not (ROOT / "tests" / name).exists()] == []


CHECKS = ("ruff check", "ruff format", "lint-imports", "-m mypy", "-m pytest -n auto")


@pytest.mark.parametrize("failing", [None, *CHECKS])
def test_make_test_runs_every_check_and_fails_with_each(checkout: Path, tmp_path: Path, failing: str | None) -> None:
    log = tmp_path / "log"
    for name in ("python", "lint-imports"):
        program = write_python(checkout / ".venv" / "bin", name, fits=True, log=log)
        program.write_text(f'{program.read_text("utf-8")}case "$0 $*" in *"{failing}"*) exit 3 ;; esac\n', "utf-8")
    result = make(checkout, "test", tmp_path / "bin")
    if failing is None:
        assert result.returncode == 0, result.stderr
        assert all(check in log.read_text("utf-8") for check in CHECKS if check != "lint-imports")
    else:
        assert result.returncode != 0
