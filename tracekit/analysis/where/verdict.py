"""Where each model ran: of each compute unit whether a recording proves it, refutes it, or cannot tell.

A unit is refuted where its table shows work of somebody, lost nothing that was asked for, and has no row that could be
the model's; or where what other units and its thread did leaves no time for it. An empty table proves nothing. Shares
of compute are bounded: what a unit may have done without a row counts against the least share of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from tracekit.analysis.instances import looks_like_engine
from tracekit.analysis.statistics import exact_sum
from tracekit.analysis.where.evidence import (
    BY_METAL,
    BY_NAME,
    BY_STACK,
    EXECUTED,
    LOST,
    Facts,
    facts_of,
    table_lacks,
)
from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.intervals import Intervals
from tracekit.recording.contents import is_simulator
from tracekit.trace.attribution import HASH
from tracekit.trace.events import DEVICE_NAMES, Attribution, Device, Kind, Level, Origin
from tracekit.trace.labels import UUID
from tracekit.trace.trace import Trace
from tracekit.units import format_share

CLOSE = 0.1
"""A share of compute is given as one number where it is off by less than that (heuristic)."""
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
    functions: dict[str, Whereabouts] = field(default_factory=dict)
    """The same for each function of the model, where labels name several."""

    def of(self, unit: str) -> UnitUse:
        """What is known of one unit."""
        return next(each for each in self.units if each.unit == unit)

    def shares(self, off_by: float = np.inf) -> dict[str, float]:
        """Share of each unit in the compute that is known; empty without any, or where one may be off by so much."""
        known = ((each.most_share or 0) - (each.least_share or 0) for each in self.units)
        total = sum(each.time_ns for each in self.units) if max(known, default=0) < off_by else 0
        return {each.unit: round(each.time_ns / total, 6) for each in self.units} if total else {}


def whereabouts(trace: Trace, model: str, level: str = Level.TOP, ids: IntArray | None = None) -> Whereabouts:
    """Where a model ran, by base name: in all of its predictions of this level, or in those of them with these `ids`.
    O(n log n) once for each trace, then O(hardware rows) once for all predictions of a model, and for any others."""
    facts = facts_of(trace, level)
    rows = facts.calls.rows
    every = rows.model.is_any(model)
    if ids is None or np.array_equal(rows.id[every], ids):
        return trace.cache.get((whereabouts, model, level), lambda: _by_function(facts, model, every))
    return _by_function(facts, model, np.isin(rows.id, ids))


def _by_function(facts: Facts, model: str, chosen: BoolArray) -> Whereabouts:
    whole, rows, hardware = _whereabouts(facts, model, chosen), facts.calls.rows, facts.calls.trace.hardware
    mine = hardware.model.is_any(model) & hardware.attribution.is_any(Attribution.LABEL, Attribution.EXACT)
    named = np.flatnonzero(mine & hardware.kind.is_any(*EXECUTED.values()))
    labels = hardware.label.take(named)
    functions = {label: _function(label, model) for label in labels.held()}
    if len({*functions.values()}) < 2:
        return whole
    # A prediction is of the function that its rows name.
    of_row, calls = labels.recoded(functions.get), hardware.prediction.filled()[named]
    own = {name: chosen & np.isin(rows.id, calls[of_row.is_any(name)]) for name in of_row.held()}
    return replace(whole, functions={name: _whereabouts(facts, model, of) for name, of in own.items() if of.any()})


def _whereabouts(facts: Facts, model: str, chosen: BoolArray) -> Whereabouts:
    at = np.flatnonzero(chosen & (facts.calls.rows.duration_ns > 0))
    of_model = _Model(facts, model, at)
    return Whereabouts(len(at), int(chosen.sum()) - len(at), tuple(map(of_model.use, DEVICE_NAMES)))


def _function(label: str, model: str) -> str:
    """`decode` in `Net_decode__Op0_AneInference`, and where the program has another name, or a UUID behind it."""
    head = UUID.sub("", label.rpartition("__Op")[0].strip())
    return head[len(model) + 1 :] if head[len(model) : len(model) + 1] == "_" else head.rpartition("_")[2]


def parts(name: str, where: Whereabouts | None) -> Iterator[tuple[str, Whereabouts]]:
    """Where a model ran, then where each of its functions did, as `Net` and `Net.decode`; nothing for None."""
    if where is not None:
        yield name, where
        yield from ((f"{name}.{function}", of) for function, of in where.functions.items())


def unit_rows(name: str, where: Whereabouts | None) -> Iterator[dict[str, Any]]:
    """A row of a table for each unit, of the model and of its functions: the fields of `UnitUse`, with `model` and
    `of_predictions`."""
    for model, of in parts(name, where):
        yield from ({"model": model, "of_predictions": of.predictions} | asdict(use) for use in of.units)


class _Model:
    """Sums over some predictions of one model, `at` these places."""

    def __init__(self, facts: Facts, model: str, at: IndexArray) -> None:
        calls, trace = facts.calls, facts.calls.trace
        hardware, rows = trace.hardware, calls.rows
        self._facts, self._at = facts, at
        self._total_ns = exact_sum(calls.times.durations[at])
        self._simulated = is_simulator(trace.run.device.platform)
        self._rows = {unit: int(hardware.kind.is_any(kind).sum()) for unit, kind in EXECUTED.items()}
        # Predictions that the hardware alone shows are no longer than its rows: nothing bounds what has no row.
        self._alone = bool(rows.origin.take(at).is_any(Origin.HARDWARE).any())
        unseen = table_lacks(trace) | {Device.CPU: _NO_CORE_ML if self._alone else ""}
        self._unbounded = {unit for unit in unseen if self._alone and unseen[unit]}
        nameless = np.zeros(len(hardware), np.bool_)
        if self._alone:
            nameless = ~hardware.model.known | hardware.model.passing(HASH.fullmatch)
            nameless &= hardware.kind.is_any(Kind.ANE_EXEC) & ~hardware.model.is_any(model)
        more = {unit: of.lost for unit, of in facts.units.items()} | ({Device.ANE: _NAMELESS} if nameless.any() else {})
        self._lacks = {unit: why or more[unit] for unit, why in unseen.items()}
        self._own_ns = {unit: exact_sum(of.own_ns[at]) for unit, of in facts.units.items()}
        self._shows = {unit: self._shown(unit) for unit in DEVICE_NAMES}
        self._open_ns = {unit: self._open(unit, unseen[unit]) for unit in DEVICE_NAMES}
        # Work may lie before and after the samples that show a call.
        around_ns = exact_sum(rows.end_max_ns[at] - rows.start_min_ns[at]) - self._total_ns
        self._around_ns = {unit: around_ns if unseen[unit] else 0 for unit in EXECUTED}
        self._around_ns[Device.ANE] += Intervals.from_rows(hardware.where(nameless)).covered_ns
        self._around_ns[Device.CPU] = facts.stray_ns if around_ns else 0

    def _shown(self, unit: Device) -> dict[str, BoolArray]:
        """Predictions that each evidence shows; none where so few do that they may be of another call."""
        few = max(LOST * len(self._at), 1) if len(self._at) > 1 else 0
        masks = {how: mask[self._at] for how, mask in self._facts.units[unit].shows.items()}
        return {how: mask & ((mask.sum() > few) | (how not in (BY_STACK, BY_METAL))) for how, mask in masks.items()}

    def _open(self, unit: Device, unseen: str) -> IntArray:
        """Time of each prediction in which the unit may have worked without a row that says so."""
        facts, at, shown = self._facts, self._at, self._shows[unit]
        of, rest = facts.units[unit], facts.rest_ns[at]
        own, may, asked = of.own_ns[at], of.may_ns[at], of.asked_ns[at]
        # Of more than a call takes anyway, all may be work.
        excess = np.where(facts.excess_ns[at] > 0, rest, 0)
        if unit is Device.CPU:
            open_ns = excess
        elif unit is Device.ANE and self._simulated:
            return np.zeros_like(rest)
        elif unseen:
            open_ns = rest + np.maximum(asked - own, 0)
        elif self._lacks[unit]:
            open_ns = np.maximum(asked - own, 0) + np.where(own, 0, excess)
        else:
            # Where the unit has rows of other predictions of the model, those of this one may be lost.
            others = own.any() or np.count_nonzero(may) > LOST * len(may)
            open_ns = np.where(own, 0, rest) if others else np.zeros_like(rest)
        # Of one program, all rows have the same name.
        named = unit in EXECUTED and shown[BY_NAME].any()
        most: IntArray = open_ns if named else np.maximum(open_ns, may)
        return most

    def use(self, unit: Device) -> UnitUse:
        """What is known of one unit."""
        facts, at, shown = self._facts.units[unit], self._at, self._shows[unit]
        used = np.logical_or.reduce([*shown.values()])
        evidence = [how for how, mask in shown.items() if mask.any()]
        count, rows = int(used.sum()), int(facts.rows[at].sum())
        # More than a call takes anyway may be work.
        may_be = np.minimum(self._open_ns[unit], self._facts.excess_ns[at] + facts.may_ns[at]) > 0
        may_be |= unit in self._unbounded
        answer, why = self._answer(unit, count)
        least, most = self._bounds(unit, count)
        known_ns, on_unit = self._own_ns[unit], self._rows.get(unit, rows)
        return UnitUse(
            unit=str(unit),
            answer=str(answer),
            predictions=count,
            maybe=min(int((~used & may_be).sum()), len(at) - count),
            time_ns=known_ns,
            share_of_time=min(known_ns / self._total_ns, 1.0) if self._total_ns and not self._alone else None,
            least_share=least,
            most_share=most,
            rows=rows,
            other_rows=on_unit - rows,
            evidence=tuple(evidence),
            why=why,
        )

    def _answer(self, unit: Device, count: int) -> tuple[Answer, str]:
        open_ns, lacks = exact_sum(self._open_ns[unit]) + self._around_ns[unit], self._lacks[unit]
        if count:
            return Answer.PROVEN, lacks
        if not len(self._at):
            return Answer.UNKNOWN, "no prediction has a known duration"
        if open_ns <= NO_TIME * self._total_ns and unit not in self._unbounded:
            why = f"{lacks}, but other work leaves no time for it" if lacks else ""
            why = why or ("a simulator has no Neural Engine" if unit is Device.ANE and self._simulated else "")
            why = "no CPU row, and no time for work without one" if unit is Device.CPU else why
            return Answer.REFUTED, why or f"none of the {self._rows[unit]:,} rows of its table is the model's"
        if unit is Device.CPU and not lacks:
            return Answer.UNKNOWN, f"nothing explains {format_share(open_ns / self._total_ns)} of the time"
        calls = self._facts.calls
        seems = unit is Device.ANE and looks_like_engine(calls.trace, calls.rows.id[self._at])
        return Answer.UNKNOWN, (lacks or _OF_ANOTHER) + (_SEEMS if seems else "")

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
        bounded = least_ns and not self._unbounded.intersection(others)
        least = least_ns / (least_ns + elsewhere_ns + may_ns) if bounded else 0
        most = 1 if unit in self._unbounded else most_ns / max(most_ns + elsewhere_ns, 1)
        return round(float(least), 6), round(float(most), 6)


_OF_ANOTHER = "rows in its predictions may be another's"
_SEEMS = ", though Core ML's rows look as if it worked"
_NO_CORE_ML = "Core ML recorded no events, and call stacks show none of its predictions"
_NAMELESS = "its rows name no model, and Core ML recorded no events that tell whose they are"
