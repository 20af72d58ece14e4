"""In which state of the device each call ran, how durations compare between states, and whether an app keeps its speed
over minutes, with how long each compute unit worked for a prediction.

These explain most differences in energy, of which no recording of Core ML holds more: tables of power are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tracekit.analysis.breakdown.device_runs import UNITS
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.quantities import quantiles
from tracekit.analysis.statistics import CallTimes, top_calls
from tracekit.analysis.throughput import after_pause, bursts, rate_of
from tracekit.arrays import IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Kind
from tracekit.trace.instruments.tables import GpuPerformance, Thermal
from tracekit.trace.trace import Trace

THERMAL_STATES: tuple[str, ...] = ("Nominal", "Fair", "Serious", "Critical")
"""Thermal states from cool to hot, as the Thermal State instrument names them."""

THROTTLED = THERMAL_STATES[2:]
"""Those in which a device slows down."""

UNKNOWN = -1
"""Place of a state that is not recorded or not among the named ones."""


def states_at(states: Thermal | GpuPerformance, names: Sequence[str], times_ns: IntArray) -> IntArray:
    """Place in `names` of the state that held at each time: shape (times,), `UNKNOWN` where none did.

    Rows of `states` stand in order of time and do not overlap. O((s + t) log s).
    """
    if not len(states):
        return np.full(len(times_ns), UNKNOWN, np.int64)
    state_times = Intervals.from_rows(states)
    state = states.state.codes_in(names)
    row = np.searchsorted(state_times.starts, times_ns, side="right") - 1
    inside = (row >= 0) & (times_ns < state_times.ends[np.maximum(row, 0)])
    return np.where(inside, state[np.maximum(row, 0)], UNKNOWN)


def thermal_states(trace: Trace, times_ns: IntArray) -> IntArray | None:
    """Place in `THERMAL_STATES` of the state at each time, as `states_at`; None where no state was recorded."""
    states = trace.table(Thermal)
    return None if states is None or not len(states) else states_at(states, THERMAL_STATES, times_ns)


LEAST_NS: Final = 60_000_000_000
"""Time from the first prediction to the last from which on speed is compared: a device takes that long to warm up."""
PAUSE_NS: Final = 10_000_000_000
"""A pause from which on a device recovers, where it is longer than between most predictions (heuristic)."""
LEAST_CALLS: Final = 10
"""Predictions in each of the thirds that are compared."""


@dataclass(frozen=True, slots=True)
class Third:
    """The predictions of a third of the time."""

    predictions: int
    """How many."""
    per_second: float | None
    """While active, as of the model."""
    p50_ns: float | None
    """Median latency; None without predictions."""
    thermal: str | None
    """Hottest thermal state at the start of any of them; None where none is known."""


@dataclass(frozen=True, slots=True)
class Sustained:
    """One model over minutes."""

    model: str
    """Name of the model."""
    span_ns: int
    """From the start of the first prediction to that of the last, in the longest stretch without a pause."""
    first: Third
    """The first third of that time."""
    last: Third
    """The last third."""
    speed_kept: float | None
    """Predictions per second in the last third over those in the first."""
    units: dict[str, float] = field(default_factory=dict)
    """Mean time in ns per prediction in which each unit executed it; units that none shows are missing."""


def sustained(trace: Trace) -> tuple[Sustained, ...]:
    """Models that predict for a minute or more, by name. O(n log n)."""
    calls = top_calls(trace, Kind.PREDICTION)
    times, found = CallTimes.from_rows(calls), []
    for name in sorted(calls.model.held()):
        at = np.flatnonzero(calls.model.is_any(name) & (calls.duration_ns > 0))
        if not len(at):
            continue
        stretches = np.split(at, np.flatnonzero(after_pause(times.at(at), PAUSE_NS)))
        at = max(stretches, key=lambda stretch: int(np.ptp(calls.start_ns[stretch])))
        starts = calls.start_ns[at]
        span = int(starts[-1] - starts[0])
        third = np.minimum((starts - starts[0]) * 3 // max(span, 1), 2)
        if span < LEAST_NS or min(np.bincount(third, minlength=3)[[0, 2]]) < LEAST_CALLS:
            continue
        first, last = (_third(trace, times.at(at[third == each])) for each in (0, 2))
        # The breakdown has these calls too, in the same order.
        busy = {unit: breakdown(trace).busy(unit).take(at).filled(0) for unit in UNITS}
        units = {str(unit): float(each.sum()) / len(at) for unit, each in busy.items() if each.any()}
        speed_kept = last.per_second / first.per_second if first.per_second and last.per_second else None
        found.append(Sustained(name, span, first, last, speed_kept, units))
    return tuple(found)


def _third(trace: Trace, rows: CallTimes) -> Third:
    states = thermal_states(trace, rows.start_ns)
    hottest = UNKNOWN if states is None else int(states.max(initial=UNKNOWN))
    return Third(
        predictions=len(rows),
        per_second=rate_of(rows, bursts(rows)),
        p50_ns=quantiles(rows.duration_ns, 0.5)[0],
        thermal=THERMAL_STATES[hottest] if hottest >= 0 else None,
    )
