"""The main screen: timeline above, detail below, inspector beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.geometry import Size
from textual.widgets import ContentSwitcher, Static

from tracekit.report.formatting import visible
from tracekit.tui.action_line import FooterKey, KeysFooter, Tab, TabLine
from tracekit.tui.detail.compare import ComparePane
from tracekit.tui.detail.events import EventsPane, PredictionsPane
from tracekit.tui.detail.findings import FindingsPane
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.detail.statistics import AggregationPane, ModelsPane
from tracekit.tui.detail.texts import CodePane, FactsPane
from tracekit.tui.inspector import Inspector
from tracekit.tui.keys import SHORTCUTS, key_signs
from tracekit.tui.messages import ChangeWanted, RedrawWanted
from tracekit.tui.screens.small import SizedScreen
from tracekit.tui.screens.title import status_line, title_line
from tracekit.tui.selection import finding_here, findings_of, range_end
from tracekit.tui.state import NOTHING, Area, State
from tracekit.tui.theme import palette_of
from tracekit.tui.timeline.tracks import Lanes
from tracekit.tui.timeline.widget import Timeline

PANES: tuple[type[DetailPane], ...] = (
    FindingsPane,
    AggregationPane,
    EventsPane,
    PredictionsPane,
    ModelsPane,
    FactsPane,
    CodePane,
    ComparePane,
)
WIDE = 110
"""Columns from which the inspector stands beside the detail instead of in its place."""
_FULL_WIDTH, _FULL_HEIGHT = 80, 24
"""Cells below which columns, words and lanes are left out that are shown otherwise."""
_MIN_WIDTH, _MIN_HEIGHT = 60, 16
"""Cells below which the lists have no room to show anything."""
_NO_WIDTH, _NO_HEIGHT = 40, 10
"""Cells below which nothing but that is stated."""


class BrowseScreen(SizedScreen[None], inherit_bindings=False):
    """Shows a `State`; changes none."""

    def __init__(self, recordings: int, *, monochrome: bool) -> None:
        super().__init__()
        self._timelines = tuple(Timeline(session, monochrome=monochrome) for session in range(recordings))
        renderers = [timeline.renderer for timeline in self._timelines]
        for renderer in renderers:
            renderer.together = renderers
        self._panes = tuple(pane() for pane in PANES if recordings >= pane.RECORDINGS)
        self._state: State | None = None
        """What is shown; None until a recording is open."""
        self._events = False
        """Whether the recording has any to select."""
        self._said = ""
        self._sized: Size | None = None
        """The size that was laid out last."""
        self.wide = False
        """Whether the inspector has room beside the detail."""
        self._beside = True
        """Whether the inspector is wanted where it has."""

    def compose(self) -> ComposeResult:
        """From the top: title, timelines, detail with inspector, status line and keys."""
        yield Static(id="title", markup=False)
        with Vertical(id="timelines", classes="several" if len(self._timelines) > 1 else ""):
            yield from self._timelines
        with Horizontal(id="lower"):
            with Vertical(id="detail"):
                yield TabLine()
                with ContentSwitcher(initial=f"pane-{PANES[0].PANE}", id="panes"):
                    yield from self._panes
            yield Inspector()
        yield Static(id="status", markup=False)
        yield KeysFooter()
        yield Static(id="tiny", markup=False)

    def on_mount(self) -> None:
        """Say so where there is no room."""
        self._say_too_small()

    def begin(self) -> None:
        """A recording is open: begin with the size that its state was made for, and with the keys on the timeline."""
        self.wide = self.app.size.width >= WIDE
        self.focus_timeline()

    def show(self, state: State, lanes: Sequence[Lanes]) -> None:
        """Draw a state."""
        self._state, self._events = state, lanes[state.active].hold_events
        self.query_one("#title", Static).update(
            title_line(state, self.size.width, palette_of(self.app.current_theme)), layout=False
        )
        for timeline, of_session in zip(self._timelines, lanes, strict=True):
            timeline.show(state, of_session)
        self._show_detail(state)
        here = range_end(state, lanes[state.active].events_of(state.lane), self.columns)
        line = self._said or self._small or status_line(state, here, self.size.width)
        self.query_one("#status", Static).update(line, layout=False)
        self._show_keys(state)

    def on_descendant_focus(self) -> None:
        """Keys do something else where they are now."""
        if self._state is not None:
            self._show_keys(self._state)

    def _show_keys(self, state: State) -> None:
        focused = self.focused
        enter = "Select event" if isinstance(focused, Timeline) and self._events else ""
        if isinstance(focused, RowList):
            enter = self.pane.enter_words()
        listed = isinstance(focused, RowList) and len(focused.rows) > 0
        keys = footer_keys(state, enter, lists=listed, events=self._events)
        self.query_one(KeysFooter).keys = tuple(FooterKey(*key) for key in keys)
        self.query_one(TabLine).focused = isinstance(focused, RowList | VerticalScroll)

    def say(self, text: str) -> None:
        """Put a sentence on the status line, until the next action."""
        self._said = visible(text)
        if text:
            self.query_one("#status", Static).update(self._said, layout=False)

    @property
    def _small(self) -> str:
        """What to say all the time of a terminal in which lists show nothing; nothing of larger ones."""
        width, height = self.app.size
        return "" if width >= _MIN_WIDTH and height >= _MIN_HEIGHT else "80×24 or larger shows everything"

    @property
    def size_warning(self) -> str:
        """What to say once of a terminal that is smaller than what all is made for; nothing of larger ones."""
        width, height = self.app.size
        if width >= _FULL_WIDTH and height >= _FULL_HEIGHT:
            return ""
        return f"{width}×{height}: some content hidden; 80×24 shows all · ? keys"

    @property
    def columns(self) -> int:
        """Columns of time on screen."""
        return self._timelines[0].renderer.columns

    @property
    def pane(self) -> DetailPane:
        """The pane that is on screen, or would be but for the inspector."""
        current = self.query_one("#panes", ContentSwitcher).current
        return next(pane for pane in self._panes if pane.id == current)

    def focus_pane(self) -> None:
        """Put the keys on the pane that is on screen."""
        # At once: what a widget does by itself comes after the next keys.
        self.set_focus(self.pane.focus_target())

    def focus_inspector(self) -> None:
        """Put the keys on the inspector where it is in the place of the pane, else on the pane."""
        if self.query_one("#detail").display:
            self.focus_pane()
        else:
            self.set_focus(self.query_one(Inspector))

    def focus_timeline(self, recording: int = 0) -> None:
        """Put the keys on the timeline of a recording."""
        self.set_focus(self._timelines[recording])

    def _show_detail(self, state: State) -> None:
        wide = self.size.width >= WIDE
        inspector = self.query_one(Inspector)
        alone = state.maximized
        self.query_one("#timelines").display = alone in (None, Area.TIMELINE)
        self.query_one("#timelines").set_class(alone is Area.TIMELINE, "alone")
        self.query_one("#lower").display = alone is not Area.TIMELINE
        wanted = state.inspector and alone is not Area.PANE and not (wide and state.inspects_nothing)
        inspector.display = alone is Area.INSPECTOR or wanted
        inspector.set_class(not wide or alone is Area.INSPECTOR, "alone")
        beside = wide or not state.inspector or alone is Area.PANE
        detail = self.query_one("#detail")
        detail.display = beside and alone is not Area.INSPECTOR
        self.query_one("#panes", ContentSwitcher).current = f"pane-{state.pane}"
        line = self.query_one(TabLine)
        tabs: list[Tab] = []
        for pane in self._panes:
            keys = key_signs(SHORTCUTS[f"pane_{pane.PANE}"])
            tabs.append(Tab(pane.PANE, f"{keys} {pane.TITLE}", pane.badge(state), f"{keys} {pane.SHORT or pane.TITLE}"))
        line.tabs, line.current = tuple(tabs), state.pane
        if inspector.display:
            inspector.show(state, events=self._events)
        if detail.display:
            next(pane for pane in self._panes if state.pane == pane.PANE).show(state)

    def on_resize(self) -> None:
        """Lay the lower half out again; the inspector comes and goes with the room beside the detail."""
        state, size = self._state, self.app.size
        wide = size.width >= WIDE
        self._say_too_small()
        if self._sized not in (None, size):
            self._said = "" if self._small else self.size_warning
        self._sized = size
        if state is None or wide == self.wide:
            self.post_message(RedrawWanted())
            return
        self.wide = wide
        if not wide:
            self._beside = state.inspector
        self.post_message(ChangeWanted(inspector=wide and (self._beside or state.inspector)))

    def _say_too_small(self) -> None:
        """Cover everything, where there is no room for any of it, with what size is needed."""
        width, height = self.app.size
        cover = self.query_one("#tiny", Static)
        cover.display = width < _NO_WIDTH or height < _NO_HEIGHT
        cover.update(f"{width}×{height} is too small; use 80×24 or larger. q quits.")


def footer_keys(state: State, enter: str, *, lists: bool, events: bool) -> Iterator[tuple[str, str, str]]:
    """Keys that do something here, the most useful first: sign, words, action. `enter`: what that does, if anything;
    `lists`: whether a list with rows has the keys; `events`: whether there are any."""
    if state.mark is not None:
        yield "v", "End range", "mark"
        yield "esc", "Cancel", "clear"
    elif state.maximized is not None:
        yield "esc", "Share screen", "clear"
    if enter:
        yield "enter", enter, "open_row" if lists else "select_here"
    check = state.session.check(finding_here(state))
    waits = state.selection.waits
    if waits is not None and waits.rows:
        yield ". ,", "Waits", "next_evidence"
    elif check is not None and check.evidence:
        yield ". ,", "Intervals", "next_evidence"
    yield "w s", "Zoom", "zoom_in"
    if events:
        yield "n", "Next event", "next_event"
    if state.selection.prediction is not None and waits is None:
        yield "W", "Why", "why"
    if state.filter.active:
        yield "c", "Clear filter", "clear_filter"
    elif events:
        yield "/", "Filter", "filter"
    calls, selection = state.session.calls, state.selection
    is_slow = selection == NOTHING or (selection.event is None and check is not None and check.model is not None)
    if len(state.sessions) == 1 and is_slow and calls is not None and len(calls):
        yield "W", "Why slow", "why"
    if lists:
        yield "y", "Copy row", "copy_row"
    if check is not None and state.pane == "findings":
        yield "Y", "Copy finding", "copy_finding"
    if lists:
        yield "o", "Sort", "sort_next"
    if state.mark is None and events:
        yield "v", "Range", "mark"
    if len(state.sessions) > 1:
        yield from (("u", "Compare by", "next_measure"), ("z", "Other recording", "other_recording"))
    yield from (("L", "Legend", "legend"), ("t", "Group", "grouping"), ("Z", "Maximize", "maximize"))
    # What comes and goes from row to row stands last, so that a step does not write the others again.
    event = selection.event
    if event is not None and state.pane != "findings" and next(findings_of(state.session, event), None) is not None:
        yield "F", "Its finding", "to_finding"
