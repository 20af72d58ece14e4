"""About a check of the report: numbers, cost, how sure it is, what to do, and the evidence one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report.formatting import OUTCOMES, RELATIONS, condition, duration, quantity, visible
from tracekit.report.renderers.text_layout import markdown
from tracekit.tui.inspection.blocks import MEASURES, exact, facts, heading
from tracekit.tui.text import which_interval
from tracekit.tui.timeline.ruler import exact_moment
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.detectors.outcomes import Metric
    from tracekit.report.report import Check
    from tracekit.tui.state import FindingRef, Session


def finding_blocks(session: Session, ref: FindingRef) -> Iterator[RenderableType]:
    """All of a check; with an interval of its evidence, that first."""
    check = session.check(ref)
    if check is None:
        return
    if ref.evidence is not None:
        yield heading(f"Evidence {which_interval(check, ref.evidence)}")
        yield facts(_interval(check, ref.evidence))
        yield ""
    # The title of a check says what it found, or that all is well: neither is known of one that did not judge.
    judged = check.outcome in ("finding", "passed")
    yield heading(check.title if judged else f"{check.id}: {OUTCOMES[check.outcome]}")
    yield facts((name, value) for name, value in (*_facts(check), ("same for", _same_for(session, check))) if value)
    yield Text(f"\n{visible(check.summary)}\n")
    for caveat in check.caveats:
        yield Text(f"Mind: {visible(caveat)}\n", "italic")
    yield Text(f"{visible(check.why)}\n", "dim")
    if check.metrics:
        yield facts(((metric.name, _measured(metric)) for metric in check.metrics), MEASURES)
        yield ""
    if check.cost is not None:
        yield Text(f"{visible(check.cost.basis)}\n", "dim")
    if check.record:
        yield Text(f"To be able to judge it: {visible(check.record)}\n")
    if check.fix:
        yield heading("Fix")
        yield from markdown(visible(check.fix, multiline=True), 0)
        yield ""
    for reference in check.references:
        yield Text(f"{visible(reference.title)}\n{visible(reference.url)}", "dim")


def _interval(check: Check, number: int) -> Iterator[tuple[str, str]]:
    entry = check.evidence[number]
    length = entry.end_ns - entry.start_ns
    yield "event", entry.label
    yield "model", entry.model or "none named"
    yield "at", exact_moment(entry.start_ns)
    yield "duration", exact(length)
    yield "walk", ". next, , previous, F back to the finding"


def _facts(check: Check) -> Iterator[tuple[str, str]]:
    yield "severity", check.severity or ""
    yield "model", check.model or ""
    yield "check", check.id
    if check.cost is not None:
        whole = f" of {check.cost.of}" if check.cost.of else ""
        yield "could win", f"up to {duration(check.cost.ns)}, {format_share(check.cost.share)}{whole}"
        if check.extra_savings_ns is not None:
            yield "net gain", _net(check.extra_savings_ns, check.cost.ns)
    for other in check.related:
        yield (
            "related",
            f"{RELATIONS[other.relation]}: {other.id}{f' of {other.model}' if other.model else ''} (r goes there)",
        )
    if check.evidence:
        more = f", the longest of {check.evidence_total:,}" if check.evidence_total > len(check.evidence) else ""
        yield "evidence", f"{format_count(len(check.evidence), 'interval')}{more} (. goes through them)"


def _net(extra_savings_ns: int, cost_ns: int) -> str:
    """What a fix saves beyond those of the findings above."""
    if extra_savings_ns == cost_ns:
        return "all of it; no part is counted in findings above"
    if extra_savings_ns == 0:
        return "none; all of it is counted in findings above"
    return f"{duration(extra_savings_ns)}; the rest is counted in findings above"


def _same_for(session: Session, check: Check) -> str:
    """The other models that the detector says the same about, and other detectors that could not look for the same
    reason."""
    checks = session.report.checks if session.report is not None else ()
    said = (check.outcome, check.summary, check.record)
    alike = [other for other in checks if (other.outcome, other.summary, other.record) == said and other is not check]
    models = [other.model for other in alike if other.id == check.id and other.model is not None]
    detectors = [other.id for other in alike if other.id != check.id]
    return ", ".join(dict.fromkeys([*models, *detectors]))


def _measured(metric: Metric) -> str:
    limit = condition(metric)
    return f"{quantity(metric.value, metric.unit)}{f' (limit {limit})' if limit else ''}"
