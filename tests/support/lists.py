"""What stands in a list of the terminal UI."""

from __future__ import annotations

from tracekit.render.blocks import plain
from tracekit.tui.detail.rowlist import RowList


def listed(screen, pane) -> RowList:
    """The list of a pane."""
    return screen.app.browse.query_one(pane).query_one(RowList)


def column(screen, pane, title: str) -> list[str]:
    """All texts of a column."""
    rows = listed(screen, pane).rows
    at = [entry.title for entry in rows.columns].index(title)
    return [plain(rows.columns[at].text(rows.record(row))) for row in range(len(rows))]


def heading(screen, pane) -> str:
    """The line above the list of a pane."""
    return str(screen.app.browse.query_one(pane).query_one(".heading").render())
