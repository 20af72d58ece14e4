"""The pages in `docs/detectors/` are those that the detectors' own metadata make."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BY_HAND = {"accuracy.md"}
"""Written by the labeled suite."""


def test_the_pages_of_the_documentation_are_those_of_the_detectors():
    expected = runpy.run_path(str(ROOT / "scripts" / "detector_pages.py"))["pages"]()
    pages = {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "detectors").glob("*.md")}
    stale = sorted(name for name in {*pages, *expected} - BY_HAND if pages.get(name) != expected.get(name))
    assert not stale, f"run `make docs`; these pages differ from the detectors: {stale}"
