"""Moving in the list that has the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import Action, Scope, Section

if TYPE_CHECKING:
    from tracekit.tui.app import ViewApp
    from tracekit.tui.detail.rowlist import RowList


def focused_list(app: ViewApp) -> RowList | None:
    """The list that has the keys; None where something else has."""
    from tracekit.tui.detail.rowlist import RowList

    return app.focused if isinstance(app.focused, RowList) else None


def row_up(app: ViewApp) -> None:
    """The row above."""
    if rows := focused_list(app):
        rows.move(-1)


def row_down(app: ViewApp) -> None:
    """The row below."""
    if rows := focused_list(app):
        rows.move(1)


def page_up(app: ViewApp) -> None:
    """A page up."""
    if rows := focused_list(app):
        rows.move(-rows.page)


def page_down(app: ViewApp) -> None:
    """A page down."""
    if rows := focused_list(app):
        rows.move(rows.page)


def first_row(app: ViewApp) -> None:
    """The first row."""
    if rows := focused_list(app):
        rows.go(0)


def last_row(app: ViewApp) -> None:
    """The last row."""
    if rows := focused_list(app):
        rows.go(rows.count - 1)


def open_row(app: ViewApp) -> None:
    """Open the row."""
    if rows := focused_list(app):
        rows.open()


ACTIONS: tuple[Action, ...] = (
    Action("row_up", ("up", "k"), "Row above", Section.DETAIL, "Select the row above in a list.", row_up, Scope.LIST),
    Action(
        "row_down", ("down", "j"), "Row below", Section.DETAIL, "Select the row below in a list.", row_down, Scope.LIST
    ),
    Action("page_up", ("pageup",), "Page up", Section.DETAIL, "Go up a page in a list.", page_up, Scope.LIST),
    Action("page_down", ("pagedown",), "Page down", Section.DETAIL, "Go down a page in a list.", page_down, Scope.LIST),
    Action(
        "first_row", ("home",), "First row", Section.DETAIL, "Go to the first row of a list.", first_row, Scope.LIST
    ),
    Action("last_row", ("end",), "Last row", Section.DETAIL, "Go to the last row of a list.", last_row, Scope.LIST),
    Action(
        "open_row",
        ("enter",),
        "Open row",
        Section.DETAIL,
        "List what is behind a row: the intervals of a finding, the events of numbers or of a model; else zoom to it.",
        open_row,
        Scope.LIST,
    ),
)
