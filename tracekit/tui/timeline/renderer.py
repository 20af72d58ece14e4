"""Draws the lines of a timeline from a state, and finds what lies under a cell. Knows no widget.

Nothing is worked out per event here: each line costs a few searches for each of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from rich.cells import set_cell_size
from rich.segment import Segment

from tracekit.arrays import IntArray
from tracekit.intervals import CoveredTime, Intervals
from tracekit.lanes.lanes import PIPELINES
from tracekit.report.formatting import visible
from tracekit.tui.state import State
from tracekit.tui.theme import PALETTES, Palette, style
from tracekit.tui.timeline.glyphs import Overlay, Picture, fade, fade_letters, letters_of_track, pictures, segments
from tracekit.tui.timeline.header import TimelineStyle, beyond, columns_seen, minimap, overview, time_axis
from tracekit.tui.timeline.layout import MAX_STRIPS, STRIPS_FROM, Arrangement, Line, ScreenLine, arrange, whole_words
from tracekit.tui.timeline.strips import PredictionsOverTime, blocks, predictions_over_time
from tracekit.tui.timeline.tracks import (
    DEPTH_LIMIT,
    EXPANDED_LIMIT,
    FEW_EVENTS,
    ROOMY,
    ROOMY_LIMIT,
    FilterMask,
    Lanes,
    TimelineLane,
    Track,
    edges,
    hit,
    tracks,
)
from tracekit.tui.viewport import clamp, column_of, time_of

NARROW = 100
"""Width below which titles of lanes get less room."""
_GUTTERS = (17, 24)


@dataclass(frozen=True, slots=True)
class Spot:
    """What lies under a cell."""

    line: Line
    column: int
    """Column of time; negative in the titles."""
    lane: TimelineLane | None = None
    event: int | None = None
    """Position in the events of the lane."""


class Renderer:
    """Lines of one timeline of a given size. Pictures are kept as long as view and size stay."""

    def __init__(self, *, monochrome: bool) -> None:
        self._monochrome = monochrome
        self._leads = True
        self.has_keys = True
        """Whether keys move the cursor of the lanes."""
        self.lanes = Lanes(())
        self._state: State | None = None
        self._width, self._height = 0, 0
        self._palette: Palette = PALETTES[True]
        self._tracks: dict[tuple[str, int], tuple[Track, ...]] = {}
        """Of expanded lanes and of joined ones, by the most rows that they may have."""
        self._joined: dict[str, int] = {}
        """Lanes with fewer rows than usual, and how many they have."""
        self._shares: dict[tuple[Track, int], float] = {}
        """By the number of columns: the largest share of one in a picture of the whole recording."""
        self._marks: dict[tuple[Track, int | None], CoveredTime | None] = {}
        """By the prediction that is explained."""
        self._overview = overview(self.lanes)
        self._pictures: dict[tuple[Track, int, tuple[int, ...]], tuple[Picture, ...]] = {}
        """By their number, and what a prediction waited for."""
        self._values: dict[tuple[Line, str | None], IntArray] = {}
        """What strips show, by model."""
        self.together: Sequence[Renderer] = (self,)
        """Of all recordings on screen: their strips have one scale."""
        self._pictured: object = None
        """The view of which pictures and values are kept."""
        self.model: str | None = None
        """That the strips are about; None for all."""
        self._filter_mask: FilterMask | None = None
        self.arrangement = Arrangement((), 0, 0, 0, {}, {})
        self.most_lines, self.wanted_lines = 0, 0
        """Lines that the timeline may take, and those that it takes of them: none is blank below all others."""

    def show(self, state: State, lanes: Lanes, palette: Palette, *, leads: bool) -> None:
        """Take over what to draw, from a state in which the recording that is drawn is the active one.

        `leads`: whether it is so in the app, too. The lane with the cursor is brought into sight where it changed.
        """
        self._leads = leads
        follow = self._state is None or (self._state.lane, self._state.grouping) != (state.lane, state.grouping)
        if lanes is not self.lanes:
            self.lanes, self._overview, self._pictured = lanes, overview(lanes), None
            self._tracks.clear()
            self._marks.clear()
            self._shares.clear()
            self.wanted_lines = 0
        self._state, self._palette = state, palette
        self._arrange(self.arrangement.top, follow=follow)

    def set_filter_mask(self, what: FilterMask | None) -> None:
        """Fade all else, or nothing any more."""
        self._filter_mask, self._pictured = what, None

    def resize(self, width: int, height: int) -> None:
        """Take over the size in cells; until a state for it is shown, draw a part that gives each column its time."""
        if width != self._width:
            self.wanted_lines = 0
        self._width, self._height = width, height
        if self._state is not None:
            view = clamp(self._state.view, self._state.bounds, self.columns)
            self._state = replace(self._state, view=view)
        self._arrange(self.arrangement.top, follow=True)

    def scroll(self, lines: int) -> None:
        """Scroll the lanes above the pinned ones."""
        self._arrange(self.arrangement.top + lines, follow=False)

    @property
    def gutter(self) -> int:
        """Cells for the titles of lanes."""
        return min(_GUTTERS[self._width >= NARROW], self._width // 2)

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self._width - self.gutter, 1)

    @property
    def _style(self) -> TimelineStyle:
        return TimelineStyle(
            self._palette, self.gutter, self.columns, self._monochrome, self._leads, has_keys=self.has_keys
        )

    def tracks(self, lane: TimelineLane) -> tuple[Track, ...]:
        """The rows of a lane as they are drawn: fewer where there is little room."""
        return self._tracks_up_to(lane, self._joined.get(lane.id))

    def _tracks_up_to(self, lane: TimelineLane, limit: int | None) -> tuple[Track, ...]:
        """The rows of a lane, joined to a number of them; without one all that it has now. O(n log n)."""
        if limit is None and self._state is not None and lane.id in self._state.expanded:
            limit = EXPANDED_LIMIT
        if lane.events is None:
            return lane.tracks
        joined = len(lane.tracks) > 1 and not lane.tracks[-1].disjoint
        if limit is None and joined and self._roomy and len(lane.events) <= FEW_EVENTS:
            limit = ROOMY_LIMIT
        if limit is None:
            return lane.tracks
        key = (lane.id, limit)
        if key not in self._tracks:
            self._tracks[key] = tracks(lane.events, limit)
        return self._tracks[key]

    @property
    def _roomy(self) -> bool:
        return max(self._height, self.most_lines) >= ROOMY

    def _lines_of(self, state: State, track: Track, most: int) -> int:
        """Lines in each of which a track draws something at this zoom, wherever the view is moved to; at most so many.

        Of a view that is moved nothing is looked at, so that lanes keep their places.
        """
        key = (track, self.columns)
        if key not in self._shares:
            self._shares[key] = float(track.shares(edges(state.bounds, self.columns)).total.max())
        share = 1.0 if track.longest_ns * self.columns >= 2 * state.view.span_ns else self._shares[key]
        return next((count for count in range(most, 1, -1) if round(share * 8 * count) > 8 * (count - 1)), 1)

    def at(self, x: int, y: int) -> Spot:
        """What lies under a cell."""
        line = self.arrangement.lines[y] if 0 <= y < len(self.arrangement.lines) else ScreenLine(Line.BLANK)
        column = min(x - self.gutter, self.columns - 1)
        lane = self.lanes.lanes[line.lanes[0]] if line.lanes else None
        if lane is None or lane.events is None or line.line is not Line.TRACK or column < 0 or self._state is None:
            return Spot(line.line, column, lane)
        low, high = (time_of(self._state.view, self.columns, at) for at in (column, column + 1))
        return Spot(line.line, column, lane, hit(self.tracks(lane)[line.track], low, high))

    def line(self, y: int) -> list[Segment]:
        """The segments of a line, as wide as the timeline."""
        if self._state is None or y >= len(self.arrangement.lines):
            return [Segment(" " * self._width, style(None, self._palette.background))]
        line = self.arrangement.lines[y]
        match line.line:
            case Line.MINIMAP:
                return minimap(self._state, self._overview, self._style)
            case Line.RULER:
                return time_axis(self._state, self._style)
            case Line.TRACK:
                return self._track(self._state, line)
            case Line.HEADING:
                title = set_cell_size(f" {visible(line.text)}{beyond(line, '  {} {} more')}", self._width)
                return [Segment(title, style(self._palette.dim, self._palette.background, bold=True))]
            case Line.WORDS:
                return self._words(self._state, line)
            case Line.IN_FLIGHT | Line.LATENCY:
                return self._strip(self._state, line)
            case Line.BLANK:
                gutter = Segment(" " * self.gutter, style(None, self._palette.gutter))
                return [gutter, Segment(" " * self.columns, style(None, self._palette.background))]

    def _arrange(self, top: int, *, follow: bool) -> None:
        if self._state is None:
            return
        state = self._state
        view = state.view
        strips = 0 if self._predictions(state)[1] is None else MAX_STRIPS
        all_of = [self._tracks_up_to(lane, None) for lane in self.lanes.lanes]
        rows = [len(of_lane) for of_lane in all_of]
        expanded_lanes = [at for at, lane in enumerate(self.lanes.lanes) if lane.id in state.expanded]
        reached = [
            [number for number, track in enumerate(of_lane) if track.reaches(view.start_ns, view.end_ns)]
            for of_lane in all_of
        ]
        # Letters would only stand there twice.
        tall = {
            (at, number): self._lines_of(state, track, 3 if self._roomy and len(of_lane) <= DEPTH_LIMIT else 2)
            for at, of_lane in enumerate(all_of if not self._monochrome else ())
            for number, track in enumerate(of_lane)
        }
        arrange_lines = partial(
            arrange,
            self.lanes.lanes,
            rows,
            columns=self.columns,
            reached=reached,
            expanded=expanded_lanes,
            strips=strips,
            tall=tall,
        )
        arrangement = arrange_lines(self._height, top=top)
        high = arrangement if self._height == self.most_lines else arrange_lines(self.most_lines, top=0)
        used = max((at for at, line in enumerate(high.lines, 1) if line.line is not Line.BLANK), default=0)
        # Zooming makes tracks taller: the timeline grows with them, and stays so.
        self.wanted_lines = min(max(used, strips and STRIPS_FROM, self.wanted_lines), self.most_lines)
        lane_index = next((at for at, lane in enumerate(self.lanes.lanes) if lane.id == self._state.lane), -1)
        first = arrangement.first_of_lane.get(lane_index)
        if follow and first is not None:
            last = arrangement.last_of_lane[lane_index]
            wanted = min(max(top, last + 1 - arrangement.visible), first)
            arrangement = arrange_lines(self._height, top=wanted)
        self.arrangement = arrangement
        self._joined = {self.lanes.lanes[at].id: count for at, count in arrangement.joined.items()}

    def _predictions(self, state: State) -> tuple[str | None, PredictionsOverTime | None]:
        """Those of the selected model with its name, else of all; None where there are none."""
        trace = state.session.trace
        for model in dict.fromkeys((self.model, None)):
            over_time = trace.cache.get((predictions_over_time, model), partial(predictions_over_time, trace, model))
            if over_time is not None:
                return model, over_time
        return None, None

    def _strip(self, state: State, line: ScreenLine) -> list[Segment]:
        model, over_time = self._predictions(state)
        if over_time is None:
            return []
        most = max(int(over_time.values_of(line.line).max(initial=0)) for over_time in self.together)
        words, largest = over_time.title(line, most, model, self.gutter - 1)
        title = self._style.line_title(words, line, self._palette.pinned, largest)
        overlay = Overlay(
            range=columns_seen(state.range, state.view, self.columns), recorded=self._recorded_columns(state)
        )
        strip = blocks(self.values_of(line.line), most, line.part, line.parts)
        return [title, *segments(strip, self._palette, overlay, monochrome=self._monochrome)]

    def values_of(self, strip: Line) -> IntArray:
        """What a strip shows in the columns in view: shape (columns,), or (0,) where there are no predictions."""
        model, over_time = (None, None) if self._state is None else self._predictions(self._state)
        if self._state is None or over_time is None:
            return np.zeros(0, np.int64)
        self._keep_only_this_view(self._state)
        if (strip, model) not in self._values:
            self._values[strip, model] = over_time.values(strip, edges(self._state.view, self.columns))
        return self._values[strip, model]

    def _words(self, state: State, line: ScreenLine) -> list[Segment]:
        lanes = [self.lanes.lanes[lane_index] for lane_index in line.lanes]
        current = self._leads and state.lane in [lane.id for lane in lanes]
        if len(lanes) == 1:
            return [self._style.lane_title(lanes[0], line, current=current), *self._text(lanes[0].words)]
        title = f"{self._style.pointer(current)}empty lanes" if line.part == 0 or line.above else ""
        return [self._style.line_title(title, line, self._palette.pinned), *self._text(line.text)]

    def _text(self, words: str) -> list[Segment]:
        text = set_cell_size(whole_words(visible(words), self.columns), self.columns)
        return [Segment(text, style(self._palette.dim, self._palette.background))]

    def _track(self, state: State, line: ScreenLine) -> list[Segment]:
        lane = self.lanes.lanes[line.lanes[0]]
        track = self.tracks(lane)[line.track]
        hidden = "+" if line.part == line.parts - 1 and not track.disjoint else ""
        # What stands first in sight is named, where the line with the name is scrolled away.
        if line.track == line.part == 0 or line.above:
            current = self._leads and lane.id == state.lane
            title = self._style.lane_title(lane, line, current=current, hidden=hidden)
        else:
            ground = self._palette.pinned if lane.pinned else self._palette.gutter
            title = self._style.line_title("", line, ground, hidden)
        self._keep_only_this_view(state)
        key = (track, line.parts, self._waits(state, lane))
        if key not in self._pictures:
            self._pictures[key] = self._track_lines(state, lane, track, line)
        picture = self._pictures[key][line.part]
        view, columns = state.view, self.columns
        evidence = self._evidence(state, lane, track)
        marked = (evidence.between(edges(view, columns)) > 0).tolist() if evidence is not None else ()
        span = columns_seen(state.range, view, columns)
        cursor = column_of(view, columns, state.cursor_ns) if lane.id == state.lane else -1
        overlay = Overlay(
            marked, self._selected_columns(state, lane, track, picture), span, cursor, self._recorded_columns(state)
        )
        return [title, *segments(picture, self._palette, overlay, monochrome=self._monochrome)]

    def _keep_only_this_view(self, state: State) -> None:
        seen = (state.view, self.columns, self.lanes)
        if seen != self._pictured:
            self._pictures.clear()
            self._values.clear()
            self._pictured = seen

    def _track_lines(self, state: State, lane: TimelineLane, track: Track, line: ScreenLine) -> tuple[Picture, ...]:

        def draw(which: Track, label: Callable[[int], str]) -> tuple[Picture, ...]:
            if self._monochrome:
                return (letters_of_track(which, track, label, state.view, self.columns),) * line.parts
            return pictures(which, label, state.view, self.columns, line.parts)

        numbers = {row: number for number, row in enumerate(self._waits(state, lane), 1)}

        def label(position: int) -> str:
            if lane.events is None:
                return ""
            number = numbers.get(int(lane.events.index[position]))
            return f"{number or ''} {lane.events.label(position)}".lstrip()

        mask = self._filter_mask
        passing = None if mask is None or lane.events is None else mask.passing(lane.events, track)
        if passing is None:
            return draw(track, label)
        dim = fade_letters if self._monochrome else fade
        return tuple(map(dim, draw(track, lambda _: ""), draw(passing, label)))

    def _waits(self, state: State, lane: TimelineLane) -> tuple[int, ...]:
        """What an explained prediction waited for, on lanes of the hardware."""
        waits = state.selection.waits
        return waits.rows if waits is not None and lane.events is not None and lane.events.frame == "hardware" else ()

    def _recorded_columns(self, state: State) -> tuple[int, int] | None:
        """Columns that the recording reaches; None for all. Only one of several can end within sight."""
        recorded = state.session.bounds
        if recorded == state.bounds:
            return None
        return columns_seen(recorded, state.view, self.columns)

    def _selected_columns(self, state: State, lane: TimelineLane, track: Track, shown: Picture) -> tuple[int, int]:
        """Columns of the selected event, if it lies in this track and in view."""
        event = state.selection.event
        position = lane.position(event) if event is not None else None
        if event is None or position is None or not track.holds(position):
            return (0, 0)
        return shown.blocks.get(position) or columns_seen(state.session.span(event), state.view, self.columns)

    def _evidence(self, state: State, lane: TimelineLane, track: Track) -> CoveredTime | None:
        """Intervals of a track that are evidence, or of an explained prediction with its waits; None where none is."""
        waits = state.selection.waits
        frame = lane.events.frame if lane.events is not None else ""
        rows = self.lanes.evidence.get(frame)
        if waits is not None:
            marked = {"hardware": waits.rows, PIPELINES: waits.pipelines, "activity": (waits.prediction,)}.get(frame)
            rows = None if marked is None else np.array(marked, np.int64)
        if rows is None or lane.events is None:
            return None
        key = (track, None if waits is None else waits.prediction)
        if key not in self._marks:
            indexes = lane.events.index[track.positions]
            chosen = rows[indexes] if waits is None else np.isin(indexes, rows)
            union = Intervals(track.starts[chosen], track.ends[chosen]).covered_time()
            self._marks[key] = union if chosen.any() else None
        return self._marks[key]
