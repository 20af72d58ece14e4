"""Documents as text, for a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from rich.text import Text

from tracekit.characters import lower_first, visible
from tracekit.render import blocks
from tracekit.render.blocks import Line, Role, Row
from tracekit.render.layout import GAP, LABEL_CELLS, NOTHING, Layout, keep_commands, keep_units, lines_text, table_lines

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""
NARROWEST = 30
"""Below this, numbers would have to break."""
STYLES = {
    Role.PLAIN: "",
    Role.CODE: "bold",
    Role.STRONG: "bold",
    Role.DIM: "dim",
    Role.BAD: "bold magenta",
    Role.GOOD: "green",
    Role.OPEN: "dim",
    Role.BEST: "bold green",
    Role.CRITICAL: "bold reverse red",
    Role.HIGH: "bold red",
    Role.MEDIUM: "yellow",
    Role.LOW: "blue",
}
"""Colors of the terminal's own palette, so that they suit its background."""


@dataclass(frozen=True, slots=True)
class _Writer:
    layout: Layout
    verbose: bool
    tight: bool = False
    """Whether there is no room, so that lists are shorter."""

    def document(self, document: blocks.Document) -> tuple[list[Text], bool]:
        """Its lines, and whether they have the room that there is."""
        head = self._head(document)
        # A long one says it at its beginning.
        closing = styled_line("" if self.verbose and document.closing == document.verdict else document.closing)
        closing.stylize(_bold(document.tone))
        tail = self.layout.hang(closing, 0) if closing.plain else []
        if document.more:
            more = Text("more: ") if self.verbose else Text.assemble("more: ", ("-v", "cyan"), "  ·  ")
            tail += self.layout.hang(more.append(keep_commands(visible(document.more)), "cyan"), 0)
        # What a short text has comes first.
        ordered = sorted(
            document.blocks, key=lambda one: not self.verbose and isinstance(one, blocks.Section) and one.folded
        )
        pieces = [[] if _is_cards(block) else self.lines(block, 0) for block in ordered]
        room: int | None = None
        if document.room is not None and not self.verbose:
            used = sum(len(piece) + 1 for piece in pieces if piece)
            room = document.room[1] - used - len(head) - len(tail) - 1
        lines, complete = head, True
        for above, block, piece in zip((None, *ordered), ordered, pieces, strict=False):
            inner, complete = self._cards(block, room) if _is_cards(block) else (piece, complete)
            apart = not isinstance(block, blocks.Paragraph) or isinstance(above, blocks.Section)
            lines += [*([Text()] if lines and inner and apart else []), *inner]
        lines += [*([Text()] if lines and tail else []), *tail]
        return lines, room is None or document.room is None or (complete and len(lines) <= document.room[0])

    def _head(self, document: blocks.Document) -> list[Text]:
        # A short text does not say at its beginning what its end or a card says.
        repeated = document.verdict == document.closing or any(map(_is_cards, document.blocks))
        verdict = styled_line("" if repeated and document.closing and not self.verbose else document.verdict)
        verdict.stylize(_bold(document.tone))
        first = styled_line(document.first)
        first.stylize("bold")
        lines = [line for text in (first, verdict) if text.plain for line in self.layout.hang(text, 2)]
        room = max((len(line.lead) for line in document.context), default=0)
        return [*lines, *(line for context in document.context for line in self.paragraph(context, 0, room))]

    def lines(self, block: blocks.Block, indent: int) -> list[Text]:
        match block:
            case blocks.Paragraph():
                return self.paragraph(block, indent, len(block.lead))
            case blocks.Prose():
                from tracekit.render import prose

                return prose.text_of(visible(block.source, multiline=True), self.layout, indent)
            case blocks.Items():
                return self._items(block, indent)
            case blocks.Section():
                return [] if block.paged or (block.folded and not self.verbose) else self._section(block, indent)
            case blocks.Card():
                return self._card(block, indent)
            case blocks.Table():
                if block.instead is not None:
                    return self._items(block.instead, indent)
                first, more = self._first(block.rows, block.brief, indent)
                columns = tuple(column for column in block.columns if self.verbose or not column.long)
                if block.cards:
                    lines = self._items(blocks.Items(tuple(_as_entry(columns, row) for row in first)), indent)
                else:
                    lines = table_lines(
                        replace(block, rows=tuple(first), columns=columns), self.layout, indent, styled_line
                    )
                return [*lines, *more]
            case _:
                return []

    def paragraph(self, block: blocks.Paragraph, indent: int, room: int) -> list[Text]:
        """Lines of a paragraph, below one another behind a lead of `room` cells."""
        limit = None if self.verbose else block.brief
        if limit == 0:
            return []
        lead = f"{block.lead + ':':<{room + 2}}" if block.lead else ""
        line = Text(" " * indent + lead).append_text(styled_line(block.line))
        line.stylize(STYLES[block.role])
        # A long lead would leave no room beside it.
        hang = len(lead) if 0 < len(lead) <= self.layout.width // 4 else 2 * (not indent or bool(lead))
        return self.layout.hang(line, indent + hang, max_lines=limit)

    def _items(self, block: blocks.Items, indent: int) -> list[Text]:
        brief = block.brief
        if block.paged or (brief == 0 and not self.verbose):
            return []
        if brief is not None and self.tight:
            brief = (brief + 2) // 3
        room = max((len(label) for entry in block.entries for label, _ in entry.facts), default=0) + GAP
        first, more = self._first(block.entries, brief, indent)
        lines: list[Text] = []
        for entry in first:
            head = styled_line(entry.head, indent)
            head.stylize(STYLES[block.role])
            begin = indent + (2 if head.plain.strip() else 0)
            lines += self.layout.hang(head, indent + 2) if head.plain.strip() else []
            for label, words in entry.facts:
                line = Text(" " * begin).append(f"{visible(label):<{room}}", "dim").append_text(styled_line(words))
                lines += self.layout.hang(line, begin + room)
        return [*lines, *more]

    def _section(self, block: blocks.Section, indent: int) -> list[Text]:
        if _is_cards(block):
            return self._cards(block, None)[0]
        words = visible(block.title)
        title = Text(" " * indent).append(words if block.has_names else words.upper(), "bold")
        lines = self.layout.hang(title.append(f"  {block.note}" if block.note else "", "dim"), indent + 2)
        for above, inner in zip((None, *block.blocks), block.blocks, strict=False):
            written = self.lines(inner, indent + 2)
            apart = isinstance(inner, blocks.Section | blocks.Prose) or isinstance(above, blocks.Prose)
            lines += [*([Text()] if above and apart and written else []), *written]
        return lines if len(lines) > 1 else []

    def _cards(self, block: blocks.Section, room: int | None) -> tuple[list[Text], bool]:
        """Cards in full as far as there is room, the others in a line each; and whether none was left out. They need no
        heading: each has its own."""
        cards = [inner for inner in block.blocks if isinstance(inner, blocks.Card)]
        rest = [line for inner in block.blocks if not isinstance(inner, blocks.Card) for line in self.lines(inner, 0)]
        full = [self._card(card, 0) for card in cards]
        whole, left_out = len(cards), 0
        # Where there is no room for cards.
        rows = []
        for card in cards:
            text = Text(f"{card.label.upper():<{LABEL_CELLS}}", style=STYLES[card.tone])
            words = visible(card.cost or f": {lower_first(card.title)}")
            text.append(card.check, "bold not reverse default").append(words, "not bold not reverse default")
            rows.append(self.layout.hang(text, self.layout.indent))
        if room is not None:
            while whole > 1 and _height(full[:whole], rows[whole:]) > room:
                whole -= 1
            spare = max(room - _height(full[:whole], ()) - 2, 1)
            below = rows[whole:]
            if sum(map(len, below)) > spare + 1:
                left_out = max(len(below) - spare, 0)
        short = [line for row in rows[whole : len(rows) - left_out] for line in row]
        short += [_more(left_out)] if left_out else []
        lines: list[Text] = []
        for part in (*full[:whole], short, rest):
            lines += [*([Text()] if lines and part else []), *part]
        return lines, not left_out

    def _card(self, block: blocks.Card, indent: int) -> list[Text]:
        gap = " " * max(LABEL_CELLS - len(block.label), 2)
        head = Text.assemble((block.label.upper(), STYLES[block.tone]), gap, (block.check, "bold"))
        head.append(f": {visible(lower_first(block.title))}")
        lines = self.layout.hang(head, self.layout.indent)
        for inner in block.blocks:
            # What a short text leaves out has the width of the page: code stays whole.
            apart = isinstance(inner, blocks.Table | blocks.Section)
            written = self.lines(inner, indent + (2 if isinstance(inner, blocks.Section) else self.layout.indent))
            lines += [*([Text()] if apart and written else []), *written]
            lines += [Text()] if isinstance(inner, blocks.Table) and written and inner is not block.blocks[-1] else []
        return lines

    def _first(self, rows: Sequence[Row], brief: int | None, indent: int) -> tuple[Sequence[Row], list[Text]]:
        """The rows that are shown, and a line on those that are not."""
        first = rows if self.verbose or brief is None else rows[:brief]
        return first, [_more(len(rows) - len(first), indent)] if len(first) < len(rows) else []


def text_of(document: blocks.Document, *, width: int, color: bool, verbose: bool = True) -> str:
    """The document in lines of at most `width` cells, with a line break at the end. Without `verbose`, folded sections
    and what is `long` are left out, and lists are as long as they say. `color` writes ANSI styles."""
    writer = _Writer(Layout(min(max(width, NARROWEST), WIDEST)), verbose)
    lines, fits = writer.document(document)
    if not fits:
        lines, _ = replace(writer, tight=True).document(document)
    return lines_text(lines, color)


def styled_line(line: Line, indent: int = 0) -> Text:
    """A line with its looks; nothing in it can act on the screen."""
    text = Text(" " * indent)
    for span in blocks.spans(line):
        text.append(keep_commands(keep_units(visible(span.text))), STYLES[span.role])
        if span.link and not span.link.startswith("#"):
            text.append(f": {visible(span.link)}", "dim")
    return text


def _more(count: int, indent: int = 0) -> Text:
    return Text(f"{' ' * indent}{count:,} more (-v)", "dim")


def _bold(tone: Role) -> str:
    return f"bold {STYLES[tone].replace('bold', '').replace('reverse', '')}".strip()


def _is_cards(block: blocks.Block) -> TypeGuard[blocks.Section]:
    return isinstance(block, blocks.Section) and bool(block.blocks) and isinstance(block.blocks[0], blocks.Card)


def _height(full: Sequence[Sequence[Text]], rows: Sequence[Sequence[Text]]) -> int:
    """Lines of cards in full and of those in a line each."""
    return sum(len(lines) + 1 for lines in full) + sum(map(len, rows)) + bool(rows)


def _as_entry(columns: Sequence[Any], row: Any) -> blocks.Entry:
    texts = [(column.title, column.text(row)) for column in columns]
    head = blocks.join([blocks.spans(texts[0][1]), texts[1][1]], "  ")
    return blocks.Entry(head, tuple((title, text) for title, text in texts[2:] if blocks.plain(text) not in NOTHING))
