"""What commands read, and how: which recordings the paths of a command line mean, and which command takes what is none;
by which settings and with which reader; and what standard error shows of it meanwhile."""

from __future__ import annotations

import logging
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.config_file import find_config
from tracekit.errors import UsageError
from tracekit.recording import Progress, XctraceOptions
from tracekit.recording.sources import is_bundle
from tracekit.report.lake_reports import reports_in_lake

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress, TaskID

    from tracekit.trace.coverage import Listed


PATIENCE_S = 0.5
"""A read that is done sooner than this shows nothing. Heuristic: about when one begins to wonder."""
RUNNING = "running checks"
BUNDLE = ".trace"
ARCHIVES = (".zip",)
REPORT = ".json"
MODELS = (".mlpackage", ".mlmodel", ".mlmodelc", ".aimodel", ".aimodelc")
_SNIFFED = 4_000
"""Bytes of a file that say what it is."""
_MEMBER_NAME, FIRST_MEMBER = 30, b"report.md"
"""Where the name of the first member stands in an archive, and which it is in one of findings."""


def config_of(arguments: Namespace) -> Path | None:
    """The config file to use: the one that is given, else the one that applies to the current folder."""
    given = vars(arguments)
    if given.get("no_config"):
        return None
    return Path(given["config"]) if given.get("config") else find_config(Path.cwd())


def xctrace_options(arguments: Namespace) -> XctraceOptions:
    """How xctrace is asked, and what standard error hears of it; only the bare necessities with `--quiet`."""

    def on_message(text: str) -> None:
        narrate(f"tracekit: {text}")

    def on_progress(number: int, count: int, schema: str) -> None:
        if not getattr(arguments, "quiet", False):
            on_message(f"xctrace is exporting table {number} of {count}: {schema}")

    return XctraceOptions(arguments.timeout, on_message, on_progress)


class _LateBar:
    """A progress bar that appears only when the work turns out to be long, and leaves nothing behind."""

    def __init__(self, label: str, then: str) -> None:
        self._label, self._then = label, then
        self._started = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def report(self, progress: Progress) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE_S:
                return
            # Imported only where it is shown.
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

            text = TextColumn("{task.description}", markup=False)
            columns = (text, BarColumn(), DownloadColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("Reading", total=progress.total_bytes)
            self._bar.start()
        if self._task is not None:
            done, total = progress.done_bytes, progress.total_bytes
            words = self._then if self._then and total is not None and done >= total else progress.source
            said = visible(f"{self._label} {words}".strip())
            self._bar.update(self._task, completed=done, total=total, description=said)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def showing_progress(
    quiet: bool = False, *, label: str = "", then: str = ""
) -> Iterator[Callable[[Progress], None] | None]:
    """Give the callback of a reader; None where nothing is to be shown. `label` stands before the name of the file, as
    in `2 of 5:`; `then` says what goes on when all is read."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _LateBar(label, then)
    try:
        yield bar.report
    finally:
        bar.close()


def tell_unreadable(source: str, tables: Iterable[Listed], schemas: Collection[str] | None = None) -> ExitStatus:
    """Name the tables of a recording that could not be read on standard error; `UNUSABLE` where there are any, else
    `DONE`. Those of an instrument count, or of the given schemas."""
    # A model file is inspected without what reads recordings.
    from tracekit.trace.coverage import unreadable_tables

    clauses = unreadable_tables(tables) if schemas is None else unreadable_tables(tables, schemas)
    for clause in clauses:
        narrate(f"tracekit: {source}: {clause}")
    return ExitStatus.UNUSABLE if clauses else ExitStatus.DONE


class _Narrator(logging.Handler):
    """One line on standard error for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        narrate(f"tracekit: {record.getMessage()}")


@contextmanager
def showing_log(verbose: bool) -> Iterator[None]:
    """Let the readers say which of them read each file."""
    logger, handler = logging.getLogger("tracekit"), _Narrator()
    level = logger.level
    if verbose:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@dataclass(frozen=True, slots=True)
class Input:
    """The paths of one recording."""

    name: str
    paths: tuple[str, ...]


def inputs_of(paths: Sequence[str]) -> list[Input]:
    """The recordings that paths mean, in their order: each bundle, folder and archive is one, loose files are one
    together, and a folder of recordings is each of these."""
    loose = tuple(path for path in paths if not _is_recording(path))
    inputs: list[Input] = []
    for path in paths:
        if _is_recording(path):
            inputs += [Input(Path(recording).name, (recording,)) for recording in (_recordings_in(path) or [path])]
        elif all(entry.paths != loose for entry in inputs):
            name = "standard input" if list(loose) == ["-"] else Path(loose[0]).name
            inputs.append(Input(name, loose))
    return inputs


def recordings_in(*paths: str) -> list[str]:
    """What paths mean: the recordings of a folder, else its JSON reports, or those of a lake, else the path itself."""
    inputs = (reports_in_lake(path) or _recordings_in(path, reports=True) or [path] for path in paths)
    return list(chain.from_iterable(inputs))


def _is_recording(path: str) -> bool:
    """Whether a path is a recording of its own, or several: not one file of an export."""
    try:
        return path != "-" and (Path(path).is_dir() or Path(path).suffix in (BUNDLE, *ARCHIVES))
    except (OSError, ValueError):
        return False


def is_recording(path: Path) -> bool:
    """Whether something in a folder is a recording by its look: a bundle, a folder with exported XML, or an archive."""
    try:
        # Hidden names are those of copies that are not complete.
        if path.name.startswith("."):
            return False
        if path.is_dir():
            return is_bundle(path) or any(entry.suffix == ".xml" for entry in path.iterdir())
        return path.suffix in (BUNDLE, *ARCHIVES) and path.is_file() and not _is_own_archive(path)
    except OSError:
        return False


def _is_own_archive(path: Path) -> bool:
    """Whether a file is what `tracekit analyze -o findings.zip` wrote: its first member is the report."""
    with path.open("rb") as stream:
        return path.suffix in ARCHIVES and stream.read(_MEMBER_NAME + len(FIRST_MEMBER))[_MEMBER_NAME:] == FIRST_MEMBER


def _recordings_in(path: str, *, reports: bool = False) -> list[str]:
    """Recordings directly in a folder that is none itself, or without one its JSON `reports`; empty for anything else,
    and an export has only bundles."""
    entries = []
    with suppress(OSError, ValueError):
        folder = Path(path)
        if folder.suffix not in (BUNDLE, *MODELS) and folder.is_dir():
            entries = sorted(map(str, folder.iterdir()))
    is_export = any(entry.endswith(".xml") for entry in entries)
    recordings = [entry for entry in entries if is_recording(Path(entry)) and (not is_export or entry.endswith(BUNDLE))]
    return recordings or [entry for entry in entries if reports and not is_export and entry.endswith(REPORT)]


def check_recordings(paths: Iterable[str], *, reports: bool = False) -> None:
    """Raise `UsageError` for a path that another command takes, such as a model file. `reports`: JSON reports and
    performance reports are taken here, or refused in words of their own."""
    taken = (_RECORDING, _REPORT, _PERFORMANCE) if reports else (_RECORDING,)
    for path in paths:
        _check(path, taken)


def is_model(path: str) -> bool:
    """Whether a path is that of a model, or of one in a zip, by its name."""
    return path.rstrip("/").removesuffix(".zip").endswith(MODELS)


def is_performance_report(path: str) -> bool:
    """Whether a file is a performance report by its look."""
    return path.endswith(REPORT) and _kind(path) is _PERFORMANCE


def check_model(path: str) -> None:
    """Raise `UsageError` for a path that is neither model nor performance report, where another command takes it."""
    _check(path, (_MODEL, _PERFORMANCE))


_RECORDING, _MODEL = "a recording; use `tracekit analyze {}`", "a model file; use `tracekit inspect {}`"
_BASELINE = "a baseline; use `tracekit check RECORDING --baseline {}`"
_REPORT = "a JSON report, which `tracekit compare`, `check` and `history` take in place of its recording"
_MODEL_REPORT = "a JSON report on a model file, which no command reads"
_FINDINGS = "an archive of findings, which no command reads; pass the recording that it is about"
_PERFORMANCE = "a performance report; use `tracekit inspect {}`"


def _check(path: str, taken: Collection[str]) -> None:
    kind = _kind(path)
    if kind is not None and kind not in taken:
        raise UsageError(f"{Path(path).name} is {kind.format(path)}")


def is_baseline(path: str) -> bool:
    """Whether a file is a baseline by its look."""
    return path.endswith(REPORT) and _kind(path) is _BASELINE


def _kind(path: str) -> str | None:
    """What is at a path; None where that cannot be told, or nothing is there."""
    try:
        return _kind_of(Path(path))
    except (OSError, ValueError):
        # What is wrong with a path is reported where it is read.
        return None


def _kind_of(file: Path) -> str | None:
    """The same. Raises OSError, ValueError."""
    if not file.exists():
        return None
    if file.suffix in MODELS:
        return _MODEL
    if file.suffix in (BUNDLE, ".xml") or (file.is_dir() and any(file.glob("*.xml"))):
        return _RECORDING
    if not file.is_file():
        return None
    if _is_own_archive(file):
        return _FINDINGS
    if file.suffix != REPORT:
        return None
    with file.open("rb") as stream:
        beginning = stream.read(_SNIFFED).decode("utf-8", "replace")
    if beginning.lstrip("{\n ").startswith('"anchored"'):
        return _BASELINE
    for mark, kind in (("report", _REPORT), ("model", _MODEL_REPORT), ("performance", _PERFORMANCE)):
        if f'"urn:tracekit:{mark}:' in beginning:
            return kind
    # Few files are asked, and most commands need none of this.
    from tracekit.model_files.performance.read import report_in
    from tracekit.model_files.untrusted import MAX_TEXT_BYTES, UnreadableModel, read_bytes

    try:
        return None if report_in(read_bytes(file, MAX_TEXT_BYTES), file) is None else _PERFORMANCE
    except UnreadableModel:
        return None
