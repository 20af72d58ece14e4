"""Where the settings of a project are, and the table in that file. Loads nothing that reads recordings."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from tracekit.detectors.options import UNWRITABLE
from tracekit.errors import UsageError
from tracekit.named_files import read_file

FILE = "tracekit.toml"
PYPROJECT = "pyproject.toml"
_LARGEST = 1 << 18
"""Bytes of a settings file; a larger one is something else."""
_DEEPEST = 32
"""Parts of a dotted key; settings need seven at most. A parser takes the square of them, both in time and in memory."""
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_TOO_DEEP = re.compile(rf"""(?<![\w"'\\-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_DEEPEST}}}""")
"""A dotted key with more parts than `_DEEPEST`. It is sought from no quote behind a backslash on: many of them in one
text would make the search quadratic."""


def find_config(folder: Path) -> Path | None:
    """The settings file for a folder: in it, or in the nearest one above it, up to the top of a repository.
    `tracekit.toml` goes before a `pyproject.toml` beside it; one without `[tool.tracekit]` is none."""
    for directory in (folder.resolve(), *folder.resolve().parents):
        try:
            # A link that leads nowhere is found too: what is set must not be missed in silence.
            if (directory / FILE).is_file() or (directory / FILE).is_symlink():
                return directory / FILE
            if (directory / PYPROJECT).is_file() and _may_hold_settings(directory / PYPROJECT):
                return directory / PYPROJECT
            if (directory / ".git").exists():
                break
        except PermissionError:
            # A folder that may only be passed through: nothing in it is meant for this user.
            continue
    return None


def _may_hold_settings(project: Path) -> bool:
    """Whether a `pyproject.toml` has settings, however they are written, or cannot be read to the end."""
    try:
        data = read_file(project, _LARGEST)
        if b"tracekit" not in data:
            return False
        tool = _toml_document(data).get("tool", {})
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(tool, dict) and "tracekit" in tool


@lru_cache(maxsize=1)
def _toml_document(data: bytes) -> dict[str, Any]:
    """The TOML document in these bytes, to be read only: one command asks for it when it looks for settings and each
    time it uses them. Raises ValueError or RecursionError for other bytes."""
    import tomllib

    text = data.decode("utf-8")
    deep = _TOO_DEEP.search(text)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key with more than {_DEEPEST} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        # Python refuses to read a decimal number of several thousand digits, and says so in words for programmers.
        raise ValueError("a number of too many digits") from None


def settings_in(path: Path) -> dict[str, Any]:
    """The table of settings in a file."""
    try:
        data = read_file(path, _LARGEST)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}") from None
    try:
        document = _toml_document(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not valid TOML: {error}") from None
    settings: Any = document
    if path.name == PYPROJECT:
        tool = document.get("tool", {})
        settings = tool.get("tracekit") if isinstance(tool, dict) else None
    if not isinstance(settings, dict):
        raise UsageError("has no table [tool.tracekit]")
    _check_integers(settings, "")
    return settings


def _check_integers(value: object, key: str) -> None:
    """Raise `UsageError` for a number, in whatever base, that Python refuses to write as text in a message."""
    if isinstance(value, dict):
        for name, item in value.items():
            _check_integers(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for item in value:
            _check_integers(item, key)
    elif isinstance(value, int) and abs(value) >= UNWRITABLE:
        raise UsageError(f"'{key}': the number has too many digits")
