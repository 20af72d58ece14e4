"""What the diagnostic tree says: each question, what the recording answers, and what to find out elsewhere."""

from __future__ import annotations

from tracekit.render.blocks import Document, Entry, Line, Paragraph, Role, Span, items, present, section
from tracekit.report.diagnosis import Answer, Diagnosis, LeafAnswer
from tracekit.report.formatting import lower_first

SHOWN = 3
"""Sentences of evidence per question, unless everything is asked for."""
REPEATED = 100
"""A reason of so many characters is given once only."""
MARKS = {Answer.SEEN: Span("●", Role.BAD), Answer.NOT_SEEN: Span("○", Role.GOOD), Answer.UNKNOWN: Span("?", Role.OPEN)}


def diagnosis_document(diagnosis: Diagnosis, *, everything: bool = False) -> Document:
    """What the recording answers, then what none can, which the short text names in a line; long reasons stand once."""
    shown = None if everything else SHOWN
    given: set[str] = set()
    sections, others, names = [], [], []
    for branch in diagnosis.branches:
        facts = items(branch.facts, role=Role.DIM)
        # What no check could answer.
        beyond = [leaf for leaf in branch.leaves if leaf.answer == Answer.UNKNOWN and not leaf.checks]
        answered = [leaf for leaf in branch.leaves if leaf not in beyond]
        asked, left = (items(_leaf(leaf, given, shown) for leaf in leaves) for leaves in (answered, beyond))
        sections.append(section(branch.title, facts, asked) if asked else None)
        title = f"{branch.title}: {'the rest is ' if asked else ''}not in this recording"
        others.append(section(title, None if asked else facts, left, folded=True) if left else None)
        names += [leaf.pattern for leaf in beyond]
    rest = f"Not in this recording: {', '.join(names)}. What to check instead: -v"
    return Document(
        title=diagnosis.source,
        verdict=diagnosis.verdict,
        tone=Role.PLAIN,
        context=tuple(map(Paragraph, diagnosis.recording)),
        blocks=present(*sections, *others),
        closing=rest if names else "",
    )


def _leaf(leaf: LeafAnswer, given: set[str], shown: int | None) -> Entry:
    """One question. Its evidence joins what was `given`."""
    new = [line for line in leaf.evidence if line not in given or len(line) < REPEATED]
    given.update(leaf.evidence)
    if len(new) < len(leaf.evidence):
        new.insert(0, "Same reason as above.")
    more = [f"{len(new) - shown} more (-v)"] if shown is not None and len(new) > shown else []
    why = [("why" if not number else "", line) for number, line in enumerate([*new[:shown], *more])]
    pages = ", ".join(f"tracekit explain {check}" for check in leaf.checks)
    next_step = ("fix", pages) if leaf.answer == Answer.SEEN else ("check", lower_first(leaf.ask))
    head: Line = (MARKS[leaf.answer], " ", Span(leaf.pattern, Role.STRONG), f": {leaf.answer}")
    return Entry(head, (*why, next_step))
