"""Files that are there completely or not at all, names for them, and whether one would be part of a recording."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import TracekitError, UsageError
from tracekit.recording import archives
from tracekit.recording.sources import BUNDLE_SUFFIX, STANDARD_INPUT, is_bundle, is_xml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO


_STRANGE = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_LONGEST = 100
"""Characters of a name; file systems allow 255 bytes."""


class FileNames:
    """Hands out names that differ on every file system, those that ignore case included."""

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._taken = {name.casefold() for name in reserved}

    def name(self, schema: str, suffix: str) -> str:
        """A name for the next table of a schema: `schema.csv`, then `schema-2.csv`, ..."""
        base = _STRANGE.sub("_", schema).strip("._")[:_LONGEST] or "table"
        number = 1
        while True:
            name = f"{base}{suffix}" if number == 1 else f"{base}-{number}{suffix}"
            if name.casefold() not in self._taken:
                self._taken.add(name.casefold())
                return name
            number += 1


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place when all was written, and vanishes where something failed: what was
    there before stays until then. It gets the permissions of the file that it replaces.

    A link is replaced itself; whoever means the file behind it passes that. What is no regular file, such as a pipe, is
    written to. Raises `TracekitError` where the operating system refuses.
    """
    try:
        before = path.lstat() if path.is_symlink() or path.exists() else None
        if before is not None and not stat.S_ISREG(before.st_mode) and not stat.S_ISLNK(before.st_mode):
            with path.open("wb") as stream:
                yield stream
            return
        mode = stat.S_IMODE(before.st_mode) if before is not None and stat.S_ISREG(before.st_mode) else _usual_mode()
        # A name of its own that nobody can foresee, and so that no link lies in wait for.
        number, name = tempfile.mkstemp(prefix=".tracekit-", suffix=".part", dir=path.parent)
        part = path.with_name(os.path.basename(name))  # noqa: PTH119 - a name, no path
        try:
            with open(number, "wb") as stream:  # noqa: PTH123 - a descriptor
                yield stream
            part.chmod(mode)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise TracekitError(f"cannot write {path}: {error.strerror or error}") from error


def _usual_mode() -> int:
    """Permissions of a new file. The mask can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def check_folder(folder: Path, force: bool) -> None:
    """Raise `TracekitError` for a folder that cannot be written into or, without `force`, is in use.

    Files of two recordings in one folder would be read as one recording, so what is there already is never added to
    without being asked.
    """
    try:
        used = folder.exists() and any(folder.iterdir())
    except NotADirectoryError as error:
        raise TracekitError(f"cannot write into {folder}: it is not a folder") from error
    except OSError as error:
        raise TracekitError(f"cannot write into {folder}: {error.strerror or error}") from error
    if used and not force:
        raise TracekitError(
            f"folder {folder} is not empty; choose a new one, or pass --force to overwrite existing files"
        )


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises `TracekitError` where the operating system refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TracekitError(f"cannot create folder {folder}: {error.strerror or error}") from error


def check_usable(path: Path) -> None:
    """Raise `UsageError` for a path to write that nothing can be at: a name that is too long, a link that leads back to
    itself."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"cannot write {path}: {error}") from None


def is_part_of_recording(target: Path, paths: Sequence[str | Path]) -> bool:
    """Whether writing a file would change a recording: one inside any trace bundle, or one that the paths mean, be it
    through links. Raises OSError."""
    path = target.resolve()
    if any(folder.suffix.lower() == BUNDLE_SUFFIX and folder.is_dir() for folder in path.parents):
        return True
    for source in _sources(paths):
        if source.is_dir() and path.is_relative_to(source) and (is_bundle(source) or _is_export(path)):
            return True
        if source.is_file() and path.exists() and path.samefile(source):
            return True
    # A second name of a file that lies in one of the folders.
    return path.is_file() and path.stat().st_nlink > 1 and _is_export(path)


def would_be_replaced(folder: Path, paths: Sequence[str | Path]) -> bool:
    """Whether a folder holds a file that the paths mean, or lies in a bundle or is a folder among them."""
    resolved = folder.resolve()
    if any(above.suffix.lower() == BUNDLE_SUFFIX and above.is_dir() for above in (resolved, *resolved.parents)):
        return True
    named = [Path(path) for path in paths if str(path) != STANDARD_INPUT]
    files = [path for path in named if path.is_file()]
    return any(resolved == source for source in _sources(paths)) or any(
        resolved in (path.parent.resolve(), path.resolve().parent) for path in files
    )


def _sources(paths: Iterable[str | Path]) -> list[Path]:
    return [Path(path).resolve() for path in paths if str(path) != STANDARD_INPUT]


def _is_export(path: Path) -> bool:
    """Whether it is a file that tracekit would read."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        beginning = stream.read(512)
    return beginning.startswith(archives.MAGIC) or is_xml(beginning)
