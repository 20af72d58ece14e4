"""Why frames came late, and which model made them: an account of lateness, beside that of predictions.

A frame passes through stages: the app commits it, the system draws it, the GPU works. The latest end of a stage after
which a frame still came in time is the deadline of that stage. A model made a frame late where its work lies before a
stage that missed this deadline, and the stage without that work meets it, or an earlier refresh. Lateness is in whole
refresh intervals: 2 ms of waiting may cost 16.7 ms or nothing, so waits are never summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from tracekit.analysis.device_states import THERMAL_STATES, THROTTLED, states_at, thermal_states
from tracekit.analysis.frames.deadlines import COMPARED, NEVER, Deadlines
from tracekit.analysis.frames.main_thread import longest, main_calls
from tracekit.analysis.frames.paths import Held, Path, paths
from tracekit.analysis.load_waits import hangs_of_target
from tracekit.analysis.statistics import top_calls
from tracekit.arrays import BoolArray, FloatArray, IndexArray, IntArray
from tracekit.columns import Texts, codes_of, column
from tracekit.intervals import Intervals
from tracekit.rows import Rows
from tracekit.trace.events import LOAD_KINDS
from tracekit.trace.instruments.frames import Frames, Stage
from tracekit.trace.instruments.tables import GpuPerformance
from tracekit.trace.trace import Trace, cached_by_trace

ERRORS: Final = 2.5
"""By so many standard errors frames with the model's work must be late more often: 1 of 160 by chance."""
ALIKE: Final = 0.25
"""Frames whose own work differs by no more than this share are of one kind (heuristic)."""
AS_OFTEN: Final = 1.5
"""Where frames with the model's work are late less than so many times as often as those without, it is not the model
(heuristic)."""
FIRST_NS: Final = 1_000_000_000
"""Frames of an app in its first second, and during loads and so long after them, are not compared with others."""
_WORK_BITS: Final = 44
"""Of the work of a frame in ns: five hours."""


class Strength(StrEnum):
    """How sure it is, the strongest first."""

    PROVED = "proved"
    """Comparable frames without the model's work are late clearly less often."""
    FITS = "fits"
    """Without the model's work, the frame would have come earlier."""
    COINCIDES = "coincides"
    """It ran at that time; never counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Late(Rows):
    """Frames that came late and count, or hangs of the target, by start; each with what made it so, as far as known."""

    place: IntArray = column("place in `Trace.frames`, or among the hangs")
    start_ns: IntArray = column("when it was due, or the hang began")
    duration_ns: IntArray = column("by how much it came late, or how long the hang was")
    path: Texts = column("how the model held it up; null where none is known to", Path)
    model: Texts = column("the model")
    strength: Texts = column("how sure that is", Strength)
    blocked_ns: IntArray = column("for how long the model's work held it up")
    saved_ns: IntArray = column("how much less late it would be without, in whole refresh intervals; all of a hang")
    call: IntArray = column("row of `Trace.activity` that held it up longest; -1 where that is not known")

    @property
    def counted(self) -> BoolArray:
        """Shape (rows,): made late by a model, as far as arithmetic and comparison say."""
        return self.strength.is_any(Strength.PROVED, Strength.FITS)


@cached_by_trace
def late_frames(trace: Trace) -> Late:
    """What made each late frame late. O(n log n) in frames, calls and rows of the GPU."""
    frames = trace.frames
    late = np.flatnonzero(frames.late)
    if not len(late):
        return Late.none()
    deadlines = Deadlines.of(frames)
    found = paths(trace, deadlines)
    saves = [deadlines.saved(path.stage, path.blocked_ns) for path in found]
    strengths = [_strength(trace, deadlines, path, saved) for path, saved in zip(found, saves, strict=True)]
    # Each ns of lateness has one cause: the first path that would have brought the frame earlier, else the first.
    choices = [saved > 0 for saved in saves] + [path.blocked_ns > 0 for path in found]

    def chosen(values: list[IntArray], nothing: int = -1) -> IntArray:
        return np.select(choices, 2 * values, nothing)[late]

    return _worded(
        trace,
        place=late,
        start_ns=frames.start_ns[late],
        duration_ns=frames.duration_ns[late],
        strength=chosen(strengths),
        saved_ns=chosen(saves, 0),
        blocked_ns=chosen([path.blocked_ns for path in found], 0),
        **{name: chosen([getattr(path, name) for path in found]) for name in ("path", "model", "call")},
    )


@cached_by_trace
def late_hangs(trace: Trace) -> Late | None:
    """Which calls of Core ML the main thread made in each hang; None where hangs were not recorded. Proved where call
    stacks show them: without them it would be shorter than any hang. O(n log n)."""
    hangs = hangs_of_target(trace)
    if hangs is None:
        return None
    main, window = main_calls(trace), Intervals.from_rows(hangs)
    blocked = main.times.covered_within(window)
    call, model = longest(main.times, main.calls, window)
    shortest = int(hangs.duration_ns.min(initial=0))
    gone = (blocked > 0) & (hangs.duration_ns - blocked < shortest) & (2 * blocked >= hangs.duration_ns)
    return _worded(
        trace,
        place=np.arange(len(hangs)),
        start_ns=hangs.start_ns,
        duration_ns=hangs.duration_ns,
        path=np.where(call < 0, -1, main.wait_in(call)),
        model=model,
        strength=np.select([blocked == 0, gone & main.is_sure, gone], [-1, 0, 1], 2),
        blocked_ns=blocked,
        saved_ns=np.where(gone, hangs.duration_ns, 0),
        call=call,
    )


def _worded(trace: Trace, **columns: IntArray) -> Late:
    """Rows of these columns, with words in place of codes."""
    words = {"path": [*map(str, Path)], "model": trace.activity.model.values, "strength": [*map(str, Strength)]}
    rows: dict[str, Any] = columns | {name: codes_of(columns[name], values) for name, values in words.items()}
    return Late(**rows)


def _strength(trace: Trace, deadlines: Deadlines, path: Held, saved: IntArray) -> IntArray:
    """Shape (frames,): code in `Strength`; -1 where the path holds a frame up for no time."""
    frames = deadlines.frames
    ready = saved > 0
    says_update = frames.says.passing(lambda text: "app update" in text or "Commit" in text)
    says_gpu = frames.says.passing(lambda text: "GPU" in text or "render" in text)
    agrees = ~says_gpu | says_update if path.stage is Stage.UPDATE else ~says_update | says_gpu
    more, less = _compared(trace, deadlines, path)
    slow = _slowed(trace, frames)
    fits = ready & ~slow & ~less
    proved = fits & more & agrees & path.is_sure
    return np.select([path.blocked_ns == 0, proved, fits], [-1, 0, 1], 2)


def _own_work(frames: Frames, path: Held) -> IntArray:
    """Time of frames in their stages without what the path holds them up for."""
    total = -path.inside_ns
    for stage in Stage:
        begin, end = frames.stage(stage)
        total = total + np.where(begin.known & end.known, end.values - begin.values, 0)
    return np.maximum(total, 0)


def _compared(trace: Trace, deadlines: Deadlines, path: Held) -> tuple[BoolArray, BoolArray]:
    """Whether frames with the model's work are late clearly more often than comparable ones without, and whether they
    are known not to be: shape (frames,) each. The rank sum of two outcomes; O(n log n)."""
    frames = deadlines.frames
    touched, late = path.blocked_ns > 0, frames.duration_ns > 0
    counts, work = late & frames.late | ~late, _own_work(frames, path)
    loads = Intervals.from_rows(top_calls(trace, *LOAD_KINDS))
    around = Intervals(loads.starts, loads.ends + FIRST_NS)
    apart = around.covered_within(Intervals(frames.start_ns, frames.start_ns + 1)) > 0
    group = deadlines.group
    first = np.full(int(group.max(initial=-1)) + 1, NEVER - FIRST_NS)
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
