"""Checks that say the same thing, told once: a finding in five models is one problem with one fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.report.model import Check


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one detector, in report order; never empty."""

    checks: tuple[Check, ...]

    @property
    def first(self) -> Check:
        """The worst; title, reason, fix and references are the same in all."""
        return self.checks[0]

    @property
    def severities(self) -> tuple[str, ...]:
        """Severities that occur, worst first."""
        return tuple(dict.fromkeys(check.severity or "" for check in self.checks))

    @property
    def net_ns(self) -> int | None:
        """Time that their fixes could win back beyond the findings before them, no ns counted twice; None where none
        has a cost."""
        gains = [check.net_ns for check in self.checks if check.net_ns is not None]
        return sum(gains) if gains else None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason for which checks could not look."""

    reason: str
    record: str
    checks: tuple[Check, ...]


def findings(checks: Iterable[Check]) -> tuple[Group, ...]:
    """Findings by detector, the detector with the worst one first."""
    groups: dict[str, list[Check]] = {}
    for check in checks:
        if check.outcome == "finding":
            groups.setdefault(check.id, []).append(check)
    return tuple(Group(tuple(group)) for group in groups.values())


def obstacles(checks: Iterable[Check]) -> tuple[Obstacle, ...]:
    """What could not be judged, by reason, in the order of the report."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        if check.outcome == "insufficient_data":
            groups.setdefault((check.summary, check.record), []).append(check)
    return tuple(Obstacle(reason, record, tuple(group)) for (reason, record), group in groups.items())


def with_outcome(checks: Iterable[Check], outcome: str) -> tuple[Check, ...]:
    """The checks with one outcome."""
    return tuple(check for check in checks if check.outcome == outcome)


def names(checks: Sequence[Check]) -> tuple[str, ...]:
    """Each detector once, with the number of models it is about where there are several: `an-id (5 models)`."""
    models: dict[str, int] = {}
    for check in checks:
        models[check.id] = models.get(check.id, 0) + (check.model is not None)
    return tuple(f"{name} ({format_count(n, 'model')})" if n > 1 else name for name, n in models.items())
