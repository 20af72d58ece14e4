"""The forms that a document is written in: one table for all commands. Importing it imports no back end."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.render.blocks import Document

FORMS: dict[str, tuple[str, ...]] = {"text": (".txt",), "markdown": (".md", ".markdown"), "html": (".html", ".htm")}
"""How files of each form end, the usual ending first; forms are in the order in which help lists them. The module of
this package with the name of a form has the function `NAME_of` that writes a document in it. That takes `width`,
`color` and `verbose`, and leaves alone what means nothing to it."""
ENDINGS: dict[str, tuple[str, ...]] = {
    **FORMS,
    "json": (".json",),
    "csv": (".csv",),
    "sarif": (".sarif", ".sarif.json"),
    "junit": (".xml",),
    "zip": (".zip",),
    "collapsed": (".folded", ".collapsed"),
    "speedscope": (".speedscope.json",),
    "jsonl": (".jsonl",),
    "parquet": (".parquet",),
    "xml": (".xml",),
    "perfetto": (".pftrace", ".perfetto-trace"),
    "chrome": (".json",),
    "trace": (".trace",),
    "package": (".mlpackage",),
    "model": (".mlmodel",),
}
"""How files of each form end, also of those of data; the usual ending first."""
REPORT_FORMS = (*FORMS, "json")
FILE_WIDTH = 100
"""Cells of a line of text where there is no terminal."""


def form_for(path: PurePath, forms: Iterable[str] = REPORT_FORMS) -> str:
    """The form of a file by its ending. Raises `UsageError` for an ending that none of the forms has."""
    endings = {ending: name for name in forms for ending in ENDINGS[name]}
    fitting = [ending for ending in endings if path.name.lower().endswith(ending) and path.name.lower() != ending]
    if fitting:
        return endings[max(fitting, key=len)]
    problem = "unknown extension" if path.suffix else "no extension"
    raise UsageError(f"{path}: {problem} (supported: {' '.join(ENDINGS[name][0] for name in forms)})")


def render(document: Document, form: str, *, width: int, color: bool = False, verbose: bool = True) -> str:
    """The document in a form of `FORMS`, with a line break at the end. `width`, `color` and `verbose` are for text."""
    write = getattr(import_module(f"tracekit.render.{form}"), f"{form}_of")
    return str(write(document, width=width, color=color, verbose=verbose))
