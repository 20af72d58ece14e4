"""The schedule of a recording: which call follows which, what sets the time of a call, and what units did for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis import idle as idleness
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.pace import paced_stretches, quartile_distance
from tracekit.analysis.queues import ready_for
from tracekit.analysis.replay import Schedule, schedule_of
from tracekit.analysis.statistics import CallTimes, top_calls
from tracekit.analysis.throughput import burst_numbers
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Texts
from tracekit.intervals import Intervals, running_end
from tracekit.rows import first_codes, places_of
from tracekit.sorting import distinct_numbers, occurrence, places, ranks
from tracekit.trace.events import SETUP_KINDS, Calls, Kind
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace, cached_by_trace

USER_NS = 500_000_000
"""After a longer gap a call waits for the user, or for a timer (heuristic)."""
AT_ONCE_NS = 50_000
"""Command buffers that were handed over together follow each other so closely (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A schedule with the rows that it is made of."""

    schedule: Schedule
    calls: Calls
    """Rows of `Trace.activity` that the app asked for, in the order of the schedule."""
    model: IntArray
    """Shape (calls,): code of the model among the values of `calls`."""
    lane: Texts
    """Shape (pieces,): where each piece of the schedule is drawn."""
    user: BoolArray
    """Shape (calls,): it waits for the user, or is the first of its thread."""
    paced: frozenset[str]
    """Models of which something outside sets the pace, such as a camera."""


@cached_by_trace
def recorded_schedule(trace: Trace) -> Recorded:
    """The schedule that the rows show, once for each trace. O(n log n) for each pair of models that are called.

    Core ML's rows name no thread. Models whose calls hardly ever overlap count as used by one thread, and those that it
    mostly asks at once; where calls of such models overlap, one was made without waiting for the other.
    """
    calls = top_calls(trace, *SETUP_KINDS, Kind.PREDICTION)
    times, model = Intervals.from_rows(calls), calls.model.codes.astype(np.int64)
    thread = _threads(times, model, calls.kind.is_any(Kind.PREDICTION))
    previous, from_start = _followed(times, thread, model)
    beats, paced = _beats(calls, thread, model)
    gap = times.starts - times.ends[np.maximum(previous, 0)] if len(times) else times.starts
    user = (previous < 0) | (~from_start & (gap >= USER_NS))
    # Of several calls in flight, units work in the order of submission.
    hardware = in_order(trace).hardware
    worked = hardware.kind.is_any(Kind.ANE_EXEC, Kind.GPU_EXEC) & (hardware.duration_ns > 0)
    # Begin and end of inferred calls are known within bounds: not what in them waited for a unit.
    at = np.flatnonzero(worked & (not trace.inferred))
    lane = hardware.lane.take(at)
    unit = lane.codes.astype(np.int64)
    owner = np.append(top_predictions(trace.activity), -1)
    call = places_of(calls.id, owner[hardware.prediction.filled()[at]])
    first, work = _joined(Intervals.from_rows(hardware).where(at), unit, call)
    lane, unit, call = lane.take(first), unit[first], call[first]
    named, _ = first_codes(np.where(call >= 0, model[np.maximum(call, 0)], -2) if len(calls) else call)
    number = np.minimum(occurrence(call), 99)
    group, _ = first_codes((named * 100 + number) * 8 + unit)
    called = np.append(calls.id, -1)
    ready = ready_for(trace, called[call], work.starts, np.append(times.starts, 0)[call])
    schedule = schedule_of(times, previous, from_start, user | beats, work, unit, call, group, ready)
    return Recorded(schedule, calls, model, lane, user, paced)


def _threads(times: Intervals, model: IntArray, predicted: BoolArray) -> IntArray:
    """Shape (calls,): a number for the thread that uses the model: the same for models that hardly ever overlap, or of
    which mostly one prediction each runs at once."""
    codes, place_of = ranks(model)
    names = codes.tolist()
    thread = {name: name for name in names}
    called = {name: times.where(model == name) for name in names}
    busy = {name: own.covered_time() for name, own in called.items()}
    for place, one in enumerate(names):
        for other in (each for each in names[place + 1 :] if thread[each] != thread[one]):
            shared = ((one, called[other]), (other, called[one]))
            overlap = max((busy[name].within(calls.starts, calls.ends) > 0).mean() for name, calls in shared)
            used = ((model == name) & predicted for name in (one, other))
            if overlap <= idleness.TURN_OVERLAP or idleness.are_at_once(times.starts, times.ends, *used):
                thread = {name: thread[one] if number == thread[other] else number for name, number in thread.items()}
    return np.array([thread[name] for name in names], np.int64)[place_of]


def _followed(times: Intervals, thread: IntArray, model: IntArray) -> tuple[IndexArray, BoolArray]:
    """Shape (calls,) each: the call of its thread that each one follows, -1 for none, and whether it follows the start.

    A call that begins while another one of its thread runs follows what its kind follows more evenly: the start of the
    one before, or the end of the one that ended last, as where only so many may be in flight; of two models, the start.
    O(n log n).
    """
    previous, from_start = np.full(len(times), -1, np.intp), np.zeros(len(times), np.bool_)
    for number in distinct_numbers(thread).tolist():
        mine = np.flatnonzero(thread == number)
        starts, ends = times.starts[mine], times.ends[mine]
        by_end = np.argsort(ends, kind="stable")
        place = places(ends[by_end], starts, "right") - 1
        index, before = np.arange(len(mine)), np.arange(-1, len(mine) - 1)
        ended = np.where(place >= 0, by_end[np.maximum(place, 0)], -1)
        ended = np.where(ended < index, ended, -1)
        running = np.append(False, np.maximum.accumulate(ends)[:-1] > starts[1:])
        both = running & (ended >= 0)
        steps, gaps = (starts - starts[before])[both], (starts - ends[ended])[both]
        without_waiting = bool(len(steps)) and quartile_distance(steps) < quartile_distance(gaps)
        from_start[mine] = running & (without_waiting | (ended < 0) | (model[mine] != model[mine[before]]))
        chosen = np.where(from_start[mine] | (ended < 0), before, ended)
        from_start[mine] |= (ended < 0) & (before >= 0)
        previous[mine] = np.where(chosen >= 0, mine[chosen], -1)
    return previous, from_start


def _beats(calls: Calls, thread: IntArray, model: IntArray) -> tuple[BoolArray, frozenset[str]]:
    """Calls that wait for their time: shape (calls,), and the models that mostly keep a beat. A round of calls waits
    after its longest gap, with whichever call of its thread."""
    found, paced = np.zeros(len(calls), np.bool_), set()
    predicted, times = calls.kind.is_any(Kind.PREDICTION), Intervals.from_rows(calls)
    each = CallTimes.from_rows(calls)
    rows_of = {number: np.flatnonzero(thread == number) for number in distinct_numbers(thread).tolist()}
    asked = {number: idleness.CoreMLCalls.of(times.where(mine), model[mine]) for number, mine in rows_of.items()}
    for code in distinct_numbers(model[predicted & (model >= 0)]).tolist():
        rows = each.where(predicted & (model == code))
        number = int(thread[model == code][0])
        mine, work = rows_of[number], asked[number]
        idle = idleness.idle_times(work, code, rows.start_ns, burst_numbers(rows), 2)
        keeps = paced_stretches(idle, rows) >= 0
        if not keeps.any():
            continue
        ends = np.append(idle.gaps.ends[idle.longest[keeps[idle.step[idle.longest]]]], np.iinfo(np.int64).max)
        waits = ends[places(ends, work.begin_ns)] == work.begin_ns
        found[mine] |= waits
        if 2 * waits.sum() >= len(rows):
            paced.add(calls.model.values[code])
    return found, frozenset(paced)


def _joined(times: Intervals, unit: IntArray, call: IndexArray) -> tuple[IndexArray, Intervals]:
    """The first rows of pieces, in the order of their starts as `times` are, and their times: what a unit does for a
    call without a break was handed over at once. O(n log n)."""
    # Work of others is never joined.
    run, _ = first_codes(np.where(call >= 0, call * 8 + unit, -1 - np.arange(len(call))))
    order = np.argsort(run, kind="stable")
    apart = times.starts[order][1:] - running_end(run[order], times.ends[order])[:-1] > AT_ONCE_NS
    new = np.append(True, (np.diff(run[order]) != 0) | apart)
    opens = np.flatnonzero(new[: len(order)])
    starts = times.starts[order[opens]]
    ends = np.maximum.reduceat(times.ends[order], opens) if len(opens) else starts
    by_start = np.argsort(starts, kind="stable")
    return order[opens][by_start], Intervals(starts[by_start], ends[by_start])
