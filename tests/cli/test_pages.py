"""What pages show of the command line is what it prints."""

from __future__ import annotations

import difflib
import re
import shlex
from pathlib import Path

import pytest

from support.models import needs_coremltools
from tests.cli.conftest import Tracekit

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = (
    "tutorial.md",
    "lanes.md",
    "cookbook.md",
    "troubleshooting.md",
    "ci.md",
    "sql.md",
    "compare.md",
    "frames.md",
    "stacks.md",
    "where-it-ran.md",
    pytest.param("inspect.md", marks=needs_coremltools),
)


def shown(page: Path) -> list[tuple[str, str]]:
    """Each command line of a page in order, and what is shown below it; `...` there stands for any lines."""
    blocks = "".join(BLOCK.findall(page.read_text("utf-8")))
    parts = (part.partition("\n") for part in re.split(r"^\$ ", blocks, flags=re.MULTILINE)[1:])
    return [(line, output) for line, _, output in parts]


def updated(output: str, printed: str) -> str:
    """The same lines as they are printed now: what follows `...` is looked for, and what follows a line is the next."""
    lines, kept, is_next = printed.splitlines(), [], True
    for line in output.splitlines():
        if line != "...":
            found = lines[:1] if is_next or line in lines else difflib.get_close_matches(line, lines, 1)
            at = lines.index(line if line in lines and not is_next else found[0])
            kept.append(lines[at])
            del lines[: at + 1]
        else:
            kept.append(line)
        is_next = line != "..."
    return "".join(f"{line}\n" for line in kept)


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(
    tracekit: Tracekit,
    unchanged_folders: set[Path],
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    update_goldens: bool,
) -> None:
    # A checkout, as readers have it.
    (tmp_path / ".git").mkdir()
    for name in ("sample_traces", "sample_models"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    unchanged_folders.add(Path("sample_traces"))
    path = ROOT / "docs" / page
    lines = shown(path)
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
        if update_goldens:
            text = path.read_text("utf-8")
            path.write_text(text.replace(f"$ {line}\n{output}", f"$ {line}\n{updated(output, result.out)}"), "utf-8")
            continue
        pattern = re.escape(output).replace(
            r"\.\.\.\
",
            "(?:.*\n)*?",
        )
        assert re.fullmatch(pattern, result.out), f"{line}\n{result.out}"


def test_the_readme_runs_as_written(
    tracekit: Tracekit,
    unchanged_folders: set[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "sample_traces").symlink_to(ROOT / "sample_traces")
    (tmp_path / "sample_models").symlink_to(ROOT / "sample_models")
    monkeypatch.chdir(tmp_path)
    unchanged_folders.add(Path("sample_traces"))
    blocks = "".join(
        re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    )
    run = []
    for line in re.findall(r"^tracekit (.*)", blocks, re.MULTILINE):
        words = shlex.split(line, comments=True)
        # A Mac and a terminal are needed for these; test_readme.py reads them.
        if words[0] in ("record", "view") or "--target" in words:
            continue
        said = re.search(r"# exit status (\d)", line)
        assert tracekit(*words).status == (int(said[1]) if said else 0), line
        run.append(words[0])
    assert {"analyze", "why", "fix", "compare", "check", "inspect", "sql"} == set(run)
    assert Path("report.html").exists()


def test_numbers_that_the_tutorial_speaks_of_are_in_what_it_shows() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    spoken = re.findall(r"\d[\d.,]* (?:ms|s)\b|\d+%", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    printed = "".join(BLOCK.findall(text))
    assert spoken
    assert [number for number in spoken if number not in printed] == []
