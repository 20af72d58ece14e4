"""The calls of a model whose times can be compared with each other.

Which loads, instances and processes are alike is what the account of time says (`tracekit.analysis.ledger`). What is
another detector's business is left out: warming up, waiting for another call or somebody else's work, and the long
calls that open a sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.autoregression import opens_sequence
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors.shared.stands_out import worst_of
from tracekit.detectors.shared.wording import KEEP_LOADED, RECORD_ALONE, RECORD_PHASE_ALONE

LONGER = 0.2
"""How much longer than the shortest tenth a call must be before it is asked whether it waited, as a share."""
WAITED_SHARE = 0.5
"""Part of a call's extra time by which others make it long, where less than that part of a usual call is left
(heuristic)."""
LIKELY_SHARE = 0.8
"""Part of the extra time that predictions of others on an unknown unit must fill to explain it (heuristic)."""
EVEN = 1.25
"""Times whose 95th percentile is at most so many times their 5th are not searched for calls that waited. The times of
undisturbed calls have about 1.2 (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Comparable calls of one model, and how many others were left out for which reason."""

    rows: tk.Calls
    """Prediction rows, sorted by start."""
    burst: tk.IntArray
    """Shape (calls,): number of the sequence, which counts all predictions that these are chosen from."""
    chosen_from: tk.BoolArray
    """Shape (predictions,): the model's predictions on loads that are compared together."""
    cold: int
    """Left out: the first after a load."""
    overlapping: int
    """Left out: another prediction of the model was in flight meanwhile."""
    waiting: int
    """Left out: longer than others because somebody else worked on the same unit for much of the extra time."""
    unclear: int
    """Left out: the same, if work whose unit is not known was on that unit."""
    opening: int
    """Left out: opens a sequence of shorter calls, as a prompt does before the tokens that follow."""
    elsewhere: int
    """Left out: on a load, in an instance or a process with another usual latency, as of another configuration."""
    with_unclear: Calls | None = None
    """The calls together with the unclear ones; None where there are none."""

    @property
    def times(self) -> tk.Intervals:
        """Shape (calls,): when each was in flight."""
        return tk.Intervals.from_rows(self.rows)

    @property
    def durations(self) -> tk.IntArray:
        """Shape (calls,): durations in ns, more than 0."""
        return self.times.durations

    def where(self, chosen: tk.BoolArray) -> Calls:
        """Some of the calls, with the same counts beside them."""
        return replace(self, rows=self.rows.where(chosen), burst=self.burst[chosen])

    @property
    def requested_ratio(self) -> float:
        """How many calls were asked for each one that is compared: those that waited count as ordinary ones, so that
        leaving them out makes slow calls no more frequent. At least 1."""
        return (len(self.rows) + self.waiting + self.unclear) / max(len(self.rows), 1)

    @property
    def exclusion_words(self) -> str:
        """Words for what was left out; empty where nothing was."""
        counts = (
            (self.elsewhere, "on a load or instance with another latency"),
            (self.cold, "first after a load"),
            (self.overlapping, "overlapping"),
            (self.waiting, "queued behind other work"),
            (self.unclear, "possibly queued behind other work"),
            (self.opening, "opening a sequence"),
        )
        return ", ".join(f"{count:,} {why}" for count, why in counts if count)

    def too_few(self, view: tk.ModelView, needed: int) -> tk.NotEvaluated:
        """The answer where fewer than `needed` calls can be compared: the same for all detectors that ask."""
        total = int(self.chosen_from.sum())
        if self.cold >= max(needed, total / 2):
            return view.unknown("Most predictions are the first after a load, so too few can be compared.", KEEP_LOADED)
        if self.overlapping >= max(needed, total / 2):
            return view.unknown("Most predictions overlap, so too few can be compared.", RECORD_PHASE_ALONE)
        return view.too_few_predictions(
            len(self.rows),
            needed,
            adjective="comparable",
            left_out=f"not compared: {self.exclusion_words}" if self.exclusion_words else "",
            record=RECORD_ALONE if self.overlapping else tk.RECORD_LONGER,
        )


@tk.cached_by_model
def comparable_calls(view: tk.ModelView) -> tuple[Calls, ...]:
    """The calls of the model that compare with each other, for each kind of load; most predictions first, at least one.
    Calls without duration are none. O(n log n), and O(m log m) in the rows of the trace where times differ much."""
    alone, account = tk.Intervals.from_rows(view.predictions).alone(), ledger(view.trace).get(view.name)
    kind = np.zeros(len(view.predictions), np.int64) if account is None else account.kind
    return tuple(_comparable(view, kind == number, alone) for number in range(int(kind.max(initial=0)) + 1))


def held_up_ns(view: tk.ModelView, *causes: tk.Cause) -> tk.IntArray:
    """Time in ns that the account gives these causes in each prediction of the model: shape (predictions,)."""
    account = ledger(view.trace).get(view.name)
    return np.zeros(len(view.predictions), np.int64) if account is None else np.maximum(account.of(*causes), 0)


def judge_by_load_kind(
    view: tk.ModelView, every: tuple[Calls, ...], judge: Callable[[Calls], tk.Outcome]
) -> tk.Outcome:
    """What a detector says of calls, by kind of load, and however those count that may have waited for others.

    Where only these calls make a finding, the answer is that it is not evaluated.
    """
    return worst_of(view, [_judge_both_ways(view, calls, judge) for calls in every])


def _judge_both_ways(view: tk.ModelView, calls: Calls, judge: Callable[[Calls], tk.Outcome]) -> tk.Outcome:
    outcome = judge(calls)
    if calls.with_unclear is None or isinstance(outcome, tk.Finding):
        return outcome
    other = judge(calls.with_unclear)
    if isinstance(other, tk.Finding):
        return view.unknown(
            f"{tk.format_count(calls.unclear, 'prediction')} took longer while other work ran, and the recording does "
            "not show whether it ran on the same compute unit.",
            "Record with the Core ML template, which includes the Neural Engine and the GPU, and without other models.",
        )
    return other if isinstance(outcome, tk.NotEvaluated) else outcome


def _comparable(view: tk.ModelView, chosen: tk.BoolArray, alike: tk.BoolArray) -> Calls:
    """The comparable ones of the `chosen` predictions that are `alike` in concurrency; both shape (predictions,)."""
    rows = view.predictions.where(chosen)
    burst = burst_numbers(rows)
    warm, alike, timed = view.warm[chosen], alike[chosen], rows.duration_ns > 0
    comparable = warm & alike & timed
    calls = Calls(
        rows.where(comparable),
        burst[comparable],
        chosen,
        cold=int((~warm & timed).sum()),
        overlapping=int((warm & ~alike & timed).sum()),
        waiting=0,
        unclear=0,
        opening=0,
        elsewhere=int((~chosen).sum()),
    )
    if not _uneven(calls.durations):
        return calls
    (shortest,) = sample_quantiles(calls.durations, 0.1)
    causes = tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES, tk.Cause.SHARED_CPU
    held_up, extra = held_up_ns(view, *causes)[chosen][comparable], calls.durations - shortest
    account, longer = ledger(view.trace).get(view.name), extra >= LONGER * shortest
    usual = shortest if account is None else account.usual_ns[chosen][comparable]
    surely = longer & (held_up >= WAITED_SHARE * extra) & (calls.durations - held_up < (1 + WAITED_SHARE) * usual)
    perhaps = longer & ~surely & (_unknown_ns(view, calls.rows) >= LIKELY_SHARE * extra)
    waiting, unclear = int(surely.sum()), int(perhaps.sum())
    with_unclear = _without_openings(replace(calls.where(~surely), waiting=waiting))
    if not unclear:
        return with_unclear
    left = replace(calls.where(~(surely | perhaps)), waiting=waiting, unclear=unclear)
    return replace(_without_openings(left), with_unclear=with_unclear)


def _unknown_ns(view: tk.ModelView, rows: tk.Calls) -> tk.IntArray:
    """Shape (rows,): time in which predictions of other models ran, where no row shows the unit of both."""
    times = breakdown(view.trace)
    known = sum((times.busy(unit).filled(0) for unit in tk.DEVICE_NAMES), np.zeros(len(times.every), np.int64)) > 0
    others, called = (
        ~times.every.model.is_any(view.name),
        tk.Intervals.from_rows(view.trace.activity).where(times.every.id),
    )
    own, windows = known[tk.places_of(times.every.id, rows.id)], tk.Intervals.from_rows(rows)
    every, hidden = (called.where(chosen).covered_within(windows) for chosen in (others, others & ~known))
    return np.where(own, hidden, every)


def _without_openings(calls: Calls) -> Calls:
    opening = opens_sequence(calls.durations, calls.burst)
    return replace(calls.where(~opening), opening=int(opening.sum())) if opening.any() else calls


def _uneven(durations: tk.IntArray) -> bool:
    if len(durations) < 2:
        return False
    low, high = sample_quantiles(durations, 0.05, 0.95)
    return bool(high > EVEN * low)


def longer_than_usual(
    view: tk.ModelView,
    calls: Calls,
    chosen: tk.BoolArray,
    usual_ns: float,
    said: tuple[str, tuple[tk.Metric, ...]],
    words: str,
) -> tk.Finding:
    """The finding about the `chosen` calls, shape (calls,), with its cost: how much longer than usual they went on.
    `said` is summary and metrics; `words` begin the basis of the cost."""
    slow = calls.where(chosen)
    usual_end = slow.times.starts + round(usual_ns)
    longer = slow.times.ends > usual_end
    affected = tk.Intervals(usual_end[longer], slow.times.ends[longer]).union()
    longest_ns = int((slow.times.ends - usual_end).max(initial=0))
    cost_ns = affected.covered_ns
    cost = view.cost(cost_ns, words, longest_wait_ns=min(longest_ns, cost_ns), usual_ns=usual_ns)
    return view.finding(*said, rows=slow.rows, cost=cost, affected=affected)
