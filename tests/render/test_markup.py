"""Markup in which every text stays text, and the little Markdown of fixes."""

import pytest
from lxml import html

from tracekit.render.markup import Html, join, tag
from tracekit.render.prose import html_of, sentence

HOSTILE = "</p><script>x</script> \" onclick='y' & <img src=x>"


def test_a_text_stays_text_wherever_it_is_put():
    element = html.fromstring(tag("p", HOSTILE, title=HOSTILE))
    assert element.text_content() == HOSTILE
    assert dict(element.attrib) == {"title": HOSTILE}
    assert not len(element)


def test_finished_markup_is_not_escaped_again():
    assert tag("p", tag("b", "a<b"), " & ") == "<p><b>a&lt;b</b> &amp; </p>"
    assert isinstance(join([Html("<i>"), "<"]), Html)


def test_attributes_are_left_out_without_a_value_and_kept_at_zero():
    assert tag("td", class_=None, hidden=False, open=True, data_v=0, x=0.126) == '<td open data-v="0" x="0.13"></td>'


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("Use `a<b`, *now*.", "Use <code>a&lt;b</code>, <em>now</em>."),
        ("2 * 3 * 4 and a ` alone", "2 * 3 * 4 and a ` alone"),
        ("<b>", "&lt;b&gt;"),
        ("Record with --no-run Hangs, a--b.", 'Record with <span class="option">--no-run</span> Hangs, a--b.'),
        ("slower (--model A)", 'slower (<span class="option">--model</span> A)'),
        ("`a.b(to:c:)` in `/x/y.z-w:1`", "<code>a.<wbr>b(<wbr>to:<wbr>c:)</code> in <code>/x/y.<wbr>z-w:<wbr>1</code>"),
    ],
)
def test_sentences_mark_code_and_emphasis_and_nothing_else(text, markup):
    assert sentence(text) == markup


def test_fixes_have_paragraphs_lists_and_code():
    source = "One line.\n\n1. first\n2. second\n   goes on\n\n```swift\nlet a = b<C>()\n\n`x`\n```\nEnd"
    page = html.fromstring(f"<div>{html_of(source)}</div>")
    assert [child.tag for child in page] == ["p", "ol", "pre", "p"]
    texts = [child.text_content().replace("\n", " ").strip() for child in page if child.tag != "pre"]
    assert texts == ["One line.", "first second goes on", "End"]
    assert page.find("pre").text_content() == "let a = b<C>()\n\n`x`"
    assert html_of("`load(contentsOf:x)`") == "<p><code>load(<wbr>contentsOf:<wbr>x)</code></p>\n"
