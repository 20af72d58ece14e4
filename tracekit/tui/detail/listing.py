"""A pane that is one list, whose rows are made in a thread so that a million of them hold up nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.widgets import Static

from tracekit.characters import visible
from tracekit.tui.background import in_background
from tracekit.tui.detail.columns import NoRows, Rows
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.messages import FirstRowListed, OfRecording, RedrawWanted, Sorted
from tracekit.tui.state import NOTHING, Sort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.message import Message

    from tracekit.tui.detail.columns import ListColumn
    from tracekit.tui.state import Selection, State

Made = TypeVar("Made", bound=Rows)

_MIN_HEADING_WIDTH = 30
"""Cells for which the line above a list is written at least: while it is not laid out, it has none."""


class ListPane(DetailPane, Generic[Made]):
    """Subclasses say what the rows are made from, make them, and say what choosing one means."""

    WAITING: ClassVar[str] = "Loading…"
    """What to say before there are rows."""
    HEADED: ClassVar[bool] = False
    """Whether a line above the list says what it is about."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: Made | None = None
        self._made_from: tuple[object, ...] = ()
        self._fresh = False
        """Whether the rows on screen are those of the state: a row of another recording means nothing in this one."""
        self._state: State | None = None

    def made_from(self, state: State) -> tuple[object, ...]:
        """What the rows depend on; they are made again where it is not equal."""
        raise NotImplementedError

    def make(self, state: State) -> Made | None:
        """The rows; None where they cannot be made yet. Runs in a thread."""
        raise NotImplementedError

    def row_of(self, rows: Made, state: State) -> int | None:
        """The row of what is selected; None where it is not in the list."""
        raise NotImplementedError

    def chosen(self, rows: Made, row: int) -> Message | None:
        """What it means that the cursor came to a row."""
        raise NotImplementedError

    def selection_of(self, rows: Made, row: int) -> Selection | None:
        """What a row stands for; None where it is nothing that can be selected, or where that is known anyway."""
        del rows, row
        return None

    def opened(self, rows: Made, row: int) -> Message | None:
        """What it means that a row was opened."""
        raise NotImplementedError

    def heading(self, state: State, rows: Made, room: int) -> str:
        """The line above the list, in `room` cells, where it is `HEADED`."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The line and the list."""
        if self.HEADED:
            yield Static(classes="heading", markup=False)
        yield RowList()

    def focus_target(self) -> RowList:
        """The list, without the line above it."""
        return self.query_one(RowList)

    def show(self, state: State) -> None:
        """List what there is now, and have the rows made again where something that they show changed."""
        self._state = state
        made_from = self.made_from(state)
        if made_from == self._made_from:
            self._draw()
            return
        self._made_from, self._fresh = made_from, False
        if self._rows is None:
            self._draw()
        else:
            self.query_one(RowList).wait()

        def take(rows: Made | None) -> None:
            # Something else may be wanted by now.
            if made_from == self._made_from:
                self._rows, self._fresh = rows, True
                self.post_message(RedrawWanted())

        in_background(self, lambda: self.make(state), take)

    def _draw(self) -> None:
        rows, state, listed = self._rows, self._state, self.query_one(RowList)
        if rows is None or state is None:
            listed.show(NoRows((), self.WAITING), final=False)
            return
        hidden = frozenset(title for pane, title in state.hidden if pane == self.PANE)
        listed.show(rows, self.row_of(rows, state), hidden, final=self._fresh)
        if self._fresh and state.selection == NOTHING:
            self._post(FirstRowListed(self.PANE, self.selection_of(rows, listed.cursor) if len(rows) else None))
        if self.HEADED:
            line = self.query_one(Static)
            line.update(visible(self.heading(state, rows, max(line.content_size.width, _MIN_HEADING_WIDTH))))

    def on_resize(self, event: events.Resize) -> None:
        """Say as much above the list as there is room for now."""
        del event
        if self.HEADED:
            self.call_after_refresh(self._draw)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of all its columns."""
        return tuple(column.title for column in self._columns())

    def sort_next(self) -> bool:
        """Ask for sorting by the next column on screen; False where this list cannot be sorted."""
        sort, titles = self._sort(), [column.title for column in self.query_one(RowList).shown if column.ordered]
        if sort is None or not titles:
            return False
        at = titles.index(sort.column) + 1 if sort.column in titles else 0
        self._sort_by(titles[at % len(titles)])
        return True

    def sort_reversed(self) -> bool:
        """Ask for the other direction; False where this list cannot be sorted."""
        sort = self._sort()
        if sort is not None:
            self.post_message(Sorted(self.PANE, Sort(sort.column, not sort.descending)))
        return sort is not None

    def on_row_list_header_clicked(self, message: RowList.HeaderClicked) -> None:
        """Sort by a column, or the other way round where it is the one already."""
        message.stop()
        sort, column = self._sort(), message.column
        if sort is not None and column.title == sort.column:
            self.sort_reversed()
        elif sort is not None and column.ordered and column.title in self.titles:
            self._sort_by(column.title)

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        """Post what `chosen` says of the row that the cursor came to."""
        message.stop()
        if self._rows is not None and self._is_current(message):
            what = self.chosen(self._rows, message.row)
            if what is None:
                message.rows.arrived(message.row)
            self._post(what)

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Post what `opened` says of the row."""
        message.stop()
        if self._rows is not None and self._is_current(message):
            if self._state is None or self.row_of(self._rows, self._state) != message.row:
                # The first row has the cursor before anybody chose it.
                self._post(self.chosen(self._rows, message.row))
            self._post(self.opened(self._rows, message.row))

    def _is_current(self, message: RowList.OfRow) -> bool:
        """Whether a list's message is about rows that are still listed: others, and fewer, may have come since."""
        rows = message.listed
        return rows is not None and message.row < len(rows) and rows is self._rows and self._fresh

    def _post(self, what: Message | None) -> None:
        if isinstance(what, OfRecording) and self._state is not None:
            what.recording = self._state.active
        if what is not None:
            self.post_message(what)

    def _columns(self) -> Sequence[ListColumn[Any]]:
        return self._rows.columns if self._rows is not None else ()

    def _sort(self) -> Sort | None:
        """How the list is sorted now."""
        return self._rows.sort if self._rows is not None else None

    def _sort_by(self, title: str) -> None:
        """Numbers begin with the largest, words with the first; so does time."""
        column = next(column for column in self._columns() if column.title == title)
        self.post_message(Sorted(self.PANE, Sort(title, not column.words and title != "start")))


def unnarrowed(state: State) -> str:
    """What to say above a list that range and filter leave as it is; nothing where there is neither."""
    full_range = "whole recording" if state.range is not None else ""
    return ", ".join(part for part in (full_range, "not filtered" if state.filter.active else "") if part)
