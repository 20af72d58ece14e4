"""Our own Markdown, such as a fix: read by one parser for text and pages. Only paragraphs, lists, code and emphasis are
read. All else, such as markup, links and pictures, stays text, since a plug-in or a recording may have written it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tracekit.render.layout import GLUE, KEPT, LEAST_ROOM, Layout, keep_units, wrapped
from tracekit.render.markup import Html, join, tag

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_COMMENT = re.compile(r"(?:^|(?<=\s))(?:///?|#) ")
_INLINE = re.compile(r"`([^`]+)`|\*([^*\s](?:[^*]*[^*\s])?)\*|(?<![^\s(])(--[a-z][a-z-]+)")


@cache
def _parser() -> MarkdownIt:
    # Most command lines show no fix, and the terminal UI shows its lanes before one.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable(["fence", "list", "backticks", "emphasis", "newline"])
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_inline", lambda _, tokens, at, *__: code(tokens[at].content))
    parser.add_render_rule("text", lambda _, tokens, at, *__: join([keep_together(tokens[at].content)]))
    return parser


def keep_together(text: str) -> str:
    """Text in which no line ends between a number and its unit."""
    return keep_units(text).replace(GLUE, "\xa0")


def sentence(text: str) -> Html:
    """Text as HTML, with what stands between backticks as code, and between asterisks as emphasis; options whole."""
    looks = (keep_together, code, partial(tag, "em"), partial(tag, "span", class_="option"))
    return join(looks[at % len(looks)](part) for at, part in enumerate(_INLINE.split(text)) if part)


def code(text: str, quantity: str | None = None) -> Html:
    """Code in a line. A long name goes on in the next after a dot, parenthesis or colon."""
    return tag("code", join(re.split(r"(?<=\w[.(:])(?=\w)", text), Html("<wbr>")), data_quantity=quantity)


def html_of(source: str) -> Html:
    """Markdown as HTML."""
    return Html(_parser().render(source))


def _fence(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    # A block that is wider than the page can be scrolled, with the keyboard too.
    language = tokens[at].info.strip() or "code"
    inner, label = tag("code", tokens[at].content.rstrip("\n")), f"{language} example"
    return tag("pre", inner, tabindex="0", role="group", aria_label=label, data_language=language)


def text_of(source: str, layout: Layout, indent: int, style: str = "cyan") -> list[Text]:
    """Markdown as lines: paragraphs and items wrap, code keeps its lines; all code has the style."""
    lines: list[Text] = []
    before = ""
    for kind, marker, body in parts(source, style):
        # Items stand together; anything else is set apart.
        lines += [Text()] if before and not (kind == before == "item") else []
        before = kind
        if kind == "code":
            lines += [part for line in body.split("\n") for part in _code_lines(line, layout, indent + 2)]
        else:
            lines += layout.hang(Text(" " * indent + marker).append_text(body), indent + len(marker))
    return lines


def _code_lines(line: Text, layout: Layout, indent: int) -> list[Text]:
    """The lines of a line of code. A comment that does not fit stands above it, and goes on as a comment."""
    code, comment, lines = Text(" " * indent).append_text(line), _COMMENT.search(line.plain), list[Text]()
    begin = indent + len(line.plain) - len(line.plain.lstrip())
    if comment is not None and len(code.plain) > layout.width:
        mark, words = f"{' ' * begin}{comment[0]}", line[comment.end() :]
        lines += (
            Text(mark, line.style).append_text(words_of_line)
            for words_of_line in wrapped(words, max(layout.width - len(mark), LEAST_ROOM))
        )
        code = code[: indent + comment.start()]
    # Code is copied: a line that is too long for the screen is left to the terminal.
    return [*lines, *([code] if code.plain.strip() else [])] or [Text()]


def parts(source: str, style: str) -> Iterator[tuple[str, str, Text]]:
    """Blocks of Markdown: `paragraph`, `item` or `code`; what stands before an item; text, its code in the style."""
    marker = ""
    for token in _parser().parse(source):
        if token.type == "list_item_open":
            marker = f"{token.info}{token.markup} "
        elif token.type == "inline":
            text, emphasis = Text(), 0
            for part in token.children or ():
                emphasis += part.nesting
                breaks = part.type in ("softbreak", "hardbreak")
                is_code = part.type == "code_inline"
                words = part.content.replace(" ", KEPT) if is_code else part.content
                text.append(" " if breaks else words, style if is_code else "italic" * (emphasis > 0))
            yield "item" if marker else "paragraph", marker, text
            marker = ""
        elif token.type == "fence":
            yield "code", "", Text(token.content.rstrip("\n"), style)
