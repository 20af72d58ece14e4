"""No report contradicts itself: its numbers allow each other, and allow no more than its rows do.

Each check takes a report with what it was made of, and gives what is wrong in words. What it expects follows from the
rows and from the report's other numbers, never from a detector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from suite.consistent_findings import order, queues, relations, savings, steps, verdict, words
from suite.consistent_numbers import counts, rates, shares, statistics
from suite.frame import Case, CaseKey, Recorded, complaints_in, read_back
from suite.reported import Reported, reported

CHECKS: tuple[Callable[[Reported], Iterator[str]], ...] = (
    statistics,
    counts,
    rates,
    shares,
    queues,
    order,
    savings,
    steps,
    verdict,
    words,
    relations,
)


def contradictions(report: Reported) -> list[str]:
    """What contradicts itself, one line each."""
    return [f"{check.__name__}: {line}" for check in CHECKS for line in check(report)]


def contradictions_of(keys: Iterable[CaseKey]) -> list[str]:
    """What contradicts itself in the reports of these labeled cases, one line each."""
    return complaints_in(keys, _of_case)


def _of_case(case: Case, recorded: Recorded) -> list[str]:
    return contradictions(reported(read_back(recorded, bundle=case.bundle), settings=case.settings or {}))
