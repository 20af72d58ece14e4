"""What a check of a build can say, of the whole and of each thing that was checked; and the figures of a model that can
have a limit: how each is taken from a recording, and how it is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tracekit.analysis.quantities import MODEL, least
from tracekit.analysis.where.verdict import Answer
from tracekit.analysis.where.words import unit_name
from tracekit.comparison import words
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.measurements import EXACT, Measurements, ModelMeasurements, least_exact, names_of, of_model
from tracekit.comparison.sampling import quantile_interval
from tracekit.comparison.settings import ANY_WORK, NAMES, SHARES, TIMES, CheckSettings, Limit
from tracekit.detectors.inference import from_stacks
from tracekit.detectors.options import matches
from tracekit.units import format_count


class Verdict(StrEnum):
    """What a check of a build says, and each of its items. In the order in which they decide."""

    ERROR = "error"
    """It cannot be said whether the build is good: something that must be there is not."""
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    """There was too little to measure."""
    NOT_COUNTED = "not counted"
    """Of an item alone: seen, said, and allowed by a setting or an option, or unknown to the baseline."""
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was checked."""

    verdict: Verdict
    subject: str
    """What was checked: a limit, `baseline`, `environment`, `findings`, `suppression`, `settings`, `input` or
    `tracekit`."""
    model: str | None
    text: str
    """What was measured and what is allowed, in one sentence without a full stop."""
    about: str | None = None
    """Distinguishes items with one subject and model: a finding as `CHECK:MODEL`, what differs in the environment."""
    setting: tuple[str | int, ...] = ()
    """Keys below the table `check` that lead to the setting that was checked; empty where none did."""
    value: float | None = None
    """What was measured for a limit: ns, a count or a share."""
    allowed: float | None = None
    """The limit, in the same unit."""

    @property
    def title(self) -> str:
        """Model and what was checked of it."""
        if self.setting[:1] == ("findings",) and len(self.setting) > 1:
            return f"{self.about} findings"
        return f"{self.model} {self.subject}" if self.model else self.subject


MANY_PERCENT = 900
"""From so far above a limit on, it is said how many times the limit a value is."""
MIN_COUNTS = {"p50": MIN_PREDICTIONS, "p95": least(0.95)}
"""Fewest predictions for a limit of latency."""

_LOADS = {"load": "cached load", "cold-load": "cold load"}
_MISSING = {
    **{
        name: (f"fewer than {fewest} {{}} with a known latency", "record Core ML for longer")
        for name, fewest in MIN_COUNTS.items()
    },
    **dict.fromkeys(("load", "first-load", "loads"), ("no load was recorded", "record Core ML from before the load")),
    "cold-load": ("no cold load was recorded", "record Core ML from before the load"),
    "copies": ("copies were not recorded", "record Core ML"),
    "in-flight": ("predictions in flight were not recorded", "record Core ML"),
    **dict.fromkeys(SHARES, ("no prediction was recorded", "record Core ML, Neural Engine, GPU and Time Profiler")),
}
"""Why a limit has no evidence, with a place for what is counted, and what to record."""

_QUANTITIES = {
    "p50": "p50_ns",
    "p95": "p95_ns",
    "load": "load_ns",
    "cold-load": "cold_load_ns",
    "first-load": "awaited_load_ns",
}
"""What a limit holds, by its id."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a model: in ns, a count or a share, as its limit is."""

    value: float
    """Of several recordings the median."""
    low: float | None
    """95% interval of the median of one recording; the range of several. None where neither is known."""
    high: float | None
    predictions: int | None
    """Predictions that a latency of one recording rests on; None for anything else."""
    recordings: int
    """Recordings in which it was measured."""
    warm: bool = True
    """Whether a latency is that of warm predictions: of those after a load where there are no others."""
    error: float = 0
    """How far it may be off, where calls are inferred."""
    at_least: bool = False
    """Whether it is a lower bound."""
    resolution_ns: int = 0
    """A duration has no more digits than that."""
    answer: str = ""
    """Of a compute unit `proven`, `refuted` or `unknown`: of several recordings, the one in which it worked least."""
    said: str = ""
    """The same in words."""


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """What was measured of a model."""

    model: str
    counted: str
    """What its latencies are of, as in `ModelMeasurements`."""
    figures: Mapping[str, Figure]
    """By the name of their limit, in the order of `tracekit.comparison.settings.NAMES`."""

    def said(self, name: str, measured: Figure | None) -> str:
        """One figure with what it rests on, or why there is none."""
        if measured is None:
            return _MISSING[name][0].format(self.counted)
        if measured.said:
            return measured.said
        if name == "first-load" and not measured.value:
            return "nothing waited for a load"

        def text(value: float) -> str:
            return figure_text(name, value, measured.resolution_ns)

        several = measured.recordings > 1
        ends = [text(end) for end in (measured.low, measured.high) if end is not None]
        facts = (
            "" if measured.predictions is None else format_count(measured.predictions, self.counted.removesuffix("s")),
            format_count(measured.recordings, "recording") if several else "",
            "" if measured.warm else "each after a load",
            "" if not measured.error else from_stacks(measured.error),
            ("" if several else "95% interval ") + " to ".join(ends) if ends else "",
        )
        basis, bound = ", ".join(filter(None, facts)), "at least " if measured.at_least else ""
        return bound + text(measured.value) + (f" ({basis})" if basis else "")


def figures_of(recordings: Sequence[Measurements]) -> tuple[ModelFigures, ...]:
    """What was measured of each model, in the order of the recordings. O(recordings · models + predictions)."""
    of_models = []
    for name in names_of(recordings):
        entries = of_model(recordings, name)
        figures = {limit: one for limit in NAMES if (one := _figure(limit, entries)) is not None}
        of_models.append(ModelFigures(name, entries[0].counted, figures))
    return tuple(of_models)


def _figure(name: str, entries: Sequence[ModelMeasurements]) -> Figure | None:
    """One figure of a model; None where no recording measured it."""
    if name in SHARES:
        return _unit_figure(name, entries)
    measured = [(entry, value) for entry in entries if (value := _figure_of_one(name, entry)) is not None]
    if not measured:
        return None
    values = [value for _, value in measured]
    is_warm = name not in MIN_COUNTS or all(entry.warm.any() for entry, _ in measured)
    inexact = least_exact(entry.inexact for entry, _ in measured)
    # Without Core ML's rows, calls that overlap may be missing too.
    at_least = inexact.loads_at_least if name == "loads" else name == "in-flight" and inexact != EXACT
    exactness = inexact.error_ns(_QUANTITIES.get(name, "")), at_least, inexact.resolution_ns
    if len(values) > 1:
        return Figure(float(np.median(values)), min(values), max(values), None, len(values), is_warm, *exactness)
    warm = measured[0][0].latency_ns
    low, high = quantile_interval(warm) if name == "p50" else (None, None)
    return Figure(values[0], low, high, len(warm) if name in MIN_COUNTS else None, 1, is_warm, *exactness)


def _unit_figure(unit: str, entries: Sequence[ModelMeasurements]) -> Figure | None:
    """The work of a unit, bounded by the least and the most share of compute that it can have in each recording."""
    known = [(entry.where, entry.where.of(unit)) for entry in entries if entry.where is not None]
    if not known:
        return None
    order = list(Answer)
    where, use = max(known, key=lambda pair: (order.index(Answer(pair[1].answer)), -(pair[1].least_share or 0)))
    unknown = (each for each in where.units if each.answer == Answer.UNKNOWN and use.answer == Answer.PROVEN)
    doubts = (f"{unit_name(each)} unknown: {each.why}" for each in unknown)
    lows, highs = ([getattr(use, name) for _, use in known] for name in ("least_share", "most_share"))
    low, high = (None if None in ends else min(ends) for ends in (lows, highs))
    least, most = (words.share(end) for end in (low or 0.0, 1.0 if high is None else high))
    count, share = format_count(where.predictions, "prediction"), least if least == most else f"{least} to {most}"
    said = {
        Answer.PROVEN: f"{share} of compute, in {use.predictions:,} of {count}",
        Answer.REFUTED: f"none of {count} ran there",
        Answer.UNKNOWN: f"unknown, at most {most} of compute",
    }[Answer(use.answer)]
    why = "; ".join(filter(None, (use.why, *doubts)))
    said += f" ({why})" if why else ""
    return Figure(where.shares().get(unit, 0.0), low, high, None, len(known), answer=use.answer, said=said)


def _figure_of_one(name: str, model: ModelMeasurements) -> float | None:
    """A figure of one recording; None where it was not measured."""
    taken = {
        "first-load": model.awaited_load_ns,
        "loads": model.loads,
        "copies": model.copies_per_prediction,
        "in-flight": model.max_in_flight,
    }
    if name in taken:
        return taken[name]
    if len(model.latency_ns) < MIN_COUNTS.get(name, 0):
        return None
    return MODEL[_QUANTITIES[name]].formula(model.sample)


def figure_text(name: str, value: float, resolution_ns: int = 0) -> str:
    """A value as people read it, a time with the digits that are known."""
    return (words.durations(resolution_ns) if name in TIMES else words.share if name in SHARES else words.number)(value)


def limit_items(models: Sequence[ModelFigures], settings: CheckSettings) -> Iterator[Item]:
    """An item for each limit and model; none without models, which is worth one sentence of its own.

    O(limits · models).
    """
    for limit in settings.limits if models else ():
        # What is no model has neither loads nor copies.
        fitting = [entry for entry in models if entry.counted == "predictions" or limit.name in MIN_COUNTS]
        matching = [entry for entry in fitting if matches(entry.model, limit.pattern)]
        if not matching:
            why = f"none matches '{limit.pattern}'" if fitting else "the recording has no Core ML model"
            text = f"the limit applies to no model: {why}"
            yield Item(Verdict.ERROR, limit.name, None, text, None, limit.setting)
        for entry in matching:
            verdict, text, value = _held(limit, entry)
            yield Item(verdict, limit.name, entry.model, text, None, limit.setting, value, limit.value)


def _held(limit: Limit, entry: ModelFigures) -> tuple[Verdict, str, float | None]:
    measured = entry.figures.get(limit.name)
    text = entry.said(limit.name, measured)
    bound = f"allowed: at {'least' if limit.name in SHARES else 'most'} {figure_text(limit.name, limit.value)}"
    bound = "expected: any work there" if limit.value == ANY_WORK else bound
    if measured is None:
        others = [name for name in _LOADS if name in entry.figures]
        if limit.name in _LOADS and others:
            (other,), count = others, round(entry.figures["loads"].value)
            took = figure_text(other, entry.figures[other].value, entry.figures[other].resolution_ns)
            text = f"no {_LOADS[limit.name]} was recorded, only {format_count(count, _LOADS[other])} (median {took})"
            text += f"; limits that fit: {other}, first-load"
        elif entry.counted == "predictions":
            text += f"; {_MISSING[limit.name][1]}"
        return Verdict.INCONCLUSIVE, f"{text}; {bound}", None
    if measured.answer:
        return _unit_verdict(limit, measured), f"{text}, {bound}", measured.value
    value = measured.value
    is_met = value <= limit.value
    verdict = Verdict.PASSED if is_met else Verdict.FAILED
    if (measured.at_least and is_met) or abs(value - limit.value) < measured.error:
        # More may have happened than was seen, and the limit lies within what calls are known to.
        verdict = Verdict.INCONCLUSIVE
    return verdict, f"{text}, {bound}{_distance(limit, value)}", value


def _unit_verdict(limit: Limit, measured: Figure) -> Verdict:
    """Passed where the least share that the unit can have is enough, failed where the most is not."""
    if limit.value == ANY_WORK:
        of_answer = {Answer.PROVEN: Verdict.PASSED, Answer.REFUTED: Verdict.FAILED}
        return of_answer.get(Answer(measured.answer), Verdict.INCONCLUSIVE)
    if (measured.low or 0) >= limit.value:
        return Verdict.PASSED
    return Verdict.FAILED if measured.high is not None and measured.high < limit.value else Verdict.INCONCLUSIVE


def _distance(limit: Limit, value: float) -> str:
    """How far a value is from its limit, in words, so that a limit that comes closer is seen before it is reached."""
    if limit.name not in TIMES or not limit.value or value in (0, limit.value):
        return ""
    percent = (value / limit.value - 1) * 100
    if percent >= MANY_PERCENT:
        return f" ({value / limit.value:,.0f} times the limit)"
    return f" ({abs(percent):.{0 if abs(percent) >= 1 else 1}f}% {'above' if percent > 0 else 'below'} the limit)"
