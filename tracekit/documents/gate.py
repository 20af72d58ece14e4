"""What `tracekit check` says: the verdict, then each thing that was checked, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.compare.verdict import Verdict
from tracekit.documents import comparison_words
from tracekit.render.blocks import Column, Document, Items, Role, Span, present, table

if TYPE_CHECKING:
    from tracekit.compare.gate import Gate
    from tracekit.compare.verdict import Item

TONES = {
    Verdict.ERROR: Role.BAD,
    Verdict.FAILED: Role.BAD,
    Verdict.INCONCLUSIVE: Role.OPEN,
    Verdict.NOT_COUNTED: Role.DIM,
    Verdict.PASSED: Role.GOOD,
}


def gate_document(gate: Gate) -> Document:
    """The verdict of a check."""
    compared = gate.comparison
    notes = () if compared is None else (*compared.notes, comparison_words.not_recorded(compared))
    columns: tuple[Column[Item], ...] = (
        Column("verdict", lambda item: Span(str(item.verdict), TONES[item.verdict]), words=True),
        Column("what", lambda item: Span(item.title, Role.STRONG), words=True),
        Column("details", lambda item: item.text, words=True),
    )
    return Document(
        title="tracekit check",
        verdict=("tracekit check: ", summary(gate)),
        tone=TONES[gate.verdict],
        blocks=present((table("What was checked", columns, gate.items), Items(notes) if notes else None)),
    )


def summary(gate: Gate) -> str:
    """The verdict in one line."""
    counts = [(verdict, sum(item.verdict is verdict for item in gate.items)) for verdict in Verdict]
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{gate.verdict}: {listed}" if listed else str(gate.verdict)
