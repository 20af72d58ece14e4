"""Frames of a camera or a display that predictions keep to, and how many pass from one prediction to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.analysis.idle import Pacing, pacing, quartile_distance
from tracekit.analysis.throughput import FRAME_RATES, burst_numbers
from tracekit.arrays import IntArray

OFF_BEAT = 0.1
"""A start is on the beat where it is off by no more than this share of a frame. Cameras were seen to be off by 1 %;
starts that come by chance are on it in a fifth of all cases."""

ON_BEAT_SHARE = 0.9
"""Part of the starts that must be on the beat: by chance a fifth of them are."""

SINGLE_SHARE = 0.25
"""Part of the steps that must be a single frame; with fewer, the rate may as well be a lower one (heuristic)."""

SLACK = 0.05
"""Part of the time between predictions; with less, they follow each other at once, and their own latency sets the pace
(heuristic)."""

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


def frame_steps(predictions: pd.DataFrame) -> FrameSteps | None:
    """Steps of predictions (sorted by start) that keep to the frames of a common rate; None where
    they keep to none, or follow each other at a pace of their own. O(n log n).

    Steps from one burst to the next are pauses of the user, and left out.
    """
    starts, lengths = (predictions[name].to_numpy() for name in ("start_ns", "duration_ns"))
    steps = np.diff(starts)
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
            fits.append((float(np.median(off)), rate, np.maximum(frames, 1)))
    if not fits:
        return None
    _, rate, frames = min(fits, key=lambda fit: fit[0])
    single = steps - (frames - 1) * round(1e9 / rate)
    # Long predictions pass more frames: what shows a steady rate is whether steps of as many frames follow their
    # predictions.
    usual = pd.Series(busy).groupby(frames).transform("median").to_numpy().astype(np.int64)
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
