"""Progress of a long read, on standard error, and only where a person is looking."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

PATIENCE_S = 0.5
"""A read that is done sooner than this shows nothing. Our judgement: about when one begins to wonder."""


@contextmanager
def showing_progress(quiet: bool = False) -> Iterator[Callable[[int, int | None], None] | None]:
    """Give the callback that a reader reports to, `(bytes done, bytes in all)`; None where nothing is to be shown."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.report
    finally:
        bar.close()


class _Bar:
    """A progress bar that appears only when the work turns out to be long, and leaves nothing behind."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def report(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` bytes are read; the total of standard input is not known."""
        if self._progress is None:
            if time.monotonic() - self._started < PATIENCE_S:
                return
            self._progress = _new_bar()
            self._task = self._progress.add_task("Reading", total=total)
            self._progress.start()
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()


def _new_bar() -> Progress:
    """The bar itself. rich is imported only where it is shown."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
