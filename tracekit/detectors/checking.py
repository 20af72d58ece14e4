"""Whether an answer of a detector can stand in a report, whose readers rely on what it says of its fields.

Detectors are also written by others. A text that is no text, or a list where a tuple belongs, would end the report or
leave it without being redacted; it is refused here, where only the detector fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TypeVar

import numpy as np

from tracekit.arrays import IntArray
from tracekit.detectors import outcomes
from tracekit.intervals import Intervals

Part = TypeVar("Part")

_ROUNDING = 1e-6
"""By how much a share may exceed 1 where its time was rounded."""

_INT64_END = 2**63
"""Whole numbers of a report fit 64 bits with a sign; readers of JSON and numpy take no others."""


def check_outcome(outcome: outcomes.Outcome, model: str | None) -> None:
    """Raise TypeError or ValueError for an answer that is none about this model (None: the recording), or whose fields
    are not what they are said to be. O(intervals)."""
    if type(outcome) not in outcomes.OUTCOME_NAMES:
        raise TypeError(f"the answer is of type {type(outcome).__name__}, not an outcome")
    if not (outcome.model is None or isinstance(outcome.model, str)) or outcome.model != model:
        raise ValueError(f"the answer is about {outcome.model or 'the recording'}, not {model or 'the recording'}")
    for name in ("summary", "reason", "record", "error", "fix"):
        if hasattr(outcome, name):
            _check_text(getattr(outcome, name), name)
    if isinstance(outcome, outcomes.Finding | outcomes.Passed):
        for metric in _tuple_of(outcomes.Metric, outcome.metrics, "metrics"):
            _check_metric(metric)
        if len({metric.id for metric in outcome.metrics}) < len(outcome.metrics):
            raise ValueError("two metrics have the same id")
    if isinstance(outcome, outcomes.Finding):
        _check_cost(outcome)
        _check_evidence(outcome)


def check_texts(owner: object, names: Sequence[str]) -> None:
    """Raise TypeError unless each of these fields is a text."""
    for name in names:
        _check_text(getattr(owner, name), name)


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} is of type {type(value).__name__}, not text")


def _tuple_of(kind: type[Part], values: object, what: str) -> tuple[Part, ...]:
    if not isinstance(values, tuple) or any(type(value) is not kind for value in values):
        raise TypeError(f"{what} is not a tuple of {kind.__name__}")
    return values


def _check_whole(value: object, what: str) -> None:
    # Most are plain, and to ask the abstract classes takes ten times as long.
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise TypeError(f"{what} is of type {type(value).__name__}, not a whole number")
    if not -_INT64_END <= int(value) < _INT64_END:
        raise ValueError(f"{what} does not fit in 64 bits")


def _check_metric(metric: outcomes.Metric) -> None:
    check_texts(metric, ("id", "name", "unit"))
    numbers: list[object] = [number for number in (metric.value, metric.threshold) if number is not None]
    for number in numbers:
        if not isinstance(number, float) and (isinstance(number, bool) or not isinstance(number, Real)):
            raise TypeError(f"metric '{metric.name}' is a {type(number).__name__}, not a number")
        if not isinstance(number, float) and isinstance(number, Integral):
            _check_whole(number, f"metric '{metric.name}'")
        elif not isfinite(number):
            raise ValueError(f"metric '{metric.name}' is {number}, not a finite number")
    if metric.direction is not None and not isinstance(metric.direction, outcomes.Direction):
        raise TypeError(f"the direction of metric '{metric.name}' is not a Direction")


def _check_evidence(finding: outcomes.Finding) -> None:
    _check_whole(finding.evidence_total, "evidence_total")
    for entry in _tuple_of(outcomes.Evidence, finding.evidence, "evidence"):
        check_texts(entry, ("label", "table"))
        if entry.model is not None:
            _check_text(entry.model, "model of evidence")
        for name in ("start_ns", "end_ns", "row"):
            _check_whole(getattr(entry, name), f"{name} of evidence")
    if any(entry.end_ns < entry.start_ns for entry in finding.evidence):
        raise ValueError("evidence ends before it starts")
    if finding.all_evidence is not None:
        _check_columns(finding.all_evidence)


def _check_columns(columns: outcomes.EvidenceColumns) -> None:
    if type(columns) is not outcomes.EvidenceColumns:
        raise TypeError(f"all_evidence is of type {type(columns).__name__}, not EvidenceColumns")
    starts, ends = _intervals(columns.times, "evidence")
    if (starts > ends).any():
        raise ValueError("evidence ends before it starts")
    if not all(_is_whole_column(column, len(starts)) for column in (columns.table, columns.row)):
        raise TypeError("columns of evidence must be int64 arrays of the same length")
    tables = _tuple_of(str, columns.tables, "tables of evidence")
    if ((columns.table < 0) | (columns.table >= len(tables))).any():
        raise ValueError("evidence is in a table without name")


def _intervals(value: object, name: str) -> tuple[IntArray, IntArray]:
    if type(value) is not Intervals:
        raise TypeError(f"{name} is of type {type(value).__name__}, not Intervals")
    starts, ends = value.starts, value.ends
    if not isinstance(starts, np.ndarray) or not all(_is_whole_column(part, starts.size) for part in (starts, ends)):
        raise TypeError(f"{name} intervals must be two int64 arrays of the same length")
    return starts, ends


def _is_whole_column(value: object, length: int) -> bool:
    return isinstance(value, np.ndarray) and value.shape == (length,) and value.dtype.kind in "iu"


def _check_cost(finding: outcomes.Finding) -> None:
    if finding.missed is not None and not 0 <= finding.missed <= 1:
        raise ValueError(f"a share of {finding.missed!r} that is missed is not between 0 and 1")
    if finding.held is not None and not 0 <= finding.held <= 1:
        raise ValueError(f"a share of {finding.held!r} of the memory is not between 0 and 1")
    starts, ends = _intervals(finding.affected, "affected")
    if (starts >= ends).any() or (starts[1:] < ends[:-1]).any():
        raise ValueError("affected intervals are empty, not sorted, or overlap")
    if finding.cost is None:
        return
    if type(finding.cost) is not outcomes.Cost:
        raise TypeError(f"the cost is of type {type(finding.cost).__name__}, not Cost")
    check_texts(finding.cost, ("basis", "of"))
    if not isinstance(finding.cost.ns, int) or not 0 <= finding.cost.ns < _INT64_END:
        raise ValueError(f"a cost of {finding.cost.ns!r} is not a whole number of ns, 0 or more")
    # Not NaN either, which is in no order to anything.
    if not 0 <= finding.cost.share <= 1 + _ROUNDING:
        raise ValueError(f"a cost share of {finding.cost.share!r} is not between 0 and 1")
    if finding.cost.ns > int((ends - starts).sum()):
        raise ValueError("a cost exceeds the time of its affected intervals, or it could be counted twice")
    if not 0 <= finding.cost.longest_wait_ns <= finding.cost.ns:
        raise ValueError("the longest wait of a cost is not a part of it")
    if not isinstance(finding.cost.usual_ns, int) or finding.cost.usual_ns < 0:
        raise ValueError(f"a usual time of {finding.cost.usual_ns!r} is not a whole number of ns, 0 or more")
