"""The documentation as a site."""

from __future__ import annotations

import inspect
import json
import logging
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

import tracekit
from tracekit.cli.commands import COMMANDS
from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.registry import DETECTORS
from tracekit.report.serialize import SCHEMAS, schema_text

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "mkdocs.yml"
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "site_pages.py"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    SCRIPT["write"](folder)
    return folder


def in_navigation(entries: list[Any]) -> list[str]:
    """Pages of a part of the navigation, in order."""
    values = [value for entry in entries for value in entry.values()]
    return [page for value in values for page in ([value] if isinstance(value, str) else in_navigation(value))]


def test_every_page_is_in_the_navigation_and_pages_of_checks_are_in_their_list(pages: Path) -> None:
    # Its tag for variables of the environment is no YAML.
    text = re.sub(r"!ENV \[.*, (\w+)\]", r"\1", CONFIG.read_text("utf-8"))
    listed = in_navigation(yaml.safe_load(text)["nav"])
    checks = {f"detectors/{each.id}.md" for each in (*DETECTORS, *MODEL_DETECTORS)}
    written = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == written - checks, "add new pages of docs/ to the navigation of mkdocs.yml"
    assert checks <= written
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (pages / "detectors" / "README.md").read_text("utf-8")))
    assert {f"detectors/{page}" for page in linked} >= checks


def test_the_site_is_built_without_a_broken_link(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SITE_THEME", raising=False)
    with caplog.at_level(logging.WARNING, "mkdocs"):
        build(load_config(str(CONFIG), docs_dir=str(pages), site_dir=str(tmp_path)))
    assert [record.getMessage() for record in caplog.records] == []
    start = (tmp_path / "index.html").read_text("utf-8")
    assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', start) == []


def test_links_out_of_the_site_lead_to_the_repository_and_one_that_leads_nowhere_is_an_error() -> None:
    text = SCRIPT["linked"](
        "[a](../../Makefile) [b](b.md#c) [d](https://e.f)", "docs/x/a.md", "x/a.md", {"docs/x/b.md": "b.md"}
    )
    assert text == f"[a]({SCRIPT['FILES']}Makefile) [b](../b.md#c) [d](https://e.f)"

    with pytest.raises(ValueError, match=r"docs/here.md: no file gone.md"):
        SCRIPT["linked"]("[gone](gone.md)", "docs/here.md", "here.md", {})


def test_every_command_and_public_name_has_its_section(pages: Path) -> None:
    commands = re.findall(r"^## tracekit (.*)", (pages / "command-reference.md").read_text("utf-8"), re.MULTILINE)
    assert commands == [command.name for command in COMMANDS]
    text = (pages / "python-api.md").read_text("utf-8")
    names = re.findall(r"^##+ tracekit\.(\w+)\n\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    public = {name for name in tracekit.__all__ if not name.startswith("_")}
    assert {name for name, _ in names} == public
    for name, said in names:
        first = inspect.cleandoc(getattr(tracekit, name).__doc__).splitlines()[0]
        assert first in said


def test_every_key_of_every_json_schema_is_on_its_page(pages: Path) -> None:
    text = (pages / "json.md").read_text("utf-8")
    for kind in SCHEMAS:
        schema = json.loads(schema_text(kind))
        owners = [schema, *(each for each in schema["$defs"].values() if "properties" in each)]
        for owner in owners:
            rows = [rf"\| `{re.escape(key)}` \| .* \|\n" for key in owner["properties"]]
            assert re.search("".join(rows), text), f"{kind}: {list(owner['properties'])}"
    assert "[JSON Schema](json.md)" in (pages / "report.md").read_text("utf-8").replace("Its JSON", "JSON")


def test_numbers_of_the_validation_page_are_those_of_the_pages_that_it_names() -> None:
    rows = re.findall(
        r"^\|(.*)\| \[.*?\]\((.*?)\) \|$", (ROOT / "docs" / "validation.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) >= 4
    for said, named in rows:
        text = (ROOT / "docs" / named).read_text("utf-8")
        numbers = re.findall(r"\d[\d,.]*\d|\d", said)
        assert numbers
        assert [number for number in numbers if number not in text] == [], named
