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


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What fixes take out of a schedule."""

    gone: BoolArray
    """Shape (calls,): nobody waits for the call any more."""
    most_ns: IntArray
    """Shape (calls,): so long it takes at most, or `AS_RECORDED`."""
    in_flight: IntArray
    """Shape (calls,): so many calls of its kind are in flight at most, itself included; 0: as recorded."""
    ahead: BoolArray
    """Shape (calls,): what the app does before the call, and before others on the way to it, it does while the one
    before runs. Where two are in flight, each waits for its own preparation only."""
    kind: IntArray
    """Shape (calls,): which calls count together for `in_flight`."""
    sooner_ns: IntArray
    """Shape (calls,): so much of the gap before the call goes; a call that loses any waits for no time of its own."""
    merged: IntArray
    """Shape (calls,): calls with the same number become one; -1: the call stays by itself."""
    elsewhere: BoolArray
    """Shape (pieces,): the piece is done where nobody waits behind it."""
    own: Intervals
    """Own time of calls that goes."""
    own_call: IndexArray
    """The call of each of these."""

    @property
    def timed(self) -> BoolArray:
        """Shape (calls,): calls of models whose time from call to call shrinks. Of those that become one, the first."""
        timed: BoolArray = self.ahead | ((self.sooner_ns > 0) ^ (self.merged >= 0))
        return timed

    @classmethod
    def none(cls, schedule: Schedule, kind: IntArray) -> Changes:
        """Nothing changes; `kind` is that of each call."""
        calls, pieces = len(schedule.calls), len(schedule.pieces)
        no_call, no_piece = np.zeros(calls, np.bool_), np.zeros(pieces, np.bool_)
        most, zero, alone = np.full(calls, AS_RECORDED), np.zeros(calls, np.int64), np.full(calls, -1)
        own, own_call = Intervals.none(), np.zeros(0, np.intp)
        return cls(no_call, most, zero, no_call, kind, zero, alone, no_piece, own, own_call)

    def joined(self, other: Changes) -> Changes:
        """Both. O(n)."""
        fewer, more = (pick(self.in_flight, other.in_flight) for pick in (np.minimum, np.maximum))
        return Changes(
            self.gone | other.gone,
            np.minimum(self.most_ns, other.most_ns),
            np.where(fewer > 0, fewer, more),
            self.ahead | other.ahead,
            self.kind,
            np.maximum(self.sooner_ns, other.sooner_ns),
            np.maximum(self.merged, other.merged),
            self.elsewhere | other.elsewhere,
            self.own.joined(other.own),
            np.concatenate((self.own_call, other.own_call)),
        )


def as_one(times: Intervals, changes: Changes, mine: BoolArray) -> Intervals:
    """Calls that become one, from the first start to the last end: those with the numbers of `mine`, shape (calls,).
    O(n log n)."""
    chosen = np.flatnonzero(np.isin(changes.merged, changes.merged[mine & (changes.merged >= 0)]))
    chosen = chosen[np.argsort(changes.merged[chosen], kind="stable")]
    opens = np.flatnonzero(np.diff(changes.merged[chosen], prepend=-1))
    if not len(opens):
        return Intervals.none()
    starts, ends = times.starts[chosen], times.ends[chosen]
    return Intervals(np.minimum.reduceat(starts, opens), np.maximum.reduceat(ends, opens))


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
    starts, ends = _at(calls.starts, call, 0), _at(calls.ends, call, 0)
    call = np.where((pieces.starts >= starts) & (pieces.ends <= ends), call, -1)
    after, last = _order_in_calls(pieces, call, calls)
    since = np.where(call < 0, pieces.starts, _at(pieces.ends, after, starts))
    free, ended = _busy_until(pieces, unit)
    ready = _handed_over(pieces, unit, call, group, np.clip(ready, since, pieces.starts), ended)
    # Work that the idle unit began late after it had been handed over was on its way.
    begin = np.where(pieces.starts - free > MOST_HAND_OVER_NS, ready, pieces.starts)
    reference = np.where(from_start, _at(calls.starts, previous, 0), _at(calls.ends, previous, 0))
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
        rest_ns=calls.ends - _at(pieces.ends, last, calls.starts),
        pieces=pieces,
        unit=unit,
        call=call,
        after=after,
        lead_ns=np.where(call < 0, ready, ready - since),
        hand_over_ns=_hand_over(begin, unit, ready, free),
        work_ns=pieces.ends - begin,
    )


def replay(schedule: Schedule) -> Intervals:
    """When each call runs, shape (calls,). O((n + m) log (n + m)), and some ten times as fast where one call follows
    the other and none waits for a unit.

    Time goes on from event to event. A piece is handed over when its call is ready, and begins when its unit is.
    """
    quickly = in_a_row(schedule)
    if quickly is not None:
        return quickly
    count = len(schedule.calls)
    first, then, at_start, at_end = _followers(schedule)
    # Single values of lists are read much faster than those of arrays.
    owner, lead, previous = schedule.call.tolist(), schedule.lead_ns.tolist(), schedule.previous.tolist()
    unit, work, hand_over = schedule.unit.tolist(), schedule.work_ns.tolist(), schedule.hand_over_ns.tolist()
    from_start, last, rest = schedule.from_start.tolist(), schedule.last.tolist(), schedule.rest_ns.tolist()
    anchored = schedule.anchored | (schedule.previous < 0)
    earliest = np.where(anchored, schedule.calls.starts, 0).tolist()
    gap = np.where(anchored, 0, schedule.gap_ns).tolist()
    waits = ((schedule.previous >= 0).astype(np.int64) + (schedule.gate >= 0)).tolist()
    # Of calls that are asked for at once, units show which came first.
    order = np.lexsort((_at(schedule.pieces.starts, schedule.last, schedule.calls.ends), schedule.calls.starts))
    by_turn, turn = order.tolist(), np.argsort(order).tolist()
    events = [(lead[piece], _PIECE, piece) for piece in range(len(owner)) if owner[piece] < 0]
    events += [(earliest[call], _START, turn[call]) for call in range(count) if not waits[call]]
    heapq.heapify(events)
    start, end = [0] * count, [0] * count
    kind, limit = schedule.kind.tolist(), schedule.in_flight.tolist()
    running, asked = Counter[int](), defaultdict[int, deque[int]](deque)
    # Work of others that is the first of its unit begins at its time, however early it was handed over.
    opens = zip(*(each.tolist() for each in np.unique(schedule.unit, return_index=True)), strict=True)
    free = {place: -AS_RECORDED if owner[piece] >= 0 else int(schedule.pieces.starts[piece]) for place, piece in opens}

    def let_go(call: int, now: int, waiting: list[int], starts: bool) -> None:
        for each in waiting:
            follows = previous[each] == call and from_start[each] == starts
            earliest[each] = max(earliest[each], now + (gap[each] if follows else 0))
            waits[each] -= 1
            if not waits[each]:
                heapq.heappush(events, (earliest[each], _START, turn[each]))

    def begin(call: int, now: int) -> None:
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
            call = by_turn[index]
            if limit[call] and running[kind[call]] >= limit[call]:
                asked[kind[call]].append(call)
            else:
                begin(call, now)
        else:
            end[index] = now
            running[kind[index]] -= limit[index] > 0
            if asked[kind[index]]:
                begin(asked[kind[index]].popleft(), now)
            let_go(index, now, at_end[index], starts=False)
    return Intervals(np.array(start, np.int64), np.array(end, np.int64))


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
        ready[some] = _at(done, schedule.after[some], 0) + schedule.lead_ns[some]
        done[some] = ready[some] + schedule.work_ns[some]
    length = schedule.rest_ns + _at(done, schedule.last, 0)
    gap = np.where(schedule.anchored, 0, schedule.gap_ns)
    earliest = np.where(schedule.anchored | (schedule.previous < 0), schedule.calls.starts, 0)
    passed = np.cumsum(np.append(0, length[:-1]) + gap)
    start = passed + np.maximum.accumulate(earliest - passed)
    begin, end = (_at(start, schedule.call, 0) + times for times in (ready, done))
    order = np.lexsort((begin, schedule.unit))
    order = order[schedule.unit[order] != NO_QUEUE]
    free = running_end(schedule.unit[order], end[order])[:-1] + schedule.hand_over_ns[order][1:]
    waits = (np.diff(schedule.unit[order]) == 0) & (begin[order][1:] < free)
    return None if waits.any() else Intervals(start, start + length)


_END, _START, _PIECE = range(3)
"""Events, in the order in which those of one time happen."""


def changed(schedule: Schedule, changes: Changes) -> Schedule:
    """The schedule without what fixes take away. O((n + m) log (n + m))."""
    calls, pieces, call = schedule.calls, schedule.pieces, schedule.call
    lead, work, rest = schedule.lead_ns.copy(), schedule.work_ns.copy(), schedule.rest_ns.copy()
    own = call >= 0
    if len(changes.own):
        since = _at(pieces.ends, schedule.after, _at(calls.starts, call, 0))
        # Own time that goes may lie where the call waited already: then it hid behind the wait, up to the start.
        cut = _own_time(changes, call[own], since[own], pieces.starts[own])
        lead[own] = np.maximum(lead[own] - cut, 0)
        cut = _own_time(changes, np.arange(len(calls)), calls.ends - rest, calls.ends)
        rest = np.maximum(rest - cut, 0)
    gone = own & changes.gone[np.maximum(call, 0)] if len(calls) else own
    lead[gone] = work[gone] = 0
    rest[changes.gone] = 0
    by_call, longer = np.argsort(call, kind="stable"), np.flatnonzero(changes.most_ns < calls.durations)
    bounds = np.searchsorted(call[by_call], np.stack((longer, longer + 1), axis=1))
    for index, (first, end) in zip(longer.tolist(), bounds.tolist(), strict=True):
        excess = max(int(calls.durations[index] - changes.most_ns[index]) - _waited(schedule, index), 0)
        own_pieces = by_call[first:end].tolist()
        # Of its own time, after its pieces and then before them; then of these.
        for lengths, at in ((rest, index), *((part, piece) for part in (lead, work) for piece in own_pieces)):
            taken = min(excess, int(lengths[at]))
            lengths[at] -= taken
            excess -= taken
    unit = np.where(changes.elsewhere | gone, NO_QUEUE, schedule.unit)
    gap, anchored = np.maximum(schedule.gap_ns - changes.sooner_ns, 0), schedule.anchored & (changes.sooner_ns == 0)
    schedule = replace(schedule, rest_ns=rest, lead_ns=lead, work_ns=work, unit=unit)
    schedule = replace(schedule, gap_ns=gap, anchored=anchored, kind=changes.kind, in_flight=changes.in_flight)
    return _prepared_ahead(schedule, changes)


def _prepared_ahead(schedule: Schedule, changes: Changes) -> Schedule:
    """The schedule whose app prepares each round, from a call to the next one that is `ahead`, during the round before.
    Loads and calls of other models in it still follow one another: only the gaps go. Without any, several calls may be
    in flight, each prepared after the one that made room for it has ended: two at most double the rate. O(calls) for
    each call of the longest round."""
    previous, gap, gate = (each.copy() for each in (schedule.previous, schedule.gap_ns, schedule.gate))
    from_start, fixed = schedule.from_start.copy(), schedule.from_start | (schedule.anchored & ~changes.ahead)
    # What the app asks of another model without waiting goes along with the call that it asked before.
    kind, size = changes.kind, int(changes.kind.max(initial=0)) + 1
    along = from_start & (kind != _at(kind, previous, kind))
    lead = np.where(along, previous, np.arange(len(gap)))
    while (lead[lead] != lead).any():
        lead = lead[lead]
    held = (lead * size + kind)[changes.in_flight > 0]
    call = np.flatnonzero(changes.ahead)
    opens = lead[call]
    before, total = previous[opens], gap[opens]
    inner: list[tuple[IndexArray, IndexArray]] = []
    usable = ~fixed[opens] & (before >= 0)
    # The calls that rounds end with have a limit, the first of them too.
    while len(on := np.flatnonzero(usable & ~np.isin(lead[before] * size + kind[call], held))):
        inner.append((on, opens[on]))
        opens[on] = lead[before[on]]
        before[on] = previous[opens[on]]
        total[on] += gap[opens[on]]
        usable[on] = ~fixed[opens[on]] & (before[on] >= 0)
    for rounds, calls in inner:
        gap[calls[usable[rounds]]] = 0
    call, opens, before, total = call[usable], opens[usable], before[usable], total[usable]
    begins, ready, single = lead.copy(), np.zeros(len(gap), np.bool_), np.bincount(lead)[lead] == 1
    begins[lead[call]], ready[call] = opens, True
    single[call] &= opens == call
    # A call beside one whose round holds others would overtake these.
    several = single[call] & single[before] & (changes.in_flight[call] > 1)
    waits, began = several & ready[before], begins[lead[before]]
    for count in range(2, int(changes.in_flight.max(initial=0))):
        on = np.flatnonzero(waits & (changes.in_flight[call] > count))
        earlier = schedule.previous[began[on]]
        began[on], waits[on] = begins[lead[earlier]], single[earlier] & ready[earlier]
    previous[opens] = np.where(waits, schedule.previous[began], began)
    gap[opens], from_start[opens] = total, ~waits
    gate[opens[~several]] = before[~several]
    anchored = schedule.anchored & ~ready
    return replace(schedule, previous=previous, gap_ns=gap, gate=gate, from_start=from_start, anchored=anchored)


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


def _waited(schedule: Schedule, call: int) -> int:
    """How long a call waited for units. O(its pieces)."""
    piece, waited = int(schedule.last[call]), 0
    while piece >= 0:
        before = int(schedule.after[piece])
        since = schedule.pieces.ends[before] if before >= 0 else schedule.calls.starts[call]
        waited += int(schedule.pieces.starts[piece] - since - schedule.lead_ns[piece])
        piece = before
    return waited


def _own_time(changes: Changes, call: IndexArray, low: IntArray, high: IntArray) -> IntArray:
    """Time in each window of a call that goes: shape (windows,). O((n + m) log n)."""
    # Each call that loses time has a stretch of time of its own.
    losing = np.zeros(int(max(changes.own_call.max(), call.max(initial=0))) + 1, np.bool_)
    losing[changes.own_call] = True
    shift = (np.cumsum(losing) - 1) * (int(max(changes.own.ends.max(), high.max(initial=0))) + 1)
    own = Intervals(changes.own.starts + shift[changes.own_call], changes.own.ends + shift[changes.own_call])
    found = own.covered_time().within(low + shift[call], high + shift[call])
    return np.where((call >= 0) & losing[call], found, 0)


def _at(values: IntArray, index: IndexArray, otherwise: IntArray | int) -> IntArray:
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


def _hand_over(begin: IntArray, unit: IntArray, ready: IntArray, free: IntArray) -> IntArray:
    """Shape (pieces,): as recorded for those that waited or that overlap what was before, else what is usual."""
    passed = np.where(free == -AS_RECORDED, 0, begin - free)
    waited = ready < begin
    size = int(unit.max(initial=-1)) + 1
    usual = np.nan_to_num(medians_by_group(passed[waited], unit[waited], size))[unit].astype(np.int64)
    return np.where(waited, passed, np.minimum(passed, usual))
