"""Which code called Core ML: for each row of Core ML's own table the frame of the app that the samples in it show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray
from tracekit.columns import Codes, Keyed
from tracekit.errors import unknown
from tracekit.intervals import Intervals, positions_between
from tracekit.rows import sums_by
from tracekit.trace.binding import flags
from tracekit.trace.calls import stacks
from tracekit.trace.calls.sites import Sites, place_of
from tracekit.trace.calls.stacks import API, Api, LoadPhase, StackCalls, app_frames, stacks_with
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Level
from tracekit.trace.filter import in_ranges
from tracekit.trace.samples import SampleRows
from tracekit.trace.trace import Trace, cached_by_trace


def core_ml_stacks(trace: Trace) -> StackCalls | None:
    """What each distinct stack calls of Core ML (`trace.calls.stacks.core_ml_stacks`); None without samples."""
    return None if trace.sampled is None else stacks.core_ml_stacks(trace.sampled)


def busy_with(trace: Trace) -> dict[str, BoolArray]:
    """For each phase of a call and unit of a prediction: whether a stack is in it, (stacks,); empty without samples."""
    return {} if trace.sampled is None else stacks.busy_stacks(trace.sampled)


def on_cpu(trace: Trace, predictions: IntArray) -> list[FloatArray]:
    """Time in ns in which the thread of a prediction computes as the CPU does, and in which it runs: the means of these
    predictions, by id, as samples show them, shape (predictions,) each."""
    count, sites = len(predictions), trace.sites
    if sites is None or trace.sampled is None:
        return [np.zeros(count)]
    samples = (sums_by(predictions, sites.id, each) for each in (sites.samples_in(stacks.Unit.CPU), sites.samples))
    return [np.full(count, each.mean() * trace.sampled.period_ns) for each in samples]


@cached_by_trace
def enclosing_phases(trace: Trace) -> dict[str, str]:
    """The innermost phase that all stacks of a phase of a load lie in, by phase; nothing for one outside of others."""
    flags = busy_with(trace)
    seen = [str(phase) for phase in LoadPhase if phase in flags and flags[phase].any()]
    # Outer phases stand first in `LoadPhase`: of two that share all stacks, the earlier one encloses.
    outer = {
        phase: [
            other
            for other in seen
            if other != phase
            and not (flags[phase] & ~flags[other]).any()
            and ((flags[other] & ~flags[phase]).any() or seen.index(other) < seen.index(phase))
        ]
        for phase in seen
    }
    return {phase: max(phases, key=lambda each: len(outer[each])) for phase, phases in outer.items() if phases}


_KINDS: Final[Mapping[Api, Sequence[str]]] = {
    Api.LOAD: LOAD_KINDS,
    Api.COMPILE: (Kind.COMPILE,),
    Api.PREDICTION: (Kind.PREDICTION,),
}


@cached_by_trace
def call_sites(trace: Trace) -> Sites | None:
    """One row for each load, compilation and prediction of the app that a sample in a call of that kind lies in; None
    where no samples were recorded. The place is the frame of the app that most of these samples show, the thread the
    one that has most of them; its samples with that frame are counted. O((rows + pairs) log pairs).
    """
    if trace.sites is not None:
        return trace.sites
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None:
        return None
    rows = sampled.samples.where(sampled.samples.stack.known)
    stack = rows.stack.values
    api = kinds.api.codes[stack]
    time, activity = rows.time_ns, trace.activity
    # Those of stages belong to the call of their pipeline.
    own = activity.attribution.is_any(Attribution.EXACT) & ~activity.level.is_any(Level.SUB)
    pairs = []
    for code, kind in enumerate(API):
        if kind not in _KINDS:
            continue
        ids = np.flatnonzero(own & activity.kind.is_any(*_KINDS[kind]))
        spans = Intervals.from_rows(activity).where(ids)
        of_kind = np.flatnonzero(api == code)
        first, after = (np.searchsorted(time[of_kind], edges) for edges in (spans.starts, spans.ends))
        pairs.append((np.repeat(ids, after - first), of_kind[positions_between(first, after)]))
    event, sample = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return _most_frequent(trace, event, rows.take(sample), kinds.caller[stack[sample]])


def _most_frequent(trace: Trace, event: IndexArray, samples: SampleRows, caller: IndexArray) -> Sites:
    """Of the threads and frames that the samples in each row show the most frequent."""
    assert trace.stacks is not None  # noqa: S101 - samples were found in them
    stacks = trace.stacks
    # One place may be in many stacks: image and offset identify it.
    image = np.where(caller < 0, -1, stacks.image.codes[caller])
    offset = np.where(caller < 0, -1, stacks.offset.filled()[caller])
    keys = (event, samples.thread.codes, image, offset)
    # One site after the other, and the samples of each in order.
    order = np.lexsort(keys[::-1])
    differs = [np.diff(key[order], prepend=-2) != 0 for key in keys]
    is_first = np.logical_or.reduce(differs)
    start = np.flatnonzero(is_first)
    size = np.diff(start, append=len(order))
    site_event = event[order][start]
    # Of equally frequent sites of a row the first.
    by_size = np.lexsort((-size, site_event))
    chosen = by_size[np.diff(site_event[by_size], prepend=-2) != 0]
    events, first = site_event[chosen], order[start[chosen]]
    threads = np.bincount(np.cumsum(differs[0]) - 1, differs[0] | differs[1])
    of_site = np.full(len(start), -1)
    of_site[chosen] = np.arange(len(chosen))
    call = of_site[np.cumsum(is_first) - 1]
    stack = samples.stack.values[order[call >= 0]]
    call = call[call >= 0]
    busy = {name: np.bincount(call[inside[stack]], minlength=len(chosen)) for name, inside in busy_with(trace).items()}
    kinds = trace.activity.kind.take(events)
    codes = np.full(len(events), -1, np.int8)
    for code, api in enumerate(_KINDS):
        codes[kinds.is_any(*_KINDS[api])] = code
    return Sites(
        **place_of(stacks, caller[first]).columns(),
        id=events,
        thread=samples.thread.take(first),
        tid=samples.tid.take(first),
        main_thread=samples.main_thread.take(first),
        samples=size[chosen],
        ambiguous=threads > 1,
        busy=Keyed(busy),
        api=Codes(codes, tuple(_KINDS)),
        path=np.zeros_like(events),
    )


def of_calls(trace: Trace, spans: Intervals, apis: Collection[str]) -> BoolArray:
    """Shape (samples,): a sample ends in one of these spans, which do not overlap, and is in such a call of Core ML; in
    code of the app where none is named. A sample stands for the time before it. O(samples log spans)."""
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None or not len(sampled.samples) or not len(spans):
        return np.zeros(0 if sampled is None else len(sampled.samples), np.bool_)
    inside = in_ranges(spans, sampled.samples.time_ns - 1)
    stack = sampled.samples.stack.filled()
    busy = kinds.api.is_any(*apis) if apis else stacks_with(sampled, app_frames(sampled.stacks))
    return inside & flags(stack, busy)


def of_model(trace: Trace, name: str) -> BoolArray:
    """Shape (samples,): a sample is in Core ML while a load or call of the model is under way.

    Raises `UsageError` for a model that the recording does not hold.
    """
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    spans = Intervals.from_rows(trace.activity).where(trace.activity.model.is_any(name))
    if not len(spans):
        raise unknown("model", name, trace.models.name)
    if sampled is None or kinds is None or not len(sampled.samples):
        return np.zeros(0 if sampled is None else len(sampled.samples), np.bool_)
    starts, ends = spans.starts, spans.ends
    time = sampled.samples.time_ns
    order = np.argsort(starts, kind="stable")
    event_index = np.searchsorted(starts[order], time, "right") - 1
    under_way: BoolArray = (event_index >= 0) & (time < np.maximum.accumulate(ends[order])[event_index])
    stack = sampled.samples.stack.filled()
    in_core_ml = flags(stack, kinds.api.known)
    return under_way & in_core_ml
