"""Characters of tracks where there are no colors."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.lanes.categories import Category
from tracekit.tui.theme import PALETTES
from tracekit.tui.timeline.glyphs import LITTLE, Overlay, fade_letters, letters_of_track, segments
from tracekit.tui.timeline.tracks import edges, passing_track, tracks
from tracekit.tui.viewport import Viewport, column_of

THOUSAND = Viewport(0, 1_000)
"""Fifty ns for each of 20 columns."""
P, L = Category.PREDICTION, Category.LOAD


@pytest.fixture
def drawn(make_events):
    def draw(*rows, view=THOUSAND, columns=20, labels=None, keep=None):
        events = make_events(*rows, labels=labels)
        (track,) = tracks(events, 4)
        if keep is None:
            return letters_of_track(track, track, events.label, view, columns)
        chosen = passing_track(events, track, np.array(keep))
        faded = letters_of_track(track, track, lambda _: "", view, columns)
        return fade_letters(faded, letters_of_track(chosen, track, events.label, view, columns))

    return draw


def text(found) -> str:
    return "".join(found.characters)


def test_a_block_has_brackets_its_letter_and_its_label(drawn):
    assert text(drawn((100, 600, P), labels=["Hi"])) == "  [HiPPPPPPPP]      "
    assert text(drawn((100, 600, P))) == "  [PPPPPPPPPP]      "
    assert text(drawn((100, 250, P), labels=["Prediction"])) == "  [Pr…]" + " " * 13


def test_a_block_is_one_where_it_fills_its_outer_columns_in_part(drawn):
    # From 0.8 of column 1 to 0.2 of column 5, of 50 ns each.
    assert text(drawn((90, 170, P))) == " [PPP]" + " " * 14
    # One whole column, and a little of both beside it.
    assert text(drawn((90, 80, P))) == " [P]" + " " * 16


def test_the_column_between_two_blocks_goes_to_the_one_that_covers_more_of_it(drawn):
    # Column 5 is 250 to 300.
    assert text(drawn((0, 260, P), (260, 240, P))) == "[PPP][PPP]" + " " * 10
    assert text(drawn((0, 290, P), (290, 210, P))) == "[PPPP][PP]" + " " * 10
    assert text(drawn((0, 275, P), (275, 225, L))) == "[PPPP][LL]" + " " * 10


def test_narrow_intervals_keep_a_column_that_they_cover_more_of(drawn):
    # In column 2 the load is on for 30 of 50 ns, the prediction for 10; then the other way round.
    assert text(drawn((100, 30, L), (140, 160, P))) == "  L[P]" + " " * 14
    assert text(drawn((100, 10, L), (120, 180, P))) == "  [PP]" + " " * 14


def test_blocks_in_two_columns_are_told_apart_too(drawn):
    assert text(drawn((100, 100, P), (300, 100, P))) == "  PP  PP" + " " * 12
    assert text(drawn((100, 100, P), (200, 100, P), (300, 100, L))) == "  PP[P[L" + " " * 12
    assert text(drawn((100, 200, P), (300, 100, P), (400, 150, P))) == "  [PP][P[P]" + " " * 9


def test_what_goes_on_out_of_view_has_no_end_there(drawn):
    view = Viewport(100, 1_000)
    assert text(drawn((0, 300, P), (950, 500, L), view=view)) == "PPP]" + " " * 13 + "[LL"
    assert text(drawn((0, 2_000, P), view=view)) == "P" * 20


def test_narrow_intervals_have_their_letter_or_the_sign_for_little(drawn):
    # 20, 16 and 0 of 50 ns.
    assert text(drawn((0, 20, L), (100, 16, L), (200, 0, L), (300, 25, P))) == "L : : P" + " " * 13
    assert LITTLE not in {category.letter for category in Category}


def test_the_letter_is_that_of_the_narrow_category_that_covers_most(drawn):
    # Of column 1 the end of the block covers 20, two loads 15 each.
    assert text(drawn((0, 70, P), (70, 15, L), (85, 15, L))) == "PL" + " " * 18


def test_a_filter_changes_no_end_and_leaves_brackets_and_dots(drawn):
    rows = ((0, 290, L), (290, 310, P), (650, 10, P), (700, 20, L), (800, 100, L))
    assert text(drawn(*rows)) == "[LLLL][PPPP] :L LL  "
    assert text(drawn(*rows, keep=[False, True, False, False, False])) == "[····][PPPP] ·· ··  "
    assert text(drawn(*rows, keep=[True, False, True, True, False])) == "[LLLL][····] :L ··  "
    # The neighbor covers less of the column between them, and does not get it where only that passes.
    rows = ((0, 260, L), (260, 340, P))
    assert text(drawn(*rows, keep=[True, False])) == "[LLL][·····]        "
    assert text(drawn(*rows, keep=[False, True])) == "[···][PPPPP]        "


def test_the_selected_block_is_reversed_and_nothing_else(drawn):
    found = drawn((0, 290, P), (290, 310, P))
    assert found.blocks == {0: (0, 6), 1: (6, 12)}
    shown = segments(
        found, PALETTES[True], Overlay(selected=found.blocks[1], range=(0, 20), cursor=15), monochrome=True
    )
    cells = [bool(segment.style.reverse) for segment in shown for _ in segment.text]
    assert cells == [False] * 6 + [True] * 6 + [False] * 8


def test_an_inferred_call_has_a_mark_instead_of_a_letter(drawn):
    assert text(drawn((0, 250, Category.INFERRED), (500, 250, P))) == "[~~~]     [PPP]     "


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 200)), min_size=1, max_size=20), st.integers(5, 60))
def test_wide_intervals_are_blocks_in_columns_of_their_own_and_nothing_is_left_out(make_events, pieces, columns):
    rows, at = [], 0
    for gap, length in pieces:
        rows.append((at + gap, length, P))
        # An instant has a ns of its own.
        at += gap + max(length, 1)
    view = Viewport(0, max(at, columns))
    (track,) = tracks(make_events(*rows), 4)
    found = letters_of_track(track, track, lambda _: "", view, columns)
    bounds = edges(view, columns).tolist()
    spans = sorted(found.blocks.values())
    assert all(after <= first for (_, after), (first, _) in pairwise(spans))
    assert set(text(found)) <= set("P[]: ")
    for place, (start, length, _) in enumerate(rows):
        whole = [low for low, high in pairwise(bounds) if start <= low and high <= start + length]
        if whole:
            first, after = found.blocks[place]
            assert bounds[first] <= whole[0]
            assert bounds[after - 1] >= whole[-1]
            # Of each column that it takes it covers some.
            assert bounds[first + 1] > start
            assert bounds[after - 1] < start + length
            if after - first >= 3:
                assert text(found)[first:after] == f"[{'P' * (after - first - 2)}]"
        assert text(found)[column_of(view, columns, start)] != " "


@pytest.mark.sweep
def test_on_screen_the_selected_block_is_reversed_from_bracket_to_bracket(run_view, reload_sample, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def test(screen) -> None:
        renderer = screen.app.browse.query_one("#timeline-0").renderer
        await screen.press("n", "f", *"sss")
        for _ in range(5):
            await screen.press("n")
            block = "".join(segment.text for segment in renderer.line(2)[1:] if segment.style.reverse)
            assert re.fullmatch(r"\[[LP].*\]", block)

    run_view(test, reload_sample)


@pytest.mark.sweep
def test_the_part_in_view_has_both_brackets_however_small(run_view, reload_sample, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def test(screen) -> None:
        for place in ("home", "end"):
            await screen.press(*["s"] * 12)
            if place == "end":
                await screen.press("g")
                await screen.answer("16.48")
            for _ in range(12):
                await screen.press("w")
                line = screen.text().splitlines()[1]
                assert (line.count("["), line.count("]")) == (1, 1)
                assert line.index("[") < line.index("]")

    run_view(test, reload_sample)


def test_what_passes_a_filter_on_a_row_that_overlaps_is_no_dots(make_events):
    """Three intervals share the only row; only the first passes, and nothing overlaps it any more."""
    events = make_events((100, 500), (150, 600), (200, 300))
    (row,) = tracks(events, 1)
    chosen = passing_track(events, row, np.array([True, False, False]))
    view = Viewport(0, 1000)
    own = letters_of_track(chosen, row, str, view, 40)
    # 25 ns a column: 100 to 600 ns are columns 4 to 23.
    assert [place for place, one in enumerate(own.characters) if one != " "] == list(range(4, 24))
