"""What is selected, in full. `inspected` is plain text in, text out; the widget only shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from tracekit.report.formatting import condition, duration, moment, quantity, visible
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult

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


def inspected(state: State) -> Text:
    """Text about the selection, and below it about the range."""
    text = Text()
    selection, session = state.selection, state.session
    if selection.event is not None:
        _event(text, session, selection.event)
    if selection.finding is not None:
        _finding(text, session, selection.finding)
    if state.range is not None:
        _range(text, state.range)
    if not text:
        text.append(_NOTHING, "dim")
    return text


def _event(text: Text, session: Session, ref: EventRef) -> None:
    row = session.row(ref)
    label = row.get("label", row.get("state", row.get("hang_type")))
    text.append(f"{visible(str(label)) if isinstance(label, str) else 'no event named'}\n", "bold")
    span = session.span(ref)
    length = int(row["duration_ns"]) if "duration_ns" in row else 0
    facts = [
        ("duration", f"{duration(length)}  ({length:,} ns)"),
        ("start", f"{moment(span.start_ns)}  ({span.start_ns:,} ns)"),
        ("end", f"{moment(span.start_ns + length)}  ({span.start_ns + length:,} ns)"),
    ]
    if ref.frame in EVENT_FRAMES:
        facts += [(name, str(row[name])) for name in _NAMED if not pd.isna(row[name])]
        facts.append(("link", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if row["guessed"]:
            facts.append(("kind is", "guessed from the beginning of an unknown event text"))
    facts.append(("source", f"{row['table']}, row {row['row']}"))
    _pairs(text, facts)


_NAMED = ("lane", "kind", "model", "instance", "parent_model", "device", "process", "pid", "depth", "prediction")


def _finding(text: Text, session: Session, ref: FindingRef) -> None:
    check = session.check(ref)
    if check is None:
        return
    if text:
        text.append("\n")
    text.append(f"{check.title}\n", "bold")
    _pairs(text, [(name, value) for name, value in _check_facts(check, ref) if value])
    text.append(f"\n{visible(check.summary)}\n")
    text.append(f"\n{visible(check.why)}\n", "dim")
    for metric in check.metrics:
        limit = condition(metric)
        text.append(f"\n{metric.name}: {quantity(metric.value, metric.unit)}")
        text.append(f"  (limit {limit})" if limit else "", "dim")
    if check.cost is not None:
        text.append(f"\n\n{visible(check.cost.basis)}\n", "dim")
    if check.record:
        text.append(f"\nTo be able to judge it: {visible(check.record)}\n")
    if check.fix:
        text.append("\nFix\n", "bold")
        text.append(f"{visible(check.fix, multiline=True)}\n")


def _check_facts(check: Check, ref: FindingRef) -> Iterable[tuple[str, str]]:
    yield "severity", check.severity or ""
    yield "model", visible(check.model or "")
    yield "check", check.id
    if check.cost is not None:
        yield "could win", f"up to {duration(check.cost.ns)}, {format_share(check.cost.share)}"
    if check.evidence:
        shown = f"{ref.evidence + 1} of " if ref.evidence is not None else ""
        more = f", the longest of {check.evidence_total:,}" if check.evidence_total > len(check.evidence) else ""
        yield "evidence", f"{shown}{format_count(len(check.evidence), 'interval')}{more}"


def _range(text: Text, span: Span) -> None:
    if text:
        text.append("\n")
    text.append("Range\n", "bold")
    _pairs(
        text,
        [
            ("length", f"{duration(span.span_ns)}  ({span.span_ns:,} ns)"),
            ("from", moment(span.start_ns)),
            ("to", moment(span.end_ns)),
        ],
    )


def _pairs(text: Text, pairs: Iterable[tuple[str, str]]) -> None:
    for name, value in pairs:
        text.append(f"{name.replace('_', ' '):<13}", "dim")
        text.append(f"{visible(value)}\n")


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
