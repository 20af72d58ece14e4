"""On which line of its file a setting stands, for annotations and SARIF."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PREFIXES = (("check",), ("tool", "tracekit", "check"))
"""Where the table `check` is, in `tracekit.toml` and in `pyproject.toml`."""


def line_of(path: Path, setting: Sequence[str | int]) -> int:
    """Line of a setting, from 1, by its keys below the table `check`; 1 where it is not in the file.

    It is the last line of the shortest beginning of the file that is valid TOML and has the setting, so every way to
    write it is found. O(log lines) parses, more only where one value spans many lines.
    """
    try:
        lines = path.read_text("utf-8").splitlines(keepends=True)
    except (OSError, ValueError):
        return 1
    low, high = 1, len(lines)
    if not setting or not _holds(lines, high, setting):
        return 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(lines, middle, setting) else (middle + 1, high)
    return low


def _holds(lines: Sequence[str], count: int, setting: Sequence[str | int]) -> bool:
    """Whether the first lines hold a setting; a value that they cut off belongs to them."""
    for end in range(count, len(lines) + 1):
        try:
            document = tomllib.loads("".join(lines[:end]))
        except ValueError:
            continue
        return any(_has(document, (*prefix, *setting)) for prefix in _PREFIXES)
    return False


def _has(value: Any, keys: Sequence[str | int]) -> bool:
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
