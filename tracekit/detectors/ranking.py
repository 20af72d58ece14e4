"""What fixing each finding would save, no nanosecond counted for two, and which findings lead to each other.

A finding claims its cost evenly over the time that it calls affected. Of two findings that claim the same time, the one
that is ranked first has it, and the other only what it claims beyond that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.outcomes import Finding, Severity, severity_of
from tracekit.grouping import grouped

if TYPE_CHECKING:
    from tracekit.arrays import FloatArray, IntArray
    from tracekit.detectors.framework import Judgment
    from tracekit.intervals import Intervals

_BATCH = 64
"""Fewest findings whose edges cut time together."""


class Relation(StrEnum):
    """What another finding may be to this one. What detectors know of each other in general: no recording shows what
    caused what."""

    CAUSED_BY = "possible_cause"
    CAUSES = "possible_effect"


@dataclass(frozen=True, slots=True)
class Related:
    """Another finding of the same report that may share its cause with this one."""

    id: str
    model: str | None
    relation: Relation


@dataclass(frozen=True, slots=True)
class RankedFinding:
    """A finding in its place."""

    judgment: Judgment
    own_savings_ns: int | None
    """Time in ns that its fix saves beyond what those of the same detector before it claim; None where it has no
    cost."""
    extra_savings_ns: int | None
    """The same beyond what all findings before it claim."""
    related: tuple[Related, ...]


def rank(judgments: Iterable[Judgment]) -> tuple[RankedFinding, ...]:
    """The findings among the judgments, by detector: the worst severity first, of the same severity causes before what
    they bring about, and then what fixing the findings of a detector would save together, largest first. The findings
    of a detector in the same way. O(n log n) in the intervals, for each detector that found something.
    """
    groups = grouped((each.detector.id, each) for each in judgments if isinstance(each.outcome, Finding))
    for group in groups.values():
        group.sort(key=lambda entry: (*_weight(_finding(entry)), entry.outcome.model or ""))
    own = {name: savings([_finding(entry) for entry in group]) for name, group in groups.items()}
    names = sorted(groups, key=lambda name: (*_weight(_finding(groups[name][0]), sum(own[name])), name))
    names = _causes_first(names, groups)
    order = [entry for name in names for entry in groups[name]]
    extra = savings([_finding(entry) for entry in order])
    related = _related_findings(order)
    return tuple(
        RankedFinding(entry, None, None, related[index])
        if _finding(entry).cost is None
        else RankedFinding(entry, own_ns, extra_ns, related[index])
        for index, (entry, own_ns, extra_ns) in enumerate(
            zip(order, (saved for name in names for saved in own[name]), extra, strict=True)
        )
    )


def _weight(finding: Finding, cost_ns: int | None = None) -> tuple[int, int, float]:
    """What orders findings, the smallest first: severity, cost (where it is not the one given), and how often a
    prediction is not as the user asked."""
    cost_ns = _cost_ns(finding) if cost_ns is None else cost_ns
    return list(Severity).index(severity_of(finding)), -cost_ns, -(finding.missed or 0.0)


def _causes_first(names: Sequence[str], groups: Mapping[str, Sequence[Judgment]]) -> list[str]:
    """The names, sorted by weight, with causes before what they bring about among those of the same severity."""
    severity = {name: _weight(_finding(groups[name][0]))[0] for name in names}
    ordered: list[str] = []

    def place(name: str, effects: tuple[str, ...] = ()) -> None:
        causes = groups[name][0].detector.caused_by
        for cause in names:
            if cause in causes and severity[cause] == severity[name] and cause not in (*ordered, *effects, name):
                place(cause, (*effects, name))
        if name not in ordered:
            ordered.append(name)

    for name in names:
        place(name)
    return ordered


def savings(findings: Sequence[Finding]) -> list[int]:
    """For each finding, the time in ns that it claims beyond what those before it claim. Their sum is the time that
    all fixes together would save.

    O(n sqrt(n)) for n findings that overlap, each claiming more than the last, and O(n log n) in their intervals. Time
    is cut at the edges of the findings of one batch at a time; behind it, neighboring pieces of which the same is
    claimed become one again.
    """
    costs = [_cost_ns(entry) for entry in findings]
    affected = [entry.affected for entry in findings]
    lengths_ns = [int(times.durations.sum()) for times in affected]
    shares = [min(cost / length, 1.0) if length else 0.0 for cost, length in zip(costs, lengths_ns, strict=True)]
    max_later = [*accumulate(reversed(shares), max, initial=0.0)][::-1]
    batch = max(_BATCH, 4 * isqrt(len(findings)))
    edges, claimed = np.zeros(1, np.int64), np.zeros(1)
    saved = []
    for first in range(0, len(findings), batch):
        batch_range = range(first, min(first + batch, len(findings)))
        edges, claimed = _cut(edges, claimed, [bound for index in batch_range for bound in _bounds(affected[index])])
        lengths = np.diff(edges, append=edges[-1])
        for index in batch_range:
            if not shares[index]:
                saved.append(costs[index])
                continue
            pieces = _ranges(*(np.searchsorted(edges, bound) for bound in _bounds(affected[index])))
            before = claimed[pieces]
            claimed[pieces] = after = np.maximum(before, shares[index])
            saved.append(min(round(float(((after - before) * lengths[pieces]).sum())), costs[index]))
        # No later finding claims more than this.
        claimed = np.minimum(claimed, max_later[batch_range.stop])
        differs = np.append(True, claimed[1:] != claimed[:-1])
        edges, claimed = edges[differs], claimed[differs]
    return saved


def _bounds(times: Intervals) -> tuple[IntArray, IntArray]:
    return times.starts, times.ends


def _cut(edges: IntArray, claimed: FloatArray, bounds: Sequence[IntArray]) -> tuple[IntArray, FloatArray]:
    """Pieces of time, each from its edge to the next one, and what is claimed of them, cut at more edges. Nothing is
    claimed before the first edge; nothing may be behind the last one."""
    cut = np.union1d(edges, np.concatenate(bounds))
    index = np.searchsorted(edges, cut, side="right") - 1
    return cut, np.where(index < 0, 0.0, claimed[index])


def _finding(judgment: Judgment) -> Finding:
    assert isinstance(judgment.outcome, Finding)  # noqa: S101 - tells mypy what `rank` has just chosen
    return judgment.outcome


def _cost_ns(finding: Finding) -> int:
    return 0 if finding.cost is None else finding.cost.ns


def _ranges(firsts: IntArray, ends: IntArray) -> IntArray:
    """The numbers from each first one up to its end, one range after the other."""
    count = ends - firsts
    before = np.cumsum(count) - count
    numbers: IntArray = np.arange(int(count.sum())) + np.repeat(firsts - before, count)
    return numbers


def _related_findings(order: Sequence[Judgment]) -> list[tuple[Related, ...]]:
    """For each finding those that can cause it or be caused by it, in order. O(findings + pairs that are related)."""
    by_id: dict[str, dict[str | None, list[int]]] = {}
    for index, entry in enumerate(order):
        by_id.setdefault(entry.detector.id, {}).setdefault(entry.outcome.model, []).append(index)
    pairs_of: list[list[tuple[int, Related]]] = [[] for _ in order]
    for effect, entry in enumerate(order):
        for name in dict.fromkeys(entry.detector.caused_by):
            for cause in _meeting(by_id.get(name, {}), entry.outcome.model):
                if not _may_share_models(order[cause], entry):
                    continue
                model = order[cause].outcome.model
                pairs_of[effect].append((cause, Related(name, model, Relation.CAUSED_BY)))
                pairs_of[cause].append((effect, Related(entry.detector.id, entry.outcome.model, Relation.CAUSES)))
    return [tuple(related for _, related in sorted(pairs, key=lambda pair: pair[0])) for pairs in pairs_of]


def _meeting(by_model: dict[str | None, list[int]], model: str | None) -> list[int]:
    """Indices of the findings about this model or the recording; all of them for a finding about the recording."""
    if model is None:
        return [index for indices in by_model.values() for index in indices]
    return [*by_model.get(model, ()), *by_model.get(None, ())]


def _may_share_models(one: Judgment, other: Judgment) -> bool:
    """Whether two findings can be about the same model: one about several models shows all of them in its evidence,
    unless that is a selection."""
    about = [_finding(entry).models for entry in (one, other)]
    return about[0] is None or about[1] is None or not about[0].isdisjoint(about[1])
