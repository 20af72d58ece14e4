"""Names and values of a recording as they may stand in a message, or in a command that a message gives."""

from __future__ import annotations

import re
from typing import Final

_LONGEST = 60
"""Characters of a value that a message repeats."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)


def quote_name(name: str) -> str:
    """A name as it may stand in a message: file names may hold control characters."""
    return "'" + "".join(char if char.isprintable() else "?" for char in name[:200]) + "'"


def excerpt(text: str) -> str:
    """A value as it may stand in a message: printable, quoted and cut where it is long."""
    return repr(text) if len(text) <= _LONGEST else repr(text[:_LONGEST])[:-1] + "…'"


def words_of_error(error: Exception) -> str:
    """What an exception says, in one line without a full stop."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())[:120].rstrip(".") or type(error).__name__


def table_xpath(run: int, schema: str) -> str:
    """XPath of the tables; empty for a name that nobody should quote into a command, which somebody may paste."""
    return f'/trace-toc/run[@number="{run}"]/data/table[@schema="{schema}"]' if _PLAIN_NAME.fullmatch(schema) else ""


def export_command(run: int, schema: str) -> str:
    """The command that exports the tables, as Markdown code; empty where there is no XPath."""
    xpath = table_xpath(run, schema)
    return f"`xcrun xctrace export --input run.trace --xpath '{xpath}'`" if xpath else ""
