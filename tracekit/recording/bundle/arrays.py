"""Shared arrays of integers: cells refer to them by number.

integeruniquer.index   header of 32 bytes, one unused entry, then for each reference (offset in its block, block)
integeruniquer.data    header of 32 bytes; for each array a count, then so many 64-bit numbers

Call stacks are arrays of code addresses, leaf first; without symbols a frame is its address:

backtrace   chunks (process reference << 32 | reference of an array of addresses), the leaf's chunk first
kperf-bt    reference of an array of addresses, program counter, process reference, and sometimes a link register
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import IntArray, UInt32Array, UInt64Array
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.engineering_types import STACK_SEPARATOR
from tracekit.sorting import equal_groups

BLOCK_BYTES: Final = 0x0010_0000
"""Arrays do not cross the end of a block."""
LOW: Final = 0xFFFF_FFFF
"""The lower half of a number that holds two of 32 bits."""
_HEADER_BYTES: Final = 32
_MAGIC: Final = (0x0123_4567, 0x000A_337E)
_LONGEST = 21
"""Characters of an address in a stack at most."""


@dataclass(frozen=True, slots=True)
class SharedArrays:
    """The arrays of one run. Reference r is the r-th array."""

    words: UInt32Array
    """The data file in words of four bytes."""
    starts: IntArray
    """Word that holds the count of each array."""
    lengths: IntArray
    """Numbers in each array."""

    def __len__(self) -> int:
        return len(self.starts)

    def of_one_length(self, references: IntArray) -> Iterator[tuple[IntArray, UInt64Array]]:
        """The arrays behind references, those of equal length at a time.

        Yields positions in `references`, shape (n,), and the numbers, shape (n, length). Every reference is checked.
        Raises `DamageError`.
        """
        self.check(references)
        lengths = self.lengths[references]
        for positions in equal_groups(lengths):
            yield positions, self._first(references[positions], int(lengths[positions[0]]))

    def flat(self, references: IntArray) -> tuple[UInt64Array, IntArray]:
        """The numbers of all arrays, one array after the other, and how many each has. Every reference is checked.

        Raises `DamageError`, also for more than `MAX_FRAMES` numbers: arrays may be asked for again and again.
        """
        self.check(references)
        lengths = self.lengths[references]
        total, limit = int(lengths.sum()), limits.MAX_FRAMES
        if total > limit:
            raise DamageError(f"shared arrays of {total:,} numbers are referred to, more than the {limit:,} allowed")
        ends = np.cumsum(lengths)
        words = 2 * np.arange(total) + np.repeat(self.starts[references] + 1 - 2 * (ends - lengths), lengths)
        low, high = self.words[words].astype(np.uint64), self.words[words + 1].astype(np.uint64)
        return low | high << np.uint64(32), lengths

    def prefixes(self, references: IntArray, count: int) -> UInt64Array:
        """The first `count` numbers of each array, shape (n, count). Raises `DamageError` where one is shorter."""
        self.check(references)
        if len(references) and int(self.lengths[references].min()) < count:
            raise DamageError(f"a shared array has fewer than {count} numbers")
        return self._first(references, count)

    def _first(self, references: IntArray, count: int) -> UInt64Array:
        """The first `count` numbers of arrays that have so many, shape (n, count)."""
        if not len(references):
            return np.zeros((0, count), np.uint64)
        # Array by array: the place of each number would take more memory than the numbers.
        windows = np.lib.stride_tricks.sliding_window_view(self.words, 2 * count)
        return np.ascontiguousarray(windows[self.starts[references] + 1]).view("<u8")

    def check(self, references: IntArray) -> None:
        """Raise `DamageError` where a reference is beyond the last array."""
        if len(references) and not 0 <= int(references.min()) <= int(references.max()) < len(self):
            raise DamageError(f"it refers to shared array {int(references.max())}, and there are {len(self):,}")


def read_arrays(files: BundleFiles, folder: str) -> SharedArrays:
    """The arrays in a folder. Raises `DamageError`."""
    index = files.read(f"{folder}/integeruniquer.index", limits.MAX_ARRAY_INDEX_BYTES)
    data = files.read(f"{folder}/integeruniquer.data", limits.MAX_ARRAYS_BYTES, limits.SHARED_FREE_BYTES)
    return parse_arrays(index, data)


def parse_arrays(index: bytes, data: bytes) -> SharedArrays:
    """Arrays from the two files. Each entry is checked to lie inside its block. Raises `DamageError`."""
    for part, content in (("index", index), ("data", data)):
        if len(content) < _HEADER_BYTES or tuple(np.frombuffer(content, "<u4", 2).tolist()) != _MAGIC:
            raise DamageError(f"the {part} of shared arrays has an unknown format")
    if int(np.frombuffer(index, "<u4", 8)[7]) != BLOCK_BYTES or len(data) % BLOCK_BYTES:
        raise DamageError("shared arrays have blocks of an unknown size")
    if len(index) % 8:
        raise DamageError("the index of shared arrays is cut off")
    entries = np.frombuffer(index, "<u4", offset=_HEADER_BYTES).reshape(-1, 2)[1:]
    offsets, blocks = entries[:, 0], entries[:, 1]
    words = np.frombuffer(data, "<u4")
    if ((offsets % 4 != 0) | (offsets > BLOCK_BYTES - 4) | (blocks >= len(data) // BLOCK_BYTES)).any():
        raise DamageError("the index of shared arrays points outside them")
    starts = (offsets + blocks.astype(np.int64) * BLOCK_BYTES) // 4
    lengths = words[starts].astype(np.int64)
    if (offsets + 4 + 8 * lengths > BLOCK_BYTES).any():
        raise DamageError("a shared array is longer than its block")
    # Each would be read on its own, and a small file could ask for any amount of memory.
    if int(lengths.sum()) * 8 + len(lengths) * 4 > len(data):
        raise DamageError("shared arrays overlap")
    return SharedArrays(words, starts, lengths)


class Stacks:
    """Texts of the call stacks of a run. Methods raise `DamageError`."""

    def __init__(self, arrays: SharedArrays, spend: Callable[[int], None]) -> None:
        """spend: takes how many characters are about to be written; raises `DamageError` where they are too many."""
        self._arrays = arrays
        self._spend = spend

    def backtraces(self, references: IntArray) -> list[str]:
        """Stacks in chunks."""
        chunks, lengths = self._arrays.flat(references)
        texts = self._addresses(chunks & np.uint64(LOW))
        ends = np.cumsum(lengths)
        return self._stack_texts(
            [texts[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]
        )

    def samples(self, references: IntArray) -> list[str]:
        """Stacks as a kernel sample holds them: the program counter, then its callers."""
        values = self._arrays.prefixes(references, 3)
        counters = map(hex, values[:, 1].tolist())
        return self._stack_texts(list(zip(counters, self._addresses(values[:, 0]), strict=True)))

    def words(self, references: IntArray) -> list[str]:
        """Arrays of no known meaning: their numbers in hexadecimal."""
        result = [""] * len(references)
        for positions, numbers in self._arrays.of_one_length(references):
            self._spend(numbers.size * _LONGEST)
            for position, row in zip(positions.tolist(), numbers.tolist(), strict=True):
                result[position] = " ".join(map(hex, row))
        return result

    def _stack_texts(self, stacks: Sequence[Sequence[str]]) -> list[str]:
        """The chunks of each stack as one text. Chunks without address leave no gap."""
        self._spend(sum(sum(map(len, chunks)) for chunks in stacks))
        return [STACK_SEPARATOR.join(filter(None, chunks)) for chunks in stacks]

    def _addresses(self, numbers: UInt64Array) -> list[str]:
        """Addresses of arrays, joined; `numbers` are their references, with repetitions."""
        distinct, index = np.unique(numbers, return_inverse=True)
        if len(distinct) and int(distinct[-1]) >= len(self._arrays):
            raise DamageError(f"a call stack refers to shared array {int(distinct[-1])}")
        texts = np.full(len(distinct), "", object)
        for positions, addresses in self._arrays.of_one_length(distinct.astype(np.int64)):
            self._spend(addresses.size * _LONGEST)
            for position, row in zip(positions.tolist(), addresses.tolist(), strict=True):
                while row and row[-1] == 0:
                    row.pop()
                texts[position] = STACK_SEPARATOR.join(map(hex, row))
        words: list[str] = texts[index].tolist()
        return words
