"""Which lane stands on which line, at all heights."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.choice import sweep_rest
from tracekit.lanes.lanes import Grouping
from tracekit.tui.timeline.layout import HEADER, Line, ScreenLine, arrange
from tracekit.tui.timeline.tracks import timeline_lanes
from tracekit.tui.timeline.widget import Timeline

COLUMNS = 63
"""Of time on a terminal of 80 columns."""


@pytest.fixture(params=list(Grouping))
def lanes(request, reload_trace):
    return timeline_lanes(reload_trace, request.param)


@pytest.mark.parametrize("height", [2, 5, 8, 11, 16, 22, 40, 80])
def test_every_line_is_used_once_and_scrolling_reaches_every_lane(lanes, height):
    rows = [len(lane.tracks) for lane in lanes]
    seen: set[int] = set()
    last = arrange(lanes, rows, height, COLUMNS, 0).last_top
    for top in range(last + 1):
        found = arrange(lanes, rows, height, COLUMNS, top)
        assert len(found.lines) == height
        assert [line.line for line in found.lines[:2]] == [Line.MINIMAP, Line.RULER]
        tracks = [(line.lanes, line.track, line.part) for line in found.lines if line.line is Line.TRACK]
        assert len(set(tracks)) == len(tracks)
        seen |= {lane for line in found.lines for lane in line.lanes}
    if height > 5:
        assert seen == set(range(len(lanes)))


def test_a_high_timeline_shows_all_lanes_at_once_with_pinned_ones_below_the_others(lanes):
    found = arrange(lanes, [len(lane.tracks) for lane in lanes], 80, COLUMNS, 0, strips=1)
    assert found.last_top == 0
    lines = [line for line in found.lines if line.line is not Line.BLANK]
    # No line is left blank between lanes.
    assert found.lines[: len(lines)] == tuple(lines)
    assert lines[-1].line is Line.IN_FLIGHT
    pinned = [line for line in lines if line.lanes and lanes[line.lanes[0]].pinned]
    assert lines[-len(pinned) - 1 : -1] == pinned
    # Those without rows share the last line.
    silent = [place for place, lane in enumerate(lanes) if lane.events is None]
    assert {place for line in found.lines if line.line is Line.WORDS for place in line.lanes} == set(silent)
    assert all(len(line.lanes) <= 1 for line in found.lines if line.line is not Line.WORDS)


def test_tracks_take_two_lines_where_there_is_room(lanes):
    rows = [len(lane.tracks) for lane in lanes]

    def parts(height: int, *, pinned: bool) -> set[int]:
        tracks = [line for line in arrange(lanes, rows, height, COLUMNS, 0).lines if line.line is Line.TRACK]
        return {line.parts for line in tracks if lanes[line.lanes[0]].pinned is pinned}

    assert parts(80, pinned=False) == parts(80, pinned=True) == {2}
    assert parts(12, pinned=False) == parts(12, pinned=True) == {1}
    assert {line.parts for line in arrange(lanes, rows, 80, COLUMNS, 0, tall={}).lines} == {1}
    # The others come first.
    doubled = [height for height in range(12, 80) if parts(height, pinned=False) == {2}]
    assert parts(doubled[0], pinned=True) == {1}


@pytest.mark.parametrize("height", [8, 16, 22, 40])
def test_pinned_lanes_stay_where_they_are_when_the_view_changes(lanes, height):
    rows = [len(lane.tracks) for lane in lanes]

    def pinned(reached: list[range]) -> list[tuple[int, ScreenLine]]:
        lines = arrange(lanes, rows, height, COLUMNS, 0, reached=reached, strips=3).lines
        return [(at, line) for at, line in enumerate(lines) if any(lanes[lane].pinned for lane in line.lanes)]

    assert pinned([range(count) for count in rows]) == pinned([range(0) for _ in rows])


@pytest.mark.parametrize("height", [5, 8, 11, 16, 22, 80])
def test_the_outer_lines_tell_how_many_rows_are_out_of_sight(lanes, height):
    rows = [len(lane.tracks) for lane in lanes]
    top = arrange(lanes, rows, height, COLUMNS, 0)
    all_lines = list(
        dict.fromkeys(
            (line.lanes, line.track, line.part)
            for first in range(top.last_top + 1)
            for line in arrange(lanes, rows, height, COLUMNS, first).lines[2 : 2 + top.visible]
            if line.lanes
        )
    )
    for first in range(top.last_top + 1):
        found = arrange(lanes, rows, height, COLUMNS, first)
        scrolled = found.lines[2 : 2 + found.visible]
        assert all(not line.above for line in scrolled[1:])
        assert all(not line.below for line in scrolled[:-1])
        # Each line that is out of sight counts, but for headings.
        lines = [line for line in scrolled if line.lanes]
        assert scrolled[0].above == all_lines.index((lines[0].lanes, lines[0].track, lines[0].part))
        to_come = [
            arrange(lanes, rows, height, COLUMNS, at + 1).lines[1 + found.visible] for at in range(first, top.last_top)
        ]
        assert scrolled[-1].below == sum(line.line is not Line.HEADING for line in to_come)


@pytest.mark.parametrize("height", [5, 6, 7, 8, 10, 12, 14])
def test_reasons_stay_in_sight_while_lanes_scroll(lanes, height):
    silent = {place for place, lane in enumerate(lanes) if lane.pinned and lane.events is None}
    # Thermal State and Hangs are not recorded, GPU State is empty.
    assert [lanes[place].title for place in sorted(silent)][-3:] == ["Thermal", "GPU clock", "Hangs"]
    rows = [len(lane.tracks) for lane in lanes]
    for top in range(arrange(lanes, rows, height, COLUMNS, 0).last_top + 1):
        lines = [line for line in arrange(lanes, rows, height, COLUMNS, top).lines if line.line is not Line.BLANK]
        assert {place for line in lines if line.line is Line.WORDS for place in line.lanes} >= silent
        assert lines[-1].line is Line.WORDS


def test_reasons_take_the_lines_that_pinned_lanes_with_rows_leave(reload_trace):
    lanes = [
        replace(lane, words=f"why {'x' * 40} {number}") if lane.events is None else lane
        for number, lane in enumerate(timeline_lanes(reload_trace, Grouping.EVENTS))
    ]
    rows = [len(lane.tracks) for lane in lanes]
    silent = [lane for lane in lanes if lane.events is None]
    assert len(silent) == 3
    pinned = sum(lane.pinned and lane.events is not None for lane in lanes)

    def told(height: int) -> list[str]:
        lines = arrange(lanes, rows, height, COLUMNS, 0).lines
        return [line.text for line in lines if line.line is Line.WORDS]

    # Each of the other lanes has a line. Three reasons of 55 cells each take three lines.
    others = [lane for lane in lanes if not lane.pinned and lane.events is not None]
    enough = len(HEADER) + len(others) + len({lane.section for lane in others}) + pinned + 3
    assert " ".join(told(enough)) == "; ".join(f"{lane.title}: {lane.words}" for lane in silent)
    assert len(told(enough)) == 3
    assert " ".join(told(enough - 1)) == "; ".join([*(f"{lane.title}: {lane.words}" for lane in silent[:2]), "1 more"])
    assert len(told(enough - 2)) == 1


def test_a_track_with_nothing_in_view_makes_way_where_there_is_little_room(reload_trace):
    lanes = timeline_lanes(reload_trace, Grouping.LANES)
    rows = [len(lane.tracks) for lane in lanes]
    # Only the first track of each lane has anything in view.
    reached = [[0] if count else [] for count in rows]
    low = arrange(lanes, rows, 10, COLUMNS, 0, reached=reached)
    assert max(rows) > 1
    assert all(line.track == 0 for line in low.lines)
    high = arrange(lanes, rows, 80, COLUMNS, 0, reached=reached)
    assert max(line.track for line in high.lines) == max(rows) - 1


@pytest.mark.parametrize(("height", "count"), [(9, 0), (10, 1), (12, 2), (20, 3), (40, 5)])
def test_strips_stand_below_all_lanes(lanes, height, count):
    rows = [len(lane.tracks) for lane in lanes]
    found = arrange(lanes, rows, height, 200, 0, strips=3)
    strips = [line.line for line in found.lines if line.line in (Line.IN_FLIGHT, Line.LATENCY)]
    assert strips == [Line.IN_FLIGHT, *[Line.LATENCY] * 4][:count]
    lines = [line.line for line in found.lines if line.line is not Line.BLANK]
    assert lines[len(lines) - count :] == strips


def test_rows_of_a_lane_are_joined_where_another_lane_would_be_out_of_sight(reload_trace):
    lanes = timeline_lanes(reload_trace, Grouping.LANES)
    free = [at for at, lane in enumerate(lanes) if not lane.pinned and lane.events is not None]
    assert [lanes[at].title for at in free] == ["Activity", "Data", "Compute"]
    rows = [3 if at == free[0] else 2 if at == free[1] else 1 for at in range(len(lanes))]
    # Five lines below the header: three for these lanes, two for the pinned ones.
    low = arrange(lanes, rows, 7, COLUMNS, 0)
    assert [line.lanes for line in low.lines[2:5]] == [(at,) for at in free]
    assert low.joined == {free[0]: 1, free[1]: 1}
    # With a line more the lane with the last rows left to give keeps them.
    kept = arrange(lanes, rows, 10, COLUMNS, 0)
    assert kept.joined == {free[0]: 2, free[1]: 1}
    # What the user expanded stays so.
    assert free[0] not in arrange(lanes, rows, 7, COLUMNS, 0, expanded=free[:1]).joined
    assert arrange(lanes, rows, 80, COLUMNS, 0).joined == {}


def test_rows_of_a_pinned_lane_are_joined_in_a_low_timeline(reload_trace):
    lanes = timeline_lanes(reload_trace, Grouping.LANES)
    (pinned,) = [at for at, lane in enumerate(lanes) if lane.title == "Neural Engine"]
    rows = [3 if at == pinned else len(lane.tracks) for at, lane in enumerate(lanes)]
    assert arrange(lanes, rows, 10, COLUMNS, 0).joined[pinned] == 1
    # None is hidden where the others have nothing in view.
    reached = [[0] if at == pinned else list(range(count)) for at, count in enumerate(rows)]
    assert pinned not in arrange(lanes, rows, 10, COLUMNS, 0, reached=reached).joined
    assert pinned not in arrange(lanes, rows, 80, COLUMNS, 0).joined


def with_long_reasons(lanes, cells: int):
    return [replace(lane, words="x" * cells) if lane.events is None else lane for lane in lanes]


def test_rows_are_joined_so_that_reasons_and_the_first_strip_have_room(reload_trace):
    lanes = timeline_lanes(reload_trace, Grouping.LANES)
    rows = [2 if lane.title == "Data" else min(len(lane.tracks), 1) for lane in lanes]
    tracks, silent = sum(rows), [lane for lane in lanes if lane.events is None]
    # The rows, two lines of reasons, one strip: one line more than there is.
    lanes = [
        replace(lane, title="x", words=f"{at} {'x' * 20}") if lane in silent else lane for at, lane in enumerate(lanes)
    ]
    height = len(HEADER) + tracks + 2
    found = arrange(lanes, rows, height, COLUMNS, 0, strips=3)
    assert found.lines[-1].line is Line.IN_FLIGHT
    assert [lanes[at].title for at in found.joined] == ["Data"]
    reasons = [line.text for line in found.lines if line.line is Line.WORDS]
    assert len(reasons) == 2
    assert "more" not in " ".join(reasons)


def test_the_first_strip_stays_and_the_others_make_way_for_reasons(lanes):
    rows = [len(lane.tracks) for lane in lanes]
    seen = set()
    for words in (5, 40, 80, 200):
        for height in range(10, 30):
            lines = arrange(with_long_reasons(lanes, words), rows, height, COLUMNS, 0, strips=3).lines
            latency = [line for line in lines if line.line is Line.LATENCY]
            assert Line.IN_FLIGHT in [line.line for line in lines]
            # All parts of the strip are there, or none.
            assert [(line.part, line.parts) for line in latency] == [(at, len(latency)) for at in range(len(latency))]
            seen.add(len(latency))
    assert {0, 1, 2} <= seen <= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("height", [9, 12, 16])
def test_the_heading_of_what_is_first_in_sight_stands_above_it(reload_trace, height):
    lanes = timeline_lanes(reload_trace, Grouping.MODELS)
    rows = [len(lane.tracks) for lane in lanes]
    top = arrange(lanes, rows, height, COLUMNS, 0)
    assert top.last_top > 5
    for first in range(top.last_top + 1):
        found = arrange(lanes, rows, height, COLUMNS, first)
        heading, row, *_ = found.lines[2:]
        assert heading.line is Line.HEADING or lanes[heading.lanes[0]].pinned
        if heading.line is Line.HEADING and row.line is Line.TRACK and not lanes[row.lanes[0]].pinned:
            assert heading.text == lanes[row.lanes[0]].section
    # The lane that the cursor comes to from below is in sight, not behind the heading.
    for lane, first in top.first_of_lane.items():
        shown = arrange(lanes, rows, height, COLUMNS, first).lines
        assert (lane,) in [line.lanes for line in shown] or lanes[lane].events is None


def arranged(screen):
    return screen.app.browse.query_one(Timeline).renderer.arrangement.lines


@pytest.mark.parametrize("name", sweep_rest("local_chat", "sharpen_8bit", "album_memory"))
def test_the_name_of_a_lane_stands_beside_its_first_bars(run_view, samples, name):
    async def test(screen) -> None:
        lanes = timeline_lanes(screen.state.session.trace, Grouping.LANES)
        titles = [lane.title for lane in lanes if lane.events is not None]
        for size in ((120, 40), (120, 45), (200, 60)):
            await screen.pilot.resize_terminal(*size)
            await screen.settle()
            lines = [line for line in screen.text().splitlines() if line[1:24].strip() in titles]
            assert [line[1:24].strip() for line in lines] == titles
            assert all(line[24:].strip() for line in lines)
            tracks = [line for line in arranged(screen) if line.line is Line.TRACK]
            # More than one line only where more than one is drawn.
            for line in tracks:
                of_track = [other for other in tracks if (other.lanes, other.track) == (line.lanes, line.track)]
                rows = [screen.text().splitlines()[1 + arranged(screen).index(other)][24:] for other in of_track]
                assert all(row.strip() for row in rows)

    run_view(test, samples / f"{name}.trace", size=(120, 40))


@pytest.mark.view("captions_concurrent", size=(200, 60))
async def test_a_high_terminal_gives_the_lanes_its_room(screen):
    shown = [line for line in arranged(screen) if line.lanes and line.line is Line.TRACK]
    activity = shown[0].lanes
    # Up to 8 predictions are in flight.
    assert {line.track for line in shown if line.lanes == activity} == set(range(8))
    assert len(arranged(screen)) >= 30
    # Where the view is moved, nothing else moves.
    await screen.press("w", "w", "w")
    zoomed = [(line.lanes, line.track, line.part) for line in arranged(screen)]
    for key in "dddda":
        await screen.press(key)
        assert [(line.lanes, line.track, line.part) for line in arranged(screen)] == zoomed
