"""The part of the app that owns the state: it answers the messages of the widgets, and shows them what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.screen import Screen

from tracekit.lanes.lanes import Grouping
from tracekit.report.late_lane import judged_lanes
from tracekit.tui import messages
from tracekit.tui.messages import in_background
from tracekit.tui.opening import Viewed
from tracekit.tui.screens.browse import BrowseScreen
from tracekit.tui.state import Area, EventRef, FindingRef, Selection, Session, State
from tracekit.tui.terminal import Changes, TerminalCells
from tracekit.tui.text import VisibleText
from tracekit.tui.theme import THEMES, remember_theme, remembered_theme, theme_named
from tracekit.tui.timeline.tracks import Lanes, TimelineLane, timeline_lanes, with_tracks
from tracekit.tui.timeline.widget import Timeline
from tracekit.tui.viewport import History, Viewport, clamp, revealing, span_between


class StateApp(App[None], inherit_bindings=False):
    """Owns the `State`. Only `change` replaces it."""

    def __init__(self, viewed: Viewed, *, remember: bool, sixteen_colors: bool) -> None:
        """`remember`: the theme is that of the last run, and kept. `sixteen_colors`: the terminal has no more."""
        super().__init__()
        self.viewed: Final = viewed
        self._state: State | None = None
        self._lanes: tuple[Lanes, ...] = ()
        """Of each recording, as they are grouped now; those of a million intervals are made again in a tenth of a
        second, and would take as much memory as the recording if each grouping were kept."""
        self._stepping = False
        # Nothing that a recording holds reaches the terminal but through this.
        self._filters.append(VisibleText())
        self._cells = TerminalCells()
        for theme in THEMES:
            self.register_theme(theme)
        self._remember = remember
        wanted = viewed.theme or (remembered_theme() if remember else None)
        self._sixteen_colors = sixteen_colors
        self.set_class(sixteen_colors, "sixteen")
        self.theme = theme_named(dark=wanted != "light", sixteen_colors=sixteen_colors)
        if viewed.theme is not None:
            self._keep_theme()

    @property
    def state(self) -> State:
        """What is shown. Only after a recording was opened."""
        if self._state is None:
            raise RuntimeError("no recording is open yet")
        return self._state

    @property
    def is_open(self) -> bool:
        """Whether a recording is on screen."""
        # While the app is being left, the state is there and its screen is not.
        return self._state is not None and any(isinstance(screen, BrowseScreen) for screen in self.screen_stack)

    @property
    def browse(self) -> BrowseScreen:
        """The main screen."""
        return next(screen for screen in self.screen_stack if isinstance(screen, BrowseScreen))

    @property
    def lanes(self) -> Lanes:
        """Lanes of the active recording."""
        return self._lanes[self.state.active]

    @property
    def focused_area(self) -> Area:
        """The part of the screen that has the keys."""
        if isinstance(self.focused, Timeline):
            return Area.TIMELINE
        return Area.INSPECTOR if self.focused is not None and self.focused.id == "inspector" else Area.PANE

    def change(self, **fields: Any) -> None:
        """Replace fields of the state, and show it. The only way in which it changes."""
        self._state = replace(self.state, **fields)
        self.redraw()

    def redraw(self) -> None:
        """Show the state to all widgets."""
        # Where the app is being left, what widgets still post finds no screen.
        if not self.is_open:
            return
        # A view of a narrower terminal may be too short for these columns.
        view = clamp(self.state.view, self.state.bounds, self.browse.columns)
        if view != self.state.view:
            self._state = replace(self.state, view=view)
        self.browse.show(self.state, self._lanes)

    def go(self, view: Viewport, *, step: bool = True) -> None:
        """Look at another part. Steps that follow one another count as one for going back."""
        if view == self.state.view:
            return
        history = self.state.history if step and self._stepping else self.state.history.leaving(self.state.view)
        self._stepping = step
        self.change(view=view, history=history)

    def revisit(self, view: Viewport, history: History) -> None:
        """Look again where one was. A step from there is the first of others."""
        self._stepping = False
        self.change(view=view, history=history)

    def activate(self, index: int) -> None:
        """Be about another recording; to be shown by what follows."""
        self._state = self.state.with_active(index)
        ids = [lane.id for lane in self.lanes.lanes]
        if self.state.lane not in ids:
            self._state = replace(self.state, lane=first_lane(self.lanes))

    def switch_recording(self, index: int) -> None:
        """Be about another recording, and show it."""
        self.activate(index)
        self.redraw()

    def select(self, selection: Selection, *, reveal: bool = True) -> None:
        """Select something. Of an interval of evidence that is also the event that it was made from. Where there is an
        event, the cursor is put on its beginning; the timeline moves to what is selected."""
        session, finding, span = self.state.session, selection.finding, None
        check = session.check(finding)
        if check is not None and finding is not None and finding.evidence is not None:
            entry = check.evidence[finding.evidence]
            selection = replace(selection, event=session.locate(entry))
            span = span_between(entry.start_ns, entry.end_ns)
        fields: dict[str, Any] = {"selection": selection}
        if selection.event is not None:
            span = span or session.span(selection.event)
            fields |= {"cursor_ns": span.start_ns, "lane": self._lane_of(selection.event) or self.state.lane}
        self.change(**fields)
        if reveal and span is not None:
            self.go(revealing(self.state.view, span, self.state.bounds, self.browse.columns))

    def say(self, text: str) -> None:
        """Put a sentence on the status line, until the next action."""
        self.browse.say(text)

    def _lane_of(self, ref: EventRef) -> str | None:
        """The lane that shows a row; the current one where it does."""
        holding = [lane.id for lane in self.lanes.lanes if lane.position(ref) is not None]
        return self.state.lane if self.state.lane in holding else next(iter(holding), None)

    def regroup(self, grouping: Grouping) -> None:
        """Lay the lanes out in another way; worked out in the background."""
        sessions = self.state.sessions

        def work(session: Session) -> tuple[TimelineLane, ...]:
            # Call stacks are read by the checks, not for a lane.
            thread = judged_lanes(session.whole_trace) if session.report is not None else ()
            return (*timeline_lanes(session.trace, grouping), *with_tracks(thread))

        def show(regrouped: list[tuple[TimelineLane, ...]]) -> None:
            self._lanes = tuple(Lanes(new, old.evidence) for new, old in zip(regrouped, self._lanes, strict=True))
            self._state = replace(self.state, grouping=grouping)
            event = self.state.selection.event
            lane = self._lane_of(event) if event is not None else None
            ids = [lane.id for lane in self.lanes.lanes]
            self.change(lane=lane or (self.state.lane if self.state.lane in ids else ids[0]))
            self.say(f"Grouped by {grouping.removesuffix('s')}.")

        in_background(self, lambda: [work(session) for session in sessions], show)

    def leave(self) -> None:
        """End; a read that is under way is given up."""
        self.workers.cancel_all()
        self.exit()

    def switch_theme(self) -> None:
        """Switch between light and dark."""
        self.theme = theme_named(dark=not self.current_theme.dark, sixteen_colors=self._sixteen_colors)
        self._keep_theme()

    def _keep_theme(self) -> None:
        if self._remember:
            remember_theme("dark" if self.current_theme.dark else "light")

    def watch_theme(self) -> None:
        """Draw in other colors."""
        self.redraw()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Textual's last step before the terminal: only what changed goes there."""
        changes: Any = Changes(self._cells, renderable) if isinstance(renderable, CompositorUpdate) else renderable
        super()._display(screen, changes)

    def on_resize(self) -> None:
        """Terminals move what they show when their size changes."""
        self._cells.forget()

    def draw_anew(self) -> None:
        """Draw all of the screen, whatever is there."""
        self._cells.forget()
        self.refresh()

    # What widgets post

    def _is_meant(self, message: messages.OfRecording) -> bool:
        return message.recording in (None, self.state.active)

    def on_view_moved(self, message: messages.ViewMoved) -> None:
        """Look elsewhere."""
        self.go(message.view.moved(-self.state.shift(message.session)))

    def on_cursor_moved(self, message: messages.CursorMoved) -> None:
        """Put the cursor somewhere."""
        self.activate(message.session)
        self.change(cursor_ns=message.time_ns, lane=message.lane)

    def on_recording_chosen(self, message: messages.RecordingChosen) -> None:
        """Be about another recording."""
        if self.is_open and message.session != self.state.active:
            self.switch_recording(message.session)

    def on_selected(self, message: messages.Selected) -> None:
        """Select something."""
        if self._is_meant(message) and self.state.session.holds(message.selection):
            self.select(message.selection, reveal=message.reveal)

    def on_check_toggled(self, message: messages.CheckToggled) -> None:
        """List the evidence of a check, or no longer."""
        selection = Selection(finding=FindingRef(message.check))
        if self._is_meant(message) and self.state.session.holds(selection):
            self.change(opened=None if self.state.opened == message.check else message.check, selection=selection)

    def on_range_selected(self, message: messages.RangeSelected) -> None:
        """Take over a range."""
        self.change(range=message.span.moved(-self.state.shift(message.session)), mark=None, ends=None)

    def on_first_row_listed(self, message: messages.FirstRowListed) -> None:
        """Remember what the first row of the list on screen stands for."""
        first = None if message.selection is None else (message.pane, message.selection)
        if self._is_meant(message) and first != self.state.first and message.pane == self.state.pane:
            self.change(first=first)

    def on_change_wanted(self, message: messages.ChangeWanted) -> None:
        """Replace what is asked for."""
        self.change(**message.fields)
        if "pane" in message.fields:
            self.browse.focus_pane()

    def on_redraw_wanted(self) -> None:
        """Show the same state again."""
        self.redraw()


def first_lane(lanes: Lanes) -> str:
    """The first lane with something in it."""
    return next((lane.id for lane in lanes.lanes if lane.events is not None), lanes.lanes[0].id)
