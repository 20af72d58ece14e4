"""`--format` and `-o`: how the result of any command is printed and written, and which files may be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.output import emit, has_color, width
from tracekit.errors import TracekitError, UsageError
from tracekit.recording.places import check_usable, is_part_of_recording
from tracekit.render.forms import FILE_WIDTH, form_for, rendered

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping, Sequence

    from tracekit.render.blocks import Document

LARGE_BYTES = 20_000_000
"""From this size on a file is said to be large: mail and chat refuse such files (heuristic)."""


def form_of(arguments: Namespace) -> str:
    """The form to print."""
    given = arguments.format or "text"
    return "markdown" if given == "md" else str(given)


def files_of(arguments: Namespace, forms: Sequence[str], inputs: Sequence[str]) -> dict[Path, str]:
    """The files of `-o` with the form of each. Raises `UsageError` for one that cannot be written."""
    files = {}
    for path in map(Path, arguments.output):
        files[path] = form_for(path, forms)
        check_output(path, inputs)
    return files


def deliver(
    form: str | None,
    files: Mapping[Path, str],
    document: Callable[[str], Document],
    data: Mapping[str, Callable[[], str]],
    *,
    verbose: bool = False,
    written: Callable[[Path, int], None] | None = None,
) -> None:
    """Write each file, then print in one form, or not where it is None. `document` gives what is said in a readable
    form, `data` the others.

    `verbose` prints the long text; files hold it always. `written` hears of each file and its size in bytes. A file
    that cannot be written keeps no other from being written. Raises the first failure at the end.
    """

    def text(name: str, cells: int, **looks: bool) -> str:
        return data[name]() if name in data else rendered(document(name), name, width=cells, **looks)

    failures = []
    for path, name in files.items():
        try:
            size = write_report(path, text(name, FILE_WIDTH))
            if written is not None:
                written(path, size)
        except (OSError, TracekitError) as error:
            failures.append(error)
    if form is not None:
        styled = form == "text" and has_color()
        shown = text(form, width(FILE_WIDTH), color=styled, verbose=verbose)
        emit(shown, styled=styled, utf8=form in data or form == "html")
    if failures:
        raise failures[0]


def check_output(path: Path, inputs: Sequence[str]) -> None:
    """Raise `UsageError` for a file that cannot be written, or that is part of the recording."""
    check_usable(path)
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: no such folder: {path.parent}")
    if holds(is_part_of_recording, path, inputs):
        raise UsageError(f"cannot write {path}: it is part of the recording; choose another file")


def holds(rule: Callable[[Path, Sequence[str]], bool], path: Path, inputs: Sequence[str]) -> bool:
    """Whether a rule of `tracekit.recording.places` holds for a path to write and the inputs."""
    try:
        return rule(path, inputs)
    except (OSError, ValueError, RuntimeError):
        # What is wrong with an input is reported where it is read.
        return False


def write_report(path: Path, text: str) -> int:
    """Write a report file; one that is there is replaced when the new one is complete. Returns its size in bytes."""
    # Most reports are only printed, and writers of tables come with it.
    from tracekit.recording.writing.files import complete_file

    # A link stays one: what it leads to is written.
    data = text.encode("utf-8", "backslashreplace")
    with complete_file(path.resolve()) as stream:
        stream.write(data)
    return len(data)


def size_words(size: int) -> str:
    """What to say of the size of a file, in bytes; empty where it is usual."""
    return f" ({size / 1e6:,.0f} MB; to make it smaller, record for a shorter time)" if size > LARGE_BYTES else ""
