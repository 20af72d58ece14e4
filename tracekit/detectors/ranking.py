"""What fixing each finding would win back, no nanosecond counted for two, and which findings lead to each other.

A finding claims its cost evenly over the time that it calls lost. Of two findings that claim the same time, the one
that is ranked first has it, and the other only what it claims beyond that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.outcomes import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from tracekit.detectors.outcomes import Intervals
    from tracekit.detectors.runner import Judgement

    IntArray = npt.NDArray[np.int64]


class Relation(StrEnum):
    """How a finding stands to another one."""

    CAUSED_BY = "caused by"
    CAUSES = "causes"


@dataclass(frozen=True, slots=True)
class Related:
    """Another finding of the same report that shares its cause with this one."""

    id: str
    model: str | None
    relation: Relation


@dataclass(frozen=True, slots=True)
class RankedFinding:
    """A finding in its place."""

    judgement: Judgement
    net_ns: int | None
    """Time in ns that its fix could win back beyond what the findings before it claim; None where it has no cost."""
    related: tuple[Related, ...]


def rank(judgements: Iterable[Judgement]) -> tuple[RankedFinding, ...]:
    """The findings among the judgements: detectors by what fixing their findings could win back together, largest
    first; the findings of a detector by cost. O(n log n) in the intervals, for each detector that found something.
    """
    groups: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        if isinstance(judgement.outcome, Finding):
            groups.setdefault(judgement.detector.id, []).append(judgement)
    for group in groups.values():
        group.sort(key=lambda entry: (-_cost_ns(_finding(entry)), entry.outcome.model or ""))
    together = {name: sum(won_back([_finding(entry) for entry in group])) for name, group in groups.items()}
    order = [entry for name in sorted(groups, key=lambda name: (-together[name], name)) for entry in groups[name]]
    gains = won_back([_finding(entry) for entry in order])
    return tuple(
        RankedFinding(entry, None if _finding(entry).cost is None else gain, _related(entry, order))
        for entry, gain in zip(order, gains, strict=True)
    )


def won_back(findings: Sequence[Finding]) -> list[int]:
    """For each finding, the time in ns that it claims beyond what those before it claim. Their sum is the time that
    all fixes together could win back. O(n log n) in the intervals, and O(pieces of its own time) per finding."""
    edges = np.unique(np.concatenate([np.zeros(0, np.int64), *(part for entry in findings for part in entry.lost)]))
    lengths = np.diff(edges)
    taken = np.zeros(len(lengths))
    gains = []
    for entry in findings:
        cost, whole = _cost_ns(entry), int((entry.lost.ends - entry.lost.starts).sum())
        if not cost or not whole:
            gains.append(cost)
            continue
        pieces = _pieces(edges, entry.lost)
        share = min(cost / whole, 1.0)
        gain = float((np.maximum(share - taken[pieces], 0) * lengths[pieces]).sum())
        taken[pieces] = np.maximum(taken[pieces], share)
        gains.append(min(round(gain), cost))
    return gains


def _finding(judgement: Judgement) -> Finding:
    assert isinstance(judgement.outcome, Finding)  # noqa: S101 - tells mypy what `rank` has just chosen
    return judgement.outcome


def _cost_ns(finding: Finding) -> int:
    return 0 if finding.cost is None else finding.cost.ns


def _pieces(edges: IntArray, times: Intervals) -> IntArray:
    """Places of the pieces between edges that the intervals cover."""
    first = np.searchsorted(edges, times.starts)
    count = np.searchsorted(edges, times.ends) - first
    before = np.cumsum(count) - count
    places: IntArray = np.arange(int(count.sum())) + np.repeat(first - before, count)
    return places


def _related(judgement: Judgement, others: Sequence[Judgement]) -> tuple[Related, ...]:
    """Findings about the same model, or about the recording, that this one causes or is caused by."""
    found = []
    for other in others:
        model, about = judgement.outcome.model, other.outcome.model
        if model is not None and about is not None and model != about:
            continue
        if other.detector.id in judgement.detector.caused_by:
            found.append(Related(other.detector.id, about, Relation.CAUSED_BY))
        if judgement.detector.id in other.detector.caused_by:
            found.append(Related(other.detector.id, about, Relation.CAUSES))
    return tuple(found)
