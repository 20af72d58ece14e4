"""When an inferred call began and ended, at the earliest and at the latest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.trace.calls.hardware import FEW, Work
from tracekit.trace.calls.join import SHORT, Joined
from tracekit.trace.calls.names import keys_of
from tracekit.trace.calls.owners import OUTLIVES_NS
from tracekit.trace.calls.pieces import APART, LOST, Pieces, Timeline, usual_spans
from tracekit.trace.calls.stacks import BEGUN, UNDER_WAY, Api

_VISIBLE: Final = 2
"""Samples between calls, or missing ones where the thread rests, from which on none is overlooked (heuristic)."""
_BEGUN: Final = 0.9
"""Share of calls of which the beginning is sampled, from which on each is seen to begin (heuristic)."""
_LASTS: Final = 2
"""Samples in which a call begins, from which on no beginning is overlooked (heuristic)."""
_TWICE: Final = 1.7
"""Times the length of short calls from which on one may be two (heuristic)."""
_CAUGHT: Final = 6
"""Calls whose beginning or end is sampled, from which on that of others would be too (heuristic)."""


def bounds_of(
    line: Timeline, pieces: Pieces, work: Work, calls: Sequence[Joined], mistakable: Sequence[bool]
) -> IntArray:
    """`BOUNDS` of each call: shape (calls, 4). Those that are `mistakable` may be several. O(samples of the calls)."""
    usual, first = usual_spans(line, pieces), _first_calls(line, pieces, calls)
    bounds = [
        _bounds(line, pieces, work, call, usual.get(int(pieces.key[call.chain]), 0), mistakable=several)
        for call, several in zip(calls, mistakable, strict=True)
    ]
    for number in np.flatnonzero(first).tolist():
        call, (low, late, early, high) = calls[number], bounds[number]
        returns = call.work and int(line.time[call.after - 1]) > int(work.ends[call.work].max())
        if not (returns and call.after > call.first) and not work.told[call.work].any():
            # While it waits, another process may compile: that it ends as others do says nothing.
            bounds[number] = low, late, early, max(high, call.high_ns)
    return np.array(bounds, np.int64).reshape(-1, 4)


def _first_calls(line: Timeline, pieces: Pieces, calls: Sequence[Joined]) -> BoolArray:
    """Shape (calls,): loads, compilations, and the predictions that are the first of their place, or of their thread
    after a load: these may wait for what no unit shows. They last until the next sign of the thread."""
    first, seen = np.zeros(len(calls), np.bool_), set[int]()
    loaded: dict[int, bool] = {}
    for number in sorted(range(len(calls)), key=lambda number: calls[number].low_ns):
        place = int(pieces.first[calls[number].chain])
        thread, key = int(line.thread[place]), int(pieces.key[calls[number].chain])
        loads = line.kinds.api.item(int(line.stack[place])) != Api.PREDICTION
        first[number] = loads or key not in seen or loaded.get(thread, False)
        loaded[thread] = loads
        seen.add(key)
    return first


def _bounds(
    line: Timeline, pieces: Pieces, work: Work, call: Joined, usual_ns: int, *, mistakable: bool
) -> tuple[int, int, int, int]:
    """The values of `BOUNDS`. `usual_ns` is how long its site usually is sampled in a row."""
    # First and last time at which samples of its site may be of the call; none where there are none.
    following = call.chain + 1 + int(np.argmax(np.append(pieces.follows[call.chain + 1 :], APART) == APART))
    times = line.time[int(pieces.first[call.chain]) : int(pieces.last[following - 1]) + 1]
    first, after = np.searchsorted(times, call.low_ns, "right"), np.searchsorted(times, call.high_ns, "left")
    seen = [int(times[first]), int(times[after - 1])] if first < after else []
    low, high = call.low_ns, call.high_ns
    last = call.sure if call.sure >= 0 else call.after - 1
    sampled = [int(line.time[place]) for place in (call.first, last)] if last >= call.first else []
    begun = [int(work.begins[each]) for each in call.work]
    ended = [int(work.lasts[each]) for each in call.work]
    # A thread that is not sampled before, and wakes up as the GPU is done, has waited for it.
    quiet, until = (sampled[1] if sampled else low) + line.period_ns, high - line.period_ns
    done = [
        each - (OUTLIVES_NS if work.on_gpu[index] and not (work.told[index] or quiet <= until <= each <= high) else 0)
        for index, each in zip(call.work, ended, strict=True)
        if call.sure < 0 or work.starts[index] <= sampled[1]
    ]
    start_max = max(min((*sampled[:1], *begun)), low)
    end_min = start_max if mistakable else max(*sampled[1:], *done, start_max)
    first_seen, last_seen = min([start_max, *seen[:1]]), max([end_min, *seen[1:], *ended])
    if call.single and not mistakable:
        if sampled and (_begins(line, call.first) or (begun and min(begun) > sampled[0])):
            # A thread that runs is sampled within a period, if none is missed.
            low = max(low, min(first_seen - FEW * line.period_ns, line.silence(first_seen)[0]))
        # It may wait for the Neural Engine to prepare a model at once.
        longest = max(last_seen + FEW * line.period_ns, work.loading.latest_end(last_seen), line.silence(last_seen)[1])
        if call.ends_with_work and done and not (sampled and line.time[last] > max(done)):
            high = min(high, max(longest, *(each + FEW * line.period_ns for each in ended)))
        elif call.ends_with_work and sampled and (done or line.on_cpu[last]):
            high = min(high, longest)
    predicts = not sampled or line.kinds.api.item(int(line.stack[call.first])) == Api.PREDICTION
    reach = work.reach if predicts else work.loading
    if reach is not None and not (sampled and line.prepares[call.first]):
        low = max(low, reach.earliest_start(first_seen))
    if reach is not None and not (sampled and line.prepares[call.after - 1]):
        high = min(high, reach.latest_end(last_seen))
    if sampled and not call.work and line.time[last] - sampled[0] + line.period_ns <= SHORT * usual_ns:
        # Its beginning or its end may have been missed.
        (begin, end), half, most = sampled, line.period_ns // 2, LOST * line.period_ns
        around = (np.searchsorted(line.sampled, begin - half) - 1, np.searchsorted(line.sampled, end + half))
        before = int(line.sampled[around[0]]) if around[0] >= 0 else 0
        behind = int(line.sampled[around[1]]) if around[1] < len(line.sampled) else call.high_ns
        low = min(low, max(before, call.low_ns, begin - most) if begin - before > line.gap_ns else begin)
        high = max(high, min(behind, call.high_ns, end + most) if behind - end > line.gap_ns else end)
    return min(low, start_max), start_max, end_min, max(high, end_min)


def _begins(line: Timeline, place: int) -> bool:
    """Whether a call whose first sample this is had not waited before."""
    stack = int(line.stack[place])
    begun = line.kinds.progress[stack] == BEGUN or line.kinds.api.item(stack) != Api.PREDICTION
    return bool(begun or line.on_cpu[place])


def mistakable_calls(line: Timeline, pieces: Pieces, work: Work, calls: Sequence[Joined]) -> list[bool]:
    """Whether each call may be several, one right behind the other: of predictions that no hardware separates, where
    neither what lies between calls nor how they begin and end is seen often enough; and of what may be the stages of a
    pipeline, where calls are seen to begin in its midst."""
    progress = line.kinds.progress[line.stack]
    outside = np.concatenate(([0], np.cumsum(line.key < 0)))
    # Samples that gaps lack up to each one, but not those in a call, such as a load between two predictions.
    place = np.arange(len(line.time))
    in_call = (line.key >= 0) & np.append(False, line.key[1:] == line.key[:-1])[: len(place)]
    idle = np.cumsum(np.where(in_call, 0, _missing(line, np.maximum(place - 1, 0), place)))
    by_site: dict[int, list[int]] = {}
    usual = usual_spans(line, pieces)
    for number, key in enumerate(keys_of(pieces, calls)):
        by_site.setdefault(key, []).append(number)
    result = [False] * len(calls)
    taken = np.isin(np.arange(len(work.starts)), [index for call in calls for index in call.work])
    for key, numbers in by_site.items():
        firsts, afters = (np.array([getattr(calls[number], name) for number in numbers]) for name in ("first", "after"))
        for number in _behind_others(line, work, [calls[number] for number in numbers], taken):
            result[numbers[number]] = True
        api = line.kinds.api.item(int(line.stack[pieces.first[calls[numbers[0]].chain]]))
        if api != Api.PREDICTION or not (afters > firsts + 1).any():
            continue
        following, previous = np.minimum(firsts[1:], len(line.time) - 1), np.maximum(afters[:-1] - 1, 0)
        silent = np.where(firsts[1:] == afters[:-1], _missing(line, previous, following), 0)
        between = outside[firsts[1:]] - outside[afters[:-1]] + np.maximum(silent, idle[following] - idle[previous])
        executes = [progress[first:after] == UNDER_WAY for first, after in zip(firsts, afters, strict=True)]
        # Seen executing, then not, then again.
        spans = (execute[known[0] : known[-1]] for execute in executes if len(known := np.flatnonzero(execute)))
        begun_again = any(not span.all() for span in spans)
        if begun_again:
            for number in numbers:
                result[number] = len(set(work.model[calls[number].work].tolist())) > 1
        # If beginnings and ends of calls are caught, those in the midst of what seems to be one would be too.
        edges = sum(bool(execute.any()) and not (execute[0] and execute[-1]) for execute in executes)
        again = ((firsts[1:] == afters[:-1]) & (silent == 0)).any() or begun_again
        # Calls that their beginning tells from the one before say nothing of others.
        opens = [calls[number] for number in numbers if calls[number].first == pieces.first[calls[number].chain]]
        begins = np.array([_beginning(line, call.first, call.after) for call in opens])
        begun = (begins >= _LASTS).all() or (len(begins) >= _CAUGHT and (begins > 0).mean() >= _BEGUN)
        if (edges >= _CAUGHT and not again) or begun:
            if not (begins >= _LASTS).all():
                for number in numbers:
                    result[number] |= not calls[number].work and _hides_one(line, calls[number], usual.get(key, 0))
            continue
        lengths = afters - firsts
        visible = len(between) > 0 and np.sort(between)[len(between) // 2] >= _VISIBLE
        longest = _TWICE * np.sort(lengths[lengths > 0])[(lengths > 0).sum() // 10] if visible else 1
        seen = np.array([_beginning(line, one, after) > 0 for one, after in zip(firsts, afters, strict=True)])
        # So many beginnings would be seen in a call if it were several like the others.
        hidden = lengths * (seen.sum() - seen) / np.maximum(lengths.sum() - lengths, 1)
        for number, length, missed in zip(numbers, lengths, hidden, strict=True):
            several = length > max(longest, 1) and missed < _CAUGHT and not calls[number].work
            result[number] |= bool(several)
    return result


def _missing(line: Timeline, first: IntArray, second: IntArray) -> IntArray:
    """How many samples lack between two of one thread that would follow each other if it ran."""
    apart = line.time[second] - line.time[first]
    lacks = (line.thread[second] == line.thread[first]) & (apart > line.gap_ns)
    return np.where(lacks, apart // line.period_ns - 1, 0)


def _behind_others(line: Timeline, work: Work, calls: Sequence[Joined], taken: BoolArray) -> IntArray:
    """Those calls of one place and several threads that are long, and in which the hardware works for a prediction of
    their model that is in no call as far as known: a thread may have called twice, and not been sampled between."""
    if len({int(line.thread[call.first]) for call in calls if call.after > call.first}) < 2:
        return np.zeros(0, np.intp)
    sampled = [line.time[call.first : call.after].tolist() or [call.low_ns] for call in calls]
    begins = np.array([times[0] for times in sampled])
    ends = np.array(
        [
            max(times[-1], *work.ends[call.work]) if call.work else times[-1]
            for call, times in zip(calls, sampled, strict=True)
        ]
    )
    free = ~taken & np.isin(work.model, [model for call in calls for model in work.model[call.work].tolist()])
    starts, until = work.starts[free], work.ends[free]
    hold = np.array([((starts >= one) & (until <= end)).any() for one, end in zip(begins, ends, strict=True)])
    spans, whole = ends - begins, np.array([len(call.work) > 0 for call in calls])
    shortest = np.sort(spans[whole])[whole.sum() // 10] if whole.any() else 0
    return np.flatnonzero(hold & (spans > _TWICE * shortest))


def _hides_one(line: Timeline, call: Joined, usual_ns: int) -> bool:
    """Whether the sample may be missed in which another call begins: with one hole, there are two of about the usual
    length."""
    times = line.time[call.first : call.after]
    holes = np.flatnonzero(np.diff(times) > 1.5 * line.period_ns)
    parts = np.minimum(times[holes] - times[:1], times[-1:] - times[holes + 1]) + line.period_ns
    return bool((parts >= SHORT * usual_ns).any()) and usual_ns > 0


def _beginning(line: Timeline, first: int, after: int) -> int:
    """Samples in which a call begins; 0 where it is never seen to execute, and waits: what begins behind it is not seen
    to be another one."""
    progress = line.kinds.progress[line.stack[first:after]]
    told = (progress == UNDER_WAY).any() or line.ran[first:after].all()
    return int((progress == BEGUN).sum()) if told else 0
