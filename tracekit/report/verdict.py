"""The verdict: counts, one sentence that is true of all checks, and what helps to evaluate those that were not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from tracekit.characters import lower_first
from tracekit.detectors.answers import RECORD_CORE_ML
from tracekit.detectors.pages import Pattern
from tracekit.detectors.registry import DETECTORS
from tracekit.recording.contents import SIMULATOR, is_simulator
from tracekit.report import groups
from tracekit.report.call_sites import place
from tracekit.report.formatting import clause
from tracekit.report.groups import names
from tracekit.report.operations import UNCHECKED
from tracekit.report.report import Report, Result, Summary, Totals
from tracekit.trace.instruments.catalogue import CALL_STACKS, CORE_ML, INSTRUMENTS
from tracekit.trace.trace import Coverage
from tracekit.units import format_count, format_names, format_percent


def summarize(checks: Sequence[Result], ran: str = "") -> Summary:
    """Summary of ordered checks. `ran` is what signposts show, which is said where no check could be evaluated."""
    totals = groups.count_checks(checks)
    # Whoever asks about the recording itself or about call stacks alone is answered by that. Else call stacks, which
    # say nothing about Core ML's own events, do not make up for them.
    judging = [check for check in checks if check.pattern != Pattern.RECORDING and check.id not in STACKS_ALONE]
    judging = judging or list(checks)
    evaluated = any(check.outcome in ("finding", "passed") for check in judging)
    ran = "" if evaluated or any(check.outcome == "error" for check in judging) else ran
    nothing = f"{ran} {UNCHECKED}" if ran else f"Inconclusive: {_skip_reason(judging)}"
    return Summary(
        **asdict(totals),
        evaluated=evaluated,
        savings_ns=groups.Group(tuple(checks)).extra_savings_ns,
        verdict=_verdict(checks, totals) if evaluated else nothing,
        ran=ran,
    )


_MOST: Final = 0.9
"""Share of the app's time without Core ML, from which on that is said first (heuristic)."""


def first_words(report: Report) -> str:
    """What stands before all else, since no finding is worth as much: that times are of a simulator, or that the app
    hardly spends its time in Core ML; empty where neither holds."""
    share, site = (report.code.own_share, report.code.own_site) if report.code is not None else (None, None)
    sentences = [f"{SIMULATOR[0].upper()}{SIMULATOR[1:]}."] if is_simulator(report.recording.platform) else []
    if share is not None and site is not None and share >= _MOST:
        most = f": {format_percent(site.share)} of that in {place(site)}" if site.function else ""
        sentences.append(
            f"{format_percent(share)} of the app's running time is its own or another runtime's code, not Core ML"
            f"{most}; `tracekit stacks` shows it."
        )
    return " ".join(sentences)


def in_short(report: Report) -> str:
    """The verdict behind `first_words`, and what answers a recording that shows nothing of Core ML."""
    first = first_words(report)
    more = "`tracekit stacks` shows what ran." if has_stacks_alone(report) and "stacks" not in first else ""
    return " ".join(filter(None, (first, report.summary.verdict, more)))


def has_stacks_alone(report: Report) -> bool:
    """Whether call stacks are all that a recording answers with."""
    return bool(report.code is not None and report.code.stacks and not report.summary.says)


STACKS_ALONE: Final = frozenset(detector.id for detector in DETECTORS if detector.needs == (CALL_STACKS,))
"""Checks that rest on nothing but call stacks."""


def _verdict(checks: Sequence[Result], totals: Totals) -> str:
    """What was found, or that nothing was. A detector counts as one check, however many models it looks at."""
    # Detectors with one of the outcomes for at least one model.
    outcomes = (("passed", "finding"), ("not_evaluated",))
    evaluated, skipped = ({check.id for check in checks if check.outcome in names} for names in outcomes)
    counts = [
        (0 if totals.findings else totals.passed, "passed"),
        (totals.not_evaluated, "not evaluated"),
        (len(evaluated & skipped), "evaluated for some models only"),
    ]
    counted = [(count, what) for count, what in counts if count]
    words = [
        f"{count if index else format_count(count, 'check')} {what}" for index, (count, what) in enumerate(counted)
    ]
    rest = ", ".join([*words, *([format_count(totals.errors, "error")] if totals.errors else [])])
    findings = groups.findings_in_words(totals)
    return f"{findings}{'; ' if totals.findings else '. '}{rest}." if rest else f"{findings}."


def _skip_reason(checks: Sequence[Result]) -> str:
    """Why none of the checks could be evaluated, as the end of a sentence."""
    if not checks:
        return "no check was run."
    reasons = Counter(check.summary for check in groups.with_outcome(checks, checks[0].outcome))
    # A long reason has its main point in front; the checks themselves give it whole.
    reason = reasons.most_common(1)[0][0].partition("; ")[0]
    text = reason if reason.endswith((".", "!", "?")) else f"{reason}."
    if checks[0].outcome == "error":
        return f"error in {format_count(reasons.total(), 'check')}: {text}"
    return clause(text)


_ADDABLE = {entry.name: entry.option for entry in INSTRUMENTS if entry.added_as}
"""Options of `tracekit record`, by what is then recorded."""
_CORE_ML_ALONE = "data lane, hand-offs, compute unit per layer"
"""What neither call stacks nor hardware rows show."""


def remedies(report: Report) -> list[groups.Remedy]:
    """Which checks were not evaluated, and what helps: one entry per remedy."""
    covered = {entry.conclusion for entry in report.coverage}
    absent = {(entry.conclusion, entry.advice): entry for entry in report.coverage if entry.state == "missing"}
    instruments: list[Coverage] = []
    recordable: list[Result] = []
    others: dict[str, list[tuple[str, tuple[Result, ...]]]] = {}
    for why, record, skipped in groups.skip_reasons(report.results):
        entry = absent.get((why, record))
        if entry is not None and entry.instrument in _ADDABLE:
            instruments.append(entry)
            recordable += skipped
        else:
            others.setdefault(record or why, []).append((why, skipped))
    lines = list[groups.Remedy]()
    core_ml = next(entry for entry in report.coverage if entry.instrument == CORE_ML)
    if core_ml.advice and RECORD_CORE_ML in others:
        # What an empty table leaves out, and what inferred calls do not show exactly enough, needs the same.
        others.setdefault(core_ml.advice, []).extend(others.pop(RECORD_CORE_ML))
    for record, group in others.items():
        checks = tuple(check for _, some in group for check in some)
        reasons = [reason for reason, _ in group]
        text = reasons[0] if len(group) == 1 and len({check.id for check in checks}) == 1 else record
        others_said = [reason for reason in dict.fromkeys((*reasons, record)) if reason not in (text, *covered)]
        rest = " ".join(filter(None, (text.partition(". ")[2], *others_said)))
        # The first sentence, as the rest of a line; without a command in parentheses, which would be cut.
        all_reasons = " ".join(reasons)
        cut = [
            row for row in report.coverage if row.conclusion.rstrip(".") in all_reasons and "cut off" in row.conclusion
        ]
        if cut and record == cut[0].advice:
            several = f"{format_names([row.instrument for row in cut])} were recorded but are cut off"
            lost = several if len(cut) > 1 else cut[0].conclusion.rstrip(".").partition("; ")[0]
            text = f"{lost}: {lower_first(record)}"
        short = re.sub(r" \([^()]*`[^`]*`\)", "", text.partition(". ")[0]).rstrip(".")
        line, about = (record == core_ml.advice and _why_no_core_ml(report, core_ml)) or (clause(short), "")
        lines.append(groups.Remedy(names(checks, report.results), line, "" if text in covered else rest, about))
    if recordable:
        flags = " ".join(_ADDABLE[entry.instrument] for entry in instruments)
        lines.append(groups.Remedy(names(recordable, report.results), f"record with {flags}"))
    return lines


def _why_no_core_ml(report: Report, core_ml: Coverage) -> tuple[str, str] | None:
    """What helps where Core ML recorded nothing, and what it alone shows; None where that is not known."""
    if any(check.id == "core-ml-not-instrumented" for check in groups.with_outcome(report.results, "finding")):
        return "need Core ML events; see the fix above", ""
    if report.code is None or not report.code.inferred or core_ml.state != "empty":
        return None
    if report.recording.imported_from:
        return "Core ML's events were lost when the recording was imported; record again", _CORE_ML_ALONE
    return (
        "Core ML recorded no events, likely a missing get-task-allow entitlement; `tracekit doctor --target APP` "
        "checks it"
    ), _CORE_ML_ALONE
