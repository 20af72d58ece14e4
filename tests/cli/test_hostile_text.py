"""No command prints a character that steers a terminal or reorders a line, wherever it comes from."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from support.steering import HOSTILE, MS, steering, steering_scenario
from tracekit.characters import escape_json, printable
from tracekit.cli import output
from tracekit.testing import Process, write_export
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

PATH = "evil\x1b]0;owned\x07\x9b2J\u202e"
"""A path can hold escape sequences too, here one that sets the title of the window."""

COMMANDS = ("##[add-mask]0", "::error file=x::y", "a ##[group]b", "\u00a0::stop-commands::z")
"""Names that the runner of GitHub Actions would take for commands."""


def runs(line: str) -> bool:
    """Whether the runner finds a command in a line (actions/runner `ActionCommand.cs`: `TryParseV2`, `TryParse`)."""
    return line.lstrip().startswith("::") or "##[" in line


@pytest.fixture(scope="module")
def commanding(tmp_path_factory, unchanged_folders: set[Path]) -> list[Path]:
    """Two recordings of models with such names; one leaves out a model."""
    paths = []
    for count in (4, 3):
        scenario = Scenario(Process("::notice::App", 412), duration_ns=2_000 * MS)
        for name in COMMANDS[:count]:
            for k in range(30):
                scenario.load(Model(name), (30 + 40 * k) * MS, 20 * MS)
                scenario.predict(Model(name), (52 + 40 * k) * MS, count * MS)
        paths.append(tmp_path_factory.mktemp("commanding") / f"##[debug]{count}")
        write_export(scenario, paths[-1])
        unchanged_folders.add(paths[-1].parent)
    return paths


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze"],
        ["analyze", "-v"],
        ["analyze", "--format", "markdown"],
        ["analyze", "--json"],
        ["analyze", "--model", "::debug::"],
        ["analyze", "gone##[debug]"],
        ["compare"],
        ["compare", "--format", "markdown"],
        ["compare", "--label", "{name}"],
        ["compare", "--format", "csv"],
        ["check", "--format", "github", "--config", "{config}"],
        ["check", "--format", "junit", "--config", "{config}"],
    ],
    ids=" ".join,
)
def test_nothing_of_a_recording_is_a_command_of_the_runner(
    tracekit, commanding: list[Path], tmp_path: Path, monkeypatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    config = tmp_path / "tracekit.toml"
    config.write_text('[check.limits."*"]\np50 = "1us"\n')
    command, *rest = (word.replace("{config}", str(config)) for word in arguments)
    paths = commanding if command == "compare" else commanding[:1]
    more = [] if command == "check" else ["--no-config"]
    result = tracekit(command, *paths, *rest, *more)
    found = [line for line in (result.out + result.err).splitlines() if runs(line)]
    # Its own annotations alone, whose titles hold no colon.
    own = [line for line in found if line.startswith(("::error file=", "::error title=")) and "##[" not in line]
    assert found == own
    assert (len(own) > 0) == ("github" in arguments)
    assert all(":" not in line[2 : line.rindex("::")].replace("%3A", "") for line in own)
    assert "debug" in result.out + result.err or "add-mask" in result.out


def test_json_means_the_same_to_its_reader_in_actions(tracekit, commanding: list[Path], monkeypatch) -> None:
    elsewhere = tracekit("analyze", commanding[0], "--json", "--no-config").out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    inside = tracekit("analyze", commanding[0], "--json", "--no-config").out
    assert COMMANDS[0] in elsewhere
    assert COMMANDS[0] not in inside
    assert json.loads(inside)["models"] == json.loads(elsewhere)["models"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, unchanged_folders: set[Path]) -> Path:
    """A recording full of them and of tabs, at a path full of them."""
    folder = tmp_path_factory.mktemp("hostile") / f"{PATH}\t{HOSTILE}"
    write_export(steering_scenario(f"{HOSTILE}a\tb"), folder)
    unchanged_folders.add(folder.parent)
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze"],
        ["analyze", "--model", HOSTILE + "x"],
        ["analyze", "--budget", f"{HOSTILE}x=3ms"],
        ["analyze", "--process", PATH],
        ["analyze", "--only", PATH],
        ["analyze", "--set", f"{PATH}=1"],
        ["analyze", "--config", PATH],
        ["analyze", "-o", f"{PATH}/x.md"],
        ["analyze", "--debug", "--run", "7"],
        ["analyze", f"--{PATH}"],
        ["explain", "--format", "json", "--no-redact"],
        ["tables"],
        ["export", "--json"],
        ["export", "-o", f"{PATH}/a/b"],
        ["export", "-o", "{tmp}", "--schema", PATH],
    ],
    ids=lambda words: " ".join(map(ascii, words)),
)
def test_no_command_lets_it_through(tracekit, hostile: Path, tmp_path: Path, monkeypatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    command, *rest = (word.replace("{tmp}", str(tmp_path / "out")) for word in arguments)
    result = tracekit(command, hostile, *rest)
    assert result.out or result.err
    assert steering(result.out) == steering(result.err) == set()


@pytest.mark.parametrize(
    "words", [[PATH], ["analyze", f"/nowhere/{PATH}"], ["explain", PATH], ["doctor", "--target", PATH]]
)
def test_nor_does_an_error(tracekit, words: list[str]) -> None:
    result = tracekit(*words)
    assert result.status == 2
    assert steering(result.out + result.err) == set()


def test_json_says_the_same_with_escapes_and_one_line_stays_one(capsys) -> None:
    text = json.dumps({"name": HOSTILE + "\ud800 模型 👩\u200d💻"}, ensure_ascii=False)
    assert json.loads(escape_json(text)) == json.loads(text)
    assert steering(escape_json(text)) == set()
    assert "模型" in escape_json(text)

    assert printable("\x1b[1;31mred\x1b[0m", styled=True) == "\x1b[1;31mred\x1b[0m"
    assert steering(printable("\x1b[1mred\x1b[0m")) == set()
    assert printable("\x1b[2J\x1b]8;;x\x07", styled=True) == "\ufffd[2J\ufffd]8;;x\ufffd"

    output.narrate("tracekit: cannot read a\ntracekit: all is well")
    assert capsys.readouterr().err == "tracekit: cannot read a tracekit: all is well\n"


WRITTEN = (
    "analyze {path} {private} -o {out}/r.md -o {out}/r.txt -o {out}/r.html -o {out}/r.json",
    "analyze {path} {private} --format markdown",
    "analyze {path} {private} -v",
    "compare {path} {path} -o {out}/c.md -o {out}/c.txt -o {out}/c.html -o {out}/c.json",
    "compare {path} {path} --label x -o {out}/m.md -o {out}/m.txt -o {out}/m.html -o {out}/m.csv -o {out}/m.json",
    "compare {path} {path} --label {label} --format csv",
    "check {path} --config {config} -o {out}/k.xml -o {out}/k.md -o {out}/k.txt -o {out}/k.sarif -o {out}/k.json",
    "check {path} --no-config --format github",
    "analyze {path} {private} -o {out}/b.zip",
    "explain {path} {private}",
    "export {path}",
    "export {path} {private} -o {out}/t.json",
)


@pytest.mark.parametrize("command", WRITTEN)
def test_no_format_keeps_controls_bidirectional_characters_or_tabs(
    tracekit, hostile: Path, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    config = tmp_path / "tracekit.toml"
    config.write_text("")
    names = {"path": hostile, "out": out, "config": config, "private": "--no-redact", "label": f"one\t{HOSTILE}"}
    result = tracekit(*(word.format(**names) for word in command.split(" ")))
    texts = {"stdout": result.out, "stderr": result.err}
    for file in out.iterdir():
        if file.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                texts |= {member: archive.read(member).decode() for member in archive.namelist()}
        else:
            texts[file.name] = file.read_text("utf-8")
    assert result.out or len(texts) > 2
    for where, text in texts.items():
        # Lines of CSV end in CR LF.
        assert steering(text.replace("\r\n", "\n")) == set(), where
        assert "\t" not in text, where
