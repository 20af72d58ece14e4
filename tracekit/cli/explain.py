"""`tracekit explain ID`: the page of one detector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.characters import printable
from tracekit.cli.ending import ExitStatus
from tracekit.cli.output import emit, has_color, standard_output, width
from tracekit.detectors.pages import own_page
from tracekit.errors import unknown_check

if TYPE_CHECKING:
    from argparse import Namespace

WIDEST = 100
"""Longer lines of prose are hard to read, however wide the terminal."""


def run(arguments: Namespace) -> ExitStatus:
    """Print the page: laid out on a terminal, as Markdown in a pipe."""
    page = printable(own_page(arguments.id) or _page_of_plug_in(arguments.id))
    stream = standard_output()
    on_terminal = stream is not None and stream.isatty()
    emit(_laid_out(page) if on_terminal else page, styled=on_terminal)
    return ExitStatus.DONE


def _page_of_plug_in(name: str) -> str:
    """The page of a check of a plug-in. Raises `UsageError` where there is none."""
    # Plug-ins are written with all that rules are, which takes a second to load.
    from tracekit.detectors.explanation import page_markdown
    from tracekit.detectors.plugins import listed_detectors

    by_id = {detector.id: detector for detector in listed_detectors()}
    if name not in by_id:
        raise unknown_check(name, by_id)
    return page_markdown(by_id[name])


def _laid_out(page: str) -> str:
    """Markdown rendered for the terminal."""
    # A pipe gets the page as it is.
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    # rich's own styles put code on black, which is a hole in a light terminal.
    theme = Theme({"markdown.code": "bold cyan", "markdown.code_block": "cyan"})
    console = Console(no_color=not has_color(), width=min(width(WIDEST), WIDEST), theme=theme)
    with console.capture() as capture:
        # Not every terminal can follow a link that it does not show.
        console.print(Markdown(page, code_theme="ansi_light", hyperlinks=False))
    return capture.get()
