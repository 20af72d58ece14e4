"""What is sure of answers about calls that Core ML did not record.

Such a call begins and ends within bounds. An answer stands where it is the same for other times that fit, and where
what it rests on besides times is known; else the check is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import UnionType
from typing import NamedTuple

import numpy as np

from tracekit.analysis.loads import first_predictions
from tracekit.analysis.quantities import median_of
from tracekit.analysis.statistics import medians_by_group, quantiles_by_group
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.characters import lower_first
from tracekit.columns import Texts
from tracekit.detectors.answers import RECORD_CORE_ML
from tracekit.detectors.framework import AnyDetector
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Outcome, Passed
from tracekit.intervals import Intervals
from tracekit.recording.table import TableState
from tracekit.rows import sums_by
from tracekit.sorting import is_first_of_each
from tracekit.trace.calls.infer import Follows, Inferred, call_order, keep_in_order, next_of, threads_of, with_times
from tracekit.trace.calls.stacks import Unit
from tracekit.trace.events import LOAD_KINDS, SETUP_KINDS, Attribution, Calls, Events, Kind, Origin
from tracekit.trace.instruments.catalogue import CORE_ML
from tracekit.trace.samples import SampleSource
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_error


def unsure(trace: Trace, model: str | None, doubt: str) -> NotEvaluated:
    """Not evaluated, since only Core ML's own events would tell; what helps where its table cannot be read."""
    core_ml = trace.coverage_of(CORE_ML)
    if core_ml.state is TableState.UNREADABLE:
        return NotEvaluated(model, f"{core_ml.conclusion.rstrip('.')}; {lower_first(doubt)}", core_ml.advice)
    return NotEvaluated(model, doubt, RECORD_CORE_ML)


def stands_in(detector: AnyDetector, origin: Texts) -> bool:
    """Whether a detector may judge calls that other sources than Core ML show: any of these is one."""
    return bool(origin.is_any(*detector.origins).any())


@cached_by_trace
def source_sentence(trace: Trace) -> str:
    """Where inferred calls come from, and how exact they are."""
    calls = trace.activity
    if not calls.origin.is_any(Origin.CALL_STACKS).any():
        if calls.origin.is_any(Origin.SIGNPOSTS).all():
            return "From Core ML's signposts, with exact times."
        return "From hardware rows: actual durations are longer."
    return stacks_sentence(int(calls.resolution_ns.max()))


def stacks_sentence(resolution_ns: int) -> str:
    """That calls come from samples taken so far apart."""
    return f"{from_stacks(resolution_ns).capitalize()}."


def from_stacks(error_ns: float) -> str:
    """What shows inferred calls, and by how much their times may be off: `from call stacks, ±1 ms`."""
    return f"from call stacks, {format_error(error_ns)}"


class Variant(NamedTuple):
    """The trace with other times of its calls."""

    trace: Trace
    settles: type[Outcome] | UnionType
    """The answers that it must confirm."""
    single: bool = False
    """Only those that rest on single calls (`counts`)."""
    joined: bool = False
    """Only those that tell predictions after a load from others (`joins`)."""

    def is_asked(self, detector: AnyDetector, outcome: Outcome) -> bool:
        """Whether a detector's answer needs its confirmation."""
        asked = (detector.counts or not self.single) and (detector.joins or not self.joined)
        return asked and isinstance(outcome, self.settles)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Bounds of calls: shape (calls, 2) each, of their begin and of their end."""

    inner: IntArray
    """The latest start and the earliest end."""
    width: IntArray
    """How much earlier and later they may be."""
    resolution: IntArray
    several: BoolArray
    """Whether it is the end of what may be several calls, of which the first alone is sure."""

    @classmethod
    def of(cls, calls: Calls) -> _Bounds:
        late, early = calls.start_max_ns, calls.end_min_ns
        width = np.column_stack((late - calls.start_min_ns, calls.end_max_ns - early))
        several = np.column_stack((np.zeros(len(calls), np.bool_), ~calls.single))
        return cls(np.column_stack((late, early)), width, calls.resolution_ns[:, None], several)

    @property
    def wide(self) -> BoolArray:
        """Samples do not tell them."""
        result: BoolArray = (self.width > _SAMPLED * self.resolution) | self.several
        return result

    def told(self, trace: Trace) -> _Bounds:
        """The bounds where no sample was missed, and where calls reach no further beyond the work of the hardware than
        others of their model, which samples tell."""
        narrow = np.where(self.wide, self.width, np.minimum(self.width, self.resolution))
        model = trace.activity.model
        first = first_predictions(trace) | is_first_of_each(model.codes.astype(np.int64) + 1)
        for edge, (sign, work) in enumerate(zip((-1, 1), _work_times(trace), strict=True)):
            seen = sign * (self.inner[:, edge] - work)
            beyond = np.where(self.wide[:, edge], np.nan, seen + narrow[:, edge])
            left = np.maximum(_usually_beyond(beyond, model) - seen, 0)
            if edge:
                # A first prediction that ends in a wait may wait for what others do not.
                left[first] = np.nan
            narrow[:, edge] = np.where(np.isnan(left), narrow[:, edge], np.minimum(narrow[:, edge], left))
        return replace(self, width=narrow)

    def share_for(self, duration: FloatArray) -> FloatArray:
        """Which part of the bounds brings calls nearest to these durations, shape (calls,): shape (calls, 1)."""
        shortest = np.maximum(self.inner[:, 1] - self.inner[:, 0], 0)
        part: FloatArray = (duration - shortest) / np.maximum(self.width.sum(axis=1), 1)
        return np.clip(part, 0.0, 1.0)[:, None]

    def times(self, share: FloatArray | BoolArray | float) -> tuple[IntArray, IntArray]:
        """Starts and ends of calls that use such a share of their bounds."""
        used = np.rint(self.width * share).astype(np.int64)
        return self.inner[:, 0] - used[:, 0], self.inner[:, 1] + used[:, 1]


def variants(trace: Trace) -> Iterator[Variant]:
    """The trace with other times of its calls that fit just as well.

    An answer must be the same for short predictions and long loads, and the reverse: what samples tell is off by at
    most a sampling period, each time by chance, and all together by half of one, as of few loads by a whole one; where
    none tells when a call begins or ends, all may be at their bounds. What rests on single calls must be the same for
    the most alike ones, model by model; what tells those after a load from others, for the longest. What was not found
    must be there neither for the shortest and the longest calls nor for the least alike.

    Calls of one thread do not overlap, nor does a prediction begin before its model is loaded. Calls of the hardware
    alone keep their times, which are lower bounds; but what is found must be there too where as much as fits between
    them is of the calls, up to half of each.
    """
    calls = trace.activity
    bounds, follows = _Bounds.of(calls), call_order(calls, trace.sites)
    told = bounds.told(trace)
    keys = (calls.model.codes + np.int64(1)) * (len(calls.kind.values) + 1) + calls.kind.codes
    numbers, of_both = np.unique(keys, return_inverse=True)
    # The median duration of those of the model and kind of each.
    usual = medians_by_group(calls.duration_ns, of_both, len(numbers))[of_both]
    if calls.origin.is_any(Origin.HARDWARE).any():
        yield Variant(_with_longer_calls(trace), Finding)
    less = np.random.default_rng(len(usual)).random(bounds.width.shape) / 2
    loads = calls.kind.is_any(*SETUP_KINDS)[:, None]
    least = (calls.duration_ns > usual)[:, None]
    yield Variant(_with_times(trace, follows, *told.times(told.share_for(usual))), Finding | Passed, single=True)
    longest = _with_times(trace, follows, *bounds.times(1.0))
    yield Variant(longest, Finding, single=True, joined=True)
    yield Variant(longest, Passed)
    for settles, times in (
        (Finding | Passed, told.times(np.where(told.wide | loads, loads, less))),
        (Finding | Passed, told.times(np.where(told.wide | loads, ~loads, less + 0.5))),
        (Passed, bounds.times(0.0)),
        (Passed, bounds.times(least)),
    ):
        yield Variant(_with_times(trace, follows, *times), settles)


_SAMPLED = 4
"""Sampling periods between which a begin or an end lies that samples tell: some are missed (heuristic)."""


_FEWEST, _HABIT, _MOSTLY = 6, 0.1, 0.9
"""Calls of a model whose ends samples tell, in number and as a share, from which on they show how far the others reach
beyond the work of the hardware: as far as most of them, whose ends are sampled because they reach far (heuristic)."""


def _work_times(trace: Trace) -> tuple[FloatArray, FloatArray]:
    """Begin and end of the work of the hardware for each call: shape (calls,) each, NaN where there is none."""
    linked, spans = trace.hardware.prediction.filled(), Intervals.from_rows(trace.hardware)
    begin, end = (np.full(len(trace.activity), np.nan) for _ in range(2))
    np.fmin.at(begin, linked[linked >= 0], spans.starts[linked >= 0])
    np.fmax.at(end, linked[linked >= 0], spans.ends[linked >= 0])
    return begin, end


def _usually_beyond(beyond: FloatArray, model: Texts) -> FloatArray:
    """Shape (calls,): what most calls of its model do not exceed; NaN where that is known of too few. O(n log n)."""
    group, known = model.codes + np.int64(1), ~np.isnan(beyond)
    count, every = (np.bincount(each, minlength=len(model.values) + 1) for each in (group[known], group))
    (usual,) = quantiles_by_group(beyond[known], group[known], len(count), _MOSTLY)
    of_calls: FloatArray = np.where((count >= _FEWEST) & (count >= _HABIT * every), usual, np.nan)[group]
    return of_calls


def _with_times(trace: Trace, follows: tuple[Follows, ...], start: IntArray, end: IntArray) -> Trace:
    calls = trace.activity
    stacked = calls.origin.is_any(Origin.CALL_STACKS)
    keep_in_order(calls, follows, start, end)
    start = np.where(stacked, start, calls.start_ns)
    return _moved(trace, start, np.where(stacked, np.maximum(end - start, 0), calls.duration_ns))


def _moved(trace: Trace, start: IntArray, duration: IntArray) -> Trace:
    found, order = with_times(Inferred(trace.activity, trace.hardware, trace.sites), start, duration)
    variant = replace(trace, activity=found.activity, hardware=found.hardware, sites=found.sites)
    variant.cache.get(SampleSource, lambda: trace.sampled)
    variant.cache.get(_each_known, lambda: _each_known(trace)[order])
    return variant


def _with_longer_calls(trace: Trace) -> Trace:
    """Calls of the hardware alone last as much longer as usually lies between one of their model and the next call of
    any, but no more than short ones work: mostly less than half of a call has no row (heuristic). O(n log n)."""
    calls, count = trace.activity, len(trace.activity.model.values) + 1
    alone, group = calls.origin.is_any(Origin.HARDWARE), calls.model.codes + np.int64(1)
    free = np.maximum(np.append(calls.start_ns[1:], 0) - np.maximum.accumulate(calls.ends_ns), 0)
    usual = medians_by_group(free[alone], group[alone], count)[group]
    (short,) = quantiles_by_group(calls.duration_ns[alone], group[alone], count, 0.25)
    more = np.where(alone, np.minimum.reduce([free, usual, short[group]]), 0).astype(np.int64)
    return _moved(trace, calls.start_ns, calls.duration_ns + more)


EITHER = (
    {"reload-before-predict", "load-churn"},
    {"serial-predictions", "pipeline-gaps"},
    {"latency-jitter", "shape-switching"},
)
"""Checks of which one finds what another leaves to it: that one of them finds it in a variant confirms either."""


def either_of(detector: str) -> set[str]:
    """Checks one of which finds what this one does, with itself; none where only it does."""
    return next((each for each in EITHER if detector in each), set())


def settled(
    detector: AnyDetector,
    outcomes: Sequence[Outcome],
    others: Mapping[str, Sequence[tuple[Variant, Mapping[str | None, Outcome]]]],
    trace: Trace,
) -> list[Outcome]:
    """The outcomes, each where those that settle it confirm it and the detector's `joins` and `counts` are known.
    `others` are those of each detector in the variants that it was asked for, by model."""
    result = []
    for outcome in outcomes:
        found = {
            id(variant): other
            for name in (either_of(detector.id) if isinstance(outcome, Finding) else ())
            for variant, each in others.get(name, ())
            if isinstance(other := each.get(outcome.model), Finding)
        }
        asked = [
            (variant, found.get(id(variant)) or each.get(outcome.model))
            for variant, each in others[detector.id]
            if variant.is_asked(detector, outcome)
        ]
        doubt = _doubt(detector, outcome, trace)
        confirming = {Finding: Finding, Passed: Passed | NotApplicable}.get(type(outcome))
        if confirming is None:
            answer = outcome
        else:
            if not all(isinstance(other, confirming) for _, other in asked):
                doubt = doubt or (_SHORTER if _has_hardware_calls(outcome, trace) else _INEXACT)
            answer = unsure(trace, outcome.model, doubt) if doubt else outcome
        single = _each_known(trace)[_of(answer, trace)].all()
        if isinstance(answer, Finding) and detector.on_evidence and not single:
            # What may be several counts as one: the longest calls are those that it is surely compared with.
            answer = next((other for variant, other in asked if variant.joined and isinstance(other, Finding)), answer)
        result.append(answer)
    return result


_INEXACT = "Call stacks do not tell exactly enough when its calls began and ended."
_SHORTER = "Some of its calls are known by their work on the hardware alone, which is shorter than they were."


def _has_hardware_calls(outcome: Outcome, trace: Trace) -> bool:
    return bool(trace.activity.origin.take(_of(outcome, trace)).is_any(Origin.HARDWARE).any())


def _of(outcome: Outcome, trace: Trace) -> BoolArray:
    """Shape (calls,): those that the outcome is about."""
    calls = trace.activity
    return np.ones(len(calls), np.bool_) if outcome.model is None else calls.model.is_any(outcome.model)


def _doubt(detector: AnyDetector, outcome: Outcome, trace: Trace) -> str:
    """Why what was found or not found says nothing; empty where it does."""
    if not isinstance(outcome, Finding | Passed):
        return ""
    chosen = _of(outcome, trace)
    of_model = trace.activity.where(chosen)
    found = isinstance(outcome, Finding)
    if not found and _has_hardware_calls(outcome, trace):
        return _SHORTER
    if not found and outcome.model is not None and _may_be_other(trace, of_model, outcome.model):
        return "Call stacks do not tell all of its calls from those of another model."
    known = _each_known(trace)[chosen]
    if isinstance(outcome, Finding):
        known |= ~_must_be_known(detector, outcome, of_model, known)
    if (detector.counts or detector.joins or not found) and not known.all():
        return "Call stacks do not tell all of its calls apart."
    if detector.joins and not _joined(trace.activity, outcome):
        return "Call stacks do not tell which loads and predictions are of one model."
    return ""


def _must_be_known(detector: AnyDetector, finding: Finding, of_model: Calls, known: BoolArray) -> BoolArray:
    """Shape (calls,): the finding does not hold where the call is not known to be one: loads and, where it rests on
    single predictions, those of its evidence; the others too, unless they are few even if each is as many as fit in."""
    loads = of_model.kind.is_any(*LOAD_KINDS)
    # A short one that is one is a load in any case, whatever is overlooked beside it.
    several: BoolArray = loads & ~of_model.single
    if not detector.counts:
        return several
    every = finding.all_evidence
    starts = [each.start_ns for each in finding.evidence] if every is None else every.times.starts
    shown: BoolArray = several | (np.isin(of_model.start_ns, starts) & ~loads)
    if detector.on_evidence:
        # Others like it may be overlooked.
        whole = of_model.single & (of_model.duration_ns >= _NEAR * of_model.resolution_ns)
        return shown & ~(whole & ~loads)
    sure = of_model.duration_ns[known & ~loads]
    hidden = (of_model.end_max_ns - of_model.start_min_ns)[~known & ~loads].sum()
    few = len(sure) and hidden / max(median_of(sure), 1) <= _FEW * len(sure)
    return shown if few else np.ones(len(of_model), np.bool_)


def _may_be_other(trace: Trace, of_model: Calls, name: str) -> bool:
    """Whether calls of another model may be of this one, known by its code: other calls come from the same code, as far
    as the hardware tells; or it worked for a model of which no call is known, and not for this one."""
    worked = _worked_for(trace)
    if name not in worked and worked - set(trace.activity.model.held()):
        return True
    if trace.sites is None:
        return False
    path, own = trace.sites.path, np.isin(trace.sites.id, of_model.id)
    return bool(np.isin(path[~own], path[own]).any())


def _joined(calls: Calls, outcome: Finding | Passed) -> bool:
    """Whether the loads and the predictions of the models are known that an answer is about. What seems to have only
    the one kind may belong to what has only the other; that nothing was found holds only without any such model."""
    loaded = {*calls.model.take(calls.kind.is_any(*LOAD_KINDS, Kind.COMPILE)).held()}
    called = {*calls.model.take(calls.kind.is_any(Kind.PREDICTION)).held()}
    only_loaded, only_called, names = loaded - called, called - loaded, loaded | called
    if isinstance(outcome, Passed):
        about = names if outcome.model is None else {outcome.model}
        return len(names) < 2 or not about & (only_loaded | only_called)
    if outcome.model in only_loaded:
        # It is about the load itself, whatever it loads.
        return True
    shown = outcome.models or names
    return not (shown & only_loaded and only_called) and not (shown & only_called and only_loaded)


_NEAR = 3
"""Sampling periods between calls, up to which others may follow each other unseen (heuristic)."""
_FEW = 0.1
"""Share of the calls of a model that may follow another one so closely by chance (heuristic)."""


def _each_known(trace: Trace) -> BoolArray:
    """Shape (calls,): the call is known to be one, and none like it is overlooked. Found once per trace."""
    return trace.cache.get(_each_known, lambda: _find_known(trace))


@cached_by_trace
def _worked_for(trace: Trace) -> set[str]:
    return {*_executed(trace).model.held()}


def _executed(trace: Trace) -> Events:
    """Work of models that may be the target's."""
    own = trace.hardware.attribution.is_any(Attribution.EXACT, Attribution.LABEL)
    return trace.hardware.where(own & trace.hardware.operation.known)


def _without_call(trace: Trace) -> set[str]:
    """Models that the hardware worked for behind their first call, and nothing tells in which call."""
    own = _executed(trace)
    linked, first = own.prediction.known, np.full(len(own.model.values) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, own.model.codes[linked], own.start_ns[linked])
    return {*own.model.take(~linked & (own.start_ns > first[own.model.codes])).held()}


def _find_known(trace: Trace) -> BoolArray:
    """A prediction is one that the hardware works for; else calls must exceed sampling periods, and lie apart."""
    calls = trace.activity
    known, start, end, resolution = calls.single.copy(), calls.start_ns, calls.ends_ns, calls.resolution_ns
    shown = ~np.isnan(_work_times(trace)[0])
    short = end - start < _NEAR * resolution
    known &= ~(short & calls.kind.is_any(*LOAD_KINDS))
    predictions = calls.kind.is_any(Kind.PREDICTION)
    known &= ~(predictions & calls.model.is_any(*_without_call(trace)))
    guessed = calls.origin.is_any(Origin.CALL_STACKS) & predictions & ~shown
    # Those without a model are a group too.
    model, count = calls.model.codes + np.int64(1), len(calls.model.values) + 1
    if trace.sites is not None:
        # One on the CPU may lie between two on other units.
        computes = sums_by(calls.id, trace.sites.id, trace.sites.samples_in(Unit.CPU))
        usual = medians_by_group(computes[shown], model[shown], count)[model]
        beside = (computes >= _NEAR + 2 * usual) & shown
        known &= ~(beside & (np.bincount(model[beside], minlength=count)[model] >= _NEAR))
    if not guessed.any():
        return known
    first, second = next_of(threads_of(calls, trace.sites))
    near = guessed[first] & (model[first] == model[second]) & (start[second] - end[first] < _NEAR * resolution[second])
    short[second[near]] = True
    doubtful = np.bincount(model[guessed & short], minlength=count) / np.maximum(np.bincount(model, minlength=count), 1)
    known &= ~guessed | (doubtful[model] <= _FEW)
    return known
