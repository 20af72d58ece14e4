"""Sentences of checks and their fixes, written in a little Markdown, as HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.report.renderers.html.markup import Html, code, joined, tag
from tracekit.report.renderers.text_layout import GLUE, LIST_ITEM, glued

if TYPE_CHECKING:
    from collections.abc import Iterator

_INLINE = re.compile(r"`([^`]+)`|\*([^*\s](?:[^*]*[^*\s])?)\*")
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[^\n]*$\n?", re.MULTILINE | re.DOTALL)


def unbroken(text: str) -> str:
    """Text in which no line ends between a number and its unit."""
    return glued(text).replace(GLUE, "\xa0")


def sentence(text: str) -> Html:
    """Text with what stands between backticks as code, and between asterisks as emphasis."""
    parts: list[str] = []
    end = 0
    for match in _INLINE.finditer(text):
        parts.append(unbroken(text[end : match.start()]))
        parts.append(code(match[1]) if match[1] else tag("em", match[2]))
        end = match.end()
    return joined([*parts, unbroken(text[end:])])


def blocks(source: str) -> Html:
    """Paragraphs, lists and blocks of code."""
    parts: list[Html] = []
    end = 0
    for match in _FENCE.finditer(source):
        parts += _prose(source[end : match.start()])
        # A block that is wider than the page can be scrolled, with the keyboard too.
        language = match[1].strip() or "code"
        inner = tag("code", match[2].rstrip("\n"))
        label = f"{language} example"
        parts.append(tag("pre", inner, tabindex="0", role="group", aria_label=label, data_language=language))
        end = match.end()
    return joined([*parts, *_prose(source[end:])])


def _prose(source: str) -> Iterator[Html]:
    for paragraph in re.split(r"\n\s*\n", source.strip()):
        lines = re.sub(r"\n(?!\s*(?:[-*]|\d+\.) )\s*", " ", paragraph.strip()).split("\n")
        items = [line.strip() for line in lines if line.strip()]
        if items and all(LIST_ITEM.match(item) for item in items):
            kind = "ol" if items[0][0].isdigit() else "ul"
            yield tag(kind, *(tag("li", sentence(LIST_ITEM.sub("", item, count=1))) for item in items))
        else:
            yield from (tag("p", sentence(item)) for item in items)
