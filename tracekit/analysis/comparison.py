"""Two recordings side by side: each event of each model before and after, with difference and ratio."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

from tracekit.analysis.aggregation import AggregationRow
from tracekit.analysis.statistics import Statistics
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.trace import Trace

FEW = 10
"""Below so many values on either side, a difference of means is marked: one value out of line moves the mean of nine by
a tenth and more of its own size. Our judgment; the same count from which a 90th percentile is given."""


class Measure(StrEnum):
    """What is compared."""

    MEAN = "mean"
    P95 = "p95"
    SUM = "sum"
    COUNT = "count"


_FIELDS = {Measure.MEAN: "mean_ns", Measure.P95: "p95_ns", Measure.SUM: "total_ns", Measure.COUNT: "count"}


class Presence(StrEnum):
    """Where an event was seen."""

    BOTH = "both"
    ONLY_BEFORE = "only before"
    """Its lane was recorded after, too, and does not hold it."""
    ONLY_AFTER = "only after"
    NOT_RECORDED_BEFORE = "not recorded before"
    """Its lane was not recorded before, or recorded and left empty: whether it happened is not known."""
    NOT_RECORDED_AFTER = "not recorded after"


class Change(NamedTuple):
    """A number before and after, in ns or, for a count, as it is."""

    before: float | None
    """None: too few values for it, none at all, or not recorded."""
    after: float | None

    @property
    def difference(self) -> float | None:
        """After less before; None where either is not known."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def ratio(self) -> float | None:
        """After by before; None where either is not known, or before is 0."""
        return None if not self.before or self.after is None else self.after / self.before


@dataclass(frozen=True, slots=True)
class Difference:
    """One event of one model in two recordings."""

    lane: str
    label: str
    """As in `AggregationRow`, without the numbers of processes, which are others in each recording."""
    kind: str
    model: str | None
    level: str
    warm: bool
    """Whether it leaves out the first prediction after each load."""
    before: Statistics | None
    after: Statistics | None
    presence: Presence

    def change(self, measure: Measure) -> Change:
        """A number of both. Sum and count are 0 only where the lane was recorded and does not hold the event."""
        empty = 0.0 if measure in (Measure.SUM, Measure.COUNT) else None
        return Change(
            _value(self.before, measure, empty if self.presence is Presence.ONLY_AFTER else None),
            _value(self.after, measure, empty if self.presence is Presence.ONLY_BEFORE else None),
        )

    @property
    def few(self) -> bool:
        """Whether there are fewer than `FEW` values before or after, so that a difference of means says little."""
        return min(numbers.count for numbers in (self.before, self.after) if numbers is not None) < FEW


def _value(numbers: Statistics | None, measure: Measure, missing: float | None) -> float | None:
    if numbers is None:
        return missing
    value: float | None = getattr(numbers, _FIELDS[measure])
    return value


def differences(
    before: Sequence[AggregationRow],
    after: Sequence[AggregationRow],
    recorded_before: Collection[str],
    recorded_after: Collection[str],
) -> tuple[Difference, ...]:
    """Rows of two aggregations matched by lane, label, kind, model and level; largest sum on either side first.

    `recorded_before` and `recorded_after` name the lanes that hold rows of any kind (`recorded_lanes`). Processes of
    one name are matched in the order in which they come, since their numbers mean nothing across recordings. Where one
    side distinguishes warm predictions, they are compared by themselves as well. O(n log n).
    """
    rows_before, rows_after = _by_key(before), _by_key(after)
    result = []
    for key in dict.fromkeys((*rows_before, *rows_after)):
        for one, other in zip_longest(rows_before.get(key, ()), rows_after.get(key, ())):
            presence = Presence.BOTH
            if one is None:
                presence = Presence.ONLY_AFTER if key[0] in recorded_before else Presence.NOT_RECORDED_BEFORE
            elif other is None:
                presence = Presence.ONLY_BEFORE if key[0] in recorded_after else Presence.NOT_RECORDED_AFTER
            totals = (one.statistics if one else None, other.statistics if other else None)
            result.append(Difference(*key, False, *totals, presence))
            warm = (one.warm if one else None, other.warm if other else None)
            if one and other and all(warm) and warm != totals:
                result.append(Difference(*key, True, *warm, presence))
    return tuple(sorted(result, key=_largest))


def recorded_lanes(trace: Trace) -> frozenset[str]:
    """Lanes whose instrument recorded rows, so that an event that is not there did not happen."""
    return frozenset(
        lane
        for entry in INSTRUMENTS
        if entry.lanes and trace.coverage_of(entry.name).state is TableState.ROWS
        for lane in entry.lanes
    )


def _by_key(rows: Iterable[AggregationRow]) -> dict[tuple[str, str, str, str | None, str], list[AggregationRow]]:
    """Rows by lane, label, kind, model and level."""
    by_key = defaultdict(list)
    for row in rows:
        name = row.process.rpartition(" (")[0] or row.process if row.process is not None else ""
        label = row.label.replace(row.process, name) if row.process is not None else row.label
        by_key[row.lane, label, row.kind, row.model, row.level].append(row)
    return dict(by_key)


def _largest(row: Difference) -> tuple[float, str, str, str, str, bool]:
    largest = max(numbers.total_ns for numbers in (row.before, row.after) if numbers is not None)
    return (-largest, row.lane, row.label, row.model or "", row.level, row.warm)
