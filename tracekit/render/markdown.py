"""Documents as GitHub flavored Markdown, for issues and pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.characters import visible
from tracekit.render.blocks import Card, Entries, Figure, Items, Paragraph, Prose, Role, Section, Table, groups, spans
from tracekit.report.renderers.markdown_text import code, details, escape, left_out, paragraphs, sentence, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tracekit.render.blocks import Block, Document, Line

COMMENT_BYTES = 60_000
"""A comment on GitHub may have 65,536 characters (github/docs, limits of the API)."""


def markdown_of(document: Document, max_bytes: int = COMMENT_BYTES) -> str:
    """The document, with a line break at the end: the verdict first. Where it has more bytes of UTF-8 than `max_bytes`,
    long tables and lists lose their last rows, and say how many."""
    longest = max((len(rows) for rows in _listed(document.blocks)), default=0)
    text = _written(document, longest)
    if len(text.encode()) <= max_bytes:
        return text
    fitting, over = 0, longest
    while over - fitting > 1:
        middle = (fitting + over) // 2
        fits = len(_written(document, middle).encode()) <= max_bytes
        fitting, over = (middle, over) if fits else (fitting, middle)
    return _written(document, fitting)


def _listed(blocks: Iterable[Block]) -> Iterator[Sequence[Any]]:
    """What a document can show less of."""
    for block in blocks:
        match block:
            case Table():
                yield block.rows
            case Items():
                yield block.lines
            case Entries():
                yield block.entries
            case Section() | Card():
                yield from _listed(block.blocks)


def _written(document: Document, rows: int) -> str:
    """The document with at most so many rows of each table and list."""
    verdict = inline(document.verdict)
    context = "  \n".join(part for block in document.context for part in _parts(block, 3, rows))
    parts = [part for block in document.blocks for part in _parts(block, 3, rows)]
    return paragraphs(f"**{verdict}**" if verdict else "", context, *parts) + "\n"


def inline(line: Line) -> str:
    """A line of which nothing but its looks acts as Markdown; what stands between backticks is code."""
    return "".join(_span(visible(span.text), span.role) for span in spans(line))


def _span(text: str, role: Role) -> str:
    if role is Role.CODE:
        return code(text)
    return f"**{escape(text)}**" if role in (Role.STRONG, Role.BEST) else sentence(text)


def _parts(block: Block, level: int, rows: int) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f"{escape(block.lead)}: {inline(block.line)}" if block.lead else inline(block.line)
        case Prose():
            yield visible(block.source, multiline=True).strip()
        case Items():
            yield "\n".join(f"- {inline(line)}" for line in block.lines[:rows])
            yield left_out(len(block.lines) - rows)
        case Entries():
            yield "\n".join(
                f"- {inline(entry.head)}" + "".join(f"\n  - {label}: {inline(words)}" for label, words in entry.facts)
                for entry in block.entries[:rows]
            )
            yield left_out(len(block.entries) - rows)
        case Section():
            body = [part for inner in block.blocks for part in _parts(inner, level + 1, rows)]
            if block.folded:
                yield details(escape(visible(block.title)), paragraphs(*body))
            else:
                note = f"{block.note[0].upper()}{block.note[1:]}." if block.note else ""
                yield paragraphs(f"{'#' * level} {escape(visible(block.title))}", note, *body)
        case Card():
            heading = f"{'#' * level} {block.label.capitalize()}: {escape(visible(block.title))}"
            body = [part for inner in block.blocks for part in _parts(inner, level + 1, rows)]
            yield paragraphs(heading, code(block.check), *body)
        case Table():
            yield _table(block, rows)
        case Figure():
            pass


def _table(block: Table[Any], limit: int) -> str:
    words = next((at for at, column in enumerate(block.columns) if not column.words), len(block.columns))
    rows: list[list[str]] = []
    for heading, listed in groups(block):
        for number, row in enumerate(listed[: limit - len(rows)] if limit > len(rows) else ()):
            cells = [inline(column.text(row)) for column in block.columns]
            rows.append(
                cells if block.group is None else [code(visible(heading)) if heading and not number else "", *cells]
            )
    header = [escape(visible(column.title)) for column in block.columns]
    if block.group is not None:
        header, words = ["", *header], words + 1
    return paragraphs(table(header, rows, words), left_out(len(block.rows) - limit))
