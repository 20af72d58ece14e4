"""All formats of a report, in one table. Importing it imports no renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Renderer:
    """One way to write a report."""

    name: str
    """As in `--format`."""
    extensions: tuple[str, ...]
    """Endings of files in this format, in lower case with the dot; the usual one first."""
    render: Callable[[Report], str]
    """The whole document, with a line break at its end."""
    draw: Callable[[Report, Timeline], str] | None = None
    """The same with the lanes; None for a format that has none."""

    def document(self, report: Report, timeline: Timeline | None) -> str:
        """The whole document, with the lanes where there are some and the format draws them."""
        return self.render(report) if self.draw is None or timeline is None else self.draw(report, timeline)


def _text(report: Report) -> str:
    from tracekit.report.renderers.text import render_text
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    return render_text(report, width=FILE_WIDTH, color=False)


def _markdown(report: Report) -> str:
    from tracekit.report.renderers.markdown import render_markdown

    return render_markdown(report)


def _json(report: Report) -> str:
    from tracekit.report.renderers.serialize import to_json

    return to_json(report)


def _html(report: Report, timeline: Timeline | None = None) -> str:
    from tracekit.report.renderers.html import render_html

    return render_html(report, timeline)


RENDERERS: dict[str, Renderer] = {
    renderer.name: renderer
    for renderer in (
        Renderer("text", (".txt",), _text),
        Renderer("markdown", (".md", ".markdown"), _markdown),
        Renderer("html", (".html", ".htm"), _html, _html),
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
