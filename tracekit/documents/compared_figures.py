"""Everything that is compared of one model, a row each: before, after, ratio, interval and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tracekit.analysis.quantities import MODEL, PART_TITLES, PARTS, Population, mean_id
from tracekit.comparison import words
from tracekit.comparison.latency import MIN_P95, Answer, LatencyChange
from tracekit.comparison.models import Basis, ModelComparison, Pair, PartChange
from tracekit.documents import columns
from tracekit.render.blocks import Column, Section, Span, section, table
from tracekit.report.formatting import ABSENT
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_duration

_COMPUTE = {str(Device.ANE): "neural_engine_compute"}
"""Ids of the shares of compute, by compute unit."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both sides."""

    name: str
    pair: Pair
    form: Callable[[float], str] = words.number
    quantity: str = ""
    """Id of what it is; empty where it has none."""
    less_is_better: bool = False
    answer: str = ""
    """What a comparison says of it; empty for a count or a share, whose two values say it."""
    interval: str = "exact"
    """Of the change; a count has none."""
    low: float | None = None
    """The lower end of the interval, by which it is sorted."""
    error: float = 0
    """How far both sides together may be off."""
    at_least: tuple[bool, bool] = (False, False)
    """Whether the value before, and the one after, is a lower bound."""

    @property
    def differs(self) -> bool:
        """Whether it differs by more than a tenth, a share by five points too, or is known on one side only."""
        before, after = self.pair.before, self.pair.after
        if before is None or after is None:
            return before != after and self.form is not words.share and not any(self.at_least)
        difference = abs(after - before)
        if difference <= self.error or not self._holds(after > before):
            return False
        return difference > 0.1 * max(abs(before), abs(after)) and (self.form is not words.share or difference >= 0.05)

    def _holds(self, grew: bool) -> bool:
        """Whether a difference in this direction holds for all values above lower bounds too."""
        return not self.at_least[0 if grew else 1]

    @property
    def words(self) -> str:
        """`loads 373 → 5`."""
        sides = (self.side(value, at).text for at, value in enumerate((self.pair.before, self.pair.after)))
        return f"{self.name.replace(',', '')} {words.arrow(*sides)}"

    @property
    def change(self) -> str:
        """What changed."""
        before, after = self.pair.before, self.pair.after
        if self.answer:
            return self.answer
        if before is None or after is None:
            return f"{Answer.INCONCLUSIVE} (not recorded on one side)"
        if any(self.at_least) and not (before != after and self._holds(after > before)):
            return f"{Answer.INCONCLUSIVE} (counts are lower bounds)"
        if self.form(before) == self.form(after):
            return str(Answer.UNCHANGED)
        if self.less_is_better:
            return str(Answer.IMPROVED if after < before else Answer.REGRESSED)
        return "changed, neither better nor worse"

    @property
    def ratio(self) -> float | None:
        """After by before."""
        before, after = self.pair.before, self.pair.after
        return after / before if before and after is not None else None

    def side(self, value: float | None, at: int) -> Span:
        """The figure of one side, 0 before and 1 after."""
        bound = "at least " if self.at_least[at] else ""
        return Span(ABSENT if value is None else f"{bound}{self.form(value)}", quantity=self.quantity)


def _ratio(ratio: float | None) -> str:
    return ABSENT if ratio is None else "< 0.01" if 0 < ratio < 0.005 else f"{ratio:.2f}"


COLUMNS: tuple[Column[Figure], ...] = (
    columns.words("figure", lambda row: row.name),
    columns.words("change", lambda row: row.change),
    Column("before", lambda row: row.side(row.pair.before, 0), lambda row: row.pair.before),
    Column("after", lambda row: row.side(row.pair.after, 1), lambda row: row.pair.after),
    columns.numbers("ratio", lambda row: row.ratio, _ratio),
    Column("95% interval", lambda row: row.interval, lambda row: row.low),
)


def figures_section(model: ModelComparison) -> Section | None:
    """Everything that is compared of one model."""
    name = f"All figures of {model.name}"
    return section(name, table(name, COLUMNS, _figures(model)), folded=True, has_names=True)


def _figures(model: ModelComparison) -> Iterator[Figure]:
    """The figures that a side has."""
    prefix = "all_" if model.basis is Basis.ALL else ""
    yield _latency(f"{prefix}p50_ns", model.latency, "predictions")
    yield _latency(f"{prefix}p95_ns", model.p95, "predictions")
    for part in model.parts:
        yield _part(part, Population.ALL if prefix else Population.WARM)
    for name, change in (("cold_load_ns", model.cold_load), ("", model.cached_load)):
        if any(map(sum, change.predictions)):
            yield _latency(name, change, "loads")
    yield from (figure for figure in exact_figures(model) if figure.pair != Pair(None, None))


def exact_figures(model: ModelComparison) -> tuple[Figure, ...]:
    """The counts and shares of a model, which have no interval; its loads first."""
    return (
        loads_figure([model]),
        Figure("copies per prediction", model.copies, less_is_better=True),
        Figure("most in flight", model.in_flight),
        *(
            Figure(f"{DEVICE_NAMES[Device(unit)]}, share of compute", pair, words.share, _COMPUTE.get(unit, ""))
            for unit, pair in model.units
        ),
    )


def total(pairs: Iterable[Pair]) -> Pair:
    """The sum of pairs; None for a side that none knows."""
    sides = zip(*((one.before, one.after) for one in pairs), strict=True)
    known = [[value for value in side if value is not None] for side in sides]
    before, after = (sum(values) if values else None for values in known or ([], []))
    return Pair(before, after)


def has_equal_work(models: Sequence[ModelComparison]) -> bool:
    """Whether both sides made about as many predictions: else only rates can be compared."""
    calls = total(model.predictions for model in models)
    more, less = max(calls.before or 0, calls.after or 0), min(calls.before or 0, calls.after or 0)
    return not less or more - less <= _ABOUT * more


_ABOUT = 0.1


def loads_figure(models: Sequence[ModelComparison]) -> Figure:
    """Loads of models together; by predictions where a side made more of them. The first load of each model comes
    however long a recording is: where a side has no others, only the others are compared."""
    loads, calls = total(model.loads for model in models), total(model.predictions for model in models)
    before, after = (any(model.inexact[side].loads_at_least for model in models) for side in (0, 1))
    name, first = "loads", len(models)
    if not has_equal_work(models) and max(loads.before or 0, loads.after or 0) > first:
        name = f"loads per {_CALLS} predictions"
        if min(loads.before or 0, loads.after or 0) <= first:
            name = f"re{name}"
            loads = Pair(*(None if count is None else max(count - first, 0) for count in (loads.before, loads.after)))
        loads = Pair(_rate(loads.before, calls.before), _rate(loads.after, calls.after))
    return Figure(name, loads, less_is_better=True, at_least=(before, after))


_CALLS = 100


def _rate(count: float | None, calls: float | None) -> float | None:
    return _CALLS * count / calls if count is not None and calls else None


def _latency(quantity: str, change: LatencyChange, noun: str) -> Figure:
    said = str(change.answer)
    if change.answer is Answer.INCONCLUSIVE:
        needed = f", {MIN_P95} needed" if change.wanted == MIN_P95 else ""
        said += f" ({words.side_counts(change.predictions, noun)}{needed})"
    name, pair = MODEL[quantity].label if quantity else "cached load", Pair(change.before_ns, change.after_ns)
    interval = words.interval(change) or ABSENT
    form = words.durations(change.resolution_ns)
    return Figure(name, pair, form, quantity, answer=said, interval=interval, low=change.low)


def _part(part: PartChange, population: Population) -> Figure:
    key = next(key for key, title in PART_TITLES.items() if title == part.part)
    mean = PARTS[mean_id(key, population)]
    pair, interval = Pair(part.before_ns, part.after_ns), map(words.signed_duration, (part.low_ns, part.high_ns))
    answer = str(part.answer)
    return Figure(mean.label, pair, format_duration, mean.id, False, answer, " to ".join(interval), part.low_ns)


def durations_of(models: Sequence[ModelComparison]) -> Callable[[float], str]:
    """Writes durations with the digits that are known of all these models."""
    return words.durations(max(model.resolution_ns for model in models))


def load_time(models: Sequence[ModelComparison]) -> Pair:
    """Summed time of loads; unknown where a side has more of them as it recorded for longer."""
    loads = total(model.loads for model in models)
    is_fair = has_equal_work(models) or loads.before == loads.after
    return total(model.load_ns for model in models) if is_fair else Pair(None, None)


def load_error(model: ModelComparison) -> float:
    """How far the summed loads of both sides together may be off."""
    counts = (model.loads.before, model.loads.after)
    return sum((count or 0) * side.load_ns for count, side in zip(counts, model.inexact, strict=True))
