"""What `tracekit fix` says: what can be fixed in a model file, or what was, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracekit.documents import columns
from tracekit.render import blocks
from tracekit.render.blocks import Column, Line, Paragraph, Role, Span, items, present, section, table
from tracekit.report.formatting import command, word_list
from tracekit.report.model_fix import fix_summary, offers_summary
from tracekit.units import format_bytes

if TYPE_CHECKING:
    from tracekit.report.model_fix import Change, ModelFix, Offer, Offers, Side

SIDES: tuple[Column[tuple[str, str, str]], ...] = (
    columns.words("", lambda row: row[0]),
    columns.words("before", lambda row: row[1]),
    columns.words("after", lambda row: row[2]),
)


def offers_document(offers: Offers) -> blocks.Document:
    """Findings with the command that mends each."""
    return blocks.Document(
        title=offers.source,
        verdict=offers_summary(offers),
        tone=Role.OPEN if offers.offers else Role.GOOD,
        blocks=tuple(map(_offer, offers.offers)),
    )


def _offer(offer: Offer) -> blocks.Card:
    said = present(
        Paragraph(offer.summary),
        Paragraph(Span(offer.command, Role.CODE), lead="fix") if offer.command else None,
        Paragraph(f"not in the file: {offer.reason}", lead="fix") if offer.reason else None,
    )
    return blocks.Card("FIX" if offer.command else "SOURCE", Role.OPEN, offer.finding, "", said)


def model_fix_document(fix: ModelFix, paths: tuple[str, str]) -> blocks.Document:
    """What was changed; `paths` are those of the model that was given and of the one that was written, as typed."""
    before, after = fix.before, fix.after
    return blocks.Document(
        title=after.source,
        verdict=fix_summary(fix),
        tone=Role.GOOD if all(change.fixed for change in fix.changes) else Role.OPEN,
        context=(Paragraph(f"{after.source}, written from {before.source}, which is unchanged", Role.DIM),),
        blocks=present(
            *map(_change, fix.changes),
            section("Before and after", table("Before and after", SIDES, list(_rows(before, after)))),
            section("In the app", items(fix.app)),
            section("Verify", items(_verify(fix, paths))),
        ),
    )


def _change(change: Change) -> blocks.Card:
    said = present(
        items(change.changed),
        Paragraph(change.left, lead="left") if change.left else None,
    )
    return blocks.Card("FIXED" if change.fixed else "PART", Role.GOOD, change.finding or "functions", change.title, said)


def _rows(before: Side, after: Side) -> Iterator[tuple[str, str, str]]:
    for name, words in (
        ("loads on", lambda side: side.systems),
        ("size", lambda side: format_bytes(side.bytes or 0)),
        ("weights", lambda side: format_bytes(side.weight_bytes or 0)),
        ("operations", lambda side: f"{sum(side.operations.values()):,}"),
        ("findings", lambda side: word_list(side.findings) or "none"),
    ):
        yield name, words(before), words(after)


def _verify(fix: ModelFix, paths: tuple[str, str]) -> Iterator[Line]:
    for path in paths:
        yield Span(command("inspect", path), Role.CODE)
    if fix.not_compared:
        yield f"outputs not compared: {fix.not_compared}"
    for name, difference in fix.differences.items():
        yield f"output `{name}`: largest difference {difference:.2g} on made-up inputs"
    yield "compare results on inputs of the app: made-up ones say little about accuracy"
