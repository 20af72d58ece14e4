"""What became of each finding between recordings; never "fixed" where a check was not evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tracekit.grouping import grouped
from tracekit.report.report import SEVERITIES

if TYPE_CHECKING:
    from tracekit.compare.measurements import CheckResult, Measurements


class FindingStatus(StrEnum):
    """What became of a finding. In the order in which a reader cares."""

    NEW = "new"
    """Evaluated before, too, and not found then."""
    STILL_THERE = "still there"
    FIXED = "fixed"
    """Evaluated after, too, and not found."""
    NOT_COMPARABLE = "not comparable"
    """One side did not evaluate it, or does not hold the model."""


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


def finding_changes(
    before: Sequence[Measurements], after: Sequence[Measurements], renamed: Mapping[str, str]
) -> tuple[FindingChange, ...]:
    """All findings of both sides, by check and status. `renamed` maps names before to names after.

    A side has a finding where any of its recordings has it, and passes a check where one passed it and none has it.
    Without rows of Core ML, that a check does not apply is no pass: what it is about may not have been seen. O(checks).
    """
    sides = ([_outcomes(one, renamed) for one in before], [_outcomes(one, {}) for one in after])
    groups: dict[tuple[FindingStatus, str, str], list[str | None]] = {}
    for check, model in dict.fromkeys(key for side in sides for outcomes in side for key in outcomes):
        answers = tuple(_outcome(side, check, model) for side in sides)
        if "finding" in answers:
            status, reason = _status(*answers, has_model=tuple(_has_model(side, model) for side in sides))
            groups.setdefault((status, check, reason), []).append(model)
    changes = [_change(key, models, sides) for key, models in groups.items()]
    order = list(FindingStatus)
    return tuple(
        sorted(changes, key=lambda one: (order.index(one.status), SEVERITIES.index(one.severity), one.id, one.reason))
    )


Outcomes = dict[tuple[str, str | None], list["CheckResult"]]
"""Of one recording: what checks answered for models."""


def _outcomes(recording: Measurements, renamed: Mapping[str, str]) -> Outcomes:
    unseen = {} if recording.core_ml else {"not_applicable": "not_evaluated"}
    checks = (replace(each, outcome=unseen.get(each.outcome, each.outcome)) for each in recording.checks)
    return grouped(((each.id, renamed.get(each.model or "", each.model)), each) for each in checks)


def _results(side: Iterable[Outcomes], check: str, *models: str | None) -> list[CheckResult]:
    return [result for model in models for outcomes in side for result in outcomes.get((check, model), ())]


def _outcome(side: Sequence[Outcomes], check: str, model: str | None) -> str:
    """`finding`, `passed`, or `not_evaluated`. An answer for the recording as a whole stands for each of its models."""
    outcomes = {result.outcome for result in _results(side, check, model) or _results(side, check, None)}
    if "finding" in outcomes:
        return "finding"
    # Not applicable says that it cannot occur, which is as good as passed.
    return "passed" if outcomes & {"passed", "not_applicable"} else "not_evaluated"


def _has_model(side: Sequence[Outcomes], model: str | None) -> bool:
    return model is None or any(name == model for outcomes in side for _, name in outcomes)


def _status(before: str, after: str, *, has_model: tuple[bool, ...]) -> tuple[FindingStatus, str]:
    if before == after:
        return FindingStatus.STILL_THERE, ""
    side, words = (0, "before") if after == "finding" else (1, "after")
    if not has_model[side]:
        return FindingStatus.NOT_COMPARABLE, f"model not recorded {words}"
    if (before, after)[side] == "not_evaluated":
        return FindingStatus.NOT_COMPARABLE, f"not evaluated {words}"
    return (FindingStatus.NEW, "") if side == 0 else (FindingStatus.FIXED, "")


def _change(
    key: tuple[FindingStatus, str, str], models: Sequence[str | None], sides: Sequence[Sequence[Outcomes]]
) -> FindingChange:
    status, check, reason = key
    findings = [[one for one in _results(side, check, *models) if one.outcome == "finding"] for side in sides]
    severities = [result.severity for side in findings for result in side if result.severity is not None]
    return FindingChange(
        status,
        check,
        (findings[1] or findings[0])[0].title,
        min(severities, key=SEVERITIES.index),
        tuple(models),
        _savings(sides[0], check, models),
        _savings(sides[1], check, models),
        reason,
    )


def _savings(side: Sequence[Outcomes], check: str, models: Sequence[str | None]) -> int | None:
    """What the fix saves in these models together, in the recording where it is most."""
    costs = ([one.savings_ns for one in _results([outcomes], check, *models)] for outcomes in side)
    known = ([cost for cost in each if cost is not None] for each in costs)
    return max((sum(each) for each in known if each), default=None)
