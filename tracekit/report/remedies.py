"""What helps to evaluate the checks that were not: one entry per remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.report import formatting
from tracekit.report.groups import names, skip_reasons, with_outcome
from tracekit.trace.instruments.catalogue import CORE_ML, INSTRUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.report import Report, Result
    from tracekit.trace.trace import Coverage

MANY = 8
"""From this number on, checks that need the same are counted, not named."""
_ADDABLE = {entry.name: entry.option for entry in INSTRUMENTS if entry.added_as}
"""Options of `tracekit record`, by what is then recorded."""


def remedies(report: Report) -> list[tuple[str, str]]:
    """Which checks were not evaluated, and what helps: one entry per remedy."""
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
    lines = []
    fixed_above = {entry.advice for entry in report.coverage if entry.instrument == CORE_ML and _explained(report)}
    for record, group in others.items():
        checks = tuple(check for _, some in group for check in some)
        if record in fixed_above:
            lines.append((_who(checks, report), "need Core ML events; see the fix above"))
            continue
        text = group[0][0] if len(group) == 1 and len({check.id for check in checks}) == 1 else record
        lines.append((_who(checks, report), _clause(text)))
    if recordable:
        flags = " ".join(_ADDABLE[entry.instrument] for entry in instruments)
        lines.append((_who(recordable, report), f"record with {flags}"))
    return lines


def _explained(report: Report) -> bool:
    """Whether a finding says why Core ML recorded nothing, and what to do about it."""
    return any(check.id == "core-ml-not-instrumented" for check in with_outcome(report.results, "finding"))


def _who(checks: Sequence[Result], report: Report) -> str:
    listed = names(checks, report.results)
    return f"{len(listed)} checks" if len(listed) > MANY else ", ".join(listed)


def _clause(text: str) -> str:
    """The first sentence of a reason, as the rest of a line; without a command in parentheses, which would be cut."""
    return formatting.clause(re.sub(r" \([^()]*`[^`]*`\)", "", text.partition(". ")[0]).rstrip("."))
