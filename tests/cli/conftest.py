"""How the command line is run in tests: in this process, or in one of its own where streams matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.analyses import keep
from tracekit.cli.dispatch import main


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What standard output says as JSON."""
        return json.loads(self.out)


Tracekit = Callable[..., Outcome]


@pytest.fixture(scope="session")
def unchanged_folders(samples: Path) -> set[Path]:
    """Folders of recordings that no test changes."""
    return {samples}


@pytest.fixture
def tracekit(
    capsys: pytest.CaptureFixture[str], unchanged_folders: set[Path], monkeypatch: pytest.MonkeyPatch
) -> Tracekit:
    """Run a command line in this process. Traces and reports never change, so that each recording that does not change
    either is read once, and judged once with the same options."""

    # The width of a file, wherever the tests run.
    monkeypatch.setenv("COLUMNS", "100")
    # What other processes read is not kept.
    monkeypatch.setattr("tracekit.cli.requests.cores", lambda: 1)
    keep(monkeypatch, unchanged_folders)

    def call(*arguments: str | Path) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as left:
            status = int(left.code or 0)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def spawn() -> Tracekit:
    """Run a command line in a process of its own."""

    def call(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Outcome:
        command: Sequence[str] = [sys.executable, "-m", "tracekit", *map(str, arguments)]
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
        result = subprocess.run(command, input=stdin, capture_output=True, env=kept | environment, check=False)
        return Outcome(
            result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
        )

    return call


@pytest.fixture
def reload(samples: Path) -> Path:
    """The sample whose models are loaded before every prediction."""
    return samples / "style_transfer_reload.trace"


@pytest.fixture
def reload_xml(samples: Path) -> Path:
    """The same as an export."""
    return samples / "style_transfer_reload_xml"


@pytest.fixture
def clean(samples: Path) -> Path:
    """The sample without a finding."""
    return samples / "style_transfer_fixed.trace"


@pytest.fixture
def blind(samples: Path) -> Path:
    """The sample in which nothing can be judged."""
    return samples / "not_instrumented.trace"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes an empty repository the current folder and writes its settings; gives the folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def write(text: str) -> Path:
        (tmp_path / "tracekit.toml").write_text(text)
        return tmp_path

    return write


@pytest.fixture(scope="session")
def reports(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the JSON reports on two samples, as `tracekit analyze` writes them."""
    folder = tmp_path_factory.mktemp("reports")
    paths = [str(samples / f"{name}.trace") for name in ("sharpen_8bit", "sharpen_float16")]
    assert main(["analyze", *paths, "--json", "--folder", str(folder), "--no-config", "--jobs", "1"]) == 0
    return folder
