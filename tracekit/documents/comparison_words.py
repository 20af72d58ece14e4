"""What a comparison says of models, findings and recordings, in the words of all of its readable forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.compare import words
from tracekit.compare.findings import FindingStatus
from tracekit.compare.latency import Answer
from tracekit.compare.models import Pair, Presence
from tracekit.report.formatting import listed
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_duration, format_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tracekit.compare.comparison import Comparison
    from tracekit.compare.findings import FindingChange
    from tracekit.compare.latency import LatencyChange
    from tracekit.compare.models import ModelComparison, PartChange

PARTS = 4
"""Most parts of a breakdown that are given in words."""
SOURCES = 6
"""Most recordings of a side that are named."""
NOTABLE = 0.01
"""Least difference of a part that is given, as a share of the latency before."""


def p95(model: ModelComparison) -> str:
    """The 95th percentile, where it can be compared; else empty."""
    change = model.p95
    if change.ratio is None:
        return ""
    numbers = f"{words.latencies(change)}, {words.percent_change(change.ratio)} ({words.interval(change)})"
    return f"{words.answer(change)}, {numbers}"


def answers(models: Iterable[ModelComparison]) -> set[Answer]:
    """What is said of the models on both sides: of their medians, and of percentiles that changed."""
    compared = [model for model in models if model.presence is Presence.BOTH]
    tails = {model.p95.answer for model in compared} & words.CHANGED
    return {model.latency.answer for model in compared} | tails


def not_recorded(comparison: Comparison) -> str:
    """What could make the comparison unfair, and no recording shows."""
    return f"not recorded: {', '.join(comparison.not_recorded)}; a difference would go unnoticed"


def parts(model: ModelComparison) -> str:
    """Where the difference lies: the parts that changed for certain, largest first; empty where none did."""
    min_difference_ns = NOTABLE * (model.latency.before_ns or 0)
    changed = [part for part in model.parts if part.differs and abs(part.difference_ns) >= min_difference_ns]
    changed.sort(key=lambda part: -abs(part.difference_ns))
    return ", ".join(map(_part, changed[:PARTS]))


def _part(part: PartChange) -> str:
    return f"{part.part} {words.signed_duration(part.difference_ns)}"


def facts(model: ModelComparison) -> str:
    """Loads, copies and the like that differ, in one line; empty where none does."""
    rows: list[tuple[str, Pair, Callable[[float], str]]] = [
        ("loads", model.loads, words.number),
        ("load time", model.load_ns, format_duration),
        ("cold load", _medians(model.cold_load), format_duration),
        ("cached load", _medians(model.cached_load), format_duration),
        ("copies per prediction", model.copies, words.number),
        ("most in flight", model.in_flight, words.number),
    ]
    rows += [
        (f"{DEVICE_NAMES[Device(name)]} share of compute", pair, words.share)
        for name, pair in model.units
        if _differs_by_share(pair)
    ]
    return ", ".join(f"{label} {words.pair_words(pair, form)}" for label, pair, form in rows if _differs(pair))


def _medians(change: LatencyChange) -> Pair:
    return Pair(change.before_ns, change.after_ns)


def totals(models: Sequence[ModelComparison]) -> str:
    """Loads and load time of all models together, where they differ; empty where they do not, or for one model."""
    if len(models) < 2:
        return ""
    rows = [
        ("loads", [model.loads for model in models], words.number),
        ("load time", [model.load_ns for model in models], format_duration),
    ]
    sums = ((label, _total(pairs), form) for label, pairs, form in rows)
    return ", ".join(f"{label} {words.pair_words(total, form)}" for label, total, form in sums if _differs(total))


def _total(pairs: Iterable[Pair]) -> Pair:
    known = list(pairs)
    return Pair(sum(pair.before or 0 for pair in known), sum(pair.after or 0 for pair in known))


def _differs(pair: Pair) -> bool:
    """Whether a pair differs by more than a tenth, or is known on one side only."""
    if pair.before is None or pair.after is None:
        return pair.before != pair.after
    return abs(pair.after - pair.before) > 0.1 * max(abs(pair.before), abs(pair.after))


def _differs_by_share(pair: Pair) -> bool:
    return pair.before is not None and pair.after is not None and abs(pair.after - pair.before) >= 0.05


def finding_models(change: FindingChange) -> str:
    """Which models a finding is about: `5 models`, a name, or nothing for the recording."""
    named = [name for name in change.models if name is not None]
    return "" if not named else named[0] if len(named) == 1 else format_count(len(named), "model")


def savings(change: FindingChange) -> str:
    """What a finding could save, on the side that has it."""
    known = [value for value in (change.savings_after_ns, change.savings_before_ns) if value]
    if change.status is FindingStatus.FIXED:
        known = [value for value in (change.savings_before_ns,) if value]
    return f"est. savings {format_estimate(known[0])}" if known else ""


def finding_details(change: FindingChange) -> str:
    """What a finding could save, and why it cannot be compared; empty where neither is known."""
    return ", ".join(filter(None, (savings(change), change.reason)))


def summary(comparison: Comparison) -> str:
    """The comparison in one line."""
    said = []
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    if not compared and comparison.models:
        said.append("no model in common")
    for wanted in (Answer.REGRESSED, Answer.IMPROVED):
        names = [name for one in compared if (name := _model_with_answer(one, wanted))]
        if names:
            said.append(f"{wanted}: {listed(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
    for wanted in (Answer.UNCHANGED, Answer.INCONCLUSIVE):
        count = sum(model.latency.answer is wanted and model.p95.answer not in words.CHANGED for model in compared)
        if count:
            said.append(f"{format_count(count, 'model')} {wanted}")
    loads = _total([model.loads for model in compared])
    if _differs(loads):
        said.append(f"loads {words.pair_words(loads, words.number)}")
    for status in (FindingStatus.NEW, FindingStatus.STILL_THERE, FindingStatus.FIXED, FindingStatus.NOT_COMPARABLE):
        count = len({change.id for change in comparison.findings if change.status is status})
        if count:
            said.append(f"{format_count(count, 'finding')} {status}")
    return " · ".join(said) or "nothing to compare"


def _model_with_answer(model: ModelComparison, wanted: Answer) -> str:
    """The model with the change that has this answer: that of the median, else of the 95th percentile; else empty."""
    if model.latency.answer is wanted:
        return f"{model.name} {words.percent_change(model.latency.ratio)}"
    return f"{model.name} p95 {words.percent_change(model.p95.ratio)}" if model.p95.answer is wanted else ""


def unmatched_models(models: Iterable[ModelComparison]) -> list[str]:
    """Sentences on models that only one side holds, with what may bring them together."""
    groups: dict[Presence, list[str]] = {Presence.ONLY_BEFORE: [], Presence.ONLY_AFTER: []}
    for model in models:
        if model.presence in groups:
            groups[model.presence].append(model.name)
    lines = [f"{presence}: {', '.join(names)}" for presence, names in groups.items() if names]
    if all(groups.values()):
        lines.append("if a model was renamed: --rename OLD=NEW")
    return lines


def sources(names: Sequence[str]) -> str:
    """Names of recordings; of many the first ones, and how many more there are."""
    if len(names) <= SOURCES:
        return ", ".join(names)
    return f"{', '.join(names[: SOURCES - 1])} and {len(names) - SOURCES + 1:,} more"


def method(comparison: Comparison) -> str:
    """How the answers were found, in one sentence."""
    several = max(len(comparison.before), len(comparison.after)) > 1
    how = "Welch's t words.interval on the logarithms of the recordings' medians"
    if not several:
        how = "circular block bootstrap of the median of log latency"
    return f"Method {comparison.method}: {how}; see docs/compare.md."
