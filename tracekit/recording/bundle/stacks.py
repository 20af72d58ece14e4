"""Call stacks: chunks of code addresses, leaf first. Without symbols a frame is its address.

backtrace   chunks (process reference << 32 | reference of an array of addresses), the leaf's chunk first
kperf-bt    reference of an array of addresses, program counter, process reference, and sometimes a link register
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.arrays import LOW
from tracekit.recording.engineering_types import STACK_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        result = [""] * len(references)
        for positions, chunks in self._arrays.of_one_length(references):
            columns = [self._addresses(chunks[:, index] & np.uint64(LOW)) for index in range(chunks.shape[1])]
            self._fill(result, positions, columns)
        return result

    def samples(self, references: IntArray) -> list[str]:
        """Stacks as a kernel sample holds them: the program counter, then its callers."""
        values = self._arrays.fixed(references, 3)
        result = [""] * len(references)
        counters = [f"{counter:#x}" for counter in values[:, 1].tolist()]
        self._fill(result, np.arange(len(references)), [counters, self._addresses(values[:, 0])])
        return result

    def words(self, references: IntArray) -> list[str]:
        """Arrays of no known meaning: their numbers in hexadecimal."""
        result = [""] * len(references)
        for positions, numbers in self._arrays.of_one_length(references):
            self._spend(numbers.size * _LONGEST)
            for position, row in zip(positions.tolist(), numbers.tolist(), strict=True):
                result[position] = " ".join(map(hex, row))
        return result

    def _fill(self, result: list[str], positions: IntArray, columns: list[list[str]]) -> None:
        """Join the chunks of each stack. Chunks without address leave no gap."""
        self._spend(sum(sum(map(len, column)) for column in columns))
        for position, chunks in zip(positions.tolist(), _rows(columns, len(positions)), strict=True):
            result[position] = STACK_SEPARATOR.join(filter(None, chunks))

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


def _rows(columns: list[list[str]], count: int) -> Iterator[tuple[str, ...]]:
    return zip(*columns, strict=True) if columns else iter([()] * count)
