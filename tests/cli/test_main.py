"""Every way of leaving has its exit status and its sentence."""

from __future__ import annotations

import argparse
import importlib
import platform
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tracekit as package
from tracekit.cli.commands import COMMANDS
from tracekit.cli.dispatch import build_parser
from tracekit.cli.options import OPTIONS, UNITS
from tracekit.cli.process import ExitStatus
from tracekit.comparison.settings import parse_check
from tracekit.detectors.expectations import parse_expectation
from tracekit.errors import UsageError


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Let `tracekit doctor` raise the given exception."""

    def install(error: BaseException) -> None:
        def run(arguments: argparse.Namespace) -> ExitStatus:
            raise error

        monkeypatch.setattr("tracekit.cli.record.run_doctor", run)

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


@pytest.mark.parametrize(
    ("arguments", "same"), [([], ["--help"]), (["help"], ["--help"]), (["help", "export"], ["export", "--help"])]
)
def test_help_is_a_command_too(tracekit, arguments: list[str], same: list[str]) -> None:
    assert tracekit(*arguments) == tracekit(*same)


def test_help_fits_a_screen_and_names_every_command_and_every_exit_status(tracekit) -> None:
    result = tracekit("--help")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    words = [line.split()[1] for line in lines if line.startswith("  tracekit ")]
    assert words == ["record", "analyze", "why", "compare", "check", "view", "inspect", "history"]
    for command in COMMANDS:
        assert f" {command.name} " in result.out
    (statuses,) = (line for line in lines if line.startswith("Exit status: "))
    assert [word for word in statuses.split() if word.isdigit()] == ["0", "1", "2", "3"]


def test_every_command_names_a_function_that_runs_it_and_every_option_is_of_a_command() -> None:
    for command in COMMANDS:
        module, _, function = command.runs.partition(":")
        assert callable(getattr(importlib.import_module(module), function))

    assert {name for command in COMMANDS for name in command.options} == set(OPTIONS)


def test_help_of_a_command_begins_with_an_example_and_fits_a_screen(tracekit, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = build_parser()
    for command in COMMANDS:
        result = tracekit(command.name, "--help")
        assert (result.status, result.err) == (0, "")
        lines = result.out.splitlines()
        assert lines[0] == "Examples:"
        assert f"tracekit {command.name}" in lines[1]
        assert len(lines) <= 24
        every = tracekit(command.name, "--help-all").out.splitlines()
        assert max(map(len, [*lines, *every])) <= 80
        for name in command.options:
            (line,) = (line for line in every if re.match(rf"  (-\w, )?--{name} ", line))
            assert line.endswith(OPTIONS[name].help)
        for example in command.examples:
            for line in re.findall(r"tracekit ([^#>)]*)", example):
                parser.parse_args(shlex.split(line))


def test_every_option_reads_a_time_in_each_way() -> None:
    times = {name: option.type for name, option in OPTIONS.items() if option.value == "TIME"}
    assert len(times) > 5
    for name, read in times.items():
        assert len({read(text) for text in ("3s", "3000ms", "00:03", "0:00:03.000", "3.0 s")}) == 1
        assert read("3") in (read("3s"), read("3ms"))
        # Limits and deadlines are those of a prediction or a load.
        assert (read("3") == read("3s")) == (
            name in {"from", "to", "at", "frame", "time-limit"} or name.endswith("timeout")
        )
        with pytest.raises(argparse.ArgumentTypeError, match=r"such as 20ms, 3s or 00:02.896, found 'soon'"):
            read("soon")


def test_the_neural_engine_is_taken_in_every_spelling_everywhere() -> None:
    for option in ("--ane", "--neural-engine"):
        assert build_parser().parse_args(["check", "x", option, "90%"]).neural_engine == 0.9
    for name in ("ane", "neural-engine", "neural_engine", "Neural Engine", "NeuralEngine", "ANE"):
        ((_, unit, _),) = build_parser().parse_args(["inspect", "x", "--unit", name]).unit
        assert UNITS[unit] == "Neural Engine"
        assert parse_expectation(name) == (None, 1)
        settings = parse_check({"limits": {"*": {name: 0.9}}}, frozenset())
        assert [(limit.name, limit.value) for limit in settings.limits] == [("neural-engine", 0.9)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["analyse"], "unknown command 'analyse'; did you mean 'analyze'? (available: record, analyze, why, "),
        (["-"], "missing command; did you mean `tracekit analyze -`?"),
        (["--nonsense"], "unknown option --nonsense (see 'tracekit --help')"),
        (["analyze"], "missing PATH, as in: tracekit analyze run.trace (see 'tracekit analyze --help')"),
        (["analyze", "x", "--fail-on", "hihg"], "unknown severity 'hihg'; did you mean 'high'?"),
        (["analyze", "x", "--format", "htm"], "unknown format 'htm'; did you mean 'html'?"),
        (["analyze", "x", "--run", "two"], "argument --run: expected a run number, 1 or more, found 'two'"),
        (["analyze", "x", "--run", "0"], "argument --run: expected a run number, 1 or more, found '0'"),
        (["analyze", "x", "-q", "-v"], "argument -v/--verbose: not allowed with argument -q/--quiet"),
        (["analyze", "x", "--sor", "mean"], "unknown option --sor; did you mean '--sort'?"),
        (["analyze", "x", "--label", "a"], "tracekit analyze has no option --label; compare has it"),
        (["view", "x", "y", "z"], "unexpected argument 'z' (see 'tracekit view --help')"),
        (["sql", "x", "--json", "from models", "y"], "unexpected argument 'y' (see 'tracekit sql --help')"),
        (["completion"], "missing SHELL, as in: "),
        (["completion", "tcsh"], "unknown shell 'tcsh'"),
        (["lint"], "unknown command 'lint' (available: "),
        (["check", "--hlep"], "unknown option --hlep; did you mean '--help'?"),
        (["completion", "ksh"], "unknown shell 'ksh' (available: bash, zsh, fish)"),
        (["analyze", "x", "--only", ""], "argument --only: expected a name, found ''"),
        (["analyze", "x", "--jobs", "2"], "--jobs is for several recordings"),
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


def test_failures_are_one_sentence(tracekit, failing) -> None:
    failing(UsageError("that does not exist; try this."))
    result = tracekit("doctor")
    assert (result.status, result.out, result.err) == (2, "", "tracekit: that does not exist; try this.\n")

    failing(KeyError("some\ncolumn"))
    result = tracekit("doctor")
    assert result.status == 2
    assert (
        result.err
        == r"tracekit: internal error (KeyError: 'some\ncolumn'); please run again with --debug and report it"
        "\n"
    )

    failing(KeyboardInterrupt())
    result = tracekit("doctor")
    assert (result.status, result.out) == (130, "")
    assert result.err == "tracekit: interrupted\n"

    failing(MemoryError())
    result = tracekit("doctor")
    assert result.status == 2
    assert "Traceback" not in result.err


@pytest.mark.parametrize("error", [UsageError("wrong"), ZeroDivisionError()])
def test_debug_adds_the_traceback(tracekit, failing, error: Exception) -> None:
    failing(error)
    result = tracekit("doctor", "--debug")
    assert result.status == 2
    assert result.err.startswith("Traceback (most recent call last):")
    assert type(error).__name__ in result.err
    assert result.err.splitlines()[-1].startswith("tracekit: ")


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
        [sys.executable, "-m", "tracekit", "export", "-"],
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
