"""Why frames came late, and which model made them: an account of lateness, beside that of predictions.

A frame passes through stages: the app commits it, the system draws it, the GPU works. The latest end of a stage after
which a frame still came in time is the deadline of that stage. A model made a frame late where its work lies before a
stage that missed this deadline, and the stage without that work meets it, or an earlier refresh. Lateness is in whole
refresh intervals: 2 ms of waiting may cost 16.7 ms or nothing, so waits are never summed.

Work on the Neural Engine delays no frame; the main thread that waits for it does. Overlap alone proves nothing: in real
recordings the compositor waited as long while a model's row ran as at other times.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.device_states import THERMAL_STATES, THROTTLED, states_at, thermal_states
from tracekit.analysis.load_waits import hangs_of_target
from tracekit.analysis.statistics import medians_by_group, top_calls
from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray
from tracekit.columns import Texts, codes_of, column
from tracekit.intervals import Intervals, containing
from tracekit.rows import Rows, group_ids
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import LOAD_KINDS, SETUP_KINDS, Attribution, Calls, Events, Kind, Lane
from tracekit.trace.instruments.frames import QUANTUM_NS, Frames, RunLoop, Stage, ThreadStates
from tracekit.trace.instruments.tables import GpuPerformance
from tracekit.trace.trace import Trace, cached_by_trace

COMPOSITORS: Final = ("WindowServer", "backboardd")
"""Processes that draw the screen, of a Mac and of a phone; of the second no public row of the GPU was seen."""
COMPARED: Final = 5
"""So many frames are needed on each side of a comparison (heuristic)."""
ERRORS: Final = 2.5
"""By so many standard errors frames with the model's work must be late more often: 1 of 160 by chance."""
ALIKE: Final = 0.25
"""Frames whose own work differs by no more than this share are of one kind (heuristic)."""
AS_OFTEN: Final = 1.5
"""Where frames with the model's work are late less than so many times as often as those without, it is not the model
(heuristic)."""
FIRST_NS: Final = 1_000_000_000
"""Frames of an app in its first second, and during loads and so long after them, are not compared with others."""
_SUBMITTED_NS: Final = 1_000_000
"""The GPU work of a frame is committed no later than this after the system drew it (heuristic)."""
_MARGIN_NS: Final = 500_000
"""How long before a refresh a commit must be done to be drawn at it (heuristic)."""
_WORK_BITS: Final = 44
"""Of the work of a frame in ns: five hours."""
_NEVER: Final = np.iinfo(np.int64).max
_MOST: Final = 0.9
_BY_CHANCE: Final = 0.01


class Path(StrEnum):
    """How work of a model holds a frame or the main thread up."""

    MAIN_BUSY = "main thread busy"
    MAIN_WAITS = "main thread waits"
    GPU = "GPU"
    CPU = "CPU"


class Strength(StrEnum):
    """How sure it is, the strongest first."""

    PROVED = "proved"
    """Comparable frames without the model's work are late clearly less often."""
    FITS = "fits"
    """Without the model's work, the frame would have come earlier."""
    COINCIDES = "coincides"
    """It ran at that time; never counted."""


@dataclass(frozen=True, slots=True, eq=False)
class LateFrames(Rows):
    """Frames that came late and count, by start, each with what made it late as far as that is known."""

    place: IntArray = column("place in `Trace.frames`")
    start_ns: IntArray = column("when it was due")
    duration_ns: IntArray = column("by how much it came late")
    path: Texts = column("how the model held it up; null where none is known to", Path)
    model: Texts = column("the model")
    strength: Texts = column("how sure that is", Strength)
    blocked_ns: IntArray = column("for how long the model's work held it up")
    saved_ns: IntArray = column("how much less late it would be without; a number of whole refresh intervals")
    call: IntArray = column("row of `Trace.activity` that held it up longest; -1 where that is not known")

    @property
    def counted(self) -> BoolArray:
        """Shape (rows,): made late by a model, as far as arithmetic and comparison say."""
        return self.strength.is_any(Strength.PROVED, Strength.FITS)


@dataclass(frozen=True, slots=True, eq=False)
class LateHangs(Rows):
    """Hangs of the target, each with the calls of Core ML that the main thread made in it."""

    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    hang_type: Texts = column("how long it was, in words")
    path: Texts = column("how the model held the main thread up", Path)
    model: Texts = column("the model")
    strength: Texts = column("how sure that is", Strength)
    blocked_ns: IntArray = column("time of these calls in it")
    call: IntArray = column("row of `Trace.activity` that held it up longest; -1 for none")


@dataclass(frozen=True, slots=True, eq=False)
class _MainCalls:
    """Calls of models that the main thread makes."""

    calls: Calls
    busy_ns: IntArray
    """Shape (calls,): time of each in which no unit works for it."""
    is_sure: bool
    """Whether call stacks show the thread, and not times alone."""

    def times(self) -> Intervals:
        return Intervals.from_rows(self.calls)


@cached_by_trace
def _main_calls(trace: Trace) -> _MainCalls:
    """By call stacks: where most known calls of a model are made on the main thread, all of their sort are. Without
    call stacks: where they begin and end while the main run loop is busy, which is most unlikely by chance."""
    called = top_calls(trace, *SETUP_KINDS, Kind.PREDICTION)
    sort = 2 * called.model.codes.astype(np.int64) + called.kind.is_any(*SETUP_KINDS) + 2
    sites, chosen = call_sites(trace), np.zeros(len(called), np.bool_)
    if sites is not None and len(sites):
        known = sites.main_thread.known & ~sites.ambiguous
        place = np.full(len(trace.activity) + 1, -1)
        place[called.id] = np.arange(len(called))
        at = place[sites.id]
        known &= at >= 0
        size = int(sort.max(initial=0)) + 1
        seen = np.bincount(sort[at[known]], minlength=size)
        on_main = np.bincount(sort[at[known & sites.main_thread.values]], minlength=size)
        chosen = ((seen > 0) & (on_main >= _MOST * np.maximum(seen, 1)))[sort]
        chosen[at[known]] = sites.main_thread.values[known]
    elif (loop := trace.table(RunLoop)) is not None and len(loop):
        busy, spans = Intervals.from_rows(loop).union(), Intervals.from_rows(called)
        inside = containing(busy.starts, busy.ends, spans.starts, spans.ends)[1] > 0
        end = trace.run.duration_ns or int(busy.ends.max())
        by_chance = min(busy.covered_ns / max(end, 1), 1.0)
        for value in distinct_numbers(sort):
            own = sort == value
            if inside[own].mean() >= _MOST and by_chance ** int(own.sum()) < _BY_CHANCE:
                chosen |= own & inside
    calls = called.where(chosen)
    worked = trace.hardware.where(trace.hardware.prediction.known)
    row, span = worked.prediction.values, Intervals.from_rows(worked)
    busy_on_unit = span.covered_by_group(row, len(trace.activity)) if len(worked) else np.zeros(len(trace.activity))
    waits = busy_on_unit[calls.id].astype(np.int64)
    return _MainCalls(calls, np.maximum(calls.duration_ns - waits, 0), sites is not None)


@cached_by_trace
def late_frames(trace: Trace) -> LateFrames:
    """What made each late frame late. O(n log n) in frames, calls and rows of the GPU."""
    frames = trace.frames
    late = np.flatnonzero(frames.late)
    if not len(late):
        return LateFrames.none()
    kinds = _Kinds.of(frames)
    main, gpu, cpu = _on_main(trace, kinds), _on_gpu(trace, kinds), _on_cpu(trace, kinds)
    # Each ns of lateness has one cause: the first path that would have brought the frame earlier.
    paths = (main, gpu, cpu)
    saves = [kinds.saved(path) for path in paths]
    held = [path.blocked_ns > 0 for path in paths]
    choice = np.select([*(saved > 0 for saved in saves), *held], [0, 1, 2, 0, 1, 2], -1)

    def chosen(values: list[IntArray], nothing: int) -> IntArray:
        return np.select([choice == number for number in range(len(paths))], values, nothing)[late]

    model, call = chosen([path.model for path in paths], -1), chosen([path.call for path in paths], -1)
    strength = chosen([_strength(trace, kinds, path, saved) for path, saved in zip(paths, saves, strict=True)], -1)
    # In the order of `Path`, in which the main thread has two.
    how = np.where(choice == 0, main.waits, choice + (choice > 0))[late]
    return LateFrames(
        place=late,
        start_ns=frames.start_ns[late],
        duration_ns=frames.duration_ns[late],
        path=codes_of(how, tuple(map(str, Path)), map(str, Path)),
        model=codes_of(model, trace.activity.model.values),
        strength=codes_of(strength, tuple(map(str, Strength)), map(str, Strength)),
        blocked_ns=chosen([path.blocked_ns for path in paths], 0),
        saved_ns=chosen(saves, 0),
        call=call,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """One path: shape (frames,) each."""

    stage: Stage
    """The stage that it holds up."""
    blocked_ns: IntArray
    call: IntArray
    model: IntArray
    waits: BoolArray
    inside_ns: IntArray
    """How much of the recorded time of that stage it is."""
    is_sure: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """Frames, and what those of one kind have in common: shape (frames,) each."""

    frames: Frames
    group: IntArray
    """The same for frames of one process, display and refresh interval."""
    interval_ns: IntArray
    """1 where it is not known."""
    begins_ns: IntArray
    """The refresh at which the app was to begin the frame; the maximum where that is not known."""
    drawn_ns: IntArray
    """The refresh at which the system was to draw it; the maximum where that is not known."""
    lead_ns: dict[Stage, IntArray]
    """The shortest time from the end of a stage to the refresh at which any frame of the group was shown; -1 where too
    few show it."""

    @classmethod
    def of(cls, frames: Frames) -> _Kinds:
        """O(n log n)."""
        in_time = frames.duration_ns == 0
        # Clocks of displays wander by some us, so that intervals differ by less than their quantum.
        quanta = np.rint(frames.interval_ns.filled(0) / QUANTUM_NS).astype(np.int64)
        # Tables of drawing name no process.
        owner = frames.pid.filled() if (frames.pid.known & in_time).any() else np.zeros_like(quanta)
        group = group_ids([frames.display.codes, owner, quanta], len(frames))
        length, counts = np.maximum(frames.interval_ns.filled(0), 1), frames.late | in_time
        shown, size = frames.start_ns + frames.duration_ns, int(group.max(initial=-1)) + 1
        lead = {}
        for stage in Stage:
            end = frames.stage(stage)[1]
            usable = counts & end.known & (end.values <= shown)
            shortest = np.full(size, _NEVER)
            np.minimum.at(shortest, group[usable], (shown - end.values)[usable])
            enough = np.bincount(group[usable & in_time], minlength=size) >= COMPARED
            lead[stage] = np.where(enough, shortest, -1)[group]
        usual = []
        for begin in (frames.update_ns, frames.render_ns):
            usable = in_time & begin.known & frames.interval_ns.known
            refreshes = (frames.start_ns - begin.values) / length
            ahead = medians_by_group(refreshes[usable], group[usable], size)[group]
            known = np.bincount(group[usable], minlength=size)[group] >= COMPARED
            # A stage begins shortly after a refresh, so the refresh itself lies a little farther ahead.
            back = np.ceil(np.where(known, ahead, 0) - 0.05) * length
            usual.append(np.where(known, frames.start_ns - back.astype(np.int64), _NEVER))
        begins, drawn = usual
        return cls(frames, group, length, begins, drawn, lead)

    def lateness(self, stage: Stage, end_ns: IntArray) -> IntArray:
        """How many refresh intervals late a frame is at most whose stage ends at these times; 0 where nothing shows."""
        lead = self.lead_ns[stage]
        over = end_ns + lead - self.frames.start_ns
        known = (lead >= 0) & self.frames.stage(stage)[1].known & self.frames.interval_ns.known & (over > 0)
        return np.where(known, -(-over // self.interval_ns), 0)

    def saved(self, path: _Held) -> IntArray:
        """How much less late a frame would be without the time that a path holds it up."""
        frames = self.frames
        last = Stage.GPU if frames.gpu_end_ns.known.any() else Stage.RENDER
        end = frames.stage(last)[1].values
        if path.stage is Stage.UPDATE:
            known = (self.drawn_ns < _NEVER) & frames.update_end_ns.known & frames.render_ns.known
            early = frames.update_end_ns.values - path.blocked_ns + _MARGIN_NS - self.drawn_ns
            now = np.where(known, (frames.render_ns.values - self.drawn_ns) // self.interval_ns, 0)
            without = np.where(known, np.maximum(-(-early // self.interval_ns), 0), now)
            # What follows moves by whole refreshes.
            less_ns = np.maximum(now - without, 0) * self.interval_ns
        else:
            less_ns = path.blocked_ns
        less = np.minimum(frames.intervals.filled(0), self.lateness(last, end)) - self.lateness(last, end - less_ns)
        is_all = less >= frames.intervals.filled(0)
        less_late = np.where(is_all, frames.duration_ns, np.maximum(less, 0) * self.interval_ns)
        return np.where(frames.late & (path.blocked_ns > 0) & (less_ns > 0), less_late, 0)

    def own_work(self, path: _Held) -> IntArray:
        """Time of a frame in its stages without what the path holds it up for."""
        total = -path.inside_ns
        for stage in Stage:
            begin, end = self.frames.stage(stage)
            total = total + np.where(begin.known & end.known, end.values - begin.values, 0)
        return np.maximum(total, 0)


def _on_main(trace: Trace, kinds: _Kinds) -> _Held:
    """Loads and predictions on the main thread, from the refresh at which a frame was to be begun to its commit."""
    frames, main = kinds.frames, _main_calls(trace)
    end = frames.update_end_ns
    window = Intervals(np.minimum(kinds.begins_ns, end.values), end.values)
    known = end.known & (kinds.begins_ns < _NEVER)
    times = main.times()
    blocked = np.where(known, times.covered_within(window), 0)
    call, model = _longest(times, main.calls, window)
    waits = np.zeros(len(frames), np.bool_)
    if len(main.calls):
        at = np.searchsorted(main.calls.id, np.maximum(call, 0))
        at = np.minimum(at, len(main.calls) - 1)
        waits = (call >= 0) & (2 * main.busy_ns[at] < main.calls.duration_ns[at])
    update = Intervals(np.minimum(frames.update_ns.values, end.values), end.values)
    return _Held(Stage.UPDATE, blocked, call, model, waits, times.covered_within(update), main.is_sure)


def _longest(
    times: Intervals, calls: Events, windows: Intervals, ids: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Of each window the call that lies in it longest, among the first and the last of those that reach into it, and
    the code of its model; -1 for none. Calls are sorted by start. O(m log n)."""
    none = np.full(len(windows), -1)
    if not len(times):
        return none, none
    reach = np.maximum.accumulate(times.ends)
    first = np.minimum(np.searchsorted(reach, windows.starts, "right"), len(times) - 1)
    last = np.clip(np.searchsorted(times.starts, windows.ends, "left") - 1, 0, len(times) - 1)

    def inside(at: IndexArray) -> IntArray:
        return np.minimum(times.ends[at], windows.ends) - np.maximum(times.starts[at], windows.starts)

    best = np.where(inside(first) >= inside(last), first, last)
    found = inside(best) > 0
    ids = calls.id if ids is None else ids
    return np.where(found, ids[best], -1), np.where(found, calls.model.codes[best], -1)


def _in_activity(trace: Trace, rows: Events, codes: IntArray) -> IntArray:
    """Codes of models of some rows as those of the activity."""
    names = codes_of(np.arange(len(rows.model.values)), rows.model.values)
    return np.append(names.codes_in(trace.activity.model.values), -1)[codes]


def _on_gpu(trace: Trace, kinds: _Kinds) -> _Held:
    """Work of models on the GPU between the commit and the start of what the compositor draws for a frame."""
    frames, rows = kinds.frames, trace.hardware
    on_gpu = rows.lane.is_any(Lane.GPU)
    named = on_gpu & rows.model.known & ~rows.attribution.is_any(Attribution.FOREIGN)
    models = rows.where(named)
    drawing = rows.where(on_gpu & rows.process.is_any(*COMPOSITORS) & rows.waited_ns.known)
    committed = drawing.start_ns - drawing.waited_ns.values
    begin, end = frames.render_ns.filled(0), frames.render_end_ns.filled(0)
    known = frames.render_ns.known & frames.render_end_ns.known
    order = np.flatnonzero(known)
    # A row committed while two displays are drawn is of neither for sure.
    at, _ = containing(begin[order], end[order] + _SUBMITTED_NS, committed, committed)
    of_frame, row = order[at[at >= 0]], np.flatnonzero(at >= 0)
    first = np.full(len(frames), _NEVER)
    last = np.full(len(frames), -1, np.int64)
    np.minimum.at(first, of_frame, committed[row])
    np.maximum.at(last, of_frame, drawing.start_ns[row])
    by_stage = (last < 0) & frames.gpu_ns.known & known
    first, last = np.where(by_stage, end, first), np.where(by_stage, np.maximum(frames.gpu_ns.values, end), last)
    some = last >= 0
    window = Intervals(np.where(some, first, 0), np.where(some, np.maximum(last, first), 0))
    times = Intervals.from_rows(models)
    blocked = times.covered_within(window)
    call, model = _longest(times, models, window, models.prediction.filled())
    return _Held(
        Stage.GPU,
        blocked,
        call,
        _in_activity(trace, models, model),
        np.zeros(len(frames), np.bool_),
        np.zeros_like(blocked),
    )


def _on_cpu(trace: Trace, kinds: _Kinds) -> _Held:
    """Time in which the main thread was ready to run, and did not, while Core ML computed on the CPU."""
    frames, states = kinds.frames, trace.table(ThreadStates)
    nothing = np.zeros(len(frames), np.int64)
    none = np.full(len(frames), -1)
    if states is None or not len(states):
        return _Held(Stage.UPDATE, nothing, none, none, np.zeros(len(frames), np.bool_), nothing)
    main = states.thread.passing(lambda text: text.startswith("Main Thread"))
    ready = Intervals.from_rows(states).where(main & states.state.is_any("Runnable", "Preempted"))
    work = trace.compute.where(trace.compute.kind.is_any(Kind.CPU_COMPUTE) & trace.compute.prediction.known)
    end = frames.update_end_ns
    window = Intervals(np.minimum(kinds.begins_ns, end.values), end.values)
    known = end.known & (kinds.begins_ns < _NEVER)
    blocked = np.where(known, ready.intersection(Intervals.from_rows(work)).covered_within(window), 0)
    update = np.maximum(end.values - frames.update_ns.values, 0)
    call, model = _longest(Intervals.from_rows(work), work, window, work.prediction.filled())
    model = _in_activity(trace, work, model)
    return _Held(Stage.UPDATE, blocked, call, model, np.zeros(len(frames), np.bool_), np.minimum(blocked, update))


def _strength(trace: Trace, kinds: _Kinds, path: _Held, saved: IntArray) -> IntArray:
    """Shape (frames,): code in `Strength`; -1 where the path holds a frame up for no time."""
    frames = kinds.frames
    ready = saved > 0
    says_update = frames.says.passing(lambda text: "app update" in text or "Commit" in text)
    says_gpu = frames.says.passing(lambda text: "GPU" in text or "render" in text)
    agrees = ~says_update | says_gpu if path.stage is Stage.GPU else ~says_gpu | says_update
    more, less = _compared(trace, kinds, path)
    slow = _slowed(trace, frames)
    fits = ready & ~slow & ~less
    proved = fits & more & agrees & path.is_sure
    return np.select([path.blocked_ns == 0, proved, fits], [-1, 0, 1], 2)


def _compared(trace: Trace, kinds: _Kinds, path: _Held) -> tuple[BoolArray, BoolArray]:
    """Whether frames with the model's work are late clearly more often than comparable ones without, and whether they
    are known not to be: shape (frames,) each. The rank sum of two outcomes; O(n log n)."""
    frames = kinds.frames
    touched, late = path.blocked_ns > 0, frames.duration_ns > 0
    counts, work = late & frames.late | ~late, kinds.own_work(path)
    loads = Intervals.from_rows(top_calls(trace, *LOAD_KINDS))
    around = Intervals(loads.starts, loads.ends + FIRST_NS)
    apart = around.covered_within(Intervals(frames.start_ns, frames.start_ns + 1)) > 0
    group = kinds.group
    first = np.full(int(group.max(initial=-1)) + 1, _NEVER - FIRST_NS)
    np.minimum.at(first, group[counts], frames.start_ns[counts])
    here = np.flatnonzero(counts & ~apart & (frames.start_ns >= first[group] + FIRST_NS))
    # By group, then by work: what is alike stands side by side.
    begin, own = group[here] << _WORK_BITS, np.minimum(work[here], (1 << _WORK_BITS) - 1)
    order = np.argsort(begin + own, kind="stable")
    here, begin, own = here[order], begin[order], own[order]
    most = np.minimum((own * (1 + ALIKE)).astype(np.int64), (1 << _WORK_BITS) - 1)
    low = np.searchsorted(begin + own, begin + (own * (1 - ALIKE)).astype(np.int64), "left")
    high = np.searchsorted(begin + own, begin + most, "right")
    with_model, is_late = touched[here], late[here]
    n1, k1 = _between(with_model, low, high), _between(with_model & is_late, low, high)
    n2, k2 = _between(~with_model, low, high), _between(~with_model & is_late, low, high)
    enough = (n1 >= COMPARED) & (n2 >= COMPARED)
    rate1, rate2, total = k1 / np.maximum(n1, 1), k2 / np.maximum(n2, 1), np.maximum(n1 + n2, 2)
    mean = (k1 + k2) / total
    error = np.sqrt(mean * (1 - mean) * total / (total - 1) * (1 / np.maximum(n1, 1) + 1 / np.maximum(n2, 1)))
    more, less = np.zeros((2, len(frames)), np.bool_)
    more[here] = enough & (rate1 - rate2 >= ERRORS * np.maximum(error, 1e-9)) & (rate1 >= AS_OFTEN * rate2)
    less[here] = enough & (rate1 < AS_OFTEN * rate2)
    return more, less


def _between(chosen: BoolArray, low: IndexArray, high: IndexArray) -> FloatArray:
    sums = np.append(0.0, np.cumsum(chosen, dtype=np.float64))
    counted: FloatArray = sums[high] - sums[low]
    return counted


def _slowed(trace: Trace, frames: Frames) -> BoolArray:
    """Shape (frames,): due while the device was hot, or while the GPU ran slower than for most frames in time."""
    slow = np.zeros(len(frames), np.bool_)
    heat = thermal_states(trace, frames.start_ns)
    if heat is not None:
        slow |= np.isin(heat, [THERMAL_STATES.index(each) for each in THROTTLED])
    clock = trace.table(GpuPerformance)
    if clock is not None and len(clock):
        names = ("Minimum", "Medium", "Maximum")
        state = states_at(clock, names, frames.start_ns)
        usual = state[(frames.duration_ns == 0) & (state >= 0)]
        if len(usual):
            slow |= (state >= 0) & (state < np.bincount(usual).argmax())
    return slow


@cached_by_trace
def late_hangs(trace: Trace) -> LateHangs | None:
    """Which calls of Core ML the main thread made in each hang; None where hangs were not recorded. O(n log n)."""
    hangs = hangs_of_target(trace)
    if hangs is None:
        return None
    main, window = _main_calls(trace), Intervals.from_rows(hangs)
    times = main.times()
    blocked = times.covered_within(window)
    call, model = _longest(times, main.calls, window)
    at = np.minimum(np.searchsorted(main.calls.id, np.maximum(call, 0)), max(len(main.calls) - 1, 0))
    waits = np.zeros(len(hangs), np.bool_)
    if len(main.calls):
        waits = (call >= 0) & (2 * main.busy_ns[at] < main.calls.duration_ns[at])
    shortest = int(hangs.duration_ns.min(initial=0))
    gone = (blocked > 0) & (hangs.duration_ns - blocked < shortest) & (2 * blocked >= hangs.duration_ns)
    strength = np.select([blocked == 0, gone & main.is_sure, gone], [-1, 0, 1], 2)
    return LateHangs(
        start_ns=hangs.start_ns,
        duration_ns=hangs.duration_ns,
        hang_type=hangs.hang_type,
        path=codes_of(np.where(call < 0, -1, waits.astype(np.int64)), tuple(map(str, Path)), map(str, Path)),
        model=codes_of(model, trace.activity.model.values),
        strength=codes_of(strength, tuple(map(str, Strength)), map(str, Strength)),
        blocked_ns=blocked,
        call=call,
    )
