"""Random draws that come out the same on every platform and with every version of numpy.

numpy keeps the stream of raw PCG64 words stable for ever, but not what `Generator` makes of them, and `lognormal` goes
through the C library of the platform. So everything here is integer arithmetic on raw words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")

CLOCK_STEP_NS = 125
"""Three ticks of the 24 MHz clock of Apple silicon: real times are multiples of a tick, cut to whole ns."""

_PIECES = 12
"""Uniform numbers in a sum whose variance is one (Irwin-Hall), which is close to normal and never beyond ±6."""


class Draws:
    """A stream of random numbers that a seed fixes for good."""

    def __init__(self, seed: int) -> None:
        self._words = np.random.PCG64(seed)

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._words.random_raw()) % (high - low + 1)

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items, each with the same chance."""
        return items[self.integer(0, len(items) - 1)]

    def permutation(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """The items in any order."""
        left = list(items)
        for last in range(len(left) - 1, 0, -1):
            index = self.integer(0, last)
            left[last], left[index] = left[index], left[last]
        return tuple(left)

    def chance(self, permille: int) -> bool:
        """True in `permille` of 1,000 cases."""
        return self.integer(0, 999) < permille

    def around(self, median_ns: int, spread_permille: int = 60) -> int:
        """A duration in ns near a median, with the long right tail that real durations have.

        `spread_permille` is the standard deviation of the logarithm, in thousandths. The result is a positive
        multiple of `CLOCK_STEP_NS`.
        """
        # A deviate with mean 0 and standard deviation 1, in parts per million.
        total = 0
        for _ in range(_PIECES // 4):
            word = int(self._words.random_raw())
            total += (word & 0xFFFF) + (word >> 16 & 0xFFFF) + (word >> 32 & 0xFFFF) + (word >> 48)
        deviate = (total - _PIECES // 2 * 0xFFFF) * 1_000_000 // 0x10000
        power = spread_permille * deviate // 1_000
        # exp(power) by its series to the third power, in parts per million.
        factor = 1_000_000 + power + power**2 // 2_000_000 + power**3 // 6_000_000_000_000
        return on_clock(max(median_ns * factor // 1_000_000, CLOCK_STEP_NS))

    def durations(self, count: int, total_ns: int, spread_permille: int = 60) -> list[int]:
        """`count` durations in ns that add up to `total_ns` (rounded to the clock).

        Raises ValueError where `total_ns` leaves less than a step of the clock for each.
        """
        if total_ns < count * CLOCK_STEP_NS:
            raise ValueError(f"{total_ns} ns cannot be split into {count} durations")
        raw = [self.around(1_000_000, spread_permille) for _ in range(count)]
        whole = sum(raw)
        ends = [on_clock(total_ns * until // whole) for until in accumulate(raw)]
        return [end - start for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def on_clock(time_ns: int) -> int:
    """The last time at or before `time_ns` that is a multiple of `CLOCK_STEP_NS`."""
    return time_ns // CLOCK_STEP_NS * CLOCK_STEP_NS
