"""Whether somebody waited for work: what an app does around it, and which hangs loads and predictions explain.

A call on the main thread lies inside the hang that it makes. A call in the background meets a hang by chance: then it
also goes on before and after, or lies in the hang with a part only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.loads import first_predictions
from tracekit.analysis.statistics import CallTimes, covered_ns, medians_of_others, top_calls
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import Intervals, Timed
from tracekit.rows import places_of
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import LOAD_KINDS, SETUP_KINDS, Attribution, Calls, Kind, Level
from tracekit.trace.instruments.tables import Hangs
from tracekit.trace.trace import Trace, cached_by_trace

GAP_RATIO = 5
"""A gap stands out where it is so many times as long as the usual gap between calls (our judgment)."""

USERS_PACE_NS = 250_000_000
"""From this usual gap between calls on, a user may set the pace: nobody taps faster for long (heuristic)."""

SOON_MS = 100.0
"""How soon after a load a call starts that waited for it. Heuristic: a caller that waits continues at once."""

HUNG_SHARE = 0.5
"""Share of its time for which a load must hang the main thread to block it. Heuristic: one on the main thread blocks it
from start to end."""

WARM_UP_PAUSE_S = 1.0
"""From this gap after it on, a single call after a load may be one to warm the model up (heuristic)."""

_NEVER = np.iinfo(np.int64).max // 2


def gaps_after(predictions: Timed) -> IntArray:
    """Time in ns from the end of each prediction to the start of the next, 0 where they overlap; for the last one a
    time without end. `predictions` are sorted by start."""
    called = Intervals.from_rows(predictions)
    between = np.maximum(called.starts[1:] - called.ends[:-1], 0)
    return np.append(between, [_NEVER] * min(len(called), 1)).astype(np.int64)


def after_gap(predictions: Timed, gap_ns: int) -> BoolArray:
    """Shape (predictions,): none of the others, sorted by start, was in flight for so long before it."""
    return np.concatenate(([False], gaps_after(predictions)[:-1] >= gap_ns))[: len(predictions)]


def stand_alone(predictions: Timed, positions: IntArray, min_gap_ns: int) -> tuple[BoolArray, BoolArray]:
    """Whether each of the predictions at `positions` stands alone, as a call to warm a model up does: a gap follows it
    that is at least `min_gap_ns` and stands out from the other gaps between predictions. Surely, where these are too
    short for a user, and perhaps, where they are at a user's pace, so that one who took his time looks the same: shape
    (positions,) each. O(predictions)."""
    between = gaps_after(predictions)[:-1]
    followed = positions < len(between)
    alone, paced = np.zeros(len(positions), dtype=bool), np.zeros(len(positions), dtype=bool)
    chosen = positions[followed]
    usual = np.nan_to_num(medians_of_others(between, chosen), nan=np.inf)
    alone[followed] = (between[chosen] >= min_gap_ns) & (between[chosen] >= GAP_RATIO * usual)
    paced[followed] = usual >= USERS_PACE_NS
    return alone & ~paced, alone & paced


def next_call(work: Calls, predictions: Timed, max_delay_ns: int, setup: Calls | None = None) -> IntArray:
    """For each row of `work` the position of the prediction that waited for it, -1 where none did.

    None started while the row lasted: whoever goes on calling does not wait. And it starts at most `max_delay_ns` after
    the row ended, or after `setup` (rows of any model that the app works through before it gets to the call), each part
    of which follows the one before at most `max_delay_ns` later. `predictions` are sorted by start. O(n log n) in all
    rows.
    """
    times = Intervals.from_rows(work)
    starts = predictions.start_ns
    before, after = (np.searchsorted(starts, time, side="left") for time in (times.starts, _sure_ends(work)))
    following = np.append(starts, _NEVER)[after]
    waits = (before == after) & (following - times.ends <= max_delay_ns)
    if setup is not None and len(starts) and not waits.all():
        late = np.flatnonzero((before == after) & ~waits & (following < _NEVER))
        ready = _ready(times.where(late), setup, starts, max_delay_ns)
        waits[late] = following[late] - ready <= max_delay_ns
    return np.where(waits, after, -1).astype(np.int64)


def waits_for_loads(
    loads: Calls, trace: Trace, soon_ms: float = SOON_MS, gap_s: float = WARM_UP_PAUSE_S
) -> tuple[BoolArray, BoolArray]:
    """Shape (loads,) each: a call surely waited for the load, and a call did unless it only warmed its model up.

    A call waits for a load of its model, or one that no model is known to claim, at once or behind further setup
    work, and for loads of others in line with that one: they ended before it began, or they are the setup work
    behind it. O(models × n log n), once for a trace.
    """
    delay_ns, gap_ns = round(soon_ms * 1e6), round(gap_s * 1e9)
    answers = trace.cache.get((waits_for_loads, delay_ns, gap_ns), lambda: _waits(trace, delay_ns, gap_ns))
    surely, perhaps = answers[:, places_of(top_calls(trace, *LOAD_KINDS).id, loads.id)]
    return surely, perhaps


def _waits(trace: Trace, max_delay_ns: int, min_gap_ns: int) -> BoolArray:
    """Both answers about all loads that the app called for."""
    loads, calls, setup = (
        top_calls(trace, *LOAD_KINDS),
        top_calls(trace, Kind.PREDICTION),
        setup_work(trace),
    )
    of_load, of_call, timed = loads.model.codes, calls.model.codes, CallTimes.from_rows(calls)
    times, answers, called_for = Intervals.from_rows(loads), np.zeros((2, len(loads)), np.bool_), of_load < 0
    begun, over = np.full((2, len(calls)), -1, np.int64)
    paced = np.zeros(len(calls), np.bool_)
    # Which of the models that are loaded nowhere else a site loads is not known.
    unclaimed = np.flatnonzero(~np.isin(of_call, of_load) & calls.attribution.is_any(Attribution.INFERRED))
    for code in distinct_numbers(of_load[of_load >= 0]):
        own, called = np.flatnonzero(of_load == code), np.flatnonzero(of_call == code)
        if not len(called) and loads.attribution.take(own).is_any(Attribution.INFERRED).all():
            called = unclaimed
        found = next_call(loads.take(own), timed.take(called), max_delay_ns, setup)
        waits, call = own[found >= 0], called[found[found >= 0]]
        alone, paced[call] = stand_alone(timed.take(called), found[found >= 0], min_gap_ns)
        answers[:, waits] = ~(alone | paced[call]), paced[call]
        called_for[waits] = True
        np.maximum.at(begun, call[~alone], times.starts[waits[~alone]])
        np.maximum.at(over, call[~alone], times.ends[waits[~alone]])
    waiting, others = np.flatnonzero(over >= 0), np.flatnonzero(~called_for)
    found = next_call(loads.take(others), timed.take(waiting), max_delay_ns, setup)
    others, call = others[found >= 0], waiting[found[found >= 0]]
    in_line = calls.start_ns[call] - over[call] > max_delay_ns
    in_line |= times.ends[others] <= begun[call]
    answers[:, others[in_line]] = ~paced[call[in_line]], paced[call[in_line]]
    return answers


def awaited(loads: Calls, trace: Trace) -> BoolArray:
    """Shape (loads,): a prediction, or the main thread, waited for the load. O(n log n)."""
    surely, perhaps = waits_for_loads(loads, trace)
    return surely | perhaps | (hung_share(loads, trace) >= HUNG_SHARE)


def _sure_ends(rows: Calls) -> IntArray:
    """Until when rows last for sure: the earliest end of inferred calls."""
    return np.minimum(Intervals.from_rows(rows).ends, rows.end_min_ns)


def _ready(work: Intervals, setup: Calls, calls: IntArray, max_delay_ns: int) -> IntArray:
    """When the chain of setup work ends in which each row of work stands: shape (work,), its own end where it stands
    alone. Setup during which one of the `calls` starts holds up none of them."""
    times = Intervals.from_rows(setup)
    begun, over = (np.searchsorted(calls, time, side="left") for time in (times.starts, _sure_ends(setup)))
    steps = times.where(begun == over).joined(work)
    # Rows that follow each other closely enough touch once each is made longer by that time.
    chains = Intervals(steps.starts, steps.ends + max_delay_ns).union()
    chain = np.searchsorted(chains.starts, work.ends, side="right") - 1
    inside = (chain >= 0) & (work.ends <= np.append(chains.ends, -1)[chain])
    return np.where(inside, np.maximum(np.append(chains.ends, 0)[chain] - max_delay_ns, work.ends), work.ends)


@cached_by_trace
def setup_work(trace: Trace) -> Calls:
    """Loads, compilations and first predictions after a load, of all models that the app called. O(n log n); kept as
    long as the trace is."""
    calls = trace.activity
    return calls.where((calls.kind.is_any(*SETUP_KINDS) | first_predictions(trace)) & calls.level.is_any(Level.TOP))


@cached_by_trace
def setup_times(trace: Trace) -> Intervals:
    """Loads and compilations of all models that the app called, which take the CPU from predictions. O(n log n)."""
    return Intervals.from_rows(top_calls(trace, *SETUP_KINDS)).union()


def hangs_of_target(trace: Trace) -> Hangs | None:
    """Times in which the main thread of the target did not answer; None where hangs were not recorded. O(h)."""
    hangs = trace.table(Hangs)
    target = trace.run.target.process
    if hangs is None or target is None:
        return hangs
    return hangs.where(~hangs.process.known | hangs.process.is_any(target.name))


def hung_share(work: Timed, trace: Trace) -> FloatArray:
    """Share of each row (0 to 1) in which the main thread of the target hung; 0 without hangs. O((w + h) log h)."""
    hangs = hangs_of_target(trace)
    if hangs is None or not len(hangs):
        return np.zeros(len(work))
    times = Intervals.from_rows(work)
    return Intervals.from_rows(hangs).covered_within(times) / np.maximum(times.durations, 1)


@dataclass(frozen=True, slots=True, eq=False)
class HangCalls:
    """Hangs of the target that are long enough, and what lay in them."""

    hangs: Intervals
    covered: FloatArray
    """Shape (hangs,): share that calls cover which lie in hangs, whatever goes on around."""
    explained: BoolArray
    """Shape (hangs,): calls whose model makes fewer around the hang cover enough of it."""
    calls: Calls
    """Those calls in explained hangs."""


MIN_FREE = 0.1
"""Part of the time beside a hang that must be free of other hangs to compare it (our judgment)."""


def hang_calls(trace: Trace, min_ns: int, call_share: float, hang_share: float, ratio: float) -> HangCalls | None:
    """The hangs that loads and predictions explain; None where hangs were not recorded. Shorter ones than `min_ns` are
    not looked at. `call_share` is that of a call that must lie in hangs, `hang_share` that of a hang that such calls
    must cover; they cover `ratio` times as much of it as calls do of the time before or after it.

    Loads of each model are compared with its loads around the hang and elsewhere, and predictions with its predictions:
    what one model does around a hang says nothing of another one in it. O((calls + models x hangs) log).
    """
    every = hangs_of_target(trace)
    if every is None:
        return None
    hang_times = Intervals.from_rows(every)
    hang_times = hang_times.where(hang_times.durations >= min_ns)
    length = np.maximum(hang_times.durations, 1)
    called = top_calls(trace, *SETUP_KINDS, Kind.PREDICTION)
    called = called if len(hang_times) else called.take(slice(0))
    inside = hung_share(called, trace) >= call_share
    # The loads and the predictions of each model are sorts of their own.
    sort = 2 * called.model.codes.astype(np.int64) + called.kind.is_any(*SETUP_KINDS)
    calls = Intervals.from_rows(called)
    times = calls.joined(Intervals.from_rows(every))
    hung = covered_ns(every) / max(int(times.ends.max(initial=0) - times.starts.min(initial=0)), 1)
    # Share of the time of calls that may lie in hangs by chance: less than `ratio` times where hangs are most of it.
    by_chance = min(ratio * hung, 1 - (1 - hung) / ratio)
    chosen, rarer_times = np.zeros(len(called), dtype=bool), [Intervals.none()]
    for value in distinct_numbers(sort[inside]):
        of_sort = sort == value
        times, own = calls.where(of_sort & inside), calls.where(of_sort)
        if times.covered_ns < by_chance * own.covered_ns:
            continue
        share = times.covered_within(hang_times) / length
        rarer = hang_times.where(
            (share > 0) & (share >= ratio * _beside(own, Intervals.from_rows(every), hang_times))
        ).union()
        rarer_times.append(times.intersection(rarer))
        chosen[of_sort & inside] = rarer.covered_within(times) > 0
    covered = calls.where(inside).covered_within(hang_times) / length
    counted = rarer_times[0].joined(*rarer_times).covered_within(hang_times) / length
    explained = counted >= hang_share
    in_explained = hang_times.where(explained).covered_within(calls) > 0
    return HangCalls(hang_times, covered, explained, called.where(chosen & in_explained))


def _beside(calls: Intervals, hangs: Intervals, compared: Intervals) -> FloatArray:
    """Share that calls cover of the time before each interval of `compared` or after it, the larger of both; each is as
    long as the interval, without the time of `hangs`."""
    length = compared.durations
    in_hang, in_either = hangs.covered_time(), hangs.joined(calls).covered_time()
    max_share = np.zeros(len(compared))
    for start in (compared.starts - length, compared.ends):
        free = in_hang.free_within(start, start + length)
        used = free - in_either.free_within(start, start + length)
        share = np.where(free >= MIN_FREE * length, used / np.maximum(free, 1), 0.0)
        max_share = np.maximum(max_share, share)
    return max_share
