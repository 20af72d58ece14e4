"""`tracekit explain ID`: the page of one detector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.detectors.framework import ListedDetector


WIDEST = 100
"""Longer lines of prose are hard to read, however wide the terminal."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("id", metavar="ID", help="a check, as listed by 'tracekit detectors'")


def run(arguments: Namespace) -> ExitStatus:
    """Print the page: laid out on a terminal, as Markdown in a pipe."""
    from tracekit.characters import printable
    from tracekit.cli.output import emit, standard_output
    from tracekit.detectors.own import own_detector
    from tracekit.detectors.page import page_markdown

    page = printable(page_markdown(own_detector(arguments.id) or _of_plug_in(arguments.id)))
    stream = standard_output()
    on_terminal = stream is not None and stream.isatty()
    emit(_laid_out(page) if on_terminal else page, styled=on_terminal)
    return ExitStatus.DONE


def _of_plug_in(name: str) -> ListedDetector:
    """The check of a plug-in. Raises `UsageError` where there is none."""
    from tracekit.detectors.plugins import listed_detectors
    from tracekit.errors import unknown_check

    by_id = {detector.id: detector for detector in listed_detectors()}
    if name not in by_id:
        raise unknown_check(name, by_id)
    return by_id[name]


def _laid_out(page: str) -> str:
    """Markdown rendered for the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    from tracekit.cli.output import has_color, width

    # rich's own styles put code on black, which is a hole in a light terminal.
    theme = Theme({"markdown.code": "bold cyan", "markdown.code_block": "cyan"})
    console = Console(no_color=not has_color(), width=min(width(WIDEST), WIDEST), theme=theme)
    with console.capture() as capture:
        # Not every terminal can follow a link that it does not show.
        console.print(Markdown(page, code_theme="ansi_light", hyperlinks=False))
    return capture.get()


COMMAND = Command(
    name="explain",
    summary="explain a check and its fix",
    description=(
        "Print the page of a check: what it looks for, when it reports a finding, how to fix the problem, and where "
        "its thresholds come from."
    ),
    add_arguments=add_arguments,
    run=run,
)
