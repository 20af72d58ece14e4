"""What changed for one model between recordings: latency, the parts it is made of, loads, copies, compute units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.arrays import IntArray
from tracekit.comparison.latency import (
    MIN_PREDICTIONS,
    Answer,
    LatencyChange,
    Reason,
    compare_latency,
    compare_p95,
    judge,
)
from tracekit.comparison.measurements import EXACT, Inexact, ModelMeasurements, Parts, least_exact
from tracekit.comparison.sampling import half_width, student
from tracekit.comparison.settings import Floor


class Presence(StrEnum):
    """On which sides a model was seen."""

    BOTH = "both"
    ONLY_BEFORE = "only before"
    ONLY_AFTER = "only after"


class Basis(StrEnum):
    """Which predictions were compared."""

    WARM = "warm"
    """All but the first after each load."""
    ALL = "all"
    """Every prediction, because one side has too few warm ones: nearly each of its predictions follows a load."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A number before and after; None: not recorded. Of several recordings their mean."""

    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class PartChange:
    """Mean time per prediction of one part, in ns."""

    part: str
    before_ns: float
    after_ns: float
    low_ns: float
    """Ends of the 95% interval of the difference."""
    high_ns: float
    complete: bool
    """Whether all of it is known on both sides; else the numbers are lower bounds."""
    answer: Answer
    """By the floor of the whole latency."""

    @property
    def difference_ns(self) -> float:
        """After less before."""
        return self.after_ns - self.before_ns

    @property
    def differs(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low_ns > 0 or self.high_ns < 0


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """One model."""

    name: str
    """Name after; before, where it is only there."""
    name_before: str
    """Another one where it was renamed."""
    presence: Presence
    basis: Basis
    window: int | None
    """How many predictions after each load were compared: as many as the shortest recording has, where another one has
    more. None: all of them."""
    latency: LatencyChange
    p95: LatencyChange
    first: Pair
    """Median latency of the first prediction after a load, in ns."""
    parts: tuple[PartChange, ...]
    """Parts that took time on either side; empty where a side has few predictions, or many were not compared."""
    predictions: Pair
    loads: Pair
    """Loads per recording."""
    load_ns: Pair
    """Their summed time."""
    time_ns: Pair
    """Summed time of its loads and predictions per recording; None where latencies are not known."""
    cold_load: LatencyChange
    """Cold loads are compared with cold ones alone."""
    cached_load: LatencyChange
    copies: Pair
    """Copies and conversions per prediction."""
    in_flight: Pair
    """Most predictions in flight at once."""
    units: tuple[tuple[str, Pair], ...]
    """Share of the execution on each compute unit."""
    inexact: tuple[Inexact, Inexact]
    """How exact its numbers are, before and after."""
    left_out: tuple[int, int]
    """Recordings before and after that have too few predictions of it to count beside others, or none."""

    @property
    def resolution_ns(self) -> int:
        """The longest time between two samples, where only call stacks show its calls."""
        return max(side.resolution_ns for side in self.inexact)


def _told(
    change: LatencyChange,
    error_ns: int,
    counted: str,
    *,
    doubt: Reason | None,
    inexact: tuple[Inexact, Inexact],
    fits: bool = True,
) -> LatencyChange:
    """Not unchanged where calls are known to so little that most changes would go unnoticed."""
    times = [value for value in (change.before_ns, change.after_ns) if value is not None]
    inexact_times = change.answer is Answer.UNCHANGED and error_ns > LARGEST_ERROR * min(times)
    reason = Reason.UNEQUAL if not fits else Reason.INEXACT if inexact_times else doubt
    # No recording of a simulator would tell more.
    if reason is not None and (change.answer is not Answer.INCONCLUSIVE or (doubt is Reason.SIMULATOR and times)):
        change = replace(change, answer=Answer.INCONCLUSIVE, reason=reason, wanted=None)
    return replace(change, resolution_ns=max(side.resolution_ns for side in inexact), counted=counted)


def compare_model(
    before: Sequence[ModelMeasurements],
    after: Sequence[ModelMeasurements],
    floor: Floor,
    counts: tuple[int, int] = (0, 0),
    doubt: Reason | None = None,
) -> ModelComparison:
    """Compare one model, of which each recording of a side has measurements; one side may have none. `counts` are those
    of all recordings; `doubt` is why no answer about a time is believed: one side ran hot, or in a simulator."""
    sides = (before, after)
    basis, window, values = compared_values(before, after)
    units = dict.fromkeys(name for side in sides for entry in side for name in entry.followed_units)
    inexact = (least_exact(entry.inexact for entry in before), least_exact(entry.inexact for entry in after))
    latency_error_ns, load_error_ns = (sum(side.latency_ns for side in inexact), sum(side.load_ns for side in inexact))
    current = (after or before)[0]
    floor_of_latency = raised(floor, latency_error_ns)
    told = partial(_told, doubt=doubt, inexact=inexact)

    def loads(of: Callable[[ModelMeasurements], IntArray]) -> LatencyChange:
        durations = ([of(entry) for entry in side] for side in sides)
        return told(compare_latency(*durations, floor=raised(floor, load_error_ns)), load_error_ns, "loads")

    def pair(of: Callable[[ModelMeasurements], float | None]) -> Pair:
        values = ([value for entry in side if (value := of(entry)) is not None] for side in sides)
        return Pair(*(float(np.mean(times)) if times else None for times in values))

    def share(unit: str) -> Pair:
        return pair(lambda entry: entry.followed_units.get(unit))

    # Hardware rows and call stacks tell other parts than Core ML does.
    alike = (inexact[0] == EXACT) == (inexact[1] == EXACT) and _covers_most(sides, values)
    parts = _parts(before, after, basis, floor_of_latency) if alike else ()
    return ModelComparison(
        name=current.name,
        name_before=(before or after)[0].name,
        presence=Presence.BOTH if before and after else Presence.ONLY_BEFORE if before else Presence.ONLY_AFTER,
        basis=basis,
        window=window.length,
        latency=told(
            compare_latency(*values, floor=floor_of_latency), latency_error_ns, current.counted, fits=window.fits
        ),
        p95=told(compare_p95(*values, floor=floor_of_latency), latency_error_ns, current.counted, fits=window.fits),
        first=pair(lambda entry: entry.quantities["first_p50_ns"]),
        parts=parts if doubt is None else tuple(replace(part, answer=Answer.INCONCLUSIVE) for part in parts),
        predictions=pair(lambda entry: entry.predictions),
        # Without Core ML's rows, that none was seen says nothing.
        loads=pair(lambda entry: entry.loads or (None if entry.inexact.loads_at_least else 0)),
        load_ns=pair(lambda entry: entry.load_ns),
        time_ns=pair(_time_ns),
        cold_load=loads(lambda entry: entry.cold_loads_ns),
        cached_load=loads(lambda entry: entry.cached_loads_ns),
        copies=pair(lambda entry: entry.copies_per_prediction),
        in_flight=pair(lambda entry: entry.max_in_flight),
        units=tuple((name, share(name)) for name in units),
        inexact=inexact,
        left_out=(_left_out(values[0], counts[0]), _left_out(values[1], counts[1])),
    )


def _time_ns(entry: ModelMeasurements) -> int | None:
    """Time in Core ML; None where it is not known, and for an operation, whose time is not Core ML's."""
    is_known = len(entry.latencies_ns) and not entry.is_operation
    return entry.load_ns + int(entry.latencies_ns.sum()) if is_known else None


LARGEST_ERROR: Final = 0.5
"""Share of a latency that an error may be for "unchanged" to say something (heuristic)."""


def raised(floor: Floor, error_ns: int) -> Floor:
    """The floor, or how far both sides together may be off: smaller differences are no change."""
    return replace(floor, absolute_ns=max(floor.absolute_ns, error_ns))


def _left_out(side: Sequence[IntArray], recordings: int) -> int:
    counted = sum(len(values) >= MIN_PREDICTIONS for values in side)
    return max(recordings, len(side)) - counted if counted else 0


class Window(NamedTuple):
    """Which predictions after each load are compared."""

    length: int | None
    """How many; None for all."""
    fits: bool
    """Whether those of all recordings lie equally far behind a load."""


def compared_values(
    before: Sequence[ModelMeasurements], after: Sequence[ModelMeasurements]
) -> tuple[Basis, Window, list[list[IntArray]]]:
    """Which latencies of one model are compared, and these in ns: an array for each recording of each side. Those of
    warm predictions, unless a side has too few of them and enough in all."""
    sides = (before, after)
    for side in sides:
        warm = max((int(entry.warm.sum()) for entry in side), default=0)
        every = max((len(entry.latencies_ns) for entry in side), default=0)
        if warm < MIN_PREDICTIONS <= every:
            return Basis.ALL, Window(None, fits=True), [[entry.latencies_ns for entry in side] for side in sides]
    # As many predictions after each load as every recording with enough warm ones has: those that come first may be
    # slower. Where too few are left so, all of them.
    recordings = [entry for side in sides for entry in side if entry.warm.sum() >= MIN_PREDICTIONS]
    behind = [entry.since_load[entry.warm] for entry in recordings]
    length = min((int(own.max()) + 1 for own in behind), default=0)
    if all((own < length).all() for own in behind):
        window = Window(None, fits=True)
    else:
        fits = all((own < length).sum() >= MIN_PREDICTIONS for own in behind)
        window = Window(length if fits else None, fits=fits)
    if window.length is None:
        return Basis.WARM, window, [[entry.warm_ns for entry in side] for side in sides]
    within = [[entry.latencies_ns[entry.warm & (entry.since_load < window.length)] for entry in side] for side in sides]
    return Basis.WARM, window, within


def _covers_most(sides: Sequence[Sequence[ModelMeasurements]], values: Sequence[Sequence[IntArray]]) -> bool:
    """Whether nearly all warm predictions of each recording are compared."""
    every = zip(chain(*sides), chain(*values), strict=True)
    return all(len(some) >= _MOST * entry.warm.sum() for entry, some in every)


_MOST: Final = 0.8
"""Share of the warm predictions whose mean is taken for that of all (heuristic)."""


def _parts(
    before: Sequence[ModelMeasurements], after: Sequence[ModelMeasurements], basis: Basis, floor: Floor
) -> tuple[PartChange, ...]:
    sides = [[entry.parts if basis is Basis.ALL else entry.warm_parts for entry in side] for side in (before, after)]
    parts_of = [[parts for parts in side if parts is not None] for side in sides]
    if not all(parts_of):
        return ()
    if any(_unseen(parts_of[0], index) != _unseen(parts_of[1], index) for index in range(len(GROUPS))):
        # The time of a unit whose table is missing is in other parts.
        return ()
    totals = [np.mean([sum(parts.means_ns) for parts in side]) for side in parts_of]
    limit_ns = max(floor.ratio * float(min(totals)), floor.absolute_ns)
    changes = (_part(index, parts_of[0], parts_of[1], limit_ns) for index in range(len(GROUPS)))
    return tuple(change for change in changes if change.before_ns or change.after_ns)


def _unseen(side: Sequence[Parts], index: int) -> bool:
    """Whether a recording shows nothing of a part, and there may be some."""
    return any(not parts.complete[index] and not parts.means_ns[index] for parts in side)


def _part(index: int, before: Sequence[Parts], after: Sequence[Parts], limit_ns: float) -> PartChange:
    means = [np.array([parts.means_ns[index] for parts in side]) for side in (before, after)]
    if len(before) == len(after) == 1:
        difference = float(means[1][0] - means[0][0])
        errors_ns = [parts.errors_ns[index] for parts in (*before, *after)]
        width = half_width(errors_ns, [before[0].degrees, after[0].degrees])
    else:
        difference, width = student(*means)
    answer, _ = judge(difference, width, limit_ns)
    complete = all(parts.complete[index] for parts in (*before, *after))
    before_ns, after_ns = (float(values.mean()) for values in means)
    name = GROUPS[index].name
    return PartChange(name, before_ns, after_ns, difference - width, difference + width, complete, answer)
