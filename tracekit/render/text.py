"""Documents as text, for a terminal or a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from tracekit.characters import visible
from tracekit.render.blocks import Card, Entries, Figure, Items, Paragraph, Prose, Role, Section, Table, spans
from tracekit.render.text_table import GAP, table_lines
from tracekit.report.formatting import lowered
from tracekit.report.renderers.concise_layout import LABEL_CELLS, Layout
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, markdown, printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from tracekit.render.blocks import Block, Document, Line

Row = TypeVar("Row")

STYLES = {
    Role.PLAIN: "",
    Role.CODE: "bold",
    Role.STRONG: "bold",
    Role.DIM: "dim",
    Role.BAD: "bold red",
    Role.GOOD: "green",
    Role.OPEN: "yellow",
    Role.BEST: "bold green",
}
"""Colors of the terminal's own palette, so that they suit its background."""


def text_of(document: Document, *, width: int, color: bool, verbose: bool = True) -> str:
    """The document in lines of at most `width` cells, with a line break at the end: the verdict first. Without
    `verbose`, folded sections are left out and lists are as long as they say. `color` writes ANSI styles."""
    writer = _Writer(Layout(min(max(width, NARROWEST), WIDEST)), verbose)
    verdict = styled(document.verdict)
    verdict.stylize(f"bold {STYLES[document.tone].removeprefix('bold ')}")
    lines: list[RenderableType] = [*writer.layout.hanging(verdict, 2)] if verdict.plain else []
    room = max((len(line.lead) for line in document.context), default=0)
    for line in document.context:
        lines += writer.paragraph(line, 0, room)
    for block in document.blocks:
        inner = writer.lines(block, 0)
        lines += [*([Text()] if lines and inner and not isinstance(block, Paragraph) else []), *inner]
    return printed(lines, writer.layout.width, color)


def styled(line: Line, indent: int = 0) -> Text:
    """A line with its looks; nothing in it can act on the screen."""
    text = Text(" " * indent)
    for span in spans(line):
        text.append(glued(visible(span.text)), STYLES[span.role])
    return text


@dataclass(frozen=True, slots=True)
class _Writer:
    layout: Layout
    verbose: bool

    def lines(self, block: Block, indent: int) -> list[RenderableType]:
        match block:
            case Paragraph():
                return [*self.paragraph(block, indent, len(block.lead))]
            case Prose():
                return [*markdown(visible(block.source, multiline=True), indent)]
            case Items():
                shown, more = self._shown(block.lines, block.brief)
                return [
                    *(line for item in shown for line in self.layout.hanging(styled(item, indent), indent + 2)),
                    *self._more(more, indent),
                ]
            case Entries():
                return self._entries(block, indent)
            case Section():
                return [] if block.folded and not self.verbose else self._section(block, indent)
            case Card():
                return self._card(block, indent)
            case Table():
                shown, more = self._shown(block.rows, block.brief)
                lines = table_lines(replace(block, rows=tuple(shown)), self.layout, indent, styled)
                return [*lines, *self._more(more, indent)]
            case Figure():
                return []

    def paragraph(self, block: Paragraph, indent: int, room: int) -> list[Text]:
        """Lines of a paragraph, below one another behind a lead of `room` cells."""
        lead = f"{block.lead + ':':<{room + 2}}" if block.lead else ""
        line = Text(" " * indent + lead).append_text(styled(block.line))
        line.stylize(STYLES[block.role])
        return self.layout.hanging(line, indent + (len(lead) or 2 * (not indent)))

    def _section(self, block: Section, indent: int) -> list[RenderableType]:
        lines: list[RenderableType] = [*self.layout.heading(visible(block.title).upper(), block.note)]
        for inner in block.blocks:
            lines += self.lines(inner, indent + 2)
        return lines

    def _card(self, block: Card, indent: int) -> list[RenderableType]:
        gap = " " * max(LABEL_CELLS - len(block.label), 2)
        head = Text.assemble((block.label.upper(), STYLES[block.tone]), gap, (block.check, "bold"))
        head.append(f": {visible(lowered(block.title))}")
        lines: list[RenderableType] = [*self.layout.hanging(head, self.layout.indent)]
        for inner in block.blocks:
            lines += self.lines(inner, indent + self.layout.indent)
        return lines

    def _entries(self, block: Entries, indent: int) -> list[RenderableType]:
        lines: list[RenderableType] = []
        room = max((len(label) for entry in block.entries for label, _ in entry.facts), default=0) + GAP
        shown, more = self._shown(block.entries, block.brief)
        for entry in shown:
            lines += self.layout.hanging(styled(entry.head, indent), indent + 2)
            for label, words in entry.facts:
                line = Text(" " * (indent + 2)).append(f"{label:<{room}}", "dim").append_text(styled(words))
                lines += self.layout.hanging(line, indent + 2 + room)
        return [*lines, *self._more(more, indent)]

    def _shown(self, rows: Sequence[Row], brief: int | None) -> tuple[Sequence[Row], int]:
        """The rows that are shown, and how many are not."""
        if self.verbose or brief is None or len(rows) <= brief:
            return rows, 0
        return rows[:brief], len(rows) - brief

    def _more(self, count: int, indent: int) -> list[Text]:
        return [Text(f"{' ' * indent}{count:,} more (-v)", style="dim")] if count else []
