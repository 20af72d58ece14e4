"""What a pane of the detail area is: a text, or a list, whose rows are made in a thread so that any number is fine."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from tracekit.characters import visible
from tracekit.tui import messages
from tracekit.tui.detail.columns import ListColumn, Rows, no_records
from tracekit.tui.detail.rowlist import RowList, TextScroll
from tracekit.tui.state import NOTHING, Selection, Sort, State


class DetailPane(Vertical):
    """One way of looking at the recording below the timeline.

    A pane draws what `show` gives it and keeps nothing that another part of the screen would have to know. What the
    user chooses in it goes out as a message of `tracekit.tui.messages`; the app changes the state and shows it again.
    """

    PANE: ClassVar[str]
    """Id: value of `State.pane`, and of the action `pane_<id>`."""
    TITLE: ClassVar[str]
    """On its tab."""
    SHORT: ClassVar[str] = ""
    """What stands there where the tabs would not fit otherwise; empty for the title."""
    ENTER: ClassVar[str] = ""
    """What enter does, in a word or two."""
    WAITING: ClassVar[str] = "Running checks…"
    """What to say before there is anything to show."""
    RECORDINGS: ClassVar[int] = 1
    """How many recordings it needs."""

    def __init__(self) -> None:
        super().__init__(id=f"pane-{self.PANE}")

    def show(self, state: State) -> None:
        """Draw a state. Called when the state changed and this pane is the one on screen, and when it comes on screen.

        It must be cheap where nothing changed that the pane shows: compare by identity what it was made from.
        """
        raise NotImplementedError

    def focus_target(self) -> Widget:
        """The widget that takes the keys when the pane is chosen."""
        raise NotImplementedError

    def enter_words(self) -> str:
        """What enter does in this pane now; nothing where it does nothing."""
        return self.ENTER

    def badge(self, state: State) -> str:
        """A few characters behind the title, for example a count."""
        del state
        return ""


class TextPane(DetailPane):
    """A pane that is one text, which can have the focus to be scrolled."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: object = None

    def compose(self) -> ComposeResult:
        """The text in a container that scrolls."""
        with TextScroll():
            yield Static(self.WAITING)

    def focus_target(self) -> Widget:
        """The container that scrolls."""
        return self.query_one(TextScroll)

    def _depends_on(self, state: State) -> tuple[object, ...] | None:
        """What the text depends on; None while it cannot be written yet."""
        raise NotImplementedError

    def _text(self, state: State) -> VisualType:
        """The text, once there is what it is made from."""
        raise NotImplementedError

    def show(self, state: State) -> None:
        """Write the text again where something that it is made from changed."""
        inputs = self._depends_on(state)
        if inputs is not None and inputs != self._inputs:
            self._inputs = inputs
            self.query_one(Static).update(self._text(state))
            self.focus_target().scroll_home(animate=False)


Made = TypeVar("Made", bound=Rows[Any])

_MIN_HEADING_WIDTH = 30
"""Cells for which the line above a list is written at least: while it is not laid out, it has none."""


class ListPane(DetailPane, Generic[Made]):
    """Subclasses say what the rows are made from, make them, and say what choosing one means."""

    MADE_FROM: ClassVar[tuple[str, ...]] = ()
    """What of a state the rows depend on beside their order: names of attributes."""
    FIRST_SORT: ClassVar[Sort]
    """The order until the user chooses one."""
    state: State
    """What is shown. Only after something was."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: Made | None = None
        self._inputs: tuple[object, ...] = ()
        self._fresh = False
        """Whether the rows on screen are those of the state: a row of another recording means nothing in this one."""

    def sort(self, state: State) -> Sort:
        """The order that is wanted."""
        return state.sorts.get(self.PANE, self.FIRST_SORT)

    def _depends_on(self, state: State) -> tuple[object, ...]:
        """What the rows depend on; they are made again where it is not equal."""
        return (*(attrgetter(name)(state) for name in self.MADE_FROM), self.sort(state))

    def make(self, state: State) -> Made | None:
        """The rows; None where they cannot be made yet. Runs in a thread."""
        raise NotImplementedError

    def _row_of(self, rows: Made, state: State) -> int | None:
        """The row of what is selected; None where it is not in the list. O(n)."""
        if state.selection == NOTHING:
            return None
        return next((row for row in range(len(rows)) if self._selection_of(rows, row) == state.selection), None)

    def _selection_of(self, rows: Made, row: int) -> Selection | None:
        """What a row stands for; None where it is nothing that can be selected."""
        raise NotImplementedError

    def open_message(self, rows: Made, row: int) -> Message:
        """What it means that a row was opened: to zoom to it, unless subclasses know better."""
        del rows, row
        return messages.ZoomWanted()

    def enter_words(self) -> str:
        """What enter does; nothing in an empty list."""
        return self.ENTER if self._rows is not None and len(self._rows) else ""

    def heading(self, state: State, rows: Made, room: int) -> str:
        """The line above the list, in `room` cells."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The line and the list."""
        yield Static(classes="heading", markup=False)
        yield RowList(self._select, self._open, self.sort_by_title)

    def focus_target(self) -> RowList:
        """The list, without the line above it."""
        return self.query_one(RowList)

    def show(self, state: State) -> None:
        """List what there is now, and have the rows made again where something that they show changed."""
        self.state = state
        inputs = self._depends_on(state)
        if inputs == self._inputs:
            self._draw()
            return
        self._inputs, self._fresh = inputs, False
        if self._rows is None:
            self._draw()
        else:
            self.query_one(RowList).wait()

        def take(rows: Made | None) -> None:
            # Something else may be wanted by now.
            if inputs == self._inputs:
                self._rows, self._fresh = rows, True
                self.post_message(messages.RedrawWanted())

        messages.in_background(self, lambda: self.make(state), take)

    def _draw(self) -> None:
        rows, listed = self._rows, self.query_one(RowList)
        if rows is None:
            listed.show(no_records(self.WAITING), final=False)
            return
        state = self.state
        hidden = frozenset(title for pane, title in state.hidden if pane == self.PANE)
        listed.show(rows, self._row_of(rows, state), hidden, final=self._fresh)
        if self._fresh and state.selection == NOTHING:
            self._post(
                messages.FirstRowListed(self.PANE, self._selection_of(rows, listed.cursor) if len(rows) else None)
            )
        line = self.query_one(Static)
        # An empty list says itself that there is nothing, and of what.
        words = self.heading(state, rows, max(line.content_size.width, _MIN_HEADING_WIDTH)) if len(rows) else ""
        line.update(visible(words))

    def on_resize(self) -> None:
        """Say as much above the list as there is room for now."""
        self.call_after_refresh(self._draw)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of all its columns."""
        return tuple(column.title for column in self._rows.columns) if self._rows is not None else ()

    def next_sort(self) -> Sort | None:
        """The order by the next column on screen; None where this list cannot be sorted."""
        columns = [column for column in self.query_one(RowList).visible_columns() if column.ordered]
        if self._rows is None or not columns:
            return None
        at = next((at for at, column in enumerate(columns) if column.title == self._rows.sort.column), -1)
        return _first_order(columns[(at + 1) % len(columns)])

    def reversed_sort(self) -> Sort | None:
        """The other direction; None where this list cannot be sorted."""
        sort = None if self._rows is None else self._rows.sort
        return sort and Sort(sort.column, not sort.descending)

    def sort_by_title(self, column: ListColumn[Any]) -> None:
        """Sort by the column whose title was clicked, or the other way round where it is the one already."""
        again = self._rows is not None and column.title == self._rows.sort.column
        sort = self.reversed_sort() if again else _first_order(column)
        if again or (column.ordered and column.title in self.titles):
            self.post_message(messages.ChangeWanted(sorts={**self.state.sorts, self.PANE: sort}))

    def _select(self, row: int) -> None:
        """Select what a row stands for, to which the cursor came."""
        selection = self._selection_of(self._rows, row) if self._rows is not None else None
        if selection is not None:
            self._post(messages.Selected(selection))
        else:
            self.query_one(RowList).finish_move(row)

    def _open(self, row: int) -> None:
        """Do what enter does with a row."""
        if self._rows is None:
            return
        if self._row_of(self._rows, self.state) != row:
            # The first row has the cursor before anybody chose it.
            self._select(row)
        self._post(self.open_message(self._rows, row))

    def _post(self, what: Message) -> None:
        if isinstance(what, messages.OfRecording):
            what.recording = self.state.active
        self.post_message(what)


def _first_order(column: ListColumn[Any]) -> Sort:
    """Numbers begin with the largest, words with the first; so does time."""
    return Sort(column.title, not column.words and column.title != "start")


def full_list_words(state: State) -> str:
    """What to say above a list that range and filter leave as it is; nothing where there is neither."""
    full_range = "whole recording" if state.range is not None else ""
    return ", ".join(part for part in (full_range, "not filtered" if state.filter.active else "") if part)
