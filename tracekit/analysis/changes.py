"""What fixes take out of a schedule: calls, own time, limits, and gaps in which the app prepares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracekit.analysis.replay import AS_RECORDED, NO_QUEUE, Schedule, at_or
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals


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


def changed(schedule: Schedule, changes: Changes) -> Schedule:
    """The schedule without what fixes take away. O((n + m) log (n + m))."""
    calls, pieces, call = schedule.calls, schedule.pieces, schedule.call
    lead, work, rest = schedule.lead_ns.copy(), schedule.work_ns.copy(), schedule.rest_ns.copy()
    own = call >= 0
    if len(changes.own):
        since = at_or(pieces.ends, schedule.after, at_or(calls.starts, call, 0))
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
    along = from_start & (kind != at_or(kind, previous, kind))
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
