"""What `tracekit fix` says: what can be fixed in a model file, or what was, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracekit.model_files.fixing.remedies import ADVICE
from tracekit.render import blocks
from tracekit.render.blocks import Line, Paragraph, Role, Span, items, present, section
from tracekit.report.formatting import command, word_list
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.report.model_fix import Change, ModelFix, Offer

JOINED = "functions"


def offers_document(fix: ModelFix) -> blocks.Document:
    """Findings with the command that fixes each."""
    fixable = sum(bool(offer.command) for offer in fix.offers)
    findings = f"{format_count(len(fix.offers), 'finding')}, {fixable} fixable in the model file"
    return blocks.Document(
        title=fix.source,
        verdict=findings if fix.offers else "No findings",
        tone=Role.OPEN if fix.offers else Role.GOOD,
        blocks=tuple(map(_offer, fix.offers)),
    )


def _offer(offer: Offer) -> blocks.Card:
    how: Line = Span(offer.command, Role.CODE) if offer.command else f"in the source model: {offer.reason}"
    label = "FIXABLE" if offer.command else "NOT FIXABLE"
    advice = ADVICE.get(offer.finding) if offer.command else None
    said = present(Paragraph(offer.summary), Paragraph(how, lead="fix"), Paragraph(advice) if advice else None)
    return blocks.Card(label, Role.OPEN, offer.finding, offer.title, said)


def model_fix_document(fix: ModelFix, sources: Sequence[str], target: str, again: str) -> blocks.Document:
    """What was changed in the models at `sources`, and written to `target`; `again` is the command that fixes what is
    new too."""
    joined = [each.title for each in fix.changes if each.finding == JOINED]
    done = [each for each in fix.changes if each.finding != JOINED]
    fixed, partly = ([each.finding for each in done if bool(each.left) is left] for left in (False, True))
    start = f"{len(sources)} models combined into {target} as functions {joined[0]}" if joined else ""
    parts = ((fixed, "{} fixed"), (partly, "{} fixed in part"), (fix.new_findings, "new finding: {}"))
    said = [words.format(word_list(names)) for names, words in parts if names]
    named = dict.fromkeys(sources)
    return blocks.Document(
        title=target,
        verdict=" · ".join((start, *said) if joined else (f"{target}: {said[0]}", *said[1:])),
        tone=Role.OPEN if partly or fix.new_findings else Role.GOOD,
        context=(Paragraph(f"{target}, written from {word_list(named)} (unchanged)", Role.DIM),),
        blocks=present(
            *map(_change, fix.changes),
            section("In the app", items(fix.app)),
            section("Verify", items(_verify(fix, *named, target))),
            section("Next", Paragraph(Span(again, Role.CODE))) if again else None,
        ),
    )


def _change(change: Change) -> blocks.Card:
    left = Paragraph(change.left, lead="left") if change.left else None
    label = "IN PART" if change.left else "JOINED" if change.finding == JOINED else "FIXED"
    return blocks.Card(label, Role.GOOD, change.finding, change.title, present(items(change.changed), left))


def _verify(fix: ModelFix, *paths: str) -> Iterator[Line]:
    yield from (Span(command("inspect", path), Role.CODE) for path in paths)
    if fix.not_compared:
        yield f"outputs not compared: {fix.not_compared}"
    for name, difference in (fix.differences or {}).items():
        yield f"output `{name}`: largest difference {difference:.2g}, on random inputs"
    yield "compare results on inputs of the app"
