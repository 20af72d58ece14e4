"""Every way of leaving has its exit status and its sentence."""

from __future__ import annotations

import argparse
import importlib
import platform
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tracekit as package
from tracekit.cli.ending import ExitStatus
from tracekit.cli.parser import COMMANDS, build_parser
from tracekit.errors import UsageError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Let `tracekit doctor` raise the given exception."""

    def install(error: BaseException) -> None:
        def run(arguments: argparse.Namespace) -> ExitStatus:
            raise error

        monkeypatch.setattr("tracekit.cli.doctor.run", run)

    return install


def test_version_is_printed(tracekit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    result = tracekit("--version")
    about = f"Python {platform.python_version()}; readers: native"
    assert (result.status, result.out) == (0, f"tracekit {package.__version__} ({about})\n")
    assert tracekit("-V").out == result.out


@pytest.mark.parametrize(
    ("selected", "readers"),
    [
        ("/Applications/Xcode.app/Contents/Developer", "native, xctrace"),
        ("/Library/Developer/CommandLineTools", "native"),
    ],
)
def test_version_names_xctrace_only_where_it_is(tracekit, standin, selected: str, readers: str) -> None:
    standin(selected=selected)
    assert tracekit("--version").out.endswith(f"; readers: {readers})\n")


def test_the_command_alone_prints_a_short_guide(tracekit) -> None:
    result = tracekit()
    assert (result.status, result.err) == (0, "")
    assert "tracekit analyze run.trace" in result.out
    assert len(result.out.splitlines()) <= 10


@pytest.mark.parametrize(("arguments", "same"), [(["help"], ["--help"]), (["help", "tables"], ["tables", "--help"])])
def test_help_is_a_command_too(tracekit, arguments: list[str], same: list[str]) -> None:
    assert tracekit(*arguments) == tracekit(*same)


def test_help_names_every_command_and_every_exit_status(tracekit) -> None:
    result = tracekit("--help")
    assert result.status == 0
    for command in COMMANDS:
        assert f"    {command.name} " in result.out
    assert [line.split()[0] for line in result.out.split("exit status:\n")[1].splitlines()] == ["0", "1", "2", "3"]


def test_every_command_names_a_function_that_runs_it() -> None:
    for command in COMMANDS:
        module, _, function = command.runs.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_has_help(tracekit, name: str) -> None:
    result = tracekit(name, "--help")
    assert result.status == 0
    assert result.out.startswith(f"usage: tracekit {name}")


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_help_fits_the_terminal(tracekit, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    body, _, _ = tracekit(name, "--help").out.partition("exit status:")
    assert max(map(len, body.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["analyse"], "unknown command 'analyse'; did you mean 'analyze'? (available: analyze, view, "),
        (["-"], "missing command; did you mean `tracekit analyze -`?"),
        (["--nonsense"], "unrecognized arguments: --nonsense (see 'tracekit --help')"),
        (["analyze"], "the following arguments are required: PATH (see 'tracekit analyze --help')"),
        (["analyze", "x", "--fail-on", "worst"], "argument --fail-on: invalid choice: 'worst'"),
        (["analyze", "x", "--format", "pdf"], "argument --format: invalid choice: 'pdf'"),
        (["analyze", "x", "--run", "two"], "argument --run: invalid run number value: 'two'"),
        (["analyze", "x", "--run", "0"], "argument --run: invalid run number value: '0'"),
        (["analyze", "x", "-q", "-v"], "argument -v/--verbose: not allowed with argument -q/--quiet"),
        (["analyze", "x", "--sor", "mean"], "unrecognized arguments: --sor mean (see 'tracekit analyze --help')"),
        (["explain"], "the following arguments are required: ID"),
        (["--print-completion", "tcsh"], "argument --print-completion: invalid choice: 'tcsh'"),
    ],
)
def test_bad_usage_is_one_sentence_and_status_2(tracekit, arguments: list[str], sentence: str) -> None:
    result = tracekit(*arguments)
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith(f"tracekit: {sentence}")
    assert result.err.count("\n") == 1


def test_a_path_without_a_command_gets_the_command_that_was_meant(tracekit, tmp_path: Path) -> None:
    result = tracekit(tmp_path)
    assert result.status == 2
    assert result.err == f"tracekit: missing command; did you mean `tracekit analyze {tmp_path}`?\n"


def test_an_expected_failure_is_its_own_sentence(tracekit, failing) -> None:
    failing(UsageError("that does not exist; try this."))
    result = tracekit("doctor")
    assert (result.status, result.out, result.err) == (2, "", "tracekit: that does not exist; try this.\n")


def test_an_unexpected_failure_asks_to_be_reported_and_shows_no_traceback(tracekit, failing) -> None:
    failing(KeyError("some\ncolumn"))
    result = tracekit("doctor")
    assert result.status == 2
    assert (
        result.err
        == r"tracekit: internal error (KeyError: 'some\ncolumn'); please run again with --debug and report it"
        "\n"
    )


@pytest.mark.parametrize("error", [UsageError("wrong"), ZeroDivisionError()])
def test_debug_adds_the_traceback(tracekit, failing, error: Exception) -> None:
    failing(error)
    result = tracekit("doctor", "--debug")
    assert result.status == 2
    assert result.err.startswith("Traceback (most recent call last):")
    assert type(error).__name__ in result.err
    assert result.err.splitlines()[-1].startswith("tracekit: ")


def test_ctrl_c_is_one_sentence_and_status_130(tracekit, failing) -> None:
    failing(KeyboardInterrupt())
    result = tracekit("doctor")
    assert (result.status, result.out) == (130, "")
    assert result.err == "tracekit: interrupted\n"


def test_running_out_of_memory_is_a_sentence_too(tracekit, failing) -> None:
    failing(MemoryError())
    result = tracekit("doctor")
    assert result.status == 2
    assert "Traceback" not in result.err


def test_every_flag_of_every_command_says_what_it_does() -> None:
    (commands,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert set(commands.choices) == {command.name for command in COMMANDS}
    for command in commands.choices.values():
        for action in command._actions:
            assert action.help, f"{command.prog} {action.option_strings or action.dest} has no help"


def test_the_statuses_are_the_published_ones() -> None:
    assert {status.name: int(status) for status in ExitStatus} == {
        "DONE": 0,
        "GATE_FAILED": 1,
        "UNUSABLE": 2,
        "INCONCLUSIVE": 3,
        "INTERRUPTED": 130,
    }


def test_an_interrupt_while_reading_leaves_no_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tracekit", "tables", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    # More than a pipe holds, so that the write returns only when the command has begun to read.
    process.stdin.write("<?xml version='1.0'?><trace-query-result>" + " " * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "tracekit: interrupted\n")
