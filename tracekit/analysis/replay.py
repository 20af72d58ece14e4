"""The recorded schedule, run again without some of its work: when calls would have run.

Each call has time of its own and works on units piece by piece. A unit takes pieces in the order in which they are
handed to it. A call begins a recorded gap after the one that it follows, or at its own time where something outside,
such as a camera or the user, sets it. All else is kept as a length, so that a schedule in which nothing changes gives
the recorded times back exactly.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace

import numpy as np

from tracekit.analysis.statistics import medians_by_group
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals, running_end
from tracekit.sorting import distinct_numbers, group_edges, places

NO_QUEUE = -1
"""Number of a unit that works for everyone at once."""
AS_RECORDED = int(np.iinfo(np.int64).max)
MOST_HAND_OVER_NS = 1_000_000
"""A piece that begins later after the end of the one before did not wait for the unit. Published recordings show 0.1 to
0.3 ms between works on the Neural Engine (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """Calls, sorted by start, and pieces with length on units, sorted by start. Shape (calls,) or (pieces,)."""

    calls: Intervals
    """Recorded times of the calls."""
    previous: IndexArray
    """The earlier call that each one follows; -1: none, it starts at its time."""
    gap_ns: IntArray
    """From the end of the call that it follows to its start."""
    from_start: BoolArray
    """The gap counts from the start of the call that it follows: the app did not wait for the answer."""
    anchored: BoolArray
    """The call starts at its time, or when the one that it follows has ended, if that is later."""
    gate: IndexArray
    """A further earlier call that must have ended before; -1: none."""
    kind: IntArray
    """Which calls count together for `in_flight`."""
    in_flight: IntArray
    """So many of its kind are in flight at most; who is asked first starts first. 0: any number."""
    last: IndexArray
    """The piece after which only own time of the call is left; -1: it has no piece."""
    rest_ns: IntArray
    """Own time after that piece, or all of it."""

    pieces: Intervals
    """Recorded times of the pieces."""
    unit: IntArray
    """Number of the unit, or `NO_QUEUE`."""
    call: IndexArray
    """The call of the piece; -1 for work of others, which is handed over at its recorded start."""
    after: IndexArray
    """The piece of the same call that it follows; -1: the start of the call."""
    lead_ns: IntArray
    """Own time of the call from there until the piece is handed over; of others, the time of that."""
    hand_over_ns: IntArray
    """From the end of what the unit did before to the start, if the piece waits. Negative where the unit did both."""
    work_ns: IntArray


def schedule_of(
    calls: Intervals,
    previous: IndexArray,
    from_start: BoolArray,
    anchored: BoolArray,
    pieces: Intervals,
    unit: IntArray,
    call: IndexArray,
    group: IntArray,
    ready: IntArray,
) -> Schedule:
    """The schedule that recorded times show; the arguments as in `Schedule`.

    `group`: shape (pieces,), from 0 on, the same for pieces that usually take the same time to be handed over once the
    call was `ready`: shape (pieces,), when it had done what rows show of it before, such as copies. A piece that does
    not lie in its call counts as work of others. O((n + m) log (n + m)).
    """
    starts, ends = at_or(calls.starts, call, 0), at_or(calls.ends, call, 0)
    call = np.where((pieces.starts >= starts) & (pieces.ends <= ends), call, -1)
    after, last = _order_in_calls(pieces, call, calls)
    since = np.where(call < 0, pieces.starts, at_or(pieces.ends, after, starts))
    free, ended = _busy_until(pieces, unit)
    ready = _handed_over(pieces, unit, call, group, np.clip(ready, since, pieces.starts), ended)
    # Work that the idle unit began late after it had been handed over was on its way.
    begin = np.where(pieces.starts - free > MOST_HAND_OVER_NS, ready, pieces.starts)
    passed, waited = np.where(free == -AS_RECORDED, 0, begin - free), ready < begin
    usual = medians_by_group(passed[waited], unit[waited], int(unit.max(initial=-1)) + 1)
    usual_ns = np.nan_to_num(usual)[unit].astype(np.int64)
    reference = np.where(from_start, at_or(calls.starts, previous, 0), at_or(calls.ends, previous, 0))
    return Schedule(
        calls=calls,
        previous=previous,
        gap_ns=np.where(previous >= 0, calls.starts - reference, 0),
        from_start=from_start,
        anchored=anchored,
        gate=np.full(len(calls), -1, np.intp),
        kind=np.zeros(len(calls), np.int64),
        in_flight=np.zeros(len(calls), np.int64),
        last=last,
        rest_ns=calls.ends - at_or(pieces.ends, last, calls.starts),
        pieces=pieces,
        unit=unit,
        call=call,
        after=after,
        lead_ns=np.where(call < 0, ready, ready - since),
        # As recorded for those that waited or that overlap what was before, else what is usual.
        hand_over_ns=np.where(waited, passed, np.minimum(passed, usual_ns)),
        work_ns=pieces.ends - begin,
    )


def replay(schedule: Schedule) -> Intervals:
    """When each call runs, shape (calls,). O((n + m) log (n + m)), and some ten times as fast where one call follows
    the other and none waits for a unit.

    Time goes on from event to event. A piece is handed over when its call is ready, and begins when its unit is.
    """
    quickly = in_a_row(schedule)
    return _event_by_event(schedule) if quickly is None else quickly


def _event_by_event(schedule: Schedule) -> Intervals:
    first, then, at_start, at_end = _followers(schedule)
    # Single values of lists are read much faster than those of arrays.
    owner, lead, previous = schedule.call.tolist(), schedule.lead_ns.tolist(), schedule.previous.tolist()
    unit, work, hand_over = schedule.unit.tolist(), schedule.work_ns.tolist(), schedule.hand_over_ns.tolist()
    from_start, last, rest = schedule.from_start.tolist(), schedule.last.tolist(), schedule.rest_ns.tolist()
    earliest = np.where(schedule.anchored | (schedule.previous < 0), schedule.calls.starts, 0).tolist()
    gap = np.where(schedule.anchored, 0, schedule.gap_ns).tolist()
    waits = ((schedule.previous >= 0).astype(np.int64) + (schedule.gate >= 0)).tolist()
    # Of calls that are asked for at once, units show which came first.
    order = np.lexsort((at_or(schedule.pieces.starts, schedule.last, schedule.calls.ends), schedule.calls.starts))
    by_turn, turn = order.tolist(), np.argsort(order).tolist()
    events = [(lead[piece], _PIECE, piece) for piece in range(len(owner)) if owner[piece] < 0]
    events += [(earliest[call], _START, turn[call]) for call, wait in enumerate(waits) if not wait]
    heapq.heapify(events)
    start, end = ([0] * len(by_turn) for _ in range(2))
    kind, limit = schedule.kind.tolist(), schedule.in_flight.tolist()
    running, asked = Counter[int](), defaultdict[int, deque[int]](deque)
    free = _free_until(schedule)

    def let_go(call: int, now: int, waiting: list[int], starts: bool) -> None:
        for each in waiting:
            follows = previous[each] == call and from_start[each] == starts
            earliest[each] = max(earliest[each], now + gap[each] * follows)
            waits[each] -= 1
            if not waits[each]:
                heapq.heappush(events, (earliest[each], _START, turn[each]))

    def begin(call: int, now: int) -> None:
        if limit[call] and running[kind[call]] >= limit[call]:
            asked[kind[call]].append(call)
            return
        start[call] = now
        running[kind[call]] += limit[call] > 0
        let_go(call, now, at_start[call], starts=True)
        for piece in first[call]:
            heapq.heappush(events, (now + lead[piece], _PIECE, piece))
        if last[call] < 0:
            heapq.heappush(events, (now + rest[call], _END, call))

    while events:
        now, what, index = heapq.heappop(events)
        if what == _PIECE:
            place = unit[index]
            done = work[index] + (now if place == NO_QUEUE else max(now, free[place] + hand_over[index]))
            free[place] = max(free[place], done)
            for piece in then[index]:
                heapq.heappush(events, (done + lead[piece], _PIECE, piece))
            if owner[index] >= 0 and last[owner[index]] == index:
                heapq.heappush(events, (done + rest[owner[index]], _END, owner[index]))
        elif what == _START:
            begin(by_turn[index], now)
        else:
            end[index] = now
            running[kind[index]] -= limit[index] > 0
            if asked[kind[index]]:
                begin(asked[kind[index]].popleft(), now)
            let_go(index, now, at_end[index], starts=False)
    return Intervals(np.array(start, np.int64), np.array(end, np.int64))


def _free_until(schedule: Schedule) -> dict[int, int]:
    """When each unit is free: work of others that is its first begins at its time, however early it was handed over."""
    units, first = np.unique(schedule.unit, return_index=True)
    free = np.where(schedule.call[first] >= 0, -AS_RECORDED, schedule.pieces.starts[first])
    return dict(zip(units.tolist(), free.tolist(), strict=True))


def asked_at(schedule: Schedule, after: Intervals) -> IntArray:
    """Shape (calls,): when the app asks for each call of a replay, which begins later where too many are in flight. An
    app that asks without waiting for an answer does not wait for the start either. O(n)."""
    asked, ends = schedule.calls.starts.tolist(), after.ends.tolist()
    orders = (schedule.previous, schedule.gap_ns, schedule.from_start, schedule.anchored)
    for call, (previous, gap, from_start, anchored) in enumerate(zip(*(each.tolist() for each in orders), strict=True)):
        if previous >= 0:
            since = asked[previous] if from_start else ends[previous]
            asked[call] = max(asked[call], since) if anchored else since + gap
    return np.array(asked, np.int64)


def _followers(schedule: Schedule) -> tuple[list[list[int]], ...]:
    """What goes on once something else has: the pieces that a call begins with, those after each piece, and the calls
    after the start and after the end of each call."""
    first, at_start, at_end = ([list[int]() for _ in range(len(schedule.calls))] for _ in range(3))
    then = [list[int]() for _ in schedule.unit]
    for piece, (call, before) in enumerate(zip(schedule.call.tolist(), schedule.after.tolist(), strict=True)):
        if call >= 0:
            (then[before] if before >= 0 else first[call]).append(piece)
    orders = (schedule.previous, schedule.gate, schedule.from_start)
    for call, (previous, gate, from_start) in enumerate(zip(*(order.tolist() for order in orders), strict=True)):
        if previous >= 0:
            (at_start if from_start else at_end)[previous].append(call)
        if gate >= 0:
            at_end[gate].append(call)
    return first, then, at_start, at_end


def in_a_row(schedule: Schedule) -> Intervals | None:
    """The answer of `replay` where each call follows the one before and no piece waits for its unit; else None."""
    count, pieces = len(schedule.calls), np.arange(len(schedule.pieces))
    follows = (schedule.previous == np.arange(count) - 1).all() and (schedule.gate < 0).all()
    if not count or not follows or schedule.from_start.any() or schedule.in_flight.any():
        return None
    # Times since the start of the call first: pieces of the same place in their calls at once.
    order = np.argsort(schedule.call, kind="stable")
    call = schedule.call[order]
    place = np.where(call < 0, 0, pieces - group_edges(call + 1, count + 1)[call + 1])
    by_place = order[np.argsort(place, kind="stable")]
    ready, done = np.zeros((2, len(pieces)), np.int64)
    for some in np.split(by_place, np.cumsum(np.bincount(place))[:-1]) if len(pieces) else ():
        ready[some] = at_or(done, schedule.after[some], 0) + schedule.lead_ns[some]
        done[some] = ready[some] + schedule.work_ns[some]
    length = schedule.rest_ns + at_or(done, schedule.last, 0)
    gap = np.where(schedule.anchored, 0, schedule.gap_ns)
    earliest = np.where(schedule.anchored | (schedule.previous < 0), schedule.calls.starts, 0)
    passed = np.cumsum(np.append(0, length[:-1]) + gap)
    start = passed + np.maximum.accumulate(earliest - passed)
    begin, end = (at_or(start, schedule.call, 0) + times for times in (ready, done))
    order = np.lexsort((begin, schedule.unit))
    order = order[schedule.unit[order] != NO_QUEUE]
    free = running_end(schedule.unit[order], end[order])[:-1] + schedule.hand_over_ns[order][1:]
    waits = (np.diff(schedule.unit[order]) == 0) & (begin[order][1:] < free)
    return None if waits.any() else Intervals(start, start + length)


_END, _START, _PIECE = range(3)
"""Events, in the order in which those of one time happen."""


def rate_in_flight(schedule: Schedule, mine: BoolArray, opens: BoolArray, count: int) -> float:
    """How many times the throughput is if `count` calls of those in `mine` run at once, each following the end of the
    one so many before; runs of them begin where one `opens`. Shape (calls,) each. O((n + m) log (n + m))."""
    index = np.flatnonzero(mine)
    first = np.flatnonzero(opens[index] | (np.arange(len(index)) == 0))
    place = np.arange(len(index)) - first[np.cumsum(np.isin(np.arange(len(index)), first)) - 1]
    previous, gap = schedule.previous.copy(), schedule.gap_ns.copy()
    from_start, anchored = schedule.from_start.copy(), schedule.anchored.copy()
    later, early = place >= count, (place > 0) & (place < count)
    previous[index[later]] = index[np.flatnonzero(later) - count]
    previous[index[early]], gap[index[early]] = index[(np.arange(len(index)) - place)[early]], 0
    from_start[index[later]], from_start[index[early]] = False, True
    anchored[index[later | early]] = False
    after = replay(replace(schedule, previous=previous, gap_ns=gap, from_start=from_start, anchored=anchored))
    before_ns, after_ns = (
        int((np.maximum.reduceat(times.ends[index], first) - times.starts[index][first]).sum())
        for times in (schedule.calls, after)
    )
    return before_ns / max(after_ns, 1)


def at_or(values: IntArray, index: IndexArray, otherwise: IntArray | int) -> IntArray:
    """The values at these indexes, and something else where an index is -1."""
    if not len(values):
        return np.broadcast_to(np.asarray(otherwise, np.int64), index.shape).copy()
    return np.where(index >= 0, values[np.maximum(index, 0)], otherwise)


def _order_in_calls(pieces: Intervals, call: IndexArray, calls: Intervals) -> tuple[IndexArray, IndexArray]:
    """Shape (pieces,): the piece of the same call that ended last before each, or -1; shape (calls,): the piece of each
    call that ends last, or -1."""
    after, last = np.full(len(pieces), -1, np.intp), np.full(len(calls), -1, np.intp)
    own = np.flatnonzero(call >= 0)
    # Each call has a stretch of time of its own.
    shift = (np.cumsum(calls.durations + 1) - calls.ends)[call[own]]
    starts, ends = pieces.starts[own] + shift, pieces.ends[own] + shift
    by_end = np.argsort(ends, kind="stable")
    place = places(ends[by_end], starts, "right") - 1
    before = own[by_end[place]]
    after[own] = np.where((place >= 0) & (call[before] == call[own]), before, -1)
    last[call[own[by_end]]] = own[by_end]
    return after, last


def _busy_until(pieces: Intervals, unit: IntArray) -> tuple[IntArray, IntArray]:
    """Shape (pieces,) each, far in the past where there is nothing before: when the unit had done all that began before
    the piece, and the last end of work of the unit up to its start."""
    free, ended = np.full((2, len(pieces)), -AS_RECORDED)
    for number in distinct_numbers(unit).tolist():
        index = np.flatnonzero(unit == number)
        free[index[1:]] = np.maximum.accumulate(pieces.ends[index])[:-1]
        ends = np.sort(pieces.ends[index], kind="stable")  # Nearly in the order of the starts.
        place = places(ends, pieces.starts[index], "right") - 1
        ended[index] = np.where(place >= 0, ends[place], -AS_RECORDED)
    return free, ended


def _handed_over(
    pieces: Intervals, unit: IntArray, call: IndexArray, group: IntArray, since: IntArray, ended: IntArray
) -> IntArray:
    """Shape (pieces,): when each was handed to its unit: at its start where the unit was free, else after the time that
    it usually takes its `group` from `since` on, but not before what the unit began earlier. Work of others was handed
    over before what waited behind it."""
    took, busy = pieces.starts - since, ended > since
    size = int(group.max(initial=-1)) + 1
    usual = medians_by_group(took[~busy], group[~busy], size)
    least, longest = np.full(size, AS_RECORDED), np.zeros(size, np.int64)
    np.minimum.at(least, group, took)
    np.maximum.at(longest, group, took)
    # All found the unit busy: the shortest waited hardly, unless all waited alike, or others usually wait for less.
    unit_of, others = np.zeros(size, np.int64), np.full(int(unit.max(initial=-1)) + 1, np.inf)
    unit_of[group] = unit
    known = ~np.isnan(usual)
    np.fmin.at(others, unit_of[known], usual[known])
    unknown = np.where(least <= longest // 2, np.minimum(least, others[unit_of]), 0)
    expected = since + np.minimum(took, np.where(np.isnan(usual), unknown, usual)[group].astype(np.int64))
    waited = busy & (expected < ended) & (pieces.starts - ended <= MOST_HAND_OVER_NS)
    ready = np.where(waited, expected, pieces.starts)
    for number in distinct_numbers(unit).tolist():
        index = np.flatnonzero(unit == number)
        before = np.minimum.accumulate(np.where(call[index] >= 0, ready[index], AS_RECORDED)[::-1])[::-1]
        handed = np.where(call[index] < 0, np.minimum(ready[index], before), ready[index])
        ready[index] = np.maximum.accumulate(handed)
    return ready
