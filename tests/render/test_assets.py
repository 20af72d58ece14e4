"""The committed script and style are what their sources make, and the sources pass their own tests. Needs Node and
`npm ci` in web/."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (WEB / "node_modules/esbuild").is_dir(),
    reason="needs Node and the packages of web/ (npm ci)",
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["node", *command], cwd=WEB, capture_output=True, text=True, check=False)


def test_the_committed_assets_are_built_from_the_sources(tmp_path):
    built = run("build.mjs", str(tmp_path))
    assert built.returncode == 0, built.stderr
    assets = files("tracekit.render").joinpath("assets")
    for name in ("report.js", "report.css"):
        message = f"{name} is out of date: run `npm run build` in web/"
        assert (tmp_path / name).read_bytes() == assets.joinpath(name).read_bytes(), message


def test_the_sources_have_sound_types():
    # What was found sound and did not change is not read again.
    kept = ("--incremental", "--tsBuildInfoFile", "build/types.tsbuildinfo")
    checked = run("node_modules/typescript/bin/tsc", "--noEmit", *kept)
    assert checked.returncode == 0, checked.stdout


def test_the_arithmetic_of_the_drawing_is_right():
    assert run("build.mjs", "--tests").returncode == 0
    tested = run("--test", "build/")
    assert tested.returncode == 0, tested.stdout
    assert "# fail 0" in tested.stdout
