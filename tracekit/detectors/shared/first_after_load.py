"""The first prediction after each load beside those that follow it, without what larger inputs explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.load_waits import after_gap
from tracekit.analysis.statistics import medians_by_group
from tracekit.detectors.shared.comparable_latency import LARGER_WORK, due_to_work, latencies
from tracekit.detectors.shared.comparable_predictions import EVEN
from tracekit.detectors.shared.idle_gaps import Activity, keeps_pace, read_gaps

if TYPE_CHECKING:
    import tracekit.detectors as tk
    from tracekit.analysis.loads import Uses


@dataclass(frozen=True, slots=True)
class SpikeRule:
    """When a first prediction is so much longer than those that follow that it stands out."""

    ratio: float
    """Least ratio to their median."""
    extra_ns: float
    """Least time beyond it."""
    min_following: int
    """Fewest of them."""
    alike_share: float
    """Share of the first one's time from which on one of them is as slow."""
    as_slow_share: float
    """Largest share of them that may be as slow."""
    gap_ns: int
    """Least gap behind which a prediction resumes."""


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """First predictions after each load of the model that enough others follow; shape (firsts,) each."""

    index: tk.IntArray
    """Position among the predictions."""
    duration_ns: tk.FloatArray
    """Latency, as it was given."""
    usual_ns: tk.FloatArray
    """Median of the predictions that follow on the same load."""
    as_slow: tk.FloatArray
    """Share of the following predictions that took about as long as the first, or longer."""
    rule: SpikeRule

    @property
    def extra_ns(self) -> tk.FloatArray:
        """How much longer than usual each took."""
        return self.duration_ns - self.usual_ns

    @property
    def ratio(self) -> tk.FloatArray:
        """Each to the usual one."""
        return self.duration_ns / np.maximum(self.usual_ns, 1.0)

    @property
    def is_long(self) -> tk.BoolArray:
        """Whether each is so much longer than those that follow."""
        long: tk.BoolArray = (self.ratio >= self.rule.ratio) & (self.extra_ns >= self.rule.extra_ns)
        return long

    @property
    def stands_out(self) -> tk.BoolArray:
        """Whether it is, and hardly any of these are."""
        return self.is_long & (self.as_slow <= self.rule.as_slow_share)


@dataclass(frozen=True, slots=True)
class Resumed:
    """Predictions that follow a gap and are not the first after a load, of those that compare with each first
    prediction: shape (firsts,) each."""

    median_ns: tk.FloatArray
    """NaN where there is none."""
    longest_ns: tk.FloatArray
    """The same of the longest."""
    as_usual: tk.BoolArray
    """There are some, and the compute units work no longer for any of them than usual."""
    more_work: tk.BoolArray
    """Compute units work longer for some."""


@dataclass(frozen=True, slots=True)
class Firsts:
    """First predictions after loads, and what they compare with."""

    whole: FirstCalls
    calls: FirstCalls
    """The same without the time that their larger work takes."""
    resumed: Resumed

    @property
    def slower_than_resumed(self) -> tk.BoolArray:
        """Shape (firsts,): predictions after a gap take nowhere near as long."""
        slower: tk.BoolArray = ~(self.calls.duration_ns * self.calls.rule.alike_share <= self.resumed.median_ns)
        return slower


def firsts_after_loads(view: tk.ModelView, latency_ns: tk.IntArray, rule: SpikeRule) -> Firsts | None:
    """The first predictions of a model whose predictions take so long, shape (predictions,); None where too few follow
    any. O(n log n)."""
    whole = _first_calls(view.uses, latency_ns, rule)
    if not len(whole.index):
        return None
    resumed = _predictions_after_gaps(view, latency_ns, whole.index, rule.gap_ns)
    of_the_input = ~_same_input(view, whole, resumed)
    without_work = latency_ns.astype(np.float64)
    without_work[whole.index] -= np.where(of_the_input, _due_to_work(view, whole, resumed.longest_ns), 0.0)
    return Firsts(whole, _first_calls(view.uses, without_work, rule), resumed)


def _first_calls(uses: Uses, latency_ns: tk.IntArray | tk.FloatArray, rule: SpikeRule) -> FirstCalls:
    """First predictions after loads that enough others on the same load follow, given the latency of each of the
    model's predictions."""
    has_following = (uses.load >= 0) & (uses.count > rule.min_following)
    first = uses.first[has_following]
    slow = latency_ns >= rule.alike_share * latency_ns[uses.first][uses.group]
    slow[uses.first] = False
    share = np.bincount(uses.group, slow, minlength=len(uses.load))[has_following] / (uses.count[has_following] - 1)
    usual = _usual_by_use(uses, latency_ns.astype(np.float64))[has_following]
    return FirstCalls(first, latency_ns[first].astype(np.float64), usual, share, rule)


def _usual_by_use(uses: Uses, values: tk.FloatArray) -> tk.FloatArray:
    """Median on each load, without the first prediction: shape (uses,), NaN where there is no other."""
    following = np.ones(len(values), np.bool_)
    following[uses.first] = False
    return medians_by_group(values[following], uses.group[following], len(uses.load))


def _predictions_after_gaps(view: tk.ModelView, latency_ns: tk.IntArray, index: tk.IntArray, gap_ns: int) -> Resumed:
    """Predictions after gaps among those that compare with each of the firsts at `index`."""
    latency, uses = latencies(view), view.uses
    paused = after_gap(view.predictions, gap_ns)
    paused[uses.first] = False
    # Where no work was recorded, what takes longer may have more.
    work = latency.work_ns if latency.work_ns.any() else latency_ns.astype(np.float64)
    more = paused & (work >= LARGER_WORK * _usual_by_use(uses, work)[uses.group])
    count = int(latency.kind.max(initial=0)) + 1
    medians = medians_by_group(latency_ns[paused], latency.kind[paused], count)
    longest = np.full(count, np.nan)
    np.fmax.at(longest, latency.kind[paused], latency_ns[paused])
    some, larger = (np.bincount(latency.kind[chosen], minlength=count) > 0 for chosen in (paused, more))
    kind = latency.kind[index]
    return Resumed(medians[kind], longest[kind], (some & ~larger)[kind], larger[kind])


_FEW_CALLS = 3
"""So many calls have two distances: fewer show no pace."""


def _same_input(view: tk.ModelView, firsts: FirstCalls, resumed: Resumed) -> tk.BoolArray:
    """Shape (firsts,): longer work of the first prediction cannot come from a larger input. Predictions after a gap
    have no larger one either, or a pace gives each the same, or first predictions are alike, as warming up is each
    time."""
    spike = firsts.stands_out
    long = firsts.duration_ns[spike]
    alike = len(long) > 1 and bool(long.max() <= EVEN * long.min()) and not resumed.more_work.any()
    if alike or not len(long) or (read_gaps(view, _FEW_CALLS).activity is Activity.PACED and keeps_pace(view)):
        return np.ones(len(spike), np.bool_)
    return resumed.as_usual


def _due_to_work(view: tk.ModelView, firsts: FirstCalls, longest_ns: tk.FloatArray) -> tk.FloatArray:
    """Time in ns by which larger work makes each first prediction longer; all of its extra time where no work of the
    model was recorded. Where what looks like one prediction may be several, no more than it makes others longer that
    follow a gap: these are shorter than they look."""
    work, extra = latencies(view).work_ns, np.maximum(firsts.extra_ns, 0.0)
    if not work.any() and view.trace.inferred and not view.predictions["single"].all():
        return np.where(np.isnan(longest_ns), extra, np.minimum(extra, longest_ns))
    if not work.any():
        return extra
    usual = _usual_by_use(view.uses, work)[view.uses.group[firsts.index]]
    return np.minimum(due_to_work(work[firsts.index], usual, firsts.usual_ns), extra)
