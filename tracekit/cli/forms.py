"""`--format`, `-o` and `--open`: how the result of any command is printed and written, and which files may be."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from tracekit.cli.output import emit, has_color, is_terminal, narrate, tell, width
from tracekit.errors import TracekitError, UsageError
from tracekit.recording.places import check_usable, is_part_of_recording, would_be_replaced
from tracekit.render.forms import ENDINGS, FILE_WIDTH, form_for, render

if TYPE_CHECKING:
    from tracekit.render.blocks import Document

    Data = Mapping[str, Callable[[], str | bytes]]
    """What gives the forms that no document has."""

LARGE_BYTES = 20_000_000
"""From this size on a file is said to be large: mail and chat refuse such files (heuristic)."""


def form_of(arguments: Namespace) -> str:
    """The form to print."""
    given = arguments.format or arguments.forms[0]
    return "markdown" if given == "md" else str(given)


def files_of(arguments: Namespace, inputs: Sequence[str]) -> dict[Path, str]:
    """The files of `-o` by form, and the page of `--open`. Raises `UsageError` for one that cannot be written."""
    forms = [form for form in (*arguments.forms, *arguments.files) if form in ENDINGS]
    files = {}
    for path in map(Path, arguments.output):
        files[path] = form_for(path, forms)
        check_output(path, inputs)
    if getattr(arguments, "open", False) and "html" not in files.values():
        files[Path(mkdtemp(prefix="tracekit-"), "report.html")] = "html"
    return files


def may_name(paths: Sequence[str]) -> bool:
    """Whether a printed command has paths as they were typed: what is no terminal may be passed on, and an absolute
    path names a user."""
    return is_terminal() or not any(Path(path).is_absolute() for path in paths)


def deliver(
    arguments: Namespace,
    files: Mapping[Path, str],
    document: Callable[[str], Document],
    data: Data,
    *,
    brief: Document | str | None = None,
    whole: bool = False,
    verbose: bool | None = None,
    more: str = "",
) -> None:
    """Write each file, then print in one form, and open the page that is wanted. `document` gives what is said in a
    readable form, `data` the others. With `-q`, and where there are files, only `brief` is printed unless `-v` or
    `--format` asks for more; by default, the verdict. `whole` is for what is always printed. `verbose` prints the long
    text, as files hold it; None: where `-v` says so. `more` replaces the command that a text names for more. A file
    that cannot be written keeps no other from being written. Raises the first failure at the end."""
    failures = []
    for path, name in files.items():
        try:
            shown = None if name in data else _linked(document(name), path, arguments)
            size = write_file(path, data[name]() if shown is None else render(shown, name, width=FILE_WIDTH))
            tell(arguments, f"wrote {path}{size_words(size)}")
        except (OSError, TracekitError) as error:
            failures.append(error)
    long = bool(getattr(arguments, "verbose", False)) if verbose is None else verbose
    if arguments.format is None and not whole and not long and (arguments.quiet or files):
        if brief is None:
            said = document("text")
            brief = replace(said, verdict=said.verdict or said.title, context=(), blocks=(), closing="", more="")
        if isinstance(brief, str):
            emit(f"{brief}\n")
        else:
            print_document(_with_more(brief, more))
    else:
        form = form_of(arguments)
        if form in data:
            emit(str(data[form]()), utf8=form != "text")
        else:
            print_document(_with_more(document(form), more), form, verbose=long)
    if failures:
        raise failures[0]
    if getattr(arguments, "open", False):
        # No other run needs it.
        import webbrowser

        page = next(path for path, name in files.items() if name == "html")
        if not webbrowser.open(page.resolve().as_uri()):
            narrate(f"tracekit: no browser could be started; open {page} yourself")


def _linked(document: Document, page: Path, arguments: Namespace) -> Document:
    """The page with links to the reports on its recordings that stand beside it: `run.html`, or `1-run.html` as several
    recordings have."""
    from tracekit.render.blocks import Paragraph, Span, join, spans

    if page.suffix != ".html":
        return document
    sides = (vars(arguments).get(name) for name in ("path", "before", "after"))
    names = {Path(given).stem: Path(given).name for side in sides if isinstance(side, list) for given in side}
    page_of = re.compile(rf"(?:\d+-)?({'|'.join(map(re.escape, names))})\.html")
    files = sorted(entry.name for entry in page.parent.iterdir()) if page.parent.is_dir() else []
    found = [match for file in files if file != page.name and (match := page_of.fullmatch(file))]
    reports = [Span(names[match[1]], link=match[0]) for match in found]
    more = (Paragraph(("reports: ", *spans(join(reports, ", ")))),) if reports else ()
    return replace(document, context=(*document.context, *more))


def _with_more(document: Document, more: str) -> Document:
    return replace(document, more=more) if more and document.more else document


def print_document(
    document: Document, form: str = "text", *, verbose: bool = False, fallback: int = FILE_WIDTH
) -> None:
    """Print in a form of documents; `fallback` is the width where there is no terminal."""
    styled = form == "text" and has_color()
    text = render(document, form, width=width(fallback), color=styled, verbose=verbose)
    emit(text, styled=styled, utf8=form == "html")


def check_output(path: Path, inputs: Sequence[str]) -> None:
    """Raise `UsageError` for a file that cannot be written, or that is part of the recording."""
    check_usable(path)
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder; give a file in it, or --folder where there are several")
    if not path.parent.is_dir() and not _may_be_made(path.parent):
        raise UsageError(f"cannot write {path}: no such folder: {path.parent}")
    if _holds(is_part_of_recording, path, inputs):
        raise UsageError(f"cannot write {path}: it is part of the recording; choose another file")


def check_folder(folder: Path, inputs: Sequence[str]) -> None:
    """Raise `UsageError` for a folder that cannot be written into, or that is or holds the recording."""
    check_usable(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write into {folder}: it is a file; choose a folder")
    if not folder.exists() and not folder.parent.is_dir() and not _may_be_made(folder):
        raise UsageError(f"cannot write into {folder}: no such folder: {folder.parent}")
    if _holds(would_be_replaced, folder, inputs):
        raise UsageError(f"cannot write into {folder}: it is or contains the recording; choose another folder")


def _may_be_made(folder: Path) -> bool:
    """Whether a folder that is missing lies inside the current one."""
    return not folder.exists() and folder.resolve().is_relative_to(Path.cwd().resolve())


def _holds(rule: Callable[[Path, Sequence[str]], bool], path: Path, inputs: Sequence[str]) -> bool:
    """Whether a rule of `tracekit.recording.places` holds for a path to write and the inputs."""
    try:
        return rule(path, inputs)
    except (OSError, ValueError, RuntimeError):
        # What is wrong with an input is reported where it is read.
        return False


def write_file(path: Path, content: str | bytes) -> int:
    """Write a file, and the folder that it lies in where `check_output` allows that; one that is there is replaced when
    the new one is complete. Returns its size in bytes."""
    # Most reports are only printed, and writers of tables come with it.
    from tracekit.recording.writing.files import complete_file, make_folder

    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    make_folder(path.parent)
    # A link stays one: what it leads to is written.
    with complete_file(path.resolve()) as stream:
        stream.write(data)
    return len(data)


def size_words(size: int) -> str:
    """What to say of the size of a file, in bytes; empty where it is usual."""
    return f" ({size / 1e6:,.0f} MB; to make it smaller, record for a shorter time)" if size > LARGE_BYTES else ""
