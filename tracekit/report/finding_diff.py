"""The status of each finding between two reports: fixed, new or the same; never fixed where it was not evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.report.report import Check, Report


class FindingStatus(StrEnum):
    """What became of a finding. In the order in which a reader cares."""

    NEW = "new"
    """Evaluated before, too, and not found then."""
    SAME = "same"
    NOT_EVALUATED_BEFORE = "not evaluated before"
    """Found after; before, there was too little to look at."""
    MODEL_NEW = "only after"
    """Found after, of a model that the recording before does not hold."""
    NOT_EVALUATED_AFTER = "not evaluated after"
    MODEL_GONE = "only before"
    FIXED = "fixed"
    """Evaluated after, too, and not found."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding of either report."""

    status: FindingStatus
    before: Check | None
    """The check before, whatever its outcome; None where none was made for the model."""
    after: Check | None

    @property
    def check(self) -> Check:
        """The check that found it; the later one where both did."""
        findings = [check for check in (self.after, self.before) if check is not None and check.outcome == "finding"]
        return findings[0]


def finding_changes(before: Report, after: Report) -> tuple[FindingChange, ...]:
    """All findings of two reports, matched by detector and model: new ones first, fixed ones last. O(checks)."""
    changes = [_change(check, before.checks, after=True) for check in _findings(after)]
    later = {(check.id, check.model) for check in _findings(after)}
    changes += [
        _change(check, after.checks, after=False) for check in _findings(before) if (check.id, check.model) not in later
    ]
    order = list(FindingStatus)
    return tuple(sorted(changes, key=lambda change: order.index(change.status)))


def _findings(report: Report) -> Iterable[Check]:
    return (check for check in report.checks if check.outcome == "finding")


def _change(check: Check, others: Sequence[Check], *, after: bool) -> FindingChange:
    """What a finding of one report means beside the checks of the other; `after`: whether it is of the later one."""
    alike = [other for other in others if other.id == check.id]
    other = next((other for other in alike if other.model == check.model), None)
    # An answer for the recording as a whole stands for all its models, but that nothing applied to any of them.
    overall = next((other for other in alike if other.model is None), None)
    answer = other or overall
    if other is not None and other.outcome == "finding":
        status = FindingStatus.SAME
    elif not alike or (answer is not None and answer.outcome in ("insufficient_data", "error")):
        status = FindingStatus.NOT_EVALUATED_BEFORE if after else FindingStatus.NOT_EVALUATED_AFTER
    elif other is not None or (overall is not None and overall.outcome == "passed"):
        status = FindingStatus.NEW if after else FindingStatus.FIXED
    else:
        status = FindingStatus.MODEL_NEW if after else FindingStatus.MODEL_GONE
    return FindingChange(status, answer, check) if after else FindingChange(status, check, answer)
