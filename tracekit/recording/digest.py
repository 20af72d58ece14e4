"""SHA-256 of a recording, so that two people can tell that they have the same one.

Of a file it is that of its bytes. A folder, such as a trace bundle, and several files have none of their own, so it is
that of a list of their files, in UTF-8, with one line for each, sorted by path:

    SHA-256 of the contents, two blanks, size in bytes, two blanks, path in the folder with `/` between its parts

A link is listed with the path that it leads to as its contents. What the Finder adds (`.DS_Store`) is left out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracekit.errors import UnreadableRecording
from tracekit.recording.sources import STANDARD_INPUT


@dataclass(frozen=True, slots=True)
class Digest:
    """What identifies the bytes of a recording."""

    sha256: str
    of: str
    """`file`, `folder` or `files`."""
    files: int
    bytes: int
    """Of all files together."""


def digest_of(paths: Sequence[str | Path]) -> Digest | None:
    """The digest of what the paths mean; None for standard input, which can be read only once. O(bytes).

    Raises `UnreadableRecording` where a file cannot be read.
    """
    if any(str(path) == STANDARD_INPUT for path in paths):
        return None
    roots = [Path(path) for path in paths]
    try:
        if len(roots) == 1 and not roots[0].is_dir():
            sha256, size = _contents(roots[0].resolve())
            return Digest(sha256, "file", 1, size)
        listed = sorted((name.encode("utf-8", "surrogateescape"), path) for name, path in _files(roots))
        lines, total = hashlib.sha256(), 0
        for name, path in listed:
            sha256, size = _contents(path)
            lines.update(f"{sha256}  {size}  ".encode() + name + b"\n")
            total += size
    except OSError as error:
        raise UnreadableRecording(f"cannot read {error.filename or roots[0]}: {error.strerror or error}") from error
    return Digest(lines.hexdigest(), "folder" if len(roots) == 1 else "files", len(listed), total)


def _files(given: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """All files with the paths that they are listed under. Those of one folder are relative to it."""
    for path in given:
        above = path if len(given) == 1 else path.parent
        if not path.is_dir():
            yield path.name, path.resolve()
            continue
        for folder, folders, names in os.walk(path, onerror=_raise):
            linked = [name for name in folders if Path(folder, name).is_symlink()]
            for name in [*names, *linked]:
                if name != ".DS_Store":
                    file = Path(folder, name)
                    yield file.relative_to(above).as_posix(), file


def _raise(error: OSError) -> None:
    raise error


def _contents(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file, or of the text of a link."""
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        return hashlib.sha256(target).hexdigest(), len(target)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell()
