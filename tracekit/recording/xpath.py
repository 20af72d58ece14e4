"""The XPath by which `xctrace export` finds the tables of a schema."""

from __future__ import annotations

import re
from typing import Final

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)


def table_xpath(run: int, schema: str) -> str:
    """XPath of the tables; empty for a name that nobody should quote into a command, which somebody may paste."""
    return f'/trace-toc/run[@number="{run}"]/data/table[@schema="{schema}"]' if _PLAIN_NAME.fullmatch(schema) else ""


def export_command(run: int, schema: str) -> str:
    """The command that exports the tables, as Markdown code; empty where there is no XPath."""
    xpath = table_xpath(run, schema)
    return f"`xcrun xctrace export --input run.trace --xpath '{xpath}'`" if xpath else ""
