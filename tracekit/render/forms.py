"""The forms that a document is written in: one table for all commands. Importing it imports no back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.render.blocks import Document

FORMS: dict[str, tuple[str, ...]] = {
    "text": (".txt",),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm"),
}
"""Endings of files in each form, the usual one first."""


def rendered(document: Document, form: str, *, width: int, color: bool = False, verbose: bool = True) -> str:
    """The document in a form of `FORMS`, with a line break at the end. `width`, `color` and `verbose` are for text."""
    match form:
        case "markdown":
            from tracekit.render.markdown import markdown_of

            return markdown_of(document)
        case "html":
            from tracekit.render.html import page_of

            return page_of(document)
        case _:
            from tracekit.render.text import text_of

            return text_of(document, width=width, color=color, verbose=verbose)
