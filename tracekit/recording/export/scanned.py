"""Reads a file with the compiled scanner: its cells there, everything else as nodes.py does.

The scanner accepts just what `xctrace` writes. What it hands over of a file is its structure without its rows, which is
read by the parser of nodes.py with one empty row for all rows of a table, and each distinct value that is put together
from parts, which cells.py gives its meaning.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase
from typing import Final, cast

import numpy as np
from lxml import etree

from tracekit.arrays import CodeArray, Int32Array, IntArray
from tracekit.columns import Codes
from tracekit.errors import UnreadableRecording
from tracekit.recording.engineering_types import ANY, NUMERIC, PLAIN, SENTINEL, Kind, kind_of
from tracekit.recording.export._scan import Declined, Scanner
from tracekit.recording.export.cells import CellError, Values
from tracekit.recording.export.columns import Payloads
from tracekit.recording.export.nodes import FileNodes, Node, NodeReader
from tracekit.recording.export.rows import RowReader
from tracekit.recording.export.xml import pull_parser
from tracekit.recording.progress import Meter
from tracekit.recording.sources import Source
from tracekit.recording.table import CellValue, LateCells

_INTEGER, _TIME, _TEXT, _LABEL, _COMPOUND = range(5)
"""`enum mode` of the scanner."""
_CHUNK_BYTES: Final = 1 << 17
"""Bytes that the scanner gets at a time, few enough for the caches of the processor."""
_PADDING: Final = 128
"""`PADDING` of the scanner."""
_STRUCTURE: Final = frozenset({"node", "schema", "row"})
_ATTRIBUTES: Final = ("fmt", "name", "addr", "UUID", "arch", "load-addr", "path", "line")
_FEW: Final = 1000
"""Texts of a column that are made at once: the others are as long kept as UTF-8 as none of the column is needed."""
_HEAD: Final = struct.Struct(f"{3 + len(_ATTRIBUTES)}q")

_DECLARATION = rb"<\?xml version=([\"'])1\.0\1(?: encoding=\1(?i:UTF-8)\1)?\?>"
_VALUE = rb"(?:\"[^\"<]*\"|'[^'<]*')"
_TAG = (
    rb"</?(?:trace-query-result|node|schema|col|mnemonic|name|engineering-type)(?: ?/)?>"
    rb"|<node xpath=%b ?/?>|<schema name=%b(?: documentation=%b)? ?/?>" % ((_VALUE,) * 3)
)
_MARKUP: Final = re.compile(rb"(?:%b)?[ \t\n]*(?:(?:%b)[^<>]*)*" % (_DECLARATION, _TAG))
"""What stands between rows: whole tags, none of which is a row, comment or instruction."""


@dataclass(frozen=True, slots=True)
class _Compound:
    """An element that is put together from parts, as cells.py looks at it."""

    text: str | None
    attributes: dict[str, str]

    def get(self, key: str) -> str | None:
        """An attribute."""
        return self.attributes.get(key)


class _ScannedValues(Values):
    """Values that the scanner keeps until all of them are known."""

    def __init__(self, scanner: Scanner, size: int) -> None:
        super().__init__(size)
        self._scanner = scanner
        self._compounds: dict[int, CellValue] = {}

    def at(self, payload: int) -> CellValue:
        """The distinct value of that index."""
        return self._compounds[payload] if payload in self._compounds else self._scanner.text(payload)

    def coded_cells(self, codes: Int32Array, indexes: IntArray) -> Codes[CellValue]:
        """As `Values.coded_cells`. Many texts become objects when they are first asked for."""
        if len(indexes) <= _FEW or int(indexes[0]) in self._compounds:
            return Codes(codes, tuple(map(self.at, indexes.tolist())))
        return LateCells(codes, partial(self._scanner.texts, indexes.astype(np.int64, copy=False)))

    def compose(self) -> CodeArray | None:
        """Give all compounds their meaning, after which every value is known. The index of the first value that is the
        same, for each; None where it is its own for all."""
        renamed: dict[int, int] = {}
        first: dict[CellValue, int] = {}
        for index, uses, packed in self._scanner.compounds():
            # Tag, content and parts of a compound, from the bytes that _scan.c describes.
            code, part_count, *lengths = _HEAD.unpack_from(packed)
            offset = _HEAD.size + 16 * part_count
            numbers = struct.unpack_from(f"{2 * part_count}q", packed, _HEAD.size)
            texts: list[str | None] = []
            for length in lengths:
                size = max(length - 1, 0)
                texts.append(packed[offset : offset + size].decode() if length else None)
                offset += size
            attributes = {key: text for key, text in zip(_ATTRIBUTES, texts[1:], strict=True) if text is not None}
            parts = list(zip(numbers[::2], numbers[1::2], strict=True))
            before = self.composed
            value = self.compound(self.kinds[code], _Compound(texts[0], attributes), parts)
            self.charge((uses - 1) * (self.composed - before))
            self._compounds[index] = value
            renamed[index] = self._scanner.index(value) if isinstance(value, str) else first.setdefault(value, index)
        count, same = self._scanner.finish()
        if same is None and all(index == name for index, name in renamed.items()):
            return None
        names = np.arange(count, dtype=np.int32) if same is None else np.frombuffer(same, np.int32)
        names[list(renamed)] = names[list(renamed.values())]
        return names


class ScanReader(NodeReader):
    """One pass of the scanner over one file. Raises `Declined` where the file has to be read by the strict reader."""

    def __init__(self, source: Source, wanted: Collection[str] | None) -> None:
        super().__init__(source, wanted)
        self._scanner = Scanner(source.size)
        self._values: _ScannedValues = _ScannedValues(self._scanner, source.size)
        self._parser = pull_parser(("start", "end"), ("node", "schema", "row"))
        self._scanning: tuple[Node, RowReader] | None = None
        self._scanned: list[Payloads] = []

    def read(self, meter: Meter) -> FileNodes:
        """The whole file, chunk by chunk."""
        try:
            buffer, kept = bytearray(min(_CHUNK_BYTES, self._source.size + 1) + _PADDING), 0
            with self._source.open() as stream:
                fill = cast("BufferedIOBase", stream).readinto
                while count := fill(memoryview(buffer)[kept:-_PADDING]):
                    kept = self._scanner.feed(buffer, kept + count, self)
                    # Afterwards, since what is declined is read again and counts then.
                    meter.advance(count, self._source.name)
                    if 2 * kept > len(buffer) - _PADDING:
                        buffer += bytes(len(buffer))
            self._take_markup(bytes(buffer[:kept]))
            self._parser.close()
            self._finish()
        except (CellError, UnreadableRecording, etree.XMLSyntaxError) as error:
            raise Declined(str(error)) from error
        return self._result

    def mode(self, name: str) -> int:
        """How the scanner takes the content of elements of that name."""
        if name == SENTINEL or name in _STRUCTURE:
            raise Declined(f"<{name}> where a cell or a part of one belongs")
        self._values.code(name)
        kind = kind_of(name)
        if kind in NUMERIC:
            return _TIME if kind is Kind.TIME else _INTEGER
        return _TEXT if kind in PLAIN else _LABEL if kind is Kind.LABEL else _COMPOUND

    def between(self, markup: bytes) -> None:
        """Take what stands before the first row of a table."""
        self._take_markup(markup, b"<row/>")
        if self._scanning is None:
            raise Declined("a row outside of a table")

    def _take_markup(self, markup: bytes, row: bytes = b"") -> None:
        if self._scanning is not None:
            node, reader = self._scanning
            self._scanning = None
            node.rows, numbers, signatures, payloads = self._scanner.end()
            if self._decoding:
                codes = np.frombuffer(b"".join(signatures), np.uint16).reshape(-1, len(node.columns))
                columns: list[CodeArray] = [
                    np.broadcast_to(np.frombuffer(payload, f"i{width}"), node.rows) for width, payload in payloads
                ]
                self._scanned.append(Payloads(codes, np.frombuffer(numbers, np.uint16), columns))
                reader.take(self._scanned[-1])
        if not _MARKUP.fullmatch(markup):
            raise Declined("unusual markup between the tables")
        self._parser.feed(markup + row)
        self._take(self._parser)

    def _read_row(self, node: Node, reader: RowReader, _element: etree._Element, /) -> None:
        types = tuple(None if column.engineering_type == ANY else column.engineering_type for column in node.columns)
        if not types:
            raise Declined("a table whose schema lists no columns")
        self._scanner.begin(types, self._decoding)
        self._scanning = node, reader

    def _finish(self) -> None:
        names = self._values.compose()
        if names is not None:
            for rows in self._scanned:
                for index, payloads in enumerate(rows.columns):
                    if payloads.dtype == np.int32:
                        one = slice(1) if payloads.strides == (0,) else slice(None)
                        rows.columns[index] = np.broadcast_to(names[payloads[one]], payloads.shape)
        super()._finish()
