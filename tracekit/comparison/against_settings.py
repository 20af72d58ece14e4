"""What recordings of a build keep of the limits, findings and suppressions in the settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from tracekit.comparison.figures import Figure, ModelFigures, figure_text, missing, with_basis
from tracekit.comparison.settings import SHARES, CheckSettings, Limit
from tracekit.comparison.verdict import Item, Verdict
from tracekit.detectors.options import matches
from tracekit.report.report import SEVERITIES
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.comparison.measurements import CheckResult, Measurements


def limit_items(models: Sequence[ModelFigures], settings: CheckSettings) -> list[Item]:
    """An item for each limit and model; none without models, which is worth one sentence of its own.

    O(limits · models).
    """
    items: list[Item] = []
    for limit in settings.limits if models else ():
        matching = [entry for entry in models if matches(entry.model, limit.pattern)]
        if not matching:
            text = f"the limit applies to no model: none matches '{limit.pattern}'"
            items.append(Item(Verdict.ERROR, limit.name, None, text, None, limit.setting))
        items += [_limit(limit, entry.model, entry.figures.get(limit.name)) for entry in matching]
    return items


def _limit(limit: Limit, model: str, measured: Figure | None) -> Item:
    is_minimum = limit.name in SHARES
    bound = f"allowed: at {'least' if is_minimum else 'most'} {figure_text(limit.name, limit.value)}"
    if measured is None:
        text = f"{missing(limit.name)}; {bound}"
        return Item(Verdict.INCONCLUSIVE, limit.name, model, text, None, limit.setting, None, limit.value)
    value = measured.value
    is_met = value >= limit.value if is_minimum else value <= limit.value
    verdict = Verdict.PASSED if is_met else Verdict.FAILED
    if (measured.at_least and is_met) or abs(value - limit.value) < measured.error:
        # More may have happened than was seen, and the limit lies within what calls are known to.
        verdict = Verdict.INCONCLUSIVE
    return Item(
        verdict,
        limit.name,
        model,
        f"{with_basis(limit.name, measured)}, {bound}{_distance(limit, value)}",
        None,
        limit.setting,
        value,
        limit.value,
    )


def _distance(limit: Limit, value: float) -> str:
    """How far a value is from its limit, in words, so that a limit that comes closer is seen before it is reached."""
    if limit.name in SHARES:
        points = round((value - limit.value) * 100)
        side = "above" if points >= 0 else "below"
        return f" ({format_count(abs(points), 'point')} {side} the limit)" if points else ""
    if not limit.value or value == limit.value:
        return ""
    percent = (value / limit.value - 1) * 100
    return f" ({abs(percent):.{0 if abs(percent) >= 1 else 1}f}% {'above' if percent > 0 else 'below'} the limit)"


def finding_items(recordings: Sequence[Measurements], settings: CheckSettings, today: date) -> list[Item]:
    """An item for each severity that has a limit. A check that finds something in several models counts once."""
    if not settings.findings:
        return []
    results = [result for recording in recordings for result in recording.checks]
    counted = [one for one in results if one.outcome == "finding" and not settings.suppresses(one.id, one.model, today)]
    items = [
        _findings(severity, counted, results, settings) for severity in SEVERITIES if severity in settings.findings
    ]
    failed = list(dict.fromkeys(result.id for result in results if result.outcome == "error"))
    if failed:
        text = f"{format_count(len(failed), 'check')} failed, so what they would find is unknown: {', '.join(failed)}"
        items.append(Item(Verdict.ERROR, "findings", None, text, "failed checks", ("findings",)))
    if not any(result.outcome in ("finding", "passed") for result in results):
        items.append(
            Item(Verdict.INCONCLUSIVE, "findings", None, "no check could be evaluated", "evaluated", ("findings",))
        )
    return items


def _findings(
    severity: str, counted: Sequence[CheckResult], results: Sequence[CheckResult], settings: CheckSettings
) -> Item:
    ids = dict.fromkeys(result.id for result in counted if result.severity == severity)
    allowed = settings.findings[severity]
    listed = f" ({', '.join(ids)})" if ids else ""
    text = f"{format_count(len(ids), f'{severity} finding')}{listed}, allowed: {allowed}"
    blind = {one.id for one in results if one.outcome == "not_evaluated"} - {
        one.id for one in results if one.outcome in ("finding", "passed")
    }
    if blind:
        text += f"; {format_count(len(blind), 'check')} not evaluated"
    verdict = Verdict.FAILED if len(ids) > allowed else Verdict.PASSED
    return Item(verdict, "findings", None, text, severity, ("findings", severity), len(ids), allowed)


def suppression_items(recordings: Sequence[Measurements], settings: CheckSettings, today: date) -> list[Item]:
    """An item for each suppression that has expired, and for each that hides a finding."""
    findings = [result for recording in recordings for result in recording.checks if result.outcome == "finding"]
    items = []
    for number, entry in enumerate(settings.suppressions):
        setting = ("suppress", number)
        if entry.expires < today:
            text = f"the suppression of {entry.finding} expired on {entry.expires} ({entry.reason})"
            items.append(Item(Verdict.FAILED, "suppression", None, text, entry.finding, setting))
        elif any(entry.covers(result.id, result.model) for result in findings):
            text = f"{entry.finding} does not count until {entry.expires} ({entry.reason})"
            items.append(Item(Verdict.NOT_COUNTED, "suppression", None, text, entry.finding, setting))
    return items
