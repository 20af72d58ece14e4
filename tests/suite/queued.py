"""What a simulation knows of waiting: which findings follow from its queues, and which may.

A share of calls is counted twice, so that nothing is expected near a threshold: in `strict` a call counts only for time
in which the unit verifiably worked for others after the request had reached it, in `loose` for all time since the call
began in which others had the unit or handed it over.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from suite.frame import Key
from tracekit.testing.simulation import Call, Simulation, Use
from tracekit.testing.work import Unit

WAIT_SHARE, AFFECTED_SHARE = 0.2, 0.1
"""From where on the pages call waiting a problem."""
MARGIN = 1.25
"""By how much a figure must lie beyond a threshold to count as beyond it."""
ENOUGH_CALLS = 20
"""So many calls are enough to judge, with some to spare."""
SLOWED = 1.2
"""Calls that sharing the cores makes so many times as long may count as slowed down."""
SURELY_SLOWED = 1.5
"""From where on they count beyond doubt."""


class Waiting(NamedTuple):
    """Shares of the calls of a model that wait for a unit for the usual share of their time, with and without doubt."""

    strict: float
    loose: float


def queued_keys(simulation: Simulation) -> tuple[set[Key], set[Key]]:
    """Findings that must and that may be there since models waited for each other or shared the cores."""
    must: set[Key] = set()
    may: set[Key] = set()
    works = {unit: Works(simulation, unit) for unit in simulation.units}
    recorded = [call for call in simulation.calls if call.prediction is not None]
    for name in sorted({call.model.base for call in recorded}):
        calls = [call for call in recorded if call.model.base == name]
        engine, graphics = (_waiting(works, calls, unit) for unit in ("neural engine", "gpu"))
        if engine.loose >= AFFECTED_SHARE / MARGIN:
            may |= {("neural-engine-contention", name), ("latency-jitter", name)}
        named = not simulation.recorded.work.generic_labels
        if engine.strict >= AFFECTED_SHARE * MARGIN and len(calls) >= ENOUGH_CALLS and named:
            must.add(("neural-engine-contention", name))
        if graphics.loose >= AFFECTED_SHARE / MARGIN:
            may |= {("gpu-contention", name), ("latency-jitter", name)}
        if graphics.strict >= AFFECTED_SHARE * MARGIN and _slower_disturbed(works, calls):
            must.add(("gpu-contention", name))
        if _slowed(calls, 1 + (SLOWED - 1) / MARGIN) >= AFFECTED_SHARE / MARGIN:
            may |= {("cpu-contention", name), ("latency-jitter", name)}
        if _slower_beside_models(works, calls):
            must.add(("cpu-contention", name))
    return must, may


class Works:
    """The works of a unit in the order of their ends."""

    def __init__(self, simulation: Simulation, unit: Unit) -> None:
        self.uses = sorted((use for use in simulation.uses if use.unit == unit), key=lambda use: use.end_ns)
        self._ends = [use.end_ns for use in self.uses]
        self._longest = max((use.end_ns - use.begin_ns for use in self.uses), default=0)

    def of_others(self, call: Call) -> list[Use]:
        """Those of others that overlap a call."""
        first, last = bisect(self._ends, call.start_ns), bisect(self._ends, call.end_ns + self._longest)
        return [
            use
            for use in self.uses[first:last]
            if use.begin_ns < call.end_ns and (use.process, use.model) != (call.process, call.model)
        ]


def _waiting(works: Mapping[Unit, Works], calls: Sequence[Call], unit: Unit) -> Waiting:
    """How many of the calls that use a unit wait for it."""
    strict, loose = [], []
    for call in calls:
        uses = [use for use in call.uses if use.unit == unit]
        if not uses:
            continue
        first = uses[0]
        others = works[unit].of_others(call)
        surely = sum(_common(use.requested_ns, use.begin_ns, other) for use in uses for other in others)
        strict.append(surely >= WAIT_SHARE * MARGIN * call.duration_ns)
        waited = sum(use.begin_ns - use.requested_ns for use in uses) + (first.requested_ns - call.start_ns)
        disturbed = any(
            other.end_ns > call.start_ns and other.begin_ns < use.begin_ns for use in uses for other in others
        )
        loose.append(disturbed and waited >= WAIT_SHARE / MARGIN * call.duration_ns)
    return Waiting(float(np.mean(strict)), float(np.mean(loose))) if strict else Waiting(0.0, 0.0)


def _common(start_ns: int, end_ns: int, use: Use) -> int:
    return max(0, min(end_ns, use.end_ns) - max(start_ns, use.begin_ns))


def _slower_disturbed(works: Mapping[Unit, Works], calls: Sequence[Call]) -> bool:
    """Whether calls with others on the GPU are clearly slower than as many as needed without. Calls of the model that
    overlap each other slow each other down too: their page says that they are not compared."""
    disturbed, calm = [], []
    for call in _alone(calls[1:]):
        uses = [use for use in call.uses if use.unit == "gpu"]
        if not uses:
            continue
        others = works["gpu"].of_others(call)
        waited = sum(_common(use.requested_ns, use.begin_ns, other) for use in uses for other in others)
        if not others:
            calm.append(call.duration_ns)
        elif waited >= WAIT_SHARE * MARGIN * call.duration_ns:
            disturbed.append(call.duration_ns)
    return len(calm) >= 8 and len(disturbed) >= 8 and bool(np.median(disturbed) >= 1.2 * MARGIN * np.median(calm))


def _alone(calls: Sequence[Call]) -> list[Call]:
    """Those that overlap no other of them, in the order of their starts."""
    ordered = sorted(calls, key=lambda call: call.start_ns)
    latest_ends = [0, *accumulate((call.end_ns for call in ordered), max)]
    next_starts = [*(call.start_ns for call in ordered[1:]), float("inf")]
    return [
        call
        for call, before_ns, after_ns in zip(ordered, latest_ends, next_starts, strict=False)
        if before_ns <= call.start_ns and call.end_ns <= after_ns
    ]


def _slowed(calls: Sequence[Call], ratio: float) -> float:
    """Share of the calls that take so many times as long as with the cores to themselves."""
    slowed = [
        call.duration_ns >= ratio * (call.duration_ns - sum(use.slowdown_ns for use in call.uses)) for call in calls
    ]
    return float(np.mean(slowed)) if slowed else 0.0


def _slower_beside_models(works: Mapping[Unit, Works], calls: Sequence[Call]) -> bool:
    """Whether calls that use nothing but the CPU are clearly slower beside other models of the app than alone."""
    disturbed, calm = [], []
    for call in calls[1:]:
        others = works["cpu"].of_others(call)
        alone_ns = call.duration_ns - sum(use.slowdown_ns for use in call.uses)
        if any(use.unit != "cpu" for use in call.uses) or any(use.process != call.process for use in others):
            return False
        if not others:
            calm.append(call.duration_ns)
        elif call.duration_ns >= SURELY_SLOWED * alone_ns:
            disturbed.append(call.duration_ns)
    often = len(disturbed) >= AFFECTED_SHARE * MARGIN * len(calls)
    enough = len(calm) >= ENOUGH_CALLS and len(disturbed) >= ENOUGH_CALLS
    return often and enough and bool(np.median(disturbed) >= SURELY_SLOWED * np.median(calm))
