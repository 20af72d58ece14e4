"""Comparisons as they are printed."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tracekit.compare.comparison import compare
from tracekit.compare.renderers.markdown import render_markdown
from tracekit.compare.renderers.text import render_comparison
from tracekit.compare.renderers.words import percent_change

PAIRS = [
    ("style_transfer_reload", "style_transfer_fixed"),
    ("sharpen_8bit", "sharpen_float16"),
    ("sharpen_8bit", "style_transfer_fixed"),
    ("not_instrumented", "sharpen_8bit"),
]


@pytest.mark.parametrize(
    ("ratio", "words"), [(1.1, "+10%"), (0.9, "−10%"), (1.004, "+0.4%"), (1.0001, "0.0%"), (None, "–")]
)
def test_changes_have_a_sign_unless_they_are_zero(ratio, words):
    assert percent_change(ratio) == words


def test_the_summary_is_last_and_says_what_improved(measured):
    text = render_comparison(compare([measured("sharpen_8bit")], [measured("sharpen_float16")]), width=100, color=False)
    assert text.splitlines()[-1] == "improved: SharpenFilter −30% · 2 findings fixed"
    assert "SharpenFilter  improved by 30%" in text
    assert "data −3.61 ms" in text


def test_loads_of_all_models_are_added_up(measured):
    pair = compare([measured("style_transfer_reload")], [measured("style_transfer_fixed")])
    text = render_comparison(pair, width=100, color=False)
    assert "all models  loads 373 → 5, load time 6.41 s →" in text
    assert text.splitlines()[-1] == "5 models unchanged · 1 finding fixed"


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_line_is_wider_than_the_screen(measured, pair, width):
    text = render_comparison(compare([measured(pair[0])], [measured(pair[1])]), width=width, color=False)
    assert max(map(cell_len, text.splitlines())) <= width


def test_what_one_pair_cannot_see_is_always_said(measured):
    for pair in PAIRS:
        comparison = compare([measured(pair[0])], [measured(pair[1])])
        assert "One recording each" in render_comparison(comparison, width=100, color=False)
        assert "One recording each" in render_markdown(comparison)


def test_markdown_begins_with_the_summary(measured):
    text = render_markdown(compare([measured("sharpen_8bit")], [measured("sharpen_float16")]))
    assert text.startswith("**improved: SharpenFilter −30% · 2 findings fixed**\n")
    assert "| SharpenFilter | improved | 12.44 ms → 8.68 ms | −30% |" in text
