"""The table of errors, help and status in `docs/commands.md`: each of its cells is run."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.app import App

from tracekit.cli import view, watch
from tracekit.cli.commands import ANSWERS, COMMANDS
from tracekit.cli.dispatch import build_parser
from tracekit.cli.options import OPTIONS
from tracekit.cli.process import ExitStatus
from tracekit.model_files.profiling import core_ml
from tracekit.tui import app as app_module
from tracekit.tui.app import ViewApp
from tracekit.tui.screens.small import OpeningScreen

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text("utf-8")
COLUMNS = ("no argument", "wrong path", "directory", "empty file", "wrong type", "broken recording", "two recordings")
GOOD, OTHER = "sharpen_float16.trace", "sharpen_8bit.trace"
OF_MODELS = ("inspect", "fix")
"""Commands that take a model: their paths are those of models."""
CELL = re.compile(
    r"(?:as (?P<other>\w+)|(?P<kind>help|result)|(?P<ticks>`+) ?(?P<sentence>.+?) ?(?P=ticks)) (?P<status>\d)"
)


def rows(title: str) -> list[list[str]]:
    """Cells of the table below a heading, without its head."""
    lines = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[2:]]


CELLS = {row[0].strip("`"): dict(zip(COLUMNS, row[1:], strict=True)) for row in rows("Errors")}


def expected(command: str, column: str) -> tuple[str, str, int]:
    """What a cell says: help or result, the sentence, and the status."""
    cell = CELLS[command][column]
    if cell == "same":
        return expected(command, COLUMNS[COLUMNS.index(column) - 1])
    match = CELL.fullmatch(cell or f"as analyze {ExitStatus.UNUSABLE}")
    assert match is not None, cell
    if match["other"]:
        kind, sentence, status = expected(match["other"], column)
        assert status == int(match["status"])
        return kind, sentence.replace(f"tracekit {match['other']}", f"tracekit {command}"), status
    return match["kind"] or "", match["sentence"] or "", int(match["status"])


@pytest.fixture(scope="module")
def broken(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording that no command can read, and none changes."""
    folder = Path(shutil.copytree(samples / GOOD, tmp_path_factory.mktemp("broken") / "broken.trace"))
    tables = folder / "corespace/run1/core/table-manager/tables.plist"
    tables.write_bytes(tables.read_bytes()[:100])
    return folder


@pytest.fixture
def paths(
    samples: Path, broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], list[str]]:
    """What a command is given for a column."""
    monkeypatch.chdir(tmp_path)
    for name in ("empty.trace", "empty.mlmodel"):
        Path(name).touch()
    for name in ("Model.mlmodel", "notes.txt", "folder/notes.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("some notes\n")

    def given(command: str, column: str) -> list[str]:
        if column == "broken recording":
            Path("broken.trace").symlink_to(broken)
        of_model = command in OF_MODELS
        path = {
            "no argument": [],
            "wrong path": ["gone.mlmodel" if of_model else "gone.trace"],
            "directory": ["folder"],
            "empty file": ["empty.mlmodel" if of_model else "empty.trace"],
            "wrong type": ["notes.txt" if of_model else "Model.mlmodel"],
            "broken recording": ["broken.trace"],
            "two recordings": [str(samples / GOOD), str(samples / OTHER)],
        }[column]
        if command == "lake":
            return ["add", "kept", *path] if path else []
        if command == "compare" and len(path) == 1:
            # It takes two, of which one is sound.
            return [*path, str(samples / GOOD)]
        # The short form says in one line what a table says.
        return ["-q", *path] if command == "check" and path else path

    return given


def observed(tracekit, command: str, given: list[str]) -> tuple[str, str, int]:
    """What a command does, as `expected` has it."""
    result = tracekit(command, *given)
    if result.status == ExitStatus.DONE and result.out:
        return "help" if command == "export" and not given else "result", "", result.status
    if not result.err + result.out:
        return "result", "", result.status
    said = (result.err or result.out).splitlines()[0]
    said = said.removeprefix("tracekit: ").removeprefix("tracekit check: 1 error: ").removeprefix("input: ")
    said = said.removeprefix("skipped: ")
    for path in given:
        for name in (path, Path(path).name):
            said = re.sub(rf"(?<![\w/]){re.escape(name)}(?![\w/])", "PATH", said)
    return "", said, result.status


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What would wait for a person is left at once: `view` has a terminal and gets `q`, `watch` gets Ctrl-C, and `mcp`
    the end of its input."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def leave(pilot) -> None:
        while isinstance(pilot.app.screen, OpeningScreen):
            await pilot.pause(0.01)
        pilot.app.simulate_key("q")

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app_module, "terminal_is_gone", lambda: False)
    monkeypatch.setattr(ViewApp, "run", lambda app: App.run(app, headless=True, size=(80, 24), auto_pilot=leave))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(view, "is_terminal", lambda: True)
    monkeypatch.setattr(watch.time, "sleep", interrupt)
    monkeypatch.setattr("mcp.server.MCPServer.run", lambda _: None)
    # A Mac would go on to run the model.
    monkeypatch.setattr(core_ml.platform, "system", lambda: "Linux")


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_a_cell_is_what_the_command_does(tracekit, paths, briefly: None, command: str, column: str) -> None:
    assert observed(tracekit, command, paths(command, column)) == expected(command, column)


def test_every_command_has_a_row() -> None:
    assert list(CELLS) == [command.name for command in COMMANDS]


def test_the_statuses_are_those_of_the_program() -> None:
    assert {int(row[0]) for row in rows("Exit status")} == set(map(int, ExitStatus))


def test_an_option_is_the_same_in_every_command() -> None:
    (commands,) = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    found: dict[str, set[tuple[object, ...]]] = {}
    for parser in commands.values():
        for action in parser._actions:
            facts = (action.help, action.metavar, repr(action.default), tuple(action.option_strings), action.nargs)
            for name in action.option_strings:
                found.setdefault(name, set()).add(facts)
    assert len(found) > len(OPTIONS)
    assert {name: facts for name, facts in found.items() if len(facts) > 1} == {}


def test_other_words_are_answered_with_a_command_that_can_be_run(tracekit) -> None:
    listed = {
        word: answer.strip("`") for words, answer in rows("Other words") for word in re.findall(r"`(\w+)`", words)
    }
    assert list(listed) == sorted(ANSWERS, key=list(listed).index)
    assert not {*ANSWERS} & {command.name for command in COMMANDS}
    for word, answer in listed.items():
        result = tracekit(word, "my run.trace")
        meant = answer.replace("...", "'my run.trace'")
        assert (result.status, result.out) == (ExitStatus.UNUSABLE, "")
        assert result.err == f"tracekit: no command '{word}'; use `{meant}`\n"
        # Without arguments it has those of an example.
        typed = re.search("`tracekit (.+)`", tracekit(word).err)[1]
        assert "..." not in typed
        assert "{" not in typed
        build_parser().parse_args(shlex.split(typed))
