"""CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tracekit.recording.writing.cells import column_names, parts, renderers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from tracekit.recording.table import Table

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings that make a spreadsheet take a cell for a formula. Source: OWASP, "CSV Injection"."""

_SKIPPED: Final = ("Cc", "Cf")
"""Unicode categories of characters that are not shown."""


def write_csv(table: Table, stream: BinaryIO) -> None:
    """A line of column names, then one line a row (RFC 4180, UTF-8).

    A cell without value is empty. A text that a spreadsheet would run as a formula gets an apostrophe in front; the
    other forms hold it as it is.
    """
    with _text(stream) as text:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow([harmless(name) for name in column_names(table.columns)])
        columns = renderers(table, harmless, "")
        for part in parts(table.rows):
            writer.writerows(zip(*(column(part) for column in columns), strict=True))


def write_jsonl(table: Table, stream: BinaryIO) -> None:
    """One JSON object a line, with column names as keys; null where there is no value."""
    with _text(stream) as text:
        keys = [_json(name).replace("%", "%%") for name in column_names(table.columns)]
        line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}\n"
        columns = renderers(table, _json, "null")
        for part in parts(table.rows):
            text.writelines(map(line.__mod__, zip(*(column(part) for column in columns), strict=True)))


def harmless(text: str) -> str:
    """The text with an apostrophe in front where a spreadsheet would run it: one that starts like a formula, also
    behind what spreadsheets skip, such as the byte order mark that the first cell of a file may begin with."""
    if text.isascii() and text.isprintable():
        first = text[:1]
    elif text.startswith(FORMULA_STARTS):
        first = text[0]
    else:
        first = next((each for each in text if unicodedata.category(each) not in _SKIPPED), "")
    return f"'{text}" if first in FORMULA_STARTS else text


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def _text(stream: BinaryIO) -> Iterator[io.TextIOWrapper]:
    """Text on top of a binary stream, which stays open."""
    # Half a surrogate pair, which a damaged recording may hold, becomes `\\udXXX`, which JSON understands.
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
    try:
        yield text
    finally:
        text.detach()
