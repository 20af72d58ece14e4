"""Moving in the list that has the keys."""

from __future__ import annotations

import sys
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
    """Move to the row above."""
    if rows := focused_list(app):
        rows.move(-1)


@action("row_down")
def row_down(app: ActionHost) -> None:
    """Move to the row below."""
    if rows := focused_list(app):
        rows.move(1)


@action("page_up")
def page_up(app: ActionHost) -> None:
    """Move one page up."""
    if rows := focused_list(app):
        rows.move(-rows.page)


@action("page_down")
def page_down(app: ActionHost) -> None:
    """Move one page down."""
    if rows := focused_list(app):
        rows.move(rows.page)


@action("first_row")
def first_row(app: ActionHost) -> None:
    """Move to the first row."""
    if rows := focused_list(app):
        rows.go(0)


@action("last_row")
def last_row(app: ActionHost) -> None:
    """Move to the last row."""
    if rows := focused_list(app):
        rows.go(sys.maxsize)


@action("open_row")
def open_row(app: ActionHost) -> None:
    """List a finding's intervals, or the events behind a row of numbers; zoom to an event or prediction."""
    if rows := focused_list(app):
        rows.open()
