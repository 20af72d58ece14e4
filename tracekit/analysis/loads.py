"""Which predictions ran on which load of their model, which are the first to and pay for warming up, and which loads
prepared the model for the device instead of finding it in the cache.

Newer systems say so in the row itself. Where a row reads plain `Load`, work of the Neural Engine inside it or a
comparison with the model's other loads can show a cold one; that it was cached, nothing can show. Call stacks of a load
that does not compile show a cached one, unless either speaks against it: another process may have compiled. Cold loads
that run one after another make a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracekit.analysis.statistics import CallTimes, medians_of_others, top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Numbers, column
from tracekit.intervals import Intervals, containing
from tracekit.rows import first_codes, places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.calls.hardware import prepares
from tracekit.trace.events import LOAD_KINDS, Calls, Events, Kind, Origin
from tracekit.trace.trace import Trace, cached_by_trace


def first_after_load(activity: Calls) -> BoolArray:
    """Shape (rows,): the row is the first prediction of its model and instance that starts after a load of it ended.

    Models and instances are distinguished by level too. A prediction before any load of the recording is not marked:
    whether it was the first is not known. A prediction that starts while its model is being loaded belongs to the
    instance loaded before. O(n log n).
    """
    is_load = activity.kind.is_any(*LOAD_KINDS)
    chosen = np.flatnonzero((is_load | activity.kind.is_any(Kind.PREDICTION)) & activity.model.known)
    result = np.zeros(len(activity), dtype=bool)
    if not is_load[chosen].any():
        return result
    loads, times = is_load[chosen], Intervals.from_rows(activity).where(chosen)
    keys = (activity.level.codes[chosen], activity.instance.filled()[chosen], activity.model.codes[chosen])
    # A load takes its place in time at its end; at the same instant it comes before the prediction that uses it.
    order = np.lexsort((~loads, np.where(loads, times.ends, times.starts), *keys))
    before, after = order[:-1], order[1:]
    same = np.all([key[after] == key[before] for key in keys], axis=0)
    result[chosen[after]] = same & loads[before] & ~loads[after]
    return result


@cached_by_trace
def first_predictions(trace: Trace) -> BoolArray:
    """`first_after_load` of the rows of the activity, kept as long as the trace is."""
    return first_after_load(trace.activity)


@dataclass(frozen=True, slots=True)
class Uses:
    """Use of one model between loads of its instances: its predictions in groups, each of which ran on one load."""

    group: IntArray
    """Shape (predictions,): the group of each, numbered in the order of their first predictions."""
    load: IntArray
    """Shape (groups,): index of the load among the loads; less than 0 for predictions before the first load of their
    instance, which make a group for each instance."""
    first: IntArray
    """Shape (groups,): index of the first prediction among the predictions."""
    first_ns: IntArray
    """Shape (groups,): its start."""
    last_ns: IntArray
    """Shape (groups,): start of the last prediction."""
    end_ns: IntArray
    """Shape (groups,): when the last of them ended."""
    count: IntArray
    """Shape (groups,): predictions, 1 or more."""


@dataclass(frozen=True, slots=True, eq=False)
class Used(CallTimes):
    """What tells on which load predictions ran."""

    instance: Numbers = column("number of the instance")


def uses_of_loads(loads: Calls, predictions: Calls | Used, process: IntArray | None = None) -> Uses:
    """Which load each prediction ran on: the last of its instance that had ended when the prediction started.

    Both are of one model and sorted by start. `process` is that of each prediction, -1: unknown; loads name
    none, so that predictions of several processes on one load make a group for each. O((l + p) log l).
    """
    latest = _latest_load(loads, predictions)
    group, _ = first_codes(latest)
    if process is not None:
        # An unknown process is the only known one of its group.
        width = int(process.max(initial=-1)) + 2
        pairs = distinct_numbers((group * width + process)[process >= 0])
        several = np.bincount(pairs // width, minlength=int(group.max(initial=-1)) + 1) > 1
        group, _ = first_codes(group * width + np.where(several[group], process + 1, 0))
    load = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    load[group] = latest
    called = Intervals.from_rows(predictions)
    first, last = np.zeros(len(load), np.int64), np.zeros(len(load), np.int64)
    # Of several values for one place, the one that is written last stays.
    first[group[::-1]] = np.arange(len(group))[::-1]
    last[group] = called.starts
    end = np.full(len(load), np.iinfo(np.int64).min)
    np.maximum.at(end, group, called.ends)
    count = np.bincount(group, minlength=len(load)).astype(np.int64)
    return Uses(group, load, first, called.starts[first], last, end, count)


def _latest_load(loads: Calls, predictions: Calls | Used) -> IntArray:
    """Index of the load of each prediction; without one, -2 or less by instance (-1 where the name has no number)."""
    instance, _ = first_codes(np.concatenate([calls.instance.filled() for calls in (loads, predictions)]))
    of_load, of_prediction = instance[: len(loads)], instance[len(loads) :]
    ends = Intervals.from_rows(loads).ends
    # Times become ranks among the ends, so that instance and time fit into one number to search for.
    ascending = np.sort(ends)
    width = len(ends) + 1
    key = of_load * width + np.searchsorted(ascending, ends, side="right")
    order = np.argsort(key, kind="stable")
    sought = of_prediction * width + np.searchsorted(ascending, Intervals.from_rows(predictions).starts, side="right")
    index = np.searchsorted(key[order], sought, side="right") - 1
    latest = np.append(order, -1)[index]
    same = (index >= 0) & (np.append(of_load, -1)[latest] == of_prediction)
    return np.where(same, latest, -2 - of_prediction).astype(np.int64)


PREPARE_SHARE = 0.25
"""Least part of a load that unnamed preparation on the Neural Engine must cover to be taken for the load's own. Such
rows name no process, so short ones may be anybody's (our judgment)."""


@dataclass(frozen=True, slots=True)
class ColdLoads:
    """Shape (loads,) each."""

    cold: BoolArray
    unknown: BoolArray
    """Neither cold nor cached can be shown."""
    by_time: BoolArray
    """Cold, and only a Neural Engine row without a name says so."""
    compared: BoolArray
    """Cold, and only the comparison with other loads says so."""


@cached_by_trace
def preparations(trace: Trace) -> Events:
    """Rows of the Neural Engine that compile a model or prepare it for the cache, less those of others. O(rows)."""
    return trace.hardware.where(prepares(trace.hardware))


def cold_loads(
    loads: Calls, trace: Trace, ratio: float = 10.0, min_ns: int = 250_000_000, compared: int = 3
) -> ColdLoads:
    """What is known of each load of one model. O((loads of all models + preparations) log).

    A plain `Load` counts as cold by comparison from `ratio` times the median of the model's other loads on (public
    reports hold 12 to 270), of which there must be `compared`. Those shorter than `min_ns` are not compared: the cache
    explains such differences too.
    """
    plain, uncached = loads.kind.is_any(Kind.LOAD), loads.kind.is_any(Kind.LOAD_UNCACHED)
    open_ = plain | (loads.kind.is_any(Kind.LOAD_CACHED) & loads.origin.is_any(Origin.CALL_STACKS))
    if not open_.any():
        none = np.zeros(len(loads), dtype=bool)
        return ColdLoads(cold=uncached, unknown=none, by_time=none, compared=none)
    named, unnamed = _preparation(loads, trace)
    durations = loads.duration_ns
    usual = medians_of_others(durations, np.arange(len(durations)))
    enough = (len(loads) > compared) & (durations >= min_ns)
    dear = enough & (usual > 0) & (durations >= ratio * usual)
    by_time = open_ & ~named & unnamed
    cold = uncached | (open_ & (named | unnamed | dear))
    return ColdLoads(cold=cold, unknown=plain & ~cold, by_time=by_time, compared=open_ & ~named & ~unnamed & dear)


def _preparation(loads: Calls, trace: Trace) -> tuple[BoolArray, BoolArray]:
    """Whether the Neural Engine prepared the model inside each load: by a row that names it, by unnamed rows."""
    rows = preparations(trace)
    if not len(rows):
        none = np.zeros(len(loads), dtype=bool)
        return none, none
    names_it = rows.model.is_any(*loads.model.held())
    times = Intervals.from_rows(rows)
    named = _inside(Intervals.from_rows(loads), times.where(names_it)) > 0
    unnamed = times.where(~rows.model.known)
    # Inside loads of several models at once, a row without a name may be of either.
    every = top_calls(trace, *LOAD_KINDS)
    covered = _inside(Intervals.from_rows(every), unnamed)[places_of(every.id, loads.id)]
    return named, covered >= np.maximum(loads.duration_ns * PREPARE_SHARE, 1)


def _inside(loads: Intervals, rows: Intervals) -> IntArray:
    """For each load the time in ns that rows inside it alone cover."""
    load, _ = containing(loads.starts, loads.ends, rows.starts, rows.ends)
    inside = load >= 0
    return rows.where(inside).covered_by_group(load[inside], len(loads))


TOLERANCE = 0.02
"""Part of the time by which work that runs one after another may overlap: clocks and rounding (our judgment)."""

COVERED = 0.8
"""Least part of overlapping loads that preparation on the Neural Engine must cover to be their cause (our judgment)."""


class LoadChain(NamedTuple):
    """Cold loads without a gap between them."""

    loads: Calls
    models: int
    """Different models and instances."""
    start_ns: int
    end_ns: int
    in_line: bool | None
    """Whether each was prepared after the one before; None where loads overlap and nothing shows it."""
    lost_ns: int
    """What it took beyond the longest single one; 0 where `in_line` is not True."""


def top_loads(trace: Trace) -> tuple[Calls, BoolArray, BoolArray]:
    """The loads that the app called for, sorted by start, and of each whether it is cold, and whether neither cold nor
    cached can be shown: shape (loads,). O(l log l + models × rows of the hardware)."""
    rows = top_calls(trace, *LOAD_KINDS)
    rows = rows.where(rows.model.known)
    cold, unknown = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    for code in distinct_numbers(rows.model.codes):
        of_model = rows.model.codes == code
        known = cold_loads(rows.where(of_model), trace)
        cold[of_model], unknown[of_model] = known.cold, known.unknown
    return rows, cold, unknown


def load_chains(loads: Calls, trace: Trace, gap_ns: int, min_models: int) -> tuple[LoadChain, ...]:
    """Chains of loads (sorted by start) in which each starts at most `gap_ns` after those before it have ended, with
    `min_models` different models or instances. O(l log l + chains × preparations)."""
    times = Intervals.from_rows(loads)
    if len(times) < max(min_models, 1):
        return ()
    reach = np.maximum.accumulate(times.ends)
    chain = np.concatenate(([0], np.cumsum(times.starts[1:] - reach[:-1] > gap_ns)))
    instances = np.unique(np.column_stack((chain, loads.model.codes, loads.instance.filled())), axis=0)
    models = np.bincount(instances[:, 0])
    edges = np.searchsorted(chain, np.arange(len(models) + 1))
    prepared = preparations(trace)
    return tuple(
        _chain(loads.take(slice(edges[number], edges[number + 1])), int(models[number]), prepared)
        for number in np.flatnonzero(models >= min_models)
    )


def _chain(loads: Calls, models: int, prepared: Events) -> LoadChain:
    times = Intervals.from_rows(loads)
    first, last = int(times.starts[0]), int(times.ends.max())
    work, in_line = times, _apart(times)
    if not in_line:
        possible = ~prepared.model.known | prepared.model.is_any(*loads.model.held())
        work = Intervals.from_rows(prepared)
        work = work.where(possible & (work.starts >= first) & (work.ends <= last))
        if len(work) < len(loads) or work.covered_ns < COVERED * (last - first):
            return LoadChain(loads, models, first, last, None, 0)
        in_line = _apart(work)
    beyond_longest = int(work.durations.sum() - work.durations.max()) if in_line else 0
    return LoadChain(loads, models, first, last, in_line, beyond_longest)


def _apart(times: Intervals) -> bool:
    """Whether intervals run one after another."""
    return bool(times.durations.sum() <= times.covered_ns * (1 + TOLERANCE))
