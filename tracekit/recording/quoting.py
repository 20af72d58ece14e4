"""Names and values of a recording as they may stand in a message."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name as it may stand in a message: file names may hold control characters."""
    return "'" + "".join(char if char.isprintable() else "?" for char in name[:200]) + "'"


def shortened(text: str, limit: int = 60) -> str:
    """A value as it may stand in a message: printable, quoted and not longer than `limit`."""
    shown = repr(text[: limit + 1])
    return shown if len(text) <= limit else repr(text[:limit])[:-1] + "…'"
