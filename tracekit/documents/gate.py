"""What `tracekit check` says: the verdict, then each thing that was checked, worst first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tracekit.comparison.verdict import Item, Verdict
from tracekit.documents import columns
from tracekit.documents.comparison import unknown_facts
from tracekit.render.blocks import Column, Document, Role, Span, items, present, table
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.comparison.gate import Gate

TONES = {
    Verdict.ERROR: Role.BAD,
    Verdict.FAILED: Role.BAD,
    Verdict.INCONCLUSIVE: Role.OPEN,
    Verdict.NOT_COUNTED: Role.DIM,
    Verdict.PASSED: Role.GOOD,
}
COLUMNS: tuple[Column[Item], ...] = (
    columns.words("verdict", lambda item: Span(str(item.verdict), TONES[item.verdict])),
    columns.words("what", lambda item: Span(item.title, Role.STRONG)),
    columns.words("details", lambda item: item.text),
)


def gate_document(gate: Gate) -> Document:
    """The verdict of a check."""
    compared = gate.comparison
    notes = () if compared is None else (*compared.notes, f"{unknown_facts(compared)}; a difference would go unnoticed")
    return Document(
        title="tracekit check",
        verdict=("tracekit check: ", _decided(gate) if gate.verdict in _EXPLAINED else summary(gate)),
        tone=TONES[gate.verdict],
        blocks=present(table("What was checked", COLUMNS, gate.items), items(notes)),
    )


_EXPLAINED = (Verdict.INCONCLUSIVE, Verdict.PASSED)


def one_line(gate: Gate) -> str:
    """The verdict, and the first item that decided it."""
    return f"tracekit check: {_decided(gate)}"


def _decided(gate: Gate) -> str:
    # A build also passes where nothing can be counted yet; the first item says why.
    item = next((item for item in gate.items if item.verdict is gate.verdict), next(iter(gate.items), None))
    decided = "" if item is None or item.verdict is Verdict.PASSED else f": {item.title}: {item.text}"
    return f"{summary(gate)}{decided}"


def summary(gate: Gate) -> str:
    """How many items have which verdict, the worst first; before them that of the whole, where no item has it."""
    counts = Counter(item.verdict for item in gate.items)
    words = {verdict: f"{counts[verdict]:,} {verdict}" for verdict in Verdict if counts[verdict]}
    if Verdict.ERROR in words:
        words[Verdict.ERROR] = format_count(counts[Verdict.ERROR], "error")
    lead = "" if gate.verdict in words else f"{gate.verdict}: " if words else str(gate.verdict)
    return f"{lead}{', '.join(words.values())}"
