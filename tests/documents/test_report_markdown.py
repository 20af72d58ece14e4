"""The report in an issue."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from support.choice import sweep_rest
from support.forms import markdown
from tracekit.characters import map_strings
from tracekit.render.markdown import code, escape, sentence

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

JOINER = "\u2060"
"""Breaks links and mentions, and has no width."""


def tokens(text: str) -> list[Token]:
    """All tokens, those inside lines too."""
    return [inner for token in PARSER.parse(text) for inner in (token, *(token.children or ()))]


def shape(text: str) -> list[str]:
    """The document's structure: every token but words and code inside a line."""
    words = {"text", "text_special", "code_inline"}
    return [token.type for token in tokens(text) if token.type not in words]


def test_the_order_is_that_of_the_screen_and_the_rest_is_folded(full):
    text = markdown(full)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert [line.split(":")[0] for line in headings[:2]] == ["### Critical", "### Low"]
    assert headings[2:] == ["### Models", "### Not evaluated (1 check for some models)"]
    # What is open at first fits on a screen.
    opened = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert len([line for line in opened.splitlines() if line]) <= 45
    assert "coreml-os-signpost" not in opened
    assert "```" not in opened


def test_a_count_that_is_not_known_is_no_zero(full):
    unknown = replace(full.models[0], loads=None, load=None)
    text = markdown(replace(full, models=(unknown, *full.models[1:])))
    assert "| Watercolor | – |" in text.partition("<summary>Latency</summary>")[2].partition("</details>")[0]


def test_few_intervals_are_listed_of_each_of_several_models(full):
    part = markdown(full).partition("<summary>Evidence (444 intervals)</summary>")[2].partition("</details>")[0]
    assert part.count("`Watercolor`") == part.count("`Mosaic`") == 1


@pytest.mark.parametrize("report", sweep_rest("hostile", "full", "clean", "not_judged", "failed", "hundred"))
def test_folded_parts_are_the_only_html_in_it(report, request):
    for token in tokens(markdown(request.getfixturevalue(report))):
        assert token.type != "html_inline"
        if token.type == "html_block":
            assert token.content.startswith(("<details>\n<summary>", "</details>"))


def test_hostile_names_do_not_change_the_document(hostile):
    harmless = map_strings(hostile, lambda _, text: "harmless" if "\x1b" in text else text)
    summary = replace(harmless.summary, verdict=hostile.summary.verdict)
    assert shape(markdown(hostile)) == shape(markdown(replace(harmless, summary=summary)))


def test_names_stay_readable(hostile):
    text = "".join(token.content for token in tokens(markdown(hostile)) if token.type in {"text", "code_inline"})
    assert "[bold]b[/bold] a¦b `c` <img src=x> [l](http://e)" in text


def test_nothing_links_or_mentions(hostile):
    assert "@you" not in escape("@you")
    assert "http://" not in escape("http://e")
    assert "#12" not in escape("see #12")
    assert "www." not in escape("www.example.com")


@pytest.mark.sweep
def test_the_document_stays_below_what_an_issue_takes(many):
    assert len(markdown(many)) < 65_536


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z"]), min_size=1))
def test_any_name_is_one_piece_of_code(name):
    inline = PARSER.parseInline(code(name))[0].children or []
    assert [(token.type, token.content) for token in inline] == [("code_inline", name.replace("|", "¦"))]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="a1 `*_[]()<>|~$&\\#@:/!-+.=\"'", min_size=1))
def test_any_sentence_is_plain_text(text):
    inline = PARSER.parseInline(f"x {escape(text)} x")[0].children or []
    assert {token.type for token in inline} <= {"text", "text_special"}
    assert "".join(token.content for token in inline).replace(JOINER, "") == f"x {text} x"


def test_commands_in_sentences_are_code_and_can_be_copied():
    assert sentence("Run `x '/run[@n=\"1\"]'` *now*") == "Run `x '/run[@n=\"1\"]'` \\*now\\*"


def test_a_command_in_the_coverage_is_code(full):
    entry = replace(full.coverage[0], advice="Run `xcrun xctrace export --xpath '/a[@b=\"1\"]'`.")
    assert " Run `xcrun xctrace export --xpath '/a[@b=\"1\"]'`. |" in markdown(replace(full, coverage=(entry,)))


@given(st.text(alphabet="a1 `*_[]()<>|\\#@:/.", min_size=1))
def test_a_sentence_holds_text_and_code_only(text):
    inline = PARSER.parseInline(f"x {sentence(text)} x")[0].children or []
    assert {token.type for token in inline} <= {"text", "text_special", "code_inline"}


@given(st.text(alphabet="a|`\\ ", min_size=1))
def test_any_text_stays_in_its_cell(text):
    table = f"| a | b |\n| :-- | :-- |\n| {escape(text)} | {code(text)} |"
    cells = [token for token in PARSER.parse(table) if token.type == "td_open"]
    assert len(cells) == 2
