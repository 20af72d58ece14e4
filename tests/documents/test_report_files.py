"""Every format shows which model files were used, and what they say; names in them stay text."""

from dataclasses import replace

import pytest

from support.forms import html_page, long_text, markdown, short_text
from tracekit.report.report import ModelFact, ModelFileInfo, ModelFileResult, Rule

SUMMARY = "ML program · 1.00 MB · specification 7 (iOS 16, macOS 13 or later)"


@pytest.fixture
def report(full):
    rule = Rule("flexible-shapes", "", "", "", "", "", ())
    result = ModelFileResult("flexible-shapes", "finding", "Segmenter", "Ranges.", "", "", rule)
    used = ModelFileInfo(
        model="Segmenter",
        source="<b>Seg_v2_.mlpackage\x1b[31m",
        match="as given",
        problem="",
        summary=SUMMARY,
        systems="",
        loads=True,
        interface="Converted: input `x` (Float32 to Float16).",
        compression=(),
        facts=(ModelFact("input", "<i>x</i>\x1b, Float32, 1 × 4"), ModelFact("weights", "18.4 KB")),
        results=(result,),
    )
    unused = ModelFileInfo(
        None, "Other.mlmodel", None, "Not used: no model has its name.", "", "", None, "", None, (), ()
    )
    return replace(full, model_files=(used, unused))


RENDERERS = {"concise": short_text, "text": long_text, "markdown": markdown, "html": html_page}


@pytest.mark.parametrize("name", RENDERERS)
def test_the_used_file_is_shown_with_what_it_says(name, report):
    text = RENDERERS[name](report)
    words = " ".join(text.split())
    assert "model files" in words.lower()
    assert SUMMARY in words
    assert "(Float32 to Float16)" in words
    assert "Also found in the file: flexible-shapes; tracekit inspect says more." in words
    # Those that are not used are noted, and the notes are the recording's.
    assert "Other.mlmodel" not in text
    assert "\x1b" not in text
    assert ("<b>Seg" in text) == (name in ("concise", "text"))


def test_the_page_has_a_card_with_the_facts(report):
    page = html_page(report)
    assert "<dt>input</dt><dd>&lt;i&gt;x&lt;/i&gt;" in page
    assert "Float32, 1 × 4</dd>" in page
    assert "<dt>weights</dt><dd>18.4\xa0KB</dd>" in page


@pytest.mark.parametrize("name", RENDERERS)
def test_without_files_nothing_is_said_of_them(name, full):
    assert "model files" not in RENDERERS[name](full).lower()
