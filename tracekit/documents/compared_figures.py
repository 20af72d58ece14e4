"""Everything that is compared of one model, a row each: before, after, ratio, interval and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tracekit.analysis.quantities import MODEL, PART_TITLES, PARTS, Population, mean_id
from tracekit.compare import words
from tracekit.compare.latency import MIN_P95, Answer
from tracekit.compare.models import Basis, Pair
from tracekit.report.formatting import ABSENT
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tracekit.compare.latency import LatencyChange
    from tracekit.compare.models import ModelComparison, PartChange

TITLES = ("figure", "answer", "before", "after", "ratio", "95% interval")
WORDS = 2
"""How many columns hold words, not numbers."""
_COMPUTE = {str(Device.ANE): "neural_engine_compute"}
EXACT = "exact"
"""In place of an interval: a count has none."""


class Shown(NamedTuple):
    """What a reader sees, the number that it stands for, and the id of what it is."""

    text: str
    value: float | None = None
    quantity: str = ""


def compared_figures(model: ModelComparison) -> Iterator[tuple[Shown, ...]]:
    """The rows of one model, in the order of `TITLES`; without figures that neither side has."""
    prefix = "all_" if model.basis is Basis.ALL else ""
    yield _latency(f"{prefix}p50_ns", model.latency, "predictions")
    yield _latency(f"{prefix}p95_ns", model.p95, "predictions")
    for part in model.parts:
        yield _part(part, Population.ALL if prefix else Population.WARM)
    for name, change in (("cold_load_ns", model.cold_load), ("", model.cached_load)):
        if any(change.counts):
            yield _latency(name, change, "loads")
    yield from _exact("loads", model.loads, words.number, less_is_better=True)
    yield from _exact("copies per prediction", model.copies, words.number, less_is_better=True)
    yield from _exact("most predictions in flight", model.in_flight, words.number)
    for unit, pair in model.units:
        yield from _exact(f"{DEVICE_NAMES[Device(unit)]}, share of compute", pair, words.share, _COMPUTE.get(unit, ""))


def _latency(quantity: str, change: LatencyChange, noun: str) -> tuple[Shown, ...]:
    answer = str(change.answer)
    if change.answer is Answer.INCONCLUSIVE:
        counted = noun if change.effective is not None or change.low is None else "recordings"
        needed = f", {MIN_P95} needed" if change.wanted == MIN_P95 else ""
        answer += f" ({change.counts[0]:,} and {change.counts[1]:,} {counted}{needed})"
    interval = Shown(words.interval(change) or ABSENT, change.low)
    times = Pair(change.before_ns, change.after_ns)
    name = MODEL[quantity].label if quantity else "cached load"
    return _row(name, answer, times, format_duration, interval, quantity)


def _part(part: PartChange, population: Population) -> tuple[Shown, ...]:
    interval = " to ".join(words.signed_duration(value) for value in (part.low_ns, part.high_ns))
    times = Pair(part.before_ns, part.after_ns)
    key = next(key for key, title in PART_TITLES.items() if title == part.part)
    mean = PARTS[mean_id(key, population)]
    return _row(mean.label, str(part.answer), times, format_duration, Shown(interval, part.low_ns), mean.id)


def _exact(
    name: str, pair: Pair, form: Callable[[float], str], quantity: str = "", *, less_is_better: bool = False
) -> Iterator[tuple[Shown, ...]]:
    if pair.before is None and pair.after is None:
        return
    if pair.before is None or pair.after is None:
        answer = f"{Answer.INCONCLUSIVE} (not recorded on one side)"
    elif form(pair.before) == form(pair.after):
        answer = str(Answer.UNCHANGED)
    elif less_is_better:
        answer = str(Answer.IMPROVED if pair.after < pair.before else Answer.REGRESSED)
    else:
        answer = "changed, neither better nor worse"
    yield _row(name, answer, pair, form, Shown(EXACT), quantity)


def _row(
    name: str, answer: str, pair: Pair, form: Callable[[float], str], interval: Shown, quantity: str = ""
) -> tuple[Shown, ...]:
    sides = (Shown(ABSENT if value is None else form(value), value, quantity) for value in (pair.before, pair.after))
    ratio = pair.after / pair.before if pair.before and pair.after is not None else None
    shown = ABSENT if ratio is None else "< 0.01" if 0 < ratio < 0.005 else f"{ratio:.2f}"
    return (Shown(name), Shown(answer), *sides, Shown(shown, ratio), interval)
