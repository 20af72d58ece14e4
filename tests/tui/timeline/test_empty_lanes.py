"""Reasons of lanes that show nothing: their words, and the lines that they share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from support.choice import sweep_rest
from tracekit.lanes.lanes import Reason
from tracekit.tui.timeline.layout import Line, reasons, whole_words
from tracekit.tui.timeline.widget import Timeline

SILENT = (
    ("GPU · Core ML", Reason.NO_MODEL),
    ("MPS", Reason.EMPTY),
    ("Thermal", Reason.ABSENT),
    ("GPU clock", Reason.EMPTY),
    ("Hangs", Reason.ABSENT),
)


def test_lanes_of_one_reason_stand_together():
    told = (
        "GPU · Core ML: no rows attributed to a model; MPS, GPU clock: recorded, no events; "
        "Thermal, Hangs: not recorded"
    )
    assert reasons(SILENT, len(told), 1) == (told,)


def test_lines_break_between_reasons_where_that_takes_no_more_of_them():
    assert reasons(SILENT, 66, 2) == (
        "GPU · Core ML: no rows attributed to a model;",
        "MPS, GPU clock: recorded, no events; Thermal, Hangs: not recorded",
    )
    assert reasons(SILENT, 61, 2) == (
        "GPU · Core ML: no rows attributed to a model; MPS, GPU clock:",
        "recorded, no events; Thermal, Hangs: not recorded",
    )


def test_what_has_no_room_is_counted_and_no_reason_is_cut():
    assert reasons(SILENT, 63, 1) == ("GPU · Core ML: no rows attributed to a model; 4 more",)
    assert reasons(SILENT, 20, 1) == ("5 lanes",)


@settings(deadline=None)
@given(st.lists(st.sampled_from(Reason), min_size=1, max_size=9), st.integers(24, 200), st.integers(1, 6))
def test_reasons_fit_and_name_every_lane_or_count_it(words, columns, most):
    lanes = [(f"Lane {number}", word) for number, word in enumerate(words)]
    lines = reasons(lanes, columns, most)
    assert len(lines) <= most
    assert all(cell_len(line) <= columns for line in lines)
    told = " ".join(lines)
    named = [(title, why) for title, why in lanes if f"{title}," in told or f"{title}:" in told]
    counted = [int(part.split()[0]) for part in told.split("; ") if part.endswith((" more", " lanes"))]
    assert len(named) + sum(counted) == len(lanes)
    for _, why in named:
        assert f": {why}" in told


@pytest.mark.parametrize(("cells", "text"), [(22, "no events in this lane"), (21, "no events in this …"), (9, "no …")])
def test_a_text_is_cut_behind_a_word(cells, text):
    assert whole_words(Reason.OTHER_LANES, cells) == text


@pytest.mark.parametrize(
    ("names", "size"),
    sweep_rest(
        ("captions_concurrent", (80, 24)),
        ("not_instrumented", (80, 24)),
        ("captions_concurrent sharpen_8bit", (120, 40)),
        ("not_instrumented sharpen_8bit", (120, 40)),
        ("sharpen_8bit sharpen_float16", (130, 38)),
    ),
)
def test_every_lane_without_rows_says_why(names, size, run_view, samples):
    async def test(screen) -> None:
        lines = [line[24 if size[0] >= 100 else 17 :] for line in screen.text().splitlines()]
        told = " ".join(lines)
        assert told.count("GPU · Core ML: no rows attributed to a model;") == len(screen.state.sessions)
        assert told.count("MPS, GPU clock: recorded, no events;") == len(screen.state.sessions)
        assert told.count("Thermal, Hangs: not recorded") == len(screen.state.sessions)

    run_view(test, *(samples / f"{name}.trace" for name in names.split()), size=size)


@pytest.mark.view("sharpen_8bit", "sharpen_float16", size=(130, 38))
async def test_two_recordings_show_all_lanes_with_rows_at_130_by_38(screen):
    for timeline in screen.app.browse.query(Timeline):
        renderer = timeline.renderer
        drawn = {line.lanes[0] for line in renderer.arrangement.lines if line.line is Line.TRACK}
        assert drawn == {at for at, lane in enumerate(renderer.lanes.lanes) if lane.events is not None}


def test_the_page_tells_every_reason():
    page = " ".join((Path(__file__).parents[3] / "docs" / "view.md").read_text("utf-8").split())
    assert [reason for reason in Reason if f"| {reason} |" not in page] == []


@pytest.mark.view("captions_concurrent", size=(80, 24))
async def test_lanes_keep_their_name_when_their_first_rows_are_scrolled_away(screen):
    # An expanded lane keeps all its rows.
    await screen.press("x")
    renderer = screen.app.browse.query_one("#timeline-0").renderer
    for first in range(renderer.arrangement.last_top + 1):
        renderer.scroll(-100)
        renderer.scroll(first)
        line = renderer.arrangement.lines[2]
        lane = renderer.lanes.lanes[line.lanes[0]]
        assert renderer.line(2)[0].text[1:].startswith(f"{lane.title} "), first
    # Rows of the expanded Activity, of which the first two can be scrolled away.
    assert renderer.arrangement.last_top >= 2
