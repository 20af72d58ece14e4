"""Which predictions are the first to do their amount of work, and which take far longer than others of that amount.

A recording names no input shapes. Inputs of different shapes mostly keep the compute units busy for different times, so
that the time they worked stands for the shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import tracekit.detectors as tk
from tracekit.analysis.latency import modes
from tracekit.analysis.load_waits import after_gap, setup_times, stand_alone
from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.detectors.shared.comparable_latency import due_to_work, latencies
from tracekit.detectors.shared.latency_causes import KNOWN_SHARE, is_narrow

if TYPE_CHECKING:
    from tracekit.detectors.shared.comparable_predictions import Calls


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

    group: tk.IntArray
    """Shape (calls,): the group of each."""
    work_ns: tk.FloatArray
    """Shape (groups,): median time that compute units worked."""
    usual_ns: tk.FloatArray
    """Shape (groups,): median duration."""
    stands_out: tk.BoolArray
    """Shape (calls,): takes far longer than the median of its group, without its larger work."""
    expected_ns: tk.FloatArray
    """Shape (calls,): what each would take by its group and its work."""
    beside_load: tk.BoolArray
    """Shape (calls,): a load fills much of the extra time."""


@dataclass(frozen=True, slots=True, eq=False)
class Firsts:
    """First predictions of each group on each load, but for the very first: shape (calls,) each."""

    sure: tk.BoolArray
    """Nothing but their work sets them apart from the calls around."""
    unsure: tk.BoolArray
    """They follow a gap or a slow first prediction after the load, run beside a load, or their group comes once and
    stays."""


def group_by_work(view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, rule: FirstsRule) -> Groups:
    """Groups of comparable calls by their work; one where the work shows no others. `without_waits_ns` is the time of
    each of the model's predictions without its waits, shape (predictions,). O(n log n)."""
    index = view.predictions.index.get_indexer(calls.rows.index)
    work, without_waits_ns = latencies(view).work_ns[index], without_waits_ns[index]
    group = np.zeros(len(work), np.int64)
    if float((work > 0).mean()) >= KNOWN_SHARE:
        by_work = modes(np.rint(work).astype(np.int64), min_share=rule.share).membership
        if all(is_narrow(work[by_work == number]) for number in range(by_work.max() + 1)):
            group = by_work
    work_ns, usual_ns = (
        np.array([np.median(values[group == number]) for number in range(group.max() + 1)])
        for values in (work, without_waits_ns)
    )
    larger = due_to_work(work, work_ns[group], usual_ns[group])
    meanwhile = setup_times(view.trace).covered_within(tk.Intervals.from_rows(calls.rows))
    stands_out = _is_long(without_waits_ns - larger, usual_ns[group], rule)
    beside_load = stands_out & (meanwhile >= _MOSTLY * (without_waits_ns - larger - usual_ns[group]))
    return Groups(group, work_ns, usual_ns, stands_out, usual_ns[group] + larger, beside_load)


_MOSTLY = 0.5
"""Part of the extra time from which on a load meanwhile explains it (heuristic)."""


def _is_long(without_waits_ns: tk.FloatArray | tk.IntArray, usual_ns: tk.FloatArray, rule: FirstsRule) -> tk.BoolArray:
    long: tk.BoolArray = (without_waits_ns >= rule.ratio * usual_ns) & (without_waits_ns - usual_ns >= rule.extra_ns)
    return long


def first_of_work(
    view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, groups: Groups, rule: FirstsRule
) -> Firsts:
    """Which of the grouped calls are the first of their work on their load.

    Predictions that are not compared belong to the group whose work is nearest. O(n log n).
    """
    rows, count = tk.rows_where(view.predictions, calls.chosen_from), len(groups.work_ns)
    index = rows.index.get_indexer(calls.rows.index)
    without_waits_ns, work = without_waits_ns[calls.chosen_from], latencies(view).work_ns[calls.chosen_from]
    distance = np.log(np.maximum(work, 1.0))[:, None] - np.log(np.maximum(groups.work_ns, 1.0))[None, :]
    group = np.abs(distance).argmin(axis=1)
    group[index] = groups.group
    uses = uses_of_loads(view.loads, rows, view.processes[calls.chosen_from])
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(uses.group * count + group, return_index=True)[1]] = True
    surely_warms, perhaps_warms = _warming_up(rows, uses, first, rule)
    first &= ~surely_warms
    first[uses.first] = False
    slow_start = np.zeros(len(rows), np.bool_)
    slow_start[uses.first] = _is_long(without_waits_ns, groups.usual_ns[group], rule)[uses.first]
    visits = np.bincount(group[np.flatnonzero(np.diff(group, prepend=-1))], minlength=count)
    unsure = perhaps_warms | after_gap(rows, rule.gap_ns) | np.roll(slow_start, 1) | (visits < _MIN_VISITS)[group]
    unsure[index] |= groups.beside_load
    return Firsts((first & ~unsure)[index], (first & unsure)[index])


def _warming_up(
    rows: pd.DataFrame, uses: Uses, first: tk.BoolArray, rule: FirstsRule
) -> tuple[tk.BoolArray, tk.BoolArray]:
    """Shape (predictions,) each: surely and perhaps begins a load with one prediction for each group, which a gap
    follows to warm the model up. `first` marks the first predictions of each group on each load. O(n log n)."""
    order = np.argsort(uses.group, kind="stable")
    again = np.cumsum(~first[order])
    opens = np.cumsum(uses.count) - uses.count
    leading = np.empty(len(rows), np.bool_)
    leading[order] = again == np.repeat(again[opens], uses.count)
    last = order[opens + np.bincount(uses.group[leading], minlength=len(opens)) - 1]
    alone = stand_alone(rows, last, rule.gap_ns)
    return leading & alone.surely[uses.group], leading & alone.perhaps[uses.group]


_MIN_VISITS = 2
"""A shape that comes once and stays looks like another state of the device."""
