"""The verdict as text and Markdown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from support.gates import GATE
from tracekit.compare.renderers.gate import COMMENT_BYTES, render_markdown, render_text


def test_the_verdict_is_the_last_line():
    assert (
        render_text(GATE, width=100, color=False).splitlines()[-1]
        == "failed: 2 failed, 1 not enough data, 1 not counted, 1 passed"
    )


@pytest.mark.parametrize("width", [40, 100])
def test_no_line_is_wider_than_the_screen(width):
    assert max(map(cell_len, render_text(GATE, width=width, color=False).splitlines())) <= width


def test_markdown_begins_with_the_verdict():
    assert render_markdown(GATE).startswith(
        "**tracekit check: failed: 2 failed, 1 not enough data, 1 not counted, 1 passed**\n"
    )


@pytest.mark.parametrize("limit", [COMMENT_BYTES, 900_000])
def test_markdown_is_cut_by_whole_items_and_says_how_many_are_missing(limit):
    many = replace(GATE, items=GATE.items[:1] * 20_000 + GATE.items[-1:])
    text = render_markdown(many, limit)
    assert limit - 4_000 < len(text.encode()) <= limit
    rows = text.count("| failed |")
    assert f"{20_001 - rows:,} more items left out" in text
    assert "| passed |" not in text
