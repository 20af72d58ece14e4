"""What detectors must answer for a model, worked out from the description with the rules of the catalogue.

Random scenarios come close to thresholds, where rounding or a detector's own options decide. A verdict is therefore
given only at a clear distance (about a fifth) from every threshold, and `UNDECIDED` in between.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.testing.rows import CoreMLRow


class Expected(StrEnum):
    """Verdict on a detector and a model."""

    FINDING = "finding"
    PASSED = "passed"
    """The detector looks, with plenty of data, and finds nothing."""
    NO_FINDING = "no_finding"
    """Nothing is there; whether the detector passes or abstains depends on how much data it asks for."""
    UNDECIDED = "undecided"
    """Too near a threshold to hold a detector to either answer."""


@dataclass(frozen=True, slots=True)
class ModelRows:
    """Rows of one model, sorted by start."""

    loads: tuple[CoreMLRow, ...]
    predictions: tuple[CoreMLRow, ...]
    data: tuple[tuple[CoreMLRow, ...], ...]
    """For each prediction, the rows of the Data lane that lie in it."""


_COPIES = frozenset({"Input Copy", "Data Cast", "Output Transformation", "Neural Engine - Data Copy"})
_CONVERSIONS = _COPIES - {"Input Copy"}
_PLENTY = 20
"""So many predictions are enough for any detector."""


def expect_core_ml_not_instrumented(executions: int, model_rows: int) -> Expected:
    """Without a row of Core ML: 20 executions of the Neural Engine, or one GPU row of the target that names a model."""
    if model_rows or executions >= 25:
        return Expected.FINDING
    return Expected.NO_FINDING if executions <= 15 else Expected.UNDECIDED


def expect_reload_before_predict(rows: ModelRows) -> Expected:
    """Catalogue entry A01: at least 3 loads, one for every second prediction, 80 % of them used at most once."""
    loads, predictions = len(rows.loads), len(rows.predictions)
    if not predictions or loads <= 2:
        return Expected.PASSED if predictions >= _PLENTY else Expected.NO_FINDING
    per_prediction = loads / predictions
    if per_prediction <= 0.4:
        return Expected.PASSED if predictions >= _PLENTY else Expected.NO_FINDING
    starts = [row.start_ns for row in rows.loads]
    limits = [*starts[1:], float("inf")]
    used = [
        sum(start <= row.start_ns < limit for row in rows.predictions)
        for start, limit in zip(starts, limits, strict=True)
    ]
    single_use = sum(count <= 1 for count in used) / loads
    if single_use <= 0.65:
        return Expected.NO_FINDING
    soon = _reloads_soon_after_use(rows)
    clear = loads >= 5 and per_prediction >= 0.6 and single_use >= 0.9 and soon >= 0.8 * (loads - 1)
    return Expected.FINDING if clear else Expected.UNDECIDED


def _reloads_soon_after_use(rows: ModelRows) -> int:
    """Loads less than a second after the end of the latest prediction, with one between them and the load before."""
    count = 0
    for earlier, load in pairwise(rows.loads):
        ends = [row.end_ns for row in rows.predictions if earlier.start_ns <= row.start_ns < load.start_ns]
        count += bool(ends) and load.start_ns - max(ends) < 1_000_000_000
    return count


def expect_excess_data_copies(rows: ModelRows) -> Expected:
    """Catalogue entry A03: copies and casts cover more than 10 % of predictions of 1 ms or longer."""
    count = len(rows.predictions)
    total = sum(row.duration_ns for row in rows.predictions)
    if not count or not any(rows.data) or total < 800_000 * count:
        return Expected.NO_FINDING
    copied = sum(_covered([row for row in inside if row.label in _COPIES]) for inside in rows.data)
    if total < 1_200_000 * count:
        return Expected.NO_FINDING if copied < 0.08 * total else Expected.UNDECIDED
    if copied >= 0.12 * total:
        return Expected.FINDING if count >= _PLENTY else Expected.UNDECIDED
    if copied > 0.08 * total or any(_has_outlier(inside) for inside in rows.data):
        return Expected.UNDECIDED
    return Expected.PASSED if count >= _PLENTY else Expected.NO_FINDING


def _has_outlier(inside: tuple[CoreMLRow, ...]) -> bool:
    """Whether one of several input copies takes long: the second rule of A03 may then apply."""
    copies = [row.duration_ns for row in inside if row.label == "Input Copy"]
    return len(copies) > 1 and max(copies) >= 400_000


def expect_float_conversion(rows: ModelRows) -> Expected:
    """Catalogue entry A03, casts: they and what converts beside them cover more than 5 % of predictions of 1 ms or
    longer. A cast of 20 µs shows that a prediction converts at all."""
    count = len(rows.predictions)
    total = sum(row.duration_ns for row in rows.predictions)
    casts = [[row.duration_ns for row in inside if row.label == "Data Cast"] for inside in rows.data]
    if not count or total < 800_000 * count:
        return Expected.NO_FINDING
    if total < 1_200_000 * count or any(16_000 < length < 24_000 for inside in casts for length in inside):
        return Expected.UNDECIDED
    converting = [
        inside for inside, casts_inside in zip(rows.data, casts, strict=True) if max(casts_inside, default=0) >= 24_000
    ]
    covered = sum(_covered([row for row in inside if row.label in _CONVERSIONS]) for inside in converting)
    if covered >= 0.06 * total:
        return Expected.FINDING if count >= _PLENTY else Expected.UNDECIDED
    if covered > 0.04 * total:
        return Expected.UNDECIDED
    every = sum(_covered([row for row in inside if row.label in _CONVERSIONS]) for inside in rows.data)
    return Expected.PASSED if count >= _PLENTY and every < 0.04 * total else Expected.NO_FINDING


def expect_concurrent_predictions(rows: ModelRows) -> Expected:
    """Catalogue entry A04: more than 2 in flight for 10 % of the time, with durations 1.5 times those alone."""
    count = len(rows.predictions)
    depths = _depth_times(rows.predictions)
    busy = sum(depths.values())
    if not busy or max(depths) <= 2:
        return Expected.PASSED if count >= _PLENTY else Expected.NO_FINDING
    crowded = sum(time for depth, time in depths.items() if depth > 2) / busy
    if crowded <= 0.08:
        return Expected.PASSED if count >= _PLENTY and crowded <= 0.05 else Expected.NO_FINDING
    # A prediction's depth may be taken at its start or as the greatest while it runs; both must agree.
    clear = crowded >= 0.15 and all(_stretched(rows.predictions, depths) for depths in _depths(rows.predictions))
    return Expected.FINDING if clear else Expected.UNDECIDED


def _stretched(predictions: tuple[CoreMLRow, ...], depths: list[int]) -> bool:
    """Whether predictions at a depth above 2 clearly take longer than those that ran alone."""
    alone = [row.duration_ns for row, depth in zip(predictions, depths, strict=True) if depth == 1]
    crowded = [row.duration_ns for row, depth in zip(predictions, depths, strict=True) if depth > 2]
    return min(len(alone), len(crowded)) >= _PLENTY and median(crowded) >= 1.8 * median(alone)


def _depth_times(rows: tuple[CoreMLRow, ...]) -> dict[int, int]:
    """Time in ns spent at each depth of at least one."""
    edges = sorted([(row.start_ns, 1) for row in rows] + [(row.end_ns, -1) for row in rows])
    times: dict[int, int] = {}
    depth = 0
    for (time, step), (until, _) in pairwise(edges):
        depth += step
        if depth and until > time:
            times[depth] = times.get(depth, 0) + until - time
    return times


def _depths(rows: tuple[CoreMLRow, ...]) -> tuple[list[int], list[int]]:
    """For each row, how many run at its start, and the most that run at once before its end."""
    starts = [row.start_ns for row in rows]
    ends = sorted(row.end_ns for row in rows)
    at_start = [bisect_right(starts, start) - bisect_right(ends, start) for start in starts]
    # Depth only rises where another row starts.
    limits = [bisect_left(starts, row.end_ns) for row in rows]
    return at_start, [max(at_start[index : max(limit, index + 1)]) for index, limit in enumerate(limits)]


def _covered(rows: list[CoreMLRow]) -> int:
    """Time in ns during which at least one of the rows runs."""
    return sum(_depth_times(tuple(rows)).values())


EXPECTATIONS: dict[str, Callable[[ModelRows], Expected]] = {
    "reload-before-predict": expect_reload_before_predict,
    "excess-data-copies": expect_excess_data_copies,
    "float-conversion": expect_float_conversion,
    "concurrent-predictions": expect_concurrent_predictions,
}
"""By detector id."""
