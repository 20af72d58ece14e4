"""The timeline on screen: hands lines to Textual, and turns the mouse into messages."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tracekit.tui import messages, viewport
from tracekit.tui.keys import Scope, bindings
from tracekit.tui.state import EventRef, Selection, State
from tracekit.tui.text import with_focus_sign
from tracekit.tui.theme import palette_of
from tracekit.tui.timeline.layout import Line
from tracekit.tui.timeline.renderer import Renderer
from tracekit.tui.timeline.strips import model_of
from tracekit.tui.timeline.tracks import FilterMask, Lanes, filter_mask, snapped
from tracekit.tui.viewport import Viewport, time_of

SNAP_COLUMNS = 1
"""How many columns from the edge of an event the end of a dragged range may be to snap to it."""

MOST_OF_SCREEN, REST = 0.53, 24
"""Share of the screen that the only timeline takes at most, and lines of a high one that are enough for all else."""


@dataclass(slots=True)
class _Drag:
    """A mouse button that is held down."""

    line: Line
    column: int
    view: Viewport
    lane: str
    ranging: bool
    """Whether a range is drawn; otherwise the view is moved."""
    moved: bool = False


class Timeline(Widget, can_focus=True):
    """Lanes of one recording.

    A click selects, a drag moves the view, a drag with shift or along the ruler selects a range, the wheel zooms at the
    pointer, with shift it pans, and over the titles it scrolls the lanes.
    """

    BINDINGS = bindings(Scope.TIMELINE)

    def __init__(self, session: int, *, monochrome: bool) -> None:
        super().__init__(id=f"timeline-{session}", classes="timeline")
        self.renderer = Renderer(monochrome=monochrome)
        self._session = session
        self._state: State | None = None
        """What is shown, in the times of this recording."""
        self._drag: _Drag | None = None
        self._masked_by: tuple[object, ...] = ()
        """Filter and lanes of which the renderer knows what passes, or soon will."""

    def show(self, state: State, lanes: Lanes) -> None:
        """Draw a state."""
        self._state = state.with_active(self._session)
        self._mask(self._state, lanes)
        before = self.renderer.wanted_lines
        self.renderer.model = model_of(state)
        self.renderer.show(self._state, lanes, palette_of(self.app.current_theme), leads=state.active == self._session)
        self.refresh(layout=self.renderer.wanted_lines != before)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Half of the screen, or as many lines as there is anything for; asked where there is one timeline."""
        del container
        self.renderer.most_lines = max(int(viewport.height * MOST_OF_SCREEN), viewport.height - REST)
        self.renderer.resize(width, self.size.height)
        return self.renderer.wanted_lines

    def _mask(self, state: State, lanes: Lanes) -> None:
        """Have what does not pass the filter faded, once it is known what does."""
        wanted = (state.filter, lanes.lanes) if state.filter.active else ()
        if wanted == self._masked_by:
            return
        self._masked_by = wanted
        self.renderer.set_filter_mask(None)
        if not wanted:
            return

        def take(mask: FilterMask) -> None:
            # Something else may be wanted by now.
            if wanted == self._masked_by:
                self.renderer.set_filter_mask(mask)
                self.refresh()

        trace = state.session.trace
        messages.in_background(self, lambda: filter_mask(lanes.lanes, trace, state.filter), take)

    def on_focus(self) -> None:
        """The keys are about this recording now."""
        self.renderer.has_keys = True
        self.refresh()
        self.post_message(messages.RecordingChosen(self._session))

    def on_blur(self) -> None:
        """They are about something else."""
        self.renderer.has_keys = False
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Draw in the new size."""
        self.renderer.resize(event.size.width, event.size.height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line, for Textual."""
        line = self.renderer.line(y)
        return Strip(
            with_focus_sign(line, palette_of(self.app.current_theme)) if self.has_focus else line, self.size.width
        )

    def on_mouse_scroll_up(self, event: events.MouseScrollUp | events.MouseScrollDown) -> None:
        """Zoom in, pan to earlier times, or scroll the lanes; down, zoom out and so on."""
        up = isinstance(event, events.MouseScrollUp)
        spot = self.renderer.at(event.x, event.y)
        state = self._state
        if state is None:
            return
        if event.shift:
            self._pan(event, -1 if up else 1)
            return
        event.stop()
        if spot.column < 0:
            self.renderer.scroll(-1 if up else 1)
            self.refresh()
            return
        factor, columns = viewport.ZOOM_STEP if up else 1 / viewport.ZOOM_STEP, self.renderer.columns
        at = time_of(state.view, columns, spot.column)
        self._look(viewport.zoom(state.view, factor, at, state.bounds, columns))

    on_mouse_scroll_down = on_mouse_scroll_up

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Pan to earlier times."""
        self._pan(event, -1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Pan to later times."""
        self._pan(event, 1)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the view, or of one end of a range."""
        spot = self.renderer.at(event.x, event.y)
        if self._state is None or event.button != 1 or spot.column < 0:
            return
        lane = spot.lane.id if spot.lane is not None else self._state.lane
        ranging = event.shift or spot.line is Line.RULER
        self._drag = _Drag(spot.line, spot.column, self._state.view, lane, ranging)
        self.capture_mouse()
        if spot.line is Line.MINIMAP:
            self._overview(spot.column)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move what is held."""
        drag, state = self._drag, self._state
        if drag is None or state is None:
            return
        columns = self.renderer.columns
        column = min(max(event.x - self.renderer.gutter, 0), columns)
        if column == drag.column and not drag.moved:
            return
        drag.moved = True
        if drag.line is Line.MINIMAP:
            self._overview(column)
        elif drag.ranging:
            events, within = self.renderer.lanes.events_of(drag.lane), SNAP_COLUMNS * state.view.span_ns // columns
            ends = (snapped(events, time_of(drag.view, columns, at), within) for at in (drag.column, column))
            self.post_message(messages.RangeSelected(viewport.span_between(*ends), self._session))
        else:
            start = drag.view.start_ns - (column - drag.column) * drag.view.span_ns // columns
            self._look(viewport.clamp(Viewport(start, drag.view.span_ns), state.bounds, columns))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go; without a move in between it was a click, which puts the cursor there and selects the event."""
        drag, self._drag = self._drag, None
        self.release_mouse()
        spot = self.renderer.at(event.x, event.y)
        state = self._state
        clicked = drag is not None and not drag.moved and drag.line is not Line.MINIMAP
        if not clicked or state is None or spot.column < 0:
            return
        time = time_of(state.view, self.renderer.columns, spot.column)
        lane = spot.lane.id if spot.lane is not None else state.lane
        self.post_message(messages.CursorMoved(time, lane, self._session))
        if spot.lane is not None and spot.lane.events is not None and spot.event is not None:
            ref = EventRef(spot.lane.events.frame, int(spot.lane.events.index[spot.event]))
            selected = messages.Selected(Selection(event=ref), reveal=False)
            selected.recording = self._session
            self.post_message(selected)

    def on_click(self, event: events.Click) -> None:
        """Two clicks on a title show all rows of the lane."""
        spot, state = self.renderer.at(event.x, event.y), self._state
        if spot.column >= 0 or spot.lane is None or state is None:
            return
        if event.chain == 2:
            self.post_message(messages.ChangeWanted(expanded=state.expanded ^ {spot.lane.id}))
        else:
            self.post_message(messages.CursorMoved(state.cursor_ns, spot.lane.id, self._session))

    def _look(self, view: Viewport) -> None:
        self.post_message(messages.ViewMoved(view, self._session))

    def _pan(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        if (state := self._state) is not None:
            share = direction * viewport.PAN_STEP / 2
            self._look(viewport.pan(state.view, share, state.bounds, self.renderer.columns))

    def _overview(self, column: int) -> None:
        """Center the view on a column of the overview."""
        if self._state is not None:
            bounds, columns = self._state.bounds, self.renderer.columns
            self._look(viewport.center_view(self._state.view, time_of(bounds, columns, column), bounds, columns))
