"""Kernel events of the Neural Engine: what its instrument makes its rows of, listed whether or not it makes any.

Unverified: no public recording has such an event, in none of three with a model on the GPU. So they only tell that the
engine may have worked where its own table is empty.
"""

from __future__ import annotations

import re
from typing import Final

from tracekit.recording.contents import Run

_CODES: Final = frozenset({"0x06,0x1b", "0x2b,0x24"})
"""Classes and subclasses of the table that the instrument reads, and no other."""
_CODE: Final = re.compile(r"[^\s\"]+")


def engine_events(run: Run) -> int:
    """How many such events were recorded. O(tables)."""
    return sum(
        table.rows or 0
        for table in run.tables
        if table.schema == "kdebug" and _CODES.issuperset(_CODE.findall(table.attributes.get("codes", "-")))
    )
