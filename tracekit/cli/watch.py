"""`tracekit watch PATH`: four lines on each new recording in a folder, compared with the last of its app and device."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import inf
from pathlib import Path

from tracekit.cli.measuring import Measured, measure_all
from tracekit.cli.output import emit, has_color, narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import is_recording, tell_unreadable
from tracekit.cli.requests import request_from
from tracekit.comparison.comparison import Comparison, compare, same_recording
from tracekit.comparison.measurements import Measurements
from tracekit.documents.latest import latest_lines
from tracekit.errors import TracekitError, UsageError, refusals, suggest_path
from tracekit.recording.open import open_contents
from tracekit.render.layout import lines_text
from tracekit.render.text import styled_line
from tracekit.units import format_count

Mark = tuple[int, ...]
"""What changes while a recording is written: files, bytes, time of the latest change, and which folder it is."""

INTERVAL_S = 1.0
STEADY_S = 2.0
"""A recording that opens is written when nothing of it changed for this long. Heuristic: copying never pauses so."""
PATIENCE_S = 120.0
"""One that does not open, or is unfinished, may still be recorded, which changes little on disk for a while."""
KEPT = 8
"""Recordings whose measurements are kept: several apps and devices may take turns."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a recording is of."""

    app: str | None
    device: str | None
    recorded: tuple[float, float]
    """When it began, and when it came into the folder, which decides between copies of one time; Unix time in s."""
    finished: bool
    """Whether the recording was ended and saved."""


class History:
    """The recordings of one folder. What was read of one is kept until it changes."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments, self._request = arguments, request_from(arguments)
        self.subject = lru_cache(1 << 10)(self._subject)
        self._measured = lru_cache(KEPT)(self._measure)

    def report_on(self, path: Path, mark: Mark, others: dict[Path, Mark]) -> bool:
        """Print what a recording shows and what changed; False, with a sentence on standard error, where it cannot be
        read. `others` are recordings that it may be compared with."""
        measured = self._measured(path, mark)
        if measured.measurements is None or measured.report is None:
            narrate(f"tracekit: {measured.error or f'{path.name} is a JSON report; pass the recording itself'}")
            return False
        tell_unreadable(measured.report.recording.source, measured.report.tables)
        earlier = self._comparison(path, mark, measured.measurements, others)
        lines = latest_lines(measured.report, measured.measurements, str(path), earlier)
        color = has_color()
        # Lines are not to wrap, so that a recording has four of them in a log too.
        emit(lines_text(map(styled_line, lines), color), styled=color)
        return True

    def _comparison(
        self, path: Path, mark: Mark, measurements: Measurements, others: dict[Path, Mark]
    ) -> tuple[str, Comparison] | None:
        """The comparison with the last earlier recording of the same app and device, and the path of that one. One
        that cannot be read is passed over, and so is a copy."""
        subject = self.subject(path, mark)
        if subject is None or subject.app is None:
            return None
        subjects = {other: self.subject(other, of_other) for other, of_other in others.items()}
        earlier = [
            (of_other.recorded, other)
            for other, of_other in subjects.items()
            if of_other is not None and (of_other.app, of_other.device) == (subject.app, subject.device)
            if of_other.recorded < subject.recorded
        ]
        for _, other in sorted(earlier, reverse=True):
            last = self._measured(other, others[other]).measurements
            if last is not None and not same_recording(last, measurements):
                return str(other), compare([last], [measurements], floors=self._request.settings.floors)
        return None

    def _subject(self, path: Path, _mark: Mark) -> Subject | None:
        """What a recording is of; None where it cannot be opened."""
        try:
            run = open_contents(path, reader=self._request.reader, xctrace=self._request.xctrace).runs[-1]
            arrived = path.stat().st_ctime
        except (TracekitError, OSError):
            return None
        try:
            began = datetime.fromisoformat(run.start_date or "").timestamp()
        except (ValueError, OverflowError):
            began = arrived
        app = run.target.process.name if run.target.process is not None else run.target.kind
        return Subject(app, run.device.model, (began, arrived), run.raw_stream is None)

    def _measure(self, path: Path, _mark: Mark) -> Measured:
        (measured,) = measure_all([str(path)], self._arguments, self._request, report=True)
        return measured


def run(arguments: Namespace) -> ExitStatus:
    """Watch a folder until Ctrl-C, or report on one recording."""
    path, history = Path(arguments.path), History(arguments)
    if not path.exists():
        raise UsageError(f"{path}: no such file or directory{suggest_path(str(path))}")
    if not path.is_dir() or is_recording(path):
        is_read = history.report_on(path, _mark_of(path), _marks(path.parent))
        return ExitStatus.DONE if is_read else ExitStatus.UNUSABLE
    count = 0
    try:
        for new, others in _new_recordings(path, history):
            if history.report_on(new, others[new], others):
                emit("\n")
                count += 1
    except KeyboardInterrupt:
        narrate(f"tracekit: stopped watching {path} after {format_count(count, 'new recording')}")
    return ExitStatus.DONE


def _new_recordings(folder: Path, history: History) -> Iterator[tuple[Path, dict[Path, Mark]]]:
    """Each new or changed recording once it is written, the earliest first, with all in the folder. Never ends."""
    known = _marks(folder)
    narrate(f"tracekit: watching {folder} ({format_count(len(known), 'recording')} there); Ctrl-C ends it")
    seen: dict[Path, tuple[Mark, float]] = {}
    while True:
        time.sleep(INTERVAL_S)
        marks, now = _marks(folder), time.monotonic()
        steady = {path: entry for path, entry in seen.items() if marks.get(path) == entry[0]}
        seen = {path: steady.get(path, (mark, now)) for path, mark in marks.items() if known.get(path) != mark}
        complete = []
        for path, (mark, since) in seen.items():
            subject = history.subject(path, mark) if now - since >= STEADY_S else None
            if (subject is not None and subject.finished) or now - since >= PATIENCE_S:
                complete.append((subject.recorded if subject is not None else (inf, inf), path))
        for _, path in sorted(complete):
            known[path] = marks[path]
            yield path, marks


def _marks(folder: Path) -> dict[Path, Mark]:
    """The recordings directly in a folder. Raises `TracekitError` where the folder cannot be read."""
    with refusals(f"watch {folder}"):
        paths = sorted(folder.iterdir())
    marks = {}
    for path in paths:
        try:
            if is_recording(path):
                marks[path] = _mark_of(path)
        except OSError:
            # It went away meanwhile, or is not this user's to read.
            continue
    return marks


def _mark_of(path: Path) -> Mark:
    """Raises OSError."""
    stats = [path.stat()]
    for folder, _, names in os.walk(path):
        stats += [os.lstat(Path(folder, name)) for name in names]
    changed_ns = max(entry.st_mtime_ns for entry in stats)
    return len(stats), sum(entry.st_size for entry in stats), changed_ns, stats[0].st_ino
