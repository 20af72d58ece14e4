"""What documents say of checks that are no finding (help needed, passed, not applicable), and the list of all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tracekit.detectors.framework import ListedDetector, ModelFileDetector
from tracekit.detectors.options import option_infos
from tracekit.detectors.pages import Pattern
from tracekit.documents import columns
from tracekit.grouping import grouped
from tracekit.render.blocks import Column, Document, Line, Role, Section, Span, items, present, section, table
from tracekit.report.formatting import OUTCOMES
from tracekit.report.groups import MANY, Remedy, outcome_by_check, with_outcome
from tracekit.report.report import Result
from tracekit.units import format_count

APP, RECORDING, MODEL_FILE = "The app", "The recording itself", "A model file (tracekit inspect)"
REMEDIES = 8
COLUMNS: tuple[Column[Result], ...] = (
    columns.names("check", lambda check: check.id),
    columns.names("model", lambda check: check.model, columns.RECORDING),
    columns.words("result", lambda check: check.summary),
)


def not_evaluated_section(remedies: Sequence[Remedy], checks: Sequence[Result], *, few: bool = False) -> Section | None:
    """What helps to evaluate the checks that were not; then errors, and what the lines leave out. `few`: a short text
    leaves them to its last line."""
    rest: Iterator[Line] = (
        (Span(", ".join(remedy.checks), Role.STRONG), f": {remedy.rest or 'see Coverage'}")
        for remedy in remedies
        if remedy.rest or len(remedy.checks) > MANY
    )
    more = section("Reasons and advice", items(rest), folded=True, paged=True)
    lines: list[Line] = []
    for remedy in remedies:
        parts = re.split(r"(--instrument (?:'[^']*'|\S+))", remedy.line)
        words = (Span(part, Role.CODE) if number % 2 else part for number, part in enumerate(parts))
        lines.append((Span(remedy.who, Role.STRONG), ": ", *words))
    for check in with_outcome(checks, "error"):
        about = f" on {check.model}" if check.model else ""
        lines.append((Span(f"{check.id}, error{about}", Role.BAD), f": {check.summary}"))
    listed = items(lines, 0 if few else REMEDIES)
    counts, some = _counts(checks, "not_evaluated")
    return section(f"Not evaluated{counts if some else ''}", listed, more, name="checks")


def _counts(checks: Sequence[Result], outcome: str) -> tuple[str, int]:
    """How many checks count under an outcome, in words, and how many more answer so for some of the models only."""
    counted = list(outcome_by_check(checks).values()).count(outcome)
    some = len({check.id for check in with_outcome(checks, outcome)}) - counted
    further = f"{f'{some} more' if counted else format_count(some, 'check')} for some models" if some else ""
    every = "" if some and not counted else format_count(counted, "check")
    return f" ({', '.join(filter(None, (every, further)))})", some


def others_section(checks: Sequence[Result], outcome: str, *, of_file: bool = False) -> Section | None:
    """Checks that found nothing, and why; those of a model file, or without models, in a table."""
    answers, words = with_outcome(checks, outcome), OUTCOMES[outcome].capitalize()
    title = f"{words}{_counts(checks, outcome)[0]}"
    nameless = of_file or not any(check.model for check in checks)
    cells = [column for column in COLUMNS if not nameless or column.title != "model"]
    lines: list[Line] = []
    if outcome == "passed":
        # The checks of each model in a line; models with the same ones share it.
        checks_of = grouped((check.model or columns.RECORDING, check.id) for check in answers)
        for alike, models in grouped((tuple(ids), model) for model, ids in checks_of.items()).items():
            lines.append((Span(", ".join(models), Role.STRONG), f": {', '.join(alike)}"))
    else:
        # The first sentences of the reasons, of which a page has the whole, with the models, a line each; checks with
        # the same ones share it.
        every = {check.model for check in checks}
        models_of = grouped(((one.id, re.split(r"[.;] ", one.summary)[0].rstrip(".")), one.model) for one in answers)
        reasons = grouped(((reason, tuple(models)), check) for (check, reason), models in models_of.items())
        for (reason, about), ids in reasons.items():
            named = ", ".join(filter(None, about)) if {None, *about} != every else ""
            lines.append((Span(", ".join(ids), Role.STRONG), f"{named and f' ({named})'}: {reason}"))
    instead = None if nameless else items(lines)
    return section(title, table(f"{words} checks", cells, answers, instead=instead), folded=True)


def checks_document(detectors: Sequence[ListedDetector]) -> Document:
    """Id and finding of each check, those of recordings first."""
    name: Column[ListedDetector] = columns.words(
        "check", lambda detector: f"{detector.id} (from {detector.package})" if detector.package else detector.id
    )
    finding: Column[ListedDetector] = columns.words("finding", lambda detector: detector.page.finding_title)
    cells = (columns.words("about", _about, heading=True), name, finding)
    rows = sorted(detectors, key=lambda detector: (APP, RECORDING, MODEL_FILE).index(_about(detector)))
    blocks = present(table("Checks", cells, rows))
    return Document("Checks", "", Role.PLAIN, blocks=blocks, closing="its page and thresholds: tracekit explain CHECK")


def _about(detector: ListedDetector) -> str:
    if isinstance(detector, ModelFileDetector):
        return MODEL_FILE
    return RECORDING if detector.page.pattern == Pattern.RECORDING else APP


def facts_of(detector: ListedDetector) -> dict[str, Any]:
    """One check as JSON."""
    return {
        "id": detector.id,
        "title": detector.page.title,
        "finding_title": detector.page.finding_title,
        "package": detector.package,
        "pattern": str(detector.page.pattern),
        "needs": list(detector.needs),
        "uses": list(detector.uses),
        "options": [
            {"name": info.name, "default": info.default, "unit": info.unit, "basis": info.basis}
            for info in option_infos(detector)
        ],
    }
