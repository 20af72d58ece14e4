"""What many calls have in common, and no row shows: pauses, levels, first ones of an amount of work, growth.

All arrays are of calls of one model that compare with each other, in order of time, shape (calls,). Such a pattern
explains what nothing stronger does, and what rests on it says so.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tracekit.analysis.device_states import UNKNOWN
from tracekit.analysis.latency import change_points, modes, ranks
from tracekit.analysis.latency_growth import AFRESH, MIN_CALLS, Growth, growth
from tracekit.analysis.pace import CERTAINTY
from tracekit.analysis.quantities import median, sample_quantiles
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers

PAUSE_NS = 1_000_000_000
"""A shorter gap is an interval of a camera or a timer (heuristic)."""
LONGER = 1.2
"""Times as long as usual, from which on calls have something in common: the usual spread stays within a fifth."""
LEAST_SHARE = 0.5
"""Part of the calls of a pattern that must be so much longer (heuristic)."""
KNOWN_SHARE = 0.9
"""Calls whose work on compute units must be known to compare it (heuristic)."""
LARGER_WORK = 1.5
"""A prediction has larger work where its units work so many times as long as usual; else it may wait (heuristic)."""
GROUP_SHARE = 0.1
"""Part of the calls that must have an amount of work for it to be one: fewer are exceptions (heuristic)."""
GROUP_SPREAD = 0.3
"""Distance between the quartiles of a group as a share of its median, at most. Inputs come in few shapes, and each
takes its own time (heuristic)."""
GROUP_RATIO = 1.5
"""Longest to shortest of nine in ten calls of a group, at most: else they could be two."""
HEAT_RATIO = 1.2
"""Times as long in the hottest state as in the coolest from which on heat explains growth (heuristic)."""
MIN_IN_STATE = 10
"""Calls that a thermal state must hold for a median."""
HEATING_NS = 20_000_000_000
"""A device does not become too hot for its speed in less time; public reports speak of minutes (heuristic)."""
COOLING_NS = 30_000_000_000
"""A device that became hot does not cool down in less time (heuristic)."""


def usually_longer(own_ns: IntArray, chosen: BoolArray, usual_ns: int) -> bool:
    """Whether calls of a pattern, at least two, mostly take longer than usual."""
    longer = own_ns[chosen] >= LONGER * usual_ns
    return len(longer) >= 2 and float(longer.mean()) >= LEAST_SHARE


def surely_longer(own_ns: IntArray, some: BoolArray, others: BoolArray) -> bool:
    """Whether some calls rank above others by more than chance (rank sum of Wilcoxon). O(n log n)."""
    longer, shorter = own_ns[some], own_ns[others]
    count, rest = len(longer), len(shorter)
    above = float(ranks(np.concatenate((longer, shorter)))[:count].sum()) - count * (count + 1) / 2 - count * rest / 2
    return float(above / (count * rest * (count + rest + 1) / 12) ** 0.5) >= CERTAINTY


def first_level(own_ns: IntArray, judged: BoolArray) -> int:
    """Position of the call from which on calls take longer for good: `len(own_ns)` where there is none.

    From level to level they take longer, none falls back, and no growth from call to call makes the levels. Of the
    `judged` calls, which nothing else makes long. O(n log n), and O(n) where the ends of the recording are alike.
    """
    at = np.flatnonzero(judged)
    times, none = own_ns[at], len(own_ns)
    third = len(times) // 3
    if third < MIN_IN_STATE or np.median(times[-third:]) < LONGER * np.median(times[:MIN_IN_STATE]):
        return none
    cuts = change_points(times, min_ratio=LONGER)
    levels = [float(np.median(times[low:high])) for low, high in pairwise(cuts)]
    rises = all(after > before for before, after in pairwise(levels))
    if len(levels) < 2 or len(levels) > 3 or not rises:
        return none
    # Ranks place a cut a few calls off where the first ones of a level are its shortest.
    above = times > np.sqrt(levels[0] * levels[1])
    cut = cuts[1] + int(np.argmax(above[cuts[1] :]))
    cut -= int(np.argmin(above[:cut][::-1]))
    return int(at[cut])


def amounts_of_work(work_ns: IntArray, min_share: float = GROUP_SHARE) -> IntArray:
    """The amount of work of each call, as a number: one for all where the work shows no others, each of which at least
    `min_share` of the calls have. O(n log n)."""
    one = np.zeros(len(work_ns), np.int64)
    if not len(work_ns) or float((work_ns > 0).mean()) < KNOWN_SHARE:
        return one
    group, _ = modes(work_ns, min_share=min_share)
    return group if all(is_narrow(work_ns[group == number]) for number in range(int(group.max()) + 1)) else one


def is_narrow(values: IntArray) -> bool:
    """Whether times, shape (n,) with n > 0, are those of one group."""
    shortest, low, middle, high, longest = sample_quantiles(values, 0.05, 0.25, 0.5, 0.75, 0.95)
    return bool(high - low <= GROUP_SPREAD * middle and longest <= GROUP_RATIO * shortest)


def first_of_each_amount(amount: IntArray, first: BoolArray) -> BoolArray:
    """The first call of each amount of work after each load, whose own first call is none of them."""
    count = int(amount.max(initial=0)) + 1
    if count < 2:
        return np.zeros(len(amount), np.bool_)
    found = np.zeros(len(amount), np.bool_)
    found[np.unique(np.cumsum(first) * count + amount, return_index=True)[1]] = True
    result: BoolArray = found & ~first
    result[0] = False
    return result


class Grows(StrEnum):
    """What makes calls grow."""

    SEQUENCE = "sequence"
    """The work: calls grow while the thermal state stays the same, or too fast for heat, or start afresh with each
    sequence before a device could cool down."""
    HEAT = "heat"
    """The device: calls are longer in hotter states, and do not grow in the coolest one."""
    UNCLEAR = "unclear"
    """The thermal state is not known, or holds too few calls."""


class GrowthReading(NamedTuple):
    """Growth and what causes it."""

    growth: Growth
    cause: Grows | None
    """None where the calls do not grow."""
    across: bool = False
    """The calls grow from sequence to sequence, and `growth` counts all of them as one."""


def read_growth(times: Intervals, burst: IntArray, state: IntArray, min_calls: int = MIN_CALLS) -> GrowthReading:
    """Whether calls grow with their sequence, or on from sequence to sequence. `state` is the thermal one of each, as
    `states_at` gives it. O(n log n)."""
    durations = times.durations
    measured, across = growth(durations, burst, min_calls), False
    if not measured.usual:
        several = len(burst) and burst[0] != burst[-1]
        joined = growth(durations, np.zeros_like(burst), min_calls) if several else measured
        if not joined.usual:
            return GrowthReading(measured, None)
        measured, across = joined, True
    count = measured.count[measured.grows]
    opens = np.cumsum(count) - count
    index = np.repeat(measured.first[measured.grows] - opens, count) + np.arange(count.sum())
    if (state[index] == UNKNOWN).any():
        # What time alone shows: heat comes slowly, and goes slowly.
        starts, ends = times.starts[index[opens]], times.ends[index[opens + count - 1]]
        spans = ends - starts if measured.starts_afresh else ends[-1:] - starts[:1]
        quick = int(spans.max()) < HEATING_NS
        quick |= measured.starts_afresh and int((starts[1:] - ends[:-1]).max()) < COOLING_NS
        return GrowthReading(measured, Grows.SEQUENCE if quick else Grows.UNCLEAR, across)
    states, sequence = state[index], np.repeat(np.arange(len(count)), count)
    cool = states == np.minimum.reduceat(states, opens)[sequence]
    durations = durations[index]
    if 2 * int(growth(durations[cool], sequence[cool], min_calls).grows.sum()) >= len(count):
        return GrowthReading(measured, Grows.SEQUENCE, across)
    enough = np.flatnonzero(np.bincount(states) >= MIN_IN_STATE)
    medians = [median(durations[states == each]) or 0 for each in enough]
    if len(medians) < 2 or not medians[0]:
        return GrowthReading(measured, Grows.UNCLEAR, across)
    is_hot = medians[-1] >= HEAT_RATIO * medians[0]
    return GrowthReading(measured, Grows.HEAT if is_hot else Grows.SEQUENCE, across)


def in_growth(reading: GrowthReading, count: int) -> tuple[BoolArray, BoolArray]:
    """Shape (count,): the call is of a sequence that grows with its work; and of the first tenth of one that starts no
    higher than others."""
    inside, opens = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    if reading.cause is Grows.SEQUENCE:
        found = reading.growth
        lowest = found.start_ns[found.grows].min()
        for number in np.flatnonzero(found.grows).tolist():
            first, length = int(found.first[number]), int(found.count[number])
            inside[first : first + length] = True
            opens[first : first + max(length // 10, 1)] = found.start_ns[number] < AFRESH * lowest
    return inside, opens


def longer_by_state(own_ns: IntArray, usual_ns: int, state: IntArray, base: int) -> IntArray:
    """How much longer than usual calls take in each state, after the median in it, against the `base` one: shape
    (states + 1,). It is 0 there and, as the last value, where the state is unknown."""
    longer = np.zeros(int(state.max(initial=UNKNOWN)) + 2, np.int64)
    if base == UNKNOWN or not usual_ns:
        return longer
    of_base = median(own_ns[(state == base) & (own_ns > 0)]) or usual_ns
    for other in distinct_numbers(state[state != UNKNOWN]).tolist():
        ratio = (median(own_ns[(state == other) & (own_ns > 0)]) or of_base) / of_base
        if other != base and not 1 / SLOWER < ratio < SLOWER:
            longer[other] = round((ratio - 1) * usual_ns)
    return longer


SLOWER = 1.05
"""From this ratio of time in two states on, the state counts."""
