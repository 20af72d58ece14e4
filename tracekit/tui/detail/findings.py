"""Findings and all other checks; a check that is open is followed by its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.report.formatting import ABSENT, duration, moment
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.rowlist import Cell, Column, NoRows, RowList
from tracekit.tui.messages import CheckToggled, FindingSelected, ZoomWanted
from tracekit.tui.state import FindingRef
from tracekit.units import format_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from tracekit.report.model import Check, Report
    from tracekit.tui.state import State
    from tracekit.tui.theme import Palette

SIGNS = {"critical": "▲▲", "high": "▲", "medium": "△", "low": "·"}
"""Severities apart from colour."""
OUTCOMES = {
    "finding": "finding",
    "passed": "passed",
    "not_applicable": "does not apply",
    "insufficient_data": "not judged",
    "error": "failed",
}

_COLUMNS = (
    Column("", 2),
    Column("outcome", 14),
    Column("check", 24, drop=2),
    Column("model", 16, drop=1),
    Column("time", 10, right=True),
    Column("share", 6, right=True, drop=3),
    Column("what was seen", 0, prose=True),
)


@dataclass(frozen=True, eq=False)
class CheckRows:
    """Checks of a report, and below the open one its evidence."""

    report: Report
    open: int | None
    """Place of the check whose evidence is listed."""
    refs: tuple[FindingRef, ...]
    sorted_by = None
    empty = "No check was made."

    @property
    def columns(self) -> Sequence[Column]:
        """Columns."""
        return _COLUMNS

    def __len__(self) -> int:
        return len(self.refs)

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """A check, or an interval of evidence."""
        ref = self.refs[row]
        check = self.report.checks[ref.check]
        if ref.evidence is not None:
            entry = check.evidence[ref.evidence]
            length = duration(entry.end_ns - entry.start_ns)
            at = f"at {moment(entry.start_ns)}  {entry.label}"
            dim = palette.dim
            number = f"{ref.evidence + 1} of {len(check.evidence)}"
            return [
                Cell(""),
                Cell(number, dim),
                Cell(""),
                Cell(entry.model or "", dim),
                Cell(length),
                Cell(""),
                Cell(at, dim),
            ]
        return [
            Cell(SIGNS.get(check.severity or "", ""), palette.accent, bold=True),
            Cell(check.severity or OUTCOMES[check.outcome], *_look(check, palette)),
            Cell(check.id),
            Cell(check.model or ABSENT),
            Cell(duration(check.cost.ns) if check.cost else ABSENT),
            Cell(format_share(check.cost.share) if check.cost else ABSENT),
            Cell(check.summary),
        ]


def check_rows(report: Report, opened: int | None) -> CheckRows:
    """Rows for a report, with the evidence of one check listed below it."""
    refs: list[FindingRef] = []
    for number, check in enumerate(report.checks):
        refs.append(FindingRef(number))
        if number == opened:
            refs.extend(FindingRef(number, entry) for entry in range(len(check.evidence)))
    return CheckRows(report, opened, tuple(refs))


def _look(check: Check, palette: Palette) -> tuple[str, bool]:
    if check.outcome == "finding":
        return palette.accent, True
    return (palette.accent if check.outcome == "error" else palette.dim), False


class FindingsPane(DetailPane):
    """Findings first, then what could not be judged, then the rest."""

    PANE = "findings"
    TITLE = "Findings"

    def __init__(self) -> None:
        super().__init__()
        self._rows: CheckRows | None = None

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList()

    def focus_target(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    def show(self, state: State) -> None:
        """List the checks, with the evidence of the one that is open below it."""
        report = state.session.report
        if report is None:
            self.query_one(RowList).show(NoRows(_COLUMNS, "The detectors are at work; findings appear here."))
            return
        if self._rows is None or self._rows.report is not report or self._rows.open != state.opened:
            self._rows = check_rows(report, state.opened)
        chosen = state.selection.finding
        cursor = self._rows.refs.index(chosen) if chosen in self._rows.refs else None
        self.query_one(RowList).show(self._rows, cursor)

    def badge(self, state: State) -> str:
        """Number of findings."""
        report = state.session.report
        return str(report.summary.findings) if report is not None else "…"

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        """Look at a check, or at an interval of its evidence."""
        message.stop()
        if self._rows is not None:
            self.post_message(FindingSelected(self._rows.refs[message.row]))

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """List the evidence of a check, or no longer; zoom to an interval."""
        message.stop()
        ref = self._rows.refs[message.row] if self._rows is not None else None
        if ref is not None:
            self.post_message(ZoomWanted() if ref.evidence is not None else CheckToggled(ref.check))
