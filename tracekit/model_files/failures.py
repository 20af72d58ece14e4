"""What can be wrong with a model file, and how much of one is read."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from tracekit.errors import TracekitError

MAX_SPECIFICATION_BYTES = 2**31 - 1
"""Protobuf takes no more. Old networks hold their weights in the specification."""

MAX_TEXT_BYTES = 128 * 1024 * 1024
"""`model.mil` and JSON. Those of language models take a tenth of it."""

MAX_OPERATIONS = 200_000
"""Operations of a model; language models have some ten thousand."""

MAX_FILES = 10_000
"""Files in a package."""

POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that stands for one in Git LFS."""


class UnreadableModel(TracekitError):  # noqa: N818 - named like UnreadableRecording, which is published
    """The input cannot be read as a model file: wrong kind, truncated, malformed or hostile."""


def quote(path: PurePath | str) -> str:
    """The name of a file as it may stand in a message."""
    name = getattr(path, "name", "") or str(path)
    return "'" + "".join(char if char.isprintable() else "?" for char in name[:120]) + "'"


def check_inside(path: Path, folder: Path) -> None:
    """Raise `UnreadableModel` for a path that a link leads out of its folder: a model from elsewhere may not choose
    which files of this machine are read."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UnreadableModel(
            f"{quote(path)} is a link out of {quote(folder)}, which is not followed; copy the model with `cp -RL`, "
            "which follows links, and inspect the copy"
        )


def read_bytes(path: Path, limit: int) -> bytes:
    """A whole file. Raises `UnreadableModel` where that cannot be, or where it is larger than `limit`."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableModel(f"{quote(path)} is too large to be part of a model: {size:,} bytes")
        with path.open("rb") as stream:
            # A file may grow, and a device has no size.
            data = stream.read(limit + 1)
    except OSError as error:
        raise UnreadableModel(f"cannot read {quote(path)}: {error.strerror or error}") from None
    if len(data) > limit:
        raise UnreadableModel(f"{quote(path)} is too large to be part of a model")
    if data.startswith(POINTER):
        raise UnreadableModel(
            f"{quote(path)} is a Git LFS pointer, not the file itself; run `git lfs pull` in its repository"
        )
    return data
