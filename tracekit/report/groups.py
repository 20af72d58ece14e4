"""Turns what detectors answered into the results of a report; checks that say the same are given and counted once: a
finding in five models is one problem with one fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tracekit.detectors import outcomes
from tracekit.detectors.framework import Judgment, ModelFileDetector
from tracekit.detectors.pages import Page, Pattern
from tracekit.grouping import grouped
from tracekit.intervals import Intervals
from tracekit.report.report import SEVERITIES, Answer, Report, Result, Rule, Summary, Totals
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.detectors.replayed import Replays

Given = TypeVar("Given", bound=Answer)

INCONCLUSIVE = "inconclusive"
"""Word for a recording of which no check could be evaluated, and for what is wrong with it."""


def explains(result: Result, summary: Summary) -> bool:
    """Whether a finding is why no check could be evaluated. It is said first, without a severity."""
    return not summary.says and result.outcome == "finding" and result.pattern == Pattern.RECORDING


def rank(result: Result, report: Report) -> str:
    """Severity of a finding, or `INCONCLUSIVE` for one that explains why no check could be evaluated."""
    return INCONCLUSIVE if explains(result, report.summary) else result.severity or ""


def findings_in_words(totals: Totals) -> str:
    """How many findings, how severe, in how many models: `2 findings (1 high, 1 low) in 1 model`."""
    if not totals.findings:
        return "No findings"
    counts = {severity: getattr(totals, severity) for severity in SEVERITIES}
    ranks = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    where = f" in {format_count(totals.models, 'model')}" if totals.models else ""
    return f"{format_count(totals.findings, 'finding')} ({totals.worst if totals.findings == 1 else ranks}){where}"


def count_checks(checks: Sequence[Result]) -> Totals:
    """Counts by check. O(checks)."""
    ranks: dict[str, int] = {}
    models = set()
    for check in checks:
        if check.outcome == "finding":
            rank = SEVERITIES.index(check.severity or "low")
            ranks[check.id] = min(rank, ranks.get(check.id, rank))
            models.add(check.model)
    kinds = list(outcome_by_check(checks).values())
    by_rank = list(ranks.values())
    return Totals(
        findings=len(ranks),
        **{name: by_rank.count(rank) for rank, name in enumerate(SEVERITIES)},
        models=len(models - {None}),
        passed=kinds.count("passed"),
        not_evaluated=kinds.count("not_evaluated"),
        errors=kinds.count("error"),
        not_applicable=kinds.count("not_applicable"),
    )


def outcome_by_check(checks: Iterable[Result]) -> dict[str, str]:
    """The outcome that each check counts under, whatever it answers for further models."""
    order = ("error", "finding", "passed", "not_evaluated", "not_applicable")
    outcomes: dict[str, str] = {}
    for check in checks:
        outcomes[check.id] = min(check.outcome, outcomes.get(check.id, check.outcome), key=order.index)
    return outcomes


def checks_in_words(totals: Totals) -> str:
    """How many checks found nothing, and why: `26 checks passed, 7 not evaluated, 2 not applicable`."""
    others = {"not evaluated": totals.not_evaluated, "not applicable": totals.not_applicable}
    errors = [format_count(totals.errors, "error")] if totals.errors else []
    counts = (f"{count} {words}" for words, count in others.items() if count)
    return ", ".join((f"{format_count(totals.passed, 'check')} passed", *counts, *errors))


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one detector, in report order; never empty."""

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The worst one; title, reason and references are the same in all."""
        return self.results[0]

    @property
    def fix(self) -> str:
        """Markdown: the fix, or that of each model where they differ."""
        names = ((check.fix, "`" + (check.model or "").replace("`", "'") + "`") for check in self.results)
        models = grouped(names)
        if len(models) == 1:
            return self.first.fix
        return "\n\n".join(f"{', '.join(names)}:\n\n{fix}" for fix, names in models.items())

    @property
    def severities(self) -> tuple[str, ...]:
        """Severities that occur, worst first."""
        return tuple(severity for severity in SEVERITIES if any(check.severity == severity for check in self.results))

    @property
    def severity(self) -> str:
        """The worst of them."""
        return self.severities[0]

    @property
    def savings_ns(self) -> int | None:
        """Time that their fixes save together at most; None where that is unknown."""
        return sum_of_known(check.saved_ns for check in self.results)

    @property
    def extra_savings_ns(self) -> int | None:
        """The same once the findings above are fixed."""
        return sum_of_known(check.saved.extra_ns if check.saved else None for check in self.results)

    @property
    def spent_ns(self) -> float | None:
        """The time of the models of which the savings are a part; None where it is another time."""
        saved = [check.saved for check in self.results if check.saved]
        if any(savings.of for savings in saved):
            return None
        return sum(savings.of_ns for savings in saved if savings.share) or None


def sum_of_known(parts: Iterable[int | None]) -> int | None:
    """What is known added up; None where nothing is."""
    numbers = [part for part in parts if part is not None]
    return sum(numbers) if numbers else None


MANY = 8
"""From this number on, checks that need the same are counted, not named."""


class Remedy(NamedTuple):
    """What helps to evaluate checks."""

    checks: tuple[str, ...]
    """As `names` gives them."""
    line: str
    """What to do or, of a single check, why it was not evaluated; the rest of a line."""
    rest: str = ""
    """What the line leaves out and the coverage does not say either, in sentences."""
    about: str = ""
    """What the checks judge, where that says more than their number."""

    @property
    def who(self) -> str:
        """The checks; of many their number and what they are about."""
        if len(self.checks) <= MANY:
            return ", ".join(self.checks)
        return f"{self.about} ({len(self.checks)} checks)" if self.about else f"{len(self.checks)} checks"


def findings(checks: Iterable[Result]) -> tuple[Group, ...]:
    """Findings by detector, the detector with the worst one first."""
    groups = grouped((check.id, check) for check in with_outcome(checks, "finding"))
    return tuple(Group(tuple(group)) for group in groups.values())


def skip_reasons(checks: Iterable[Result]) -> list[tuple[str, str, tuple[Result, ...]]]:
    """What was not evaluated, in the order of the report: the reason, what to record, and the checks. Reasons of the
    same checks that ask for the same count as the first one: they differ in the numbers of each model."""
    groups = grouped(((check.summary, check.record), check) for check in with_outcome(checks, "not_evaluated"))
    alike = grouped(
        ((frozenset(check.id for check in group), record), (reason, group))
        for (reason, record), group in groups.items()
    )
    return [
        (same[0][0], record, tuple(check for _, group in same for check in group))
        for (_, record), same in alike.items()
    ]


def with_outcome(checks: Iterable[Given], outcome: str) -> tuple[Given, ...]:
    """The checks with one outcome."""
    return tuple(check for check in checks if check.outcome == outcome)


def names(checks: Sequence[Result], every: Iterable[Result]) -> tuple[str, ...]:
    """Each detector once; where `every`, the checks of the report, holds it for more models, with the only one of these
    or with how many they are: `an-id (Segmenter)`, `an-id (2 of 5 models)`."""
    counts, totals = (Counter(check.id for check in group if check.model is not None) for group in (checks, every))
    model = {check.id: check.model for check in checks}

    def about(name: str) -> str:
        if not 0 < counts[name] < totals[name]:
            return ""
        if counts[name] == 1:
            return f" ({model[name]})"
        return f" ({counts[name]:,} of {format_count(totals[name], 'model')})"

    return tuple(f"{name}{about(name)}" for name in dict.fromkeys(check.id for check in checks))


OUTCOME_ORDER = ("error", "not_evaluated", "passed", "not_applicable")
"""Order of the results after the findings: what limits the verdict comes first."""


def results_from(judgments: Sequence[Judgment], replays: Replays | None = None) -> tuple[Result, ...]:
    """The results of a report: findings as they are ranked, then the others by outcome, id and model. `replays` of the
    recording say what the fixes of the findings save; without them, that stays unknown."""
    from tracekit.detectors.ranking import rank

    ranked = rank(judgments) if replays is None else rank(replays.answers(judgments), replays.together_ns)
    findings = tuple(
        replace(result_of(entry.judgment), savings=entry.savings, related=entry.related) for entry in ranked
    )
    others = [result_of(entry) for entry in judgments if not isinstance(entry.outcome, outcomes.Finding)]
    others.sort(key=lambda check: (OUTCOME_ORDER.index(check.outcome), check.id, check.model or ""))
    return (*findings, *others)


def result_of(judgment: Judgment) -> Result:
    """The result that reports one answer of one detector, apart from other findings."""
    detector, outcome, caveats = judgment
    page = detector.page
    if isinstance(outcome, outcomes.Finding | outcomes.Passed):
        summary = outcome.summary
    else:
        summary = outcome.error if isinstance(outcome, outcomes.DetectorFailed) else outcome.reason
    finding = outcome if isinstance(outcome, outcomes.Finding) else None
    fix = finding.fix.strip() if finding else ""
    return Result(
        id=detector.id,
        outcome=outcomes.OUTCOME_NAMES[type(outcome)],
        model=outcome.model,
        summary=summary,
        own_fix="" if fix == page.fix.strip() else fix,
        record=outcome.record if isinstance(outcome, outcomes.NotEvaluated) else "",
        rule=_rule(detector.id, page),
        severity=str(outcomes.severity_of(finding))
        if finding and not isinstance(detector, ModelFileDetector)
        else None,
        caveats=caveats,
        metrics=outcome.metrics if isinstance(outcome, outcomes.Finding | outcomes.Passed) else (),
        cost=finding.cost if finding else None,
        savings=finding.savings if finding else None,
        related=(),
        evidence=finding.evidence if finding else (),
        evidence_total=max(finding.evidence_total, len(finding.evidence)) if finding else 0,
        call_sites=finding.call_sites if finding else (),
        resolution_ns=finding.resolution_ns if finding else 0,
        marked=finding.all_evidence.times if finding and finding.all_evidence else Intervals.none(),
    )


@cache
def _rule(name: str, page: Page) -> Rule:
    """The rule of a page: one for all models."""
    return Rule(name, page.title, page.finding_title, str(page.pattern), page.why, page.fix.strip(), page.references)
