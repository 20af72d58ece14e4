"""Reads and judges recordings for the screen, step by step, so that the first useful screen comes early.

Runs in a thread. No widget is known here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from tracekit.errors import TracekitError
from tracekit.lanes.lanes import Grouping
from tracekit.request import ALL, Request, read_trace, shown_by
from tracekit.trace.filter import narrowed
from tracekit.tui.prediction_table import calls_of
from tracekit.tui.state import Session, bounds_of
from tracekit.tui.timeline.lanes import Lanes, main_thread_lanes, timeline_lanes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Event

    from tracekit.arrays import BoolArray
    from tracekit.compare.comparison import Comparison
    from tracekit.recording import Progress
    from tracekit.tui.timeline.lanes import TimelineLane


class Canceled(Exception):  # noqa: N818 - no error: the user wanted it
    """The user gave up waiting."""


@dataclass(frozen=True, slots=True)
class Viewed:
    """What the user asked to see: the arguments of `tracekit view`."""

    paths: tuple[str, ...]
    """One recording, or two to be compared."""
    request: Request = ALL
    theme: str | None = None
    """`dark` or `light`; None: the one that was chosen last."""


class ReadingProgressed(Message):
    """How far reading has come. Only the latest matters."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """A later one makes this one needless."""
        return isinstance(message, ReadingProgressed)


class RecordingsOpened(Message):
    """All recordings were read; their reports are still to come."""

    def __init__(self, sessions: tuple[Session, ...], lanes: tuple[Lanes, ...]) -> None:
        super().__init__()
        self.sessions = sessions
        self.lanes = lanes


class RecordingJudged(Message):
    """The report of one of the recordings is there."""

    def __init__(
        self, index: int, session: Session, evidence: Mapping[str, BoolArray], thread: tuple[TimelineLane, ...] = ()
    ) -> None:
        """`thread` is the lane of the main thread, where there is one."""
        super().__init__()
        self.index = index
        self.session = session
        self.evidence = evidence
        self.thread = thread


class RecordingsCompared(Message):
    """Two recordings were judged, and compared."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison


class OpeningFailed(Message):
    """A recording could not be opened."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence


_LONGEST_WAIT_S = 1.0
"""For the first picture, before judging begins all the same."""


def open_all(viewed: Viewed, post: Callable[[Message], object], given_up: Callable[[], bool], shown: Event) -> None:
    """Read all recordings, then judge them, and post what came of each step; nothing more once the user gave up.

    `shown` is set when the lanes are on screen. Raises nothing: whatever goes wrong is posted too.
    """

    def go_on() -> None:
        if given_up():
            raise Canceled

    def progress(done: Progress) -> None:
        go_on()
        post(ReadingProgressed(done))

    try:
        sessions = tuple(read(path, replace(viewed.request, progress=progress)) for path in viewed.paths)
        lanes = tuple(Lanes(timeline_lanes(session.trace, Grouping.LANES)) for session in sessions)
        post(RecordingsOpened(sessions, lanes))
        # Judging would compete with the first picture for the interpreter.
        shown.wait(_LONGEST_WAIT_S)
        from tracekit.tui.evidence import evidence_masks

        reports = []
        for index, session in enumerate(sessions):
            go_on()
            reports.append(judged(session))
            # The checks have read the call stacks by now.
            thread = main_thread_lanes(reports[-1].judged)
            post(RecordingJudged(index, reports[-1], evidence_masks(reports[-1].trace, reports[-1].evidence), thread))
        if len(reports) > 1:
            go_on()
            post(RecordingsCompared(compared(*reports)))
    except Canceled:
        return
    except TracekitError as error:
        post(OpeningFailed(str(error)))
    except Exception as error:  # whatever else went wrong is shown, instead of a traceback over a broken screen
        post(OpeningFailed(f"Internal error ({type(error).__name__}: {error}); please report it."))


def read(path: str, request: Request = ALL) -> Session:
    """Open one recording; its report is still to come. Raises `TracekitError` as `tracekit.open_trace` does."""
    opened = read_trace(path, request)
    shown = shown_by(opened, request)
    trace, full_trace = (opened, None) if shown is None else (narrowed(opened, shown), opened)
    return Session(
        opened.contents.source,
        trace,
        None,
        bounds_of(opened),
        request=replace(request, progress=None),
        full_trace=full_trace,
        shown=shown,
    )


def judged(session: Session) -> Session:
    """The recording with its report and its predictions. Nothing is redacted on screen: what leaves it, is."""
    # The detectors are needed only now, when the lanes are on screen.
    from tracekit.api import judge_with_answers
    from tracekit.tui.evidence import evidence_rows

    report, answers = judge_with_answers(session.judged, replace(session.request, redact=False), session.shown)
    evidence = evidence_rows(session.trace, report, answers)
    return replace(session, report=report, evidence=evidence, calls=calls_of(session.judged, session.shown))


def compared(before: Session, after: Session) -> Comparison:
    """What changed between two recordings that were judged, as `tracekit compare` says it."""
    from tracekit.compare.comparison import compare
    from tracekit.compare.measurements import measure

    sides = []
    for session in (before, after):
        if session.report is None:
            raise RuntimeError("a recording without a report cannot be compared")
        sides.append([measure(session.judged, session.report, session.shown)])
    notes = [f"{each.source}: {clause}." for side in sides for each in side for clause in each.unreadable]
    return compare(*sides, floors=before.request.settings.floors, notes=notes)
