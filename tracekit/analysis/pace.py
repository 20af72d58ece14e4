"""What sets the pace of predictions: a camera or a timer, whose frames they keep, or the end of the one before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, pairwise

import numpy as np

from tracekit.analysis.idle import CoreMLCalls, Idle, idle_times
from tracekit.analysis.latency import change_points
from tracekit.analysis.quantities import median_of, sample_quantiles
from tracekit.analysis.statistics import medians_by_group
from tracekit.analysis.throughput import Bursts, SteadyRate, burst_numbers, start_distances
from tracekit.arrays import FloatArray, IntArray
from tracekit.intervals import Intervals, Timed

BEAT_SPREAD = 0.01
"""Distances from start to start whose half distance between quartiles is at most this share of their median keep a
beat. Computing varies more (heuristic)."""

BEAT_RETURN = -0.3
"""And where a long distance is followed by a short one: the correlation of neighbors is -0.5 if each start is off a
fixed grid by chance, and about 0 if each distance is by itself (heuristic)."""

BEAT_REACH = 0.5
"""Where the usual distance passes several beats, nine tenths of the distances, less all but one of their beats, must
lie in so large a part of a beat. Distances that keep no beat leave anything: nine tenths in 0.9 of one (heuristic)."""

CERTAINTY = 2.5
"""A measure must be so many times its standard error away from what is to be ruled out: chance reaches that in one of
160 cases (normal distribution, one side)."""


TOLERANCE = 0.02
"""Part of the period of a frame rate by which the median distance may differ from it (heuristic)."""
SPREAD = 0.05
"""Part of the median distance that half the distance between the quartiles may be (heuristic)."""

FRAME_RATES: tuple[int, ...] = (120, 90, 60, 50, 30, 25, 24, 15)
"""Frames per second of displays and cameras, the likely pacemakers: 8.3, 11.1, 16.7, 20, 33.3, 40, 41.7, 66.7 ms."""


BLUR = 2
"""Errors of one time between the quartiles of distances and gaps whose two ends are off by up to one each."""


class Pacing(StrEnum):
    """What sets the distances of calls."""

    PERIODIC = "beat"
    """Something outside, such as a camera or a timer: the next call starts when it is time, however long one takes."""
    FOLLOWING = "following"
    """Each call follows the one before after a gap of its own: gaps are not shorter where calls are longer."""
    UNCLEAR = "unclear"
    """Too few or too even calls to tell."""


def pacing(distance_ns: IntArray, busy_ns: IntArray) -> Pacing:
    """What sets the distances of calls, given how much of each is no gap: shape (steps,) each. O(n log n).

    If each start waits for its time, a call that takes longer leaves less of a gap: the slope of gaps over calls is
    -1. If each call follows the one before, it is 0. The slope of a least-squares line and its standard error decide;
    a distance of several beats counts as one. Distances that hardly vary, or of which each makes up for the one before,
    are a beat in any case; where most pass two or three beats, the usual distance is so many.
    """
    usual = median_of(distance_ns) if len(distance_ns) else 0.0
    if len(distance_ns) >= 3 and usual and any(_keeps(distance_ns, usual, beats) for beats in _BEATS):
        return Pacing.PERIODIC
    if not usual:
        return Pacing.UNCLEAR
    # A call that is beats long passes these whatever sets the pace.
    passed = np.minimum(_skips(distance_ns, usual), busy_ns // usual)
    return _pacing_by_gaps(distance_ns, busy_ns - passed * usual)


def follows(idle: Idle, error_ns: int = 0) -> bool:
    """Whether each round of calls follows the one before, however even their distances are: gaps are more even than
    these, and than what the starts of the model are off a beat, and clearly not shorter where calls are longer. Where
    begins and ends are off by up to `error_ns`, they are more even than that makes them by chance.

    A round opens after the longest gap of each step, with whichever call: what waits for its time may be the load or
    the other model before a call. O(n log n).
    """
    longest, gone = idle.longest, np.cumsum(idle.gaps.durations)
    distance, free = np.diff(idle.gaps.ends[longest]), np.diff(gone[longest])
    same = np.diff(idle.sequence[idle.step[longest]]) == 0
    distance, free = distance[same], free[same]
    if not len(distance):
        return False
    usual = median_of(idle.distance_ns)
    # One after another: most recordings need the first only.
    kept = (usual / beats for beats in _BEATS if usual and _keeps(idle.distance_ns, usual, beats))
    even = chain((distance,), (_of_one_beat(idle.distance_ns, beat) for beat in kept))
    off_ns = quartile_distance(free) + BLUR * error_ns
    if any(off_ns >= quartile_distance(each) for each in even):
        return False
    return _pacing_by_gaps(distance, distance - free) is Pacing.FOLLOWING


def quartile_distance(values: IntArray | FloatArray) -> float:
    """Distance between the quartiles, shape (n,) with n > 0. O(n log n)."""
    low, high = sample_quantiles(values, 0.25, 0.75)
    return high - low


def _pacing_by_gaps(distance_ns: IntArray, busy_ns: IntArray | FloatArray) -> Pacing:
    count = len(distance_ns)
    usual = float(np.median(distance_ns)) if count else 0.0
    if count < 3 or not usual:
        return Pacing.UNCLEAR
    distance = _of_one_beat(distance_ns, usual)
    busy = _clip(busy_ns)
    gap = distance - busy
    power = float(((busy - busy.mean()) ** 2).sum())
    if not power:
        return Pacing.UNCLEAR
    slope = float(((busy - busy.mean()) * gap).sum()) / power
    error = (float(((gap - gap.mean() - slope * (busy - busy.mean())) ** 2).sum()) / (count - 2) / power) ** 0.5
    if slope <= -0.5 and slope <= -CERTAINTY * error:
        return Pacing.PERIODIC
    return Pacing.FOLLOWING if slope > -0.5 and slope + 1 >= CERTAINTY * error else Pacing.UNCLEAR


_BEATS = (1, 2, 3)
"""So many beats the usual distance may have: where each call passes more, the beat is that much slower."""


def _of_one_beat(distance_ns: IntArray, beat: float) -> FloatArray:
    """Shape (steps,): the distances without all but one of the beats that they pass, the outermost drawn in."""
    return _clip(distance_ns - _skips(distance_ns, beat) * beat)


def _skips(distance_ns: IntArray, beat: float) -> FloatArray:
    """Shape (steps,): beats that each distance passes beyond the first."""
    return np.maximum(np.rint(distance_ns / beat), 1) - 1


def _keeps(distance_ns: IntArray, usual: float, beats: int) -> bool:
    """Whether distances, shape (steps,), hardly differ from this many beats, or each makes up for the one before."""
    beat = usual / beats
    distance = _of_one_beat(distance_ns, beat)
    low, high = sample_quantiles(distance, 0.25, 0.75)
    if high - low <= 2 * BEAT_SPREAD * beat:
        return True
    if beats > 1 and np.ptp(distance) > BEAT_REACH * beat:
        return False
    if not (np.ptp(distance[1:]) and np.ptp(distance[:-1])):
        return False
    returns = float(np.corrcoef(distance[1:], distance[:-1])[0, 1])
    return bool(returns <= min(BEAT_RETURN, -CERTAINTY / len(distance) ** 0.5))


def spread(values: FloatArray | IntArray) -> float:
    """Half the distance between the quartiles as a share of the median; infinite where that is 0."""
    low, middle, high = sample_quantiles(values, 0.25, 0.5, 0.75)
    return (high - low) / 2 / middle if middle > 0 else float("inf")


def _clip(values: FloatArray | IntArray) -> FloatArray:
    """Values with the outermost twentieth on each side drawn in."""
    low, high = sample_quantiles(values, 0.05, 0.95)
    return np.clip(np.asarray(values, np.float64), low, high)


def steady_rate(
    predictions: Timed, burst_times: Bursts, calls: CoreMLCalls, model_code: int, *, slack: float = 0.05
) -> SteadyRate | None:
    """The steady rate of the predictions of one model, among `calls`; `model_code` is its code there. O(n log n).

    It is named where the median distance lies within `TOLERANCE` of the period of a rate of `FRAME_RATES`, half the
    distance between the quartiles is at most `SPREAD` of it, and for `slack` of the time neither the model nor one that
    alternates with it is used: all (heuristic), set so that the nearest rates, 24 and 25, stay apart and that
    back-to-back calls have none. Neither have calls that follow the end of the one before, of whichever model: what
    they take may be a frame by chance.
    """
    rate = frame_rate(start_distances(predictions, burst_times))
    if rate is None:
        return None
    idle = idle_times(calls, model_code, predictions.start_ns, burst_times.burst, 2)
    time = int(idle.distance_ns.sum())
    back_to_back = time - int(idle.busy_ns.sum()) < slack * time
    return None if back_to_back or follows(idle) else rate


def frame_rate(distances: IntArray | FloatArray) -> SteadyRate | None:
    """The usual rate of cameras and displays that distances from start to start keep; None without one. O(n log n)."""
    if not len(distances):
        return None
    middle, distance = median_of(distances), spread(distances)
    if distance > SPREAD:
        return None
    rate = min(FRAME_RATES, key=lambda rate: abs(middle * rate / 1e9 - 1))
    deviation = middle * rate / 1e9 - 1
    if abs(deviation) > TOLERANCE:
        return None
    return SteadyRate(rate, 1e9 / rate, deviation, distance)


OFF_BEAT = 0.1
"""A start is on the beat where it is off by no more than this share of a frame. Cameras were seen to be off by 1 %;
starts that come by chance are on it in a fifth of all cases."""

ON_BEAT_SHARE = 0.9
"""Part of the starts that must be on the beat: by chance a fifth of them are."""

SINGLE_SHARE = 0.25
"""Part of the steps that must be a single frame; with fewer, the rate may as well be a lower one (heuristic)."""

SLACK = 0.05
"""Part of the time between predictions; with less, their own latency sets the pace (heuristic)."""

SAME_GAP = 0.02
"""Gaps that differ by no larger part of a frame are the same (heuristic)."""

MIN_STEPS = 20
"""Fewer steps can be on a beat by chance (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameSteps:
    """Steps from one prediction to the next: shape (steps,) each."""

    frames_per_second: int
    """One of `FRAME_RATES`."""
    index: IntArray
    """Index of the prediction from which the step goes."""
    frames: IntArray
    """Whole frames to the start of the next, 1 or more."""


def frame_steps(predictions: Timed) -> FrameSteps | None:
    """Steps of predictions (sorted by start) that keep to the frames of a common rate; None where
    they keep to none, or follow each other at a pace of their own. O(n log n).

    Steps from one burst to the next are pauses of the user, and left out.
    """
    called = Intervals.from_rows(predictions)
    steps, lengths = np.diff(called.starts), called.durations
    index = np.flatnonzero(np.diff(burst_numbers(predictions)) == 0)
    if len(index) < MIN_STEPS:
        return None
    steps, busy = steps[index], np.minimum(lengths[index], steps[index])
    if int((steps - busy).sum()) < SLACK * int(steps.sum()):
        return None
    fits = []
    for rate in FRAME_RATES:
        frames = np.rint(steps * rate / 1e9).astype(np.int64)
        off = np.abs(steps * rate / 1e9 - frames)
        on_beat, several = (frames > 0) & (off <= OFF_BEAT), frames > 1
        # Equal predictions that follow each other at once look like single frames: those of several must fit too.
        fit = min(float(part.mean()) for part in (on_beat, on_beat[several]) if len(part))
        if fit >= ON_BEAT_SHARE and (on_beat & (frames == 1)).mean() >= SINGLE_SHARE:
            fits.append((median_of(off), rate, np.maximum(frames, 1)))
    if not fits:
        return None
    _, rate, frames = min(fits, key=lambda fit: fit[0])
    single = steps - (frames - 1) * round(1e9 / rate)
    # Long predictions pass more frames: what shows a steady rate is whether steps of as many frames follow their
    # predictions.
    counts, group = np.unique(frames, return_inverse=True)
    usual = medians_by_group(busy, group, len(counts))[group].astype(np.int64)
    if pacing(single, busy - usual) is not Pacing.PERIODIC or _follow(steps, steps - busy, frames, rate):
        return None
    return FrameSteps(rate, index, frames)


def _follow(steps: IntArray, gaps: IntArray, frames: IntArray, rate: int) -> bool:
    """Whether the gap is the same however many frames pass, as where each prediction follows the one before and those
    of two lengths happen to be frames apart; shape (steps,) each. Gaps that differ more than their steps follow the
    beat, and have the same median by chance."""
    several = frames > 1
    if several.all() or not several.any():
        return False
    if quartile_distance(gaps[several]) > quartile_distance(steps[several]):
        return False
    between = float(np.median(gaps[several]) - np.median(gaps[~several]))
    return abs(between) * rate / 1e9 <= SAME_GAP


MIN_STRETCH = 20
"""Fewer steps in a row do not show a pace of their own (heuristic)."""

SAME_PACE = 1.1
"""Median distances that differ by no larger factor are of one pace (heuristic)."""


def paced_stretches(idle: Idle, predictions: Timed, error_ns: int = 0) -> IntArray:
    """Shape (steps,): number of the stretch whose pace something outside sets that each step lies in, -1 for none.

    All steps are one where they keep a beat or frames, none where each follows the one before or hardly waits. A camera
    keeps another beat in another sequence, and another one where light fails: a stretch ends with its sequence, and
    where the level of the distances shifts. Begins and ends are off by up to `error_ns`. O(n log n).
    """
    stretch = np.full(len(idle.distance_ns), -1, np.int64)
    if idle.share < SLACK:
        return stretch
    edges = np.append(np.flatnonzero(np.diff(idle.sequence, prepend=-1)), len(stretch))
    for start, end in pairwise(edges.tolist()):
        if end - start < MIN_STRETCH:
            continue
        for first, after in pairwise(change_points(idle.distance_ns[start:end], min_ratio=SAME_PACE)):
            steps = np.zeros(len(stretch), np.bool_)
            steps[start + first : start + after] = after - first >= MIN_STRETCH
            some = idle.of_steps(steps)
            if steps.any() and _is_paced(some) and not follows(some, error_ns):
                stretch[steps] = start + first
    if (stretch >= 0).any() and not _is_paced(idle.of_steps(stretch < 0)):
        return stretch
    whole = (_is_paced(idle) or frame_steps(predictions) is not None) and not follows(idle, error_ns)
    return np.zeros_like(stretch) if whole else stretch


def _is_paced(idle: Idle) -> bool:
    return pacing(idle.distance_ns, idle.busy_ns) is Pacing.PERIODIC
