"""What stands in a list of the terminal UI."""

from __future__ import annotations

from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.theme import PALETTES


def listed(screen, pane) -> RowList:
    """The list of a pane."""
    return screen.app.browse.query_one(pane).query_one(RowList)


def column(screen, pane, title: str) -> list[str]:
    """All texts of a column."""
    rows = listed(screen, pane).rows
    at = [entry.title for entry in rows.columns].index(title)
    return [rows.cells(row, PALETTES[True])[at].text for row in range(len(rows))]


def heading(screen, pane) -> str:
    """The line above the list of a pane."""
    return str(screen.app.browse.query_one(pane).query_one(".heading").render())
