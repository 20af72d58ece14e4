"""The main screen: timeline above, detail below, inspector beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import ContentSwitcher, Static

from tracekit.compare.latency import Answer
from tracekit.lanes.lanes import Grouping
from tracekit.report.formatting import moment, shorten, visible
from tracekit.tui.detail.compare import change_words, status_counts
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.registry import PANES
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.detail.tabs import Tab, TabLine
from tracekit.tui.footer import FooterKey, KeysFooter
from tracekit.tui.inspector import Inspector
from tracekit.tui.keys import key_signs, shortcut_named
from tracekit.tui.messages import InspectorWanted, RedrawWanted
from tracekit.tui.query import filter_words
from tracekit.tui.screens.sized import SizedScreen
from tracekit.tui.selection import events_of, finding_here, range_end
from tracekit.tui.state import Area
from tracekit.tui.text import cut
from tracekit.tui.theme import palette_of
from tracekit.tui.timeline.ruler import exact_moment
from tracekit.tui.timeline.widget import Timeline
from tracekit.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult
    from textual.geometry import Size

    from tracekit.tui.state import EventRef, Session, State
    from tracekit.tui.theme import Palette
    from tracekit.tui.timeline.lanes import Lanes
    from tracekit.tui.viewport import Span, Viewport

WIDE = 110
"""Columns from which the inspector stands beside the detail instead of in its place."""
_FULL_WIDTH, _FULL_HEIGHT = 80, 24
"""Cells below which columns, words and lanes are left out that are shown otherwise."""
_MIN_WIDTH, _MIN_HEIGHT = 60, 16
"""Cells below which the lists have no room to tell anything."""
_NO_WIDTH, _NO_HEIGHT = 40, 10
"""Cells below which nothing but that is told."""

GROUPING_WORDS = {
    Grouping.LANES: "grouped by lane",
    Grouping.EVENTS: "grouped by event",
    Grouping.MODELS: "grouped by model",
}


class BrowseScreen(SizedScreen[None], inherit_bindings=False):
    """Shows a `State`; changes none."""

    def __init__(self, recordings: int, *, monochrome: bool) -> None:
        super().__init__()
        self._recordings = recordings
        self._monochrome = monochrome
        self._state: State | None = None
        """What is shown; None until a recording is open."""
        self._said = ""
        self._sized: Size | None = None
        """The size that was laid out last."""
        self._wide = False
        """Whether the inspector has room beside the detail."""
        self._beside = True
        """Whether the inspector is wanted where it has."""

    def compose(self) -> ComposeResult:
        """All areas."""
        yield Static(id="title", markup=False)
        with Vertical(id="timelines", classes="several" if self._recordings > 1 else ""):
            for session in range(self._recordings):
                yield Timeline(session, monochrome=self._monochrome)
        with Horizontal(id="lower"):
            with Vertical(id="detail"):
                yield TabLine()
                with ContentSwitcher(initial=f"pane-{PANES[0].PANE}", id="panes"):
                    for pane in PANES:
                        if self._recordings >= pane.RECORDINGS:
                            yield pane()
            yield Inspector()
        yield Static(id="status", markup=False)
        yield KeysFooter()
        yield Static(id="tiny", markup=False)

    def on_mount(self) -> None:
        """Say so where there is no room."""
        self._say_too_small()

    def begin(self) -> None:
        """A recording is open: begin with the size that its state was made for, and with the keys on the timeline."""
        self._wide = self.app.size.width >= WIDE
        self.focus_timeline()

    def show(self, state: State, lanes: Sequence[Lanes]) -> None:
        """Draw a state."""
        self._state = state
        self.query_one("#title", Static).update(
            title_line(state, self.size.width, palette_of(self.app.current_theme)), layout=False
        )
        for timeline, of_session in zip(self.query(Timeline), lanes, strict=True):
            timeline.show(state, of_session)
        self._show_detail(state)
        here = range_end(state, events_of(state, lanes[state.active]), self.query(Timeline).first().renderer.columns)
        line = self._said or self._small or status_line(state, here, self.size.width)
        self.query_one("#status", Static).update(line, layout=False)
        self._show_keys(state)

    def on_descendant_focus(self) -> None:
        """Keys do something else where they are now."""
        if self._state is not None:
            self._show_keys(self._state)

    def _show_keys(self, state: State) -> None:
        """The keys that help here."""
        focused = self.focused
        enter = "Select event" if isinstance(focused, Timeline) else ""
        if isinstance(focused, RowList):
            enter = self.pane.enter_words()
        keys = footer_keys(state, enter, lists=isinstance(focused, RowList))
        self.query_one(KeysFooter).show([FooterKey(sign, words, action) for sign, words, action in keys])
        self.query_one(TabLine).set_focused(focused=isinstance(focused, RowList | VerticalScroll))

    def say(self, text: str) -> None:
        """Put a sentence on the status line, until the next action."""
        self._said = visible(text)
        if text:
            self.query_one("#status", Static).update(self._said, layout=False)

    @property
    def hint(self) -> str:
        """The one line that a newcomer reads first."""
        if self._small or self._cramped:
            return self._small or self._cramped
        panes = len(self.query(DetailPane))
        return f"← → ↑ ↓ move · w s zoom · n next event · 1–{panes} panes · tab next pane · ? keys"

    @property
    def _small(self) -> str:
        """What to say all the time of a terminal in which lists tell nothing; nothing of larger ones."""
        width, height = self.app.size
        return "" if width >= _MIN_WIDTH and height >= _MIN_HEIGHT else "80×24 or larger shows everything"

    @property
    def _cramped(self) -> str:
        """What to say once of a terminal that is smaller than what all is made for; nothing of larger ones."""
        width, height = self.app.size
        if width >= _FULL_WIDTH and height >= _FULL_HEIGHT:
            return ""
        return f"{width}×{height}: some content hidden; 80×24 shows all · ? keys"

    @property
    def pane(self) -> DetailPane:
        """The pane that is on screen, or would be but for the inspector."""
        current = self.query_one("#panes", ContentSwitcher).current
        return next(pane for pane in self.query(DetailPane) if pane.id == current)

    def focus_pane(self) -> None:
        """Put the keys on the pane that is on screen."""
        target = self.pane.focus_target()
        if target is not None:
            # At once: what a widget does by itself comes after the next keys.
            self.set_focus(target)

    def focus_inspector(self) -> None:
        """Put the keys on the inspector."""
        self.set_focus(self.query_one(Inspector))

    def focus_timeline(self, recording: int = 0) -> None:
        """Put the keys on the timeline of a recording."""
        self.set_focus(self.query(Timeline)[recording])

    def _show_detail(self, state: State) -> None:
        wide = self.size.width >= WIDE
        inspector = self.query_one(Inspector)
        alone = state.maximized
        self.query_one("#timelines").display = alone in (None, Area.TIMELINE)
        self.query_one("#timelines").set_class(alone is Area.TIMELINE, "alone")
        self.query_one("#lower").display = alone is not Area.TIMELINE
        inspector.display = alone is Area.INSPECTOR or (state.inspector and alone is not Area.PANE)
        inspector.set_class(not wide or alone is Area.INSPECTOR, "alone")
        beside = wide or not state.inspector or alone is Area.PANE
        detail = self.query_one("#detail")
        detail.display = beside and alone is not Area.INSPECTOR
        panes = list(self.query(DetailPane))
        self.query_one("#panes", ContentSwitcher).current = f"pane-{state.pane}"
        tabs = tuple(_tab(pane, state) for pane in panes)
        self.query_one(TabLine).show(tabs, state.pane)
        if inspector.display:
            inspector.show(state)
        if detail.display:
            next(pane for pane in panes if state.pane == pane.PANE).show(state)

    def on_resize(self) -> None:
        """Lay the lower half out again; the inspector comes and goes with the room beside the detail."""
        state, size = self._state, self.app.size
        wide = size.width >= WIDE
        self._say_too_small()
        if self._sized not in (None, size):
            self._said = "" if self._small else self._cramped
        self._sized = size
        if state is None or wide == self._wide:
            self.post_message(RedrawWanted())
            return
        self._wide = wide
        if not wide:
            self._beside = state.inspector
        self.post_message(InspectorWanted(wanted=wide and (self._beside or state.inspector)))

    def _say_too_small(self) -> None:
        """Cover everything, where there is no room for any of it, with what size is needed."""
        width, height = self.app.size
        cover = self.query_one("#tiny", Static)
        cover.display = width < _NO_WIDTH or height < _NO_HEIGHT
        cover.update(f"{width}×{height} is too small; use 80×24 or larger. q quits.")


def footer_keys(state: State, enter: str, *, lists: bool) -> Iterator[tuple[str, str, str]]:
    """Keys that do something here, the most useful first: sign, words, action. `enter`: what that does, if anything."""
    if state.mark is not None:
        yield "v", "End range", "mark"
        yield "esc", "Cancel", "clear"
    elif state.maximized is not None:
        yield "esc", "Share screen", "clear"
    if enter:
        yield "enter", enter, "open_row" if lists else "select_here"
    ref = finding_here(state)
    check = state.session.check(ref) if ref is not None else None
    if check is not None and check.evidence:
        yield ". ,", "Intervals", "next_evidence"
    yield from (("w s", "Zoom", "zoom_in"), ("n", "Next event", "next_event"))
    yield ("c", "Clear filter", "clear_filter") if state.filter.active else ("/", "Filter", "filter")
    if lists:
        yield "y", "Copy row", "copy_row"
    if check is not None and state.pane == "findings":
        yield "Y", "Copy finding", "copy_finding"
    if lists:
        yield "o", "Sort", "sort_next"
    if state.mark is None:
        yield "v", "Range", "mark"
    if len(state.sessions) > 1:
        yield from (("u", "Compare by", "next_measure"), ("z", "Other recording", "other_recording"))
    yield from (("t", "Group", "grouping"), ("Z", "Maximize", "maximize"))


def _tab(pane: DetailPane, state: State) -> Tab:
    keys = key_signs(shortcut_named(f"pane_{pane.PANE}"))
    return Tab(pane.PANE, f"{keys} {pane.TITLE}", pane.badge(state), f"{keys} {pane.SHORT or pane.TITLE}")


def title_line(state: State, width: int, palette: Palette) -> Text:
    """What is open, and the verdict, or what the filter lets through."""
    # A filter hides something everywhere below, which matters more than the verdict.
    on, verdict = state.filter.active, visible(_verdict(state))
    if on:
        verdict = f"Filter: {visible(filter_words(state.filter))}, c clears"
    room = max(width - 2, 0)
    if len(state.sessions) == 1:
        left = cut(visible(_name(state.session, room - cell_len(_claim(verdict)) - 2)), room)
    else:
        # What became of the findings is said in full; names keep both ends, by which they differ.
        names = [visible(session.name.removesuffix(".trace")) for session in state.sessions]
        each = max((room - cell_len(_claim(verdict)) - len(_VERSUS) - 2) // len(names), _MIN_NAME_WIDTH)
        spare = sum(max(each - cell_len(name), 0) for name in names)
        left = cut(_VERSUS.join(shorten(name, each + spare) for name in names), room)
    if on:
        left = cut(left, max(room - cell_len(verdict) - 2, _MIN_NAME_WIDTH))
    rest = _as_much_as_fits(verdict, max(room - cell_len(left) - 2, 0))
    shown = rest if not rest.endswith("…") or cell_len(rest) > _MIN_VERDICT_WIDTH else ""
    claim, rest = (_claim(shown), shown[len(_claim(shown)) :]) if not on else (shown, "")
    look = "reverse" if on else _color(state, palette) or "dim"
    return Text.assemble((left, "bold"), "  ", (claim, look), (rest, "dim"))


def _as_much_as_fits(verdict: str, room: int) -> str:
    """The verdict, else its first clause, else its beginning."""
    claim = _claim(verdict)
    return verdict if cell_len(verdict) <= room else claim if cell_len(claim) <= room else cut(verdict, room)


def _claim(verdict: str) -> str:
    return re.split("[:;.] ", verdict, maxsplit=1)[0].removesuffix(".")


_VERSUS = " → "
_MIN_NAME_WIDTH, _MIN_VERDICT_WIDTH = 8, 20
"""Cells in which a cut name, or a cut verdict, says anything."""


def _verdict(state: State) -> str:
    """Of one recording its verdict, of two what changed."""
    report = state.session.report
    if len(state.sessions) > 1 and state.comparison is not None:
        change = change_words(state.comparison)
        findings = status_counts(state.comparison)
        if change is None:
            return findings
        # What is certain comes first: at the end it may be cut.
        return f"{change[0]}; {findings}" if change[1] in _CERTAIN else f"{findings}; {change[0]}"
    return "running checks…" if report is None or len(state.sessions) > 1 else report.summary.verdict


_CERTAIN = (Answer.IMPROVED, Answer.REGRESSED)


def _color(state: State, palette: Palette) -> str | None:
    """The color of what changed, where that is certain."""
    change = change_words(state.comparison) if state.comparison is not None else None
    colors = {Answer.IMPROVED: palette.better, Answer.REGRESSED: palette.worse}
    return colors.get(change[1]) if change is not None else None


def _name(session: Session, room: int) -> str:
    """Name of the recording, and with it its target and duration where all fits."""
    run = session.trace.run
    target = run.target.process.name if run.target.process is not None else None
    parts = (session.name, target, format_duration(run.duration_ns) if run.duration_ns is not None else None)
    known = [part for part in parts if part]
    while len(known) > 1 and cell_len(" · ".join(known)) > room:
        known.pop()
    return " · ".join(known)


def _edge(time_ns: int, view: Viewport) -> str:
    """An end of the view, in as many digits as tell it from the other end."""
    return exact_moment(time_ns, view.span_ns // 10)


def _selected(session: Session, ref: EventRef) -> tuple[str, str]:
    """What is selected, for where the inspector does not say so, and when it began."""
    row, span = session.row(ref), session.span(ref)
    widths = {"label": 25, "model": 18}
    named = [shorten(row[name], room) for name, room in widths.items() if name in row and isinstance(row[name], str)]
    return visible(" · ".join([*named, format_duration(span.span_ns)])), f" · at {moment(span.start_ns)}"


def _from_mark(mark: Span, here: Span) -> str:
    """How long the range would be that ends here."""
    ends = (mark.start_ns, mark.end_ns, here.start_ns, here.end_ns)
    return f"range {format_duration(max(ends) - min(ends))}, v to finish"


def status_line(state: State, here: Span, width: int) -> str:
    """Where one is, in words: as much as fits, beginning with what is selected, the part in view and the range.

    here: where a range would end now; see `tracekit.tui.selection.range_end`.
    """
    view = state.view
    parts = {
        "selected": "",
        "when": "",
        "edges": f"{_edge(view.start_ns, view)} – {_edge(view.end_ns, view)}",
        "span": f"{format_duration(view.span_ns)} in view",
        "grouping": GROUPING_WORDS[state.grouping],
        "cursor": f"cursor {_edge(state.cursor_ns, view)}",
        "range": "",
    }
    if not state.inspector and state.selection.event is not None:
        parts["selected"], parts["when"] = _selected(state.session, state.selection.event)
    if state.mark is not None:
        parts["range"] = _from_mark(state.mark, here)
    elif state.range is not None:
        parts["range"] = f"range {format_duration(state.range.span_ns)}"
    for expendable in ("", "grouping", "cursor", "span", "when", "edges", "range"):
        parts.pop(expendable, None)
        chosen = parts["selected"] + parts.get("when", "")
        others = [part for name, part in parts.items() if name not in ("selected", "when")]
        line = "  ·  ".join(filter(None, (chosen, *others)))
        if cell_len(line) <= width - 2:
            break
    return line
