"""Call stacks: chunks of code addresses, leaf first. Without symbols a frame is its address.

backtrace   chunks (process reference << 32 | reference of an array of addresses), the leaf's chunk first
kperf-bt    reference of an array of addresses, program counter, process reference, and sometimes a link register
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.arrays import LOW
from tracekit.recording.engineering_types import STACK_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tracekit.arrays import IntArray, UInt64Array
    from tracekit.recording.bundle.arrays import SharedArrays


_LONGEST = 21
"""Characters of an address in a stack at most."""


class Stacks:
    """Texts of the call stacks of a run. Methods raise `DamageError`."""

    def __init__(self, arrays: SharedArrays, spend: Callable[[int], None]) -> None:
        """spend: takes how many characters are about to be written; raises `DamageError` where they are too many."""
        self._arrays = arrays
        self._spend = spend

    def backtraces(self, references: IntArray) -> list[str]:
        """Stacks in chunks."""
        chunks, lengths = self._arrays.flat(references, limits.MAX_FRAMES)
        texts = self._addresses(chunks & np.uint64(LOW))
        ends = np.cumsum(lengths)
        return self._joined(
            [texts[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]
        )

    def samples(self, references: IntArray) -> list[str]:
        """Stacks as a kernel sample holds them: the program counter, then its callers."""
        values = self._arrays.fixed(references, 3)
        counters = map(hex, values[:, 1].tolist())
        return self._joined(list(zip(counters, self._addresses(values[:, 0]), strict=True)))

    def words(self, references: IntArray) -> list[str]:
        """Arrays of no known meaning: their numbers in hexadecimal."""
        result = [""] * len(references)
        for positions, numbers in self._arrays.of_one_length(references):
            self._spend(numbers.size * _LONGEST)
            for position, row in zip(positions.tolist(), numbers.tolist(), strict=True):
                result[position] = " ".join(map(hex, row))
        return result

    def _joined(self, stacks: Sequence[Sequence[str]]) -> list[str]:
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
