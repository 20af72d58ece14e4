"""The verdict of `tracekit check` in the forms that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import visible
from tracekit.compare.renderers import words
from tracekit.compare.verdict import Verdict
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.markdown_text import escape, table
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed
from tracekit.report.strings import map_strings
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.compare.gate import Gate
    from tracekit.compare.verdict import Item

STYLES = {
    Verdict.UNUSABLE: "bold red",
    Verdict.FAILED: "bold red",
    Verdict.NOT_ENOUGH_DATA: "yellow",
    Verdict.NOT_COUNTED: "dim",
    Verdict.PASSED: "green",
}
CELLS = 17
_ROOM = 2_000
"""Bytes for the heading of the table, the notes, and the line that says what was left out."""
COMMENT_BYTES = 60_000
"""A comment on GitHub may have 65,536 characters (github/docs, limits of the API)."""


def summary(gate: Gate) -> str:
    """The verdict in one line."""
    counts = [(verdict, sum(item.verdict is verdict for item in gate.items)) for verdict in Verdict]
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{gate.verdict}: {listed}" if listed else str(gate.verdict)


def render_text(gate: Gate, *, width: int, color: bool) -> str:
    """What was checked, a line each, and the verdict last; a line break at the end."""
    layout = Layout(min(max(width, NARROWEST), WIDEST))
    safe = map_strings(gate, lambda _, text: visible(text))
    lines: list[Text] = []
    for item in safe.items:
        verdict = (f"{item.verdict:<{CELLS}}", STYLES[item.verdict])
        lines += layout.hanging(Text.assemble(verdict, (f"{subject(item)}: ", "bold"), glued(item.text)), 4)
    for note in _notes(safe):
        lines += [Text(), *layout.hanging(Text(f"note: {note}", style="dim"), 6)]
    last = layout.hanging(Text(summary(safe), style=f"bold {STYLES[safe.verdict].split()[-1]}"), 2)
    return printed([*lines, Text(), *last], layout.width, color)


def _notes(gate: Gate) -> tuple[str, ...]:
    """What to know before relying on the comparison."""
    if gate.comparison is None:
        return ()
    return (*gate.comparison.notes, words.not_recorded(gate.comparison))


def subject(item: Item) -> str:
    """Model and what was checked of it."""
    return f"{item.model} {item.subject}" if item.model else item.subject


def render_markdown(gate: Gate, max_bytes: int = COMMENT_BYTES) -> str:
    """The verdict on top, then what was checked, worst first, with as many items as fit into so many bytes of UTF-8."""
    safe = map_strings(gate, lambda _, text: visible(text))
    head = f"**tracekit check: {escape(summary(safe))}**\n\n"
    rows: list[tuple[str, ...]] = []
    left = max_bytes - len(head.encode()) - _ROOM
    for item in safe.items:
        row = (str(item.verdict), escape(item.model or ""), item.subject, escape(item.text))
        left -= len(" | ".join(row).encode()) + len("|  |\n")
        if left < 0:
            break
        rows.append(row)
    more = len(safe.items) - len(rows)
    end = f"\n{format_count(more, 'more item')} left out: see the text or JSON output.\n" if more else ""
    notes = "".join(f"\n{escape(note)}\n" for note in _notes(safe))
    return f"{head}{table(('verdict', 'model', 'what', 'details'), rows, 4)}\n{end}{notes}"
