"""What is sure of answers about calls that Core ML did not record.

Such a call begins and ends within bounds. An answer stands where it is the same for the shortest and the longest calls
that fit, and for the most and the least alike; else the bounds decide, and the check is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Outcome, Passed
from tracekit.trace.events import BOUNDS, LOAD_KINDS, Kind, Origin
from tracekit.trace.frames import categorical, is_any, texts_in
from tracekit.trace.samples import SampleSource
from tracekit.units import format_error

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.framework import AnyDetector
    from tracekit.trace.trace import Trace

RECORD_CORE_ML: Final = "Record Core ML's own events: sign the target with get-task-allow."
"""Advice where inferred calls are not enough."""


def stands_in(detector: AnyDetector, rows: pd.DataFrame) -> bool:
    """Whether a detector may judge calls that other sources than Core ML show: any of these rows is of one."""
    return bool(is_any(rows["origin"], *detector.origins).any()) if "origin" in rows else False


def source_sentence(trace: Trace) -> str:
    """Where inferred calls come from, and how exact they are."""
    activity = trace.activity
    if not is_any(activity["origin"], Origin.CALL_STACKS).any():
        if is_any(activity["origin"], Origin.SIGNPOSTS).all():
            return "From Core ML's signposts, with exact times."
        return "From hardware rows: actual durations are longer."
    return stacks_sentence(int(activity["resolution_ns"].max()))


def stacks_sentence(resolution_ns: int) -> str:
    """That calls come from samples taken so far apart."""
    return f"{from_stacks(resolution_ns).capitalize()}."


def from_stacks(error_ns: float) -> str:
    """What shows inferred calls, and by how much their times may be off: `from call stacks, ±1 ms`."""
    return f"from call stacks, {format_error(error_ns)}"


def variants(trace: Trace) -> Iterator[Trace]:
    """The trace with other times of its calls that fit just as well: the shortest, the longest, the most alike and the
    least alike, model by model. Calls of one thread do not overlap. Calls of the hardware alone keep their times, which
    are lower bounds."""
    activity = trace.activity
    long = _longer_than_usual(activity)
    nothing = np.zeros(len(activity), np.bool_)
    thread = _threads(trace)
    for longest in (nothing, ~nothing, ~long, long):
        yield _with_times(trace, thread, longest)


def _longer_than_usual(activity: pd.DataFrame) -> BoolArray:
    """Whether each row lasts longer than the median of those of its model and kind."""
    duration = activity["duration_ns"]
    usual = duration.groupby([activity["model"], activity["kind"]], observed=True, dropna=False).transform("median")
    return (duration > usual).to_numpy()


def _threads(trace: Trace) -> IntArray:
    """Shape (calls,): a number for the thread of each call; of one that was not sampled that of its model's other
    calls, where it is one. -1 where it is not known."""
    activity, thread = trace.activity, np.full(len(trace.activity), -1)
    if trace.sites is None or trace.sites.empty:
        return thread
    thread[trace.sites.index.to_numpy()] = categorical(trace.sites["thread"]).codes
    by_model = pd.Series(thread).mask(thread < 0).groupby(activity["model"].cat.codes.to_numpy())
    lowest, highest = (by_model.transform(name).to_numpy(np.float64) for name in ("min", "max"))
    alone = (thread < 0) & is_any(activity["origin"], Origin.CALL_STACKS) & (lowest == highest)
    return np.where(alone, np.nan_to_num(lowest, nan=-1), thread).astype(np.int64)


def _with_times(trace: Trace, thread: IntArray, longest: BoolArray) -> Trace:
    activity = trace.activity
    stacked = is_any(activity["origin"], Origin.CALL_STACKS)
    low, late, early, high = (activity[name].to_numpy() for name in BOUNDS)
    end = np.where(longest, high, early)
    order = np.argsort(thread, kind="stable")
    before, after = order[:-1], order[1:]
    same = (thread[before] == thread[after]) & (thread[after] >= 0)
    before, after = before[same], after[same]
    end[before] = np.minimum(end[before], np.maximum(late[after], early[before]))
    start = np.where(longest, low, late)
    start[after] = np.maximum(start[after], np.minimum(end[before], late[after]))
    start = np.where(stacked, start, activity["start_ns"].to_numpy())
    # Frames are sorted by start.
    start = np.maximum.accumulate(start)
    duration = np.where(stacked, np.maximum(end - start, 0), activity["duration_ns"].to_numpy())
    variant = replace(trace, activity=activity.assign(start_ns=start, duration_ns=duration))
    variant.cache.get(SampleSource, lambda: trace.sampled)
    return variant


def settled(outcomes: Sequence[Outcome], others: Sequence[Mapping[str | None, Outcome]], trace: Trace) -> list[Outcome]:
    """The outcomes, each where that of no variant contradicts it. `others` are those of the variants, by model, in
    their order."""
    return [_settled(outcome, [each.get(outcome.model) for each in others], trace) for outcome in outcomes]


def _settled(outcome: Outcome, others: Sequence[Outcome | None], trace: Trace) -> Outcome:
    if isinstance(outcome, Finding):
        # The least alike calls only make a finding more likely.
        if all(isinstance(other, Finding) for other in others[:3]):
            return outcome
        return _undecided(outcome)
    if not isinstance(outcome, Passed):
        return outcome
    if not all(isinstance(other, Passed | NotApplicable) for other in others):
        return _undecided(outcome)
    doubt = _doubt(outcome, trace)
    return NotEvaluated(outcome.model, doubt, RECORD_CORE_ML) if doubt else outcome


def _undecided(outcome: Outcome) -> NotEvaluated:
    return NotEvaluated(
        outcome.model, "Call stacks do not tell exactly enough when its calls began and ended.", RECORD_CORE_ML
    )


def _doubt(outcome: Outcome, trace: Trace) -> str:
    """Why that nothing was found says nothing; empty where it does."""
    activity = trace.activity
    own = activity if outcome.model is None else activity[is_any(activity["model"], outcome.model)]
    if is_any(own["origin"], Origin.HARDWARE).any():
        return "Some of its calls are known by their work on the hardware alone, which is shorter than they were."
    if not own["single"].all():
        return "Call stacks do not tell all of its calls apart."
    kinds = [is_any(own["kind"], *LOAD_KINDS).any(), is_any(own["kind"], Kind.PREDICTION).any()]
    if outcome.model is not None and sum(kinds) == 1 and len(texts_in(activity["model"])) > 1:
        return "Call stacks do not tell which loads and predictions are of one model."
    return ""
