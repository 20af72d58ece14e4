"""The verdict: counts, and one sentence that is true of all checks together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from tracekit.detectors.pages import Pattern
from tracekit.detectors.registry import DETECTORS
from tracekit.report.formatting import clause
from tracekit.report.groups import count_checks, findings_in_words, sum_of_known
from tracekit.report.operations import UNCHECKED
from tracekit.report.report import Result, Summary, Totals
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.units import format_count


def summarize(checks: Sequence[Result], ran: str = "") -> Summary:
    """Summary of ordered checks. `ran` is what signposts show, which is said where no check could be evaluated."""
    totals = count_checks(checks)
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
        savings_ns=sum_of_known(check.extra_savings_ns for check in checks),
        verdict=_verdict(checks, totals) if evaluated else nothing,
        ran=ran,
    )


STACKS_ALONE: Final = frozenset(detector.id for detector in DETECTORS if detector.needs == (CALL_STACKS,))
"""Checks that rest on nothing but call stacks."""


def _verdict(checks: Sequence[Result], totals: Totals) -> str:
    """Says what was found, or that nothing was found; never one for the other. A detector counts as one check, however
    many models it looks at."""
    # Detectors with one of the outcomes for at least one model.
    outcomes = (("passed", "finding"), ("not_evaluated",))
    evaluated, skipped = ({check.id for check in checks if check.outcome in names} for names in outcomes)
    counts = [
        (0 if totals.findings else totals.passed, "passed"),
        (totals.not_evaluated, "not evaluated"),
        (len(evaluated & skipped), "not evaluated for every model"),
    ]
    known = [(count, what) for count, what in counts if count]
    words = [f"{count if index else format_count(count, 'check')} {what}" for index, (count, what) in enumerate(known)]
    rest = ", ".join([*words, *([format_count(totals.errors, "error")] if totals.errors else [])])
    findings = findings_in_words(totals)
    return f"{findings}{'; ' if totals.findings else '. '}{rest}." if rest else f"{findings}."


def _skip_reason(checks: Sequence[Result]) -> str:
    """Why none of the checks could be evaluated, as the end of a sentence."""
    if not checks:
        return "no check was run."
    reasons = Counter(check.summary for check in checks if check.outcome == checks[0].outcome)
    # A long reason has its main point in front; the checks themselves give it whole.
    reason = reasons.most_common(1)[0][0].partition("; ")[0]
    text = reason if reason.endswith((".", "!", "?")) else f"{reason}."
    if checks[0].outcome == "error":
        return f"error in {format_count(reasons.total(), 'check')}: {text}"
    return clause(text)
