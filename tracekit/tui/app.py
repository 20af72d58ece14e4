"""The app: owns the state, runs actions, and reads recordings in the background."""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.worker import get_current_worker

from tracekit.signals import stop_signals
from tracekit.tui import opening
from tracekit.tui.action import Scope
from tracekit.tui.actions import action_named, bindings
from tracekit.tui.commands import views
from tracekit.tui.commands.select import slow
from tracekit.tui.screens.browse import WIDE, BrowseScreen
from tracekit.tui.screens.help import HelpScreen
from tracekit.tui.screens.opening import OpeningScreen
from tracekit.tui.screens.trouble import TroubleScreen
from tracekit.tui.state import EventRef, FindingRef, Grouping, Selection, State, first_state
from tracekit.tui.text import VisibleText
from tracekit.tui.theme import DARK, THEMES
from tracekit.tui.timeline.lanes import Lanes, timeline_lanes
from tracekit.tui.timeline.viewport import Span, Viewport, revealing
from tracekit.tui.timeline.widget import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.arrays import BoolArray
    from tracekit.signals import StopSignals
    from tracekit.tui.messages import (
        CheckToggled,
        CursorMoved,
        EventSelected,
        EventsWanted,
        FindingSelected,
        LaneToggled,
        ModelSelected,
        OpeningFailed,
        PaneChosen,
        PredictionSelected,
        RangeSelected,
        ReadingProgressed,
        RecordingChosen,
        RecordingJudged,
        RecordingsOpened,
        RedrawWanted,
        Sorted,
        ViewMoved,
        ZoomWanted,
    )
    from tracekit.tui.opening import Request
    from tracekit.tui.timeline.lanes import TimelineLane
    from tracekit.tui.timeline.tracks import Events
    from tracekit.tui.timeline.viewport import History

Result = TypeVar("Result")

_SIGNALS_S = 0.2
"""Between two looks for a signal that ends the program."""
_LEAVING_S = 5.0
"""How long leaving may take after such a signal. Service managers kill after 10 s and more."""

_GARBAGE_THRESHOLDS = (5_000, 10, 10)
"""While the screen is used. Of those tried from 2,000 to 20,000 this had the least pauses: 40 ms at most."""


class ViewApp(App[None], inherit_bindings=False):
    """`tracekit view`."""

    CSS_PATH = "view.tcss"
    TITLE = "tracekit"
    BINDINGS = bindings(Scope.APP)
    ENABLE_COMMAND_PALETTE = False
    """The palette is opened by an action of our table instead."""

    def __init__(
        self,
        request: Request,
        *,
        at_first_picture: Callable[[], None] = lambda: None,
        signals: StopSignals | None = None,
    ) -> None:
        """`signals` are looked at again and again; with the first one the app ends as if it were left."""
        super().__init__()
        self._signals = signals
        # Nothing that a recording holds reaches the terminal but through this.
        self._filters.append(VisibleText())
        self._at_first_picture = at_first_picture
        self.request = request
        self.failure: str | None = None
        """Why nothing could be opened."""
        self._state: State | None = None
        self._lanes: tuple[Lanes, ...] = ()
        """Of each recording, as they are grouped now; those of a million intervals are made again in a tenth of a
        second, and would take as much memory as the recording if each grouping were kept."""
        self._slow: tuple[Events, BoolArray] | None = None
        self._stepping = False
        self._shown = Event()
        """Set when the timeline was drawn for the first time."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    # State

    @property
    def state(self) -> State:
        """What is shown. Only after a recording was opened."""
        if self._state is None:
            raise RuntimeError("no recording is open yet")
        return self._state

    @property
    def is_open(self) -> bool:
        """Whether there is a state."""
        return self._state is not None

    @property
    def browse(self) -> BrowseScreen:
        """The main screen."""
        return next(screen for screen in self.screen_stack if isinstance(screen, BrowseScreen))

    @property
    def columns(self) -> int:
        """Columns of time on screen."""
        return self.browse.query(Timeline).first().painter.columns

    def lanes(self) -> Lanes:
        """Lanes of the active recording."""
        return self._lanes[self.state.active]

    def change(self, **fields: Any) -> None:
        """Replace fields of the state, and show it. The only way in which it changes."""
        self._state = replace(self.state, **fields)
        self.redraw()

    def redraw(self) -> None:
        """Show the state to all widgets."""
        if self._state is not None:
            self.browse.show(self._state, self._lanes)

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

    def activate(self, place: int) -> None:
        """Be about another recording; to be shown by what follows."""
        self._state = self.state.seen_from(place)
        ids = [lane.id for lane in self.lanes().lanes]
        if self.state.lane not in ids:
            self._state = replace(self.state, lane=_first_lane(self.lanes()))

    def select_event(self, ref: EventRef, *, reveal: bool = True) -> None:
        """Select an event, put the cursor on its beginning, and show it."""
        span = self.state.session.span(ref)
        fields: dict[str, Any] = {"selection": Selection(event=ref), "cursor_ns": span.start_ns}
        lane = self._lane_of(ref)
        if lane is not None:
            fields["lane"] = lane
        self.change(**fields)
        if reveal:
            self.go(revealing(self.state.view, span, self.state.bounds, self.columns))

    def select_finding(self, ref: FindingRef) -> None:
        """Select a finding; with an interval of its evidence, the event that it was made from."""
        check = self.state.session.check(ref)
        evidence = ref.evidence
        if check is None or evidence is None:
            self.change(selection=Selection(finding=ref))
            return
        entry = check.evidence[evidence]
        event = self.state.session.locate(entry)
        if event is not None:
            self.select_event(event)
        else:
            span = Span(entry.start_ns, max(entry.end_ns - entry.start_ns, 1))
            self.go(revealing(self.state.view, span, self.state.bounds, self.columns))
        self.change(selection=Selection(event=event, finding=ref))

    def say(self, text: str) -> None:
        """Put a sentence on the status line, until the next action."""
        self.browse.say(text)

    def _lane_of(self, ref: EventRef) -> str | None:
        """The lane that shows a row; the current one where it does."""
        holding = [
            lane.id
            for lane in self.lanes().lanes
            if lane.events is not None and lane.events.frame == ref.frame and lane.events.place(ref.index) is not None
        ]
        return self.state.lane if self.state.lane in holding else next(iter(holding), None)

    # Actions

    def action_run(self, identity: str) -> None:
        """Run an action of the table."""
        action = action_named(identity)
        if self.is_open:
            self.browse.say("")
        action.run(self)
        if self.is_open and identity != "clear":
            self.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Before a recording is open, only what needs none can be done."""
        if action != "run" or self.is_open:
            return True
        return action_named(str(parameters[0])).early

    def regroup(self, grouping: Grouping) -> None:
        """Lay the lanes out in another way; worked out in the background."""
        traces = [session.trace for session in self.state.sessions]

        def show(found: list[tuple[TimelineLane, ...]]) -> None:
            self._lanes = tuple(Lanes(new, old.evidence) for new, old in zip(found, self._lanes, strict=True))
            self._state = replace(self.state, grouping=grouping)
            event = self.state.selection.event
            lane = self._lane_of(event) if event is not None else None
            ids = [lane.id for lane in self.lanes().lanes]
            self.change(lane=lane or (self.state.lane if self.state.lane in ids else ids[0]))

        self.in_background(lambda: [timeline_lanes(trace, grouping) for trace in traces], show)

    def slow_events(self, events: Events) -> BoolArray:
        """Which events of a lane are slow; kept for the last lane that was asked about."""
        if self._slow is None or self._slow[0] is not events:
            self._slow = (events, slow(events))
        return self._slow[1]

    def in_background(self, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Do something long in a thread, then show what came of it."""

        def run() -> None:
            result = work()
            if not get_current_worker().is_cancelled:
                self.call_from_thread(then, result)

        self.run_worker(run, thread=True)

    def leave(self) -> None:
        """End; a read that is under way is given up."""
        self.workers.cancel_all()
        self.exit()

    # Opening

    def on_mount(self) -> None:
        """Begin to read."""
        # Put together while the recording is read, so that only the lanes are left to be drawn.
        self.push_screen(BrowseScreen(len(self.request.paths), letters=self.no_color))
        self.push_screen(OpeningScreen(" and ".join(self.request.paths)))
        if self._signals is not None:
            self.set_interval(_SIGNALS_S, self._leave_at_signal)
        self.run_worker(self._open, thread=True, exit_on_error=False)

    def _leave_at_signal(self) -> None:
        numbers = self._signals.new() if self._signals is not None else []
        if numbers:
            # Where the terminal is gone, nothing can be written to it any more, and Textual waits without end.
            last = Timer(_LEAVING_S, os._exit, (128 + numbers[0],))
            last.daemon = True
            last.start()
            self.leave()

    def _open(self) -> None:
        """Read, show, judge, show again. In a thread."""
        worker = get_current_worker()
        opening.open_all(self.request, self.post_message, lambda: worker.is_cancelled, self._shown)

    def on_reading_progressed(self, message: ReadingProgressed) -> None:
        """Show how far reading has come."""
        screen = self.screen
        if isinstance(screen, OpeningScreen):
            screen.tell(message.progress)

    async def on_recordings_opened(self, message: RecordingsOpened) -> None:
        """Show the timeline."""
        self._lanes = message.lanes
        self._state = replace(
            first_state(message.sessions), inspector=self.size.width >= WIDE, lane=_first_lane(message.lanes[0])
        )
        help_read = self.screen.place if isinstance(self.screen, HelpScreen) else None
        while self.screen is not self.browse:
            await self.pop_screen()
        self.browse.begin()
        self.say(self.browse.hint)
        self.redraw()
        self.call_after_refresh(self._first_picture)
        if help_read is not None:
            # Whoever reads it goes on reading.
            await self.push_screen(HelpScreen(help_read))

    def _first_picture(self) -> None:
        self._at_first_picture()
        self._shown.set()

    def on_recording_judged(self, message: RecordingJudged) -> None:
        """Show what the detectors found."""
        place, session = message.place, message.session
        sessions = (*self.state.sessions[:place], session, *self.state.sessions[place + 1 :])
        marked = Lanes(self._lanes[place].lanes, message.evidence)
        self._lanes = (*self._lanes[:place], marked, *self._lanes[place + 1 :])
        # What could not be judged is explained there.
        pane = self.state.pane if session.report is None or session.report.summary.judged else "facts"
        self.change(sessions=sessions, pane=pane)

    async def on_opening_failed(self, message: OpeningFailed) -> None:
        """Say what is wrong."""
        self.failure = message.sentence
        self._state = None
        await self.switch_screen(TroubleScreen(message.sentence))

    # What widgets tell

    def on_view_moved(self, message: ViewMoved) -> None:
        """Look elsewhere."""
        self.go(message.view, step=message.step)

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Put the cursor somewhere."""
        self.activate(message.session)
        self.change(cursor_ns=message.time_ns, lane=message.lane)

    def on_recording_chosen(self, message: RecordingChosen) -> None:
        """Be about another recording."""
        if self.is_open and message.session != self.state.active:
            self.activate(message.session)
            self.redraw()

    def on_event_selected(self, message: EventSelected) -> None:
        """Select an event."""
        self.select_event(message.ref, reveal=message.reveal)

    def on_prediction_selected(self, message: PredictionSelected) -> None:
        """Select a prediction as a whole."""
        ref = EventRef("activity", message.index)
        self.select_event(ref)
        self.change(selection=Selection(event=ref, prediction=message.index))

    def on_finding_selected(self, message: FindingSelected) -> None:
        """Select a finding or an interval of its evidence."""
        self.select_finding(message.ref)

    def on_check_toggled(self, message: CheckToggled) -> None:
        """List the evidence of a check, or no longer."""
        opened = None if self.state.opened == message.check else message.check
        self.change(opened=opened, selection=Selection(finding=FindingRef(message.check)))

    def on_range_selected(self, message: RangeSelected) -> None:
        """Take over a range."""
        self.change(range=message.span, mark=None, ends=None)

    def on_lane_toggled(self, message: LaneToggled) -> None:
        """Show all rows of a lane, or no longer."""
        self.change(expanded=self.state.expanded ^ {message.lane})

    def on_pane_chosen(self, message: PaneChosen) -> None:
        """Show another pane."""
        self.change(pane=message.pane)
        self.browse.focus_pane()

    def on_model_selected(self, message: ModelSelected) -> None:
        """Select a model."""
        self.change(selection=Selection(model=message.name))

    def on_sorted(self, message: Sorted) -> None:
        """Remember how a list is to be sorted."""
        self.change(sorts={**self.state.sorts, message.pane: message.sort})

    def on_events_wanted(self, message: EventsWanted) -> None:
        """List the events that pass a filter."""
        self.change(filter=message.chosen, pane="events")
        self.browse.focus_pane()

    def on_redraw_wanted(self, message: RedrawWanted) -> None:
        """Show the same state again."""
        del message
        self.redraw()

    def on_zoom_wanted(self, message: ZoomWanted) -> None:
        """Zoom to the selection."""
        del message
        views.fit_selection(self)

    def watch_theme(self, theme: str) -> None:
        """Draw in other colours."""
        del theme
        if self.is_open:
            self.redraw()


def _first_lane(lanes: Lanes) -> str:
    """The first lane with something in it."""
    return next((lane.id for lane in lanes.lanes if lane.events is not None), lanes.lanes[0].id)


def run(request: Request) -> str | None:
    """Run until the user leaves. Why nothing could be opened; None where it could."""
    with stop_signals() as signals:
        app = ViewApp(request, at_first_picture=_look_for_garbage_briefly, signals=signals)
        app.run()
        if signals.interrupted:
            raise KeyboardInterrupt
    return app.failure


def _look_for_garbage_briefly() -> None:
    """Widgets leave much garbage in cycles. Looked for seldom, as reading is best served, it stops the screen for a
    third of a second at a time; among all that was read, for a tenth."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
