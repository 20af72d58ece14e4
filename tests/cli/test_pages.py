"""What pages show of the command line is what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.conftest import Tracekit

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = ("tutorial.md", "lanes.md", "cookbook.md", "troubleshooting.md")


def shown(page: Path) -> list[tuple[str, str]]:
    """Each command line of a page in order, and what is shown below it; `...` there stands for any lines."""
    blocks = "".join(BLOCK.findall(page.read_text("utf-8")))
    return [
        (line, output) for line, _, output in (each.partition("\n") for each in re.split(r"^\$ ", blocks, flags=re.MULTILINE)[1:])
    ]


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(
    tracekit: Tracekit, unchanged_folders: set[Path], page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_traces").symlink_to(ROOT / "sample_traces")
    monkeypatch.chdir(tmp_path)
    unchanged_folders.add(Path("sample_traces"))
    lines = shown(ROOT / "docs" / page)
    assert lines
    status = 0
    for line, output in lines:
        if line == "echo $?":
            assert output.strip() == str(status), line
            continue
        program, *words = shlex.split(line)
        assert program == "tracekit"
        result = tracekit(*words)
        status = result.status
        assert status != 2, f"{line}: {result.err}"
        pattern = re.escape(output).replace(r"\.\.\.\n", "(?:.*\n)*?")
        assert re.fullmatch(pattern, result.out), f"{line}\n{result.out}"
