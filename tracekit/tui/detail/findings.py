"""Findings, and below them all other checks by detector; what is open is followed by its evidence or its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.report.formatting import ABSENT, duration, moment
from tracekit.tui.detail.pane import DetailPane
from tracekit.tui.detail.rowlist import Cell, Column, NoRows, RowList
from tracekit.tui.messages import CheckToggled, FindingSelected, ZoomWanted
from tracekit.tui.state import FindingRef
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from tracekit.report.model import Report
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
    Column("outcome", 14),
    Column("check", 22, most=27),
    Column("model", 14, drop=1, most=24),
    Column("could win", 9, right=True),
    Column("share", 6, right=True, drop=2),
    Column("what was seen", 0, prose=True, drop=3, least=24),
)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A line of the list: one check, an interval of its evidence, or checks of one detector that came out alike."""

    ref: FindingRef
    """What is selected with the row; of several checks, the first."""
    alike: tuple[int, ...] = ()
    """Places in `Report.checks` of the checks that share the row, where it is about several."""
    below: bool = False
    """Whether it is one of those that share the row above."""

    def about(self, ref: FindingRef) -> bool:
        """Whether the row stands for a check or an interval that has no row of its own."""
        return ref == self.ref or (ref.evidence is None and ref.check in self.alike)


@dataclass(frozen=True, eq=False)
class CheckRows:
    """Findings one by one, then a row per detector and outcome; below the open one its evidence or its models."""

    report: Report
    open: int | None
    """Place of the check whose evidence is listed, or of one in the row whose models are."""
    rows: tuple[CheckRow, ...]
    sorted_by = None
    empty = "No check was made."

    @property
    def columns(self) -> Sequence[Column]:
        """Columns."""
        return _COLUMNS

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, ref: FindingRef, cursor: int) -> int | None:
        """The row of a check or interval, the one with the cursor where that is it; None where it is not listed."""
        if cursor < len(self.rows) and self.rows[cursor].about(ref):
            return cursor
        # The row of its own, if there is one, stands below the one that it shares.
        return next((at for at in reversed(range(len(self.rows))) if self.rows[at].about(ref)), None)

    def to_toggle(self, check: int) -> int:
        """The check to open or shut with a row about this one: what is open, where that is in the same shared row."""
        shared = next((row.alike for row in self.rows if check in row.alike), ())
        return self.open if self.open is not None and self.open in shared else check

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """A check, several, or an interval of evidence."""
        line = self.rows[row]
        ref = line.ref
        check = self.report.checks[ref.check]
        dim = palette.dim
        if ref.evidence is not None:
            entry = check.evidence[ref.evidence]
            return [
                Cell(f"   {ref.evidence + 1} of {len(check.evidence)}", dim),
                Cell(f"at {moment(entry.start_ns)}", dim),
                Cell(entry.model or "", dim),
                Cell(duration(entry.end_ns - entry.start_ns)),
                Cell(""),
                Cell(entry.label, dim),
            ]
        if check.outcome == "finding":
            return [
                Cell(f"{SIGNS.get(check.severity or '', ''):<2} {check.severity}", palette.accent, bold=True),
                Cell(check.id),
                Cell(check.model or ABSENT),
                Cell(duration(check.cost.ns) if check.cost else ABSENT),
                Cell(format_share(check.cost.share) if check.cost else ABSENT),
                Cell(check.summary),
            ]
        return [
            Cell("" if line.below else OUTCOMES[check.outcome], palette.accent if check.outcome == "error" else dim),
            Cell("" if line.below else check.id, dim),
            Cell(format_count(len(line.alike), "model") if line.alike else check.model or "", dim),
            Cell(""),
            Cell(""),
            Cell(self._seen(line.alike) if line.alike else check.summary, dim),
        ]

    def _seen(self, alike: Sequence[int]) -> str:
        said = {self.report.checks[place].summary for place in alike}
        return said.pop() if len(said) == 1 else "Not the same for each model; enter lists them."


def check_rows(report: Report, opened: int | None) -> CheckRows:
    """Rows for a report, with the evidence of one check, or the models of one row, listed below it."""
    rows: list[CheckRow] = []
    for places in _together(report):
        rows.append(CheckRow(FindingRef(places[0]), places if len(places) > 1 else ()))
        if opened not in places:
            continue
        for place in places:
            if len(places) > 1:
                rows.append(CheckRow(FindingRef(place), below=True))
            if place == opened:
                rows.extend(CheckRow(FindingRef(place, entry)) for entry in range(len(report.checks[place].evidence)))
    return CheckRows(report, opened, tuple(rows))


def _together(report: Report) -> list[tuple[int, ...]]:
    """Places of the checks by row, in the order of the report: a finding has its own, others share that of their
    detector and outcome."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for place, check in enumerate(report.checks):
        key = (place,) if check.outcome == "finding" else (check.outcome, check.id)
        rows.setdefault(key, []).append(place)
    return [tuple(places) for places in rows.values()]


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
        chosen, listed = state.selection.finding, self.query_one(RowList)
        listed.show(self._rows, self._rows.place(chosen, listed.cursor) if chosen is not None else None)

    def badge(self, state: State) -> str:
        """Number of findings."""
        report = state.session.report
        return str(report.summary.findings) if report is not None else "…"

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        """Look at a check, or at an interval of its evidence."""
        message.stop()
        if self._rows is not None:
            self.post_message(FindingSelected(self._rows.rows[message.row].ref))

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """List the evidence or the models of a row, or no longer; zoom to an interval."""
        message.stop()
        if self._rows is None:
            return
        ref = self._rows.rows[message.row].ref
        self.post_message(ZoomWanted() if ref.evidence is not None else CheckToggled(self._rows.to_toggle(ref.check)))
