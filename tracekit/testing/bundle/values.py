"""Values that rows share: strings, processes, threads and labels. Rows hold references to them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tracekit.testing.bundle.types import TYPE_NUMBERS, TYPES, Kind
from tracekit.testing.cells import Label, Part
from tracekit.testing.machines import Process, Thread
from tracekit.testing.stacks import Stack, addresses

if TYPE_CHECKING:
    from tracekit.testing.bundle.types import NativeType
    from tracekit.testing.cells import Cell
    from tracekit.testing.stacks import Placed

BLOCK_BYTES = 0x0010_0000
"""Arrays lie in blocks of this size, and none crosses the end of its block."""
_EPOCH = (1 << 63) - 1
"""Stored date of 1970."""
_HEAD = (0x0123_4567, 0x000A_337E, 1, 0, 1, 0)
_SESSION = "TODO"
"""What real bundles hold as the session of the device."""


class Arrays:
    """Distinct arrays of 64-bit numbers; the reference counts from 0."""

    def __init__(self) -> None:
        self._references: dict[tuple[int, ...], int] = {}

    def reference(self, numbers: tuple[int, ...]) -> int:
        """Reference of an array, which is added where it is new."""
        return self._references.setdefault(numbers, len(self._references))

    def files(self) -> tuple[bytes, bytes]:
        """Contents of `integeruniquer.index` and `integeruniquer.data`."""
        # Entry 0 is not used.
        index = [struct.pack("<8I", *_HEAD, 0x0040_0000, BLOCK_BYTES), bytes(8)]
        data = bytearray(struct.pack("<8I", *_HEAD, 0, 0))
        for numbers in self._references:
            packed = struct.pack(f"<I{len(numbers)}Q", len(numbers), *numbers)
            if len(data) % BLOCK_BYTES + len(packed) > BLOCK_BYTES:
                data.extend(bytes(-len(data) % BLOCK_BYTES))
            index.append(struct.pack("<2I", len(data) % BLOCK_BYTES, len(data) // BLOCK_BYTES))
            data.extend(packed)
        data.extend(bytes(-len(data) % BLOCK_BYTES))
        return b"".join(index), bytes(data)


class Values:
    """All shared values of a run. The stacks of `target` need `images`, by the `image` of their frames."""

    def __init__(self, target: Process | None = None, images: dict[str, Placed] | None = None) -> None:
        self._target = target
        self._images = images or {}
        self.strings: dict[str, int] = {"": 0}
        """References by text."""
        self.arrays = Arrays()
        self.labels = Arrays()
        self.processes: dict[Process, int] = {}
        """References of the processes that rows mention, in order of appearance."""
        self.threads: dict[Thread, int] = {}
        """The same for threads."""

    def number(self, native: NativeType, cell: Cell) -> int:
        """What a field holds for a cell. Raises TypeError for a cell that its column cannot hold."""
        if cell is None:
            return self._nothing(native)
        match native.kind, cell:
            case Kind.STRING, str():
                return self.string(cell)
            case Kind.ARRAY, Process():
                return self.process(cell)
            case Kind.ARRAY, Thread():
                return self.thread(cell)
            case Kind.ARRAY, Stack():
                return self._stack(cell)
            case Kind.LABEL, Label():
                return self._label(cell)
            case Kind.NUMBER, int():
                return cell
            case Kind.PACKED, str():
                numerator, denominator = map(int, cell.split("/"))
                return numerator << 32 | denominator
            case Kind.PACKED, int():
                return cell + _EPOCH
        raise TypeError(f"{native.id} cannot hold {cell!r}")

    def string(self, text: str) -> int:
        """Index of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def process(self, process: Process) -> int:
        """Reference of a process."""
        reference = self.arrays.reference((process.pid, self.string(_SESSION)))
        return self.processes.setdefault(process, reference)

    def thread(self, thread: Thread) -> int:
        """Reference of a thread."""
        reference = self.arrays.reference((thread.tid, self.process(thread.process)))
        return self.threads.setdefault(thread, reference)

    def _stack(self, stack: Stack) -> int:
        """Reference of a stack of the target: the instruction that ran by itself, then where calls return to."""
        if self._target is None:
            raise TypeError("stacks belong to a target")
        leaf, *callers = addresses(stack, self._images)
        chunks = [(leaf,), *([tuple(callers)] if callers else [])]
        owner = self.process(self._target)
        return self.arrays.reference(tuple(owner << 32 | self.arrays.reference(chunk) for chunk in chunks))

    def _label(self, label: Label) -> int:
        # Real bundles hold no array without numbers: an empty label is one empty text.
        parts = label.parts or (Part("string", ""),)
        return self.labels.reference(tuple(number for part in parts for number in self._part(part)))

    def _part(self, part: Part) -> tuple[int, int]:
        return TYPE_NUMBERS[part.type], self.number(TYPES[part.type], part.value)

    @staticmethod
    def _nothing(native: NativeType) -> int:
        if native.nothing is None:
            raise TypeError(f"{native.id} has no way to say that there is no value")
        return native.nothing
