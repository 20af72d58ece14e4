"""What became of each finding between recordings; never "fixed" where a check was not evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from tracekit.comparison.measurements import CheckResult, Measurements, names_of
from tracekit.grouping import grouped
from tracekit.report.report import SEVERITIES
from tracekit.trace.instruments.memory import counts_engine


class FindingStatus(StrEnum):
    """What became of a finding. In the order in which a reader cares."""

    NEW = "new"
    """Evaluated before, too, and not found then."""
    STILL_THERE = "still there"
    FIXED = "fixed"
    """Evaluated after, too, and not found."""
    NOT_COMPARABLE = "not comparable"
    """One side did not evaluate it, or does not hold the model."""


class Rate(NamedTuple):
    """How many recordings of a side have a finding."""

    found: int
    evaluated: int
    """Of so many that could have it."""

    @property
    def is_unanimous(self) -> bool:
        """Whether all have it, or none."""
        return self.found in (0, self.evaluated)


@dataclass(frozen=True, slots=True)
class FindingChange:
    """One check, for the models with one status."""

    status: FindingStatus
    id: str
    title: str
    severity: str
    """The worst among its models and recordings."""
    models: tuple[str | None, ...]
    """None: the recording as a whole."""
    savings_before_ns: int | None
    """Estimated savings, summed over the models; of several recordings the largest sum. None: no cost is known."""
    savings_after_ns: int | None
    reason: str
    """Why it is not comparable, in a few words; empty otherwise."""
    rates: tuple[Rate, Rate]
    """How many recordings before and after have it."""


@dataclass(frozen=True, slots=True)
class _Side:
    """What the recordings of a side answer about one check and model."""

    rate: Rate
    has_model: bool
    not_applicable: bool
    margin: float | None
    """How far its metric is beyond the threshold, times: the geometric mean of those that have one."""

    @classmethod
    def of(cls, side: Sequence[Outcomes], check: str, model: str | None) -> _Side:
        """An answer for the recording as a whole stands for each of its models."""
        results = [outcomes.get((check, model)) or outcomes.get((check, None)) or [] for outcomes in side]
        answers = [{one.outcome for one in own} for own in results]
        count = sum("finding" in own for own in answers)
        passed = sum("passed" in own and "finding" not in own for own in answers)
        margins = [one.margin for own in results for one in own if one.margin]
        return cls(
            Rate(count, count + passed),
            model is None or any(name == model for outcomes in side for _, name in outcomes),
            any("not_applicable" in own for own in answers),
            math.exp(sum(map(math.log, margins)) / len(margins)) if margins else None,
        )


def finding_changes(
    before: Sequence[Measurements], after: Sequence[Measurements], renamed: Mapping[str, str]
) -> tuple[FindingChange, ...]:
    """All findings of both sides, by check and status. `renamed` maps names before to names after.

    It is new or fixed where one side does not have it and the other one has: in each recording, or in so many that
    chance hardly explains it, and clearly beyond its threshold. Sides without a common model are other work: nothing is
    new or fixed. O(checks).
    """
    models = ({renamed.get(name, name) for name in names_of(before)}, set(names_of(after)))
    unrelated = all(models) and models[0].isdisjoint(models[1])
    of_other_sizes = MEMORY_CHECKS if footprints_differ((*before, *after)) else frozenset()
    sides = ([_outcomes(one, renamed) for one in before], [_outcomes(one, {}) for one in after])
    groups: dict[tuple[FindingStatus, str, str, tuple[Rate, Rate]], list[str | None]] = {}
    for check, model in dict.fromkeys(key for side in sides for outcomes in side for key in outcomes):
        answers = tuple(_Side.of(side, check, model) for side in sides)
        if any(side.rate.found for side in answers):
            status, reason = _status(*answers)
            if unrelated and status is not FindingStatus.STILL_THERE:
                which = "before" if answers[0].rate.found else "after"
                status, reason = FindingStatus.NOT_COMPARABLE, f"only {which}: no model in common"
            elif check in of_other_sizes and status is not FindingStatus.STILL_THERE:
                status, reason = FindingStatus.NOT_COMPARABLE, "footprints of OS 27 and earlier do not compare"
            groups.setdefault((status, check, reason, (answers[0].rate, answers[1].rate)), []).append(model)
    changes = []
    for (status, check, reason, rates), affected in groups.items():
        findings = [[one for one in _results(side, check, *affected) if one.outcome == "finding"] for side in sides]
        severities = [result.severity for side in findings for result in side if result.severity is not None]
        title, severity = (findings[1] or findings[0])[0].title, min(severities, key=SEVERITIES.index)
        saved = [_savings(side, check, affected) for side in sides]
        change = FindingChange(status, check, title, severity, tuple(affected), saved[0], saved[1], reason, rates)
        changes.append(change)
    order = list(FindingStatus)
    return tuple(
        sorted(changes, key=lambda one: (order.index(one.status), SEVERITIES.index(one.severity), one.id, one.reason))
    )


MEMORY_CHECKS: Final = frozenset(("duplicate-memory", "memory-growth", "memory-peak", "unreturned-load"))
"""Checks of the footprint."""


def footprints_differ(recordings: Iterable[Measurements]) -> bool:
    """Whether footprints were checked, of which some can include memory of the Neural Engine and others cannot."""
    sampled = [
        one
        for one in recordings
        if any(check.id in MEMORY_CHECKS and check.outcome in ("finding", "passed") for check in one.checks)
    ]
    return {counts_engine(one.environment.system) for one in sampled} >= {True, False}


Outcomes = dict[tuple[str, str | None], list["CheckResult"]]
"""Of one recording: what checks answered for models."""


def _outcomes(recording: Measurements, renamed: Mapping[str, str]) -> Outcomes:
    unseen = {} if recording.core_ml else {"not_applicable": "not_evaluated"}
    checks = (replace(check, outcome=unseen.get(check.outcome, check.outcome)) for check in recording.checks)
    return grouped(((check.id, renamed.get(check.model or "", check.model)), check) for check in checks)


def _results(side: Iterable[Outcomes], check: str, *models: str | None) -> list[CheckResult]:
    return [result for model in models for outcomes in side for result in outcomes.get((check, model), ())]


def _status(before: _Side, after: _Side) -> tuple[FindingStatus, str]:
    """What became of a finding, and why it is not comparable."""
    if before.rate.found and after.rate.found:
        return FindingStatus.STILL_THERE, ""
    is_new = bool(after.rate.found)
    without, words = (before, "before") if is_new else (after, "after")
    margins = [side.margin for side in (before, after) if side.margin]
    if not without.has_model:
        reason = f"model not recorded {words}"
    elif not without.rate.evaluated and not (is_new and without.not_applicable):
        reason = f"{'not applicable' if without.not_applicable else 'not evaluated'} {words}"
    elif not _by_rates(before.rate, after.rate):
        reason = "too few recordings to tell"
    elif len(margins) == 2 and max(margins) < _CLEARLY * min(margins):
        reason = "near its threshold on both sides"
    else:
        return (FindingStatus.NEW if is_new else FindingStatus.FIXED), ""
    return FindingStatus.NOT_COMPARABLE, reason


def _by_rates(before: Rate, after: Rate) -> bool:
    """Whether it is in all recordings of one side and in none of the other; else whether chance explains the difference
    in under 5% (Fisher's exact test, one-sided)."""
    if before.is_unanimous and after.is_unanimous:
        return True
    findings, without = before.found + after.found, before if after.found else after
    every = before.evaluated + after.evaluated
    return math.comb(every - without.evaluated, findings) <= _CHANCE * math.comb(every, findings)


_CHANCE: Final = 0.05
_CLEARLY: Final = 1.2
"""Ratio of the metric of both sides, from which on a finding has not only crossed its threshold (heuristic)."""


def _savings(side: Sequence[Outcomes], check: str, models: Sequence[str | None]) -> int | None:
    """What the fix saves in these models together, in the recording where it is most."""
    costs = ([one.savings_ns for one in _results([outcomes], check, *models)] for outcomes in side)
    known = ([cost for cost in costs_there if cost is not None] for costs_there in costs)
    return max((sum(times) for times in known if times), default=None)
