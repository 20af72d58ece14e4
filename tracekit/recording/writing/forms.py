"""Tables in all forms but XML.

What costs time happens once per distinct value; a row then costs a look-up per column.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import numpy as np

from tracekit.arrays import AnyArray, ObjectArray
from tracekit.columns import Numbers
from tracekit.errors import import_extra
from tracekit.recording.engineering_types import ANY, Kind, kind_of
from tracekit.recording.table import Column, Table, merge_codes

CHUNK_ROWS: Final = 65_536
"""Rows rendered at a time, so that memory does not grow with the table."""
_SIGNED: Final = frozenset({"int32", "int64", "time-since-epoch"})
"""Types whose numbers may be negative. All others are unsigned in Apple's list of types, a negative argument of a
signpost included: Instruments itself shows 2^64 - n for it."""
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings that make a spreadsheet take a cell for a formula. Source: OWASP, "CSV Injection"."""
_SKIPPED: Final = ("Cc", "Cf")
"""Unicode categories of characters that are not shown."""


class UnwritableTable(Exception):  # noqa: N818 - the table is at fault, not the program
    """The form cannot hold this table. The text says why."""


def write_csv(table: Table, stream: BinaryIO) -> None:
    """A line of column names, then one line a row (RFC 4180, UTF-8).

    A cell without value is empty. A text that a spreadsheet would run as a formula gets an apostrophe here alone.
    """
    with _text(stream) as text:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow([harmless(name) for name in column_names(table.columns)])
        for rows in rendered_rows(table, harmless, ""):
            writer.writerows(rows)


def write_jsonl(table: Table, stream: BinaryIO) -> None:
    """One JSON object a line, with column names as keys; null where there is no value."""
    with _text(stream) as text:
        keys = [_json(name).replace("%", "%%") for name in column_names(table.columns)]
        line = f"{{{', '.join(f'{key}: %s' for key in keys)}}}\n"
        for rows in rendered_rows(table, _json, "null"):
            text.writelines(map(line.__mod__, rows))


def harmless(text: str) -> str:
    """The text with an apostrophe in front where a spreadsheet would run it: one that starts like a formula, also
    behind what spreadsheets skip, such as the byte order mark that the first cell of a file may begin with."""
    if text.isascii() and text.isprintable():
        first = text[:1]
    elif text.startswith(FORMULA_STARTS):
        first = text[0]
    else:
        first = next((character for character in text if unicodedata.category(character) not in _SKIPPED), "")
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


def check_available() -> None:
    """Raise `UsageError` where pyarrow is not installed."""
    needed = "Parquet needs the package pyarrow; choose --format csv or jsonl, or install it"
    import_extra("pyarrow.parquet", "parquet", needed)


def write_parquet(table: Table, stream: BinaryIO) -> None:
    """Numbers as int64 or uint64, texts as dictionaries; null where there is no value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays: list[Any] = []
    for column, cells in zip(table.columns, table.cells, strict=True):
        if isinstance(cells, Numbers):
            values = cells.values.astype(np.uint64) if is_unsigned(column.engineering_type) else cells.values
            arrays.append(pa.array(values, mask=~cells.known))
            continue
        # Two values may look the same, and a dictionary holds each text once.
        texts = merge_codes(
            cells.codes, [str(value).encode("utf-8", "backslashreplace").decode() for value in cells.values]
        )
        codes = pa.array(texts.codes, mask=texts.codes < 0)
        arrays.append(pa.DictionaryArray.from_arrays(codes, pa.array(texts.values, type=pa.string())))
    pq.write_table(pa.table(arrays, names=column_names(table.columns)), stream, compression="zstd")


def is_unsigned(engineering_type: str) -> bool:
    """Whether numbers of that type above 2^63 - 1 stand in the table in two's complement."""
    numeric = engineering_type == ANY or kind_of(engineering_type) in (Kind.INTEGER, Kind.NUMBER)
    return numeric and engineering_type not in _SIGNED


def parts(rows: int) -> Iterator[slice]:
    """Slices that cover all rows in order."""
    return (slice(start, min(start + CHUNK_ROWS, rows)) for start in range(0, rows, CHUNK_ROWS))


def column_names(columns: Sequence[Column]) -> list[str]:
    """Mnemonics as keys: a repeated one gets a number, so that none is lost."""
    names: list[str] = []
    for column in columns:
        name, number = column.mnemonic, 1
        while name in names:
            number += 1
            name = f"{column.mnemonic}-{number}"
        names.append(name)
    return names


def rendered_rows(
    table: Table, as_text: Callable[[str], object], missing: object
) -> Iterator[Iterator[tuple[object, ...]]]:
    """The rows, a part at a time.

    Numbers become `int`; texts, processes and threads become `as_text` of what Instruments shows. `missing` stands
    where the recording holds no value.
    """
    texts: dict[int, ObjectArray] = {}
    for index, cells in enumerate(table.cells):
        if not isinstance(cells, Numbers):
            # Code -1, no value, is the last entry.
            texts[index] = np.array([*(as_text(str(value)) for value in cells.values), missing], object)
    for part in parts(table.rows):
        yield zip(
            *(
                _integers(column, cells, part, missing)
                if isinstance(cells, Numbers)
                else texts[index][cells.codes[part]].tolist()
                for index, (column, cells) in enumerate(zip(table.columns, table.cells, strict=True))
            ),
            strict=True,
        )


def _integers(column: Column, cells: Numbers, part: slice, missing: object) -> list[object]:
    values: AnyArray = cells.values[part]
    if is_unsigned(column.engineering_type):
        values = values.astype(np.uint64)
    absent = ~cells.known[part]
    if absent.any():
        values = values.astype(object)
        values[absent] = missing
    numbers: list[object] = values.tolist()
    return numbers
