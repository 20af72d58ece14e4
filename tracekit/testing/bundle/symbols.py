"""What a bundle needs to name the frames of its stacks: where images lie, and symbol archives,
version 7, from the published layout and not from what the reader makes of it."""

from __future__ import annotations

import struct
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from tracekit.testing.machines import main_thread
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import Cell, TableContent, columns_from
from tracekit.testing.stacks import FUNCTION_BYTES, LINE_BYTES, Frame, Placed, SampleRow

_CODES = (("codes", '"0x07,0x00" "0x1f,0x05"'), ("target", "SINGLE"))
_DYLD = (0x1F, 5)
"""Class and subclass of the loader's events."""
_FIRST_PATH_ID = 0x40
_DRIVER_CODES = (("codes", '"0x85,0x1" "0x85,0x8"'), ("callstack", "user"))
_DRIVER_EVENT = (0x85, 8, 0x10, 0)
"""Class, subclass, code and function."""
_KDEBUG = columns_from("""
    time: event-time | Timestamp; thread; class: kdebug-class; subclass: kdebug-subclass; code: kdebug-code;
    function: kdebug-func; arg1: kdebug-arg | Argument 1; arg2: kdebug-arg | Argument 2; arg3: kdebug-arg | Argument 3;
    arg4: kdebug-arg | Argument 4
""")
_DRIVER = columns_from("""
    time: event-time | Timestamp; thread; cp-user-callstack: kperf-bt | User Backtrace; class: kdebug-class;
    subclass: kdebug-subclass; code: kdebug-code; function: kdebug-func; arg1: kdebug-arg | Argument 1;
    arg2: kdebug-arg | Argument 2; arg3: kdebug-arg | Argument 3; arg4: kdebug-arg | Argument 4
""")
_STRINGS = columns_from("""
    time: event-time | Timestamp; raw-string | String; raw-string-id: kdebug-string | String ID
""")


def app_path(scenario: Scenario) -> str:
    """Where the program of the target lies: in a home folder, which is private."""
    return f"/Users/somebody/Build/{scenario.target.name}"


def image_tables(scenario: Scenario, images: dict[str, Placed]) -> list[TableContent]:
    """Events of the loader, in pairs, and the paths that they refer to; none without stacks."""
    if not images:
        return []
    thread = main_thread(scenario.target)
    rows: list[tuple[Cell, ...]] = []
    for number, image in enumerate(images.values()):
        high, low = struct.unpack("<QQ", uuid.UUID(image.identity).bytes)
        time, device = 1_000 + 2 * number, 0 if image.in_cache else 1
        rows.append((time, thread, *_DYLD, 0, 0, high, low, image.address, device))
        rows.append((time + 1, thread, *_DYLD, 1, 0, 0, _FIRST_PATH_ID + number, 0, 0))
    paths = tuple((500, image.path, _FIRST_PATH_ID + number) for number, image in enumerate(images.values()))
    return [
        TableContent("kdebug", _CODES, _KDEBUG, tuple(rows)),
        TableContent("kdebug-strings", _CODES, _STRINGS, paths),
    ]


def driver_table(scenario: Scenario) -> list[TableContent]:
    """Events of the driver of the GPU: memory is made."""
    rows = [(row.time_ns, row.thread, row.stack, *_DRIVER_EVENT, 0, 0, 0, 0) for row in scenario.driver]
    return [TableContent("kdebug", _DRIVER_CODES, _DRIVER, tuple(rows))] if rows else []


def symbol_files(samples: Iterable[SampleRow], images: dict[str, Placed]) -> dict[str, bytes]:
    """One archive for each image, with the functions and lines that stacks hit."""
    frames = dict.fromkeys(chain.from_iterable(row.stack.frames for row in samples if row.stack is not None))
    by_image: dict[str, list[Frame]] = defaultdict(list)
    for frame in frames:
        by_image[frame.image].append(frame)
    return {
        f"symbols/stores/{images[path].identity}.symbolsarchive": _archive(images[path], of_image).dump()
        for path, of_image in by_image.items()
    }


@dataclass
class Symbol:
    """A function."""

    start: int
    size: int
    name: str
    display: str = ""
    calls: list[Call] = field(default_factory=list)


@dataclass
class Line:
    """A line of source code."""

    start: int
    size: int
    file: str
    line: int
    column: int = 0


class _Strings:
    def __init__(self) -> None:
        self.data = bytearray()
        self._known: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Place of a text; none is the first one."""
        if not text:
            return 0
        if text not in self._known:
            self._known[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._known[text]


@dataclass
class Written:
    """What an archive holds."""

    identity: str
    symbols: list[Symbol] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    text_size: int = 0x10000
    version: int = 7

    def dump(self) -> bytes:
        """The bytes of the file."""
        strings = _Strings()
        strings.add("MACH_HEADER")
        segments = [(0, self.text_size, b"__TEXT"), (self.text_size, 0x4000, b"__DATA")]
        sections = [(0, 0x100, "MACH_HEADER"), (0x100, self.text_size - 0x100, "__TEXT __text")]
        records, inlined = _number_records(self.symbols)
        body = b"".join(struct.pack("<QQ16s", *segment) for segment in segments)
        body += b"".join(struct.pack("<QQII", start, size, strings.add(name), 0) for start, size, name in sections)
        body += b"".join(self._call(each, child, strings) for each, child in records)
        for each, child in inlined:
            file, line, column = each.at
            body += self._call(each, child, strings) + struct.pack("<III", strings.add(file), line, column)
        for at in self.lines:
            body += struct.pack("<5I", at.start, at.size, strings.add(at.file), at.line, at.column)
        displayed = [0 for symbol in self.symbols if symbol.display]
        body += struct.pack(f"<{len(displayed)}I", *displayed) + bytes(4 * len(self.symbols))
        size = 0x60 + len(body) + len(strings.data)
        counts = (len(segments), len(sections), len(records), len(inlined), len(self.lines))
        header = struct.pack("<13I", self.version, size, *counts, 0, 0, 0, 0, 0, size * 2)
        header += uuid.UUID(self.identity).bytes + struct.pack("<4I", 0x0100000C, 2, 0, 0)
        return header + struct.pack("<3I", len(strings.data), 4 * len(displayed), 0) + body + bytes(strings.data)

    @staticmethod
    def _call(each: Symbol, child: int, strings: _Strings) -> bytes:
        return struct.pack("<5Ii", each.start, each.size, 0, strings.add(each.display), strings.add(each.name), child)


def _archive(image: Placed, frames: list[Frame]) -> Written:
    symbols, lines = {}, {}
    for frame in frames:
        start = image.starts[frame.name, frame.symbol]
        # Names of C and Objective-C are displayed; mangled ones have no such name.
        display = "" if frame.symbol.startswith(("_$", "__Z")) else frame.name
        symbols[start] = Symbol(start, FUNCTION_BYTES, frame.symbol, display)
        if frame.line:
            at = image.offset(frame)
            lines[at] = Line(at, LINE_BYTES, f"/Users/somebody/src/{frame.file}", frame.line, 9)
    return Written(image.identity, [symbols[at] for at in sorted(symbols)], [lines[at] for at in sorted(lines)])


NOTHING = -1


@dataclass
class Call(Symbol):
    """An inlined call."""

    at: tuple[str, int, int] = ("", 0, 0)
    """Where it was called: file, line, column."""


def _number_records(symbols: list[Symbol]) -> tuple[list[tuple[Symbol, int]], list[tuple[Call, int]]]:
    """Records with the first of their children, level by level: children ascend in the order of their parents."""
    inlined: list[Call] = []
    first: dict[int, int] = {}
    parents = list(symbols)
    for parent in parents:
        if parent.calls:
            first[id(parent)] = len(inlined)
            inlined += parent.calls
            parents += parent.calls
    return (
        [(symbol, first.get(id(symbol), NOTHING)) for symbol in symbols],
        [(each, first.get(id(each), NOTHING)) for each in inlined],
    )
