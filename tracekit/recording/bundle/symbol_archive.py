"""Symbol archives, version 7: functions, inlined calls and source lines of one image, as far as stacks hit them.

header of 0x60 bytes      version, size, counts, UUID of the image
segments, sections        `__TEXT` begins at 0: in it, an offset is the address minus the load address
symbols                   sorted by start
inlined calls             children of symbols and of one another; each knows where it was called
lines                     sorted by start
two indexes, strings      the indexes sort symbols by name and are not needed

Every record is checked when an archive is read, so that looking up needs no guard.
"""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tracekit.arrays import IndexArray, IntArray, RecordArray
from tracekit.recording.bundle import DamageError, limits
from tracekit.sorting import distinct_numbers

VERSION: Final = 7
NONE: Final = 0
"""String that stands for no name."""
MERGED: Final = "<deduplicated_symbol>"
"""Name of code that several functions share."""
_HEADER: Final = struct.Struct("<13I16s7I")
_SEGMENT: Final = np.dtype([("start", "<u8"), ("size", "<u8"), ("name", "S16")])
_SECTION: Final = np.dtype([("start", "<u8"), ("size", "<u8"), ("name", "<u4"), ("zero", "<u4")])
_SYMBOL: Final = np.dtype(
    [("start", "<u4"), ("size", "<u4"), ("flags", "<u4"), ("display", "<u4"), ("name", "<u4"), ("child", "<i4")]
)
_INLINED: Final = np.dtype([*_SYMBOL.descr, ("file", "<u4"), ("line", "<u4"), ("column", "<u4")])
_LINE: Final = np.dtype([("start", "<u4"), ("size", "<u4"), ("file", "<u4"), ("line", "<u4"), ("column", "<u4")])
_TEXT: Final = b"__TEXT"


@dataclass(frozen=True, slots=True)
class _Calls:
    """Symbols and inlined calls as one list, symbols first; numbers below are indexes of it. Shape (records,) each."""

    start: IntArray
    end: IntArray
    display: IntArray
    name: IntArray
    parent: IntArray
    """-1 for symbols."""


@dataclass(frozen=True, slots=True)
class CallsAtOffsets:
    """What stands at offsets. The innermost call comes first."""

    owner: IndexArray
    """Shape (calls,): which of the offsets each call belongs to, ascending."""
    call: IndexArray
    """Shape (calls,): index in symbols and inlined calls."""
    depth: IntArray
    """Shape (calls,): 0 for the function itself, one more for each call that was inlined into it."""
    file: IntArray
    """Shape (calls,): string of the file; `NONE` where the source line is not known."""
    line: IntArray


class SymbolArchive:
    """One archive. O(log records) for each offset that is looked up, all of them at once."""

    def __init__(self, data: bytes) -> None:
        """Check and split an archive. Raises `DamageError`. O(records)."""
        # Fields of the header, and the counts of segments, sections, symbols, inlined calls and lines.
        if len(data) < _HEADER.size:
            raise DamageError("it is cut off")
        header = _HEADER.unpack_from(data)
        if header[0] != VERSION:
            raise DamageError(f"it has the unknown version {header[0]}")
        counts = header[2:7]
        sizes = [record.itemsize for record in (_SEGMENT, _SECTION, _SYMBOL, _INLINED, _LINE)]
        strings, index = header[18], header[19]
        records = sum(count * size for count, size in zip(counts, sizes, strict=True))
        if header[1] != len(data) or _HEADER.size + records + index + 4 * counts[2] + strings != len(data) or index % 4:
            raise DamageError("its sizes do not add up")
        self.uuid: Final = str(uuid.UUID(bytes=header[13])).upper()
        self._strings = data[len(data) - header[18] :]
        at = _HEADER.size
        tables: list[RecordArray] = []
        for dtype, count in zip((_SEGMENT, _SECTION, _SYMBOL, _INLINED, _LINE), counts, strict=True):
            tables.append(np.frombuffer(data, dtype, count, at))
            at += dtype.itemsize * count
        segments, self._sections, self._symbols, self._inlined, self._lines = tables
        text = segments[segments["name"] == _TEXT]
        if len(text) != 1 or int(text["start"][0]) != 0 or not 0 < int(text["size"][0]) < 1 << 32:
            raise DamageError("it has no segment __TEXT at 0")
        self.text_size: Final = int(text["size"][0])
        """Bytes of `__TEXT`: offsets below it belong to the image."""
        self._check_strings(header[10], header[11])
        self.program: Final = "" if header[10] == NONE else self.text(header[10]).rpartition("/")[2]
        """Name of the program that its source lines are of; empty where it has none."""
        _check_order(self._lines, self.text_size, "lines", alike=False)
        _check_order(self._symbols, self.text_size, "symbols", alike=True)
        # Inlined calls lie inside their parents, and those of one parent beside one another.
        calls, (order, _) = self._calls, self._family
        inlined = slice(len(self._symbols), None)
        parent = calls.parent[inlined]
        if (
            (calls.end[inlined] <= calls.start[inlined])
            | (calls.start[inlined] < calls.start[parent])
            | (calls.end[inlined] > calls.end[parent])
        ).any():
            raise DamageError("an inlined call lies outside of the call that contains it")
        siblings = calls.parent[order[1:]] == calls.parent[order[:-1]]
        if (siblings & (calls.start[order[1:]] < calls.end[order[:-1]])).any():
            raise DamageError("two inlined calls overlap")

    def text(self, string: int) -> str:
        """A string by its offset. Raises `DamageError` for text that is no UTF-8."""
        try:
            return self._strings[string : self._strings.index(0, string)].decode()
        except UnicodeDecodeError as error:
            raise DamageError("a name is no UTF-8 text") from error

    def names(self, call: int) -> tuple[str, str, int]:
        """Name as the linker knows it, name to display (empty where it must be made from the first), and start."""
        calls = self._calls
        display, name = int(calls.display[call]), int(calls.name[call])
        return (
            "" if name == NONE else self.text(name),
            "" if display == NONE else self.text(display),
            int(calls.start[call]),
        )

    def is_symbol(self, call: int) -> bool:
        """Whether a call is a function of its own, and not one that was inlined."""
        return call < len(self._symbols)

    def find(self, offsets: IntArray) -> CallsAtOffsets:
        """Calls at offsets into `__TEXT`, shape (n,); an offset in no function has none."""
        calls, order = self._calls, self._order
        levels = [_containing(calls.start[order], calls.end[order], offsets, order)]
        while (levels[-1] >= 0).any():
            if len(levels) > limits.MAX_INLINED_DEPTH:
                raise DamageError(f"calls are inlined more than {limits.MAX_INLINED_DEPTH} levels deep")
            # Inlined call inside each parent that contains the offset; -1 where there is none.
            inlined, keys = self._family
            # The end of a call on the same scale as its key, which is its parent and start.
            ends = keys - self._calls.start[inlined] + self._calls.end[inlined]
            levels.append(_containing(keys, ends, (levels[-1].astype(np.int64) << 32) + offsets, inlined))
        chain = np.array(levels[:-1], np.int64).reshape(len(levels) - 1, len(offsets))
        files, lines = self._source_lines(chain, offsets)
        # Transposed and turned round, so that the calls of one offset stand together, innermost first.
        inside = chain.T[:, ::-1] >= 0
        owner, column = np.nonzero(inside)
        depth = len(chain) - 1 - column
        return CallsAtOffsets(owner, chain[depth, owner], depth, files[depth, owner], lines[depth, owner])

    @cached_property
    def _calls(self) -> _Calls:
        both = [self._symbols, self._inlined]
        start, size, display, name, child = (
            np.concatenate([part[field].astype(np.int64) for part in both])
            for field in ("start", "size", "display", "name", "child")
        )
        symbols = len(self._symbols)
        inlined = len(self._inlined)
        having = np.flatnonzero(child != -1)
        first = child[having]
        if inlined and not len(having):
            raise DamageError("inlined calls belong to no function")
        if len(having) and (int(first[0]) != 0 or (np.diff(first) <= 0).any() or int(first[-1]) >= inlined):
            raise DamageError("the inlined calls of functions are not in order")
        counts = np.diff(np.append(first, inlined)) if len(having) else np.zeros(0, np.int64)
        parent = np.concatenate([np.full(symbols, -1), np.repeat(having, counts)])
        # Only what stands earlier can contain a call: no circle is possible.
        if (parent[symbols:] >= np.arange(symbols, symbols + inlined)).any():
            raise DamageError("an inlined call contains itself")
        return _Calls(start, start + size, display, name, parent)

    @cached_property
    def _order(self) -> IndexArray:
        """Symbols that are looked up, by start: of two in one place the one whose name is its own."""
        start = self._symbols["start"]
        twice = np.zeros(len(start), np.bool_)
        same = np.flatnonzero(start[1:] == start[:-1])
        for first in same.tolist():
            merged = MERGED in self.names(first)[:2]
            twice[first if merged else first + 1] = True
        return np.flatnonzero(~twice)

    @cached_property
    def _family(self) -> tuple[IndexArray, IntArray]:
        """Inlined calls by parent and start, and these two as one number."""
        calls = self._calls
        key = (calls.parent << 32) + calls.start
        inlined = np.arange(len(self._symbols), len(key))
        order = inlined[np.argsort(key[inlined], kind="stable")]
        return order, key[order]

    def _source_lines(self, chain: IndexArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """File and line of each call of chains, shape (levels, n). The place in the innermost function is that
        of the line; in every other one it is where the next one was called. One that the compiler made takes the place
        of its caller."""
        symbols = len(self._symbols)
        shape = chain.shape
        files, lines = sources = np.zeros((2, *shape), np.int64)
        innermost = (chain >= 0).sum(0) - 1
        start = self._lines["start"].astype(np.int64)
        line = _containing(start, start + self._lines["size"], offsets, np.arange(len(start)))
        for level in range(shape[0]):
            inner = chain[level + 1] if level + 1 < shape[0] else np.full(shape[1], -1)
            outside, inside = np.flatnonzero(inner >= 0), np.flatnonzero((innermost == level) & (line >= 0))
            for values, field in zip(sources, ("file", "line"), strict=True):
                values[level, outside] = self._inlined[field][inner[outside] - symbols]
                values[level, inside] = self._lines[field][line[inside]]
            # Whether strings are names of files, and not words in angle brackets such as `<compiler-generated>`.
            distinct, code = np.unique(files[level], return_inverse=True)
            named = [string != NONE and self._strings[string : string + 1] != b"<" for string in distinct.tolist()]
            unknown = ~np.array(named, np.bool_)[code] | (lines[level] == 0)
            sources[:, level, unknown] = sources[:, level - 1, unknown] if level else 0
        return files, lines

    def _check_strings(self, *others: int) -> None:
        strings = self._strings
        if not strings or strings[-1]:
            raise DamageError("its strings are cut off")
        used = np.concatenate(
            [
                np.array(others, np.uint32),
                self._sections["name"],
                *(part[field] for part in (self._symbols, self._inlined) for field in ("display", "name")),
                self._inlined["file"],
                self._lines["file"],
            ]
        )
        if len(used) and int(used.max()) >= len(strings):
            raise DamageError("a name lies outside of its strings")
        string_bytes = np.frombuffer(strings, np.uint8)
        ends = np.flatnonzero(string_bytes == 0)
        distinct = distinct_numbers(used)
        if (string_bytes[distinct] & 0xC0 == 0x80).any():
            raise DamageError("a name is no UTF-8 text")
        lengths = ends[np.searchsorted(ends, distinct)] - distinct
        if len(lengths) and int(lengths.max()) > limits.MAX_SYMBOL_CHARS:
            raise DamageError(f"a name has more than {limits.MAX_SYMBOL_CHARS:,} bytes")


def read_symbol_archive(data: bytes, identity: str) -> SymbolArchive:
    """The archive of the image with this UUID, in upper case. Raises `DamageError`."""
    archive = SymbolArchive(data)
    if archive.uuid != identity:
        raise DamageError(f"it belongs to the image {archive.uuid}")
    return archive


def _check_order(records: RecordArray, text_size: int, what: str, *, alike: bool) -> None:
    """Records are sorted, lie in `__TEXT` and beside one another; two may share one range where `alike`."""
    start = records["start"].astype(np.int64)
    end = start + records["size"]
    if len(end) and (int(end.max()) > text_size or (end <= start).any()):
        raise DamageError(f"its {what} do not lie in __TEXT")
    beside = start[1:] >= end[:-1]
    if alike:
        beside |= (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    if not beside.all():
        raise DamageError(f"its {what} overlap or are not sorted")


def _containing(starts: IntArray, ends: IntArray, points: IntArray, numbers: IndexArray) -> IndexArray:
    """Number of the record that contains each point; -1 where none does. Records are sorted and do not overlap."""
    if not len(starts):
        return np.full(len(points), -1)
    index = np.searchsorted(starts, points, "right") - 1
    return np.where((index >= 0) & (points < ends[index]), numbers[index], -1)
