"""Which predictions are the first to do their amount of work, and which take far longer than others of that amount.

A recording names no input shapes. Inputs of different shapes mostly keep the compute units busy for different times, so
that the time they worked stands for the shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.latency import modes
from tracekit.analysis.load_waits import gaps_after, stand_alone
from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.detectors import Intervals, Level, ModelView, is_any
from tracekit.detectors.shared.latency_causes import GROUP_SPREAD, KNOWN_SHARE
from tracekit.trace.cache import cached_by_trace
from tracekit.trace.events import SETUP_KINDS

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.detectors.framework import ModelView
    from tracekit.detectors.shared.comparable_predictions import Calls
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class FirstsRule:
    """When predictions are long, and what groups and gaps count."""

    ratio: float
    """Least ratio to the median of the group."""
    extra_ns: float
    """Least time beyond it."""
    share: float
    """Least share of the predictions in each group."""
    gap_ns: int
    """Least gap after which a prediction may be slow for the gap."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Comparable predictions by their work."""

    group: IntArray
    """Shape (calls,): the group of each."""
    work_ns: FloatArray
    """Shape (groups,): median time that compute units worked."""
    usual_ns: FloatArray
    """Shape (groups,): median duration."""
    stands_out: BoolArray
    """Shape (calls,): takes far longer than the median of its group, and not for more work."""
    beside_load: BoolArray
    """Shape (calls,): a load fills much of the extra time."""


@dataclass(frozen=True, slots=True, eq=False)
class Firsts:
    """First predictions of each group on each load, but for the very first: shape (calls,) each."""

    sure: BoolArray
    """Nothing but their work sets them apart from the calls around."""
    unsure: BoolArray
    """They follow a gap or a slow first prediction after the load, run beside a load, or their group comes once and
    stays."""


def _work(view: ModelView) -> FloatArray:
    """Shape (predictions,): time in ns that compute units worked for each; 0 where no row shows it."""
    frame = view.breakdown.frame
    columns = (frame[name].array for name in ("ane_busy_ns", "gpu_busy_ns", "cpu_busy_ns"))
    work: FloatArray = np.sum([column.to_numpy(np.float64, na_value=0.0) for column in columns], axis=0)
    return work


def group_by_work(view: ModelView, calls: Calls, without_waits_ns: IntArray, rule: FirstsRule) -> Groups:
    """Groups of comparable calls by their work; one where the work shows no others. `without_waits_ns` is the time of
    each of the model's predictions without its waits, shape (predictions,). O(n log n)."""
    index = view.predictions.index.get_indexer(calls.rows.index)
    work, without_waits_ns = _work(view)[index], without_waits_ns[index]
    group = np.zeros(len(work), np.int64)
    if float((work > 0).mean()) >= KNOWN_SHARE:
        membership = modes(np.rint(work).astype(np.int64), min_share=rule.share).membership
        group = (
            membership if all(_narrow(work[membership == number]) for number in range(membership.max() + 1)) else group
        )
    work_ns, usual_ns = (
        np.array([np.median(values[group == number]) for number in range(group.max() + 1)])
        for values in (work, without_waits_ns)
    )
    extra = without_waits_ns - usual_ns[group]
    meanwhile = _setup(view.trace).covered_within(Intervals.from_rows(calls.rows))
    stands_out = _is_long(without_waits_ns, usual_ns[group], rule) & (work - work_ns[group] < _MOSTLY * extra)
    return Groups(group, work_ns, usual_ns, stands_out, stands_out & (meanwhile >= _MOSTLY * extra))


_MOSTLY = 0.5
"""Part of the extra time from which on it is work of the compute units, or of a load meanwhile (heuristic)."""


def _narrow(work: FloatArray) -> bool:
    low, middle, high = np.quantile(work, [0.25, 0.5, 0.75])
    return bool(high - low <= GROUP_SPREAD * middle)


def _is_long(without_waits_ns: IntArray, usual_ns: FloatArray, rule: FirstsRule) -> BoolArray:
    long: BoolArray = (without_waits_ns >= rule.ratio * usual_ns) & (without_waits_ns - usual_ns >= rule.extra_ns)
    return long


@cached_by_trace
def _setup(trace: Trace) -> Intervals:
    """Loads and compilations of all models, which take the CPU from predictions."""
    activity = trace.activity
    chosen = is_any(activity["level"], Level.TOP) & is_any(activity["kind"], *SETUP_KINDS)
    return Intervals.from_rows(activity).where(chosen).union()


def first_of_work(
    view: ModelView, calls: Calls, without_waits_ns: IntArray, groups: Groups, rule: FirstsRule
) -> Firsts:
    """Which of the grouped calls are the first of their work on their load.

    Predictions that are not compared belong to the group whose work is nearest. O(n log n).
    """
    rows, count = view.predictions, len(groups.work_ns)
    index = rows.index.get_indexer(calls.rows.index)
    distance = np.log(np.maximum(_work(view), 1.0))[:, None] - np.log(np.maximum(groups.work_ns, 1.0))[None, :]
    group = np.abs(distance).argmin(axis=1)
    group[index] = groups.group
    uses = uses_of_loads(view.loads, rows)
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(uses.group * count + group, return_index=True)[1]] = True
    first &= ~_warming_up(rows, uses, first, rule)
    first[uses.first] = False
    slow_start = np.zeros(len(rows), np.bool_)
    slow_start[uses.first] = _is_long(without_waits_ns, groups.usual_ns[group], rule)[uses.first]
    visits = np.bincount(group[np.flatnonzero(np.diff(group, prepend=-1))], minlength=count)
    unsure = _after_gap(rows, rule.gap_ns) | np.roll(slow_start, 1) | (visits < _MIN_VISITS)[group]
    unsure[index] |= groups.beside_load
    return Firsts((first & ~unsure)[index], (first & unsure)[index])


def _warming_up(rows: pd.DataFrame, uses: Uses, first: BoolArray, rule: FirstsRule) -> BoolArray:
    """Shape (predictions,): begins a load with one prediction for each group, which a gap follows. `first` marks the
    first predictions of each group on each load. O(n log n)."""
    order = np.argsort(uses.group, kind="stable")
    again = np.cumsum(~first[order])
    opens = np.cumsum(uses.count) - uses.count
    leading = np.empty(len(rows), np.bool_)
    leading[order] = again == np.repeat(again[opens], uses.count)
    last = order[opens + np.bincount(uses.group[leading], minlength=len(opens)) - 1]
    alone: BoolArray = leading & stand_alone(rows, last, rule.gap_ns)[uses.group]
    return alone


_MIN_VISITS = 2
"""A shape that comes once and stays looks like another state of the device."""


def _after_gap(rows: pd.DataFrame, gap_ns: int) -> BoolArray:
    """Shape (predictions,): none was in flight for so long before it."""
    return np.concatenate(([False], gaps_after(rows)[:-1] >= gap_ns))[: len(rows)]
