"""Fixtures that every test may use."""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from support.analyses import keep, kept_analysis, kept_measures
from support.choice import (
    PARTS,
    SLOW,
    is_among,
    is_left_out,
    is_of_part,
    left_to_turns,
    register_profiles,
    scale_examples,
)
from support.models import build
from support.samples import EXPORTED, SAMPLES as SCENARIOS
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.read import read_model
from tracekit.testing import write_export

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
SAMPLES = Path(__file__).resolve().parents[1] / "sample_traces"

register_profiles()
# As where pyarrow is not installed, and a sixth faster. `test_api.py` holds both kinds against each other, and programs
# that tests start have the other one.
pd.set_option("mode.string_storage", "python")
# Under `nohup` or in the background of a shell, programs that tests start would ignore these signals too. They do not
# inherit a handler.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-goldens`, `--scenarios`, `--every-case`, `--quick` and `--part`."""
    parser.addoption("--update-goldens", action="store_true", help="write the golden files again instead of comparing")
    parser.addoption("--every-case", action="store_true", help="try all cases where an ordinary run tries some")
    parser.addoption("--scenarios", type=int, default=5, help="random scenarios to judge in both forms")
    parser.addoption("--quick", action="store_true", help="leave out what takes long, for the loop while working")
    parser.addoption("--part", choices=PARTS, help="only what every change is tested with, or only the sweeps")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow where that is asked for."""
    quick = config.getoption("--quick") and is_among(collection_path, SLOW)
    return True if quick or is_left_out(collection_path, config.getoption("--part")) else None


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: some tests wait for other programs."""
    return (os.cpu_count() or 1) + 1


WAITING = (
    "tests/render/test_browser.py",
    "tests/render/test_assets.py",
    "tests/cli/test_export_xctrace.py",
    "tests/cli/test_reader.py",
    "tests/cli/test_record.py",
    "tests/cli/test_signals.py",
    "tests/recording/xctrace/",
    "tests/tui/",
)
"""Tests that wait for a browser, for other programs or for timers. One process tries them while the others have enough
to do. At the end, where all take what is left from one another, the processors would have nothing to do meanwhile."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that are marked for what they need or that take turns, and begin with those that wait."""
    if not config.getoption("--every-case"):
        left_out = set(left_to_turns(items))
        items[:] = [item for item in items if item not in left_out]
    if config.getoption("--quick"):
        items[:] = [item for item in items if not any(map(item.get_closest_marker, ("corpus", "packaging")))]
    items[:] = [item for item in items if is_of_part(item, config.getoption("--part"))]
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Try as many examples of a property as the profile says."""
    scale_examples(getattr(item, "function", None))


def pytest_configure() -> None:
    """What is imported from here on stays to the end: there is nothing to collect. And a process that others wait for
    does not give back a million objects one by one before it ends."""
    gc.disable()
    if "PYTEST_XDIST_WORKER" in os.environ:
        atexit.register(os._exit, 0)


def pytest_collection_finish() -> None:
    """The garbage collector need not look through what was imported again and again. What tests leave is a few MB each,
    and looking for it as often as Python does takes a tenth of their time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(1_000_000, 10, 10)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that all of its processes share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files again. Whoever does so reads the difference before committing it."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Folder of real recordings; the test is skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real recordings (../shared/corpus) is not here")
    return CORPUS


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the sample recordings, `NAME.trace` each."""
    return SAMPLES


@pytest.fixture(scope="session")
def measured(samples):
    """Measurements of a sample by its name, taken once."""

    def of(name):
        analysis = kept_analysis(samples / f"{name}.trace")
        return kept_measures(analysis.trace, analysis.report)

    return of


@pytest.fixture(scope="module")
def kept_samples(samples: Path) -> Iterator[None]:
    """What reads samples in this module takes them, and what is made of them, from other tests of this process."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        keep(monkeypatch, {samples})
        yield


@pytest.fixture(scope="session")
def exports(shared_folder: Path) -> Path:
    """Folder with an export of every sample, by name. The process that comes first writes it."""
    folder = shared_folder / "exports"
    with (shared_folder / "exports.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            for name, scenario in SCENARIOS.items():
                write_export(scenario(), folder / name, only=EXPORTED)
    return folder


@pytest.fixture(scope="session")
def built_models(shared_folder: Path) -> Path:
    """Folder with the models of `support.models`. The process that comes first builds them."""
    folder = shared_folder / "models"
    with (shared_folder / "models.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            if find_spec("coremltools") is None:
                pytest.skip("coremltools, which builds the models, is not available for this platform and Python")
            build(folder)
    return folder


@pytest.fixture(scope="session")
def inspected(built_models: Path) -> Callable[[str], ModelFile]:
    """Facts of a built model by its name without suffix."""

    @cache
    def facts(name: str) -> ModelFile:
        (path,) = built_models.glob(f"{name}.ml*")
        return read_model(path)

    return facts


@pytest.fixture
def standin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put stand-ins for Apple's tools into PATH; called with settings (`export="crash"`), it says what goes wrong."""
    folder = tmp_path / "standin"
    folder.mkdir()
    # As a module, whose bytecode is kept: half of what a call takes would be compiling it.
    start = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent / 'standin')!r}); import xctrace; xctrace.main()"
    )
    for name in ("xcrun", "xctrace", "xcode-select", "codesign"):
        program = folder / name
        command = shlex.join([sys.executable, "-I", "-S", "-c", start, name])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def set_up(**settings: str) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"STANDIN_{name.upper()}", value)

    set_up(log=str(folder / "log"))
    return set_up


@pytest.fixture
def standin_log(tmp_path: Path) -> Callable[[], list[list[str]]]:
    """The calls that the stand-ins got."""
    path = tmp_path / "standin" / "log"
    return lambda: [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def sample_bundle(tmp_path: Path) -> Path:
    """A bundle that only the stand-in can read."""
    bundle = tmp_path / "run.trace"
    shutil.copytree(SAMPLES / "style_transfer_reload_xml", bundle / "tables")
    (bundle / "form.template").touch()
    return bundle
