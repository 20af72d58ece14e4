"""Tables in the form of `xctrace export`, which the reader in `recording/export` reads back to equal tables.

Every value is written once with an id and its display text, later as a reference; ids rise in document order and
nested elements take part. A process keeps its pid, a thread its tid and process. Other containers (labels, messages,
stacks) are written with their display text and without their parts, which a `Table` does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import starmap
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np

from tracekit.arrays import AnyArray, CodeArray
from tracekit.columns import Numbers
from tracekit.recording.engineering_types import ANY, DURATIONS, PLAIN, SENTINEL, STACK_SEPARATOR, Kind, kind_of
from tracekit.recording.table import Cells, CellValue, Column, Process, Table, Thread
from tracekit.recording.writing.forms import UnwritableTable, is_unsigned, parts

DECLARATION: Final = '<?xml version="1.0"?>\n'
MAX_REMEMBERED: Final = 500_000
"""Values of one type whose ids are kept. Beyond that they are forgotten and defined again when they come back, so that
memory does not grow with the table."""
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*", re.ASCII)
_OCCUPIED = frozenset({SENTINEL, "row", "schema", "node"})
_HEX = re.compile(r"0x[0-9a-f]+", re.ASCII)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (section 2.2)."""
_SPECIAL = str.maketrans(
    # Blanks other than the space would be read back as spaces from an attribute (section 3.3.3).
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_PLAIN = re.compile(r"[\w .:/()-]*", re.ASCII)
_UNITS = ((60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


class _Chunk(NamedTuple):
    """Distinct values of a part of a column, by first appearance or by size, and where they stand."""

    distinct: list[CellValue | int]
    first_rows: list[int]
    inverse: CodeArray
    """Shape (rows,): index into `distinct`; its length where there is no value."""


class _Cells:
    def __init__(self, column: Column, cells: Cells) -> None:
        self._cells = cells
        self._type = column.engineering_type
        self._unsigned = is_unsigned(column.engineering_type)

    def tag_of(self, value: CellValue | int) -> str:
        """Name of the element: the type, or for cells that bring their own, one that reads back as the same."""
        if self._type != ANY:
            return self._type
        if isinstance(value, int):
            return "uint64"
        return "process" if isinstance(value, Process) else "thread" if isinstance(value, Thread) else "string"

    def chunk(self, part: slice) -> _Chunk:
        """The values of these rows."""
        if isinstance(self._cells, Numbers):
            raw: AnyArray = self._cells.values[part]
            raw = raw.astype(np.uint64) if self._unsigned else raw
            valid = self._cells.known[part]
        else:
            raw = self._cells.codes[part]
            valid = raw >= 0
        present = np.flatnonzero(valid)
        values, first, inverse = np.unique(raw[present], return_index=True, return_inverse=True)
        everywhere = np.full(len(raw), len(values), dtype=np.int64)
        everywhere[present] = inverse
        chunk: list[Any] = values.tolist()
        if not isinstance(self._cells, Numbers):
            texts = self._cells.values
            chunk = [texts[code] for code in chunk]
        return _Chunk(chunk, present[first].tolist(), everywhere)


class _RowWriter:
    """Writes the rows of one table and knows the ids given so far."""

    def __init__(self, table: Table) -> None:
        self._columns = list(starmap(_Cells, zip(table.columns, table.cells, strict=True)))
        self._ids: dict[str, dict[CellValue | int, str]] = {}
        self._last = 0

    def rows(self, part: slice) -> list[str]:
        """The content of these rows."""
        for ids in self._ids.values():
            if len(ids) > MAX_REMEMBERED:
                ids.clear()
        chunks = [column.chunk(part) for column in self._columns]
        new = [
            (row, index, value)
            for index, (column, chunk) in enumerate(zip(self._columns, chunks, strict=True))
            for value, row in zip(chunk.distinct, chunk.first_rows, strict=True)
            if value not in self._ids.get(column.tag_of(value), ())
        ]
        new.sort(key=lambda each: each[:2])
        # What is defined first in the document gets the lower id and is referred to by everything after it.
        definitions = [
            (row, index, self._element(self._columns[index].tag_of(value), value)) for row, index, value in new
        ]
        # Every cell as a reference at first.
        texts: list[AnyArray] = []
        for column, chunk in zip(self._columns, chunks, strict=True):
            references = [self._ids[column.tag_of(value)][value] for value in chunk.distinct]
            lookup: AnyArray = np.array([*references, f"<{SENTINEL}/>"], dtype=object)
            texts.append(lookup[chunk.inverse])
        for row, index, element in definitions:
            texts[index][row] = element
        return list(map("".join, zip(*(text.tolist() for text in texts), strict=True)))

    def _element(self, tag: str, value: CellValue | int) -> str:
        """A value: itself at first, then a reference to it."""
        ids = self._ids.setdefault(tag, {})
        if value in ids:
            return ids[value]
        self._last += 1
        identity = self._last
        ids[value] = f'<{tag} ref="{identity}"/>'
        display, content = self._content(tag, value)
        return f'<{tag} id="{identity}" fmt="{display}">{content}</{tag}>'

    def _content(self, tag: str, value: CellValue | int) -> tuple[str, str]:
        if isinstance(value, int):
            # As Instruments shows it in English, by exports of Xcode 16.4 to 27.2; readers take no number from it.
            display = _duration if tag in DURATIONS else _time if kind_of(tag) is Kind.TIME else _SHOWN.get(tag, str)
            return display(value), str(value)
        shown = escape(str(value))
        if isinstance(value, Process):
            if value.pid is None:
                return shown, ""
            return shown, self._element("pid", value.pid) + self._element("device-session", "TODO")
        if isinstance(value, Thread):
            tid = "" if value.tid is None else self._element("tid", value.tid)
            return shown, tid + ("" if value.process is None else self._element("process", value.process))
        if kind_of(tag) in PLAIN:
            return shown, shown
        if kind_of(tag) is Kind.ADDRESSES:
            words = value.split(STACK_SEPARATOR)
            return shown, " ".join(str(int(word, 16)) if _HEX.fullmatch(word) else escape(word) for word in words)
        return shown, ""


def write_xml(table: Table, stream: BinaryIO) -> None:
    """One query result with one node. `table.run` is the position of the run in the table of contents, from 1.

    Raises `UnwritableTable` where a type is no name that XML allows.
    """
    for column in table.columns:
        if not _TAG.fullmatch(column.engineering_type) or column.engineering_type in _OCCUPIED:
            raise UnwritableTable(f"column {column.mnemonic!r} has a type that is not an XML name")
        if not column.mnemonic.strip():
            raise UnwritableTable("a column has no mnemonic")
    position = "" if table.position is None else f"[{table.position}]"
    xpath = f"//trace-toc[1]/run[{table.run}]/data[1]/table{position}"
    columns = "".join(
        f"<col><mnemonic>{escape(column.mnemonic)}</mnemonic><name>{escape(column.name)}</name>"
        f"<engineering-type>{column.engineering_type}</engineering-type></col>"
        for column in table.columns
    )
    schema = f'<schema name="{escape(table.schema)}">{columns}</schema>'
    stream.write(f"{DECLARATION}<trace-query-result>\n<node xpath='{xpath}'>{schema}".encode())
    writer = _RowWriter(table)
    for part in parts(table.rows):
        stream.write("".join(f"<row>{row}</row>\n" for row in writer.rows(part)).encode("utf-8"))
    stream.write(b"</node></trace-query-result>\n")


def _time(ns: int) -> str:
    """`MM:SS.mmm.uuu`, cut to µs."""
    seconds, us = divmod(ns // 1_000, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    ms, us = divmod(us, 1_000)
    return f"{minutes:02}:{seconds:02}.{ms:03}.{us:03}"


def _duration(ns: int) -> str:
    """Two decimals in the largest unit that fits, rounded half to even."""
    for size, unit in _UNITS:
        if ns >= size:
            hundredths, rest = divmod(ns * 100, size)
            hundredths += rest * 2 > size or (rest * 2 == size and hundredths % 2 == 1)
            return f"{hundredths // 100}.{hundredths % 100:02} {unit}"
    return f"{ns} ns"


_SHOWN: dict[str, Callable[[int], str]] = {
    "uint64": "{:,}".format,
    "boolean": lambda value: "Yes" if value else "No",
    "core": "CPU {}".format,
    "gpu-frame-number": "Frame {}".format,
    "tid": "0x{:x}".format,
    "address": "0x{:x}".format,
    "os-signpost-identifier": "0x{:x}".format,
    "metal-command-buffer-id": "0x{:x}".format,
    "metal-encoder-id": "0x{:x}".format,
    "uint64-hex-lowercase": "{:x}".format,
    "kdebug-func": lambda value: {0: "POINT", 1: "START", 2: "END"}.get(value, str(value)),
    "time-sample-kind": lambda value: {0: "Timer Fired", 2: "LPET", 3: "Stackshot"}.get(value, str(value)),
}


def escape(text: str) -> str:
    """Text for content or a quoted attribute. What XML cannot hold becomes U+FFFD."""
    if _PLAIN.fullmatch(text):
        return text
    return xml_text(text).translate(_SPECIAL)


def xml_text(text: str) -> str:
    """Text in which U+FFFD stands for what XML cannot hold, else unescaped."""
    return _FORBIDDEN.sub("\ufffd", text)
