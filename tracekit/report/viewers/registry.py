"""The formats of other viewers, in one table. Importing it imports no writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from tracekit.report.viewers.tracks import Tracks


def _perfetto() -> Callable[[Tracks, BinaryIO], None]:
    from tracekit.report.viewers.perfetto import check_available, write_perfetto

    check_available()
    return write_perfetto


def _chrome() -> Callable[[Tracks, BinaryIO], None]:
    from tracekit.report.viewers.chrome import write_chrome

    return write_chrome


VIEWERS: dict[str, Callable[[], Callable[[Tracks, BinaryIO], None]]] = {"perfetto": _perfetto, "chrome": _chrome}
"""By name, what gives the writer. Raises `TracekitError` where a package for it is not installed."""
