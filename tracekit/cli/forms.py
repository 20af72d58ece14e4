"""`--format` and `-o`: how the result of any command is printed and written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup
    from collections.abc import Callable, Mapping, Sequence

    from tracekit.render.blocks import Document

ENDINGS: dict[str, tuple[str, ...]] = {
    "text": (".txt",),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm"),
    "json": (".json",),
    "csv": (".csv",),
    "sarif": (".sarif", ".sarif.json"),
    "junit": (".xml",),
}
"""How files of each form end, the usual ending first."""
FILE_WIDTH = 100
"""Cells of a line of text where there is no terminal."""


def add_form_arguments(
    parser: ArgumentParser | _ArgumentGroup, forms: Sequence[str], printed_only: Sequence[str] = ()
) -> None:
    """`--format`, `--json` for short, and `-o`; text is what is printed without them. No file is written in forms that
    are `printed_only`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=(*forms, *printed_only, "md"), help="what to print (default: text)", metavar="FORMAT"
    )
    form.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    endings = " ".join(ENDINGS[name][0] for name in forms)
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help=f"also write a file, by its ending: {endings} (repeatable)",
    )


def form_of(arguments: Namespace) -> str:
    """The form to print."""
    given = arguments.format or "text"
    return "markdown" if given == "md" else str(given)


def files_of(arguments: Namespace, forms: Sequence[str], inputs: Sequence[str]) -> dict[Path, str]:
    """The files of `-o` with the form of each. Raises `UsageError` for one that cannot be written."""
    from tracekit.cli.reports import check_output

    endings = {ending: name for name in forms for ending in ENDINGS[name]}
    files = {}
    for path in map(Path, arguments.output):
        fitting = [ending for ending in endings if path.name.lower().endswith(ending)]
        if not fitting:
            problem = "unknown extension" if path.suffix else "no extension"
            raise UsageError(f"{path}: {problem} (supported: {' '.join(ENDINGS[name][0] for name in forms)})")
        check_output(path, inputs)
        files[path] = endings[max(fitting, key=len)]
    return files


def deliver(
    form: str | None,
    files: Mapping[Path, str],
    document: Callable[[str], Document],
    data: Mapping[str, Callable[[], str]],
    *,
    verbose: bool = False,
) -> None:
    """Write each file, then print in one form, or not where it is None. `document` gives what is said in a readable
    form, `data` the others.

    `verbose` prints the long text; files hold it always. A file that cannot be written keeps no other from being
    written. Raises the first failure at the end.
    """
    from tracekit.cli.output import emit, has_color, width
    from tracekit.cli.reports import write_report
    from tracekit.render.forms import rendered

    def text(name: str, cells: int, **looks: bool) -> str:
        return data[name]() if name in data else rendered(document(name), name, width=cells, **looks)

    failures = []
    for path, name in files.items():
        try:
            write_report(path, text(name, FILE_WIDTH))
        except (OSError, TracekitError) as error:
            failures.append(error)
    if form is not None:
        styled = form == "text" and has_color()
        shown = text(form, width(FILE_WIDTH), color=styled, verbose=verbose)
        emit(shown, styled=styled, utf8=form in data or form == "html")
    if failures:
        raise failures[0]
