"""Findings, and below them all other checks; what is open is followed by its evidence or by what shares its row."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.widgets import Static

from tracekit.report.formatting import visible
from tracekit.tui.detail.checks import BY_RANK, CheckRows, check_rows
from tracekit.tui.detail.pane import ListPane, full_list_words
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.messages import CheckToggled, ZoomWanted
from tracekit.tui.selection import interval_of
from tracekit.tui.state import NOTHING, FindingRef, Selection, State

if TYPE_CHECKING:
    from textual import events
    from textual.message import Message


_ROOMY = 14
"""Lines of the pane from which the line above the list gets a second one."""
_MORE = "i for more"


class FindingsPane(ListPane[CheckRows]):
    """Findings first, then what was not evaluated, then the rest; above the list the summary of one of them."""

    PANE = "findings"
    TITLE = "Findings"
    WAITING = "Running checks… findings appear here."

    def inputs(self, state: State) -> tuple[object, ...]:
        """The report, what is open, and the order."""
        return (state.session, state.opened, state.sorts.get(self.PANE, BY_RANK))

    def make(self, state: State) -> CheckRows | None:
        """The checks, with what is open below its row."""
        report = state.session.report
        return None if report is None else check_rows(report, state.opened, state.sorts.get(self.PANE, BY_RANK))

    def heading(self, state: State, rows: CheckRows, room: int) -> str:
        """What was seen of the row that has the cursor."""
        cursor = self.query_one(RowList).cursor
        if cursor >= len(rows):
            return ""
        lines = max(self.query_one(Static).content_size.height, 1)
        more = "" if state.inspector else f" · {_MORE}"
        first = f"{notice} · " if (notice := full_list_words(state)) else ""
        if rows.rows[cursor].ref.evidence is not None:
            return f"{first}{rows.interval_description(cursor, room - cell_len(first) - cell_len(more))}{more}"
        text = f"{first}{visible(rows.description(cursor))}{more}"
        return "\n".join(textwrap.wrap(text, room, max_lines=lines, placeholder=f" …{more}"))

    def row_of(self, rows: CheckRows, state: State) -> int | None:
        """The check or interval that is selected; where nothing is, the first finding. An event that is chosen
        elsewhere is the interval of the open finding that was made from it, and takes the cursor off any other."""
        cursor = self.query_one(RowList).cursor
        chosen = FindingRef(0) if state.selection == NOTHING else state.selection.finding
        if chosen is None and state.opened is not None:
            event = state.selection.event
            chosen = interval_of(state.session, state.opened, event) if event is not None else None
            chosen = chosen or FindingRef(state.opened)
        return rows.row_of(chosen, cursor) if chosen is not None else None

    def selection_of(self, rows: CheckRows, row: int) -> Selection:
        """A check, or an interval of its evidence."""
        return Selection(finding=rows.rows[row].ref)

    def open_message(self, rows: CheckRows, row: int) -> Message:
        """List the evidence or the checks of a row, or no longer; zoom to an interval."""
        ref = rows.rows[row].ref
        return ZoomWanted() if ref.evidence is not None else CheckToggled(rows.to_toggle(ref.check))

    def enter_words(self) -> str:
        """What enter does with the row that has the cursor."""
        listed = self.query_one(RowList)
        rows = listed.rows
        if not isinstance(rows, CheckRows) or listed.cursor >= len(rows):
            return ""
        row = rows.rows[listed.cursor]
        if row.ref.evidence is not None:
            return "Zoom in"
        shared = len(row.alike) > 1
        if not shared and not rows.report.results[row.ref.check].evidence:
            return ""
        if rows.open is not None and rows.to_toggle(row.ref.check) == rows.open:
            return "Close"
        return "List checks" if shared else "List intervals"

    def badge(self, state: State) -> str:
        """Number of findings."""
        report = state.session.report
        return str(report.summary.findings) if report is not None else "…"

    def on_resize(self, event: events.Resize) -> None:
        """Give what was seen more room where there is."""
        self.query_one(Static).styles.height = 2 if event.size.height >= _ROOMY else 1
