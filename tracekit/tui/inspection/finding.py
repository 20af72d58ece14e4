"""About a check of the report: numbers, cost, how sure it is, what to do, and the evidence one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from tracekit.documents.report_findings import finding_savings
from tracekit.render.prose import parts
from tracekit.report.formatting import ABSENT, OUTCOMES, RELATIONS, condition, exact_moment, quantity, visible
from tracekit.report.groups import rank
from tracekit.tui.inspection.blocks import MEASURES, exact, facts, heading, section
from tracekit.tui.text import Broken, hanging, which_interval
from tracekit.units import format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.detectors.outcomes import Metric
    from tracekit.report.report import Report, Result
    from tracekit.tui.state import FindingRef, Session
    from tracekit.tui.theme import Palette


def finding_blocks(session: Session, ref: FindingRef, palette: Palette) -> Iterator[RenderableType]:
    """All of a check; with an interval of its evidence, that first."""
    check, report = session.check(ref), session.report
    if check is None or report is None:
        return
    if ref.evidence is not None:
        yield from section(f"Evidence {which_interval(check, ref.evidence)}", _interval(check, ref.evidence))
    # The title of a check says what it found, or that all is well: neither is known of one that was not evaluated.
    evaluated = check.outcome in ("finding", "passed")
    yield heading(check.title if evaluated else f"{check.id}: {OUTCOMES[check.outcome]}")
    about = (*_facts(check, report), ("also for", _same_for(report, check)))
    yield facts((name, value) for name, value in about if value)
    yield Text(f"\n{visible(check.summary)}\n")
    for caveat in check.caveats:
        yield Text(f"Note: {visible(caveat)}\n", "italic")
    yield Text(f"{visible(check.why)}\n", "dim")
    if check.metrics:
        yield facts(((metric.name, _metric_text(metric)) for metric in check.metrics), MEASURES)
        yield ""
    if check.cost is not None:
        yield Text(f"{visible(check.cost.basis)}\n", "dim")
    if check.record:
        yield Text(f"To evaluate this: {visible(check.record)}\n")
    if check.fix:
        yield heading("Fix")
        yield from _fix(visible(check.fix, multiline=True), palette)
        yield ""
    for reference in check.references:
        yield Broken(Text(f"{visible(reference.title)}\n{visible(reference.url)}", "dim"))


def _fix(source: str, palette: Palette) -> Iterator[RenderableType]:
    """The Markdown of a fix: paragraphs and items wrap, code keeps its lines."""
    before = ""
    for kind, marker, body in parts(source, palette.code):
        # Items stand together; anything else is set apart.
        if before and not (kind == before == "item"):
            yield ""
        before = kind
        if kind == "code":
            for line in body.split("\n"):
                indent = len(line.plain) - len(line.plain.lstrip())
                yield Padding(line[indent:], (0, 0, 0, 2 + indent)) if line.plain else ""
        else:
            yield hanging([(Text(marker), body)], len(marker)) if marker else body


def _interval(check: Result, number: int) -> Iterator[tuple[str, str]]:
    entry = check.evidence[number]
    yield "event", entry.label
    yield "model", entry.model or ABSENT
    yield "at", exact_moment(entry.start_ns)
    yield "duration", exact(entry.duration_ns)
    yield "keys", ". , to step · F to finding"


def _facts(check: Result, report: Report) -> Iterator[tuple[str, str]]:
    yield "severity", rank(check, report)
    yield "model", check.model or ""
    yield "check", check.id
    if savings := finding_savings(check):
        yield "est. savings", savings
    for other in check.related:
        about = f" of {other.model}" if other.model else ""
        yield RELATIONS[other.relation], f"{other.id}{about} (r to jump)"
    if check.evidence:
        listed = f", {len(check.evidence)} longest listed" if check.evidence_total > len(check.evidence) else ""
        yield "evidence", f"{format_count(check.evidence_total, 'interval')}{listed} (. to step)"


def _same_for(report: Report, check: Result) -> str:
    """The other models that the check says the same about, and other checks not evaluated for the same reason."""
    answer = (check.outcome, check.summary, check.record)
    alike = [
        other
        for other in report.results
        if (other.outcome, other.summary, other.record) == answer and other is not check
    ]
    models = [other.model for other in alike if other.id == check.id and other.model is not None]
    detectors = [other.id for other in alike if other.id != check.id]
    return ", ".join(dict.fromkeys([*models, *detectors]))


def _metric_text(metric: Metric) -> str:
    limit = condition(metric)
    return f"{quantity(metric.value, metric.unit)}{f' (threshold {limit})' if limit else ''}"
