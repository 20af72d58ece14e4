"""What a comparison says of models, findings and recordings, in the words of all of its readable forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tracekit.compare import words
from tracekit.compare.findings import FindingChange, FindingStatus
from tracekit.compare.latency import Answer, LatencyChange
from tracekit.compare.models import ModelComparison, Pair, Presence
from tracekit.documents.compared_figures import Figure, exact_figures
from tracekit.units import format_count, format_duration, format_estimate, format_names

if TYPE_CHECKING:
    from tracekit.compare.comparison import Comparison

PARTS = 4
"""Most parts of a breakdown that are given in words."""
CHANGES = 3
"""Most models of one answer that the verdict names."""
NOTABLE = 0.01
"""Least difference of a part that is given, as a share of the latency before."""


def p95(model: ModelComparison) -> str:
    """The 95th percentile, where it can be compared; else empty."""
    return "" if model.p95.ratio is None else f"{words.answer(model.p95)}, {change_words(model.p95)}"


def change_words(change: LatencyChange) -> str:
    """Both latencies, the change and its interval."""
    interval = words.interval(change)
    numbers = f"{words.latencies(change)}, {words.percent_change(change.ratio)}"
    return f"{numbers} ({interval})" if interval else numbers


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
    return ", ".join(f"{part.part} {words.signed_duration(part.difference_ns)}" for part in changed[:PARTS])


def facts(model: ModelComparison) -> str:
    """Loads, copies and the like that differ, in one line; empty where none does."""
    loads, *others = exact_figures(model)
    times = {
        "load time": model.load_ns,
        "cold load": Pair(model.cold_load.before_ns, model.cold_load.after_ns),
        "cached load": Pair(model.cached_load.before_ns, model.cached_load.after_ns),
    }
    return _differing(loads, *(Figure(name, pair, format_duration) for name, pair in times.items()), *others)


def _differing(*figures: Figure) -> str:
    return ", ".join(figure.words for figure in figures if figure.differs)


def totals(models: Sequence[ModelComparison]) -> str:
    """Loads and load time of all models together, where they differ; empty where they do not, or for one model."""
    load_time = Figure("load time", _total([model.load_ns for model in models]), format_duration)
    return _differing(_loads(models), load_time) if len(models) > 1 else ""


def _loads(models: Iterable[ModelComparison]) -> Figure:
    """Loads of all models together."""
    return Figure("loads", _total([model.loads for model in models]))


def _total(pairs: Sequence[Pair]) -> Pair:
    return Pair(sum(pair.before or 0 for pair in pairs), sum(pair.after or 0 for pair in pairs))


def finding_models(change: FindingChange) -> str:
    """Which models a finding is about: `5 models`, a name, or nothing for the recording."""
    named = [name for name in change.models if name is not None]
    return "" if not named else named[0] if len(named) == 1 else format_count(len(named), "model")


def finding_details(change: FindingChange) -> str:
    """What a finding could save on the side that has it, and why it cannot be compared; empty where neither is
    known."""
    after_ns = None if change.status is FindingStatus.FIXED else change.savings_after_ns
    savings_ns = after_ns or change.savings_before_ns
    savings = f"est. savings {format_estimate(savings_ns)}" if savings_ns else ""
    return ", ".join(filter(None, (savings, change.reason)))


def summary(comparison: Comparison) -> str:
    """The comparison in one line."""
    said = []
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    if not compared and comparison.models:
        said.append("no model in common")
    for wanted in (Answer.REGRESSED, Answer.IMPROVED):
        names = [name for one in compared if (name := _model_with_answer(one, wanted))]
        if names:
            said.append(f"{wanted}: {format_names(names, CHANGES)}")
    for wanted in (Answer.UNCHANGED, Answer.INCONCLUSIVE):
        count = sum(model.latency.answer is wanted and model.p95.answer not in words.CHANGED for model in compared)
        if count:
            said.append(f"{format_count(count, 'model')} {wanted}")
    if (loads := _loads(compared)).differs:
        said.append(loads.words)
    for status in FindingStatus:
        count = len({change.id for change in comparison.findings if change.status is status})
        if count:
            said.append(f"{format_count(count, 'finding')} {status}")
    return " · ".join(said) or "nothing to compare"


def _model_with_answer(model: ModelComparison, wanted: Answer) -> str:
    """The model with the change that has this answer: that of the median, else of the 95th percentile; else empty."""
    if model.latency.answer is wanted:
        return f"{model.name} {words.percent_change(model.latency.ratio)}"
    return f"{model.name} p95 {words.percent_change(model.p95.ratio)}" if model.p95.answer is wanted else ""


def unmatched_models(models: Sequence[ModelComparison]) -> list[str]:
    """Sentences on models that only one side holds, with what may bring them together."""
    sides = (Presence.ONLY_BEFORE, Presence.ONLY_AFTER)
    names = (", ".join(model.name for model in models if model.presence is side) for side in sides)
    said = [f"{side}: {known}" for side, known in zip(sides, names, strict=True) if known]
    return [*said, "if a model was renamed: --rename OLD=NEW"] if len(said) == len(sides) else said


def method(comparison: Comparison) -> str:
    """How the answers were found, in one sentence."""
    how = "circular block bootstrap of the median of log latency"
    if max(len(comparison.before), len(comparison.after)) > 1:
        how = "Welch's t interval on the logarithms of the recordings' medians"
    return f"Method {comparison.method}: {how}; see `tracekit compare --help`."
