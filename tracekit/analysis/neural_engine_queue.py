"""Who has the Neural Engine when: the rows that are surely a model's own, and the time that its predictions wait.

The engine takes one request after the other. A prediction waits where its work begins just after work of others ends;
where both run at once, nobody waited. How long the hand-over takes is measured in each recording. Overlap alone is
harmless: two processes had twice the throughput of one in a public measurement (apple/coremltools#1356).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.analysis.statistics import sums_by_label
from tracekit.analysis.unit_timeline import UnitTimeline, calls_and_times, last_end_before
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.frames import is_any, or_minus_one, rows_where
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace, cached_by_trace

CHANCE = 0.05
"""Work of others that has nothing to do with a piece of own work ends at any time before it begins. How often it ends
shortly before must be less likely than this by chance (Kolmogorov and Smirnov, one side); the usual level of tests."""

USUAL_SHARE = 0.95
"""Part of the pieces for which the engine was free that begin within the usual time. The rest had other reasons."""

STANDS_OUT = 2
"""A piece that waited begins at least so many times as late as usual: what it waited for is the larger part
(heuristic)."""

MIN_FREE = 5
"""Fewest pieces for which the engine was free that show how long the way to it takes. Fewer are chance (heuristic)."""


def engine_executions(hardware: pd.DataFrame) -> pd.DataFrame:
    """Execution rows of the Neural Engine among a model's hardware rows, with the columns of times, `model`,
    `prediction` and `attribution`: all with names, or all linked by time alone (`tracekit.trace.attribution`)."""
    return rows_where(hardware[list(_COLUMNS)], is_any(hardware["kind"], Kind.ANE_EXEC))


NAMED = (Attribution.LABEL, Attribution.EXACT)
"""Where the row itself names its model."""

_COLUMNS = ("start_ns", "duration_ns", "model", "prediction", "attribution")
"""Copying all columns of many rows would take longer than everything else here."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineWaits:
    """Times in which predictions of a model waited for the Neural Engine: shape (waits,) each."""

    prediction: IntArray
    """Label in `Trace.activity`."""
    times: Intervals
    """Each ends when the prediction's own work began."""
    others_ns: IntArray
    """The part in which the engine worked for others alone, as their rows show, with the hand-overs that follow
    these."""

    def by_prediction(self, predictions: pd.Index, values_ns: IntArray) -> IntArray:
        """Times of the waits, shape (waits,), added up for each of the predictions, given by label."""
        return sums_by_label(predictions, self.prediction, values_ns)


def engine_waits(trace: Trace, predictions: pd.DataFrame, hardware: pd.DataFrame) -> EngineWaits:
    """Waits of one model's predictions; `hardware` are its rows. O(n log n) in the rows of the engine."""
    prediction, times, handover = all_engine_waits(trace)
    ours = np.isin(prediction, predictions.index.to_numpy())
    prediction, times, line = prediction[ours], times.where(ours), _timeline(trace)
    held = line.held(handover)
    own = held.where(np.isin(line.label, _may_be_own(trace, hardware)))
    return EngineWaits(prediction, times, held.covered_within(times) - own.covered_within(times))


@cached_by_trace
def all_engine_waits(trace: Trace) -> tuple[IntArray, Intervals, int]:
    """Waits of the predictions of all models: labels of the app's predictions in `Trace.activity`, when each waited,
    and how long a hand-over takes at most, in ns. Rows in the stages of a pipeline are those of the app's prediction.

    A piece of work waited where the engine worked for another prediction after this one was ready, where the piece
    began no more than a hand-over (`_handover_ns`) after that work ended, and later than pieces for which the engine
    was free (`_usual_way`). The wait goes back to when the prediction was ready, and no further than the engine was
    busy without a break. O(n log n).
    """
    pieces = _pieces(trace)
    if pieces is None:
        return np.zeros(0, np.int64), Intervals.none(), 0
    delay, behind = pieces.begin - pieces.ready, np.abs(pieces.begin - pieces.reach)
    late = pieces.met & (delay > _usual_way(pieces))
    handover = _handover_ns(behind[late], delay[late])
    queued = late & (behind <= handover)
    low = np.maximum(pieces.ready, _timeline(trace).busy_since(handover)[pieces.timeline_row])[queued]
    start, prediction = pieces.begin[queued], pieces.prediction[queued]
    waited = low < start
    return prediction[waited], Intervals(low[waited], start[waited]), handover


def _may_be_own(trace: Trace, hardware: pd.DataFrame) -> IntArray:
    """Labels of the rows that are of the model, given its own, or that may be: those of several predictions, unless its
    own bear its name."""
    executed = is_any(hardware["kind"], Kind.ANE_EXEC)
    own = hardware.index.to_numpy()[executed]
    if is_any(hardware["attribution"], *NAMED)[executed].any():
        return own
    return np.append(own, trace.hardware.index.to_numpy()[is_any(trace.hardware["attribution"], Attribution.AMBIGUOUS)])


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """Work on the engine that belongs to a prediction of the app: shape (pieces,) each, by start."""

    prediction: IntArray
    """Label of the prediction."""
    model: IntArray
    """A number for its model."""
    timeline_row: IntArray
    """Row of the `UnitTimeline`."""
    ready: IntArray
    """Latest end of what the prediction did before, in ns; its start if it did nothing."""
    begin: IntArray
    reach: IntArray
    """When the engine had done all that it began before."""
    met: BoolArray
    """The engine worked for another prediction, or another process, after this one was ready."""
    first: BoolArray
    """No other piece of the prediction began before."""


def _pieces(trace: Trace) -> _Pieces | None:
    """The pieces of all predictions; None where none met other work."""
    owner, line, activity = top_predictions(trace.activity), _timeline(trace), trace.activity
    data, compute, hardware = (_of_app(frame, owner) for frame in (trace.data, trace.compute, trace.hardware))
    executed = is_any(hardware["kind"], Kind.ANE_EXEC)
    prediction, begin, _ = calls_and_times(hardware, executed)
    row = line.label.searchsorted(hardware.index.to_numpy()[executed])
    # For whom each row of the engine was; the last stands for the row before the first one.
    of_row = np.full(len(line.label) + 1, -1)
    of_row[row] = prediction
    began, reach = activity["start_ns"].to_numpy()[prediction], line.reach_before[row]
    met = (reach > began) & (of_row[line.reaching[row]] != prediction)
    if not met.any():
        return None
    did = [
        calls_and_times(data, np.ones(len(data), np.bool_)),
        calls_and_times(compute, ~is_any(compute["kind"], Kind.ANE_REQUEST)),
        calls_and_times(hardware, executed | is_any(hardware["kind"], Kind.GPU_EXEC)),
    ]
    ready, model = last_end_before(did, prediction, begin, began), activity["model"].cat.codes.to_numpy()
    first = ~pd.Index(prediction).duplicated()
    met &= reach > ready
    return _Pieces(prediction, model.astype(np.int64)[prediction], row, ready, begin, reach, met, first)


def _of_app(frame: pd.DataFrame, owner: IntArray) -> pd.DataFrame:
    """The rows that belong to a prediction and to no other process, linked to the app's own prediction."""
    linked = or_minus_one(frame["prediction"])
    chosen = (linked >= 0) & ~is_any(frame["attribution"], Attribution.FOREIGN)
    return rows_where(frame, chosen).assign(prediction=owner[linked[chosen]])


def _usual_way(pieces: _Pieces) -> FloatArray:
    """Longest usual time in ns from being ready to the begin of pieces for which the engine was free, for each piece:
    their `USUAL_SHARE` quantile, or `STANDS_OUT` times their median. Of the model, and whether the piece is the first
    of its prediction, since others follow sooner; where fewer than `MIN_FREE` show that, of all models; else 0.
    O(n log n)."""
    way, free = pieces.begin - pieces.ready, pieces.reach <= pieces.ready
    result = np.zeros(len(way))
    for model in (np.zeros_like(pieces.model), pieces.model):
        kind = 2 * model + pieces.first
        groups = pd.Series(way[free]).groupby(kind[free])
        usual, twice = groups.quantile(USUAL_SHARE), STANDS_OUT * groups.median()
        known = usual.where(usual >= twice, twice)[groups.size() >= MIN_FREE].reindex(kind).to_numpy(np.float64)
        result = np.where(np.isnan(known), result, known)
    return result


def _handover_ns(behind: IntArray, delay: IntArray) -> int:
    """How long after other work a waiting piece begins at most, from pieces that may have waited: shape (pieces,) each.

    `behind` is the time since other work ended, `delay` since the piece was ready. If the two had nothing to do with
    each other, other work would end at any time of the delay, so `behind` would be spread evenly over it. The hand-over
    is where most more pieces have begun than that; 0 where chance explains them (`CHANCE`). O(n log n).
    """
    if not len(behind):
        return 0
    behind, delay = np.sort(behind), np.sort(delay).astype(np.float64)
    within = np.searchsorted(delay, behind, side="right")
    beyond = np.append(np.cumsum(1 / delay[::-1])[::-1], 0.0)[within]
    evenly = (within + behind * beyond) / len(delay)
    ahead = np.arange(1, len(behind) + 1) / len(behind) - evenly
    best = int(np.argmax(ahead))
    return int(behind[best]) if ahead[best] >= (-np.log(CHANCE) / 2 / len(behind)) ** 0.5 else 0


@cached_by_trace
def _timeline(trace: Trace) -> UnitTimeline:
    return UnitTimeline.of(trace.hardware, is_any(trace.hardware["kind"], Kind.ANE_EXEC))
