"""Values on screen."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from tracekit.detectors.outcomes import Metric
from tracekit.report import formatting
from tracekit.trace.trace import Coverage
from tracekit.units import format_error, format_estimate, format_percent, format_time


@pytest.mark.parametrize(
    ("time", "resolution", "text"),
    [
        (0, 1_000_000, "0.000 s"),
        (895_450_000, 1_000_000, "0.895 s"),
        (59_999_999_999, 1_000_000, "59.999 s"),
        (61_000_000_000, 1_000_000, "01:01.000"),
        (895_450_000, 999_999, "0.895 450 s"),
        (12_345_678_901, 1_000, "12.345 678 s"),
        (12_345_678_901, 999, "12.345 678 901 s"),
        (1_112_033_990_000, 10_000, "18:32.033 990"),
        (3_725_000_004_000, 1_000, "1:02:05.000 004"),
        (-895_450_000, 1_000, "-0.895 450 s"),
    ],
)
def test_a_moment_has_the_digits_that_the_resolution_needs(time, resolution, text):
    assert formatting.moment(time, resolution) == text
    if resolution == 1_000_000:
        assert formatting.moment(time) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "ns", "–"),
        (17_170_000, "ns", "17.2 ms"),
        (0.69, "share", "69%"),
        (1295, "count", "1,295"),
        (1.0, "ratio", "1"),
        (0.503, "ratio", "0.5"),
        (2.5, "loads", "2.5 loads"),
        (1234.9, "fps", "1,234 fps"),
        (9.99, "fps", "9.9 fps"),
        (0.999, "fps", "0.99 fps"),
        (0.0347, "fps", "0.034 fps"),
        (0.00001, "fps", "0.000010 fps"),
    ],
)
def test_a_quantity_is_written_in_its_unit(value, unit, text):
    assert formatting.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("ns", "resolution_ns", "text"),
    [
        (16_499_000, 1_000_000, "16 ms"),
        (219_000_667, 1_000_000, "219 ms"),
        (219_000_667, 5_000_000, "220 ms"),
        (3_225_400_000, 1_000_000, "3.23 s"),
        (12_345_600_000, 1_000_000, "12.3 s"),
        (400_000, 1_000_000, "<1 ms"),
        (0, 1_000_000, "0 ms"),
        (16_499_000, 0, "16.5 ms"),
    ],
)
def test_a_duration_has_no_more_digits_than_are_known(ns, resolution_ns, text):
    assert formatting.duration(ns, resolution_ns) == formatting.quantity(ns, "ns", resolution_ns) == text


def test_a_condition_says_on_which_side_the_problem_is():
    assert formatting.condition(Metric("a", "a", 1, "ratio", 0.5, "above")) == "≥ 0.5"
    assert formatting.condition(Metric("a", "a", 1, "share", 0.8, "below")) == "≤ 80%"
    assert formatting.condition(Metric("a", "a", 1, "ratio", None, None)) == ""


def test_lists_read_as_in_a_sentence():
    assert [formatting.word_list(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_nothing_that_steers_a_terminal_stays_visible():
    hostile = "\x1b[31m\x9b2J\u202e\u2066\u200b\ufeff\u00ad\u2028\ud800\ue000\x00\x7f"
    assert set(formatting.visible(hostile)) <= set("[31m2J\ufffd")


def test_line_breaks_become_blanks_unless_the_text_has_several_lines():
    assert formatting.visible("a\r\n\tb") == "a   b"
    assert formatting.visible("a\n  b\x1b", multiline=True) == "a\n  b\ufffd"


def test_joined_emoji_and_other_scripts_stay():
    text = "Ünïcødé 模型 नमस्ते 👩‍💻"
    assert formatting.visible(text) == text


@given(st.text())
def test_visible_text_holds_no_control_and_no_surrogate(text):
    categories = {unicodedata.category(character) for character in formatting.visible(text).replace("\u200d", "")}
    assert categories.isdisjoint({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


@given(st.text(alphabet=st.characters(exclude_categories=["C", "M", "Z"])), st.integers(0, 30))
def test_a_shortened_name_fits_and_keeps_both_ends(text, cells):
    short = formatting.shorten(text, cells)
    assert cell_len(short) <= cells
    if short != text and cells:
        head, _, tail = short.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_name_that_fits_is_not_shortened():
    assert formatting.shorten("Watercolor", 10) == "Watercolor"
    assert formatting.shorten("Watercolors", 10) == "Water…lors"


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "±0 ns"),
        (1_000_000, "±1 ms"),
        (999_875, "±1 ms"),
        (1_432_000, "±1.4 ms"),
        (946_000, "±950 µs"),
        (3e9, "±3 s"),
    ],
)
def test_how_exact_a_time_is_has_two_digits(ns, text):
    assert format_error(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (6_321_000_000, "6.3 s"),
        (506_110_000, "0.51 s"),
        (99_600_000, "0.10 s"),
        (99_000_000, "99 ms"),
        (9_960_000, "10 ms"),
        (1_240_000, "1.2 ms"),
        (350_000, "350 µs"),
        (12_345_000_000, "12 s"),
        (0, "0 ns"),
    ],
)
def test_estimates_have_two_significant_digits(ns, text):
    assert format_estimate(ns) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.29, "29%"), (0.004, "<1%"), (0.0, "0%"), (0.996, ">99%"), (1.0, "100%")]
)
def test_percentages_are_whole_and_never_a_false_none_or_all(share, text):
    assert format_percent(share) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (999.6, "1.00 µs"),
        (12_419_000, "12.4 ms"),
        (99_960_000, "100 ms"),
        (999_600_000, "1.00 s"),
        (590_570_000, "591 ms"),
        (1_470_000_000, "1.47 s"),
        (1_234_567_000_000, "1,235 s"),
    ],
)
def test_sentences_give_times_with_three_digits(ns, text):
    assert format_time(ns) == text


@pytest.mark.parametrize(
    ("state", "conclusion", "words"),
    [
        ("rows", "GPU work of the whole machine.", "recorded"),
        ("empty", "The GPU instrument recorded no events.", "recorded, no events"),
        ("missing", "Hangs were not recorded.", "not recorded"),
        ("missing", "It is unknown whether Hangs were recorded: there is no table of contents.", "unknown"),
        ("unreadable", "Core ML was recorded but not exported.", "not exported"),
        ("unreadable", "Core ML was recorded, but cannot be read: damaged.", "unreadable"),
    ],
)
def test_what_is_unknown_or_not_exported_is_told_from_what_is_not_there(state, conclusion, words):
    entry = Coverage("x", state, ("x",), None, conclusion, "", {})
    assert formatting.coverage_state(entry) == words


def test_a_sentence_becomes_a_clause_and_names_keep_their_capitals():
    assert formatting.clause("The table is empty.") == "the table is empty."
    assert formatting.clause("Core ML was not recorded.") == "Core ML was not recorded."


def test_a_normal_end_is_put_in_words_and_another_one_kept():
    assert formatting.end_reason("User pressed Stop") == "stopped by user"
    assert formatting.end_reason("Device went away") == "Device went away"


@pytest.mark.parametrize(
    ("target", "pid", "suffix"), [("App", 7, " (pid 7)"), ("App", None, ""), ("pid 7", 7, ""), (None, 7, " (pid 7)")]
)
def test_a_pid_stands_once(full, target, pid, suffix):
    assert formatting.pid_suffix(replace(full.recording, target=target, target_pid=pid)) == suffix
