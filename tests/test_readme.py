"""The README shows what users see."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tracekit.cli.commands import COMMANDS
from tracekit.cli.dispatch import build_parser
from tracekit.cli.record import request_of

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PROMPT = {"sh": r"^(?:\$ )?tracekit (.*)", "console": r"^\$ tracekit (.*)"}
"""What command lines are, by the kind of block: in a console, all else is output."""


def test_the_screen_in_the_readme_is_what_the_command_prints(update_goldens: bool):
    command, screen = re.search(r"```console\n\$ tracekit (.*)\n((?:.*\n)*?)```", README).groups()
    env = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    printed = subprocess.run(
        [sys.executable, "-m", "tracekit", *command.split()], capture_output=True, cwd=ROOT, env=env, check=True
    ).stdout.decode()
    if update_goldens:
        (ROOT / "README.md").write_text(README.replace(screen, printed), "utf-8")
        return
    assert screen == printed


def test_every_linked_file_exists_and_the_two_commands_stand_at_the_top():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []

    assert README.index("make demo") < README.index("make test") < README.index("$ tracekit")


@pytest.mark.parametrize(("page", "tools"), [("README.md", {"tracekit"}), ("docs/recording.md", {"tracekit", "xcrun"})])
def test_recordings_as_shown_have_what_every_check_needs(page: str, tools: set[str]):
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [
        shlex.split(line, comments=True)
        for line in text.splitlines()
        if re.match(r"(tracekit|xcrun xctrace) record ", line)
    ]
    assert {words[0] for words in lines} == tools
    for line in lines:
        words = request_of(build_parser().parse_args(line[1:])).arguments() if line[0] == "tracekit" else line
        assert words[words.index("--template") + 1] == "Core ML"
        added = {words[at + 1] for at, word in enumerate(words) if word == "--instrument"}
        assert added == {"Hangs", "Thermal State"}


@pytest.mark.parametrize("page", ["README.md", "docs", "sample_traces", "skills"])
def test_every_command_line_that_is_shown_is_one(page: str) -> None:
    pages = [ROOT / page] if page.endswith(".md") else sorted((ROOT / page).rglob("*.md"))
    parser = build_parser()
    for path in pages:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^```(sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        lines = [line for kind, block in blocks for line in re.findall(PROMPT[kind], block, re.MULTILINE)]
        for line in lines:
            words = shlex.split(re.split(r" [>|] ", line)[0], comments=True)
            if words[-1] not in ("--help", "--version"):
                parser.parse_args(words)
        in_text = re.findall(r"`tracekit ([a-z]+)", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
        assert set(in_text) <= {command.name for command in COMMANDS}, path
