"""What a bundle needs to name the frames of its stacks: where images lie, and symbol archives."""

from __future__ import annotations

import struct
import uuid
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from tracekit.testing.bundle.symbol_archive import Line, Symbol, Written
from tracekit.testing.cells import Column, TableContent
from tracekit.testing.stacks import FUNCTION_BYTES, LINE_BYTES
from tracekit.testing.tables import main_thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.testing.cells import Cell
    from tracekit.testing.scenario import Scenario
    from tracekit.testing.stacks import Frame, Placed, SampleRow

_CODES = (("codes", '"0x07,0x00" "0x1f,0x05"'), ("target", "SINGLE"))
_DYLD = (0x1F, 5)
"""Class and subclass of the loader's events."""
_FIRST_PATH_ID = 0x40
_KDEBUG = tuple(
    Column(*texts)
    for texts in (
        ("time", "Timestamp", "event-time"),
        ("thread", "Thread", "thread"),
        ("class", "Class", "kdebug-class"),
        ("subclass", "Subclass", "kdebug-subclass"),
        ("code", "Code", "kdebug-code"),
        ("function", "Function", "kdebug-func"),
        *((f"arg{number}", f"Argument {number}", "kdebug-arg") for number in range(1, 5)),
    )
)
_STRINGS = tuple(
    Column(*texts)
    for texts in (
        ("time", "Timestamp", "event-time"),
        ("raw-string", "String", "raw-string"),
        ("raw-string-id", "String ID", "kdebug-string"),
    )
)


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


def _archive(image: Placed, frames: list[Frame]) -> Written:
    symbols = {
        image.starts[frame.name, frame.symbol]: Symbol(
            image.starts[frame.name, frame.symbol], FUNCTION_BYTES, frame.symbol, _display(frame)
        )
        for frame in frames
    }
    lines = {
        image.offset(frame): Line(image.offset(frame), LINE_BYTES, f"/Users/somebody/src/{frame.file}", frame.line, 9)
        for frame in frames
        if frame.line
    }
    return Written(image.identity, [symbols[at] for at in sorted(symbols)], [lines[at] for at in sorted(lines)])


def _display(frame: Frame) -> str:
    """Names of C and Objective-C are displayed; mangled ones have no such name."""
    return "" if frame.symbol.startswith(("_$", "__Z")) else frame.name
