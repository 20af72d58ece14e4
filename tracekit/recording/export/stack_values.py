"""Values of a file in which call stacks keep their parts, and are not turned into text.

backtrace, tagged-backtrace   frames, or pairs of a process and addresses, innermost first; or another stack
frame (name, addr)            with a binary and sometimes a source
binary (name, load-addr, path)
source (line)                 with a path
"""

from __future__ import annotations

from dataclasses import dataclass
from sys import getsizeof
from typing import TYPE_CHECKING, cast

from tracekit.recording.engineering_types import Kind
from tracekit.recording.export.cells import Values

if TYPE_CHECKING:
    from lxml.etree import _Element

    from tracekit.recording.export.cells import Element, Part
    from tracekit.recording.table import CellValue

_MAX_LINE = 1 << 31


@dataclass(frozen=True, slots=True)
class Binary:
    """The image of a frame."""

    name: str
    path: str
    load_address: int | None


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a frame in a source file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame; one that is an address alone has nothing else."""

    name: str
    address: int | None
    binary: Binary | None = None
    source: Source | None = None


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
        values = [self.at(payload) for code, payload in parts if not self.is_number[code]]
        value: object
        match cast("_Element", element).tag:
            case "binary":
                name = element.get("name") or ""
                value = Binary(name, element.get("path") or "", address(element.get("load-addr")))
            case "source":
                path = next((each for each in values if isinstance(each, str)), element.get("path") or "")
                value = Source(path, _line(element.get("line")))
            case "frame":
                value = Frame(
                    element.get("name") or "",
                    address(element.get("addr")),
                    next((each for each in map(_as_part, values) if isinstance(each, Binary)), None),
                    next((each for each in map(_as_part, values) if isinstance(each, Source)), None),
                )
            case _:
                value = self._stack(values, element.text if kind is Kind.ADDRESSES else None)
        return cast("CellValue", value)

    def _stack(self, parts: list[CellValue], addresses: str | None) -> Stack:
        frames: list[Frame] = []
        for part in map(_as_part, parts):
            if isinstance(part, Frame):
                frames.append(part)
            elif isinstance(part, Stack):
                frames += part.frames
        frames += [Frame("", number) for word in (addresses or "").split() if (number := address(word))]
        self.charge(getsizeof(frames))
        return Stack(tuple(frames))


def _as_part(value: CellValue) -> object:
    """A value of the file, which here is more than what cells of tables hold."""
    return value


def address(text: str | None) -> int | None:
    """An address in decimal or hexadecimal; None where it is none."""
    try:
        number = int(text or "", 16 if (text or "").startswith("0x") else 10)
    except ValueError:
        return None
    return number if 0 <= number < 1 << 63 else None


def _line(text: str | None) -> int:
    number = address(text)
    return number if number is not None and number < _MAX_LINE else 0
