"""Documents as one HTML page that asks for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit._version import __version__
from tracekit.characters import visible
from tracekit.render.blocks import (
    Card,
    Entries,
    Figure,
    Items,
    Paragraph,
    Prose,
    Role,
    Section,
    Table,
    groups,
    plain,
    spans,
)
from tracekit.report.renderers.html.document import asset
from tracekit.report.renderers.html.document import document as page
from tracekit.report.renderers.html.markup import Html, code, details, joined, listed, tag
from tracekit.report.renderers.html.prose import blocks, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tracekit.render.blocks import Block, Column, Document, Entry, Line, Span

GENERATOR = f"tracekit {__version__}"
NO_REQUESTS = "this file makes no network request"
ROWS = 2_000
"""Most rows of a table: a browser lays out as many at once. The JSON report holds all."""
WIDE = 8
"""From more columns on a table is set smaller on paper."""
KINDS = {Role.BAD: "critical", Role.GOOD: "clean", Role.OPEN: "inconclusive"}
"""Looks of tones, as the style has them (`web/src/report.css`)."""


def page_of(document: Document) -> str:
    """The page, with a line break at the end."""
    figures = list(_figures(document.blocks))
    data = [Html(figure.data) for figure in figures]
    top = tag(
        "header",
        tag("h1", visible(document.title)),
        tag("p", marked(document.verdict), class_=f"verdict {KINDS[document.tone]}") if document.verdict else None,
        *map(_html, document.context),
        class_="top",
    )
    foot = tag("footer", f"{GENERATOR} · {NO_REQUESTS}")
    title = ": ".join(filter(None, (visible(document.title), visible(plain(document.verdict)))))
    return page(
        title,
        GENERATOR,
        [top, tag("main", *map(_html, document.blocks)), *data, foot],
        script=asset("report.js") if any(data) else "",
        style="".join(figure.style for figure in figures),
    )


def _figures(blocks: Iterable[Block]) -> Iterator[Figure]:
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Section | Card):
            yield from _figures(block.blocks)


def marked(line: Line) -> Html:
    """A line with its looks; what stands between backticks is code."""
    return joined(map(_span, spans(line)))


def _span(span: Span) -> Html:
    text, quantity = visible(span.text), span.quantity or None
    if span.role is Role.CODE:
        return tag("code", text, data_quantity=quantity)
    if span.role is Role.STRONG:
        return tag("strong", sentence(text), data_quantity=quantity)
    if span.role in KINDS:
        return tag("span", text, class_=f"badge {KINDS[span.role]}", data_quantity=quantity)
    if span.role is Role.BEST:
        return tag("strong", text, class_="best", data_quantity=quantity)
    if span.role or quantity:
        return tag("span", sentence(text), class_=str(span.role) or None, data_quantity=quantity)
    return sentence(text)


def _html(block: Block) -> Html | None:
    match block:
        case Paragraph():
            lead = f"{visible(block.lead)}: " if block.lead else None
            return tag("p", lead, marked(block.line), class_=str(block.role) or None)
        case Prose():
            return blocks(visible(block.source, multiline=True))
        case Items():
            return listed(map(marked, block.lines), class_="notes")
        case Entries():
            return joined(map(_entry, block.entries))
        case Card():
            return _card(block)
        case Section():
            return _section(block)
        case Table():
            return grid(block)
        case Figure():
            return Html(block.markup)


def _entry(entry: Entry) -> Html:
    facts = [joined([tag("dt", label), tag("dd", marked(words))]) for label, words in entry.facts]
    return tag("article", tag("h3", marked(entry.head)), tag("dl", *facts) if facts else None, class_="entry")


def _card(block: Card) -> Html:
    kind = KINDS.get(block.tone, str(block.tone))
    badge = tag("span", block.label.capitalize(), class_=f"badge {kind}")
    head = tag("header", tag("h3", badge, " ", visible(block.title)), tag("p", code(block.check), class_="savings"))
    return tag("article", head, *map(_html, block.blocks), id=f"finding-{block.check}", class_=f"finding {kind}")


def _section(block: Section) -> Html | None:
    body = [_html(inner) for inner in block.blocks]
    if block.folded:
        return details(visible(block.title), *body)
    note = tag("p", f"{block.note[0].upper()}{block.note[1:]}.", class_="dim") if block.note else None
    return tag("section", tag("h2", visible(block.title)), note, *body, id=block.name or None)


def grid(block: Table[Any]) -> Html:
    """A table that can be read without scripts, and sorted with them. On a phone its rows become paragraphs."""
    head = tag("tr", *(tag("th", visible(column.title), scope="col", class_=_kind(column)) for column in block.columns))
    bodies = []
    for heading, rows in groups(block):
        lines = [tag("tr", *(_cell(column, row) for column in block.columns)) for row in rows]
        if heading:
            name = tag("th", code(visible(heading)), scope="rowgroup", colspan=len(block.columns), class_="group")
            lines.insert(0, tag("tr", name))
        bodies.append(tag("tbody", *lines))
    looks = " ".join(["stacked", *(["wide"] if len(block.columns) > WIDE else [])])
    table = tag("table", tag("thead", head), *bodies, aria_label=visible(block.name), class_=looks)
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=visible(block.name))


def _cell(column: Column[Any], row: Any) -> Html:
    value = None if column.value is None else column.value(row)
    return tag(
        "td",
        marked(column.text(row)),
        class_=_kind(column),
        data_v=value,
        data_title=visible(column.title) or None,
        data_quantity=column.quantity or None,
    )


def _kind(column: Column[Any]) -> str | None:
    return None if column.words else "n"
