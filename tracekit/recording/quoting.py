"""Names and values of a recording as they may stand in a message."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name as it may stand in a message: file names may hold control characters."""
    return "'" + "".join(char if char.isprintable() else "?" for char in name[:200]) + "'"


_LONGEST = 60
"""Characters of a value that a message repeats."""


def shortened(text: str) -> str:
    """A value as it may stand in a message: printable, quoted and cut where it is long."""
    return repr(text) if len(text) <= _LONGEST else repr(text[:_LONGEST])[:-1] + "…'"
