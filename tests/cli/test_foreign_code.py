"""No code runs that came with a recording: the current folder is none that Python imports from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "sample_traces"
TWO = [str(SAMPLES / f"{name}.trace") for name in ("sharpen_8bit", "sharpen_float16")]
START = "from tracekit.cli.main import run\nif __name__ == '__main__': run()\n"
"""What the installed script does."""
HOSTILE = "open(__file__ + '.ran', 'w').close()\nraise SystemExit('foreign code')\n"


def of_python_itself() -> set[str]:
    """Modules that `python -m` imports before any line of ours can run."""
    command = [sys.executable, "-I", "-c", "import json, runpy, sys, __future__; print(json.dumps(list(sys.modules)))"]
    return set(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder with a module of every name that might be imported, and a plug-in's metadata."""
    folder = tmp_path / "beside"
    folder.mkdir()
    names = {*sys.stdlib_module_names, "numpy", "pandas", "lxml", "foreign"} - of_python_itself()
    for name in names:
        (folder / f"{name}.py").write_text(HOSTILE)
    metadata = folder / "foreign-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tracekit.detectors]\nforeign = foreign:DETECTORS\n")
    return folder


@pytest.mark.parametrize(
    ("form", "arguments", "expected"),
    [
        ("script", ["compare", *TWO, "--jobs", "2", "--no-config"], "SharpenFilter"),
        ("module", ["compare", *TWO, "--jobs", "2", "--no-config"], "SharpenFilter"),
        ("module", ["explain"], "cold-load"),
    ],
    ids=["workers-of-script", "workers-of-module", "plug-ins"],
)
def test_nothing_of_the_current_folder_is_executed(
    tmp_path: Path, beside: Path, form: str, arguments: list[str], expected: str
) -> None:
    script = tmp_path / "tracekit-script"
    script.write_text(START)
    start = [str(script)] if form == "script" else ["-m", "tracekit"]
    done = subprocess.run(
        [sys.executable, *start, *arguments], cwd=beside, capture_output=True, text=True, check=False, timeout=60
    )
    assert [path.name for path in beside.glob("*.ran")] == []
    assert (done.returncode, done.stderr) == (0, "")
    assert expected in done.stdout
    assert "foreign:foreign" not in done.stdout
