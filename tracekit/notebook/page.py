"""How what tracekit says shows itself in a notebook: as its page, in a frame from which nothing gets out."""

from __future__ import annotations

from dataclasses import fields
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from tracekit.render.blocks import plain
from tracekit.render.forms import FILE_WIDTH, render
from tracekit.report.serialize import to_dict, to_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from tracekit.render.blocks import Document

Shown = TypeVar("Shown")


class Page:
    """A dataclass with a document: its forms are at hand, and in a notebook it is its page."""

    __slots__ = ()
    _said_by: ClassVar[str]
    """Module and function of `tracekit.documents` that say it."""

    def _document(self) -> Document:
        module, name = self._said_by.split(":")
        return getattr(import_module(f"tracekit.documents.{module}"), name)(self)  # type: ignore[no-any-return]

    def _page(self) -> Document:
        """The document with the pictures of a page."""
        return self._document()

    def __repr__(self) -> str:
        document = self._document()
        return f"<{type(self).__name__.removeprefix('Notebook')}: {plain(document.verdict) or document.title}>"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, with the keys of the JSON."""
        return to_dict(cast("DataclassInstance", self))

    def to_json(self) -> str:
        """All of it as JSON, as the command line writes it."""
        return to_json(cast("DataclassInstance", self))

    def to_markdown(self) -> str:
        """What it says as GitHub flavored Markdown."""
        return render(self._document(), "markdown", width=FILE_WIDTH)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        return framed(self._page())


def framed(document: Document) -> str:
    """The page of a document in a frame. It keeps its own policy there, and the sandbox keeps its script from the
    notebook around it; its lower edge can be dragged."""
    page = escape(render(document, "html", width=FILE_WIDTH))
    look = "width:100%;height:640px;border:1px solid #8886;border-radius:4px;resize:vertical"
    allowed = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    return f'<iframe srcdoc="{page}" sandbox="{allowed}" style="{look}" title="{escape(document.title)}"></iframe>'


def with_methods(kind: type[Shown], value: Any, **more: Any) -> Shown:
    """The same values as an object of a subclass that adds methods, and fields given as `more`."""
    return kind(**{field.name: getattr(value, field.name) for field in fields(value) if field.init}, **more)
