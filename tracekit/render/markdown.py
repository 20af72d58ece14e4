"""Documents as GitHub flavored Markdown, for issues and pull requests; whatever a recording holds stays text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracekit.characters import visible
from tracekit.render import blocks
from tracekit.render.blocks import Line, Role

COMMENT_BYTES = 60_000
"""A comment on GitHub may have 65,536 characters (github/docs, limits of the API)."""
ROW_BYTES = 20
"""Of a row at least: no table is written with more rows than there can be room for."""
LEAST_ROWS = 3
"""Rows of a long table where there is hardly room; then whole parts are left out."""
_LEFT_OUT = "Left out"
_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$&])")
"""Characters that Markdown, HTML or a formula would act on."""
_LINKING = re.compile(r"(?<=\w)(?=://)|(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Places where GitHub would make a link, a mention or a reference of plain text."""
_JOINER = "&#8288;"
"""A character without width, seen in the source. A comment would break links too, but importers show it as text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece that can be left out as a whole."""

    text: str
    title: str = ""
    rank: int = 0
    """What has the highest is left out first; parts with 0 never are."""


def markdown_of(document: blocks.Document, *, max_bytes: int = COMMENT_BYTES, **_: Any) -> str:
    """The document, with a line break at the end: the verdict first. Where it has more bytes of UTF-8 than `max_bytes`,
    long tables and lists lose their last rows, and say how many; then folded parts are left out, and at last others."""
    listed = (
        len(block.rows if isinstance(block, blocks.Table) else block.entries)
        for block in blocks.walk(document.blocks)
        if isinstance(block, blocks.Table | blocks.Items)
    )
    longest = min(max(listed, default=0), max_bytes // ROW_BYTES)
    parts = _parts(document, longest)
    if _bytes(parts) > max_bytes:
        more = range(LEAST_ROWS + 1, longest)
        fitting = bisect_left(more, True, key=lambda rows: _bytes(_parts(document, rows)) > max_bytes)
        # As many parts as there is room for, and which are left out.
        parts = _parts(document, LEAST_ROWS + fitting)
        kept, gone = list(parts), list[_Part]()
        for last in sorted(parts, key=lambda part: -part.rank):
            if not last.rank or _bytes(kept) <= max_bytes:
                break
            kept = [part for part in kept if part is not last and part.title != _LEFT_OUT]
            gone.append(last)
            counted = {part.title: sum(other.title == part.title for other in gone) for part in reversed(gone)}
            titles = "; ".join(f"{count} × {title}" if count > 1 else title for title, count in counted.items())
            note = f"{_LEFT_OUT}, because there is no room for it: {titles}. The files have all of it."
            kept.insert(1, _Part(note, _LEFT_OUT))
        parts = kept
    return paragraphs(*(part.text for part in parts)) + "\n"


def _bytes(parts: Iterable[_Part]) -> int:
    return sum(len(part.text.encode("utf-8", "backslashreplace")) + 2 for part in parts)


def _parts(document: blocks.Document, rows: int) -> list[_Part]:
    """The document with at most so many rows of each table and list."""
    first, verdict = inline(document.first), inline(document.verdict)
    context = "  \n".join(block_text(block, 3, rows) for block in document.context)
    parts = [_Part(paragraphs(*(f"**{text}**" for text in (first, verdict) if text), context))]
    for number, block in enumerate(document.blocks, 1):
        stays = isinstance(block, blocks.Section) and block.stays
        parts += (replace(part, rank=0 if stays else part.rank + number) for part in _pieces(block, rows))
    return [part for part in (*parts, _Part(escape(visible(document.foot)))) if part.text]


def _pieces(block: blocks.Block, rows: int, rank: int = 0) -> Iterator[_Part]:
    """What can be left out by itself: folded sections before what cards fold, the last part first, then open sections,
    and the first card at last."""
    if isinstance(block, blocks.Section) and block.blocks and isinstance(block.blocks[0], blocks.Card):
        # Cards need no heading: each has its own.
        for number, inner in enumerate(block.blocks):
            yield from _pieces(inner, rows, number)
    elif isinstance(block, blocks.Card):
        folded = [inner for inner in block.blocks if isinstance(inner, blocks.Section) and inner.folded]
        opened = (block_text(inner, 4, rows) for inner in block.blocks if inner not in folded)
        heading = f"### {block.label.capitalize()}: {escape(visible(block.title))}"
        yield _Part(paragraphs(heading, code(block.check) if block.check else "", *opened), block.check, rank)
        for number, inner in enumerate(folded, 1):
            title = inner.title.partition(" (")[0].lower()
            yield _Part(block_text(inner, 4, rows), title, 10_000 * number + rank)
    else:
        title = visible(block.title) if isinstance(block, blocks.Section) else ""
        early = 100_000 if isinstance(block, blocks.Section) and block.folded else 1_000
        yield _Part(block_text(block, 3, rows), escape(title), early)


def inline(line: Line) -> str:
    """A line of which nothing but its looks acts as Markdown; what stands between backticks is code."""
    texts: list[str] = []
    for span in blocks.spans(line):
        text = visible(span.text)
        if span.picture is not None:
            continue
        if span.link.startswith(("https://", "http://")):
            texts.append(f"[{escape(text)}]({span.link})")
        elif span.link and not span.link.startswith("#"):
            texts.append(escape(f"{text}: {visible(span.link)}"))
        elif span.role is Role.CODE:
            texts.append(code(text))
        else:
            texts.append(f"**{escape(text)}**" if span.role in (Role.STRONG, Role.BEST) else sentence(text))
    return "".join(texts)


def block_text(block: blocks.Block, level: int, rows: int = COMMENT_BYTES // ROW_BYTES) -> str:
    """A block, empty where Markdown shows nothing of it; headings begin at `level`."""
    match block:
        case blocks.Paragraph():
            lead = f"**{escape(block.heading)}:** " if block.lead else ""
            return f"{lead}{inline(block.line)}"
        case blocks.Prose():
            return visible(block.source, multiline=True).strip()
        case blocks.Items():
            lines = (line for entry in block.entries[:rows] for line in _entry(entry))
            return paragraphs("\n".join(lines), left_out(len(block.entries) - rows))
        case blocks.Section():
            body = paragraphs(*(block_text(inner, level + 1, rows) for inner in block.blocks))
            if not body:
                return ""
            title = escape(visible(block.title))
            note = escape(f"{block.note[0].upper()}{block.note[1:]}." if block.note else "")
            if block.folded:
                return f"<details>\n<summary>{title}</summary>\n\n{paragraphs(note, body)}\n\n</details>"
            return paragraphs(f"{'#' * level} {title}", note, body)
        case blocks.Card():
            return paragraphs(*(part.text for part in _pieces(block, rows)))
        case blocks.Table():
            return _table(block, rows)
        case blocks.Figure():
            return ""


def _entry(entry: blocks.Entry) -> Iterator[str]:
    indent = "  " if entry.head else ""
    if entry.head:
        yield f"- {inline(entry.head)}"
    for label, words in entry.facts:
        yield f"{indent}- {escape(visible(label))}: {inline(words)}" if label else f"{indent}- {inline(words)}"


def _table(block: blocks.Table[Any], limit: int) -> str:
    first = block.rows[:limit]

    def has_words(column: blocks.Column[Any]) -> bool:
        cells = (span for row in first for span in blocks.spans(column.text(row)))
        return any(span.text and span.picture is None for span in cells)

    columns = list(filter(has_words, block.columns))
    header = [escape(visible(column.title.replace("\n", " "))) for column in columns]
    rows = [[inline(column.text(row)) for column in columns] for row in first]
    return paragraphs(table(header, rows, [column.words for column in columns]), left_out(len(block.rows) - limit))


def escape(text: str) -> str:
    """Text inside a line that Markdown shows as it is: no emphasis, code, HTML, link or mention."""
    return _LINKING.sub(_JOINER, _ACTIVE.sub(r"\\\1", text))


def sentence(text: str) -> str:
    """As `escape`, with what stands between backticks as code: our own sentences name commands that way."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(code(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A name as code, whatever backticks it holds. A `|` becomes `¦`: no escape is right both in and out of tables."""
    inner = text.replace("|", "¦").strip() or " "
    longest = max((len(run) for run in re.findall("`+", inner)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{edge}{inner}{edge}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[bool]) -> str:
    """A table; which columns hold words, the others hold numbers."""
    rule = [":--" if is_word else "--:" for is_word in words]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def paragraphs(*parts: str) -> str:
    """The parts that hold something, with a blank line between them."""
    return "\n\n".join(part for part in parts if part)


def left_out(number: int) -> str:
    """Says that a table does not show everything; empty where it does."""
    return f"{number:,} more in the JSON report" if number > 0 else ""
