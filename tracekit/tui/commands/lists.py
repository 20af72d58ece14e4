"""Moving in the list that has the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import action
from tracekit.tui.detail.rowlist import RowList

if TYPE_CHECKING:
    from tracekit.tui.action import ActionHost


def focused_list(app: ActionHost) -> RowList | None:
    """The list that has the keys; None where something else has."""
    focused = app.focused
    return focused if isinstance(focused, RowList) else None


@action("row_up")
def row_up(app: ActionHost) -> None:
    """Select the row above in a list."""
    if rows := focused_list(app):
        rows.move(-1)


@action("row_down")
def row_down(app: ActionHost) -> None:
    """Select the row below in a list."""
    if rows := focused_list(app):
        rows.move(1)


@action("page_up")
def page_up(app: ActionHost) -> None:
    """Go up a page in a list."""
    if rows := focused_list(app):
        rows.move(-rows.page)


@action("page_down")
def page_down(app: ActionHost) -> None:
    """Go down a page in a list."""
    if rows := focused_list(app):
        rows.move(rows.page)


@action("first_row")
def first_row(app: ActionHost) -> None:
    """Go to the first row of a list."""
    if rows := focused_list(app):
        rows.go(0)


@action("last_row")
def last_row(app: ActionHost) -> None:
    """Go to the last row of a list."""
    if rows := focused_list(app):
        rows.go(rows.count - 1)


@action("open_row")
def open_row(app: ActionHost) -> None:
    """List what is behind a row: the intervals of a finding, the events of numbers or of a model; else zoom to it."""
    if rows := focused_list(app):
        rows.open()
