"""Reads and judges recordings for the screen, step by step, so that the first useful screen comes early.

Runs in a thread. No widget is known here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.trace.filter import filter_trace
from tracekit.trace.open import open_trace
from tracekit.tui.calls import calls_of
from tracekit.tui.state import Session, bounds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tracekit.recording import Asking, Progress


class Cancelled(Exception):  # noqa: N818 - no error: the user wanted it
    """The user gave up waiting."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked to see: the arguments of `tracekit view`."""

    paths: tuple[str, ...]
    """One recording, or two to be compared."""
    run: int | None = None
    models: Sequence[str] = ()
    process: str | None = None
    reader: str = "auto"
    asking: Asking | None = None
    config: Path | None = None
    """File of settings."""


def read(request: Request, path: str, progress: Callable[[Progress], None] | None = None) -> Session:
    """Open one recording; its report is still to come. Raises `TracekitError` as `tracekit.open_trace` does."""
    opened = open_trace(path, run=request.run, reader=request.reader, asking=request.asking, progress=progress)
    trace = filter_trace(opened, models=request.models, process=request.process)
    return Session(trace.contents.source, trace, None, bounds_of(trace), config=request.config)


def judged(session: Session) -> Session:
    """The recording with its report and its predictions. Nothing is redacted on screen: what leaves it, is."""
    # The detectors are needed only now, when the lanes are on screen.
    from tracekit.api import judge

    report = judge(session.trace, config=session.config, redact=False)
    return replace(session, report=report, calls=calls_of(session.trace))


def evidence_rows(session: Session) -> dict[str, frozenset[int]]:
    """Indices of the rows that are evidence of a finding, by frame. O(evidence * n)."""
    found: dict[str, set[int]] = {}
    for check in session.report.checks if session.report is not None else ():
        for entry in check.evidence:
            ref = session.locate(entry)
            if ref is not None:
                found.setdefault(ref.frame, set()).add(ref.index)
    return {name: frozenset(rows) for name, rows in found.items()}
