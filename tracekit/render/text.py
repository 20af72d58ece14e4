"""Documents as text, for a terminal or a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import visible
from tracekit.render.blocks import Entries, Figure, Items, Paragraph, Role, Section, Table, spans
from tracekit.render.text_table import GAP, table_lines
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed

if TYPE_CHECKING:
    from tracekit.render.blocks import Block, Document, Line

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


def text_of(document: Document, *, width: int, color: bool, widest: int = WIDEST) -> str:
    """The document in lines of at most `width` cells, with a line break at the end: the verdict first. `color` writes
    ANSI styles."""
    layout = Layout(min(max(width, NARROWEST), widest))
    verdict = styled(document.verdict)
    verdict.stylize(f"bold {STYLES[document.tone].removeprefix('bold ')}")
    lines = [*layout.hanging(verdict, 2)] if verdict.plain else []
    lead = max((len(block.lead) for block in document.context), default=0)
    aligned = (replace(block, lead=f"{block.lead:<{lead}}") if block.lead else block for block in document.context)
    lines += [line for block in aligned for line in _lines(block, layout, 0)]
    for block in document.blocks:
        lines += [*([Text()] if lines and not isinstance(block, Paragraph) else []), *_lines(block, layout, 0)]
    return printed(lines, layout.width, color)


def styled(line: Line, indent: int = 0) -> Text:
    """A line with its looks; nothing in it can act on the screen."""
    text = Text(" " * indent)
    for span in spans(line):
        text.append(glued(visible(span.text)), STYLES[span.role])
    return text


def _lines(block: Block, layout: Layout, indent: int) -> list[Text]:
    match block:
        case Paragraph():
            lead = f"{block.lead}  " if block.lead else ""
            line = Text(" " * indent + lead).append_text(styled(block.line))
            line.stylize(STYLES[block.role])
            return layout.hanging(line, indent + (len(lead) or 2))
        case Items():
            return [line for item in block.lines for line in layout.hanging(styled(item, indent), indent + 2)]
        case Entries():
            return _entries(block, layout, indent)
        case Section() if block.folded:
            return []
        case Section():
            return _section(block, layout, indent)
        case Table():
            return table_lines(block, layout, indent, styled)
        case Figure():
            return []


def _section(block: Section, layout: Layout, indent: int) -> list[Text]:
    lines = layout.heading(visible(block.title).upper(), block.note)
    for inner in block.blocks:
        lines += _lines(inner, layout, indent + 2)
    return lines


def _entries(block: Entries, layout: Layout, indent: int) -> list[Text]:
    lines = []
    room = max((len(label) for entry in block.entries for label, _ in entry.facts), default=0) + GAP
    for entry in block.entries:
        lines += layout.hanging(styled(entry.head, indent), indent + 2)
        for label, words in entry.facts:
            line = Text(" " * (indent + 2)).append(f"{label:<{room}}", "dim").append_text(styled(words))
            lines += layout.hanging(line, indent + 2 + room)
    return lines
