"""Comparisons as they are printed."""

from dataclasses import replace

import numpy as np
import pytest
from lxml import html
from rich.cells import cell_len

from support.synthetic_measurements import model, of_models, recording
from tracekit.comparison import words
from tracekit.comparison.comparison import compare
from tracekit.comparison.models import Presence
from tracekit.comparison.words import percent_change
from tracekit.documents.comparison import comparison_document, parts
from tracekit.render.forms import render


def text_of(comparison, width=100):
    return render(comparison_document(comparison), "text", width=width)


def markdown_of(comparison):
    return render(comparison_document(comparison), "markdown", width=100)


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


def test_the_verdict_is_first_and_says_what_improved(measured):
    text = text_of(compare([measured("sharpen_8bit")], [measured("sharpen_float16")]))
    assert text.splitlines()[0] == "improved: SharpenFilter −30% · 2 findings fixed"
    assert "SharpenFilter  improved by 30%" in text
    assert "data −3.61 ms" in text
    assert "cause: fixed: excess-data-copies, float-conversion; data −3.61 ms," in " ".join(text.split())
    unknown = "one recording per side; not recorded: thermal state, low power mode"
    assert unknown in " ".join(text.split())


def test_a_part_that_changed_much_but_little_of_the_whole_says_why_it_is_unchanged(measured):
    text = markdown_of(compare([measured("sharpen_8bit")], [measured("sharpen_float16")]))
    assert "| queued, mean | unchanged | 620 µs | 464 µs | 0.75 |" in text
    note = text.partition("All figures of SharpenFilter")[2].partition("| figure |")[0]
    assert (
        "parts (mean): unchanged where little for the whole prediction, however much it is for the part" in note.lower()
    )


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_verdict_cause_and_certainty_take_four_lines(measured, pair):
    lines = text_of(compare([measured(pair[0])], [measured(pair[1])]), 100).splitlines()
    assert next(at for at, line in enumerate(lines) if line.startswith("before:")) <= 4


def test_loads_of_all_models_are_added_up(measured):
    pair = compare([measured("style_transfer_reload")], [measured("style_transfer_fixed")])
    text = text_of(pair)
    assert "all models  loads 373 → 5, load time 6.41 → 0.085 s" in text
    # The time of all loads and predictions, 9.1 to 2.8 s, as the WWDC22 session has it.
    first = "Core ML time 9.09 → 2.77 s (−70%): loads 373 → 5 · 1 finding fixed · latency of all 5 models unchanged"
    assert " ".join(text.split()).startswith(first)
    assert text.count("  unchanged within ±5%  ") == 5


@pytest.mark.parametrize(("side", "words"), [(0, "before"), (1, "after")])
def test_the_side_in_which_core_ml_recorded_nothing_is_named(measured, side, words):
    sides = [[measured("sharpen_8bit")], [measured("sharpen_float16")]]
    sides[side] = [replace(sides[side][0], core_ml=False)]
    assert f"Core ML recorded no events {words};" in " ".join(text_of(compare(*sides)).split())


def test_what_got_worse_stands_before_what_is_as_it_was(measured):
    text = markdown_of(compare([measured("style_transfer_fixed")], [measured("style_transfer_reload")]))
    worst = "1 new finding (critical): reload-before-predict (5 models), est. savings 6.3 s"
    last = "Core ML time 2.77 → 9.09 s (+228%): loads 5 → 373 · latency of all 5 models unchanged within ±5%"
    assert text.startswith(f"**{worst} · {last}**\n")


@pytest.mark.turns(5)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_line_is_wider_than_the_screen(measured, pair, width):
    text = text_of(compare([measured(pair[0])], [measured(pair[1])]), width)
    assert max(map(cell_len, text.splitlines())) <= width


def test_a_slower_tail_is_in_the_summary_even_if_the_median_is_unchanged():
    values = np.full(400, 10_000_000)
    slow = values.copy()
    slow[::10] *= 2
    comparison = compare([of_models(model("Net", values))], [of_models(model("Net", slow))])
    text = text_of(comparison)
    assert text.splitlines()[0] == "regressed: Net p95 +100%"
    assert "p95   regressed by 100%, 10.0 → 20.0 ms" in text
    assert "p95: regressed by 100%" in markdown_of(comparison)


def test_without_a_common_model_the_summary_says_so(measured):
    comparison = compare([measured("sharpen_8bit")], [measured("style_transfer_fixed")])
    assert markdown_of(comparison).startswith("**no model in common · 2 findings not comparable**")


def test_a_model_of_which_all_predictions_were_compared_is_marked_beside_others(measured):
    reload, fixed = measured("style_transfer_reload"), measured("style_transfer_fixed")
    # A model with many warm predictions beside one without.
    mixed = [replace(side, models=(side.models[0], measured("sharpen_8bit").models[0])) for side in (reload, fixed)]
    text = text_of(compare(mixed[:1], mixed[1:]), 120)
    (line,) = [line for line in text.splitlines() if "also those after a load" in line and "from" in line]
    assert f"{reload.models[0].predictions} and" in line


def test_of_many_recordings_the_first_are_named():
    sides = [[recording(seed) for seed in range(first, first + 100)] for first in (0, 100)]
    text = text_of(compare(*sides))
    assert text.splitlines()[2] == "before:    run 0, run 1, run 2, run 3, run 4, run 5 and 94 more"


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_form_says_the_same_of_a_model_and_a_finding(measured, pair):
    comparison = compare([measured(pair[0])], [measured(pair[1])])
    page = " ".join(html.fromstring(render(comparison_document(comparison), "html", width=0)).text_content().split())
    forms = [" ".join(form.split()) for form in (text_of(comparison, 200), markdown_of(comparison), page)]
    for one in comparison.models:
        if one.presence is Presence.BOTH:
            said = (words.answer(one.latency), words.sample_counts(one.latency), parts(one))
            assert all(part in form for part in said for form in forms)
    assert all(note in form for note in comparison.notes for form in forms)
    assert all(change.id in form for change in comparison.findings for form in forms)
