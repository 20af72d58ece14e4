"""`tracekit record`: what is asked of xctrace, and what is made of every answer."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tracekit.errors import TracekitError
from tracekit.recording.xctrace import messages, recorder
from tracekit.recording.xctrace.recorder import Patience, Request
from tracekit.recording.xctrace.tool import Tool

TOOL = Tool(("xcrun", "xctrace"))


@pytest.fixture
def record(tracekit, standin, tmp_path: Path):
    """Record a fraction of a second with the stand-in."""

    def call(*arguments: str, mode: str = ""):
        standin(record=mode)
        target = arguments or ("--attach", "App")
        return tracekit("record", "--time-limit", "1s", "--no-prompt", "-o", tmp_path / "run.trace", *target)

    return call


def test_the_path_of_the_recording_is_the_output(record, tmp_path: Path, standin_log) -> None:
    result = record("--attach", "App", "--instrument", "Points of Interest", "--device", "Phone")
    assert (result.status, result.out) == (0, f"{tmp_path / 'run.trace'}\n")
    assert (tmp_path / "run.trace" / "form.template").exists()
    ((_, _, *words),) = standin_log()
    assert words == [
        "record",
        *("--output", str(tmp_path / "run.trace"), "--template", "Core ML", "--instrument", "Points of Interest"),
        *("--device", "Phone", "--time-limit", "1s", "--no-prompt", "--attach", "App"),
    ]


def test_everything_after_launch_belongs_to_the_target(record, standin_log) -> None:
    assert record("--launch", "--", "sh", "-c", "exit 1", "--debug", "--", "-o", mode="54").status == 0
    ((*_, launch, dashes, program, a, b, c, d, e),) = standin_log()
    assert (launch, dashes) == ("--launch", "--")
    assert Path(program).is_absolute()
    assert (Path(program).name, a, b, c, d, e) == ("sh", "-c", "exit 1", "--debug", "--", "-o")


def test_all_processes_can_be_recorded(record, standin_log) -> None:
    assert record("--all-processes").status == 0
    assert standin_log()[0][-1] == "--all-processes"


def test_exit_code_54_is_no_failure(record) -> None:
    result = record(mode="54")
    assert result.status == 0
    assert "54" not in result.err


def test_run_issues_are_warnings_where_the_recording_succeeded(record) -> None:
    result = record(mode="issues")
    assert result.status == 0
    assert "error while recording: Recording of 'Hangs' is not supported in the Simulator\n" in result.err


@pytest.mark.parametrize(
    ("mode", "told", "left"),
    [
        ("failed", "Allocations cannot handle a target type of 'All Processes'", True),
        ("not-allowed", "codesign --force --sign - --entitlements", True),
        ("no-name", "Cannot find process matching name: App; start the app first", False),
        ("no-pid", "Cannot find process for provided pid: App; the process may have ended", False),
        ("crash", "xctrace crashed", False),
        ("unfinished", "incomplete (it has no form.template)", True),
    ],
)
def test_a_failed_recording_says_what_to_do_and_keeps_the_bundle(
    record, tmp_path: Path, mode: str, told: str, left: bool
) -> None:
    result = record(mode=mode)
    assert (result.status, result.out) == (2, "")
    assert told in result.err
    assert ("remains at" in result.err, (tmp_path / "run.trace").exists()) == (left, left)


def test_an_app_on_a_device_is_never_to_be_signed_by_hand(record) -> None:
    result = record("--device", "Phone", "--attach", "App", mode="not-allowed")
    assert result.status == 2
    assert "recording failed: permission to debug App was denied; Instruments can only trace apps" in result.err
    assert "Product > Profile" in result.err
    assert "codesign" not in result.err


def test_an_instrument_that_does_not_exist_is_named(record) -> None:
    result = record("--attach", "App", "--instrument", "System Trace")
    assert result.status == 2
    assert "Instrument with name 'System Trace' cannot be found; list them with `xcrun xctrace list" in result.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "missing target: use --attach NAME|PID, --all-processes or --launch -- COMMAND"),
        (["--attach", "App", "--all-processes"], "missing target"),
        (["--attach", "App", "--", "sh"], "to launch a command, use --launch -- COMMAND"),
        (["--launch", "--"], "to launch a command, use --launch -- COMMAND"),
        (["--attach", "App", "--time-limit", "soon"], "such as 30s"),
        (["--attach", "App", "-o", "run.zip"], "must end in .trace"),
        (["--attach", "App", "-o", "no/where/run.trace"], "no such folder: no/where"),
    ],
)
def test_contradictions_are_refused_before_anything_starts(
    tracekit, standin, standin_log, arguments: list[str], told: str
) -> None:
    result = tracekit("record", *arguments)
    assert result.status == 2
    assert told in result.err
    assert standin_log() == []


def test_an_existing_recording_is_never_overwritten(record, tmp_path: Path, standin_log) -> None:
    (tmp_path / "run.trace").mkdir()
    assert "it already exists" in record().err
    assert standin_log() == []


def test_elsewhere_than_on_a_mac_the_command_is_printed(tracekit, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    result = tracekit("record", "--attach", "My App", "--time-limit", "30s", "-o", "run.trace")
    assert (result.status, result.err) == (
        2,
        "tracekit: recording needs a Mac with Xcode; run this there: xcrun xctrace record --output run.trace "
        "--template 'Core ML' --time-limit 30s --attach 'My App'\n",
    )


def test_a_mac_without_xcode_is_told_how_to_get_it(tracekit, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "darwin")
    result = tracekit("record", "--attach", "App")
    assert (result.status, "install Xcode" in result.err) == (2, True)


def request(tmp_path: Path, limit: str | None = "1s") -> Request:
    return Request(tmp_path / "run.trace", "Core ML", attach="App", time_limit=limit, no_prompt=True)


def interrupt_after(seconds: float) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_stops_and_saves(standin, tmp_path: Path) -> None:
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        if text.startswith("recording"):
            interrupt_after(0.1)

    assert recorder.record(TOOL, request(tmp_path, limit=None), tell) == ()
    assert (tmp_path / "run.trace" / "form.template").exists()
    assert "stopping; asked xctrace to save" in told


def test_a_time_limit_that_is_ignored_is_enforced(standin, tmp_path: Path) -> None:
    standin(record="over-limit")
    told: list[str] = []
    assert recorder.record(TOOL, request(tmp_path), told.append, Patience(over_limit=0.1)) == ()
    assert "xctrace ignored the time limit; stopping it" in told


def test_a_recording_that_never_starts_is_given_up(standin, tmp_path: Path) -> None:
    standin(record="hang")
    with pytest.raises(TracekitError, match="recording failed"):
        recorder.record(TOOL, request(tmp_path), lambda _: None, Patience(start=0.8))


def test_slow_saving_is_never_killed(standin, tmp_path: Path) -> None:
    standin(record="slow-saving")
    with pytest.raises(TracekitError, match="was left running") as caught:
        recorder.record(TOOL, request(tmp_path), lambda _: None, Patience(saving=0.3))
    pid = int(str(caught.value).partition("(process ")[2].partition(")")[0])
    os.kill(pid, 0)
    os.kill(pid, signal.SIGKILL)


def test_a_second_ctrl_c_leaves_the_tool_to_finish(standin, tmp_path: Path) -> None:
    standin(record="slow-saving")

    def tell(text: str) -> None:
        if text.startswith("saving"):
            interrupt_after(0.1)

    with pytest.raises(TracekitError, match="keeps saving on its own") as caught:
        recorder.record(TOOL, request(tmp_path), tell)
    pid = int(str(caught.value).partition("(process ")[2].partition(")")[0])
    time.sleep(0.1)
    os.kill(pid, 0)
    os.kill(pid, signal.SIGKILL)


def test_run_issues_are_read_with_their_suggestions() -> None:
    text = (
        "Run issues were detected (trace is still ready to be viewed):\n* [Error] Recording of 'Network Connections' "
        "is not supported in the Simulator.\n\n\t* [Error] Recovery Suggestion: Remove the `Network Connections` "
        "instrument and try again.\n\n* [Warning] Second.\n"
    )
    assert messages.run_issues(text) == (
        messages.RunIssue(
            "Error",
            "Recording of 'Network Connections' is not supported in the Simulator.",
            "Remove the `Network Connections` instrument and try again.",
        ),
        messages.RunIssue("Warning", "Second."),
    )
