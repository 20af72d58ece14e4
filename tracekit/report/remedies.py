"""What helps to evaluate the checks that were not: one entry per remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.report import formatting
from tracekit.report.groups import Remedy, names, skip_reasons, with_outcome
from tracekit.trace.instruments.catalogue import CORE_ML, INSTRUMENTS

if TYPE_CHECKING:
    from tracekit.report.report import Report, Result
    from tracekit.trace.trace import Coverage

_ADDABLE = {entry.name: entry.option for entry in INSTRUMENTS if entry.added_as}
"""Options of `tracekit record`, by what is then recorded."""


def remedies(report: Report) -> list[Remedy]:
    """Which checks were not evaluated, and what helps: one entry per remedy."""
    covered = {entry.conclusion for entry in report.coverage}
    absent = {(entry.conclusion, entry.advice): entry for entry in report.coverage if entry.state == "missing"}
    instruments: list[Coverage] = []
    recordable: list[Result] = []
    others: dict[str, list[tuple[str, tuple[Result, ...]]]] = {}
    for skipped in skip_reasons(report.results, together=True):
        entry = absent.get((skipped.reason, skipped.record))
        if entry is not None and entry.instrument in _ADDABLE:
            instruments.append(entry)
            recordable += skipped.results
        else:
            others.setdefault(skipped.record or skipped.reason, []).append((skipped.reason, skipped.results))
    lines = list[Remedy]()
    fixed_above = {
        entry.advice for entry in report.coverage if entry.instrument == CORE_ML and _explains_absence(report)
    }
    for record, group in others.items():
        checks = tuple(check for _, some in group for check in some)
        if record in fixed_above:
            lines.append(Remedy(names(checks, report.results), "need Core ML events; see the fix above"))
            continue
        reasons = [reason for reason, _ in group]
        text = reasons[0] if len(group) == 1 and len({check.id for check in checks}) == 1 else record
        others_said = [said for said in dict.fromkeys((*reasons, record)) if said not in (text, *covered)]
        rest = " ".join(filter(None, (text.partition(". ")[2], *others_said)))
        lines.append(Remedy(names(checks, report.results), _clause(text), "" if text in covered else rest))
    if recordable:
        flags = " ".join(_ADDABLE[entry.instrument] for entry in instruments)
        lines.append(Remedy(names(recordable, report.results), f"record with {flags}"))
    return lines


def _explains_absence(report: Report) -> bool:
    """Whether a finding says why Core ML recorded nothing, and what to do about it."""
    return any(check.id == "core-ml-not-instrumented" for check in with_outcome(report.results, "finding"))


def _clause(text: str) -> str:
    """The first sentence of a reason, as the rest of a line; without a command in parentheses, which would be cut."""
    return formatting.clause(re.sub(r" \([^()]*`[^`]*`\)", "", text.partition(". ")[0]).rstrip("."))
