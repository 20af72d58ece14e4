"""What the recording shows of the predictions of a model, and what a usual one of them takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.device_states import UNKNOWN
from tracekit.analysis.latency import modes
from tracekit.analysis.latency_growth import medians_of_three
from tracekit.analysis.ledger import patterns
from tracekit.analysis.ledger.facts import Facts
from tracekit.analysis.ledger.layers import PREPARING, UNITS, Compared, Layer, on_units
from tracekit.analysis.quantities import median
from tracekit.analysis.statistics import CallTimes
from tracekit.analysis.throughput import burst_numbers
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import stable_order

LEAST = 3
"""Fewest predictions from which a usual one is worked out."""
NEAR = 0.1
"""Share of the predictions, around the median, that show what a usual one consists of."""
ENOUGH = 10
"""Predictions in a thermal state from which on it can be the coolest one, or a quarter of all where these are fewer."""
FAST_SHARE = 0.25
"""Part of the predictions that the shortest ones must be for a usual one to be of them (heuristic)."""
COMPARED = 5
"""Fewer predictions that met others, or none, are too few to rule out chance."""
CALM = 0.05
"""The same, up to which it counts as undisturbed (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """A usual prediction of those that compare with each other."""

    ns: int
    """Its duration: the median of warm ones after no pause, in the coolest state and at the first level that enough of
    them show, at the beginning of sequences in which they take longer and longer; waits for units, specializing and
    compiling pipelines left out."""
    layers_ns: IntArray
    """Shape (layers,): what those closest to that consist of; adds up to `ns`."""
    compared: int
    """From how many it is worked out: where that is enough, those whose rows are theirs alone."""
    is_cold: bool
    """Whether none is warm."""
    ran_ns: int
    """What samples show of its thread."""
    thermal: int
    """The thermal state that it is in, as place in `THERMAL_STATES`; `UNKNOWN` where none is known."""
    level_ns: int | None
    """Start of the prediction from which on they take longer for good; None where there is none."""
    growth: patterns.GrowthReading
    """Whether warm ones take longer and longer in their sequence."""
    grows: BoolArray
    """Shape (predictions that compare with it,): of a sequence in which they do, for another reason than heat."""

    @property
    def main_unit(self) -> Layer:
        """The unit that works most for it."""
        return Layer(int(np.argmax(self.layers_ns[UNITS])))


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What the recording shows of predictions."""

    calls: Compared
    spent: IntArray
    """Shape (predictions, layers), as `time_spent` gives it, column by column in memory."""
    waits: IntArray
    """Shape (predictions, 3)."""
    ambiguous: IntArray
    facts: Facts

    def take(self, at: IntArray) -> Seen:
        """Of some predictions, by position."""
        spent, waits = self.spent.T[:, at].T, self.waits.T[:, at].T
        return Seen(self.calls.take(at), spent, waits, self.ambiguous[at], self.facts.take(at))

    @property
    def own_ns(self) -> IntArray:
        """Durations without waits for units, and without what prepares the model."""
        own = self.calls.duration_ns.copy()
        for column in (*self.waits.T, *self.spent.T[PREPARING]):
            own -= column
        return own


def usual_of(seen: Seen, warm: BoolArray, paused: BoolArray) -> Usual | None:
    """The usual one of predictions that compare; None where too few took time."""
    own, facts, durations = seen.own_ns, seen.facts, seen.calls.duration_ns
    is_cold = not warm.any()
    base = durations > 0 if is_cold else warm
    counts = np.bincount(facts.thermal[base & (facts.thermal != UNKNOWN)])
    enough = np.flatnonzero(counts >= max(min(ENOUGH, int(base.sum()) / 4), 1))
    state = int(enough[0]) if len(enough) else UNKNOWN
    cool = base & (facts.thermal == state)
    steady = cool & ~paused if int((cool & ~paused).sum()) >= LEAST else cool
    calm = steady & (facts.cpu_met <= CALM) & (facts.gpu_met <= CALM)
    steady = calm if int(calm.sum()) >= COMPARED else steady
    in_turn = np.flatnonzero(base & (facts.beside_ns == 0))
    calls = CallTimes(seen.calls.start_ns[in_turn], durations[in_turn])
    times = Intervals(calls.start_ns, calls.start_ns + own[in_turn])
    growth = patterns.read_growth(times, burst_numbers(calls), facts.thermal[in_turn])
    grows, opens = np.zeros((2, len(own)), np.bool_)
    grows[in_turn], opens[in_turn] = patterns.in_growth(growth, len(in_turn))
    until = len(own) if grows.any() else patterns.first_level(own, steady & (facts.beside_ns == 0))
    if until < len(own):
        # Calls that go back and forth between amounts of work, single ones left out, take longer for those.
        amount = patterns.amounts_of_work(on_units(seen.spent)[steady])
        until = len(own) if int(np.count_nonzero(np.diff(medians_of_three(amount)))) > 2 else until
    level_ns = int(seen.calls.start_ns[until]) if until < len(own) else None
    chosen = steady & (np.arange(len(own)) < until)
    if (chosen & opens).sum() >= LEAST:
        chosen &= opens
    clear = chosen & (seen.ambiguous == 0)
    compared = np.flatnonzero(clear if clear.sum() >= LEAST else chosen)
    if len(compared) < LEAST:
        return None
    # Of calls that fall apart, as those of two shapes do, the short ones, unless they are exceptions.
    mode, _ = modes(own[compared], min_share=FAST_SHARE)
    if mode.any():
        compared = compared[mode == 0]
    ns = int(median(own[compared]) or 0)
    distance, count = np.abs(own[compared] - ns), max(LEAST, round(NEAR * len(compared)))
    close = np.flatnonzero(distance <= np.partition(distance, count - 1)[count - 1])
    near = compared[close[stable_order(distance[close])[:count]]]
    mean = seen.spent[near].mean(axis=0)
    mean[PREPARING] = 0
    layers = np.floor(mean * (ns / max(mean.sum(), 1.0))).astype(np.int64)
    layers[Layer.REST] += ns - layers.sum()
    return Usual(ns, layers, len(compared), is_cold, int(np.median(facts.ran_ns[near])), state, level_ns, growth, grows)
