"""The README shows what users see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_screen_in_the_readme_is_what_the_command_prints():
    command, screen = re.search(r"```console\n\$ tracekit (.*)\n((?:.*\n)*?)```", README).groups()
    env = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    printed = subprocess.run(
        [sys.executable, "-m", "tracekit", *command.split()], capture_output=True, cwd=ROOT, env=env, check=True
    ).stdout.decode()
    assert screen == printed


def test_every_linked_file_exists():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_two_commands_stand_at_the_top():
    assert README.index("make demo") < README.index("make test") < README.index("$ tracekit")
