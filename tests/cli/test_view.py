"""A recording is read from before there is a screen."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from tracekit.cli import view
from tracekit.errors import UnreadableRecording
from tracekit.recording import Progress
from tracekit.request import ALL, Request

PATIENCE_S = 10


def test_what_was_read_ahead_is_what_is_shown_and_why_it_cannot_be_comes_when_it_is_asked_for(
    samples: Path, tmp_path: Path
) -> None:
    path = str(samples / "captions_concurrent.trace")
    ahead = view._Ahead((path,), ALL)
    trace = ahead.trace_of(path, ALL)
    assert trace.contents.source == "captions_concurrent.trace"
    assert len(trace.activity)
    assert ahead.trace_of(path, ALL) is trace

    path = str(tmp_path / "nothing.trace")
    ahead = view._Ahead((path,), ALL)
    with pytest.raises(UnreadableRecording, match=r"nothing\.trace"):
        ahead.trace_of(path, ALL)


def test_progress_is_reported_once_somebody_asks_and_ends_the_read_where_nobody_waits(monkeypatch) -> None:
    begun, asked, reported = threading.Event(), threading.Event(), []

    def read(path: str, request: Request) -> None:
        begun.set()
        # Nobody listens yet.
        request.progress(Progress(1, 3, path))
        assert asked.wait(PATIENCE_S)
        request.progress(Progress(2, 3, path))

    monkeypatch.setattr(view, "read_trace", read)
    ahead = view._Ahead(("a", "b"), ALL)
    assert begun.wait(PATIENCE_S)

    def progress(done: Progress) -> None:
        reported.append(done.done_bytes)
        ahead.stop()

    def answer() -> None:
        while ahead._tell is not progress:
            time.sleep(0.001)
        asked.set()

    threading.Thread(target=answer, daemon=True).start()
    assert ahead.trace_of("a", Request(progress=progress)) is None
    assert reported == [2]
    with pytest.raises(CancelledError):
        ahead.trace_of("b", ALL)
