"""Findings, then other checks once for each detector or reason; below what is open, evidence or what shares its row."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from textual.message import Message
from textual.widgets import Static

from tracekit.documents.report_findings import savings_words
from tracekit.grouping import grouped
from tracekit.render.blocks import Line, Role, Span, plain
from tracekit.render.layout import KEPT
from tracekit.report.formatting import ABSENT, OUTCOMES, evidence_size, extreme_word, moment, shorten, visible
from tracekit.report.groups import rank
from tracekit.report.report import Report, Result
from tracekit.tui.detail.columns import WEIGHTY, ListColumn, Rows, model_column, sort_records
from tracekit.tui.detail.pane import ListPane, full_list_words
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.messages import CheckToggled, ZoomWanted
from tracekit.tui.selection import interval_of
from tracekit.tui.state import NOTHING, FindingRef, Selection, Sort, State
from tracekit.tui.text import which_interval
from tracekit.units import format_count, format_percent

SIGNS = {"critical": "▲▲", "high": "▲", "medium": "△", "low": "·"}
"""Severities apart from color."""
_ROLES = {severity: Role(severity) for severity in SIGNS}

Cells = Mapping[str, Line]
"""The cells of a row by the titles of their columns: rows are of several kinds."""


def _column(title: str, width: int, **looks: Any) -> ListColumn[Cells]:
    return ListColumn(title, lambda cells: cells.get(title, ""), width=width, **looks)


def _columns(report: Report, *, timed: bool) -> tuple[ListColumn[Cells], ...]:
    """Columns, without those that say nothing of any check."""
    findings = [check for check in report.results if check.outcome == "finding"]
    longest = max([_ALIKE_WIDTH, *(cell_len(check.title) for check in findings)])
    saved = any(savings_words(check) != ABSENT for check in findings)
    shared = any(_share(check) is not None for check in findings)
    models = (model.name for model in report.models)
    model: ListColumn[Cells] = model_column(models, lambda cells: cells.get("model", ""), drop=1)
    return (
        _column("outcome", 2, words=True, max_width=11, short=lambda cells, room: plain(cells["outcome"])[:room]),
        _column("finding", _FINDING_WIDTH, words=True, prose=True, max_width=min(longest, _MAX_FINDING_WIDTH)),
        # Where there is one, the inspector names it.
        *([model] if len({check.model for check in report.results} - {None}) > 1 else ()),
        # How long an interval is; there only while intervals are listed.
        *([_column("duration", 9, ordered=False)] if timed else ()),
        *([_column("est. savings", 12)] if saved else ()),
        *([_column("share", 6, drop=WEIGHTY + 1)] if shared else ()),
        _column("summary", 0, words=True, prose=True, drop=WEIGHTY + 2, min_width=24, ordered=False),
    )


BY_RANK = Sort("outcome", descending=False)
"""The order of the report: the most important finding first, what passed last."""

_FINDING_WIDTH, _ALIKE_WIDTH, _MAX_FINDING_WIDTH = 19, 60, 60
"""Cells in which most titles of findings differ, some checks of a row are named, and whole titles stand."""
_NAME_WIDTH, _MIN_NAME_WIDTH = 24, 8
"""Cells in which most names differ, and in which a cut one says anything."""


def _share(check: Result) -> float | None:
    """What the fix saves of the time of its model; None where that is unknown or nothing."""
    return check.saved.share if check.saved and check.saved.total_ns else None


_VALUES: dict[str, Callable[[Result], str | float | None]] = {
    "finding": lambda check: check.id,
    "model": lambda check: check.model,
    "est. savings": lambda check: check.saved_ns,
    "share": _share,
}
"""What rows are sorted by, apart from their rank; None where it is not known."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A line of the list: one check, an interval of its evidence, or several checks that came out alike."""

    ref: FindingRef
    """What is selected with the row; of several checks, the first."""
    alike: tuple[int, ...] = ()
    """Indices in `Report.results` of the checks that share the row, where it is about several."""
    below: bool = False
    """Whether it is one of those that share the row above."""

    def about(self, ref: FindingRef) -> bool:
        """Whether the row stands for a check or an interval that has no row of its own."""
        return ref == self.ref or (ref.evidence is None and ref.check in self.alike)


@dataclass(frozen=True, eq=False)
class CheckRows(Rows[Cells]):
    """Findings one by one, then a row for each detector and outcome, or for each reason why checks were not evaluated.

    Below the open row stands its evidence, or the checks that share it.
    """

    report: Report
    open: int | None
    """Index of the check whose evidence is listed, or of one in the row whose checks are."""
    rows: tuple[CheckRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def row_of(self, ref: FindingRef, cursor: int) -> int | None:
        """The row of a check or interval, the one with the cursor where that is it; None where it is not listed."""
        if cursor < len(self.rows) and self.rows[cursor].about(ref):
            return cursor
        # The row of its own, if there is one, stands below the one that it shares.
        return next((at for at in reversed(range(len(self.rows))) if self.rows[at].about(ref)), None)

    def to_toggle(self, check: int) -> int:
        """The check to open or shut with a row about this one: what is open, where that is in the same shared row."""
        return self.open if self.open is not None and self.open in self._checks_in_row(check) else check

    def record(self, row: int) -> Cells:
        """A check, several, or an interval of evidence."""
        line = self.rows[row]
        check = self.report.results[line.ref.check]
        if line.ref.evidence is not None:
            entry = check.evidence[line.ref.evidence]
            return {
                "outcome": "",
                "finding": Span(
                    f"  {line.ref.evidence + 1} of {len(check.evidence)} at {moment(entry.start_ns)}", Role.DIM
                ),
                "model": Span(entry.model or "", Role.DIM),
                "duration": evidence_size(entry),
                "summary": Span(entry.label, Role.DIM),
            }
        if check.outcome != "finding":
            names = self._ids(line.alike)
            several = len(names) > 1
            models = "" if several else format_count(len(line.alike), "model") if line.alike else check.model or ""
            # Below a row of several detectors, each is named; below one of several models, the model.
            named = not line.below or len(self._ids(self._checks_in_row(line.ref.check))) > 1
            role = Role.OPEN if check.outcome == "error" else Role.DIM
            title = ", ".join(names) if several else check.id if named else ""
            said = f"{len(names)} checks {OUTCOMES[check.outcome]}" if several else OUTCOMES[check.outcome]
            return {
                "outcome": "",
                "finding": Span(f"  {title}" if line.below else f"{said}: {title}", role),
                "model": Span(models, Role.DIM),
                "summary": Span(self._summary(line), Role.DIM),
            }
        severity, share = rank(check, self.report), _share(check)
        return {
            "outcome": Span(f"{SIGNS.get(severity, ''):<2} {severity}".strip(), _ROLES.get(severity, Role.OPEN)),
            "finding": check.title,
            "model": check.model or ABSENT,
            # Of what is part of savings above, the inspector says how much.
            "est. savings": savings_words(check, short=True),
            "share": ABSENT if share is None else format_percent(share),
            "summary": check.summary,
        }

    def description(self, row: int) -> str:
        """What was seen of the check or checks of a row."""
        line = self.rows[row]
        names = self._ids(line.alike)
        return f"{self._summary(line)} Same for {', '.join(names)}." if len(names) > 1 else self._summary(line)

    def interval_description(self, row: int, room: int) -> str:
        """What the interval of a row is and which of all, in `room` cells: a long name loses its middle."""
        ref = self.rows[row].ref
        check = self.report.results[ref.check]
        number = ref.evidence or 0
        name, listed = visible(check.evidence[number].label), len(check.evidence)
        full, brief = f"interval {which_interval(check, number)}", f"interval {number + 1} of {listed}"
        if check.evidence_total > listed:
            brief += " listed"
        else:
            full += f", {extreme_word(check.evidence)} first"
        for rest in (f"{full} · enter zooms in", full, brief):
            left = room - cell_len(f" · {rest}")
            if left >= min(cell_len(name), _MIN_NAME_WIDTH if rest == brief else _NAME_WIDTH):
                return f"{shorten(name, left)} · {rest}"
        return brief

    def _checks_in_row(self, check: int) -> tuple[int, ...]:
        """The checks that share the row that a check stands below."""
        return next((row.alike for row in self.rows if check in row.alike and not row.below), ())

    def _ids(self, indices: Sequence[int]) -> list[str]:
        """Each detector of several checks once."""
        return list(dict.fromkeys(self.report.results[index].id for index in indices))

    def _summary(self, line: CheckRow) -> str:
        summaries = {self.report.results[index].summary for index in line.alike or (line.ref.check,)}
        return summaries.pop() if len(summaries) == 1 else "Differs between models; enter lists them."


def check_rows(report: Report, opened: int | None, sort: Sort = BY_RANK) -> CheckRows:
    """Rows for a report, with the evidence of one check, or the checks of one row, listed below it."""
    rows: list[CheckRow] = []
    # It was chosen in the list of another recording, where there is none here.
    sort = sort if sort.column in (column.title for column in _columns(report, timed=False)) else BY_RANK
    for indices in _sort_checks(report, sort):
        rows.append(CheckRow(FindingRef(indices[0]), indices if len(indices) > 1 else ()))
        if opened not in indices:
            continue
        by_id = grouped((report.results[index].id, index) for index in indices)
        for alike in [tuple(group) for group in by_id.values()] if len(by_id) > 1 else [(index,) for index in indices]:
            if len(indices) > 1:
                rows.append(CheckRow(FindingRef(alike[0]), alike if len(alike) > 1 else (), below=True))
            if opened in alike and len(alike) == 1:
                count = len(report.results[opened].evidence)
                rows.extend(CheckRow(FindingRef(opened, entry)) for entry in range(count))
    timed = any(row.ref.evidence is not None for row in rows)
    return CheckRows(_columns(report, timed=timed), sort, "No checks ran.", report, opened, tuple(rows))


def _sort_checks(report: Report, sort: Sort) -> list[tuple[int, ...]]:
    """Indices of the checks by row, sorted by the first of each; those without a value last.

    A finding has its own row. Others share that of their detector and outcome, and checks that were not evaluated, or
    had nothing to look at, share one where all of them give the same reason.
    """
    rows = grouped(
        ((check.outcome, str(index) if check.outcome == "finding" else check.id), index)
        for index, check in enumerate(report.results)
    )
    merged: dict[tuple[str, ...], list[int]] = {}
    for key, same in rows.items():
        checks = [report.results[index] for index in same]
        reasons = {(check.summary, check.record) for check in checks}
        alike = checks[0].outcome in _REASONED and len(reasons) == 1
        merged.setdefault((checks[0].outcome, *reasons.pop()) if alike else key, []).extend(same)
    groups = [tuple(group) for group in merged.values()]
    if sort.column == BY_RANK.column:
        return groups[::-1] if sort.descending else groups
    value = _VALUES[sort.column]
    return sort_records(groups, lambda indices: value(report.results[indices[0]]), descending=sort.descending)


_REASONED = ("not_evaluated", "not_applicable")
"""Outcomes that say nothing about the recording but why nothing can be said."""


_ROOMY = 14
"""Lines of the pane from which the line above the list gets a second one."""
_MORE = f" ·{KEPT}i{KEPT}for{KEPT}more"


class FindingsPane(ListPane[CheckRows]):
    """Findings first, then what was not evaluated, then the rest; above the list the summary of one of them."""

    PANE = "findings"
    TITLE = "Findings"
    WAITING = "Running checks… findings appear here."
    MADE_FROM = ("session", "opened")
    FIRST_SORT = BY_RANK

    def make(self, state: State) -> CheckRows | None:
        """The checks, with what is open below its row."""
        report = state.session.report
        return None if report is None else check_rows(report, state.opened, self.sort(state))

    def heading(self, state: State, rows: CheckRows, room: int) -> str:
        """What was seen of the row that has the cursor."""
        cursor = self.query_one(RowList).cursor
        if cursor >= len(rows):
            return ""
        lines = max(self.query_one(Static).content_size.height, 1)
        more = "" if state.inspector else _MORE
        first = f"{notice} · " if (notice := full_list_words(state)) else ""
        if rows.rows[cursor].ref.evidence is not None:
            text = f"{first}{rows.interval_description(cursor, room - cell_len(first) - cell_len(more))}{more}"
        else:
            text = f"{first}{visible(rows.description(cursor))}{more}"
            text = "\n".join(textwrap.wrap(text, room, max_lines=lines, placeholder=f" …{more}"))
        return text.replace(KEPT, " ")

    def _row_of(self, rows: CheckRows, state: State) -> int | None:
        """The check or interval that is selected; where nothing is, the first finding. An event that is chosen
        elsewhere is the interval of the open finding that was made from it, and takes the cursor off any other."""
        cursor = self.query_one(RowList).cursor
        ref = FindingRef(0) if state.selection == NOTHING else state.selection.finding
        if ref is None and state.opened is not None:
            event = state.selection.event
            ref = interval_of(state.session, state.opened, event) if event is not None else None
            ref = ref or FindingRef(state.opened)
        return rows.row_of(ref, cursor) if ref is not None else None

    def _selection_of(self, rows: CheckRows, row: int) -> Selection:
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

    def on_resize(self) -> None:
        """Give what was seen more room where there is."""
        self.query_one(Static).styles.height = 2 if self.outer_size.height >= _ROOMY else 1
