"""Content that others wrote: how much of it is read, what can be wrong with it, and values of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from tracekit.errors import TracekitError, refusals
from tracekit.named_files import read_file

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
    with refusals(f"read {quote(path)}", UnreadableModel):
        data = read_file(path, limit)
    if data.startswith(POINTER):
        raise UnreadableModel(
            f"{quote(path)} is a Git LFS pointer, not the file itself; run `git lfs pull` in its repository"
        )
    return data


def parse_json(text: str | bytes) -> object:
    """What JSON holds; None for what is not complete JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else: values of the wrong type count as absent."""
    return value if isinstance(value, Mapping) else {}


def entries(value: object) -> list[Any]:
    """A JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def whole_number(value: object) -> int | None:
    """A whole number, also one written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    return int(value) if isinstance(value, str) and len(value) < 19 and value.lstrip("-").isdecimal() else None
