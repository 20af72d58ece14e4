"""The account of each model: what its usual predictions consist of, and what each one took beyond that, by cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.device_states import UNKNOWN
from tracekit.analysis.idle import core_ml_calls
from tracekit.analysis.instances import processes_of
from tracekit.analysis.latency import modes
from tracekit.analysis.ledger import patterns
from tracekit.analysis.ledger.causes import QUEUED, Cause
from tracekit.analysis.ledger.comparable import comparable_kinds
from tracekit.analysis.ledger.facts import Facts, facts_of, sampled_ns
from tracekit.analysis.ledger.layers import PREPARING, UNITS, Compared, Layer, time_spent
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.quantities import median, median_of
from tracekit.analysis.statistics import top_calls
from tracekit.analysis.throughput import burst_numbers, bursts, steady_rate
from tracekit.arrays import BoolArray, FloatArray, Int8Array, IntArray
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers, stable_order
from tracekit.trace.events import LOAD_KINDS, Calls
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace

LEAST = 3
"""Fewest predictions from which a usual one is worked out."""
NEAR = 0.1
"""Share of the predictions, around the median, that show what a usual one consists of."""
OTHER_WAY = 4
"""On another unit, preparation and the way back take no more than one part in so many of its work (heuristic)."""
ENOUGH = 10
"""Predictions in a thermal state from which on it can be the coolest one, or a quarter of all where these are fewer."""
FAST_SHARE = 0.25
"""Part of the predictions that the shortest ones must be for a usual one to be of them (heuristic)."""
SHARED = 0.2
"""Part of a prediction's time on a unit in which others have it, from which on it counts as disturbed (heuristic)."""
COMPARED = 5
"""Fewer predictions that met others, or none, are too few to rule out chance."""
OTHER_WORK = 1.25
"""What a prediction takes beside the work of units counts up to a quarter of that; the rest may be waiting and
preparing (heuristic)."""
EVEN = 1.25
"""Times that differ by less are alike."""
IDLE_SHARE = 0.25
"""Part of the time for which a model that keeps a pace waits for its next input (heuristic)."""
CALM = 0.05
"""The same, up to which it counts as undisturbed (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """A usual prediction of those that compare with each other."""

    ns: int
    """Its duration: the median of warm ones after no pause, in the coolest state and at the first level that enough of
    them show; waits for units, specializing and compiling pipelines left out."""
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
    grows: BoolArray
    """Shape (predictions that compare with it,): of a sequence in which predictions take longer and longer."""

    @property
    def main_unit(self) -> Layer:
        """The unit that works most for it."""
        return Layer(int(np.argmax(self.layers_ns[UNITS])))


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """The predictions of one model: shape (predictions,) each, in order of time."""

    calls: Compared
    kind: IntArray
    """Place in `usual` of the one that each compares with; the first has most predictions."""
    usual: tuple[Usual, ...]
    warm: BoolArray
    """Not the first after a load, and took time; where all are the first, those that took time."""
    amount: Int8Array
    """Number of the amount of work of each, among those that it compares with."""
    pipelines: IntArray
    """GPU functions that were compiled during each."""
    cpu_met: FloatArray
    """Share of its beginning in which others used the CPU."""
    ns: Mapping[Cause, IntArray]
    """What each took beyond the usual by cause; causes without any are missing. Adds up to the duration less that of
    the usual one; may be negative."""
    unclear_ns: IntArray
    """Of `QUEUED_OWN`, time that may be work of the prediction itself instead."""

    @property
    def durations(self) -> IntArray:
        """In ns."""
        return self.calls.duration_ns

    @property
    def usual_ns(self) -> IntArray:
        """What the usual prediction of each takes."""
        return np.array([usual.ns for usual in self.usual])[self.kind]

    @property
    def resolution_ns(self) -> int:
        """How exactly times of its calls are known."""
        return int(self.calls.resolution_ns.max())

    def of(self, *causes: Cause) -> IntArray:
        """Shape (predictions,): what each took beyond the usual by these causes."""
        total = np.zeros(len(self.calls), np.int64)
        for cause in causes:
            total += self.ns.get(cause, 0)
        return total

    def sums(self, at: IntArray | BoolArray) -> dict[Cause, int]:
        """Time of some predictions by cause, the largest first; those without any are missing."""
        sums = {cause: int(ns[at].sum()) for cause, ns in self.ns.items()}
        return dict(sorted(((cause, ns) for cause, ns in sums.items() if ns), key=lambda part: -part[1]))


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What the recording shows of predictions."""

    calls: Compared
    spent: IntArray
    """Shape (predictions, layers), as `time_spent` gives it, column by column in memory."""
    waits: IntArray
    """Shape (predictions, 3)."""
    ambiguous: IntArray
    facts: Facts

    def take(self, at: IntArray) -> _Seen:
        """Of some predictions, by position."""
        spent, waits = self.spent.T[:, at].T, self.waits.T[:, at].T
        return _Seen(self.calls.take(at), spent, waits, self.ambiguous[at], self.facts.take(at))

    @property
    def own_ns(self) -> IntArray:
        """Durations without waits for units, and without what prepares the model."""
        own: IntArray = self.calls.duration_ns - self.waits.sum(axis=1) - self.spent[:, PREPARING].sum(axis=1)
        return own


@cached_by_trace
def ledger(trace: Trace) -> dict[str, Account]:
    """By base name of the models that the app called at least `LEAST` times. O(n log n) in the rows of the trace."""
    ordered = in_order(trace)
    times = breakdown(ordered)
    models = times.every.model
    calls = Compared.of(trace.activity, times.every.id)
    spent, waits, ambiguous = time_spent(ordered, times, calls)
    has_unit = (spent[:, Layer.ANE] > 0) | (spent[:, Layer.GPU] > 0)
    seen = _Seen(calls, spent, waits, ambiguous, facts_of(ordered, calls, models, has_unit))
    loads, process = top_calls(ordered, *LOAD_KINDS), processes_of(calls.id, ordered.hardware)
    found = {}
    for code in distinct_numbers(models.codes[models.known]).tolist():
        rows = np.flatnonzero(models.codes == code)
        of_model, name = seen.take(rows), models.values[code]
        of_name = loads.where(loads.model.is_any(name))
        warm = ~of_model.facts.first & (of_model.calls.duration_ns > 0)
        uses = uses_of_loads(of_name, ordered.activity.take(of_model.calls.id), process[rows])
        kind = comparable_kinds(uses, of_model.own_ns, warm)
        account = _of_model(of_model, kind, warm, partial(keeps_frame_rate, ordered, code, of_model.calls))
        if account is not None:
            found[name] = account
    return found


def keeps_frame_rate(trace: Trace, code: int, calls: Compared | Calls) -> bool:
    """Whether calls of a model keep a frame rate, as a camera's do, whose inputs are alike. O(n log n)."""
    return steady_rate(calls, bursts(calls), core_ml_calls(trace), code, slack=IDLE_SHARE) is not None


def _of_model(seen: _Seen, kind: IntArray, warm: BoolArray, keeps_pace: Callable[[], bool]) -> Account | None:
    """The account of one model; None where too few of its predictions took time."""
    calls, count = seen.calls, len(seen.calls)
    paused = patterns.after_pause(calls)
    usual: list[Usual] = []
    place = np.zeros(count, np.int64)
    columns: dict[Cause, IntArray] = {}
    unclear, amount = np.zeros(count, np.int64), np.zeros(count, np.int8)
    for number in range(int(kind.max(initial=0)) + 1):
        at = np.flatnonzero(kind == number)
        found = _usual(seen.take(at) if len(at) < count else seen, warm[at], paused[at])
        if found is None:
            # So few compare with the most frequent ones, below.
            place[at] = -1
            continue
        place[at] = len(usual)
        usual.append(found)
    if not usual:
        return None
    if (place < 0).any():
        place = np.maximum(place, 0)
        joined = np.flatnonzero(place == 0)
        usual[0] = _usual(seen.take(joined), warm[joined], paused[joined]) or usual[0]
    for number, found in enumerate(usual):
        at = np.flatnonzero(place == number)
        of_kind = seen.take(at) if len(at) < count else seen
        amount[at] = patterns.amounts_of_work(of_kind.spent[:, UNITS].sum(axis=1))
        parts, unclear[at] = _parts(of_kind, found, amount[at], paused[at], keeps_pace)
        for cause, ns in parts.items():
            _fill(columns, cause, at, ns, count)
    shown_warm = warm if warm.any() else calls.duration_ns > 0
    facts = seen.facts
    return Account(calls, place, tuple(usual), shown_warm, amount, facts.pipelines, facts.cpu_met, columns, unclear)


def _fill(columns: dict[Cause, IntArray], cause: Cause, at: IntArray, ns: IntArray, count: int) -> None:
    """Add the times of some predictions to a column, which is made with the first that are not 0."""
    if len(at) == count:
        if ns.any():
            # A view would keep all that it is of.
            columns[cause] = ns if ns.base is None else ns.copy()
    elif ns.any():
        columns.setdefault(cause, np.zeros(count, np.int64))[at] = ns


def _usual(seen: _Seen, warm: BoolArray, paused: BoolArray) -> Usual | None:
    """The usual one of predictions that compare; None where too few took time."""
    own, facts, durations = seen.own_ns, seen.facts, seen.calls.duration_ns
    is_cold = not warm.any()
    base = durations > 0 if is_cold else warm
    state = _coolest(facts.thermal[base])
    cool = base & (facts.thermal == state)
    steady = cool & ~paused if int((cool & ~paused).sum()) >= LEAST else cool
    calm = steady & (facts.cpu_met <= CALM) & (facts.gpu_met <= CALM)
    steady = calm if int(calm.sum()) >= COMPARED else steady
    grows = _growth(seen, base)
    # Calls that go back and forth between amounts of work take longer for those.
    amount = patterns.amounts_of_work(seen.spent[steady][:, UNITS].sum(axis=1))
    turns = patterns.goes_back_and_forth(amount)
    until = len(own) if grows.any() or turns else patterns.first_level(own, steady & (facts.beside_ns == 0))
    level_ns = int(seen.calls.start_ns[until]) if until < len(own) else None
    chosen = steady & (np.arange(len(own)) < until)
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
    return Usual(ns, layers, len(compared), is_cold, int(np.median(facts.ran_ns[near])), state, level_ns, grows)


def _growth(seen: _Seen, judged: BoolArray) -> BoolArray:
    """Predictions of sequences in which the judged ones take longer and longer, for another reason than heat."""
    at = np.flatnonzero(judged)
    calls = seen.calls.take(at)
    own = Intervals(calls.start_ns, calls.start_ns + seen.own_ns[at])
    grows = np.zeros(len(judged), np.bool_)
    grows[at] = patterns.in_growth(patterns.read_growth(own, burst_numbers(calls), seen.facts.thermal[at]), len(at))
    return grows


def _coolest(states: IntArray) -> int:
    """The coolest known state that enough predictions are in; `UNKNOWN` where most are in none that is known."""
    counts = np.bincount(states[states != UNKNOWN])
    enough = np.flatnonzero(counts >= max(min(ENOUGH, len(states) / 4), 1))
    return int(enough[0]) if len(enough) else UNKNOWN


class _Pools:
    """Time beyond the usual that no cause has yet: work of compute units, and the rest, shape (predictions,) each."""

    def __init__(self, work: IntArray, rest: IntArray) -> None:
        self.work, self.rest = work.copy(), rest.copy()
        self.ns: dict[Cause, IntArray] = {}

    def give(self, cause: Cause, ns: IntArray) -> None:
        """Time that is known to be of a cause."""
        self.ns[cause] = self.ns[cause] + ns if cause in self.ns else ns

    def take(self, cause: Cause, *, work: IntArray | int = 0, rest: IntArray | int = 0) -> None:
        """Give a cause up to so much of what is left of either."""
        of_work, of_rest = _bounded(work, self.work), _bounded(rest, self.rest)
        self.work -= of_work
        self.rest -= of_rest
        self.give(cause, of_work + of_rest)


def _bounded(ns: IntArray | int, left: IntArray) -> IntArray:
    """Times, no more than is left of them, whichever sign that has."""
    return np.clip(ns, np.minimum(left, 0), np.maximum(left, 0))


def _worked(spent: IntArray, ambiguous: IntArray, usual: Usual) -> IntArray:
    """Time of rows of several predictions that is work of each: as far as it has less than usual."""
    worked: IntArray = np.clip(usual.layers_ns[UNITS].sum() - spent[:, UNITS].sum(axis=1), 0, ambiguous)
    return worked


def spent_by_layer(trace: Trace, predictions: IntArray) -> tuple[IntArray, IntArray]:
    """Shape (predictions, layers): what each, by ascending id, spent, waits apart; and time in which a row may be its
    own or another's. O(log n) and what they have."""
    ordered = in_order(trace)
    calls = Compared.of(trace.activity, predictions)
    spent, _, ambiguous = time_spent(ordered, breakdown(ordered).of(predictions), calls)
    return spent, ambiguous


def more_by_layer(trace: Trace, found: Account, at: int) -> IntArray:
    """Shape (layers,): what a prediction, by position, spent beyond the usual one; waits apart."""
    usual = found.usual[found.kind[at]]
    spent, ambiguous = spent_by_layer(trace, found.calls.id[at : at + 1])
    spent[:, usual.main_unit] += _worked(spent, ambiguous, usual)
    more: IntArray = spent[0] - usual.layers_ns
    return more


def unseen_ns(trace: Trace, predictions: IntArray) -> IntArray:
    """Shape (predictions,): time of each, by ascending id, that neither rows nor samples of its thread show."""
    spent, _ = spent_by_layer(trace, predictions)
    sites = call_sites(in_order(trace))
    calls = Compared.of(trace.activity, predictions)
    ran = 0 if sites is None else np.maximum(sampled_ns(sites, calls) - spent[:, Layer.CPU], 0)
    unseen: IntArray = np.maximum(spent[:, Layer.REST] - ran, 0)
    return unseen


def _parts(
    seen: _Seen, usual: Usual, amount: Int8Array, paused: BoolArray, keeps_pace: Callable[[], bool]
) -> tuple[dict[Cause, IntArray], IntArray]:
    """What predictions took beyond the usual one, by cause, and what of `QUEUED_OWN` may be work."""
    facts, spent = seen.facts, seen.spent
    worked = _worked(spent, seen.ambiguous, usual)
    spent[:, usual.main_unit] += worked
    unclear = seen.ambiguous - worked
    more = spent - usual.layers_ns
    pools = _Pools(more[:, UNITS].sum(axis=1), more[:, Layer.REST])
    for cause, waits in zip(QUEUED, seen.waits.T, strict=True):
        pools.give(cause, waits)
    pools.give(Cause.QUEUED_OWN, unclear)
    pools.give(Cause.COPIES, more[:, Layer.DATA])
    pools.give(Cause.SPECIALIZING, more[:, Layer.SPECIALIZING])
    pools.give(Cause.PIPELINES, more[:, Layer.PIPELINES])
    _take_rows(pools, seen, usual, more)
    if facts.sampled.any():
        ran = np.where(facts.sampled, np.clip(facts.ran_ns - usual.ran_ns, 0, np.maximum(pools.rest, 0)), 0)
        pools.work += ran
        pools.rest -= ran
    _take_states(pools, seen, usual)
    _take_patterns(pools, seen, usual, amount, paused, keeps_pace)
    pools.take(Cause.BLOCKED, rest=facts.hung_ns)
    pools.take(Cause.SHARED_CPU, rest=np.where(facts.sampled, facts.preempted_ns, 0))
    pools.take(Cause.BLOCKED, rest=np.where(facts.sampled & (pools.rest >= 2 * SAMPLE_NS), pools.rest, 0))
    pools.give(Cause.WORK, pools.work)
    pools.give(Cause.NOT_VISIBLE, pools.rest)
    return pools.ns, unclear


def _take_rows(pools: _Pools, seen: _Seen, usual: Usual, more: IntArray) -> None:
    """What rows show: another unit, and others on its unit."""
    facts, spent = seen.facts, seen.spent
    elsewhere = _elsewhere(spent[:, UNITS], usual.layers_ns[UNITS])
    pools.take(Cause.UNIT, work=np.where(elsewhere, pools.work, 0))
    # The way to another unit, and back, is part of running there.
    way = spent[:, UNITS].sum(axis=1) // OTHER_WAY
    pools.take(Cause.UNIT, rest=np.where(elsewhere, np.clip(pools.rest, -way, way), 0))
    gpu = np.maximum(np.minimum(pools.work, more[:, Layer.GPU]), 0)
    models, processes = _slowed(facts.gpu_shared_ns, facts.gpu_met, gpu, usual.ns).T
    pools.take(Cause.QUEUED_PROCESSES, work=processes)
    pools.take(Cause.QUEUED_MODELS, work=models)
    # A prediction that no other unit worked for may also wait for the CPU.
    alone = spent[:, [Layer.ANE, Layer.GPU]].sum(axis=1) == 0
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


def _elsewhere(worked: IntArray, usual: IntArray) -> BoolArray:
    """Whether another unit did most of the work of each prediction than usual, and the usual one less than half."""
    main = int(np.argmax(usual))
    most = worked.argmax(axis=1)
    elsewhere: BoolArray = (most != main) & (2 * worked[:, main] < usual[main]) & (usual[main] > 0)
    return elsewhere


def _take_states(pools: _Pools, seen: _Seen, usual: Usual) -> None:
    """What states of the device explain: by as much as the same work takes longer in each of them."""
    facts = seen.facts
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
    if usual.level_ns is not None:
        late = seen.calls.start_ns >= usual.level_ns
        _take_both(pools, Cause.LEVEL, np.where(late, max(int(median((pools.work + pools.rest)[late]) or 0), 0), 0))


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
    pools: _Pools, seen: _Seen, usual: Usual, amount: Int8Array, paused: BoolArray, keeps_pace: Callable[[], bool]
) -> None:
    """What the place of calls explains: after a load, after a pause, in a sequence. How long units work for a call is
    that of its input, unless inputs are alike."""
    facts, left = seen.facts, usual.ns + pools.work + pools.rest
    first: BoolArray = facts.first & (not usual.is_cold)
    paused = paused & ~first
    if first.any():
        alike = _same_input(pools, usual, first, paused) or keeps_pace()
        work = pools.work if alike else np.minimum(facts.overhead_ns, np.maximum(pools.work, 0))
        rest = pools.rest if alike else pools.rest - _beside_work(pools, usual)
        pools.take(Cause.FIRST, work=np.where(first, work, 0), rest=np.where(first, rest, 0))
    if patterns.usually_longer(left, paused, usual.ns):
        paced = pools.work[paused].max() > 0 and keeps_pace()
        pools.take(Cause.PAUSE, work=np.where(paused & paced, pools.work, 0), rest=np.where(paused, pools.rest, 0))
    grows = usual.grows
    pools.take(Cause.GROWTH, work=np.where(grows, pools.work, 0), rest=np.where(grows, pools.rest, 0))
    of_shape = patterns.first_of_each_amount(amount.astype(np.int64), first)
    pools.take(Cause.SHAPE, rest=np.where(of_shape, pools.rest - _beside_work(pools, usual), 0))
    if facts.beside_ns.any():
        # Without rows of its unit, a queue shows only in how long calls in flight together take.
        blind = (seen.spent[:, UNITS].sum(axis=1) == 0) & (facts.beside_ns > 0)
        if patterns.usually_longer(left, blind, usual.ns):
            pools.take(Cause.QUEUED_OWN, rest=np.where(blind, facts.beside_ns, 0))
    pools.take(Cause.WORK, rest=_beside_work(pools, usual))


def _beside_work(pools: _Pools, usual: Usual) -> IntArray:
    """Of the rest, what a larger input takes beside the work of units: in proportion as usual, up to a quarter."""
    rate = min(usual.ns / max(int(usual.layers_ns[UNITS].sum()), 1), OTHER_WORK) - 1
    return _bounded(np.rint(rate * np.maximum(pools.work, 0)).astype(np.int64), np.maximum(pools.rest, 0))
