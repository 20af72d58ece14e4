"""Keeps the number of different names in a file within bounds.

libxml2 keeps every element and attribute name it ever met, in one table for the whole process. A file made of ever
new names would fill the memory although no row of it is kept.
"""

from __future__ import annotations

import re

from tracekit.recording.export import limits

_ATTRIBUTES = {
    blank: re.compile(blank + rb"(?!id=|ref=|fmt=)([^\s=<>\"'/]++)\s*+=\s*+[\"']")
    for blank in (b" ", b"\n", b"\t", b"\r")
}
"""Attributes other than the usual three, by the blank before them: with a fixed first byte a search is five times as
fast. Nothing shorter than a whole run can match, so none is tried."""
_ELEMENTS = re.compile(rb"<([^\s/>!?]+)")


class Names:
    """Names met in one file."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def look(self, chunk: bytes, *, elements: bool) -> bool:
        """Note the names in a chunk of the file. False when there are too many.

        Text that looks like an attribute counts too; the limit is far above what texts hold. elements: whether to
        look at element names, needed where cells are not read one by one.
        """
        for blank, pattern in _ATTRIBUTES.items():
            if blank in chunk:
                self._seen.update(pattern.findall(chunk))
        if elements:
            self._seen.update(_ELEMENTS.findall(chunk))
        return len(self._seen) <= limits.MAX_NAMES
