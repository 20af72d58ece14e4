"""A list of any number of rows. Only the rows on screen are ever made into text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tracekit.render.blocks import Role, plain, spans
from tracekit.report.formatting import shorten, visible
from tracekit.tui.detail.columns import GAP, ListColumn, Rows, column_widths, headings, no_records
from tracekit.tui.keys import Scope, bindings
from tracekit.tui.text import bar_segments, cut, pointer, with_focus_sign
from tracekit.tui.theme import Palette, palette_of, style


class TextScroll(VerticalScroll, can_focus=True):
    """A text that scrolls with the keys of lists; a row is a line."""

    BINDINGS = bindings(Scope.LIST)

    @property
    def page(self) -> int:
        """Lines on screen."""
        return max(self.size.height - 1, 1)

    def move(self, step: int) -> None:
        """Scroll by some lines."""
        self.go(int(self.scroll_y) + step)

    def go(self, row: int) -> None:
        """Scroll to a line."""
        self.scroll_to(y=row, animate=False)

    def open(self) -> None:
        """A line has nothing to open."""


class RowList(ScrollView, can_focus=True):
    """A list with a header and a cursor."""

    BINDINGS = bindings(Scope.LIST)
    ALLOW_SELECT = False

    def __init__(
        self,
        selected: Callable[[int], None],
        opened: Callable[[int], None],
        title_clicked: Callable[[ListColumn[Any]], None],
    ) -> None:
        """`selected` gets a row that the cursor came to by key or click, `opened` one that was chosen with enter or two
        clicks, and `title_clicked` a column."""
        super().__init__()
        self._selected, self._opened, self._title_clicked = selected, opened, title_clicked
        self.rows: Rows[Any] = no_records("")
        self._hidden: frozenset[str] = frozenset()
        self.cursor = 0
        self._ahead: list[int] = []
        """Rows that the cursor went to and that the state does not know of yet, in that order."""
        self._given: int | None = None
        """The row that the state asked for last."""
        self._waits = True
        """Whether other rows than those on screen are being made."""
        self._typed: list[Callable[[], None]] = []
        """What keys asked for meanwhile."""

    def wait(self) -> None:
        """Other rows are being made: what keys ask for is done in those."""
        self._waits = True

    def show(
        self, rows: Rows[Any], cursor: int | None = None, hidden: frozenset[str] = frozenset(), *, final: bool = True
    ) -> None:
        """Show other rows, or the same with the cursor elsewhere; without the columns `hidden`. Selects nothing.

        Where keys moved the cursor since the state was shown, it stays. Not `final`: others are being made.
        """
        changed = rows is not self.rows
        self.rows, self._hidden, self._waits = rows, hidden, not final
        if changed or cursor is None:
            self._given = cursor
        if changed:
            self._ahead.clear()
        elif cursor is not None and self._lags(cursor):
            cursor = None
        if cursor is not None or changed:
            self.cursor = min(max(self.cursor if cursor is None else cursor, 0), max(len(rows) - 1, 0))
            self.call_after_refresh(self._follow)
        self.virtual_size = Size(self.size.width, len(rows) + 1)
        self.refresh()
        if final and not self._ahead:
            typed, self._typed = self._typed, []
            for key in typed:
                key()

    def _lags(self, row: int) -> bool:
        """Whether a row that the state asks for is one that the cursor has left again by key."""
        before, self._given = self._given, row
        if row != before:
            if row in self._ahead:
                self.finish_move(row)
            else:
                # Somebody else chose it, so that it counts for more than where keys went before.
                self._ahead.clear()
        return bool(self._ahead)

    def on_hide(self) -> None:
        """What is selected while nobody sees it, the state alone knows."""
        self._ahead.clear()
        self._typed.clear()
        self._given = None

    def finish_move(self, row: int) -> None:
        """All is done that follows from the cursor having come to a row."""
        if row in self._ahead:
            del self._ahead[: self._ahead.index(row) + 1]

    def on_resize(self, event: events.Resize) -> None:
        """Fit the width."""
        self.virtual_size = Size(event.size.width, len(self.rows) + 1)

    def move(self, step: int) -> None:
        """Move the cursor by some rows."""
        if not self.later(partial(self.move, step)):
            self.go(self.cursor + step)

    def go(self, row: int) -> None:
        """Put the cursor on a row, or the nearest there is, and select it."""
        if self.later(partial(self.go, row)) or not len(self.rows):
            return
        goal = min(max(row, 0), len(self.rows) - 1)
        # Asked for once more, it would take back what a key has done with it meanwhile.
        if goal == self.cursor == (self._ahead[-1] if self._ahead else self._given):
            return
        self._ahead.append(goal)
        self.cursor = goal
        self._follow()
        self.refresh()
        self._selected(goal)

    def open(self) -> None:
        """Open the row with the cursor."""
        if not self.later(self.open) and len(self.rows):
            self._opened(self.cursor)

    def later(self, what: Callable[[], None], *, known: bool = False) -> bool:
        """Whether what a key asks for has to wait, for other rows that are being made or for what was typed before; it
        is done then. `known`: or until the state knows of the row with the cursor."""
        waits = self._waits or bool(self._typed) or (known and bool(self._ahead))
        if waits:
            self._typed.append(what)
        return waits

    @property
    def page(self) -> int:
        """Rows on screen."""
        return max(self.size.height - 1, 1)

    def visible_columns(self, hidden: frozenset[str] | None = None) -> list[ListColumn[Any]]:
        """Columns on screen, from left to right, as it is or if these were hidden."""
        return [column for column, _ in self._with_room(self._hidden if hidden is None else hidden)]

    def _with_room(self, hidden: frozenset[str]) -> list[tuple[ListColumn[Any], int]]:
        """Columns that would be on screen, with their cells."""
        widths = column_widths(self.rows.columns, self._room, hidden)
        return [(column, room) for column, room in zip(self.rows.columns, widths, strict=True) if room]

    @property
    def _room(self) -> int:
        """Cells beside the scroll bar, or in all."""
        return self.scrollable_content_region.width or self.size.width

    def _follow(self) -> None:
        """Scroll as far as needed to show the cursor."""
        top = int(self.scroll_offset.y)
        wanted = min(max(top, self.cursor + 1 - self.page), self.cursor)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """Choose a row, or a column to sort by."""
        if event.y == 0:
            left = 1
            for column, room in self._with_room(self._hidden):
                if left <= event.x < left + room + GAP:
                    self._title_clicked(column)
                left += room + GAP
            return
        row = int(self.scroll_offset.y) + event.y - 1
        # A click is about what is seen.
        if row < len(self.rows) and not self._waits:
            self.go(row)
            if event.chain == 2:
                self.open()

    def render_line(self, y: int) -> Strip:
        """One line, for Textual."""
        palette, width = palette_of(self.app.current_theme), self._room
        row = int(self.scroll_offset.y) + y - 1
        if y == 0 and not len(self.rows):
            text = set_cell_size(f" {cut(self.rows.empty, width - 1)}", width)
            line = [Segment(text, style(palette.dim, palette.background))]
        elif y == 0:
            rows, widths = self.rows, column_widths(self.rows.columns, self._room, self._hidden)
            titles = zip(headings(rows.columns, rows.sort, widths), rows.columns, widths, strict=True)
            text = " " + (" " * GAP).join(_fit(title, room, column) for title, column, room in titles if room)
            line = [Segment(set_cell_size(text, width), style(palette.dim, palette.gutter))]
        elif row < len(self.rows):
            line = self._line(row, width, palette)
        else:
            line = [Segment(" " * width, style(None, palette.background))]
        return Strip(with_focus_sign(line, palette) if self.has_focus else line, width)

    def _line(self, row: int, width: int, palette: Palette) -> list[Segment]:
        here = row == self.cursor
        ground = palette.background
        if here:
            ground = palette.range if self.has_focus else palette.cursor
        segments = [Segment(pointer(keys=self.has_focus) if here else " ", style(palette.text, ground))]
        used = 1
        record = self.rows.record(row)
        for column, room in self._with_room(self._hidden):
            if used > 1:
                segments.append(Segment(" " * GAP, style(None, ground)))
                used += GAP
            if column.bar is not None and (bar := column.bar(record)) is not None:
                segments += bar_segments(bar(room), palette, ground, monochrome=self.app.no_color)
            else:
                line = column.text(record)
                role, text = spans(line)[0].role, visible(plain(line))
                if column.short is not None and cell_len(text) > room:
                    text = visible(column.short(record, room))
                color: str = palette.text_on(ground, palette.of(role))
                look: Style = style(color, ground, bold=role in (Role.STRONG, Role.HIGH))
                if role is Role.CRITICAL:
                    # Told apart from high at a glance, without colors too.
                    look = style(palette.severity, palette.background, bold=True, reverse=True)
                segments.append(Segment(_fit(text, room, column), look))
            used += room
        segments.append(Segment(" " * max(width - used, 0), style(None, ground)))
        return segments


def _fit(text: str, width: int, column: ListColumn[Any]) -> str:
    text = cut(text, width) if column.prose else shorten(text, width)
    room = " " * (width - cell_len(text))
    return text + room if column.words else room + text
