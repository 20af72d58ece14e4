"""What the fix of each finding takes out of a recording, so that it can be replayed without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tracekit.analysis.breakdown.device_runs import gaps_between
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.replay import AS_RECORDED, Changes
from tracekit.analysis.schedule import Recorded
from tracekit.arrays import BoolArray, IntArray
from tracekit.detectors.answers import metric_of
from tracekit.detectors.outcomes import Finding
from tracekit.intervals import Intervals
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


def _calls(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The loads and compilations that the finding shows."""
    return replace(_nothing(recorded), gone=_shown(recorded.calls, finding))


def _copies(trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The rows of the data lane that the finding shows, and the time between two of them in which the model did
    nothing else: then it prepares the next."""
    chosen = _shown(trace.data, finding)
    between, gaps = gaps_between(trace.data.where(chosen))
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


def _data_rows(trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The rows of the data lane that the finding shows."""
    return _without_rows(trace, recorded, _shown(trace.data, finding))


def _state(trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """The kinds of rows that the finding shows, in all predictions: where the state is small, too."""
    kinds = trace.data.kind.take(_shown(trace.data, finding)).held()
    model = trace.data.model.is_any(finding.model or "")
    return _without_rows(trace, recorded, model & trace.data.kind.is_any(*kinds))


def _without_rows(trace: Trace, recorded: Recorded, chosen: BoolArray) -> Changes:
    index = np.flatnonzero(chosen)
    times, linked = (
        Intervals.from_rows(trace.data).where(index),
        trace.data.prediction.filled()[index],
    )
    return _without_times(trace, recorded, times, linked)


def _without_times(trace: Trace, recorded: Recorded, times: Intervals, linked: IntArray) -> Changes:
    """Own time of the predictions that times are linked to; -1: to none."""
    owner = np.append(top_predictions(trace.activity), -1)
    call = places_of(recorded.calls.id, owner[linked])
    return replace(_nothing(recorded), own=times.where(call >= 0), own_call=call[call >= 0])


def _beyond_usual(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """What the predictions that the finding shows take beyond others: savings are said at most, so beyond fast ones."""
    nothing, shown = _nothing(recorded), _shown(recorded.calls, finding)
    others = recorded.schedule.calls.durations[_predictions(recorded, finding) & ~shown]
    level = FAST if shown.sum() > 1 else FASTEST
    fast = int(*sample_quantiles(others, level)) if len(others) else AS_RECORDED
    return replace(nothing, most_ns=np.where(shown, fast, nothing.most_ns))


def _beyond_expected(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """What the predictions that the finding shows take beyond what it expects of them: at most, as of fast ones."""
    nothing, shown, calls = _nothing(recorded), _shown(recorded.calls, finding), recorded.schedule.calls
    others = calls.durations[_predictions(recorded, finding) & ~shown]
    spread = int(np.median(others) - sample_quantiles(others, FAST)[0]) if len(others) else 0
    expected = calls.durations - finding.affected.covered_time().within(calls.starts, calls.ends) - spread
    return replace(nothing, most_ns=np.where(shown, expected.clip(0), nothing.most_ns))


def _evenly(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    """What any prediction takes beyond those that take about as long as usual, also where it waited as well."""
    nothing, calls = _nothing(recorded), recorded.schedule.calls
    usual_ns = finding.cost.usual_ns if finding.cost else 0
    mine = _predictions(recorded, finding)
    slow = mine & (calls.durations > SLOW * usual_ns)
    fast = int(*sample_quantiles(calls.durations[mine & ~slow], FAST)) if (mine & ~slow).any() else AS_RECORDED
    return replace(nothing, most_ns=np.where(slow, fast, nothing.most_ns))


def _ahead(in_flight: int, _trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
    mine, schedule = _predictions(recorded, finding), recorded.schedule
    # Two that work on the CPU for most of their time share its cores: only the app's own work is hidden.
    on_units = int(schedule.pieces.durations[np.isin(schedule.call, np.flatnonzero(mine))].sum())
    in_flight = in_flight if 2 * on_units >= int(schedule.calls.durations[mine].sum()) else 1
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
    mine = _predictions(recorded, finding)
    threshold = metric_of(finding.metrics, "in-flight").threshold
    return replace(_nothing(recorded), in_flight=np.where(mine, int(threshold or 1) - 1, 0))


def _others_on(lane: Lane) -> Take:
    """All work on the unit that is not of the model."""

    def take(_trace: Trace, recorded: Recorded, finding: Finding) -> Changes:
        call = recorded.schedule.call
        mine = (call >= 0) & _predictions(recorded, finding)[np.maximum(call, 0)]
        return replace(_nothing(recorded), elsewhere=~mine & recorded.lane.is_any(lane))

    return take


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


_LOADED_ONCE = Fix(_calls, "The model stays loaded: reloads go, and nothing else changes.")
_AS_EXPECTED = Fix(_beyond_expected, "Slow predictions take as long as others with as much work.")
_LOADED_AHEAD = Fix(_calls, "The model is loaded before anyone waits, beside other work that it does not slow down.")

FIXES: dict[str, Fix] = {
    "reload-before-predict": _LOADED_ONCE,
    "load-churn": _LOADED_ONCE,
    "cold-load": _LOADED_AHEAD,
    "slow-load": _LOADED_AHEAD,
    "unused-load": Fix(_calls, "The model is not loaded."),
    "duplicate-instances": Fix(_calls, "One instance is loaded; loads of the others go."),
    "compile-at-runtime": Fix(_calls, "The model is compiled once; later compilations go."),
    "excess-data-copies": Fix(
        _copies,
        "All copies and conversions go, with the time between them, as with buffers that are used in place.",
        besides="Savings include the gaps between copies.",
    ),
    "state-copies": Fix(_state, "The state stays in the model: its copies go."),
    "float-conversion": Fix(_data_rows, "Data casts go, and the copies and output transformations that go with them."),
    "warm-up-spike": Fix(_beyond_usual, "First predictions take as long as the fastest others."),
    "slow-after-idle": _AS_EXPECTED,
    "new-shape-spike": Fix(_beyond_usual, "First predictions of a shape take as long as the fastest others."),
    "repeated-specialization": Fix(_beyond_expected, "Predictions take as long as without specialization."),
    "latency-jitter": Fix(_evenly, "Slow predictions take as long as the fastest tenth of the others."),
    "serial-predictions": Fix(
        partial(_ahead, 2),
        "Two predictions are in flight, which share the CPU; the app's own work is done meanwhile.",
        True,
        "Savings include time in which other predictions run.",
    ),
    "pipeline-gaps": Fix(partial(_ahead, 1), "The app prepares the next input while a prediction runs.", True),
    "copies-between-predictions": Fix(_without_gaps, "Copies between predictions go, and nothing else of the app."),
    "graph-partitions": Fix(
        _as_one,
        "One model runs the whole graph in one prediction a round; besides the work of compute units, what the first "
        "partition takes stays.",
        True,
        "Savings include what predictions take beside the work of compute units.",
    ),
    "concurrent-predictions": Fix(
        _within_limit, "No more are in flight than the check allows; every input counts.", True
    ),
    "gpu-contention": Fix(_others_on(Lane.GPU), "No other work is on the GPU while the model needs it."),
    "neural-engine-contention": Fix(
        _others_on(Lane.NEURAL_ENGINE), "No other work is on the Neural Engine while the model needs it."
    ),
}
"""What can be replayed, by id of the check."""

_ANOTHER_UNIT = "a recording does not show how long the work would take on another unit"
_SAMPLES = "call stacks do not show how long the work would take otherwise"
UNKNOWN: dict[str, str] = {
    "compute-unit-ping-pong": _ANOTHER_UNIT,
    "neural-engine-fragmentation": "a recording does not show how long one segment would take",
    "unexpected-device": _ANOTHER_UNIT,
    "growing-latency": "a recording does not show how long predictions would take if they did not grow",
    "shape-switching": "a recording does not show which inputs could be smaller",
    "thermal-throttling": "a recording does not show how fast a cooler device would be",
    "missed-deadline": "the check counts late predictions; other findings say why",
    "cpu-contention": "cores share their time, and a recording does not show how",
    "main-thread-work": "the work moves to another thread and takes as long",
    "load-on-main-thread": "the load moves to another thread and takes as long",
    "serialized-specialization": "a recording does not show how long these loads would take side by side",
    "unaccounted-time": "what the time is spent on is not recorded",
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
"""Why others cannot be."""
NO_TIME = "its fix is not known to save time"
"""The same for those that are in neither list."""
INFERRED = "Core ML recorded no calls, and inferred ones do not show what waits for what"
"""The same for those that need it."""
TOO_LARGE = "so many calls overlap that only `tracekit whatif` replays them, in some seconds"
"""The same of a report on a large recording, for those that can be."""
