"""Two recordings in numbers: what a row says where there is a ratio, and where there can be none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tracekit.analysis.comparison import Difference, Measure, Presence
from tracekit.analysis.statistics import duration_statistics
from tracekit.comparison.comparison import EnvironmentDifference
from tracekit.render.blocks import Role, Span, plain
from tracekit.tui.detail.columns import column_widths, headings, records_of
from tracekit.tui.detail.compare import ANSWER_COLUMNS, BY_DIFFERENCE, ComparePane, number_columns, ratio_text
from tracekit.tui.state import LATENCY


def statistics(duration: int, count: int):
    if not count:
        return None
    return duration_statistics(np.arange(count) * 10**9, np.full(count, duration))


def difference(before, after, presence=Presence.BOTH) -> Difference:
    return Difference("activity", "Load", "load", "A", "top", False, statistics(*before), statistics(*after), presence)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((1000, 20), (1500, 20), "× 1.50"),
        ((1000, 20), (1500, 9), "≈ 1.50"),
        ((1000, 20), (1, 20), "× < 0.01"),
        ((1000, 20), (9, 9), "≈ < 0.01"),
        ((1000, 20), (10, 20), "× 0.01"),
        ((1, 20), (123_456, 20), "× 123,456"),
        ((0, 20), (5, 20), "from 0"),
        ((5, 20), (0, 20), "to 0"),
        ((0, 20), (0, 20), "–"),
    ],
)
def test_a_ratio_is_never_rounded_to_nothing(before, after, expected):
    assert ratio_text(difference(before, after), Measure.MEAN) == expected


@pytest.mark.parametrize(
    ("before", "after", "measure", "expected"),
    [
        ((1000, 20), (700, 20), Measure.MEAN, "better 0.70"),
        ((1000, 20), (1, 20), Measure.P95, "better < 0.01"),
        ((1000, 20), (1100, 20), Measure.MEAN, "worse 1.10"),
        # Too little, too few, and what is neither good nor bad.
        ((1000, 20), (1040, 20), Measure.MEAN, "× 1.04"),
        ((1000, 20), (700, 9), Measure.MEAN, "≈ 0.70"),
        ((1000, 20), (1000, 40), Measure.COUNT, "× 2.00"),
    ],
)
def test_better_and_worse_are_told_in_words(before, after, measure, expected):
    (ratio,) = [column for column in number_columns(measure) if column.title == "ratio"]
    row = difference(before, after)
    told = {"better": Role.GOOD, "worse": Role.BAD}
    assert ratio.text(row) == Span(expected, told.get(expected.split()[0], Role.PLAIN))


@pytest.mark.parametrize(
    ("before", "after", "presence", "sides", "expected"),
    [
        ((1000, 20), (0, 0), Presence.ONLY_BEFORE, (None, "none"), "gone"),
        ((0, 0), (1000, 20), Presence.ONLY_AFTER, ("none", None), "new"),
        ((1000, 20), (0, 0), Presence.NOT_RECORDED_AFTER, (None, "not recorded"), "–"),
        ((0, 0), (1000, 20), Presence.NOT_RECORDED_BEFORE, ("not recorded", None), "–"),
    ],
)
def test_one_side_alone_is_told_in_words(before, after, presence, sides, expected):
    row = difference(before, after, presence)
    for measure in Measure:
        texts = {column.title: plain(column.text(row)) for column in number_columns(measure)}
        assert texts["ratio"] == expected
        for side, words in zip(("before", "after"), sides, strict=True):
            assert words is None or texts[side] == words


def test_the_ratio_is_the_last_number_to_go():
    rows = [difference((422_260, 20), (1_720, 20))]
    columns = records_of(rows, number_columns(Measure.SUM), BY_DIFFERENCE, "").columns
    for width in range(45, 100):
        shown = [column.title for column, room in zip(columns, column_widths(columns, width), strict=True) if room]
        assert "ratio" in shown
        assert ("lane" not in shown) or ("difference" in shown)


@pytest.mark.parametrize("one_model", [True, False])
def test_the_name_of_the_only_model_goes_before_names_of_events_are_cut(one_model):
    rows = [replace(difference((422_260, 20), (1_720, 20)), label="Neural Engine execution", model="SharpenFilter")]
    columns = records_of(rows, number_columns(Measure.MEAN, one_model=one_model), BY_DIFFERENCE, "").columns
    widths = dict(zip([column.title for column in columns], column_widths(columns, 80), strict=True))
    assert (widths["event"] >= len("Neural Engine execution")) == one_model
    assert (widths["model"] == 0) == one_model
    wide = dict(zip([column.title for column in columns], column_widths(columns, 120), strict=True))
    assert all(wide.values())


def test_the_order_is_told_where_its_column_has_no_room():
    rows = [difference((422_260, 20), (1_720, 20))]
    listed = records_of(rows, number_columns(Measure.SUM), BY_DIFFERENCE, "")
    told = {}
    for width in range(50, 100):
        widths = column_widths(listed.columns, width)
        shown = {
            column.title: title
            for column, title, room in zip(
                listed.columns, headings(listed.columns, listed.sort, widths), widths, strict=True
            )
            if room
        }
        assert [title for title in shown.values() if "▾" in title] == [shown.get("difference", shown["event"])]
        told["difference" in shown] = shown
    assert told[True]["difference"] == "difference▾"
    assert told[True]["event"] == "event"
    assert told[False]["event"] in ("event, by difference▾", "event ▾difference", "by difference▾")


@pytest.mark.parametrize(
    ("width", "descending", "expected"),
    [
        (72, True, "event, by difference▾"),
        (62, True, "event ▾difference"),
        (55, True, "by difference▾"),
        (55, False, "by difference▴"),
    ],
)
def test_a_hidden_order_is_named_as_fully_as_there_is_room(width, descending, expected):
    rows = [difference((422_260, 20), (1_720, 20))]
    listed = records_of(rows, number_columns(Measure.SUM), replace(BY_DIFFERENCE, descending=descending), "")
    widths = column_widths(listed.columns, width, frozenset({"difference", "lane"}))
    assert headings(listed.columns, listed.sort, widths)[0] == expected


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed", size=(112, 40))
async def test_columns_without_room_are_named_where_columns_are_chosen(screen):
    def lines(screen) -> dict[str, str]:
        rows = [line.partition("│")[2].rpartition("│")[0].split() for line in screen.text().splitlines()]
        return {row[2]: " ".join(row) for row in rows if len(row) > 2 and row[1] in ("shown", "hidden")}

    await screen.press("8", "u", "C")
    shown = lines(screen)
    assert list(shown) == ["event", "model", "lane", "before", "after", "difference", "ratio"]
    assert {name for name, line in shown.items() if "does not fit" in line} == {"lane", "difference"}
    # Without the model, there is room for the difference; what is not ticked needs none.
    await screen.press("down", "space")
    shown = lines(screen)
    assert "does not fit" not in shown["difference"]
    assert shown["model"].endswith("hidden model")
    assert "shown event" in shown["event"]
    await screen.press("space")
    assert "does not fit" in lines(screen)["difference"]
    # Nothing is known of room behind the inspector.
    await screen.press("escape")
    await screen.pilot.resize_terminal(100, 40)
    screen.app.change(inspector=True)
    await screen.press("C")
    assert len(lines(screen)) == 7
    assert "does not fit" not in screen.text()
    # The order of a column that is hidden is named.
    await screen.press("escape")
    screen.app.change(inspector=False)
    await screen.pilot.resize_terminal(160, 50)
    await screen.settle()
    assert "difference▾" in screen.text()
    assert "by difference▾" not in screen.text()
    await screen.press("C", *["down"] * 5, "space", "escape")
    assert screen.state.hidden == {("compare", "difference")}
    assert "event, by difference▾" in screen.text()


@pytest.mark.view("sharpen_8bit", "sharpen_float16", size=(180, 50))
async def test_the_answers_are_those_of_the_command(screen):
    await screen.press("8", *["u"] * 4)
    (line,) = [line for line in screen.text().splitlines()[1:] if "improved" in line]
    assert [word in line for word in ("SharpenFilter", "12.4 ms", "8.68 ms", "−30%", "−31% to −29%")] == [True] * 5
    assert "95% interval" in screen.text()
    await screen.press("u")
    assert "u: [findings]" in screen.text()


def test_what_makes_the_answers_unfair_stands_above_them():
    unfair = (EnvironmentDifference("device", "iPhone 14 Pro", "Mac Studio"), EnvironmentDifference("system", "a", "b"))
    state = SimpleNamespace(measure=LATENCY, comparison=SimpleNamespace(unfair=unfair))
    wide, narrow = (ComparePane().heading(state, None, room) for room in (150, 50))
    assert wide.endswith("not a fair comparison: device, system")
    assert narrow == "u: not a fair comparison: device, system"


@pytest.mark.sweep
@pytest.mark.view("sharpen_float16", "sharpen_8bit", size=(180, 50))
async def test_what_only_the_other_recording_has_is_shown_from_there(screen):
    other = screen.state.sessions[1]
    # An answer has the color of better or worse.
    (model,) = screen.state.comparison.models
    told = {column.title: column.text(model) for column in ANSWER_COLUMNS if column.title in ("answer", "change")}
    assert told == {"answer": Span("regressed", Role.BAD), "change": Span("+43%", Role.BAD)}
    await screen.press("8", *["u"] * 5)
    text = screen.text()
    assert "Only in sharpen_8bit.trace; z goes there." in text
    finding = next(check for check in other.report.results if check.outcome == "finding")
    assert finding.summary[:30] in text
    # Nothing of the recording that passed the check.
    assert "severity      high" in text
    await screen.press("z")
    assert screen.state.active == 1
    assert "Only in" not in screen.text()
    await screen.press("z", *["u"] * 4)
    assert "[count]" in screen.text()
    assert "Only in sharpen_8bit.trace" in screen.text()
    assert "Nothing selected" not in screen.text()
    # Its events are listed where they are.
    await screen.press("enter")
    assert screen.state.active == 1
    assert screen.state.pane == "events"
    assert "280 events" in screen.text()
