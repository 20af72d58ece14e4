"""What the documents for developers say of the tree is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tracekit.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tracekit"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FILE = re.compile(r"`([\w./-]+(?:\.(?:py|c|json|toml|md|mjs)|/))`")
NAME_OF_FILE = re.compile(r"`([A-Z_]+|_[a-z_]+)`(?: in| of) (?:its )?`([\w./]+\.py)`")
OF_A_PROJECT = {"tracekit.toml", "build/site", "build/site/"}


def folders_of(line: str) -> list[Path]:
    """Where the files may be that a line names: a name without folder is beside one that was named before it."""
    folders = [ROOT, PACKAGE, PACKAGE / "tui"]
    for name in FILE.findall(line):
        path = next((folder / name for folder in reversed(folders) if (folder / name).exists()), None)
        if path is not None:
            folders.append(path if path.is_dir() else path.parent)
    return folders


@pytest.mark.parametrize("page", [ARCHITECTURE, CONTRIBUTING], ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    named = [(name, folders_of(line)) for line in lines for name in FILE.findall(line) if name not in OF_A_PROJECT]
    assert len(named) > 20
    assert [name for name, folders in named if not any((folder / name).exists() for folder in folders)] == []


@pytest.mark.parametrize("page", [ARCHITECTURE, CONTRIBUTING], ids=lambda page: page.name)
def test_every_name_in_a_file_is_there(page: Path) -> None:
    named = [
        (name, file, folders_of(line))
        for line in page.read_text(encoding="utf-8").splitlines()
        for name, file in NAME_OF_FILE.findall(line)
    ]
    assert named
    for name, file, folders in named:
        texts = [(folder / file).read_text(encoding="utf-8") for folder in folders if (folder / file).is_file()]
        assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{name} of {file}"


def test_parts_of_the_package_and_commands_without_settings_are_named() -> None:
    table = ARCHITECTURE.read_text(encoding="utf-8").partition("## Rules")[0]
    named = {name for line in table.splitlines() if line.startswith("| `") for name in FILE.findall(line.split("|")[1])}
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("_")}
    assert folders | modules == named

    said = " ".join((ROOT / "docs" / "configuration.md").read_text(encoding="utf-8").split())
    named = re.findall(r"`(\w+)`", said.partition("All commands but ")[2].partition(" use the file")[0])
    assert named == [each.name for each in COMMANDS if "no-config" not in f"{each.main} {each.more}".split()]


@pytest.mark.parametrize("page", [CONTRIBUTING, *sorted(ROOT.glob("docs/*.md"))], ids=lambda page: page.name)
def test_every_linked_file_exists(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    files = [link for link in links if "://" not in link]
    assert [link for link in files if not (page.parent / link).exists()] == []
