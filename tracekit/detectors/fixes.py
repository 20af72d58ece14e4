"""What the fix of each finding takes out of a recording, so that it can be replayed without."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tracekit.analysis.breakdown.device_runs import gaps_between
from tracekit.analysis.changes import Changes
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.schedule import Recorded
from tracekit.arrays import BoolArray, IntArray
from tracekit.detectors.answers import metric_of
from tracekit.detectors.framework import ListedDetector
from tracekit.detectors.outcomes import Finding
from tracekit.intervals import Intervals, depth_profile
from tracekit.rows import places_of
from tracekit.trace.events import Events, Kind, Lane
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace

FAST = 0.1
"""Share of the predictions that are at least as fast as those that a fix could bring others to."""

FASTEST = 0.01
"""The same for a single prediction, which may be as fast as that by itself: of ten, one is in the fastest tenth."""

REQUESTS = (Kind.ANE_REQUEST, Kind.GPU_REQUEST)
"""Rows that lie around what was asked for."""

SLOW = 1.2
"""Times the usual latency from which a prediction is slow."""

Take = Callable[["Trace", Recorded, Finding], Changes]


class Fix(NamedTuple):
    """What goes with the fix of a finding."""

    take: Take
    assumed: str
    """One sentence: what is assumed of the fix."""
    overlaps: bool = False
    """What it saves follows from what waits for units, which inferred calls do not show."""
    besides: str = ""
    """One sentence: what is saved besides the time that the problem takes, where that is more."""
    otherwise: str = ""
    """Why nothing is known to be saved where the replay shows none."""


def _calls(_trace: Trace, recorded: Recorded, finding: Finding, *, every: bool = True) -> Changes:
    """The loads and compilations that the finding shows, or those of them that cost time."""
    shown = _shown(recorded.calls, finding)
    costs = every | (finding.affected.covered_within(recorded.schedule.calls) > 0)
    return replace(_nothing(recorded), gone=shown & costs)


def _copies(trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The kinds of rows that the finding shows, in all predictions, and the time between two of them in which the model
    did nothing else: then it prepares the next."""
    chosen = _kinds_shown(trace, finding)
    trace = in_order(trace)
    between, gaps = gaps_between(trace.data, chosen)
    lanes = trace.data, trace.compute, trace.hardware
    worked = [rows.model.is_any(finding.model or "") & ~rows.kind.is_any(*REQUESTS) for rows in lanes]
    worked[0] &= ~chosen
    busy = Intervals.none().joined(
        *(Intervals.from_rows(rows).where(each) for rows, each in zip(lanes, worked, strict=True))
    )
    # Where no row shows the work of a compute unit, as without the table of the Neural Engine, a gap may hold it.
    computed = any(each.any() for each in worked[1:])
    idle = (busy.covered_within(gaps) == 0) & computed
    times = Intervals.from_rows(trace.data).where(chosen).joined(gaps.where(idle))
    linked = np.append(trace.data.prediction.filled()[chosen], between[idle])
    return _without_times(trace, recorded, times, linked)


def _rows(trace: Trace, recorded: Recorded, finding: Finding, *, of_kinds: bool = False) -> Changes:
    """The rows of the data lane that the finding shows, or all of their kinds: where the state is small, too."""
    chosen = _kinds_shown(trace, finding) if of_kinds else _shown(trace.data, finding)
    rows = in_order(trace).data.where(chosen)
    return _without_times(trace, recorded, Intervals.from_rows(rows), rows.prediction.filled())


def _kinds_shown(trace: Trace, finding: Finding) -> BoolArray:
    """Shape (rows,) of the data lane: of the model, and of a kind that the finding shows; what hides behind other work
    today would not once that is shorter."""
    kinds = trace.data.kind.take(_shown(trace.data, finding)).held()
    return trace.data.model.is_any(finding.model or "") & trace.data.kind.is_any(*kinds)


def _without_times(trace: Trace, recorded: Recorded, times: Intervals, linked: IntArray) -> Changes:
    """Own time of the predictions that times are linked to; -1: to none."""
    owner = np.append(top_predictions(trace.activity), -1)
    call = places_of(recorded.calls.id, owner[linked])
    return replace(_nothing(recorded), own=times.where(call >= 0), own_call=call[call >= 0])


def _caused(
    trace: Trace, recorded: Recorded, finding: Finding, causes: Collection[Cause], *, every: bool = False
) -> Changes:
    """What causes add to the predictions that the finding shows, or to every slow one, by the account of time: at most,
    so beyond fast ones of those that compare with them."""
    nothing, account = _nothing(recorded), ledger(trace).get(finding.model or "")
    if account is None:
        return nothing
    durations = account.durations
    ns = sum((account.ns[cause] for cause in causes if cause in account.ns), np.zeros_like(durations))
    place = places_of(recorded.calls.id, account.calls.id)
    slow = durations > SLOW * account.usual_ns
    shown = (place >= 0) & (slow if every else _shown(recorded.calls, finding)[place] & (ns > 0))
    level = FAST if shown.sum() > 1 else FASTEST
    most = nothing.most_ns.copy()
    for kind, usual in enumerate(account.usual):
        mine = account.kind == kind
        others = durations[mine & ~shown & ~slow]
        fast = min(usual.ns, *sample_quantiles(others, level)) if len(others) else usual.ns
        chosen = mine & shown
        most[place[chosen]] = (durations - ns)[chosen] - int(usual.ns - fast)
    return replace(nothing, most_ns=np.maximum(most, 0))


def _ahead(in_flight: int, on_cpu: int, _trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """So many predictions in flight, or `on_cpu` where they share its cores for most of their time: with one, only the
    app's own work is hidden."""
    mine, schedule = _predictions(recorded, finding), recorded.schedule
    on_units = int(schedule.pieces.durations[np.isin(schedule.call, np.flatnonzero(mine))].sum())
    in_flight = in_flight if 2 * on_units >= int(schedule.calls.durations[mine].sum()) else on_cpu
    return replace(_nothing(recorded), ahead=mine & ~recorded.user, in_flight=np.where(mine, in_flight, 0))


def _without_gaps(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """What the finding shows of the gaps before predictions of its model, unless these wait for their time."""
    schedule, mine = recorded.schedule, _predictions(recorded, finding) & ~recorded.schedule.anchored
    before = Intervals(schedule.calls.starts - schedule.gap_ns, schedule.calls.starts)
    gone = np.where(mine & ~schedule.from_start, finding.affected.covered_time().within(before.starts, before.ends), 0)
    return replace(_nothing(recorded), sooner_ns=gone)


def _as_one(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The gaps that the finding shows go, and what the predictions after them take beside the work of units."""
    nothing, schedule = _nothing(recorded), recorded.schedule
    inner = np.isin(schedule.calls.starts, finding.affected.ends) & (schedule.previous >= 0) & ~schedule.from_start
    first = np.where(inner, schedule.previous, np.arange(len(inner)))
    while (first[first] != first).any():
        first = first[first]
    own = np.flatnonzero(inner & (schedule.last >= 0))
    return replace(
        nothing,
        sooner_ns=np.where(inner, schedule.gap_ns, 0),
        merged=np.where(np.isin(first, first[inner]), first, -1),
        own=schedule.calls.where(own),
        own_call=own,
    )


def _within_limit(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """No more in flight. Where no row shows the work of a unit, as on the CPU, calls in flight share it evenly: each
    takes what it had of it, times those that are left, but no less than fast ones alone."""
    nothing, mine, calls = _nothing(recorded), _predictions(recorded, finding), recorded.schedule.calls
    threshold = metric_of(finding.metrics, "in-flight").threshold
    limit, alone = int(threshold or 1) - 1, calls.where(mine).alone()
    alone_ns = sample_quantiles(calls.durations[mine][alone], FAST)[0] if alone.any() else 0
    times, depth = depth_profile(calls.starts[mine], calls.ends[mine])
    shared = np.concatenate(([0.0], np.cumsum(np.diff(times) / np.maximum(depth[:-1], 1))))
    had = np.interp(calls.ends, times, shared) - np.interp(calls.starts, times, shared) if len(times) else shared
    unseen = mine & (recorded.schedule.last < 0)
    most = np.where(unseen, np.maximum(limit * had, alone_ns).astype(np.int64), nothing.most_ns)
    return replace(nothing, in_flight=np.where(mine, limit, 0), most_ns=most)


def _drawing_and_others(lane: Lane, _trace: Trace, recorded: Recorded, _finding: Finding) -> Changes:
    """All work on the unit that no prediction of the app asked for. Where its models wait for each other, one gets what
    another loses."""
    return replace(_nothing(recorded), elsewhere=(recorded.schedule.call < 0) & recorded.lane.is_any(lane))


def _nothing(recorded: Recorded) -> Changes:
    return Changes.none(recorded.schedule, recorded.model)


def _predictions(recorded: Recorded, finding: Finding) -> BoolArray:
    """Shape (calls,): predictions of the finding's model."""
    return recorded.calls.kind.is_any(Kind.PREDICTION) & recorded.calls.model.is_any(finding.model or "")


def _shown(lane: Events, finding: Finding) -> BoolArray:
    """Shape (rows,): the finding shows the row."""
    found = np.zeros(len(lane), np.bool_)
    rows_by_table = {} if finding.all_evidence is None else finding.all_evidence.rows_by_table()
    for name, rows in rows_by_table.items():
        found |= lane.table.is_any(name) & np.isin(lane.row, rows)
    return found


_ANOTHER_UNIT = "a recording does not show how long the work would take on another unit"
_SAMPLES = "call stacks do not show how long the work would take otherwise"

_UNSPECIALIZED = "Predictions take as long as without specialization."
ASSUMED = {
    Cause.FIRST: "First predictions take as long as the fastest tenth of the others.",
    Cause.SPECIALIZING: _UNSPECIALIZED,
    Cause.PIPELINES: _UNSPECIALIZED,
    Cause.SHAPE: "First predictions of a shape take as long as the fastest tenth of others with as much work.",
    Cause.PAUSE: "Slow predictions take as long as others with as much work.",
}
"""Of checks that are not named in `BY_CHECK`, by what they are about first: what is assumed where the time of all their
causes goes."""
NOT_KNOWN = {
    Cause.UNIT: _ANOTHER_UNIT,
    Cause.HEAT: "a recording does not show how fast a cooler device would be",
    Cause.LEVEL: "a recording does not show what would undo the slowdown",
    Cause.GROWTH: "a recording does not show how long predictions would take if they did not grow",
    Cause.WORK: "a recording does not show which inputs could be smaller",
    Cause.SHARED_CPU: "cores share their time, and a recording does not show how",
    Cause.NOT_VISIBLE: "what the time is spent on is not recorded",
}
"""Of other such checks: why it is not known what goes."""

_JITTER = (Cause.NOT_VISIBLE, Cause.WORK, Cause.CLOCK, Cause.UNIT, Cause.BLOCKED)
_LOADED_ONCE = Fix(_calls, "The model stays loaded: reloads go, and nothing else changes.")
_LOADED_AHEAD = Fix(_calls, "The model is loaded before anyone waits, beside other work that it does not slow down.")
_ONE_WAITS = "models of the app wait for each other: which of them can wait is not recorded"

BY_CHECK: dict[str, Fix | str] = {
    "reload-before-predict": _LOADED_ONCE,
    "load-churn": _LOADED_ONCE,
    "cold-load": _LOADED_AHEAD,
    "slow-load": _LOADED_AHEAD,
    "unused-load": Fix(
        partial(_calls, every=False),
        "The model is not loaded.",
        otherwise="no call of the app waits for these loads; the fix saves memory",
    ),
    "duplicate-instances": Fix(_calls, "One instance is loaded; loads of the others go."),
    "recompiled-each-run": Fix(_calls, "The model is compiled once; later compilations go."),
    "excess-data-copies": Fix(
        _copies,
        "All copies and conversions go, with the time between them, as with buffers that are used in place.",
        besides="Savings include the gaps between copies.",
    ),
    "state-copies": Fix(partial(_rows, of_kinds=True), "The state stays in the model: its copies go."),
    "float-conversion": Fix(_rows, "Data casts go, and the copies and output transformations that go with them."),
    "serial-predictions": Fix(
        partial(_ahead, 3, 1),
        "Three predictions are in flight, which share the CPU; the app's own work is done meanwhile.",
        True,
        "Savings include time in which other predictions run.",
    ),
    "pipeline-gaps": Fix(
        partial(_ahead, 3, 1),
        "The app prepares the next two inputs while a prediction runs, or one where predictions run on the CPU.",
        True,
        "Savings include time in which other predictions run.",
    ),
    "idle-compute-units": Fix(
        partial(_ahead, 2, 2),
        "Two predictions are in flight, and CPU cores are free for the parts on the CPU.",
        True,
    ),
    "copies-between-predictions": Fix(
        _without_gaps, "The app makes no copies between predictions; its other work stays."
    ),
    "graph-partitions": Fix(
        _as_one,
        "One model runs the whole graph in one prediction per round. Beyond the work of compute units, it takes what "
        "the first partition takes.",
        True,
        "Savings include the overhead of predictions, beyond the work of compute units.",
    ),
    "concurrent-predictions": Fix(
        _within_limit, "No more are in flight than the check allows; every input counts.", True
    ),
    "gpu-contention": Fix(
        partial(_drawing_and_others, Lane.GPU),
        "The app does not draw, and other processes do not use the GPU, while the model needs it.",
        otherwise=_ONE_WAITS,
    ),
    "neural-engine-contention": Fix(
        partial(_drawing_and_others, Lane.NEURAL_ENGINE),
        "No other process is on the Neural Engine while the model needs it.",
        otherwise=_ONE_WAITS,
    ),
    "latency-jitter": Fix(
        partial(_caused, causes=_JITTER, every=True),
        "Slow predictions take as long as the fastest tenth of the others.",
    ),
    "compute-unit-ping-pong": _ANOTHER_UNIT,
    "missed-deadline": "the check counts late predictions; other findings say why",
    "neural-engine-fragmentation": "a recording does not show how long one segment would take",
    "main-thread-work": "the work moves to another thread and takes as long",
    "load-on-main-thread": "the load moves to another thread and takes as long",
    "compiled-again": "a recording does not show how long these loads would take from the cache",
    "serialized-specialization": "a recording does not show how long these loads would take side by side",
    "app-conversion": _SAMPLES,
    "element-wise-access": _SAMPLES,
    "load-before-first-token": "the load moves ahead of the request and takes as long",
    "prompt-reprocessing": "a recording does not show how long the rest of the prompt would take alone",
    "rebuilt-instructions": "how many tokens instructions hold is not recorded",
    "slowing-generation": "a recording does not show how long tokens would take if they did not slow down",
    "work-outside-model": "a recording does not show how much of these steps is needed",
    "queued-requests": "which requests could be canceled is not recorded",
    "slow-tool-calls": "a recording does not show how fast tools could answer",
    "full-context-window": "the check says how full the window is",
    "request-errors": "the check counts requests that fail",
}
"""What goes with the fix of a check, or why that is not known."""

NO_TIME = "its fix is not known to save time"
"""Why the savings of any other check are not known."""
INFERRED = "Core ML recorded no calls, and inferred ones do not show what waits for what"
"""The same of those that follow from that."""
TOO_LARGE = "so many calls overlap that only `tracekit why --without` replays them, in some seconds"
"""The same of a report on a large recording, for those that can be replayed."""


def fix_of(detector: ListedDetector) -> Fix | str | None:
    """What goes with the fix of its findings, or why that is not known; None where it is about no time."""
    if known := BY_CHECK.get(detector.id):
        return known
    cause = next((cause for cause in detector.causes if cause in ASSUMED or cause in NOT_KNOWN), None)
    if cause in ASSUMED:
        return Fix(partial(_caused, causes=detector.causes), ASSUMED[cause])
    return NOT_KNOWN.get(cause) if cause else None
