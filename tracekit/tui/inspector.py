"""What is selected, in full. `inspected` makes the text from a state; the widget only shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Group
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from tracekit.report.formatting import condition, duration, moment, quantity, visible
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.text import hanging
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType
    from rich.table import Table
    from textual.app import ComposeResult

    from tracekit.detectors.outcomes import Metric
    from tracekit.report.model import Check
    from tracekit.tui.state import EventRef, FindingRef, Session, State
    from tracekit.tui.timeline.viewport import Span

ATTRIBUTION_WORDS = {
    Attribution.EXACT: "exact: the row names its model itself",
    Attribution.LABEL: "by its label, which names the model",
    Attribution.CONTAINED: "by time: inside exactly one prediction",
    Attribution.AMBIGUOUS: "ambiguous: inside several predictions",
    Attribution.FOREIGN: "not the target's: another process",
    Attribution.UNATTRIBUTED: "unknown: nothing says whose it is",
}

_NOTHING = "Nothing is selected.\n\nClick an event, or press n for the next one of the lane. ? shows all keys."


_LABELS = 13
"""Cells for the names of facts."""


def inspected(state: State) -> Group:
    """About the selection, and below it about the range."""
    blocks: list[RenderableType] = []
    selection, session = state.selection, state.session
    if selection.event is not None:
        blocks += _event(session, selection.event)
    if selection.finding is not None:
        blocks += _finding(session, selection.finding)
    if state.range is not None:
        blocks += _range(state.range)
    return Group(*(blocks or [Text(_NOTHING, "dim")]))


def _event(session: Session, ref: EventRef) -> Iterator[RenderableType]:
    row = session.row(ref)
    label = row.get("label", row.get("state", row.get("hang_type")))
    yield _heading(visible(label) if isinstance(label, str) else "no event named")
    span = session.span(ref)
    length = int(row["duration_ns"]) if "duration_ns" in row else 0
    facts = [
        ("duration", f"{duration(length)}  ({length:,} ns)"),
        ("start", f"{moment(span.start_ns)}  ({span.start_ns:,} ns)"),
        ("end", f"{moment(span.start_ns + length)}  ({span.start_ns + length:,} ns)"),
    ]
    if ref.frame in EVENT_FRAMES:
        facts += [(name.replace("_", " "), str(row[name])) for name in _NAMED if not pd.isna(row[name])]
        facts.append(("link", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if row["guessed"]:
            facts.append(("kind is", "guessed from the beginning of an unknown event text"))
    facts.append(("source", f"{row['table']}, row {row['row']}"))
    yield _facts(facts)
    yield ""


_NAMED = ("lane", "kind", "model", "instance", "parent_model", "device", "process", "pid", "depth", "prediction")


def _finding(session: Session, ref: FindingRef) -> Iterator[RenderableType]:
    check = session.check(ref)
    if check is None:
        return
    yield _heading(check.title)
    yield _facts((name, value) for name, value in _check_facts(check, ref) if value)
    yield Text(f"\n{visible(check.summary)}\n")
    yield Text(f"{visible(check.why)}\n", "dim")
    if check.metrics:
        yield _facts((metric.name, _measured(metric)) for metric in check.metrics)
        yield ""
    if check.cost is not None:
        yield Text(f"{visible(check.cost.basis)}\n", "dim")
    if check.record:
        yield Text(f"To be able to judge it: {visible(check.record)}\n")
    if check.fix:
        yield _heading("Fix")
        yield Text(f"{visible(check.fix, multiline=True)}\n")


def _check_facts(check: Check, ref: FindingRef) -> Iterator[tuple[str, str]]:
    yield "severity", check.severity or ""
    yield "model", check.model or ""
    yield "check", check.id
    if check.cost is not None:
        yield "could win", f"up to {duration(check.cost.ns)}, {format_share(check.cost.share)}"
    if check.evidence:
        shown = f"{ref.evidence + 1} of " if ref.evidence is not None else ""
        more = f", the longest of {check.evidence_total:,}" if check.evidence_total > len(check.evidence) else ""
        yield "evidence", f"{shown}{format_count(len(check.evidence), 'interval')}{more}"


def _measured(metric: Metric) -> str:
    limit = condition(metric)
    return f"{quantity(metric.value, metric.unit)}{f'  (limit {limit})' if limit else ''}"


def _range(span: Span) -> Iterator[RenderableType]:
    yield _heading("Range")
    length = f"{duration(span.span_ns)}  ({span.span_ns:,} ns)"
    yield _facts([("length", length), ("from", moment(span.start_ns)), ("to", moment(span.end_ns))])


def _heading(text: str) -> Text:
    return Text(text, "bold")


def _facts(pairs: Iterable[tuple[str, str]]) -> Table:
    return hanging(((Text(name, "dim"), Text(visible(value))) for name, value in pairs), _LABELS)


class Inspector(VerticalScroll, can_focus=True):
    """Beside the detail, or in its place."""

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._made_from: object = None

    def compose(self) -> ComposeResult:
        """Text that scrolls."""
        yield Static()

    def show(self, state: State) -> None:
        """Write about the selection."""
        made_from = (state.selection, state.range, state.session)
        if made_from != self._made_from:
            self._made_from = made_from
            self.query_one(Static).update(inspected(state))
            self.scroll_home(animate=False)
