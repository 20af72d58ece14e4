"""How commands read: by which settings and with which reader, and what standard error shows of it meanwhile."""

from __future__ import annotations

import logging
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.config_file import find_config
from tracekit.recording import Progress, XctraceOptions

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from tracekit.trace.coverage import Listed

PATIENCE_S = 0.5
"""A read that is done sooner than this shows nothing. Heuristic: about when one begins to wonder."""
RUNNING = "running checks"


def config_of(arguments: Namespace) -> Path | None:
    """The config file to use: the one that is given, else the one that applies to the current folder."""
    given = vars(arguments)
    if given.get("no_config"):
        return None
    return Path(given["config"]) if given.get("config") else find_config(Path.cwd())


def xctrace_options(arguments: Namespace, *, quiet: bool = False) -> XctraceOptions:
    """How xctrace is asked, and what standard error hears of it; only the bare necessities where `quiet`."""

    def on_message(text: str) -> None:
        narrate(f"tracekit: {text}")

    def on_progress(number: int, count: int, schema: str) -> None:
        if not quiet:
            on_message(f"xctrace is exporting table {number} of {count}: {schema}")

    return XctraceOptions(arguments.timeout, on_message, on_progress)


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


def tell_done(name: str, number: int, count: int, quiet: bool = False) -> None:
    """Say which recordings are done, where a person is looking: other processes cannot show how far they have come."""
    if not quiet and sys.stderr is not None and sys.stderr.isatty():
        narrate(f"tracekit: {number} of {count} done: {name}")


def tell_unreadable(source: str, tables: Iterable[Listed], schemas: Collection[str] | None = None) -> ExitStatus:
    """Name the tables of a recording that could not be read on standard error; `UNUSABLE` where there are any, else
    `DONE`. Those of an instrument count, or of the given schemas."""
    # A model is inspected without pandas.
    from tracekit.trace.coverage import unreadable_tables

    clauses = unreadable_tables(tables) if schemas is None else unreadable_tables(tables, schemas)
    for clause in clauses:
        narrate(f"tracekit: {source}: {clause}")
    return ExitStatus.UNUSABLE if clauses else ExitStatus.DONE


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


class _Narrator(logging.Handler):
    """One line on standard error for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        narrate(f"tracekit: {record.getMessage()}")


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
            self._bar = _new_bar()
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


def _new_bar() -> RichProgress:
    """The bar itself. rich is imported only where it is shown."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
