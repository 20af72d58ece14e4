"""What `tracekit fix` says: what can be fixed in a model file, or what was, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracekit.render import blocks
from tracekit.render.blocks import Line, Paragraph, Role, Span, items, present, section
from tracekit.report.formatting import command, word_list
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.report.model_fix import Change, ModelFix, Offer


def offers_document(fix: ModelFix) -> blocks.Document:
    """Findings with the command that fixes each."""
    fixable = sum(bool(offer.command) for offer in fix.offers)
    return blocks.Document(
        title=fix.source,
        verdict=f"{format_count(len(fix.offers), 'finding')}, {fixable} of them fixable in {fix.source}",
        tone=Role.OPEN if fix.offers else Role.GOOD,
        blocks=tuple(map(_offer, fix.offers)),
    )


def _offer(offer: Offer) -> blocks.Card:
    how: Line = Span(offer.command, Role.CODE) if offer.command else f"not in the file: {offer.reason}"
    label = "FIXABLE" if offer.command else "NOT HERE"
    return blocks.Card(label, Role.OPEN, offer.finding, "", (Paragraph(offer.summary), Paragraph(how, lead="fix")))


def model_fix_document(fix: ModelFix, source: str, target: str) -> blocks.Document:
    """What was changed in the model at `source`, and written to `target`."""
    fixed, partly = ([each.finding for each in fix.changes if bool(each.left) is left] for left in (False, True))
    parts = ((fixed, "{} fixed"), (partly, "{} fixed in part"), (fix.new_findings, "new finding: {}"))
    return blocks.Document(
        title=target,
        verdict=" · ".join(words.format(word_list(names)) for names, words in parts if names),
        tone=Role.OPEN if partly or fix.new_findings else Role.GOOD,
        context=(Paragraph(f"{target}, written from {source}, which is unchanged", Role.DIM),),
        blocks=present(
            *map(_change, fix.changes),
            section("In the app", items(fix.app)),
            section("Verify", items(_verify(fix, source, target))),
        ),
    )


def _change(change: Change) -> blocks.Card:
    left = Paragraph(change.left, lead="left") if change.left else None
    label = "IN PART" if change.left else "FIXED"
    return blocks.Card(label, Role.GOOD, change.finding, change.title, present(items(change.changed), left))


def _verify(fix: ModelFix, *paths: str) -> Iterator[Line]:
    yield from (Span(command("inspect", path), Role.CODE) for path in paths)
    if fix.not_compared:
        yield f"outputs not compared: {fix.not_compared}"
    for name, difference in (fix.differences or {}).items():
        yield f"output `{name}`: largest difference {difference:.2g}, on random inputs"
    yield "compare results on inputs of the app"
