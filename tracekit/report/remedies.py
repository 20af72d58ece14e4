"""What helps to evaluate the checks that were not: one entry per remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.detectors.inference import RECORD_CORE_ML
from tracekit.report import formatting
from tracekit.report.groups import Remedy, names, skip_reasons, with_outcome
from tracekit.trace.instruments.catalogue import CORE_ML, INSTRUMENTS

if TYPE_CHECKING:
    from tracekit.report.report import Report, Result
    from tracekit.trace.trace import Coverage

_ADDABLE = {entry.name: entry.option for entry in INSTRUMENTS if entry.added_as}
"""Options of `tracekit record`, by what is then recorded."""
_CORE_ML_ALONE = "data lane, hand-offs, compute unit per layer"
"""What neither call stacks nor hardware rows show."""


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
    core_ml = next(entry for entry in report.coverage if entry.instrument == CORE_ML)
    if core_ml.advice and RECORD_CORE_ML in others:
        # What an empty table leaves out, and what inferred calls do not show exactly enough, needs the same.
        others.setdefault(core_ml.advice, []).extend(others.pop(RECORD_CORE_ML))
    for record, group in others.items():
        checks = tuple(check for _, some in group for check in some)
        reasons = [reason for reason, _ in group]
        text = reasons[0] if len(group) == 1 and len({check.id for check in checks}) == 1 else record
        others_said = [said for said in dict.fromkeys((*reasons, record)) if said not in (text, *covered)]
        rest = " ".join(filter(None, (text.partition(". ")[2], *others_said)))
        line, about = (record == core_ml.advice and _why_no_core_ml(report, core_ml)) or (_clause(text), "")
        lines.append(Remedy(names(checks, report.results), line, "" if text in covered else rest, about))
    if recordable:
        flags = " ".join(_ADDABLE[entry.instrument] for entry in instruments)
        lines.append(Remedy(names(recordable, report.results), f"record with {flags}"))
    return lines


def _why_no_core_ml(report: Report, core_ml: Coverage) -> tuple[str, str] | None:
    """What helps where Core ML recorded nothing, and what it alone shows; None where that is not known."""
    if any(check.id == "core-ml-not-instrumented" for check in with_outcome(report.results, "finding")):
        return "need Core ML events; see the fix above", ""
    if report.code is None or not report.code.inferred or core_ml.state != "empty":
        return None
    if report.recording.imported_from:
        return "Core ML's events were lost when the recording was imported; record again", _CORE_ML_ALONE
    return (
        "Core ML recorded no events, likely a missing get-task-allow entitlement; `tracekit doctor --target APP` "
        "checks it"
    ), _CORE_ML_ALONE


def _clause(text: str) -> str:
    """The first sentence of a reason, as the rest of a line; without a command in parentheses, which would be cut."""
    return formatting.clause(re.sub(r" \([^()]*`[^`]*`\)", "", text.partition(". ")[0]).rstrip("."))
