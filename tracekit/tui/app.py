"""The app: runs actions, and reads recordings in the background; and the table of all actions, from which help and
command palette are made."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event

from rich.console import RenderableType
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.driver import Driver
from textual.worker import WorkerFailed, get_current_worker

from tracekit.arrays import BoolArray
from tracekit.errors import TracekitError
from tracekit.lanes.lanes import Grouping
from tracekit.recording import Progress
from tracekit.report.late_lane import judged_lanes
from tracekit.signals import StopSignals, stop_signals
from tracekit.trace.coverage import unreadable_tables
from tracekit.tui import opening
from tracekit.tui.commands import export, find, select, views
from tracekit.tui.keys import SHORTCUTS, Action, ActionError, Scope, Section, action, bindings, key_signs
from tracekit.tui.opening import Canceled, ReadingProgressed, Viewed, evidence_masks
from tracekit.tui.screens.browse import PANES, WIDE, BrowseScreen
from tracekit.tui.screens.help import HelpScreen
from tracekit.tui.screens.small import Modal, OpeningScreen, TroubleScreen
from tracekit.tui.state import Session, first_state
from tracekit.tui.state_app import StateApp, first_lane
from tracekit.tui.terminal import TerminalDriver, has_sixteen_colors, terminal_is_gone
from tracekit.tui.timeline.tracks import Lanes, TimelineLane, timeline_lanes, with_tracks


@action("help")
def show_help(app: StateApp) -> None:
    """Show all keys; type there to search them."""
    app.push_screen(HelpScreen(ACTIONS))


class ActionCommands(Provider):
    """Finds actions by name and by what they do."""

    async def discover(self) -> Hits:
        """All actions, before anything is typed."""
        for entry in ACTIONS:
            yield DiscoveryHit(_name(entry), self._runner(entry), help=entry.help)

    async def search(self, query: str) -> Hits:
        """Actions whose name or sentence fits."""
        matcher = self.matcher(query)
        for entry in ACTIONS:
            name = _name(entry)
            # The section stands in each of its names, so that it says least.
            score = max(matcher.match(entry.title), matcher.match(entry.help) / 2, matcher.match(name) / 4)
            if score > 0:
                yield Hit(score, matcher.highlight(name), self._runner(entry), help=entry.help)

    def _runner(self, entry: Action) -> Callable[[], object]:
        return partial(self.app.call_later, self.app.run_action, f"run('{entry.id}')")


class CommandScreen(CommandPalette, Modal[None]):
    """The palette; Textual's ends the app where its list has no lines yet, no room for one, or is gone."""

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close; a search that went on would look for its list."""
        self.workers.cancel_node(self)
        self._stop_busy_countdown()
        self._stop_no_matches_countdown()
        return super().dismiss(result)


@action("palette")
def show_palette(app: StateApp) -> None:
    """Find a command by name."""
    app.push_screen(CommandScreen(providers=[ActionCommands], placeholder="Find a command"))


ACTIONS_BY_ID = {
    value.id: value
    for names in (globals(), *map(vars, (export, find, select, views)))
    for value in (*names.values(), *views.PANES)
    if isinstance(value, Action)
}
ACTIONS: tuple[Action, ...] = tuple(ACTIONS_BY_ID[identity] for identity in SHORTCUTS)
"""In the order in which each section of the help screen shows them."""


def _name(action: Action) -> str:
    return f"{action.section}: {action.title}  ({key_signs(action)})"


_SIGNALS_S = 0.2
"""Between two looks for a signal that ends the program."""
_LEAVING_S = 5.0
"""How long leaving may take after such a signal. Service managers kill after 10 s and more."""

_LONGEST_WAIT_S = 1.0
"""For the first picture, before judging begins all the same."""

_GARBAGE_THRESHOLDS = (5_000, 10, 10)
"""While the screen is used. Of those tried from 2,000 to 20,000 this had the least pauses: 40 ms at most."""


class ViewApp(StateApp, inherit_bindings=False):
    """`tracekit view`."""

    CSS_PATH = "view.tcss"
    TITLE = "tracekit"
    BINDINGS = bindings(Scope.APP)
    ENABLE_COMMAND_PALETTE = False
    """The palette is opened by an action of our table instead."""

    def __init__(
        self,
        viewed: Viewed,
        *,
        at_first_picture: Callable[[], None] = lambda: None,
        signals: StopSignals | None = None,
        remember: bool = False,
        sixteen_colors: bool = False,
    ) -> None:
        """`signals` are looked at again and again; the first one ends the app as if it were left. Rest: `StateApp`."""
        super().__init__(viewed, remember=remember, sixteen_colors=sixteen_colors)
        self._signals = signals
        self._at_first_picture = at_first_picture
        self.failure: str | None = None
        """Why nothing could be opened."""
        self._shown = Event()
        """Set when the timeline was drawn for the first time."""

    # Actions

    def action_run(self, identity: str) -> None:
        """Run an action of the table."""
        action = ACTIONS_BY_ID[identity]
        listed = views.focused_list(self)
        if action.of_row and listed is not None and listed.later(partial(self.action_run, identity), known=True):
            return
        if self.is_open:
            self.browse.say("")
        if action.section is Section.COMPARE and len(self.viewed.paths) < 2:
            self.say("Only one recording is open. To compare two: tracekit view before.trace after.trace")
            return
        self._do(action)
        if self.is_open and identity != "clear":
            self.redraw()

    def _do(self, action: Action) -> None:
        try:
            action.run(self)
        except ActionError as reason:
            self.say(str(reason))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Before a recording is open, only what needs none can be done."""
        if action != "run" or self.is_open:
            return True
        return ACTIONS_BY_ID[str(parameters[0])].early

    def on_zoom_wanted(self) -> None:
        """Zoom to the selection."""
        self._do(views.fit_selection)

    def get_driver_class(self) -> type[Driver]:
        """What talks to the terminal."""
        return TerminalDriver

    # Ending

    def panic(self, *renderables: RenderableType) -> None:
        """Textual's last step after an error that nothing caught: end, and leave it to `run` to say so.

        A traceback of Textual shows the values of variables, so texts of the recording.
        """
        del renderables
        self._close_messages_no_wait()

    def _fatal_error(self) -> None:
        self.panic()

    def fault(self) -> BaseException | None:
        """Why the app ended although nobody left it; None where somebody did."""
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error
        return error if error is not None or self.return_code == 0 else RuntimeError("the terminal UI ended by itself")

    def reading_problems(self) -> list[str]:
        """Why nothing could be opened, or which tables of what is open could not be read."""
        if self.failure is not None:
            return [self.failure]
        return [
            f"{session.name}: {clause}"
            for session in (self.state.sessions if self.is_open else ())
            for clause in unreadable_tables(
                session.whole_trace.run.tables if session.report is None else session.report.tables
            )
        ]

    # Opening

    def on_mount(self) -> None:
        """Begin to read."""
        # Put together while the recording is read, so that only the lanes are left to be drawn.
        self.push_screen(BrowseScreen(len(self.viewed.paths), monochrome=self.no_color))
        self.push_screen(OpeningScreen(" and ".join(self.viewed.paths)))
        if self._signals is not None:
            self.set_interval(_SIGNALS_S, partial(self._leave_at_signal, self._signals))
        self.run_worker(self._open, thread=True, exit_on_error=False)

    def _leave_at_signal(self, signals: StopSignals) -> None:
        if terminal_is_gone():
            # Where it controls no session, or the signal is ignored, none reports it.
            signals.take(signal.SIGHUP, None)
        if signals.new():
            self.leave()

    def _open(self) -> None:
        """Read, show, judge, show again, in a thread: the first useful screen comes early. Nothing more is shown once
        the user gave up. Raises nothing: whatever goes wrong is shown too."""
        worker = get_current_worker()

        def go_on() -> None:
            if worker.is_cancelled:
                raise Canceled

        def progress(done: Progress) -> None:
            go_on()
            self.post_message(ReadingProgressed(done))

        try:
            self._read_and_judge(progress, go_on)
        except Canceled:
            return
        except TracekitError as error:
            self.call_later(self._explain, str(error))
        except Exception as error:  # whatever else went wrong is shown, instead of a traceback over a broken screen
            self.call_later(self._explain, f"Internal error ({type(error).__name__}: {error}); please report it.")

    def _read_and_judge(self, progress: Callable[[Progress], None], go_on: Callable[[], None]) -> None:
        request = replace(self.viewed.request, progress=progress)
        sessions = tuple(opening.read(path, request, self.viewed.trace_of) for path in self.viewed.paths)
        lanes = tuple(Lanes(timeline_lanes(session.trace, Grouping.LANES)) for session in sessions)
        self.call_later(self._show_timeline, sessions, lanes)
        # Judging would compete with the first picture for the interpreter.
        self._shown.wait(_LONGEST_WAIT_S)
        reports = []
        for index, session in enumerate(sessions):
            go_on()
            judged = opening.judge_session(session)
            reports.append(judged)
            # The checks have read the call stacks by now.
            thread = with_tracks(judged_lanes(judged.whole_trace))
            self.call_later(self.show_report, index, judged, evidence_masks(judged.trace, judged.evidence), thread)
        if len(reports) > 1:
            go_on()
            self.call_later(self.change, comparison=opening.compare_sessions(*reports))

    def on_reading_progressed(self, message: ReadingProgressed) -> None:
        """Show how far reading has come."""
        screen = self.screen
        if isinstance(screen, OpeningScreen):
            screen.show(message.progress)

    async def _show_timeline(self, sessions: tuple[Session, ...], lanes: tuple[Lanes, ...]) -> None:
        """All recordings were read; their reports are still to come."""
        self._lanes = lanes
        self._state = replace(first_state(sessions), inspector=self.size.width >= WIDE, lane=first_lane(lanes[0]))
        help_read = self.screen.first_line if isinstance(self.screen, HelpScreen) else None
        # Drawn before it is on screen: once, with its lanes.
        self.browse.begin()
        self.redraw()
        self.say(self.browse.size_warning)
        while self.screen is not self.browse:
            await self.pop_screen()
        self.call_after_refresh(self._first_picture)
        if help_read is not None:
            # Whoever reads it goes on reading.
            await self.push_screen(HelpScreen(ACTIONS, help_read))

    def _first_picture(self) -> None:
        self._at_first_picture()
        self._shown.set()

    def show_report(
        self, index: int, session: Session, evidence: Mapping[str, BoolArray], thread: tuple[TimelineLane, ...]
    ) -> None:
        """Show what the detectors found in one of the recordings, and the lane of its main thread, where there is one.
        `evidence`: see `evidence_masks`."""
        sessions = (*self.state.sessions[:index], session, *self.state.sessions[index + 1 :])
        marked = Lanes((*self._lanes[index].lanes, *thread), evidence)
        self._lanes = (*self._lanes[:index], marked, *self._lanes[index + 1 :])
        # What could not be judged is explained there, for whoever has not chosen another pane meanwhile.
        alone = len(sessions) == 1 and session.report is not None and not session.report.summary.evaluated
        pane = "facts" if alone and self.state.pane == PANES[0].PANE else self.state.pane
        self.change(sessions=sessions, pane=pane)

    async def _explain(self, sentence: str) -> None:
        """Say why a recording could not be opened."""
        self.failure = sentence
        self._state = None
        await self.switch_screen(TroubleScreen(sentence))


def run(viewed: Viewed) -> list[str]:
    """Run until the user leaves. What could not be read of the recordings, a sentence each.

    Raises what went wrong where an internal error ends it; the terminal is in order by then.
    """
    # Where the terminal is gone, nothing can be written to it any more, and Textual waits without end.
    with stop_signals(leave_within_s=_LEAVING_S) as signals:
        app = ViewApp(
            viewed,
            at_first_picture=_look_for_garbage_briefly,
            signals=signals,
            remember=True,
            sixteen_colors=has_sixteen_colors(),
        )
        app.run()
        if signals.interrupted:
            raise KeyboardInterrupt
        fault = app.fault()
        if fault is not None and signals.ending is None:
            raise fault
    return app.reading_problems()


def _look_for_garbage_briefly() -> None:
    """Widgets leave much garbage in cycles. Looked for seldom, as reading is best served, it stops the screen for a
    third of a second at a time; among all that was read, for a tenth."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
