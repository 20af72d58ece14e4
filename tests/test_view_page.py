"""`docs/view.md` and its pictures."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from lxml import etree

from tracekit.trace.events import Kind
from tracekit.tui.app import ACTIONS
from tracekit.tui.keys import key_signs

ROOT = Path(__file__).resolve().parents[1]
SVG = "{http://www.w3.org/2000/svg}"


def script() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "view_page.py"))


def test_the_page_lists_every_key_and_kind_once() -> None:
    text = (ROOT / "docs" / "view.md").read_text("utf-8")
    assert text == script()["page"](text), "run `make pictures`: keys have changed"
    rows = [line for line in text.partition("## Keys")[2].splitlines() if line.startswith("| `")]
    assert len(rows) == len(ACTIONS)
    for action in ACTIONS:
        keys = " ".join(f"`{sign}`" for sign in key_signs(action).split("  "))
        assert sum(row.startswith(f"| {keys} | {action.help.removesuffix('.')}") for row in rows) == 1, action.id

    text = (ROOT / "docs" / "view.md").read_text("utf-8")
    section = " ".join(text.partition("## Filter\n")[2].partition("\n## ")[0].split())
    listed = section.partition("The kinds are ")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", listed) == list(Kind)


def test_every_picture_is_on_the_page_and_there() -> None:
    names = ("view.md", "runtimes.md", "language-models.md", "memory.md")
    pages = "".join((ROOT / "docs" / name).read_text("utf-8") for name in names)
    shown = re.findall(r"\(pictures/(.+?)\.svg\)", pages)
    assert sorted(shown) == sorted(script()["PICTURES"])
    assert {path.stem for path in (ROOT / "docs" / "pictures").glob("*.svg")} == {*shown, "why"}
    assert "(pictures/why.svg)" in (ROOT / "docs" / "why.md").read_text("utf-8")
    assert "(docs/pictures/report.png)" in (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    # Width and height: the first screen.
    head = (ROOT / "docs" / "pictures" / "report.png").read_bytes()[:24]
    assert (head[:8], head[16:24]) == (b"\x89PNG\r\n\x1a\n", (1280).to_bytes(4, "big") + (800).to_bytes(4, "big"))


def test_a_picture_of_a_text_is_what_would_be_printed_now() -> None:
    picture = script()["why_picture"]()
    assert (ROOT / "docs" / "pictures" / "why.svg").read_text("utf-8") == picture, "run `make pictures`"


@pytest.mark.parametrize("name", script()["PICTURES"])
def test_a_picture_is_the_one_that_would_be_taken_now(name: str) -> None:
    assert (ROOT / "docs" / "pictures" / f"{name}.svg").read_text("utf-8") == script()["picture"](name), (
        "run `make pictures` and look at it"
    )


def test_a_picture_shows_the_screen_and_asks_for_nothing_from_elsewhere() -> None:
    svg = (ROOT / "docs" / "pictures" / "predictions.svg").read_text("utf-8")
    texts = [
        "".join(text.itertext()).replace("\xa0", " ") for text in etree.fromstring(svg.encode()).iter(f"{SVG}text")
    ]
    assert "Neural Engine" in texts
    assert not [text for text in texts if text != text.strip()]
    assert "url(http" not in svg
    assert "@font-face" not in svg
    assert re.findall(r"https?://[^\"<\s]+", svg) == ["http://www.w3.org/2000/svg", "https://www.textualize.io"]


def test_a_word_of_a_picture_stands_where_it_stood() -> None:
    words = script()["_TEXT"].sub(
        script()["_words"],
        '<text class="t-r1" x="12.2" y="44.4" textLength="122" clip-path="url(#t-line-1)">'
        "&#160;a&#160;b&#160;&#160;&amp;c&#160;&#160;</text>",
    )
    matches = re.findall(r'x="([\d.]+)" y="44.4" textLength="([\d.]+)" [^>]*>([^<]*)<', words)
    # Ten cells of 12.2: the words stand on the second and the seventh.
    assert matches == [("24.4", "36.6", "a&#160;b"), ("85.4", "24.4", "&amp;c")]
