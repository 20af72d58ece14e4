"""The instances of one model: whether they can be the same, by the rows in their predictions, and how they were used.

Where the Neural Engine was not recorded, Core ML's own rows of a prediction may look as if it worked: two input
validations and a data cast, neither a `CPU` row nor a request (nine public captures of one app, iPhone, iOS 27.2).
That is weaker evidence than rows of the hardware: other systems may record otherwise, and every model that ran on the
engine there kept a state. So it answers no question alone, but whether instances of a model differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.breakdown.device_runs import UNITS
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.statistics import medians_by_group
from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import Intervals, depth_profile, union_by_group
from tracekit.rows import counts_by, first_codes, places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import Calls, Device, Events, Kind
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.trace import Trace, cached_by_trace

MOST = 0.5
"""Share of a prediction above which an instance works on the CPU, unlike one that hardly does (heuristic)."""

USUAL_UNIT = 0.9
"""Share of the predictions that must look so (heuristic)."""


def looks_like_engine(trace: Trace, predictions: IntArray) -> bool:
    """Whether nearly all of these predictions, given by id, look as if the Neural Engine worked, which was not
    recorded. O(predictions), and O(n log n) once for each trace."""
    return len(predictions) > 0 and bool(_like_engine(trace, predictions).mean() >= USUAL_UNIT)


def units_used(trace: Trace, predictions: IntArray, compute: Events, hardware: Events) -> BoolArray:
    """Shape (predictions, units), in the order of `UNITS`: the unit worked for the call. `compute` and `hardware` are
    the rows of these predictions, linked to them.

    Rows of the hardware show it, requests stand for execution that was not recorded, and what Core ML's rows look like
    counts where neither does. The CPU counts where it works for most of the call. O(n log n).
    """
    used = np.zeros((len(predictions), len(UNITS)), np.bool_)
    used[:, UNITS.index(Device.ANE)] = _like_engine(trace, predictions)
    for unit, executed, requests, instrument in (
        (Device.ANE, Kind.ANE_EXEC, (Kind.ANE_REQUEST,), NEURAL_ENGINE),
        (Device.GPU, Kind.GPU_EXEC, (Kind.GPU_PREPARE, Kind.GPU_REQUEST), GPU),
    ):
        linked = hardware.prediction.filled()[hardware.kind.is_any(executed)]
        if not trace.coverage_of(instrument).recorded:
            linked = np.append(linked, compute.prediction.filled()[compute.kind.is_any(*requests)])
        used[:, UNITS.index(unit)] |= counts_by(predictions, linked) > 0
    times = breakdown(trace).every
    row = places_of(times.id, predictions)
    cpu, duration = (np.append(each, 0)[row] for each in (times.cpu_busy_ns.filled(0), times.duration_ns))
    used[:, UNITS.index(Device.CPU)] = (cpu > MOST * duration) & (duration > 0)
    return used


def _like_engine(trace: Trace, predictions: IntArray) -> BoolArray:
    like: BoolArray = np.append(_all_like_engine(trace), False)[places_of(breakdown(trace).every.id, predictions)]
    return like


@cached_by_trace
def _all_like_engine(trace: Trace) -> BoolArray:
    """Shape (top predictions,), in the order of the breakdown."""
    ids, data = breakdown(trace).every.id, trace.data
    like = np.full(len(ids), not trace.coverage_of(NEURAL_ENGINE).recorded)
    for kind, wanted in ((Kind.INPUT_VALIDATION, 2), (Kind.DATA_CAST, 1)):
        like &= counts_by(ids, data.prediction.filled()[data.kind.is_any(kind)]) == wanted
    # The stages of a pipeline have rows of their own, and hardware that was recorded is better evidence.
    for rows in (trace.compute, trace.activity, trace.hardware):
        like &= counts_by(ids, rows.prediction.filled()) == 0
    return like


USUAL = 0.8
"""Least share of an instance's calls that must agree for a property to be the instance's own: rows that are lost or
added by chance touch few (heuristic)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets instances of one name apart, shape (predictions,) each; equal numbers may be of equal instances."""

    inputs: IntArray
    """Input copies in a call of the instance; 0 for none, or no usual number: buffers without a copy leave no row."""
    ran: IntArray
    """Shape (predictions, units), in the order of `UNITS`: 1 for an instance that runs on the unit, on the CPU for most
    of a call; 0 for one that does not, -1 for one that does at times."""
    pid: IntArray
    """Process whose GPU rows the call holds, -1 where none is named."""

    @property
    def interfaces(self) -> int:
        """Different numbers of inputs that are known."""
        return len(distinct_numbers(self.inputs[self.inputs > 0]))

    @property
    def processes(self) -> int:
        """Different processes that are known."""
        return len(distinct_numbers(self.pid[self.pid >= 0]))

    def kinds(self) -> IntArray:
        """Calls numbered by what sets their instances apart; what is unknown counts as what most calls have."""
        known = (_fill(values, values >= 0) for values in (*self.ran.T, self.pid))
        columns = (_fill(self.inputs, self.inputs > 0), *known)
        return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def difference(self) -> str:
        """In what the instances differ, in words; empty where nothing shows it."""
        units = any(len(distinct_numbers(values[values >= 0])) > 1 for values in self.ran.T)
        differences = (
            ("process", self.processes > 1),
            ("number of inputs", self.interfaces > 1),
            ("compute unit", units),
        )
        return ", ".join(name for name, differs in differences if differs)


def traits(trace: Trace, predictions: Calls, data: Events, compute: Events, hardware: Events) -> Traits:
    """Traits of the instances of a model; rows of the other lanes are linked by `prediction`. O(n log n)."""
    instance, _ = first_codes(predictions.instance.filled())
    copies = counts_by(predictions.id, data.prediction.filled()[data.kind.is_any(Kind.INPUT_COPY)])
    used = units_used(trace, predictions.id, compute, hardware)
    ran = np.column_stack([np.bincount(instance, of_unit, minlength=1) for of_unit in used.T])
    share = ran / np.maximum(np.bincount(instance, minlength=1), 1)[:, np.newaxis]
    mostly = np.select([share >= USUAL, share <= 1 - USUAL], [1, 0], -1)[instance].astype(np.int64)
    # The number that `USUAL` of each instance's calls with any have; 0 where there is none.
    usual = np.zeros(int(instance.max(initial=-1)) + 1, np.int64)
    some = copies > 0
    if some.any():
        pairs, times = np.unique(np.column_stack((instance[some], copies[some])), axis=0, return_counts=True)
        totals = np.bincount(instance[some], minlength=len(usual))
        often = times >= USUAL * totals[pairs[:, 0]]
        usual[pairs[often, 0]] = pairs[often, 1]
    return Traits(usual[instance], mostly, processes_of(predictions.id, hardware))


def processes_of(predictions: IntArray, hardware: Events) -> IntArray:
    """Process that the rows in each prediction, given by id, name: shape (predictions,), -1 where they name none."""
    position = places_of(predictions, hardware.prediction.filled())
    known = (position >= 0) & hardware.pid.known
    pid = np.full(len(predictions), -1, np.int64)
    pid[position[known]] = hardware.pid.values[known]
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
    """Largest over smallest median duration of instances that were used together; None below two with enough calls."""
    together: IntArray
    """Positions of the loads that began to be used while an earlier one still was."""


def instances_by_kind(loads: Calls, predictions: Calls, known: Traits, min_calls: int) -> list[Instances]:
    """How the instances of one model were used, apart for those that the recording shows to differ: models of one name,
    other compute units, other processes. Medians count of instances with at least `min_calls` calls.
    O(kinds x (l + p) log(l + p))."""
    kinds = known.kinds()
    numbers, of_load = predictions.instance.filled(), loads.instance.filled()
    return [
        _instances(
            loads,
            np.flatnonzero(np.isin(of_load, numbers[kinds == kind]) | ~np.isin(of_load, numbers)),
            predictions.where(kinds == kind),
            min_calls,
        )
        for kind in distinct_numbers(kinds)
    ]


def _instances(all_loads: Calls, load_index: IntArray, predictions: Calls, min_calls: int) -> Instances:
    """Use of the instances with the loads at `load_index` and these predictions. O((l + p) log(l + p))."""
    loads = all_loads.take(load_index)
    uses = uses_of_loads(loads, predictions)
    known = np.concatenate([rows.instance.filled() for rows in (loads, predictions)])
    latest = np.maximum.accumulate(uses.last_ns)
    overlapping = np.concatenate(([False], uses.first_ns[1:] < latest[:-1]))
    changes = int((np.diff(uses.group) != 0).sum())
    called = Intervals.from_rows(predictions)
    _, starts, ends = union_by_group(uses.group, called.starts, called.ends)
    times, depth = depth_profile(starts, ends)
    lasting, in_use = np.diff(times), depth[:-1]
    busy = int(lasting[in_use > 0].sum())
    medians = medians_by_group(predictions.duration_ns, uses.group, len(uses.count))
    medians = medians[uses.count >= max(min_calls, 1)]
    return Instances(
        count=len(distinct_numbers(known[known >= 0])),
        switches=max(changes - (len(uses.load) - 1), 0),
        parallel_share=int(lasting[in_use > 1].sum()) / busy if busy else 0.0,
        spread=float(medians.max() / medians.min()) if len(medians) > 1 and medians.min() else None,
        together=load_index[uses.load[overlapping & (uses.load >= 0)]],
    )
