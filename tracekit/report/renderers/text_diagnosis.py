"""The diagnostic tree as text: each question, what the recording answers, and what to find out elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import map_strings
from tracekit.report import formatting
from tracekit.report.diagnosis import Answer
from tracekit.report.formatting import lowered
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, heading, paragraph, printed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.report.diagnosis import Diagnosis, LeafAnswer

SHOWN = 3
"""Sentences of evidence per question; the report has them all."""

REPEATED = 100
"""A reason of so many characters is given once only."""

_MARKS = {
    Answer.SEEN: ("●", "bold red"),
    Answer.NOT_SEEN: ("○", "green"),
    Answer.UNKNOWN: ("?", "yellow"),
}


def render_diagnosis(diagnosis: Diagnosis, *, width: int, color: bool) -> str:
    """The tree in lines of at most `width` cells, with a line break at the end."""
    safe = map_strings(diagnosis, lambda _, text: glued(formatting.visible(text)))
    blocks: list[RenderableType] = [Text(safe.verdict, style="bold"), *map(paragraph, safe.recording)]
    printed_reasons: set[str] = set()
    for branch in safe.branches:
        blocks.append(heading(branch.title))
        blocks += [paragraph(Text(fact, style="dim"), 2) for fact in branch.facts]
        for leaf in branch.leaves:
            blocks += _leaf(leaf, printed_reasons)
            printed_reasons.update(leaf.evidence)
    return printed(blocks, min(max(width, NARROWEST), WIDEST), color)


def _leaf(leaf: LeafAnswer, printed_reasons: set[str]) -> list[RenderableType]:
    """One question; a long reason that was given before is not given again."""
    mark, style = _MARKS[leaf.answer]
    title = Text.assemble((f"{mark} ", style), (leaf.pattern, "bold"), f": {leaf.answer}")
    new = [line for line in leaf.evidence if line not in printed_reasons or len(line) < REPEATED]
    if len(new) < len(leaf.evidence):
        new.insert(0, "Same reason as above.")
    more = len(new) - SHOWN
    lines: list[RenderableType] = [paragraph(title, 2), *(paragraph(line, 4) for line in new[:SHOWN])]
    if more > 0:
        lines.append(paragraph(Text(f"{more} more in the report", style="dim"), 4))
    if leaf.answer == Answer.SEEN:
        lines.append(paragraph(Text(f"fix: {_pages(leaf)}", style="dim"), 4))
    else:
        lines.append(paragraph(Text(f"check: {lowered(leaf.ask)}", style="dim"), 4))
    return lines


def _pages(leaf: LeafAnswer) -> str:
    """The commands that print the pages of the checks."""
    return ", ".join(f"tracekit explain {check}" for check in leaf.checks)
