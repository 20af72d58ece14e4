"""What a comparison says in one line: what is worse, what is better, and at last what is as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracekit.comparison import words
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.comparison.latency import CHANGED, Answer
from tracekit.documents.compared_figures import (
    Figure,
    durations_of,
    has_equal_work,
    load_error,
    load_time,
    loads_figure,
    total,
)
from tracekit.units import format_count, format_estimate, format_names

if TYPE_CHECKING:
    from tracekit.comparison.comparison import Comparison
    from tracekit.comparison.models import ModelComparison

CHANGES = 3
"""Most models of one answer that the verdict names."""


def summary(comparison: Comparison) -> str:
    """The comparison in one line."""
    return " · ".join(_summary(comparison)) or "nothing to compare"


def _summary(comparison: Comparison) -> Iterator[str]:
    compared = comparison.compared
    if not compared and comparison.models:
        yield "no model in common"
    statuses = {status: [one for one in comparison.findings if one.status is status] for status in FindingStatus}
    counts = {status: len({one.id for one in changes}) for status, changes in statuses.items()}
    if new := statuses[FindingStatus.NEW]:
        worst = ", ".join(filter(None, (f"{new[0].id}{of_models(new[0])}", finding_details(new[0]))))
        severity = f"{'worst: ' if counts[FindingStatus.NEW] > 1 else ''}{new[0].severity}"
        yield f"{format_count(counts[FindingStatus.NEW], 'new finding')} ({severity}): {worst}"
    for wanted in (Answer.REGRESSED, Answer.IMPROVED):
        if names := [name for one in compared if (name := _model_with_answer(one, wanted))]:
            yield f"{wanted}: {format_names(names, CHANGES)}"
    if moved := [f"{one.name} ({words.moved(one)})" for one in compared if words.moved(one)]:
        yield f"moved to another compute unit: {format_names(moved, CHANGES)}"
    if compared and (cause := _load_change(compared)):
        yield f"{_time(compared)}{cause}"
    for status in (FindingStatus.FIXED, FindingStatus.STILL_THERE):
        if count := counts[status]:
            yield f"{format_count(count, 'finding')} {status}"
    for wanted in (Answer.INCONCLUSIVE, Answer.UNCHANGED):
        answered = [one for one in compared if one.latency.answer is wanted and one.p95.answer not in CHANGED]
        if answered:
            which = answered[0].name if len(answered) == 1 else format_count(len(answered), "model")
            if 1 < len(answered) == len(compared):
                which = f"all {which}"
            answers = {words.answer(one.latency) for one in answered}
            yield f"latency of {which} {answers.pop() if len(answers) == 1 else wanted}"
    if count := counts[FindingStatus.NOT_COMPARABLE]:
        yield f"{format_count(count, 'finding')} {FindingStatus.NOT_COMPARABLE}"


def _load_change(compared: Sequence[ModelComparison]) -> str:
    """How loads differ, by number, else by a time that users feel; empty where they do not."""
    every = total(model.time_ns for model in compared)
    error = max(sum(map(load_error, compared)), _FELT * max(every.before or 0, every.after or 0))
    time = Figure("load time", load_time(compared), durations_of(compared), error=error)
    return next((figure.words for figure in (loads_figure(compared), time) if figure.differs), "")


_FELT = 0.1
"""Share of the time in Core ML (heuristic)."""


def _time(compared: Sequence[ModelComparison]) -> str:
    """The time in Core ML, where both sides worked as much and it differs; else empty."""
    known = all(None not in (model.time_ns.before, model.time_ns.after) for model in compared)
    time = Figure("Core ML time", total(model.time_ns for model in compared), durations_of(compared))
    if not known or not has_equal_work(compared) or not time.differs:
        return ""
    return f"{time.words} ({words.percent_change(time.ratio)}): "


def _model_with_answer(model: ModelComparison, wanted: Answer) -> str:
    """The model with the change that has this answer: that of the median, else of the 95th percentile; else empty."""
    if model.latency.answer is wanted:
        return f"{model.name} {words.percent_change(model.latency.ratio)}"
    return f"{model.name} p95 {words.percent_change(model.p95.ratio)}" if model.p95.answer is wanted else ""


def of_models(change: FindingChange) -> str:
    """` (5 models)`: which models a finding is about, behind its name; empty for the recording."""
    return f" ({models})" if (models := words.finding_models(change)) else ""


def finding_details(change: FindingChange) -> str:
    """What a finding could save on the side that has it, and why it cannot be compared, as far as it is known."""
    after_ns = None if change.status is FindingStatus.FIXED else change.savings_after_ns
    savings_ns = after_ns or change.savings_before_ns
    savings = f"est. savings {format_estimate(savings_ns)}" if savings_ns else ""
    return ", ".join(filter(None, (savings, words.rates(change), change.reason)))
