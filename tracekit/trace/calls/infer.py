"""Calls of a process of which Core ML recorded nothing: one row each on the Activity lane, whatever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Codes, Keyed, Texts, Type, coded, codes_of, constant, or_null
from tracekit.grouping import grouped
from tracekit.intervals import Intervals
from tracekit.rows import joined, listed_cells
from tracekit.trace.calls.encoded import BEFORE_NS, Encoded
from tracekit.trace.calls.hardware import FEW, Work, prepares, reconstruct_predictions
from tracekit.trace.calls.sites import Sites, place_of
from tracekit.trace.calls.stacks import Api, LoadPhase, busy_stacks
from tracekit.trace.events import (
    ATTRIBUTIONS,
    DEVICES,
    KINDS,
    LANES,
    LEVELS,
    ORIGINS,
    SETUP_KINDS,
    Attribution,
    Calls,
    Events,
    Kind,
    Lane,
    Level,
    Origin,
    bare_events,
    numbered,
    order_of,
)
from tracekit.trace.instruments.instrument import CommandBuffers
from tracekit.trace.samples import TIMED, Samples

if TYPE_CHECKING:
    from tracekit.trace.calls.join import Joined
    from tracekit.trace.calls.owners import Owners
    from tracekit.trace.calls.pieces import Pieces, Timeline
    from tracekit.trace.instruments.metal import SubmittedBuffers

NOUNS: Final = {Api.LOAD: "Load", Api.COMPILE: "Compilation", Api.PREDICTION: "Prediction"}


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """What ran, without Core ML's own rows."""

    activity: Calls
    hardware: Events
    """With the calls that its rows belong to."""
    sites: Sites | None
    """The code that made the calls of `activity` which call stacks show."""


def infer_calls(
    hardware: Events,
    buffers: CommandBuffers,
    sampled: Samples | None,
    end_ns: int,
    *,
    watched: bool,
    submitted: SubmittedBuffers | None = None,
    shaders: Intervals | None = None,
) -> Inferred:
    """What samples, the hardware and what the app `submitted` to it show, until `end_ns`; `watched`: all units were
    recorded; `shaders`: when GPU code was compiled for the app, for which its calls may wait. O(n log n)."""
    encoded = Encoded.of(hardware, buffers, submitted)
    shown, hardware = reconstruct_predictions(hardware, buffers, encoded)
    if sampled is None or not len(sampled.stacks):
        return Inferred(_hardware_only(shown, hardware, encoded, end_ns), hardware, None)
    from tracekit.trace.calls.pieces import pieces_of, timeline

    line = timeline(sampled)
    pieces = pieces_of(line, max(end_ns, int(line.time.max(initial=0)) + 1))
    if not len(pieces.first):
        return Inferred(_hardware_only(shown, hardware, encoded, end_ns), hardware, None)
    work = Work.of(shown, hardware, encoded, FEW * line.period_ns, line, watched=watched, shaders=shaders)
    # Most reports are about recordings with Core ML's own rows.
    from tracekit.trace.calls.join import joined_calls

    calls, owners = joined_calls(line, pieces, work)
    stacked = [call for call in calls if call.chain >= 0]
    alone = np.array([call.work[0] for call in calls if call.chain < 0], np.int64)
    # Without a process and without samples, the work may be another process's.
    named = [model for models in owners.sites.named.values() for model in models]
    alone = alone[shown.process.known[alone] | np.isin(work.model[alone], named)]
    sampled_calls, sites = _stacked_calls(line, pieces, work, stacked, owners, shown, hardware)
    every = _hardware_only(shown, hardware, encoded, end_ns)
    unsampled = _unsampled(line, work, alone, owners, every.at(alone))
    activity, row_of = calls_in_time([sampled_calls, unsampled])
    if submitted is not None:
        rows = encoded.rows_of(hardware.prediction.filled(), len(shown))[alone]
        thread, tid = (np.append(each, -1)[rows] for each in (encoded.thread, encoded.tid))
        encoding = Codes(thread, submitted.thread.values)
        sites = joined((sites, _encoded_sites(sites, work.model[alone], owners, encoding, tid)))
    sites = sites.moved(row_of[sites.id])
    call_of = np.full(len(shown) + 1, -1)
    for number, call in enumerate(stacked):
        call_of[call.work] = row_of[number]
    call_of[alone] = row_of[len(stacked) :]
    prediction = hardware.prediction.filled()
    attribution = hardware.attribution.changed(np.append(owners.foreign, False)[prediction], Attribution.FOREIGN.value)
    hardware = replace(hardware, prediction=or_null(call_of[prediction]), attribution=attribution)
    # Calls of one thread do not overlap, nor does one begin before its model is loaded.
    spans = Intervals.from_rows(activity)
    start, end = spans.starts.copy(), spans.ends.copy()
    keep_in_order(activity, call_order(activity, sites), start, end)
    return with_times(Inferred(activity, hardware, sites), start, np.maximum(end - start, 0))[0]


def with_times(found: Inferred, start: IntArray, duration: IntArray) -> tuple[Inferred, IndexArray]:
    """Calls with other times, shape (calls,), in the order of these: which of two began first may change. And the row
    that each was. O(n log n)."""
    order = np.argsort(start, kind="stable")
    row = np.empty_like(order)
    row[order] = np.arange(len(order))
    linked, sites = found.hardware.prediction.filled(), found.sites
    activity = replace(
        found.activity.take(order), id=found.activity.id, start_ns=start[order], duration_ns=duration[order]
    )
    hardware = replace(found.hardware, prediction=or_null(np.append(row, -1)[linked]))
    return Inferred(activity, hardware, None if sites is None else sites.moved(row[sites.id])), order


def recorded_calls(activity: Events) -> Calls:
    """Rows of the Activity lane that Core ML recorded. O(n)."""
    return calls_with(activity, Origin.CORE_ML, *[activity.start_ns] * 2, *[activity.ends_ns] * 2)


def calls_with(
    activity: Events, origin: Origin, start_min: IntArray, start_max: IntArray, end_min: IntArray, end_max: IntArray
) -> Calls:
    """Rows of single calls with what shows them, and their bounds. O(1)."""
    count = len(activity)
    return Calls(
        **activity.columns(),
        origin=constant(origin, count, ORIGINS),
        resolution_ns=np.zeros(count, np.int64),
        start_min_ns=start_min,
        start_max_ns=start_max,
        end_min_ns=end_min,
        end_max_ns=end_max,
        single=np.ones(count, np.bool_),
    )


def _hardware_only(shown: Events, hardware: Events, encoded: Encoded, end_ns: int) -> Calls:
    """Predictions of the hardware alone: what tells when their calls began and ended is what else their threads encode,
    where that is known. Calls of one thread do not overlap."""
    count, start, end = len(shown), shown.start_ns, shown.ends_ns
    thread = np.append(encoded.thread, -1)[encoded.rows_of(hardware.prediction.filled(), count)]
    first, second = next_of(thread)
    low, high = np.zeros(count, np.int64), np.full(count, end_ns)
    low[second], high[first] = np.minimum(end[first], start[second]), np.maximum(start[second], end[first])
    begins = np.where(thread >= 0, start - np.minimum(BEFORE_NS, (start - low) // 2), start)
    edges = (low, start, end, np.maximum(high, end))
    return calls_with(replace(shown, start_ns=begins, duration_ns=end - begins), Origin.HARDWARE, *edges)


def _encoded_sites(sites: Sites, model: IntArray, owners: Owners, thread: Texts, tid: IntArray) -> Sites:
    """Sites of predictions that samples miss, behind `sites` in order: the thread that encodes each, by its id, and the
    only place that calls its model. None for one of which either is not known."""
    keys = grouped((model, key) for key, models in owners.sites.named.items() for model in models)
    first = dict(reversed(list(zip(sites.path.tolist(), range(len(sites)), strict=True))))
    places = ([first.get(key, -1) for key in keys.get(each, [])] for each in model.tolist())
    like = np.array([each[0] if len(each) == 1 else -1 for each in places], np.int64)
    known = np.flatnonzero((like >= 0) & (tid >= 0))
    main = dict(zip(sites.tid.filled().tolist(), sites.main_thread.values.tolist(), strict=True))
    on_main = [main.get(each) for each in tid[known].tolist()]
    count = len(known)
    return replace(
        sites.take(like[known]),
        id=len(sites) + known,
        thread=thread.take(known),
        tid=or_null(tid[known]),
        main_thread=listed_cells(Type.NULLABLE_FLAG, on_main),
        samples=np.zeros(count, np.int64),
        ambiguous=np.zeros(count, np.bool_),
        busy=Keyed({name: np.zeros(count, np.int64) for name in sites.busy.cells}),
    )


def calls_in_time(parts: Sequence[Calls]) -> tuple[Calls, IntArray]:
    """The calls of all parts as one Activity lane, and the row there of each, part by part. O(n log n)."""
    order = order_of(*parts)
    return numbered(joined(parts, order)), np.argsort(order)


def _stacked_calls(
    line: Timeline,
    pieces: Pieces,
    work: Work,
    stacked: Sequence[Joined],
    owners: Owners,
    shown: Events,
    hardware: Events,
) -> tuple[Calls, Sites]:
    """Calls that samples show as rows of the Activity lane, and their sites, both in the order of calls."""
    from tracekit.trace.calls.bounds import bounds_of, mistakable_calls
    from tracekit.trace.calls.names import keys_of, names_of

    mistakable = mistakable_calls(line, pieces, work, stacked)
    bounds = bounds_of(line, pieces, work, stacked, mistakable)
    half = line.period_ns // 2
    # Where a thread begins to encode before it is sampled, the call has hardly begun.
    encodes = [
        (work.told[call.work] & (work.begins[call.work] == late)).any()
        for call, late in zip(stacked, bounds[:, 1].tolist(), strict=True)
    ]
    before = np.where(encodes, np.minimum(half, BEFORE_NS), half)
    start = bounds[:, 1] - np.minimum(before, (bounds[:, 1] - bounds[:, 0]) // 2)
    end = np.maximum(bounds[:, 2] + np.minimum(half, (bounds[:, 3] - bounds[:, 2]) // 2), start)
    # A call without samples of its own is like those around it.
    first = np.array(
        [call.first if call.after > call.first else pieces.first[call.chain] for call in stacked], np.int64
    )
    rows, count = line.rows.take(first), len(stacked)
    api = line.kinds.api.take(line.stack[first])
    apis = [Api(each) for each in api.as_objects()]
    samples, busy = _samples(line, stacked)
    devices = [set(shown.device.codes[call.work].tolist()) for call in stacked]
    device = np.array([each.pop() if len(each) == 1 else -1 for each in devices], np.int64)
    events = replace(
        bare_events(start, end - start),
        lane=constant(Lane.ACTIVITY, count, LANES),
        kind=coded(_kinds(apis, busy, start, end, hardware), KINDS),
        label=coded([f"{NOUNS[each]} (inferred from call stacks)" for each in apis]),
        model=coded(names_of(line, pieces, work, stacked, owners, shown)),
        level=constant(Level.TOP, count, LEVELS),
        device=codes_of(device, shown.device.values, DEVICES),
        process=rows.process,
        pid=rows.pid,
        attribution=constant(Attribution.INFERRED, count, ATTRIBUTIONS),
        table=constant(TIMED[0], count),
        row=np.searchsorted(line.samples.samples.time_ns, line.time[first]),
    )
    single = [call.single and not several for call, several in zip(stacked, mistakable, strict=True)]
    calls = replace(
        calls_with(events, Origin.CALL_STACKS, *np.ascontiguousarray(bounds.T)),
        resolution_ns=np.full(count, line.period_ns),
        single=np.array(single, np.bool_),
    )
    sites = Sites(
        **place_of(line.samples.stacks, line.kinds.caller[line.stack[first]]).columns(),
        id=np.arange(count),
        thread=rows.thread,
        tid=rows.tid,
        main_thread=rows.main_thread,
        samples=samples,
        ambiguous=np.zeros(count, np.bool_),
        busy=Keyed(busy),
        api=api,
        path=np.array(keys_of(pieces, stacked), np.int64),
    )
    return calls, sites


def _unsampled(line: Timeline, work: Work, alone: IndexArray, owners: Owners, calls: Calls) -> Calls:
    """Predictions that hardware alone shows, with bounds if their model is sampled, as a long call would be."""
    reach, sampled = work.reach, {model for models in owners.sites.named.values() for model in models}
    if reach is None or not len(alone):
        return calls
    known = np.isin(work.model[alone], list(sampled))
    low = [reach.earliest_start(start) for start in work.begins[alone].tolist()]
    high = [reach.latest_end(end) for end in work.lasts[alone].tolist()]
    return replace(
        calls,
        origin=codes_of(known.astype(np.int8), [Origin.HARDWARE, Origin.CALL_STACKS], ORIGINS),
        resolution_ns=np.where(known, line.period_ns, 0),
        start_min_ns=np.where(known, np.maximum(low, 0), calls.start_min_ns),
        end_max_ns=np.where(known, np.minimum(high, calls.end_max_ns), calls.end_max_ns),
    )


def _samples(line: Timeline, calls: Sequence[Joined]) -> tuple[IntArray, dict[str, IntArray]]:
    """Samples of the running thread in each call, in all and in each phase and unit."""
    first, after = (np.array([getattr(call, name) for call in calls], np.int64) for name in ("first", "after"))

    def in_calls(inside: BoolArray) -> IntArray:
        total: IntArray = np.append(0, np.cumsum(inside))
        return total[after] - total[first]

    busy = busy_stacks(line.samples)
    return in_calls(line.ran), {name: in_calls(inside[line.stack] & line.ran) for name, inside in busy.items()}


def _kinds(
    api: Sequence[Api], samples: dict[str, IntArray], start: IntArray, end: IntArray, hardware: Events
) -> list[Kind]:
    """The kinds. A load that gets a program and compiles none had it cached, unless the Neural Engine prepared one."""
    work = Intervals.from_rows(hardware).where(prepares(hardware))
    prepared = work.covered_within(Intervals(start, end)) > 0
    compiles, gets = samples[LoadPhase.COMPILING] > 0, samples[LoadPhase.PROGRAM] > 0
    loads = np.select([compiles, gets & ~prepared], [Kind.LOAD_UNCACHED, Kind.LOAD_CACHED], Kind.LOAD)
    others = {Api.PREDICTION: Kind.PREDICTION, Api.COMPILE: Kind.COMPILE}
    return [others.get(each) or Kind(load) for each, load in zip(api, loads, strict=True)]


class Follows(NamedTuple):
    """Calls of which the second begins when the first one has ended: shape (pairs,) each."""

    first: IntArray
    second: IntArray


def call_order(activity: Calls, sites: Sites | None) -> tuple[Follows, ...]:
    """Calls of one thread; loads and what their models do next. Rows are in order of time. O(n log n)."""
    model = activity.model.codes.astype(np.int64)
    by_thread, by_model = next_of(threads_of(activity, sites)), next_of(model)
    late, early = activity.start_max_ns, activity.end_min_ns
    loads = activity.kind.is_any(*SETUP_KINDS)[by_model.first]
    loads &= late[by_model.second] >= early[by_model.first]
    return by_thread, Follows(by_model.first[loads], by_model.second[loads])


def next_of(group: IntArray) -> Follows:
    """Each member of a group, and the next one; -1 is no group."""
    order = np.argsort(group, kind="stable")
    same = (group[order[:-1]] == group[order[1:]]) & (group[order[1:]] >= 0)
    return Follows(order[:-1][same], order[1:][same])


def threads_of(activity: Calls, sites: Sites | None) -> IntArray:
    """Shape (calls,): a number for the thread of each call, or for the only one of its model; -1 for unknown."""
    thread = np.full(len(activity), -1)
    if sites is None or not len(sites):
        return thread
    thread[sites.id] = sites.thread.codes
    # The first group is of calls without a model.
    group, known = activity.model.codes + np.int64(1), thread >= 0
    lowest = np.full(len(activity.model.values) + 1, np.iinfo(np.int64).max)
    highest = np.full(len(lowest), -1)
    np.minimum.at(lowest, group[known], thread[known])
    np.maximum.at(highest, group[known], thread[known])
    alone = ~known & activity.origin.is_any(Origin.CALL_STACKS) & (lowest == highest)[group]
    return np.where(alone, lowest[group], thread)


def keep_in_order(activity: Calls, follows: tuple[Follows, ...], start: IntArray, end: IntArray) -> None:
    """Change times so that no call begins before the one that it follows ends, as far as bounds allow. O(pairs)."""
    late, early = activity.start_max_ns, activity.end_min_ns
    for first, second in follows:
        end[first] = np.minimum(end[first], np.maximum(late[second], early[first]))
        start[second] = np.maximum(start[second], np.minimum(end[first], late[second]))
