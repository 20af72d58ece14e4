"""A recording under every circumstance: it ends with a bundle or one sentence, and nothing is left at work."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.processes import at_work, needs_proc, wait_until_none
from tracekit.errors import TracekitError
from tracekit.recording.xctrace import running, tool, watching
from tracekit.recording.xctrace.recorder import Request, record
from tracekit.recording.xctrace.watching import Patience, Phase

TOOL = ("xcrun", "xctrace")
BRIEF = Patience(start=20.0, over_limit=0.1, stop=0.3, saving=20.0)
"""Brief where tests wait for what does not come; a stand-in may start on a machine as busy as it likes."""


class Listener:
    """Keeps what it hears, and sends SIGINT, or another signal, as often as `at` says for the words that it hears."""

    def __init__(self, *at: str, number: int = signal.SIGINT) -> None:
        self.told: list[str] = []
        self.passed_on: list[str] = []
        self.counted: list[tuple[Phase, float]] = []
        self.answer: Callable[[], None] = lambda: None
        self._at, self._number = list(at), number

    def on_message(self, text: str) -> None:
        self.told.append(text)
        self._heard(text)

    def pass_on(self, text: str) -> None:
        self.passed_on.append(text)
        self.answer()
        self._heard(text)

    def count(self, phase: Phase, seconds: float) -> None:
        self.counted.append((phase, seconds))
        self._heard(f"count {phase.value}")

    def _heard(self, text: str) -> None:
        if self._at and text.startswith(self._at[0]):
            self._at.pop(0)
            os.kill(os.getpid(), self._number)


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    monkeypatch.setattr(watching, "_SETTLED_S", 0.0)
    monkeypatch.setattr(watching, "_POLL_S", 0.02)
    monkeypatch.setattr(running, "TERMINATE_S", 0.2)


@pytest.fixture
def request_(tmp_path):
    return Request(tmp_path / "run.trace", "Core ML", attach="App", time_limit="1s", no_prompt=True)


@pytest.fixture
def run(standin, request_):
    """Record with a mode of the stand-in. Afterwards nothing may be left at work."""

    def call(mode: str = "", listener: Listener | None = None, patience: Patience = BRIEF, **changes: object):
        standin(record=mode)
        return record(TOOL, replace(request_, **changes), listener or Listener(), patience)

    yield call
    if Path("/proc").is_dir():
        wait_until_none(request_.output, 2.0)


def test_counting_starts_when_the_recording_has_started(run, request_):
    listener = Listener()
    assert run(listener=listener) == ()
    assert (request_.output / "form.template").exists()
    assert listener.told == [
        "recording for 1 s; press Ctrl-C to stop and save earlier",
        "saving, which can take minutes",
    ]
    phases = [phase for phase, _ in listener.counted]
    assert phases == sorted(phases, key=list(Phase).index)
    first = next(seconds for phase, seconds in listener.counted if phase is Phase.RECORDING)
    assert first < 0.1
    assert listener.passed_on == []


@pytest.mark.parametrize(
    ("mode", "warnings"),
    [
        ("54", ()),
        ("issues", ("error while recording: Recording of 'Hangs' is not supported in the Simulator",)),
        ("partly", ("error while recording: Hangs is not supported on this platform",)),
    ],
)
def test_the_bundle_decides_and_not_the_exit_status(run, mode, warnings):
    assert run(mode) == warnings


def test_a_recording_that_was_saved_before_xctrace_hung_is_kept(run):
    assert run("hangs-when-saved", patience=replace(BRIEF, saving=1.0)) == (
        "xctrace did not finish saving within 1 s (--save-timeout), but the recording is complete",
    )


@pytest.mark.parametrize(
    ("mode", "message", "left"),
    [
        ("failed", "Allocations cannot handle a target type of 'All Processes'", True),
        ("not-allowed", "permission to debug App was denied; Instruments can only trace apps signed with", True),
        ("no-name", "Cannot find process matching name: App; start the app first", False),
        ("no-pid", "Cannot find process for provided pid: App; the process may have ended", False),
        ("crash", "xctrace crashed", False),
        ("unfinished", "the bundle was not finished (it has no form.template)", True),
        ("hangs-saving,stubborn", "xctrace did not finish saving within 0.5 s (--save-timeout)", True),
        ("full-disk", "the disk is full; free some space", True),
        ("never-starts", "the recording did not start within 0.5 s", False),
        ("deaf", "the recording did not start within 0.5 s", False),
    ],
)
def test_a_failed_recording_ends_with_one_sentence(run, request_, mode, message, left):
    with pytest.raises(TracekitError) as caught:
        run(
            mode,
            patience=replace(
                BRIEF,
                start=0.5 if message.endswith("0.5 s") else BRIEF.start,
                saving=0.5 if "finish saving" in message else BRIEF.saving,
            ),
        )
    assert str(caught.value).startswith(f"recording failed: {message}")
    assert ("an incomplete recording remains at" in str(caught.value), request_.output.exists()) == (left, left)


def test_an_app_that_is_still_starting_is_looked_for_once_more(run, standin, standin_log, tmp_path):
    standin(times="1", state=str(tmp_path / "count"))
    listener = Listener()
    assert run("no-name", listener) == ()
    assert listener.told[0] == "xctrace did not find the app, which may still be starting; trying once more"
    assert len(standin_log()) == 2


def test_a_disk_with_hardly_any_space_is_called_full(run, monkeypatch):
    usage = shutil.disk_usage(".")._replace(free=3_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(TracekitError, match=r"the disk is full \(3 MB left\)"):
        run("unfinished")


def test_a_time_limit_that_is_ignored_is_enforced(run):
    listener = Listener()
    assert run("over-limit", listener, time_limit="100ms") == ()
    assert "xctrace ignores the time limit; stopping and saving, which can take minutes" in listener.told


@pytest.mark.parametrize(
    ("mode", "at", "failure"),
    [
        ("never-starts", ("count starting",), "stopped before the recording started"),
        ("deaf", ("count starting",), "stopped before the recording started"),
        ("deaf", ("count starting", "stopping"), "stopped before the recording started"),
        ("", ("recording;",), None),
        ("", ("recording;", "stopping and saving"), None),
        ("hangs-saving", ("recording;",), "xctrace did not finish saving within"),
        ("hangs-saving", ("recording;", "count saving", "still saving"), "stopped before the recording was saved"),
    ],
)
def test_ctrl_c_at_every_stage(run, request_, mode, at, failure):
    listener = Listener(*at)
    patience = replace(BRIEF, saving=0.5 if failure and "finish" in failure else 20.0, start=20.0)
    if failure is None:
        run(mode, listener, patience, time_limit=None)
        assert (request_.output / "form.template").exists()
    else:
        with pytest.raises(TracekitError, match=f"recording failed: {failure}"):
            run(mode, listener, patience, time_limit=None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_program_is_waited_for_once(run, number):
    ended: list[int] = []
    before = signal.signal(number, lambda got, _: ended.append(got))
    try:
        with pytest.raises(TracekitError, match="terminated before the recording was saved"):
            run("hangs-saving", Listener("recording;", "count saving", number=number), time_limit=None)
    finally:
        signal.signal(number, before)
    assert ended == [number]


@pytest.fixture
def typed(monkeypatch):
    """Type into the standard input that programs inherit."""
    reading, writing = os.pipe()
    kept = os.dup(0)
    os.dup2(reading, 0)
    yield lambda text: os.write(writing, text.encode())
    os.dup2(kept, 0)
    for descriptor in (reading, writing, kept):
        os.close(descriptor)


QUESTION = "Recording may capture private data. Continue? [y/n] "


def test_a_question_is_passed_on_and_waited_for(run, typed):
    listener = Listener()
    listener.answer = lambda: typed("y\n")
    # The question stands longer than a recording may take to start.
    assert run("asks", listener, no_prompt=False) == ()
    assert listener.passed_on == [QUESTION]
    assert listener.told[0].startswith("recording for 1 s")


def test_what_a_refused_question_means_is_told(run, typed):
    listener = Listener()
    listener.answer = lambda: typed("n\n")
    with pytest.raises(TracekitError, match=r"recording failed: Recording was not allowed \(xctrace exited"):
        run("asks", listener, no_prompt=False)


# Nothing is asked where nobody can answer; what xctrace prints is passed on.
@pytest.mark.parametrize(
    ("mode", "passed_on"), [("asks", []), ("chatter", ["xctrace[123:456] a warning of some library"])]
)
def test_what_xctrace_prints_is_passed_on(run, mode, passed_on):
    listener = Listener()
    assert run(mode, listener) == ()
    assert listener.passed_on == passed_on


def test_ctrl_c_at_a_question(run, typed, request_):
    with pytest.raises(TracekitError, match="stopped before the recording started"):
        run("asks", Listener("Recording may"), no_prompt=False)


@pytest.mark.parametrize(("mode", "count"), [("", 0), ("partly", 1)])
def test_a_bundle_that_only_xctrace_reads_is_opened_by_it_where_it_is_in_doubt(
    run, standin, standin_log, sample_bundle, mode, count
):
    standin(bundle=str(sample_bundle.rename(sample_bundle.with_name("prepared.trace"))))
    run(mode)
    assert [words[2] for words in standin_log()] == ["record", *["export"] * count]


@needs_proc
def test_a_guard_that_is_killed_takes_the_recording_with_it(run, request_):
    listener = Listener()
    listener.on_message = lambda _: os.kill(min(at_work(request_.output)), signal.SIGKILL)
    with pytest.raises(TracekitError, match="recording failed"):
        run("", listener, time_limit=None)


def test_run_issues_are_read_with_their_suggestions():
    text = (
        "Run issues were detected (trace is still ready to be viewed):\n* [Error] Recording of 'Network Connections' "
        "is not supported in the Simulator.\n\n\t* [Error] Recovery Suggestion: Remove the `Network Connections` "
        "instrument and try again.\n\n* [Warning] Second.\n"
    )
    assert tool.run_issues(text) == (
        tool.RunIssue(
            "Error",
            "Recording of 'Network Connections' is not supported in the Simulator.",
            "Remove the `Network Connections` instrument and try again.",
        ),
        tool.RunIssue("Warning", "Second."),
    )
    assert [line for line in text.splitlines() if tool.is_news(line)] == []
