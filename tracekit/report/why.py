"""What `tracekit why` says: predictions against a usual one, what makes the slowest of a model slow, and the findings
that are about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.analysis.why.explain import FINDINGS, Tail, Why
from tracekit.report.formatting import fix_line
from tracekit.report.redact import redact_values

if TYPE_CHECKING:
    from tracekit.analysis.why.parts import Cause
    from tracekit.report.redact import PrivateFacts
    from tracekit.report.report import Result

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class LinkedFinding:
    """A finding that is about a cause."""

    cause: Cause
    id: str
    """Of the check."""
    title: str
    fix: str
    """The first sentence of its fix."""


@dataclass(frozen=True, slots=True)
class ModelWhy:
    """What is said of one model."""

    model: str
    predictions: tuple[Why, ...]
    tail: Tail | None
    """None where the slowest predictions are too few, or no slower than usual."""
    findings: tuple[LinkedFinding, ...]
    """At most one for each cause that occurs."""

    def finding(self, cause: Cause) -> LinkedFinding | None:
        """The finding about a cause; None where there is none."""
        return next((each for each in self.findings if each.cause == cause), None)


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Everything that leaves the command."""

    schema_version: int
    source: str
    models: tuple[ModelWhy, ...]
    redacted: bool


def main_cause(parts: Iterable[tuple[Cause, int]]) -> Cause | None:
    """The cause with most time; None where nothing is longer than usual."""
    cause, ns = max(parts, key=lambda part: part[1], default=(None, 0))
    return cause if ns > 0 else None


def linked(model: str, results: Sequence[Result], causes: Iterable[Cause]) -> tuple[LinkedFinding, ...]:
    """For each cause the closest finding about a model, or about the whole recording."""
    found = {result.id: result for result in results if result.outcome == "finding" and result.model in (model, None)}
    links = []
    for cause in dict.fromkeys(causes):
        result = next((found[name] for name in FINDINGS[cause] if name in found), None)
        if result is not None:
            links.append(LinkedFinding(cause, result.id, result.title, fix_line(result.fix)))
    return tuple(links)


def why_report(
    source: str, models: Iterable[ModelWhy], facts: PrivateFacts | None, *, functions: bool = True
) -> WhyReport:
    """The report; `facts` is what is private in the recording, None to keep it. Without `functions`, code is left
    out."""
    report = WhyReport(SCHEMA_VERSION, source, tuple(models), facts is not None)
    if not functions:
        report = replace(
            report,
            models=tuple(
                replace(each, predictions=tuple(replace(one, called_from=None) for one in each.predictions))
                for each in report.models
            ),
        )
    return redact_values(report, facts) if facts is not None else report
