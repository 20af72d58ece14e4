"""Characters of tracks: density, bars, labels, and what is laid over them."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tracekit.lanes.categories import Category
from tracekit.tui.theme import PALETTES
from tracekit.tui.timeline.glyphs import Ink, Overlay, pictures, segments
from tracekit.tui.timeline.tracks import tracks
from tracekit.tui.viewport import Viewport

PALETTE = PALETTES[True]
HUNDRED = Viewport(0, 100)


@pytest.fixture
def drawn(make_events):
    def draw(*rows, view=HUNDRED, columns=10, labels=None, part=0, parts=1):
        events = make_events(*rows, labels=labels)
        return pictures(tracks(events, 4)[0], events.label, view, columns, parts)[part]

    return draw


def text(found) -> str:
    return "".join(found.characters)


def test_blocks_are_as_high_as_the_share(drawn):
    # 5 of 10 ns, then 10 of 10 ns by two, then 1 ns.
    found = drawn((0, 5), (20, 5), (25, 5), (41, 1), columns=10)
    assert text(found) == "▄ █ ▁     "
    assert [code >= 0 for code in found.categories] == [True, False, True, False, True] + [False] * 5


def test_what_is_there_is_never_shown_as_nothing(drawn):
    assert text(drawn((50, 1), view=Viewport(0, 1_000_000), columns=10)) == "▁         "
    assert text(drawn((50, 0), columns=10)) == "     ▁    "


def test_two_lines_show_sixteen_levels(drawn):
    rows = ((0, 3), (10, 8))
    upper = drawn(*rows, part=0, parts=2)
    lower = drawn(*rows, part=1, parts=2)
    # 3/10 of 16 levels is 5; 8/10 is 13: 8 below and 5 above.
    assert (text(upper)[:2], text(lower)[:2]) == (" ▅", "▅█")


def test_the_color_is_that_of_the_category_that_covers_most(drawn):
    found = drawn((0, 3, Category.LOAD), (4, 6, Category.PREDICTION), columns=10)
    assert found.categories[0] == Category.PREDICTION


def test_a_wide_interval_is_a_bar_with_its_label(drawn):
    found = drawn((100, 500), view=Viewport(0, 1_000), columns=20, labels=["Load"])
    assert text(found)[2:12] == " Load     "
    assert found.inks[2:12] == [Ink.LABEL] * 10


def test_a_label_that_does_not_fit_is_cut(drawn):
    found = drawn((100, 300), view=Viewport(0, 1_000), columns=20, labels=["Load (prepare and cache)"])
    assert text(found)[2:8] == " Load…"


def test_wide_characters_keep_the_width(drawn):
    found = drawn((100, 500), view=Viewport(0, 1_000), columns=20, labels=["模型模型模型模型"])
    assert len(found.characters) == 20
    assert cell_len(text(found)) == 20


def test_control_characters_in_labels_do_not_reach_the_screen(drawn):
    assert "\x1b" not in text(drawn((100, 800), view=Viewport(0, 1_000), columns=20, labels=["\x1b[31mred"]))


def test_a_bar_ends_at_an_eighth_of_a_column(drawn):
    # From the middle of column 1 to a quarter into column 4.
    found = drawn((150, 275), view=Viewport(0, 1_000), columns=10)
    assert found.inks[1] is Ink.CUT
    assert text(found)[1] == "▌"
    assert (found.inks[4], text(found)[4]) == (Ink.BLOCK, "▎")


def test_bars_that_touch_are_told_apart(drawn):
    found = drawn((0, 300), (300, 300), view=Viewport(0, 1_000), columns=10)
    assert (found.inks[3], found.characters[3]) == (Ink.CUT, "▏")


def test_a_partly_filled_column_with_several_events_shows_its_share(drawn):
    # Column 1 holds the end of a short event besides the beginning of the bar.
    found = drawn((100, 20), (150, 350), view=Viewport(0, 1_000), columns=10)
    assert (found.inks[1], text(found)[1]) == (Ink.BLOCK, "▆")


def test_overlays_change_colors_and_no_character(drawn):
    found = drawn((100, 500), view=Viewport(0, 1_000), columns=20, labels=["Load"])
    plain = segments(found, PALETTE, Overlay(), monochrome=False)
    over = Overlay(marked=[5 <= c < 8 for c in range(20)], selected=(2, 12), range=(0, 3), cursor=15)
    laid = segments(found, PALETTE, over, monochrome=False)
    assert "".join(s.text for s in plain) == "".join(s.text for s in laid)
    styles = [segment.style for segment in laid for _ in segment.text]
    assert styles[0].bgcolor.name == PALETTE.range
    assert styles[15].bgcolor.name == PALETTE.cursor
    assert styles[4].bgcolor.name == PALETTE.selected
    # Evidence shows without color too.
    assert styles[6].underline
    assert not styles[4].underline


def test_equal_cells_are_one_segment(drawn):
    assert len(segments(drawn((0, 100)), PALETTE, Overlay(), monochrome=False)) == 1


def test_a_bar_of_an_inferred_prediction_is_filled_with_dashes(make_events):
    events = make_events((0, 100, Category.INFERRED), (200, 100, Category.PREDICTION), labels=("Prediction", "Other"))
    shown = pictures(tracks(events, 4)[0], events.label, Viewport(0, 300), 60, 1)[0]
    assert "Prediction" in "".join(shown.characters[:20])
    assert "".join(shown.characters[:19])[12:] == "╌" * 7
    assert "".join(shown.characters[46:59]) == " " * 13


def test_the_ends_of_a_bar_have_its_color_on_both_lines_of_a_track(make_events):
    # It fills a tenth of the column before and a third of the one after its whole ones.
    events = make_events((190, 10 + 300 + 33, Category.LOAD.value))
    (track,) = tracks(events, 1)
    for part in range(2):
        shown = pictures(track, lambda _: "", Viewport(0, 1000), 10, 2)[part]
        drawn = [column for column, character in enumerate(shown.characters) if character != " " or column in (2, 3, 4)]
        assert drawn == [1, 2, 3, 4, 5]
        assert [shown.categories[column] for column in drawn] == [Category.LOAD] * 5
