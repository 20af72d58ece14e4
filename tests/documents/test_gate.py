"""The verdict as text and Markdown."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from support.gates import GATE
from tracekit.comparison.verdict import Verdict
from tracekit.documents.gate import gate_document
from tracekit.render.forms import render
from tracekit.render.markdown import markdown_of

VERDICT = "tracekit check: 2 failed, 1 inconclusive, 1 not counted, 1 passed"


def test_the_verdict_is_the_first_line():
    assert render(gate_document(GATE), "text", width=100).splitlines()[0] == VERDICT


def test_a_build_that_failed_says_where_to_read_on():
    said = "tracekit analyze RECORDING  ·  tracekit why RECORDING"
    assert render(gate_document(GATE), "text", width=200).splitlines()[-1] == f"next: {said}"
    assert "tracekit why RECORDING`" in markdown_of(gate_document(GATE))
    assert "RECORDING" not in markdown_of(gate_document(replace(GATE, verdict=Verdict.PASSED)))


@pytest.mark.parametrize("width", [40, 100])
def test_no_line_is_wider_than_the_screen(width):
    assert max(map(cell_len, render(gate_document(GATE), "text", width=width).splitlines())) <= width


def test_markdown_begins_with_the_verdict():
    assert markdown_of(gate_document(GATE)).startswith(f"**{VERDICT}**\n")


def test_markdown_is_cut_by_whole_items_and_says_how_many_are_missing():
    many = replace(GATE, items=GATE.items[:1] * 500 + GATE.items[-1:])
    text = markdown_of(gate_document(many), max_bytes=20_000)
    assert 16_000 < len(text.encode()) <= 20_000
    rows = text.count("| failed |")
    assert f"{501 - rows:,} more in the JSON report" in text
    assert "| passed |" not in text
