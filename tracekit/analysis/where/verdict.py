"""Where each model ran: of each compute unit whether a recording proves it, refutes it, or cannot tell.

| evidence that a unit worked for a prediction                           | unit               |
|------------------------------------------------------------------------|--------------------|
| rows of the unit that name the model, or lie in its predictions alone  | Neural Engine, GPU |
| requests in Core ML's rows; they prove work, not how long it took      | Neural Engine, GPU |
| `CPU` rows of Core ML                                                  | CPU                |
| call stacks in code that computes, or in the engine's client           | all                |

A unit is refuted where its table shows work of somebody, lost nothing that Core ML's rows ask for, and has no row that
could be the model's; or where what other units and its thread did leaves no time for it. An empty table proves nothing:
a public recording has no GPU rows of a process that computes there.

Shares of compute are bounded: what a unit may have done without a row counts against the least share of the others, and
for the most of its own. Everything is a sum over all predictions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from tracekit.analysis.statistics import exact_sum
from tracekit.analysis.where.evidence import (
    BY_NAME,
    BY_ROW,
    BY_STACK,
    EXECUTED,
    LOST,
    Facts,
    facts_of,
    lost_rows,
    table_lacks,
)
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals
from tracekit.recording.contents import is_simulator
from tracekit.trace.attribution import HASH
from tracekit.trace.events import DEVICE_NAMES, Attribution, Device, Events, Kind, Level, Origin
from tracekit.trace.trace import Trace
from tracekit.units import format_share

MOST_OFF = 0.1
"""How far a share of compute may be off that is given as one number (heuristic)."""
NO_TIME = 0.02
"""Share of the time of predictions in which work of a unit without a row would not be noticed (heuristic)."""


class Answer(StrEnum):
    """Whether a unit worked for a model."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class UnitUse:
    """What a recording shows of one unit's work for a model."""

    unit: str
    """`neural-engine`, `gpu` or `cpu`."""
    answer: str
    """`proven`, `refuted` or `unknown`."""
    predictions: int
    """Predictions that it is proven to have worked for."""
    maybe: int
    """Further predictions that it may have worked for."""
    time_ns: int
    """Time in which it is known to have worked for them, without overlaps."""
    share_of_time: float | None
    """That time, of the time of all predictions."""
    least_share: float | None
    """Least share of the compute of all units that can be its. None where nothing is known to have computed."""
    most_share: float | None
    """Most of it."""
    rows: int
    """Rows that show it."""
    other_rows: int
    """Rows of its table that are left out: of other models and processes, or of nobody who is known."""
    evidence: tuple[str, ...]
    """What proves it."""
    why: str
    """Why it is refuted or unknown, in a clause; of one that is proven, why not all of its work is known."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a model ran."""

    predictions: int
    """Predictions with a duration."""
    left_out: int
    """Predictions without one."""
    units: tuple[UnitUse, ...]
    """Neural Engine, GPU and CPU."""
    functions: dict[str, dict[str, int]] = field(default_factory=dict)
    """Rows of each unit, by function of the model, where labels name several."""

    def of(self, unit: str) -> UnitUse:
        """What is known of one unit."""
        return next(each for each in self.units if each.unit == unit)

    @property
    def off_by(self) -> float:
        """How far shares of compute may be off; 1 where nothing is known."""
        bounds = ((each.least_share, each.most_share) for each in self.units)
        return max((most - least for least, most in bounds if least is not None and most is not None), default=1.0)

    @property
    def shares(self) -> dict[str, float]:
        """Share of each unit in the compute that is known; empty without any."""
        total = sum(each.time_ns for each in self.units)
        return {each.unit: round(each.time_ns / total, 6) for each in self.units} if total else {}

    @property
    def exact_shares(self) -> dict[str, float]:
        """The same, empty where they may be off by more than `MOST_OFF`."""
        return self.shares if self.off_by <= MOST_OFF else {}


def whereabouts(trace: Trace, model: str, level: str = Level.TOP, ids: IntArray | None = None) -> Whereabouts:
    """Where a model ran, by base name: in all of its predictions of this level, or in those of them with these `ids`.
    O(n log n) once for each trace, then O(predictions)."""
    facts = facts_of(trace, level)
    rows = facts.calls.rows
    chosen = rows.model.is_any(model) if ids is None else np.isin(rows.id, ids)
    at = np.flatnonzero(chosen & (rows.duration_ns > 0))
    of_model = _Model(facts, model, at)
    return Whereabouts(
        predictions=len(at),
        left_out=int(chosen.sum()) - len(at),
        units=tuple(map(of_model.use, DEVICE_NAMES)),
        functions=_functions(of_model.named_rows),
    )


def mostly_elsewhere(trace: Trace, ids: IntArray, unit: Device) -> float:
    """Share of the predictions with known work, of those with these `ids` that the app called, for which other units
    did half of it or more. O(predictions)."""
    facts = facts_of(trace, Level.TOP)
    chosen = np.isin(facts.calls.rows.id, ids)
    known: IntArray = np.sum(list(facts.own_ns.values()), axis=0)[chosen]
    elsewhere = 2 * facts.own_ns[unit][chosen] <= known
    return float(elsewhere[known > 0].mean()) if known.any() else 1.0


class _Model:
    """Sums over some predictions of one model."""

    def __init__(self, facts: Facts, model: str, at: IndexArray) -> None:
        calls, trace = facts.calls, facts.calls.trace
        self._facts, self._at = facts, at
        self._total_ns = exact_sum(calls.times.durations[at])
        self._spans = calls.times.where(at)
        self._simulated = is_simulator(trace.run.device.platform)
        self._shown = {key: _unless_stray(key[1], mask[at]) for key, mask in facts.shows.items()}
        hardware, predictions = trace.hardware, calls.rows.take(at)
        mine = hardware.model.is_any(model) & hardware.attribution.is_any(Attribution.LABEL, Attribution.EXACT)
        self.named_rows = hardware.where(mine & hardware.kind.is_any(*EXECUTED.values()))
        self._rows = {unit: int(hardware.kind.is_any(kind).sum()) for unit, kind in EXECUTED.items()}
        loose = self.named_rows.where(self.named_rows.prediction.filled() < 0)
        self._loose = {
            unit: Intervals.from_rows(loose.where(loose.kind.is_any(kind))) for unit, kind in EXECUTED.items()
        }
        """Rows that name the model, and are of one of several predictions."""
        # Predictions that the hardware alone shows are no longer than its rows: nothing bounds what has no row.
        self._alone = bool(predictions.origin.is_any(Origin.HARDWARE).any())
        self._lacks = table_lacks(trace) | {Device.CPU: _NO_CORE_ML if self._alone else ""}
        nameless = ~hardware.model.known | hardware.model.passing(HASH.fullmatch)
        nameless &= hardware.kind.is_any(Kind.ANE_EXEC) & ~mine & self._alone
        if nameless.any():
            self._lacks[Device.ANE] = self._lacks[Device.ANE] or _NAMELESS
        for unit in EXECUTED:
            if lost := lost_rows(facts, unit):
                self._lacks[unit] = self._lacks[unit] or f"its table lost the rows of {lost:,} predictions"
        self._own_ns = {unit: exact_sum(facts.own_ns[unit][at]) for unit in DEVICE_NAMES}
        for unit, times in self._loose.items():
            self._own_ns[unit] += exact_sum(self._spans.union().covered_within(times.union()))
        self._open_ns = {unit: self._open(unit) for unit in DEVICE_NAMES}
        # Work may lie before and after the samples that show a call.
        earliest, _, _, latest = predictions.bounds
        around_ns = exact_sum(latest - earliest) - self._total_ns
        unseen = table_lacks(trace)
        self._around_ns = {unit: around_ns if unseen[unit] else 0 for unit in EXECUTED}
        self._around_ns[Device.ANE] += Intervals.from_rows(hardware.where(nameless)).covered_ns
        self._around_ns[Device.CPU] = facts.stray_ns if around_ns else 0

    def _open(self, unit: Device) -> IntArray:
        """Time of each prediction in which the unit may have worked without a row that says so."""
        facts, at = self._facts, self._at
        rest, shown = facts.rest_ns[at], self._shown
        # Of more than a call takes anyway, all may be work.
        excess = np.where(facts.excess_ns[at] > 0, rest, 0)
        if unit is Device.CPU:
            # Work begins and ends up to a sample before and after those that show it; rows say it exactly.
            edges = shown[unit, BY_STACK] & ~shown[unit, BY_ROW]
            around: IntArray = np.minimum(rest, edges * 2 * facts.sample_ns)
            return np.maximum(excess, around)
        if unit is Device.ANE and self._simulated:
            return np.zeros_like(rest)
        own, may, asked = facts.own_ns[unit][at], facts.may_ns[unit][at], facts.asked_ns[unit][at]
        if table_lacks(facts.calls.trace)[unit]:
            unseen = rest + np.maximum(asked - own, 0)
        elif self._lacks[unit]:
            unseen = np.maximum(asked - own, 0) + np.where(own, 0, excess)
        else:
            # Where the unit has rows of other predictions of the model, those of this one may be lost.
            others = own.any() or np.count_nonzero(may) > LOST * len(may)
            unseen = np.where(own, 0, rest) if others else np.zeros_like(rest)
        if shown[unit, BY_NAME].any():
            # Of one program, all rows have the same name.
            may = np.zeros_like(may)
        most: IntArray = np.maximum(unseen, may)
        return most

    def _unbounded(self, units: Iterable[Device]) -> bool:
        """Whether nothing bounds what one of the units may have done."""
        unseen = table_lacks(self._facts.calls.trace)
        return self._alone and any(unit is Device.CPU or unseen[unit] for unit in units)

    def use(self, unit: Device) -> UnitUse:
        """What is known of one unit."""
        shown = {how: mask for (each, how), mask in self._shown.items() if each is unit}
        used = np.logical_or.reduce([*shown.values()])
        evidence = [how for how, mask in shown.items() if mask.any()]
        count, rows, known_ns = int(used.sum()), int(self._facts.rows[unit][self._at].sum()), self._own_ns[unit]
        if unit in self._loose and len(loose := self._loose[unit]):
            meets = loose.covered_time().within(self._spans.starts, self._spans.ends) > 0
            count += min(int((meets & ~used).sum()), len(loose))
            rows += len(loose)
            evidence = list(dict.fromkeys([BY_NAME, *evidence]))
        answer, why = self._answer(unit, count)
        least, most = self._bounds(unit, count)
        return UnitUse(
            unit=str(unit),
            answer=str(answer),
            predictions=count,
            maybe=min(int((~used & self._may_be(unit)).sum()), len(self._at) - count),
            time_ns=known_ns,
            share_of_time=min(known_ns / self._total_ns, 1.0) if self._total_ns and not self._alone else None,
            least_share=least,
            most_share=most,
            rows=rows,
            other_rows=self._rows[unit] - rows if unit in self._rows else 0,
            evidence=tuple(evidence),
            why=why,
        )

    def _may_be(self, unit: Device) -> BoolArray:
        """Predictions in which more than a call takes anyway may be work of the unit."""
        facts, at = self._facts, self._at
        rows = facts.may_ns[unit][at] if unit in EXECUTED else 0
        mask: BoolArray = (np.minimum(self._open_ns[unit], facts.excess_ns[at] + rows) > 0) | self._unbounded([unit])
        return mask

    def _answer(self, unit: Device, count: int) -> tuple[Answer, str]:
        open_ns, lacks = exact_sum(self._open_ns[unit]) + self._around_ns[unit], self._lacks[unit]
        if count:
            return Answer.PROVEN, lacks
        if not len(self._at):
            return Answer.UNKNOWN, "no prediction has a known duration"
        if open_ns <= NO_TIME * self._total_ns and not self._unbounded([unit]):
            if unit is Device.CPU:
                return Answer.REFUTED, "no CPU row, and no time for work without one"
            if lacks:
                return Answer.REFUTED, f"{lacks}, but other work leaves no time for it"
            if unit is Device.ANE and self._simulated:
                return Answer.REFUTED, "a simulator has no Neural Engine"
            return Answer.REFUTED, f"none of the {self._rows[unit]:,} rows of its table is the model's"
        if lacks:
            return Answer.UNKNOWN, lacks
        if unit is Device.CPU:
            return Answer.UNKNOWN, f"nothing explains {format_share(open_ns / self._total_ns)} of the time"
        return Answer.UNKNOWN, "rows in its predictions may be another's"

    def _bounds(self, unit: Device, count: int) -> tuple[float | None, float | None]:
        """Least and most share of compute that can be the unit's."""
        others = [each for each in DEVICE_NAMES if each is not unit]
        least_ns = max(self._own_ns[unit], 1 if count else 0)
        most_ns = max(least_ns, self._own_ns[unit] + exact_sum(self._open_ns[unit]) + self._around_ns[unit])
        elsewhere_ns = sum(self._own_ns[each] for each in others)
        # Of the time that nothing explains, one of the others may have had all.
        left_ns = max(self._total_ns - self._own_ns[unit] - elsewhere_ns, 0)
        may_ns = min(exact_sum(np.maximum(*(self._open_ns[each] for each in others))), left_ns)
        may_ns += max(self._around_ns[each] for each in others)
        if not most_ns + elsewhere_ns + may_ns:
            return None, None
        least = 0 if self._unbounded(others) or not least_ns else least_ns / (least_ns + elsewhere_ns + may_ns)
        most = 1 if self._unbounded([unit]) else most_ns / max(most_ns + elsewhere_ns, 1)
        return round(float(least), 6), round(float(most), 6)


_NO_CORE_ML = "Core ML recorded no events, and call stacks show none of its predictions"
_NAMELESS = "its rows name no model, and Core ML recorded no events that tell whose they are"


def _unless_stray(how: str, mask: BoolArray) -> BoolArray:
    """The predictions in which call stacks show a unit; none where so few do that they may be of another call."""
    few = how == BY_STACK and len(mask) > 1 and int(mask.sum()) <= min(LOST * len(mask), 1)
    return np.zeros_like(mask) if few else mask


def _functions(rows: Events) -> dict[str, dict[str, int]]:
    """Rows of each unit by function of the model; nothing where labels name one or none."""
    found: dict[str, dict[str, int]] = {}
    for label in rows.label.held():
        by_unit = found.setdefault(label.rpartition("__Op")[0].rpartition("_")[2], {})
        of_label = rows.where(rows.label.is_any(label))
        for unit in of_label.device.held():
            by_unit[unit] = by_unit.get(unit, 0) + int(of_label.device.is_any(unit).sum())
    return found if len(found) > 1 else {}
