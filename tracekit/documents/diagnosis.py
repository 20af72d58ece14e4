"""What the diagnostic tree says: each question, what the recording answers, and what to find out elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.render.blocks import Document, Entries, Entry, Paragraph, Role, Span, items, section
from tracekit.report.diagnosis import Answer
from tracekit.report.formatting import lowered

if TYPE_CHECKING:
    from tracekit.render.blocks import Line
    from tracekit.report.diagnosis import Diagnosis, LeafAnswer

SHOWN = 3
"""Sentences of evidence per question; JSON has them all."""
REPEATED = 100
"""A reason of so many characters is given once only."""
MARKS = {Answer.SEEN: Span("●", Role.BAD), Answer.NOT_SEEN: Span("○", Role.GOOD), Answer.UNKNOWN: Span("?", Role.OPEN)}


def diagnosis_document(diagnosis: Diagnosis) -> Document:
    """The tree; a long reason that was given before is not given again."""
    given: set[str] = set()
    sections = []
    for branch in diagnosis.branches:
        leaves = []
        for leaf in branch.leaves:
            leaves.append(_leaf(leaf, given))
            given.update(leaf.evidence)
        sections.append(section(branch.title, items(branch.facts, role=Role.DIM), Entries(tuple(leaves))))
    return Document(
        title=diagnosis.source,
        verdict=diagnosis.verdict,
        tone=Role.PLAIN,
        context=tuple(map(Paragraph, diagnosis.recording)),
        blocks=tuple(part for part in sections if part is not None),
    )


def _leaf(leaf: LeafAnswer, given: set[str]) -> Entry:
    """One question."""
    new = [line for line in leaf.evidence if line not in given or len(line) < REPEATED]
    if len(new) < len(leaf.evidence):
        new.insert(0, "Same reason as above.")
    more = [f"{len(new) - SHOWN} more with --format json"] if len(new) > SHOWN else []
    why = [("why" if not number else "", line) for number, line in enumerate([*new[:SHOWN], *more])]
    pages = ", ".join(f"tracekit explain {check}" for check in leaf.checks)
    next_step = ("fix", pages) if leaf.answer == Answer.SEEN else ("check", lowered(leaf.ask))
    head: Line = (MARKS[leaf.answer], " ", Span(leaf.pattern, Role.STRONG), f": {leaf.answer}")
    return Entry(head, (*why, next_step))
