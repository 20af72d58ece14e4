"""The verdict as text, Markdown, JUnit and workflow commands."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from rich.cells import cell_len

from tracekit.compare.gate import Gate, Item, Verdict
from tracekit.compare.limits import Limit
from tracekit.compare.renderers.gate import render_junit, render_markdown, render_text, workflow_commands

LIMIT = Limit("Net*", "p50", 1e7)
GATE = Gate(
    Verdict.FAILED,
    (
        Item(Verdict.FAILED, "p50", "Net", "12.00 ms, allowed: at most 10.00 ms", LIMIT),
        Item(Verdict.NOT_ENOUGH_DATA, "cold-load", "Net", "no cold load was recorded", LIMIT),
        Item(Verdict.PASSED, "copies", "Net", "2, allowed: at most 2", LIMIT),
    ),
    None,
)


def hostile(text):
    return Gate(Verdict.FAILED, (Item(Verdict.FAILED, "p50", text, text, LIMIT),), None)


def test_the_verdict_is_the_last_line():
    assert render_text(GATE, width=100, color=False).splitlines()[-1] == "failed: 1 failed, 1 not enough data, 1 passed"


@pytest.mark.parametrize("width", [40, 100])
def test_no_line_is_wider_than_the_screen(width):
    assert max(map(cell_len, render_text(GATE, width=width, color=False).splitlines())) <= width


def test_markdown_begins_with_the_verdict():
    assert render_markdown(GATE).startswith("**tracekit check: failed: 1 failed, 1 not enough data, 1 passed**\n")


def test_junit_tells_failures_from_what_could_not_be_judged():
    suite = ET.fromstring(render_junit(GATE, "run"))  # noqa: S314 - our own text
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [child.tag for case in suite for child in case] == ["failure", "error", "system-out"]


def test_junit_holds_any_name():
    suite = ET.fromstring(render_junit(hostile('a\x00\x1b]<&"\ud800'), "run"))  # noqa: S314 - our own text
    assert suite[0].get("classname").startswith("a\ufffd\ufffd]<&")


def test_annotations_stand_at_the_line_of_the_limit():
    lines = workflow_commands(GATE, "tracekit.toml", lambda _: 7).splitlines()
    assert lines == [
        "::error file=tracekit.toml,line=7,title=Net p50::12.00 ms, allowed: at most 10.00 ms",
        "::warning file=tracekit.toml,line=7,title=Net cold-load::no cold load was recorded",
    ]


def test_no_name_ends_a_workflow_command():
    text = workflow_commands(hostile("a\n::error::b,c:d%"), "tracekit.toml", lambda _: 1)
    assert text.count("\n") == 1
    assert "%25" in text


def test_at_most_ten_annotations_of_a_level():
    many = Gate(Verdict.FAILED, GATE.items[:1] * 30, None)
    lines = workflow_commands(many, None, lambda _: 1).splitlines()
    assert len(lines) == 10
    assert lines[-1].endswith("and 21 more items")
