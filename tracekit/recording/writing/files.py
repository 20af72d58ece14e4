"""Files that are there completely or not at all, and names for them."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tracekit.errors import TracekitError, refusals

_STRANGE = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_LONGEST = 100
"""Characters of a name; file systems allow 255 bytes."""
_UNFINISHED = ".tracekit-"
"""How names of what is not complete begin."""
_LEFT_S = 86_400
"""Age from which on that was left by a process that was killed: nothing is written for a day (heuristic)."""


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
    with refusals(f"write {path}"):
        before = path.lstat() if path.is_symlink() or path.exists() else None
        if before is not None and not stat.S_ISREG(before.st_mode) and not stat.S_ISLNK(before.st_mode):
            with path.open("wb") as stream:
                yield stream
            return
        if before is not None and stat.S_ISREG(before.st_mode):
            mode = stat.S_IMODE(before.st_mode)
        else:
            # The mask of new files can only be read by setting it.
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        # A name of its own that nobody can foresee, and so that no link lies in wait for.
        _remove_left(path.parent)
        number, name = tempfile.mkstemp(prefix=_UNFINISHED, suffix=".part", dir=path.parent)
        part = path.with_name(os.path.basename(name))  # noqa: PTH119 - a name, no path
        try:
            with open(number, "wb") as stream:  # noqa: PTH123 - a descriptor
                yield stream
            part.chmod(mode)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """A folder inside for what is not complete. At the end it is removed, with all that is in it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    _remove_left(folder)
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=folder) as name:
        yield Path(name)


def _remove_left(folder: Path) -> None:
    """Remove what processes left that were killed. Others may be at work beside this one, also on other machines."""
    for left in (path for end in ("", ".part") for path in folder.glob(f"{_UNFINISHED}????????{end}")):
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LEFT_S:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def check_folder(folder: Path, force: bool) -> None:
    """Raise `TracekitError` for a folder that cannot be written into or, without `force`, is in use.

    Files of two recordings in one folder would be read as one, so nothing is added to what is there unasked.
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
    with refusals(f"create folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
