"""The verdict on a build: limits, findings, and the comparison with a baseline. Nothing passes in silence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from tracekit.compare.comparison import compare
from tracekit.compare.findings import Status
from tracekit.compare.latency import Answer, Floor, Reason
from tracekit.compare.limits import SHARES, TIMES
from tracekit.compare.models import Presence, compare_model
from tracekit.report.totals import SEVERITIES
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from tracekit.compare.baseline import Baseline
    from tracekit.compare.comparison import Comparison
    from tracekit.compare.limits import CheckSettings, Limit
    from tracekit.compare.measurements import CheckResult, Measurements, ModelMeasurements
    from tracekit.compare.models import ModelComparison

MIN_COUNTS = {"p50": 12, "p95": 20}
"""Fewest warm predictions for a limit of latency."""


class Verdict(StrEnum):
    """What a check of a build says, and each of its items. In the order in which they decide."""

    UNUSABLE = "unusable"
    """It cannot be said whether the build is good: something that must be there is not."""
    FAILED = "failed"
    NOT_ENOUGH_DATA = "not enough data"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was checked."""

    verdict: Verdict
    subject: str
    """What was checked: a limit, `baseline`, `findings`, `suppression`, `input`."""
    model: str | None
    text: str
    """What was measured and what is allowed, in one sentence without a full stop."""
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """All that was checked."""

    verdict: Verdict
    items: tuple[Item, ...]
    """What decides first."""
    comparison: Comparison | None
    """With the baseline; None without one."""


def check(
    recordings: Sequence[Measurements],
    settings: CheckSettings,
    baseline: Baseline | None,
    *,
    today: date,
    allow_environment_change: bool = False,
    allow_missing: Sequence[str] = (),
) -> Gate:
    """Check recordings of one build. `allow_missing` are patterns of models that may be gone since the baseline."""
    items = [
        *_inputs(recordings, settings, baseline),
        *_limits(recordings, settings),
        *_allowed_findings(recordings, settings, today),
        *_expired(recordings, settings, today),
    ]
    comparison = None
    if baseline is not None and recordings:
        comparison = _with_holm(compare(baseline.recordings, recordings), baseline.recordings, recordings)
        items += _against(comparison, baseline, settings, today, allow_environment_change, allow_missing)
    order = list(Verdict)
    items.sort(key=lambda item: order.index(item.verdict))
    return Gate(items[0].verdict if items else Verdict.UNUSABLE, tuple(items), comparison)


def _inputs(recordings: Sequence[Measurements], settings: CheckSettings, baseline: Baseline | None) -> list[Item]:
    items = []
    if not any(model.predictions for recording in recordings for model in recording.models):
        items.append(Item(Verdict.UNUSABLE, "input", None, "no recording holds a prediction, so nothing was checked"))
    if not settings.limits and not settings.findings and baseline is None:
        text = "nothing to check against: set [check.limits] or [check.findings], or give --baseline"
        items.append(Item(Verdict.UNUSABLE, "input", None, text))
    return items


def _limits(recordings: Sequence[Measurements], settings: CheckSettings) -> list[Item]:
    names = dict.fromkeys(model.name for recording in recordings for model in recording.models)
    items = []
    for limit in settings.limits:
        matching = [name for name in names if fnmatchcase(name, limit.pattern)]
        if not matching:
            text = f"the limit applies to no model: none matches '{limit.pattern}'"
            items.append(Item(Verdict.UNUSABLE, limit.name, None, text, limit))
        for name in matching:
            models = [model for recording in recordings for model in recording.models if model.name == name]
            items.append(_limit(limit, name, models))
    return items


def _limit(limit: Limit, name: str, models: Sequence[ModelMeasurements]) -> Item:
    """One limit for one model; of several recordings their median counts."""
    measured = [value for model in models if (value := _measured(limit.name, model)) is not None]
    is_minimum = limit.name in SHARES
    bound = f"{'at least' if is_minimum else 'at most'} {_words(limit.name, limit.value)}"
    if not measured:
        text = f"{_missing(limit.name)}; allowed: {bound}"
        return Item(Verdict.NOT_ENOUGH_DATA, limit.name, name, text, limit)
    value = float(np.median(measured))
    kept = value >= limit.value if is_minimum else value <= limit.value
    text = f"{_words(limit.name, value)}, allowed: {bound}"
    return Item(Verdict.PASSED if kept else Verdict.FAILED, limit.name, name, text, limit)


def _measured(name: str, model: ModelMeasurements) -> float | None:
    """What a limit is held against; None where it was not measured."""
    warm = model.warm_ns if model.warm.any() else model.latencies_ns
    if name in MIN_COUNTS:
        quantile = 0.5 if name == "p50" else 0.95
        return float(np.quantile(warm, quantile)) if len(warm) >= MIN_COUNTS[name] else None
    if name == "load":
        loads = np.concatenate([model.cached_loads_ns, model.other_loads_ns])
        return float(np.median(loads)) if len(loads) else None
    if name == "cold-load":
        return float(np.median(model.cold_loads_ns)) if len(model.cold_loads_ns) else None
    if name == "copies":
        return model.copies / model.predictions if model.copies is not None and model.predictions else None
    if name == "in-flight":
        return model.max_in_flight
    return dict(model.units).get("ane")


def _missing(name: str) -> str:
    if name in MIN_COUNTS:
        return f"fewer than {MIN_COUNTS[name]} predictions with a known latency"
    return {
        "load": "no load was recorded",
        "cold-load": "no cold load was recorded",
        "copies": "copies were not recorded",
        "in-flight": "predictions in flight were not recorded",
        "neural-engine": "the work of the compute units was not recorded",
    }[name]


def _words(name: str, value: float) -> str:
    if name in TIMES:
        return format_duration(value)
    if name in SHARES:
        return f"{value * 100:.0f}%"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _allowed_findings(recordings: Sequence[Measurements], settings: CheckSettings, today: date) -> list[Item]:
    """One item for each severity that has a limit. A check that finds something in several models counts once."""
    items = []
    findings = _findings(recordings)
    for severity in SEVERITIES:
        if severity not in settings.findings:
            continue
        ids = dict.fromkeys(
            result.id
            for result in findings
            if result.severity == severity and not _is_suppressed(result, settings, today)
        )
        allowed = settings.findings[severity]
        listed = f" ({', '.join(ids)})" if ids else ""
        text = f"{format_count(len(ids), f'{severity} finding')}{listed}, allowed: {allowed}"
        items.append(Item(Verdict.FAILED if len(ids) > allowed else Verdict.PASSED, "findings", None, text))
    if settings.findings and recordings and not _evaluated(recordings):
        items.append(Item(Verdict.NOT_ENOUGH_DATA, "findings", None, "no check could be evaluated"))
    return items


def _findings(recordings: Sequence[Measurements]) -> list[CheckResult]:
    return [result for recording in recordings for result in recording.checks if result.outcome == "finding"]


def _evaluated(recordings: Sequence[Measurements]) -> bool:
    return any(result.outcome in ("finding", "passed") for recording in recordings for result in recording.checks)


def _is_suppressed(result: CheckResult, settings: CheckSettings, today: date) -> bool:
    return any(entry.expires >= today and entry.covers(result.id, result.model) for entry in settings.suppressions)


def _expired(recordings: Sequence[Measurements], settings: CheckSettings, today: date) -> list[Item]:
    findings = _findings(recordings)
    items = []
    for entry in settings.suppressions:
        suppressed = [result for result in findings if entry.covers(result.id, result.model)]
        if entry.expires < today:
            text = f"the suppression of {entry.finding} expired on {entry.expires} ({entry.reason})"
            items.append(Item(Verdict.FAILED, "suppression", None, text))
        elif suppressed:
            text = f"{entry.finding} does not count until {entry.expires} ({entry.reason})"
            items.append(Item(Verdict.PASSED, "suppression", None, text))
    return items


def _against(
    comparison: Comparison,
    baseline: Baseline,
    settings: CheckSettings,
    today: date,
    allow_environment_change: bool,
    allow_missing: Sequence[str],
) -> list[Item]:
    """Items of the comparison with the baseline."""
    items = []
    for one in comparison.unfair:
        text = f"{one.what} differs from the baseline: {one.before}, now {one.after}"
        verdict = Verdict.PASSED if allow_environment_change else Verdict.UNUSABLE
        items.append(Item(verdict, "environment", None, text + ("; allowed" if allow_environment_change else "")))
    if not any(model.presence is Presence.BOTH for model in comparison.models):
        text = "the baseline and the recording have no model in common; rename it with --rename, or save a new baseline"
        items.append(Item(Verdict.UNUSABLE, "baseline", None, text))
    items += [item for model in comparison.models if (item := _model(model, allow_missing)) is not None]
    for change in comparison.findings:
        if change.status is not Status.NEW:
            continue
        for model in change.models:
            items.append(_new_finding(change.id, model, baseline, settings, today))
    return items


def _model(model: ModelComparison, allow_missing: Sequence[str]) -> Item | None:
    if model.presence is Presence.ONLY_AFTER:
        return Item(Verdict.PASSED, "baseline", model.name, "new model, not in the baseline")
    if model.presence is Presence.ONLY_BEFORE:
        allowed = any(fnmatchcase(model.name, pattern) for pattern in allow_missing)
        text = "in the baseline, but not in the recording" + ("; allowed" if allowed else "")
        return Item(Verdict.PASSED if allowed else Verdict.FAILED, "baseline", model.name, text)
    change = model.latency
    if change.before_ns is None or change.after_ns is None:
        return Item(Verdict.NOT_ENOUGH_DATA, "baseline", model.name, "no latency to compare")
    verdict = {Answer.REGRESSED: Verdict.FAILED, Answer.NOT_ENOUGH_DATA: Verdict.NOT_ENOUGH_DATA}
    text = f"{change.answer}: {format_duration(change.before_ns)} → {format_duration(change.after_ns)}"
    smallest = smallest_visible(model)
    if smallest is not None:
        text += f"; these recordings could show a change of {smallest * 100:.0f}% or more"
    return Item(verdict.get(change.answer, Verdict.PASSED), "baseline", model.name, text)


def smallest_visible(model: ModelComparison) -> float | None:
    """The smallest change of latency that the comparison could have called one; None where it has no interval."""
    change = model.latency
    if change.low is None or change.high is None or change.before_ns is None or change.after_ns is None:
        return None
    width = math.log(change.high / change.low) / 2
    return math.expm1(max(width, Floor().log(change.before_ns, change.after_ns)))


def _new_finding(check_id: str, model: str | None, baseline: Baseline, settings: CheckSettings, today: date) -> Item:
    name = f"{check_id}:{model}" if model else check_id
    if check_id not in baseline.checks:
        return Item(Verdict.PASSED, "findings", model, f"{name} is new, as is its check: save a new baseline")
    if any(entry.expires >= today and entry.covers(check_id, model) for entry in settings.suppressions):
        return Item(Verdict.PASSED, "findings", model, f"{name} is new, and suppressed")
    return Item(Verdict.FAILED, "findings", model, f"{name} is new since the baseline")


def _with_holm(comparison: Comparison, before: Sequence[Measurements], after: Sequence[Measurements]) -> Comparison:
    """The comparison with changes kept only as far as Holm's procedure keeps them over all models.

    The strongest of m changes must hold at a level of 1 - 0.05/m, the next at 1 - 0.05/(m - 1), and so on; from the
    first that does not on, none counts (Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    changed = [model for model in compared if model.latency.answer in (Answer.REGRESSED, Answer.IMPROVED)]
    changed.sort(key=lambda model: -_strength(model))
    dropped = set()
    for rank, model in enumerate(changed):
        sides = [
            [entry for recording in side if (entry := recording.model(name)) is not None]
            for side, name in ((before, model.name_before), (after, model.name))
        ]
        strict = compare_model(*sides, floor=Floor(), confidence=1 - 0.05 / (len(compared) - rank))
        if strict.latency.answer is not model.latency.answer:
            dropped = {one.name for one in changed[rank:]}
            break
    models = tuple(_doubted(model) if model.name in dropped else model for model in comparison.models)
    return replace(comparison, models=models)


def _strength(model: ModelComparison) -> float:
    """Size of a change against the width of its interval."""
    change = model.latency
    if change.low is None or change.high is None or change.ratio is None:
        return 0.0
    width = math.log(change.high / change.low)
    return abs(math.log(change.ratio)) / width if width else math.inf


def _doubted(model: ModelComparison) -> ModelComparison:
    return replace(model, latency=replace(model.latency, answer=Answer.NOT_ENOUGH_DATA, reason=Reason.WIDE))
