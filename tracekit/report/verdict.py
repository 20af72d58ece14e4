"""The verdict: counts, and one sentence that is true of all checks together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tracekit.detectors.patterns import Pattern
from tracekit.report.checks import SEVERITY_ORDER
from tracekit.report.formatting import listed
from tracekit.report.report import Summary
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.report import Check


def summarize(checks: Sequence[Check]) -> Summary:
    """Summary of ordered checks."""
    outcomes = Counter(check.outcome for check in checks)
    severities = Counter(check.severity for check in checks)
    # Whoever asks about the recording itself alone is answered by that.
    judging = [check for check in checks if check.pattern != Pattern.RECORDING] or checks
    judged = any(check.outcome in ("finding", "passed") for check in judging)
    gains = [check.net_ns for check in checks if check.net_ns is not None]
    return Summary(
        findings=outcomes["finding"],
        critical=severities["critical"],
        high=severities["high"],
        medium=severities["medium"],
        low=severities["low"],
        passed=outcomes["passed"],
        not_applicable=outcomes["not_applicable"],
        insufficient_data=outcomes["insufficient_data"],
        errors=outcomes["error"],
        judged=judged,
        win_back_ns=sum(gains) if gains else None,
        verdict=_verdict(checks, outcomes) if judged else f"This recording cannot be judged: {_obstacle(judging)}",
    )


def _verdict(checks: Sequence[Check], outcomes: Counter[str]) -> str:
    """Says what was found, or that nothing was found; never one for the other. A detector counts as one check, however
    many models it looks at."""
    if outcomes["finding"]:
        return f"{_found(checks)}{_limits(checks)}."
    looked = format_count(len(_ids(checks, "passed")), "check")
    return f"No finding: {looked} looked and found nothing{_limits(checks)}."


def _ids(checks: Sequence[Check], *outcomes: str) -> set[str]:
    """Detectors with one of the outcomes for at least one model."""
    return {check.id for check in checks if check.outcome in outcomes}


def _found(checks: Sequence[Check]) -> str:
    """Number of findings by severity and the titles of what was found, worst first."""
    findings = [check for check in checks if check.outcome == "finding"]
    severities = Counter(check.severity for check in findings)
    ranks = [f"{severities[severity]} {severity}" for severity in SEVERITY_ORDER if severities[severity]]
    models = {check.model for check in findings if check.model is not None}
    where = f" in {format_count(len(models), 'model')}" if models else ""
    kinds = list(dict.fromkeys(check.title for check in findings))
    more = f", and {format_count(len(kinds) - 1, 'other problem')}" if len(kinds) > 1 else ""
    return f"{format_count(len(findings), 'finding')} ({', '.join(ranks)}){where}: {kinds[0].rstrip('.')}{more}"


def _limits(checks: Sequence[Check]) -> str:
    """What the reader must know before trusting the verdict."""
    blind, failed = _ids(checks, "insufficient_data"), _ids(checks, "error")
    limits = []
    if blind:
        where = " at every model" if blind & _ids(checks, "finding", "passed") else ""
        limits.append(f"{format_count(len(blind), 'check')} could not look{where}")
    if failed:
        limits.append(f"{format_count(len(failed), 'check')} failed")
    return f"; {listed(limits)}" if limits else ""


def _obstacle(checks: Sequence[Check]) -> str:
    """Why none of the checks could look, as the end of a sentence."""
    if not checks:
        return "no check was run."
    reasons = Counter(check.summary for check in checks if check.outcome == checks[0].outcome)
    # A long reason has its main point in front; the checks themselves give it whole.
    reason = reasons.most_common(1)[0][0].partition("; ")[0]
    text = reason if reason.endswith((".", "!", "?")) else f"{reason}."
    if checks[0].outcome == "error":
        return f"{format_count(reasons.total(), 'check')} failed with {text}"
    return text[0].lower() + text[1:] if text.split(" ")[0] in _PLAIN_OPENERS else text


_PLAIN_OPENERS = frozenset({"A", "An", "It", "No", "None", "Nothing", "Not", "Only", "Some", "The", "There", "This"})
"""Words that lose their capital inside a sentence; any other first word may be a name."""
