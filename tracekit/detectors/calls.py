"""The calls of a model whose times can be compared with each other.

Several detectors ask why some calls take longer than others. What is known to make a call slow, and is another
detector's business, is left out for all of them alike: warming up, waiting for another call, waiting for somebody
else's work, and the long calls that open a sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from tracekit.analysis.cadence import BURST_FACTOR
from tracekit.analysis.statistics import covered_ns
from tracekit.detectors.outcomes import Cost, InsufficientData, Intervals
from tracekit.detectors.wording import too_few
from tracekit.intervals import depth_profile, integrate, union
from tracekit.trace.events import Kind, Lane, Level
from tracekit.units import format_count

if TYPE_CHECKING:
    import numpy.typing as npt

    from tracekit.detectors.framework import ModelView
    from tracekit.trace.model import Trace

    FloatArray = npt.NDArray[np.float64]
    IntArray = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

MIN_CALLS = 20
"""Fewest comparable calls. Below it a 95th percentile is the longest call or lies between the longest two."""

EVEN = 1.25
"""Times whose 95th percentile is at most so many times their 5th are not searched for calls that waited. The times of
undisturbed calls have about 1.2 (our judgement)."""

LONGER = 0.2
"""How much longer than the shortest tenth a call must be before it is asked whether it waited, as a share."""

WAITED_SHARE = 0.5
"""Part of the extra time of a call in which others were at work that explains it (our judgement)."""

OPENING_RATIO = 1.5
"""A call that opens a sequence stands out where it takes so many times the median of the sequence (our judgement)."""


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Comparable calls of one model, and how many others were left out for which reason."""

    rows: pd.DataFrame
    """Prediction rows, sorted by start."""
    burst: IntArray
    """Shape (calls,): number of the sequence, which counts all predictions of the model."""
    cold: int
    """Left out: the first after a load."""
    overlapping: int
    """Left out: another prediction of the model was in flight meanwhile."""
    waiting: int
    """Left out: longer than others while somebody else worked for much of the extra time."""
    opening: int
    """Left out: opens a sequence of shorter calls, as a prompt does before the tokens that follow."""

    @property
    def starts(self) -> IntArray:
        """Shape (calls,): starts in ns."""
        return self.rows["start_ns"].to_numpy()

    @property
    def durations(self) -> IntArray:
        """Shape (calls,): durations in ns, more than 0."""
        return self.rows["duration_ns"].to_numpy()

    def where(self, chosen: Mask) -> Calls:
        """Some of the calls, with the same counts beside them."""
        return Calls(self.rows[chosen], self.burst[chosen], self.cold, self.overlapping, self.waiting, self.opening)

    @property
    def left_out(self) -> str:
        """Words for what was left out; empty where nothing was."""
        counts = (
            (self.cold, "right after a load"),
            (self.overlapping, "that overlapped another"),
            (self.waiting, "that waited for other work"),
            (self.opening, "that opened a sequence"),
        )
        return ", ".join(f"{format_count(count, 'prediction')} {why}" for count, why in counts if count)

    def too_few(self, model: str, needed: int) -> InsufficientData:
        """The answer where fewer than `needed` calls can be compared: the same for all detectors that ask."""
        total = len(self.rows) + self.cold + self.overlapping + self.waiting + self.opening
        if self.cold >= max(needed, total / 2):
            return InsufficientData(
                model,
                "Most predictions came right after a load, so that too few show how long the model takes otherwise.",
                "Keep the model loaded between predictions, and record again.",
            )
        if self.overlapping >= max(needed, total / 2):
            return InsufficientData(
                model,
                "Most predictions overlapped another one of the model, so that too few show how long one takes by "
                "itself.",
                "Record a phase in which one prediction runs at a time.",
            )
        behind = f" Left out: {self.left_out}." if self.left_out else ""
        return InsufficientData(
            model,
            too_few(len(self.rows), needed, "to compare") + behind,
            "Record the feature for longer, one prediction at a time.",
        )


def sequences(predictions: pd.DataFrame) -> IntArray:
    """Shape (predictions,): number of the sequence that each belongs to. A pause from the end of one call to the start
    of the next ends a sequence where it is longer than `BURST_FACTOR` times the median distance from start to start.

    `tracekit.analysis.cadence.bursts` measures from start to start; there, one long call would end a burst. O(n log n).
    """
    starts = predictions["start_ns"].to_numpy()
    ends = np.maximum.accumulate(starts + predictions["duration_ns"].to_numpy())
    distances = np.diff(starts)
    positive = distances[distances > 0]
    limit = BURST_FACTOR * float(np.median(positive)) if len(positive) else np.inf
    opens = np.concatenate(([False], starts[1:] - ends[:-1] > limit))[: len(starts)]
    return np.cumsum(opens)


_KEPT: WeakKeyDictionary[Trace, dict[str, Calls]] = WeakKeyDictionary()
"""Comparable calls by model: several detectors ask for them."""


def comparable_calls(view: ModelView) -> Calls:
    """The calls of the model that can be compared. Calls without duration are none. O(n log n), and O(m log m) in the
    hardware rows where times differ much; found once per trace."""
    kept = _KEPT.setdefault(view.trace, {})
    if view.name not in kept:
        kept[view.name] = _comparable_calls(view)
    return kept[view.name]


def _comparable_calls(view: ModelView) -> Calls:
    rows = view.predictions
    burst = sequences(rows)
    warm, timed = view.warm, rows["duration_ns"].to_numpy() > 0
    starts = rows["start_ns"].to_numpy()
    ends = starts + rows["duration_ns"].to_numpy()
    times, depth = depth_profile(starts, ends)
    alone = integrate(times, (depth > 1).astype(np.int64), starts, ends) == 0
    kept = warm & alone & timed
    cold, overlapping = int((~warm & timed).sum()), int((warm & ~alone & timed).sum())
    durations = (ends - starts)[kept]
    waiting = opening = np.zeros(len(durations), np.bool_)
    if _uneven(durations):
        waiting = _waited(view, starts[kept], durations)
        opening = np.zeros(len(durations), np.bool_)
        opening[~waiting] = opens_sequence(durations[~waiting], burst[kept][~waiting])
    kept[kept] = ~(waiting | opening)
    return Calls(
        rows if kept.all() else rows[kept], burst[kept], cold, overlapping, int(waiting.sum()), int(opening.sum())
    )


def _uneven(durations: IntArray) -> bool:
    if len(durations) < 2:
        return False
    low, high = np.quantile(durations, [0.05, 0.95])
    return bool(high > EVEN * low)


def _waited(view: ModelView, starts: IntArray, durations: IntArray) -> Mask:
    """Shape (calls,): others worked for much of the time that the call took longer than the shortest tenth.

    Others are rows of the model's compute units that are not its own, and what else the app asked of Core ML.
    """
    extra = durations - float(np.quantile(durations, 0.1))
    work = _work(view.trace)
    own = view.hardware.index.to_numpy()
    foreign = np.isin(work.lane, [lane for lane in _LANES if (work.lane[own] == lane).any()])
    foreign[own] = False
    asked = work.asked_of != work.models.get(view.name, -1)
    begin = np.concatenate([work.start[foreign], work.asked_start[asked]])
    length = np.concatenate([work.length[foreign], work.asked_length[asked]])
    profile = depth_profile(*union(begin, begin + length))
    meanwhile = integrate(*profile, starts, starts + durations)
    longer = extra >= LONGER * (durations - extra)
    waited: Mask = longer & (meanwhile >= WAITED_SHARE * extra)
    return waited


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What all models of a recording and others did: shape (hardware rows,) each, and (rows that the app asked,)."""

    start: IntArray
    length: IntArray
    lane: IntArray
    """A place in `_LANES`; -1 for other lanes."""
    asked_start: IntArray
    asked_length: IntArray
    asked_of: IntArray
    """A number for the model that a prediction was of; -2 for loads and compilations."""
    models: dict[str, int]
    """The numbers by base name."""


_WORK: WeakKeyDictionary[Trace, _Work] = WeakKeyDictionary()
_LANES = (0, 1)
"""Neural Engine and GPU, as numbers."""


def _work(trace: Trace) -> _Work:
    if trace not in _WORK:
        hardware, activity = trace.hardware, trace.activity
        lane = np.full(len(hardware), -1, np.int64)
        for number, name in zip(_LANES, (Lane.NEURAL_ENGINE, Lane.GPU), strict=True):
            lane[(hardware["lane"] == name).to_numpy(dtype=bool)] = number
        asked = activity[((activity["level"] == Level.TOP) & activity["model"].notna()).to_numpy(dtype=bool)]
        codes = asked["model"].cat.codes.to_numpy().astype(np.int64)
        _WORK[trace] = _Work(
            hardware["start_ns"].to_numpy(),
            hardware["duration_ns"].to_numpy(),
            lane,
            asked["start_ns"].to_numpy(),
            asked["duration_ns"].to_numpy(),
            np.where((asked["kind"] == Kind.PREDICTION).to_numpy(dtype=bool), codes, -2),
            {str(name): number for number, name in enumerate(asked["model"].cat.categories)},
        )
    return _WORK[trace]


def opens_sequence(durations: IntArray, burst: IntArray) -> Mask:
    """Shape (calls,): the call is one of the long ones with which most sequences open.

    The calls at the beginning of a burst count that take `OPENING_RATIO` times its median or more, if at least half of
    the bursts of three and more calls, and at least two, open like that. O(n log n).
    """
    frame = pd.DataFrame({"duration": durations, "burst": burst})
    groups = frame.groupby("burst")
    long = frame["duration"] >= OPENING_RATIO * groups["duration"].transform("median")
    leading = long.groupby(frame["burst"]).cummin().to_numpy(dtype=bool)
    sizes = groups.size()
    several = sizes.index[sizes >= 3]
    opened = frame.loc[leading, "burst"].unique()
    count = int(np.isin(several, opened).sum())
    if count < 2 or 2 * count < len(several):
        return np.zeros(len(durations), np.bool_)
    return leading


def extra_time(view: ModelView, calls: Calls, usual_ns: FloatArray, words: str) -> tuple[Intervals, Cost]:
    """Where calls went on beyond their usual time (shape (calls,)), and what that costs. `words` begin the basis."""
    starts, ends = calls.starts, calls.starts + calls.durations
    usual_end = starts + np.rint(usual_ns).astype(np.int64)
    longer = ends > usual_end
    lost = Intervals(*union(usual_end[longer], ends[longer]))
    won = int((lost.ends - lost.starts).sum())
    spent = covered_ns(view.predictions)
    basis = f"{words}; share of the time with predictions of the model in flight."
    return lost, Cost(ns=won, share=won / spent if spent else 0.0, basis=basis)
