"""No report contradicts itself: its numbers allow each other, and allow no more than its rows do.

Each check takes a report with what it was made of, and gives what is wrong in words. What it expects follows from the
rows and from the report's other numbers, never from a detector.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from suite.consistent_findings import order, queues, relations, savings, steps, verdict, words
from suite.consistent_numbers import counts, rates, shares, statistics
from suite.frame import CaseKey, draws_of, load, read_back
from suite.processes import on_all_processors
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
    return [line for lines in on_all_processors(_of_case, dict.fromkeys(keys)) for line in lines]


def _of_case(key: CaseKey) -> list[str]:
    module, number = key
    case = load(module)[number]
    settings: Mapping[str, Any] = {} if case.settings is None else {"settings": case.settings}
    try:
        wrong = contradictions(reported(read_back(case.build(draws_of(case, number)), bundle=case.bundle), **settings))
    except Exception:
        wrong = [traceback.format_exc()]
    return [f"{module}, {case.name}: {line}" for line in wrong]
