"""All formats of a report, in one table. Importing it imports no renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from tracekit.report.report import Report


@dataclass(frozen=True, slots=True)
class Renderer:
    """One way to write a report."""

    name: str
    """As in `--format`."""
    extensions: tuple[str, ...]
    """Endings of files in this format, in lower case with the dot; the usual one first."""
    render: Callable[[Report], str]
    """The whole document, with a line break at its end."""


def _text(report: Report) -> str:
    from tracekit.report.renderers.text import FILE_WIDTH, render_text

    return render_text(report, width=FILE_WIDTH, color=False)


def _markdown(report: Report) -> str:
    from tracekit.report.renderers.markdown import render_markdown

    return render_markdown(report)


def _json(report: Report) -> str:
    from tracekit.report.renderers.serialize import to_json

    return to_json(report)


RENDERERS: dict[str, Renderer] = {
    renderer.name: renderer
    for renderer in (
        Renderer("text", (".txt",), _text),
        Renderer("markdown", (".md", ".markdown"), _markdown),
        Renderer("json", (".json",), _json),
    )
}
"""By name, in the order in which help lists them."""


def renderer_for(path: PurePath) -> Renderer:
    """The renderer for a file by its ending. Raises `UsageError` for an ending that none has."""
    for renderer in RENDERERS.values():
        if path.suffix.lower() in renderer.extensions:
            return renderer
    known = " ".join(renderer.extensions[0] for renderer in RENDERERS.values())
    problem = "unknown extension" if path.suffix else "no extension"
    raise UsageError(f"{path}: {problem} (supported: {known})")
