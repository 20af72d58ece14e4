"""The instances of one model: whether they can be the same at all, by the rows inside their predictions, and how they
were used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.analysis.statistics import sums_by_label
from tracekit.analysis.suggested_units import units_used
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, depth_profile, union_by_group
from tracekit.trace.events import Kind
from tracekit.trace.frames import is_any, or_minus_one, rows_at, rows_where
from tracekit.trace.trace import Trace

USUAL = 0.8
"""Least share of an instance's calls that must agree for a property to be the instance's own: rows that are lost or
added by chance touch few (heuristic)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets instances of one name apart. Shape (predictions,) each; calls of equal numbers may be of equal
    instances."""

    inputs: IntArray
    """Input copies in a call of the instance; 0 where it has none, or no usual number: buffers that need no copy leave
    no row."""
    ran: IntArray
    """Shape (predictions, units), in the order of `UNITS`: 1 for an instance that runs on the unit, on the CPU for most
    of a call; 0 for one that does not, -1 for one that does at times."""
    pid: IntArray
    """Process whose GPU rows the call holds, -1 where none is named."""

    @property
    def interfaces(self) -> int:
        """Different numbers of inputs that are known."""
        return len(np.unique(self.inputs[self.inputs > 0]))

    @property
    def processes(self) -> int:
        """Different processes that are known."""
        return len(np.unique(self.pid[self.pid >= 0]))

    def kinds(self) -> IntArray:
        """Calls numbered by what sets their instances apart; what is unknown counts as what most calls have."""
        known = (_fill(values, values >= 0) for values in (*self.ran.T, self.pid))
        columns = (_fill(self.inputs, self.inputs > 0), *known)
        return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def difference(self) -> str:
        """In what the instances differ, in words; empty where nothing shows it."""
        units = any(len(np.unique(values[values >= 0])) > 1 for values in self.ran.T)
        differences = (
            ("process", self.processes > 1),
            ("number of inputs", self.interfaces > 1),
            ("compute unit", units),
        )
        return ", ".join(name for name, differs in differences if differs)


def traits(
    trace: Trace, predictions: pd.DataFrame, data: pd.DataFrame, compute: pd.DataFrame, hardware: pd.DataFrame
) -> Traits:
    """Traits of the instances of one model; rows of `data`, `compute` and `hardware` are linked by `prediction`.
    O(n log n)."""
    instance = pd.factorize(or_minus_one(predictions["instance"]))[0]
    copied = or_minus_one(data["prediction"])[is_any(data["kind"], Kind.INPUT_COPY)]
    copies = sums_by_label(predictions.index, copied)
    used = units_used(trace, predictions.index, compute, hardware)
    ran = np.column_stack([_ran(instance, of_unit) for of_unit in used.T])
    return Traits(_usual(instance, copies)[instance], ran, processes_of(predictions, hardware))


def _ran(instance: IntArray, ran: BoolArray) -> IntArray:
    """A column of `Traits.ran`, from whether each call ran there."""
    share = np.bincount(instance, ran, minlength=1) / np.maximum(np.bincount(instance, minlength=1), 1)
    return np.select([share >= USUAL, share <= 1 - USUAL], [1, 0], -1)[instance].astype(np.int64)


def _usual(instance: IntArray, counts: IntArray) -> IntArray:
    """The number that `USUAL` of each instance's calls with any have: shape (instances,), 0 where there is none."""
    usual = np.zeros(int(instance.max(initial=-1)) + 1, np.int64)
    some = counts > 0
    if some.any():
        pairs, times = np.unique(np.column_stack((instance[some], counts[some])), axis=0, return_counts=True)
        totals = np.bincount(instance[some], minlength=len(usual))
        often = times >= USUAL * totals[pairs[:, 0]]
        usual[pairs[often, 0]] = pairs[often, 1]
    return usual


def processes_of(predictions: pd.DataFrame, hardware: pd.DataFrame) -> IntArray:
    """Process that the rows inside each prediction name, -1 where they name none: shape (predictions,)."""
    position = predictions.index.get_indexer(pd.Index(or_minus_one(hardware["prediction"])))
    known = (position >= 0) & hardware["pid"].notna().to_numpy(dtype=bool)
    pid = np.full(len(predictions), -1, np.int64)
    pid[position[known]] = or_minus_one(hardware["pid"])[known]
    return pid


def _fill(values: IntArray, known: BoolArray) -> IntArray:
    """`values` with the most frequent of the known ones in place of those that are not known."""
    if not known.any():
        return values
    distinct, times = np.unique(values[known], return_counts=True)
    return np.where(known, values, distinct[np.argmax(times)])


@dataclass(frozen=True, slots=True)
class Instances:
    """How the instances of a model that are alike were used."""

    count: int
    """Different instance numbers."""
    switches: int
    """How often a call went to another instance than the one before, beyond what taking over once each needs."""
    parallel_share: float
    """Share of the busy time in which several instances were at work."""
    spread: float | None
    """Largest over smallest median duration of the instances that were used together; None where not two of them have
    enough calls."""
    together: IntArray
    """Positions of the loads that began to be used while an earlier one still was."""


def instances_by_kind(loads: pd.DataFrame, predictions: pd.DataFrame, known: Traits, min_calls: int) -> list[Instances]:
    """How the instances of one model were used, apart for those that the recording shows to differ: models of one name,
    other compute units, other processes. Medians count of instances with at least `min_calls` calls.
    O(kinds x (l + p) log(l + p))."""
    kinds = known.kinds()
    numbers = or_minus_one(predictions["instance"])
    of_load = or_minus_one(loads["instance"])
    return [
        _instances(
            loads,
            np.flatnonzero(np.isin(of_load, numbers[kinds == kind]) | ~np.isin(of_load, numbers)),
            rows_where(predictions, kinds == kind),
            min_calls,
        )
        for kind in np.unique(kinds)
    ]


def _instances(all_loads: pd.DataFrame, load_index: IntArray, predictions: pd.DataFrame, min_calls: int) -> Instances:
    """Use of the instances with the loads at `load_index` and these predictions. O((l + p) log(l + p))."""
    loads = rows_at(all_loads, load_index)
    uses = uses_of_loads(loads, predictions)
    latest = np.maximum.accumulate(uses.last_ns)
    overlapping = np.concatenate(([False], uses.first_ns[1:] < latest[:-1]))
    changes = int((np.diff(uses.group) != 0).sum())
    return Instances(
        count=len(pd.concat([loads["instance"], predictions["instance"]]).dropna().unique()),
        switches=max(changes - (len(uses.load) - 1), 0),
        parallel_share=_parallel_share(predictions, uses),
        spread=_spread(predictions, uses, min_calls),
        together=load_index[uses.load[overlapping & (uses.load >= 0)]],
    )


def _parallel_share(predictions: pd.DataFrame, uses: Uses) -> float:
    called = Intervals.from_rows(predictions)
    _, starts, ends = union_by_group(uses.group, called.starts, called.ends)
    times, depth = depth_profile(starts, ends)
    lasting, in_use = np.diff(times), depth[:-1]
    busy = int(lasting[in_use > 0].sum())
    return int(lasting[in_use > 1].sum()) / busy if busy else 0.0


def _spread(predictions: pd.DataFrame, uses: Uses, minimum: int) -> float | None:
    """`Instances.spread`, of instances with at least `minimum` calls."""
    medians = predictions["duration_ns"].groupby(uses.group).median().to_numpy()[uses.count >= max(minimum, 1)]
    if len(medians) < 2 or not medians.min():
        return None
    return float(medians.max() / medians.min())
