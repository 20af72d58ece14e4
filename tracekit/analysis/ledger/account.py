"""The account of each model: what its usual predictions consist of, and what each one took beyond that, by cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.idle import core_ml_calls
from tracekit.analysis.instances import processes_of
from tracekit.analysis.ledger import patterns
from tracekit.analysis.ledger.attribution import attributed, worked_ns
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.comparable import comparable_kinds
from tracekit.analysis.ledger.facts import facts_of, sampled_ns
from tracekit.analysis.ledger.layers import Compared, Layer, on_units, time_spent
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.ledger.usual import Seen, Usual, usual_of
from tracekit.analysis.loads import Used, uses_of_loads
from tracekit.analysis.pace import steady_rate
from tracekit.analysis.statistics import top_calls
from tracekit.analysis.throughput import after_pause, bursts
from tracekit.arrays import BoolArray, FloatArray, Int8Array, IntArray
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import LOAD_KINDS, Calls
from tracekit.trace.trace import Trace, cached_by_trace

IDLE_SHARE = 0.25
"""Part of the time for which a model that keeps a pace waits for its next input (heuristic)."""


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


@cached_by_trace
def ledger(trace: Trace) -> dict[str, Account]:
    """By base name of the models that the app called at least `LEAST` times. O(n log n) in the rows of the trace."""
    ordered = in_order(trace)
    times = breakdown(ordered)
    models = times.every.model
    calls = Compared.from_rows(trace.activity).take(times.every.id)
    spent, waits, ambiguous = time_spent(ordered, times, calls)
    has_unit = (spent[:, Layer.NEURAL_ENGINE] > 0) | (spent[:, Layer.GPU] > 0)
    seen = Seen(calls, spent, waits, ambiguous, facts_of(ordered, calls, models, has_unit))
    called = Used.from_rows(ordered.activity)
    loads, process = top_calls(ordered, *LOAD_KINDS), processes_of(calls.id, ordered.hardware)
    found = {}
    for code in distinct_numbers(models.codes[models.known]).tolist():
        rows = np.flatnonzero(models.codes == code)
        of_model, name = seen.take(rows), models.values[code]
        of_name = loads.where(loads.model.is_any(name))
        warm = ~of_model.facts.first & (of_model.calls.duration_ns > 0)
        uses = uses_of_loads(of_name, called.take(of_model.calls.id), process[rows])
        kind = comparable_kinds(uses, of_model.own_ns, warm)
        account = _of_model(of_model, kind, warm, partial(keeps_frame_rate, ordered, code, of_model.calls))
        if account is not None:
            found[name] = account
    return found


def keeps_frame_rate(trace: Trace, code: int, calls: Compared | Calls) -> bool:
    """Whether calls of a model keep a frame rate, as a camera's do, whose inputs are alike. O(n log n)."""
    return steady_rate(calls, bursts(calls), core_ml_calls(trace), code, slack=IDLE_SHARE) is not None


def _of_model(seen: Seen, kind: IntArray, warm: BoolArray, keeps_pace: Callable[[], bool]) -> Account | None:
    """The account of one model; None where too few of its predictions took time."""
    calls, count = seen.calls, len(seen.calls)
    paused = after_pause(calls, patterns.PAUSE_NS)
    usual: list[Usual] = []
    place = np.zeros(count, np.int64)
    columns: dict[Cause, IntArray] = {}
    unclear, amount = np.zeros(count, np.int64), np.zeros(count, np.int8)
    for number in range(int(kind.max(initial=0)) + 1):
        at = np.flatnonzero(kind == number)
        found = usual_of(seen.take(at) if len(at) < count else seen, warm[at], paused[at])
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
        usual[0] = usual_of(seen.take(joined), warm[joined], paused[joined]) or usual[0]
    for number, found in enumerate(usual):
        at = np.flatnonzero(place == number)
        of_kind = seen.take(at) if len(at) < count else seen
        worked = worked_ns(of_kind.spent, of_kind.ambiguous, found)
        amount[at] = patterns.amounts_of_work(on_units(of_kind.spent) + worked)
        parts, unclear[at] = attributed(of_kind, found, amount[at], paused[at], keeps_pace)
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


def spent_by_layer(trace: Trace, predictions: IntArray) -> tuple[IntArray, IntArray]:
    """Shape (predictions, layers): what each, by ascending id, spent, waits apart; and time in which a row may be its
    own or another's. O(log n) and what they have."""
    ordered = in_order(trace)
    calls = Compared.from_rows(trace.activity).take(predictions)
    spent, _, ambiguous = time_spent(ordered, breakdown(ordered).of(predictions), calls)
    return spent, ambiguous


def more_by_layer(trace: Trace, found: Account, at: int) -> IntArray:
    """Shape (layers,): what a prediction, by position, spent beyond the usual one; waits apart."""
    usual = found.usual[found.kind[at]]
    spent, ambiguous = spent_by_layer(trace, found.calls.id[at : at + 1])
    spent[:, usual.main_unit] += worked_ns(spent, ambiguous, usual)
    more: IntArray = spent[0] - usual.layers_ns
    return more


def unseen_ns(trace: Trace, predictions: IntArray) -> IntArray:
    """Shape (predictions,): time of each, by ascending id, that neither rows nor samples of its thread show."""
    spent, _ = spent_by_layer(trace, predictions)
    sites = call_sites(in_order(trace))
    calls = Compared.from_rows(trace.activity).take(predictions)
    ran = 0 if sites is None else np.maximum(sampled_ns(trace, sites, calls) - spent[:, Layer.CPU], 0)
    unseen: IntArray = np.maximum(spent[:, Layer.REST] - ran, 0)
    return unseen
