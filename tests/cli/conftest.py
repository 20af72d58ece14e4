"""How the command line is run in tests: in this process, or in one of its own where streams matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tracekit import api, measured, open_trace, request
from tracekit.cli import stacks
from tracekit.cli.main import main
from tracekit.comparison import measuring as measuring_models
from tracekit.comparison.measuring import measure
from tracekit.detectors.framework import AnyDetector, Judgment
from tracekit.recording.open import usable_tool
from tracekit.report import timeline
from tracekit.report.report import Report
from tracekit.report.timeline import timeline_of
from tracekit.request import Request
from tracekit.trace.filter import Shown
from tracekit.trace.trace import Trace


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    status: int
    out: str
    err: str


Tracekit = Callable[..., Outcome]

_judge, _run_detectors = api.judge, api.run_detectors
_TRACES: dict[Path, Trace] = {}
_REPORTS: dict[tuple[Path, str], Report] = {}
_JUDGMENTS: dict[tuple[Path, tuple[int, ...], str], tuple[Judgment, ...]] = {}
_MADE: dict[tuple[Callable[..., Any], Path, int, str], tuple[Any, object]] = {}
"""With what was judged, whose identity is in the key."""


def kept_trace(path: Path) -> Trace:
    if path not in _TRACES:
        _TRACES[path] = open_trace(path)
    return _TRACES[path]


def path_of(trace: Trace) -> Path | None:
    return next((path for path, kept in _TRACES.items() if kept is trace), None)


def kept_judgments(trace: Trace, *, detectors: Sequence[AnyDetector], **options: object) -> tuple[Judgment, ...]:
    """Which part of a trace is shown, and where a setting is written, is nothing to the detectors."""
    path = path_of(trace)
    if path is None:
        return _run_detectors(trace, detectors=detectors, **options)
    key = (path, tuple(map(id, detectors)), repr(sorted(options.items())))
    if key not in _JUDGMENTS:
        _JUDGMENTS[key] = _run_detectors(trace, detectors=detectors, **options)
    return _JUDGMENTS[key]


def kept_report(trace: Trace, asked: Request, shown: Shown | None) -> Report:
    """What is reported again: a trace that is not kept, a part of one, and by settings from a file."""
    path = path_of(trace)
    if path is None or shown is not None or asked.settings.path is not None:
        return _judge(trace, asked, shown)
    key = (path, repr(replace(asked, xctrace=None, progress=None)))
    if key not in _REPORTS:
        _REPORTS[key] = _judge(trace, asked, shown)
    return _REPORTS[key]


def made_once(make: Callable[..., Any]) -> Callable[..., Any]:
    """What `make` makes of a trace that is kept and of its report or results."""

    def made(trace: Trace, judged: object, shown: Shown | None = None, **options: bool) -> Any:
        path = path_of(trace)
        if path is None or shown is not None:
            return make(trace, judged, shown=shown, **options)
        key = (make, path, id(judged), repr(sorted(options.items())))
        if key not in _MADE:
            _MADE[key] = make(trace, judged, **options), judged
        return _MADE[key][0]

    return made


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

    def opened(path: Path | str | Sequence[Path | str], **options: object) -> Trace:
        paths = [path] if isinstance(path, Path | str) else list(path)
        usual = len(paths) == 1 and options.get("run") is None and options.get("reader") in (None, "auto")
        if usual and Path(paths[0]).parent in unchanged_folders and usable_tool(paths, "auto") is None:
            return kept_trace(Path(paths[0]))
        return open_trace(path, **options)

    # The width of a file, wherever the tests run.
    monkeypatch.setenv("COLUMNS", "100")
    for module in (request, stacks):
        monkeypatch.setattr(module, "open_trace", opened)
    for module in (api, measured):
        monkeypatch.setattr(module, "judge", kept_report)
    monkeypatch.setattr(api, "run_detectors", kept_judgments)
    monkeypatch.setattr(timeline, "timeline_of", made_once(timeline_of))
    for module in (measuring_models, measured):
        monkeypatch.setattr(module, "measure", made_once(measure))

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
    assert main(["analyze", *paths, "--json", "--folder", str(folder), "--no-config"]) == 0
    return folder
