"""Call stacks of an exported table, in the form of all readers. They keep their parts, and are not turned into text.

backtrace, tagged-backtrace   frames, or pairs of a process and addresses, innermost first; or another stack
frame (name, addr)            with a binary and sometimes a source
binary (name, load-addr, path)
source (line)                 with a path
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from sys import getsizeof
from typing import cast

import numpy as np
from lxml.etree import _Element

from tracekit.columns import Codes, Numbers
from tracekit.recording import call_stacks
from tracekit.recording.engineering_types import Kind, kind_of
from tracekit.recording.export.cells import Element, Part, Values
from tracekit.recording.export.nodes import Node, NodeReader
from tracekit.recording.function_names import short_name
from tracekit.recording.progress import Meter
from tracekit.recording.sources import Source
from tracekit.recording.table import Cells, CellValue, number_codes

_MAX_LINE = 1 << 31


@dataclass(frozen=True, slots=True)
class Binary:
    """The image of a frame."""

    name: str
    path: str
    load_address: int | None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The place of a frame in a source file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame; one that is an address alone has nothing else."""

    name: str
    address: int | None
    binary: Binary | None = None
    source: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A call stack, innermost frame first."""

    frames: tuple[Frame, ...]

    def __hash__(self) -> int:
        # Stacks share their frames: what a frame refers to is not hashed again in each of them.
        return hash(tuple([(frame.name, frame.address) for frame in self.frames]))


class StackValues(Values):
    """As `Values`; the distinct values include `Stack`, and the parts that it is made of."""

    def code(self, tag: str) -> int:
        """Number of a tag. A source is a part of a frame here, not a text."""
        code = super().code(tag)
        if tag == "source":
            self.kinds[code] = Kind.FRAME
        return code

    def compound(self, kind: Kind, element: Element, parts: list[Part]) -> CellValue:
        """As `Values.compound`; a call stack, frame, binary or source as what it is."""
        if kind not in (Kind.STACK, Kind.FRAME, Kind.ADDRESSES):
            return super().compound(kind, element, parts)
        # More than what cells of tables hold.
        values: list[object] = [self.at(payload) for code, payload in parts if not self.is_number[code]]
        value: object
        match cast("_Element", element).tag:
            case "binary":
                name = element.get("name") or ""
                value = Binary(name, element.get("path") or "", address(element.get("load-addr")))
            case "source":
                path = next((value for value in values if isinstance(value, str)), element.get("path") or "")
                line = address(element.get("line"))
                value = SourceLine(path, line if line is not None and line < _MAX_LINE else 0)
            case "frame":
                value = Frame(
                    element.get("name") or "",
                    address(element.get("addr")),
                    next((value for value in values if isinstance(value, Binary)), None),
                    next((value for value in values if isinstance(value, SourceLine)), None),
                )
            case _:
                addresses = element.text if kind is Kind.ADDRESSES else None
                frames: list[Frame] = []
                for part in values:
                    if isinstance(part, Frame):
                        frames.append(part)
                    elif isinstance(part, Stack):
                        frames += part.frames
                frames += [Frame("", number) for word in (addresses or "").split() if (number := address(word))]
                self.charge(getsizeof(frames))
                value = Stack(tuple(frames))
        return cast("CellValue", value)


def address(text: str | None) -> int | None:
    """An address in decimal or hexadecimal; None where it is none."""
    try:
        number = int(text or "", 16 if (text or "").startswith("0x") else 10)
    except ValueError:
        return None
    return number if 0 <= number < 1 << 63 else None


class _Names:
    """What the frames of a table name, numbered."""

    def __init__(self) -> None:
        self.images: dict[call_stacks.Image, int] = {}
        self.functions: dict[call_stacks.Function, int] = {}
        self.files: dict[str, int] = {}

    def record(self, frame: Frame) -> tuple[int, int, int, int, int, bool, bool]:
        """A frame as a `FRAME`."""
        binary, begin = frame.binary, None
        image = offset = function = file = -1
        if binary is not None:
            begin = binary.load_address
            is_system = call_stacks.is_system_path(binary.path) if binary.path else None
            key = call_stacks.Image(binary.name or binary.path.rpartition("/")[2], is_system)
            image = self.images.setdefault(key, len(self.images))
            if begin is not None and frame.address is not None:
                # One byte behind the instruction, or behind the call.
                offset = max(frame.address - begin - 1, -1)
        nameless = frame.name.startswith("0x")
        name = short_name(frame.name) if frame.name and not nameless else None
        at = address(frame.name) if nameless else None
        if binary is not None and begin is not None and at is not None and at >= begin:
            name = f"{binary.name} + {at - begin:#x}"
        if name is not None:
            code = call_stacks.Function(name, "" if nameless else frame.name, image)
            function = self.functions.setdefault(code, len(self.functions))
        source, line = frame.source, 0
        if source is not None and source.path and source.line and not source.path.startswith("<"):
            name = source.path.rstrip("/").rpartition("/")[2]
            file, line = self.files.setdefault(name, len(self.files)), source.line
        return image, function, offset, file, line, False, image >= 0


def read_call_stacks(source: Source, index: int) -> call_stacks.CallStacks | None:
    """Samples of one node of a file; None where it holds no call stacks. Raises `UnreadableRecording`.

    The file is read again: the cells of tables hold the text of a stack only.
    """
    node = NodeReader(source, None, StackValues(source.size)).read(Meter(None, None)).nodes[index]
    if node.cells is None:
        return None
    stacks = next((column for column in _columns(node, Kind.STACK) if isinstance(column, Codes)), None)
    times = next((column for column in _columns(node, Kind.TIME) if isinstance(column, Numbers)), None)
    if stacks is None or times is None:
        return None
    order = np.argsort(times.values, kind="stable")
    cells = {column.mnemonic: cells.take(order) for column, cells in zip(node.columns, node.cells, strict=True)}
    is_time = any(
        column.mnemonic == "weight" and kind_of(column.engineering_type) is Kind.TIME for column in node.columns
    )
    values: list[object] = list(stacks.values)
    # A stack that names no frame is none.
    with_frames = [value for value in values if isinstance(value, Stack) and value.frames]
    numbers = iter(range(len(with_frames)))
    number = [next(numbers) if isinstance(value, Stack) and value.frames else -1 for value in values]
    # The distinct frames of stacks, place of the first frame of each stack, and the frames of all.
    lengths = np.fromiter((len(stack.frames) for stack in with_frames), np.int64, len(with_frames))
    # Equal frames are one object each: they are distinguished by what is quickest to compare.
    distinct: dict[int, Frame] = {}
    for stack in with_frames:
        distinct.update(zip(map(id, stack.frames), stack.frames, strict=True))
    each = chain.from_iterable(map(id, stack.frames) for stack in with_frames)
    identities = np.fromiter(each, np.int64, int(lengths.sum()))
    # Numbered by appearance, as in `distinct`: which object lies where in memory differs from run to run.
    _, frame_order = number_codes(identities, np.ones(len(identities), np.bool_))
    names = _Names()
    return call_stacks.CallStacks(
        times.values[order],
        *call_stacks.sample_columns(cells, len(order), weight_is_time=is_time),
        stack=np.array([*number, -1], np.int64)[stacks.codes[order]],
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        order=frame_order,
        frames=np.array([names.record(frame) for frame in distinct.values()], call_stacks.FRAME),
        images=tuple(names.images),
        functions=tuple(names.functions),
        files=tuple(names.files),
    )


def _columns(node: Node, kind: Kind) -> list[Cells]:
    pairs = zip(node.columns, node.cells or (), strict=True)
    return [cells for column, cells in pairs if kind_of(column.engineering_type) is kind]
