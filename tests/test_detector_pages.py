"""Pages of checks: one beside each rule, none without one, and all in the list of the documentation."""

import json
import runpy
from pathlib import Path

import pytest
import yaml

from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.pages import GENERATED, parse_page
from tracekit.detectors.registry import DETECTORS

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "tracekit" / "detectors"
PAGES = sorted([*(RULES / "rules").glob("*.md"), *(RULES / "model_rules").glob("*.md")])


def test_pages_and_their_list_are_those_of_the_rules():
    assert sorted(path.stem for path in PAGES) == sorted(detector.id for detector in (*DETECTORS, *MODEL_DETECTORS))

    listed = runpy.run_path(str(ROOT / "scripts" / "detector_pages.py"))["listed"]()
    assert (ROOT / "docs" / "detectors" / "README.md").read_text("utf-8") == listed, "run `make docs`"

    generated = runpy.run_path(str(ROOT / "scripts" / "detector_pages.py"))["generated"]()
    assert GENERATED.read_text("utf-8") == generated, "run `make docs`"
    assert list(json.loads(generated)) == [detector.id for detector in (*DETECTORS, *MODEL_DETECTORS)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_front_matter_is_yaml_and_read_the_same(path):
    text = path.read_text("utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    page = parse_page(text)
    assert [page.title, page.finding_title, str(page.pattern), page.why] == [
        front[key] for key in ("title", "finding", "symptom", "why")
    ]
    assert [f"[{each.title}]({each.url})" for each in page.references] == front.get("references", [])
    assert set(front) <= {"title", "finding", "symptom", "why", "references"}
    assert page.description
    assert page.fix


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# A page\n", "unpack"),
        ("words\n---\ntitle: a\n---\n", "does not begin"),
        ("---\ntitle: a\n---\n", "finding"),
        ("---\ntitle: a\nfinding: b\nwhy: c\nsymptom: elsewhere\n---\n", "elsewhere"),
        ("---\n- no link\n---\n", "no link"),
    ],
)
def test_a_text_that_is_no_page_says_why(text, words):
    with pytest.raises((ValueError, KeyError), match=words):
        parse_page(text)
