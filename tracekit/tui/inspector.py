"""What is selected, in full. `inspector_group` makes the text from a state; the widget only shows it."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from tracekit.characters import visible
from tracekit.tui.detail.rowlist import TextScroll
from tracekit.tui.inspection.event import (
    event_blocks,
    facts,
    heading,
    prediction_blocks,
    range_blocks,
    top_blocks,
    why_blocks,
)
from tracekit.tui.inspection.report import finding_blocks, model_blocks, row_blocks
from tracekit.tui.ranges import NO_EVENTS
from tracekit.tui.state import State
from tracekit.tui.text import Drawn
from tracekit.tui.theme import Palette, palette_of


def inspector_group(state: State, palette: Palette, *, monochrome: bool, events: bool) -> Group:
    """About the selection, and below it about the range. What was asked for last stands first. `events`: whether there
    are any to select.

    Where nothing is selected, a list has its cursor on the first row, which is shown then.
    """
    blocks: list[RenderableType] = []
    selection, session = state.inspector_selection, state.session
    if selection.elsewhere is not None:
        other = replace(state.with_active(1 - state.active), selection=selection.elsewhere)
        note = Text(f"Only in {visible(other.session.name)}; z goes there.\n", "dim")
        return Group(note, inspector_group(other, palette, monochrome=monochrome, events=events))
    if selection.finding is not None:
        blocks += finding_blocks(session, selection.finding, palette)
    elif selection.model is not None:
        blocks += model_blocks(session, selection.model, palette, monochrome=monochrome)
    elif selection.row is not None:
        blocks += row_blocks(state, selection.row)
    if selection.event is not None:
        event, waits = [*event_blocks(session, selection.event)], selection.waits
        why = why_blocks(session, selection.event.index if waits is None else waits.prediction, waits)
        if selection.event.frame == "activity":
            parts = [*prediction_blocks(session, selection.event.index, palette, monochrome=monochrome)]
            parts = [*parts, *why] if waits is None else [*why, *parts]
            title = top_blocks(session, selection.event.index, explained=waits is not None)
            event = [*title, *parts, *event] if selection.prediction is not None else [*event, *parts]
        elif waits is not None and waits.step is not None:
            row = session.row(selection.event)
            about = [("behind", str(row["process"] if row["model"] is None else row["model"]))]
            about.append(("keys", ". , to step · W why slow"))
            event = [heading(f"Wait {waits.step + 1} of {len(waits.rows)}"), facts(about), "", *event, *why]
        blocks = [*event, *blocks] if selection.finding is None else [*blocks, "", *event]
    if state.range is not None:
        # There, the range has the code.
        at = 0 if state.pane == "code" else len(blocks)
        blocks[at:at] = range_blocks(state, state.range, state.ends)
    summary = session.report.summary if session.report is not None else None
    nothing = "Nothing selected." if summary is None or summary.evaluated else summary.verdict
    how = "Click an event, or press n for the next event in the lane. ? shows all keys." if events else NO_EVENTS
    return Group(*(blocks or [Text(f"{nothing}\n\n{how}", "dim")]))


class Inspector(TextScroll):
    """Beside the detail, or in its place."""

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._inputs: object = None

    def compose(self) -> ComposeResult:
        """The one text that all is written into."""
        yield Static()

    def show(self, state: State, *, events: bool) -> None:
        """Write about the selection; see `inspector_group`."""
        palette = palette_of(self.app.current_theme)
        about = (state.range, state.ends, state.session, state.filter, state.pane == "code")
        inputs = (state.inspector_selection, *about, palette.text, events)
        if inputs != self._inputs:
            # The report may come, or the theme change, while somebody reads.
            same = isinstance(self._inputs, tuple) and self._inputs[:2] == inputs[:2]
            self._inputs = inputs
            text = inspector_group(state, palette, monochrome=self.app.no_color, events=events)
            self.query_one(Static).update(Drawn(text))
            if not same:
                self.scroll_home(animate=False)
