"""What predictions took beyond a usual one, by cause: strong evidence first, and each ns once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracekit.analysis.device_states import UNKNOWN
from tracekit.analysis.ledger import patterns
from tracekit.analysis.ledger.causes import QUEUED, Cause
from tracekit.analysis.ledger.layers import UNITS, Layer, on_units
from tracekit.analysis.ledger.usual import CALM, COMPARED, Seen, Usual
from tracekit.analysis.quantities import median, median_of
from tracekit.arrays import BoolArray, FloatArray, Int8Array, IntArray
from tracekit.trace.samples import SAMPLE_NS

OTHER_WAY = 4
"""On another unit, preparation and the way back take no more than one part in so many of its work (heuristic)."""
SHARED = 0.2
"""Part of a prediction's time on a unit in which others have it, from which on it counts as disturbed (heuristic)."""
OTHER_WORK = 1.25
"""What a prediction takes beside the work of units counts up to a quarter of that; the rest may be waiting and
preparing (heuristic)."""
EVEN = 1.25
"""Times that differ by less are alike."""


def attributed(
    seen: Seen, usual: Usual, amount: Int8Array, paused: BoolArray, keeps_pace: Callable[[], bool]
) -> tuple[dict[Cause, IntArray], IntArray]:
    """What predictions took beyond the usual one, by cause, and what of `QUEUED_OWN` may be work."""
    facts, spent = seen.facts, seen.spent
    worked = worked_ns(spent, seen.ambiguous, usual)
    spent[:, usual.main_unit] += worked
    unclear = seen.ambiguous - worked
    more = spent - usual.layers_ns
    pools = _Pools(on_units(more), more[:, Layer.REST])
    for cause, waits in zip(QUEUED, seen.waits.T, strict=True):
        pools.give(cause, waits)
    pools.give(Cause.QUEUED_OWN, unclear)
    pools.give(Cause.COPIES, more[:, Layer.DATA])
    pools.give(Cause.SPECIALIZING, more[:, Layer.SPECIALIZING])
    pools.give(Cause.PIPELINES, more[:, Layer.PIPELINES])
    _take_rows(pools, seen, usual, more)
    ran = np.zeros_like(pools.rest)
    if facts.sampled.any():
        ran = np.where(facts.sampled, np.clip(facts.ran_ns - usual.ran_ns, 0, np.maximum(pools.rest, 0)), 0)
        pools.work += ran
        pools.rest -= ran
    _take_states(pools, seen, usual)
    overhead = ran
    if not (usual.layers_ns[Layer.CPU] and facts.sampled.any()):
        # Where nothing names what computes, all may compute. Of that, `ran` lies beside all rows.
        named = usual.main_unit is not Layer.CPU or (facts.ran_ns > facts.overhead_ns).any()
        overhead = facts.overhead_ns if named else np.zeros_like(ran)
        overhead = np.where(facts.sampled, np.minimum(overhead, ran), overhead)
    _take_patterns(pools, seen, usual, amount, paused, overhead, keeps_pace)
    pools.take(Cause.BLOCKED, rest=facts.hung_ns)
    pools.take(Cause.SHARED_CPU, rest=np.where(facts.sampled, facts.preempted_ns, 0))
    pools.take(Cause.BLOCKED, rest=np.where(facts.sampled & (pools.rest >= 2 * SAMPLE_NS), pools.rest, 0))
    pools.give(Cause.WORK, pools.work)
    pools.give(Cause.NOT_VISIBLE, pools.rest)
    return pools.ns, unclear


def _take_rows(pools: _Pools, seen: Seen, usual: Usual, more: IntArray) -> None:
    """What rows show: another unit, and others on its unit."""
    facts, spent = seen.facts, seen.spent
    # Another unit did most of the work, and the usual one less than half of what it does.
    main = usual.main_unit
    elsewhere = 2 * spent[:, main] < usual.layers_ns[main]
    elsewhere[elsewhere] = spent[elsewhere][:, UNITS].argmax(axis=1) != UNITS.index(main)
    if elsewhere.any():
        pools.take(Cause.UNIT, work=np.where(elsewhere, pools.work, 0))
        # The way to another unit, and back, is part of running there.
        way = on_units(spent) // OTHER_WAY
        pools.take(Cause.UNIT, rest=np.where(elsewhere, np.clip(pools.rest, -way, way), 0))
    if facts.gpu_met.any():
        gpu = np.maximum(np.minimum(pools.work, more[:, Layer.GPU]), 0)
        models, processes = _slowed(facts.gpu_shared_ns, facts.gpu_met, gpu, usual.ns).T
        pools.take(Cause.QUEUED_PROCESSES, work=processes)
        pools.take(Cause.QUEUED_MODELS, work=models)
    if not facts.cpu_met.any():
        return
    # A prediction that no other unit worked for may also wait for the CPU.
    alone = spent[:, [Layer.NEURAL_ENGINE, Layer.GPU]].sum(axis=1) == 0
    beyond = np.where(alone, pools.work + pools.rest, np.minimum(pools.work, more[:, Layer.CPU]))
    time = _slowed(facts.cpu_shared_ns, facts.cpu_met, np.maximum(beyond, 0), usual.ns).sum(axis=1)
    pools.take(Cause.SHARED_CPU, work=time)
    pools.take(Cause.SHARED_CPU, rest=np.where(alone, time - pools.ns[Cause.SHARED_CPU], 0))


def _slowed(shared: IntArray, met: FloatArray, beyond: IntArray, usual_ns: int) -> IntArray:
    """Shape (predictions, 2): time beyond the usual in which others had the unit as well, where predictions that met
    them at their beginning take longer than those that did not, by more than chance: a unit may hold several."""
    disturbed, calm = met >= SHARED, met <= CALM
    if not (disturbed.any() and calm.any()):
        return np.zeros_like(shared)
    slower = median_of(beyond[disturbed]) - median_of(beyond[calm])
    few = min(int(disturbed.sum()), int(calm.sum())) < COMPARED
    if slower <= (patterns.SLOWER - 1) * usual_ns or not (few or patterns.surely_longer(beyond, disturbed, calm)):
        return np.zeros_like(shared)
    longer: IntArray = np.where(disturbed[:, None], np.minimum(shared, beyond[:, None]), 0)
    return longer


def _take_states(pools: _Pools, seen: Seen, usual: Usual) -> None:
    """What states of the device explain: by as much as the same work takes longer in each of them."""
    facts = seen.facts
    if usual.level_ns is not None:
        # It begins in the state of the usual ones, before any heat.
        late = seen.calls.start_ns >= usual.level_ns
        same = (pools.work + pools.rest)[late & (facts.thermal == usual.thermal)]
        _take_both(pools, Cause.LEVEL, np.where(late, max(int(median(same) or 0), 0), 0))
    if facts.thermal.max(initial=UNKNOWN) > 0:
        left = usual.ns + pools.work + pools.rest
        longer = patterns.longer_by_state(left, usual.ns, facts.thermal, usual.thermal)[facts.thermal]
        _take_both(pools, Cause.HEAT, longer)
        # Work that it waited for takes longer as well.
        share = 1 - usual.ns / np.maximum(usual.ns + np.maximum(longer, 0), 1)
        for cause in QUEUED:
            due = np.rint(share * pools.ns[cause]).astype(np.int64)
            pools.give(cause, -due)
            pools.give(Cause.HEAT, due)
    if facts.gpu_state.max(initial=UNKNOWN) > 0 and usual.layers_ns[Layer.GPU]:
        work, known = seen.spent[:, Layer.GPU], facts.gpu_state[facts.gpu_state != UNKNOWN]
        base = int(np.bincount(known).argmax())
        longer = patterns.longer_by_state(work, int(usual.layers_ns[Layer.GPU]), facts.gpu_state, base)
        pools.take(Cause.CLOCK, work=longer[facts.gpu_state])


def _same_input(pools: _Pools, usual: Usual, first: BoolArray, paused: BoolArray) -> bool:
    """Whether more work of first calls cannot come from larger inputs: several take as long, as warming up does, or
    calls after a pause have no more work than usual, as they would with a prompt."""
    larger = pools.work > (patterns.LARGER_WORK - 1) * usual.layers_ns[UNITS].sum()
    if not larger[first].any():
        return True
    work = (pools.work + pools.rest)[first]
    alike = len(work) > 1 and int(work.max() + usual.ns) <= EVEN * int(work.min() + usual.ns)
    return (alike or bool(paused.any())) and not larger[paused].any()


def _take_both(pools: _Pools, cause: Cause, ns: IntArray) -> None:
    """Up to so much of the work, then of the rest."""
    before = pools.ns.get(cause, np.int64(0))
    pools.take(cause, work=ns)
    pools.take(cause, rest=ns - (pools.ns[cause] - before))


def _take_patterns(
    pools: _Pools,
    seen: Seen,
    usual: Usual,
    amount: Int8Array,
    paused: BoolArray,
    overhead_ns: IntArray,
    keeps_pace: Callable[[], bool],
) -> None:
    """What the place of calls explains: after a load, after a pause, in a sequence. How long units work for a call is
    that of its input, unless inputs are alike."""
    facts, left = seen.facts, usual.ns + pools.work + pools.rest

    def has_alike_inputs() -> bool:
        # A camera's are, unless there are several amounts of work.
        return not amount.any() and keeps_pace()

    first: BoolArray = facts.first & (not usual.is_cold)
    paused = paused & ~first
    if first.any():
        alike = _same_input(pools, usual, first, paused) or has_alike_inputs()
        work = pools.work if alike else np.minimum(overhead_ns, np.maximum(pools.work, 0))
        rest = pools.rest if alike else pools.rest - _beside_work(pools, usual)
        pools.take(Cause.FIRST, work=np.where(first, work, 0), rest=np.where(first, rest, 0))
    if patterns.usually_longer(left, paused, usual.ns):
        paced = pools.work[paused].max() > 0 and has_alike_inputs()
        rest = pools.rest if paced else pools.rest - _beside_work(pools, usual)
        pools.take(Cause.PAUSE, work=np.where(paused & paced, pools.work, 0), rest=np.where(paused, rest, 0))
    grows = usual.grows
    if grows.any():
        pools.take(Cause.GROWTH, work=np.where(grows, pools.work, 0), rest=np.where(grows, pools.rest, 0))
    of_shape = patterns.first_of_each_amount(amount.astype(np.int64), first)
    pools.take(Cause.SHAPE, rest=np.where(of_shape, pools.rest - _beside_work(pools, usual), 0))
    if facts.beside_ns.any():
        # Without rows of its unit, a queue shows only in how long calls in flight together take.
        blind = (on_units(seen.spent) == 0) & (facts.beside_ns > 0)
        if patterns.usually_longer(left, blind, usual.ns):
            pools.take(Cause.QUEUED_OWN, rest=np.where(blind, facts.beside_ns, 0))
    pools.take(Cause.WORK, rest=_beside_work(pools, usual))


def _beside_work(pools: _Pools, usual: Usual) -> IntArray:
    """Of the rest, what a larger input takes beside the work of units: in proportion as usual, up to a quarter."""
    rate = min(usual.ns / max(int(usual.layers_ns[UNITS].sum()), 1), OTHER_WORK) - 1
    return _bounded(np.rint(rate * np.maximum(pools.work, 0)).astype(np.int64), np.maximum(pools.rest, 0))


class _Pools:
    """Time beyond the usual that no cause has yet: work of compute units, and the rest, shape (predictions,) each."""

    def __init__(self, work: IntArray, rest: IntArray) -> None:
        self.work, self.rest = work.copy(), rest.copy()
        self.ns: dict[Cause, IntArray] = {}

    def give(self, cause: Cause, ns: IntArray) -> None:
        """Time that is known to be of a cause."""
        self.ns[cause] = self.ns[cause] + ns if cause in self.ns else ns

    def take(self, cause: Cause, *, work: IntArray | None = None, rest: IntArray | None = None) -> None:
        """Give a cause up to so much of what is left of either."""
        given = np.zeros_like(self.work)
        for left, ns in ((self.work, work), (self.rest, rest)):
            if ns is not None:
                # Most causes are those of a few predictions.
                at = np.flatnonzero(ns)
                taken = _bounded(ns[at], left[at])
                left[at] -= taken
                given[at] += taken
        self.give(cause, given)


def _bounded(ns: IntArray, left: IntArray) -> IntArray:
    """Times, no more than is left of them, whichever sign that has."""
    return np.clip(ns, np.minimum(left, 0), np.maximum(left, 0))


def worked_ns(spent: IntArray, ambiguous: IntArray, usual: Usual) -> IntArray:
    """Time of rows of several predictions that is work of each: as far as it has less than usual."""
    worked: IntArray = np.clip(usual.layers_ns[UNITS].sum() - on_units(spent), 0, ambiguous)
    return worked
