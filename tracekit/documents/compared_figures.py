"""Everything that is compared: of one model, a row each, with before, after, ratio, interval and what changed; and the
comparison in one line, which says what is worse, what is better, and at last what is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tracekit.analysis.quantities import MODEL, PART_TITLES, PARTS, Population, mean_id
from tracekit.comparison import words
from tracekit.comparison.comparison import Comparison
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.comparison.latency import CHANGED, MIN_P95, Answer, LatencyChange
from tracekit.comparison.models import Basis, ModelComparison, Pair
from tracekit.documents import columns
from tracekit.render.blocks import Column, Section, Span, section, table
from tracekit.report.formatting import ABSENT
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_estimate, format_names, format_time

_COMPUTE = {str(Device.ANE): "neural_engine_compute"}
"""Ids of the shares of compute, by compute unit."""
_ABOUT, _CALLS = 0.1, 100
_FELT = 0.1
"""Share of the time in Core ML (heuristic)."""
OF_THE_WHOLE = "parts (mean): unchanged where little for the whole prediction, however much it is for the part"
CHANGES = 3
"""Most models of one answer that the verdict names."""


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

    @property
    def is_open(self) -> bool:
        """Whether a count or a share says nothing of the change."""
        return not self.answer and self.change.startswith(Answer.INCONCLUSIVE)

    def _holds(self, grew: bool) -> bool:
        """Whether a difference in this direction holds for all values above lower bounds too."""
        return not self.at_least[0 if grew else 1]

    @property
    def words(self) -> str:
        """`loads 373 → 5`."""
        pair = words.pair_words(self.pair, self.form)
        if any(self.at_least):
            pair = words.arrow(self.side(0).text, self.side(1).text)
        return f"{self.name.replace(',', '')} {pair}"

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

    def side(self, at: int) -> Span:
        """The figure of one side, 0 before and 1 after."""
        value = (self.pair.before, self.pair.after)[at]
        bound = "at least " if self.at_least[at] else ""
        return Span(ABSENT if value is None else f"{bound}{self.form(value)}", quantity=self.quantity)


COLUMNS: tuple[Column[Figure], ...] = (
    columns.words("figure", lambda row: row.name),
    columns.words("change", lambda row: row.change),
    Column("before", lambda row: row.side(0), lambda row: row.pair.before),
    Column("after", lambda row: row.side(1), lambda row: row.pair.after),
    columns.optional("ratio", lambda row: row.ratio, lambda by: "< 0.01" if 0 < by < 0.005 else f"{by:.2f}", float),
    Column("95% interval", lambda row: ABSENT if row.is_open else row.interval, lambda row: row.low),
)


def figures_section(model: ModelComparison) -> Section | None:
    """Everything that is compared of one model."""
    name = f"All figures of {model.name}"
    prefix = "all_" if model.basis is Basis.ALL else ""
    loads = (("cold_load_ns", model.cold_load), ("", model.cached_load))
    of_parts: list[Figure] = []
    for part in model.parts:
        key = next(key for key, title in PART_TITLES.items() if title == part.part)
        mean = PARTS[mean_id(key, Population.ALL if prefix else Population.WARM)]
        pair, interval = Pair(part.before_ns, part.after_ns), map(words.signed_duration, (part.low_ns, part.high_ns))
        counts = f"{words.floor(model.latency)}{' of the latency' if model.latency.floor is not None else ''}"
        unsure = f" (interval crosses {counts})" if part.answer is Answer.INCONCLUSIVE else ""
        answer = f"{part.answer}{unsure}"
        of_parts.append(
            Figure(mean.label, pair, format_time, mean.id, False, answer, " to ".join(interval), part.low_ns)
        )
    figures = (
        _latency(f"{prefix}p50_ns", model.latency),
        _latency(f"{prefix}p95_ns", model.p95),
        *of_parts,
        *(_latency(quantity, change) for quantity, change in loads if any(map(sum, change.predictions))),
        *(figure for figure in exact_figures(model) if figure.pair != Pair(None, None)),
    )
    grid = table(name, COLUMNS, figures, quantities=True)
    return section(name, grid, note=OF_THE_WHOLE if model.parts else "", folded=True, has_names=True)


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
    measured = [[value for value in side if value is not None] for side in sides]
    before, after = (sum(values) if values else None for values in measured or ([], []))
    return Pair(before, after)


def has_equal_work(models: Sequence[ModelComparison]) -> bool:
    """Whether both sides made about as many predictions: else only rates can be compared."""
    calls = total(model.predictions for model in models)
    more, less = max(calls.before or 0, calls.after or 0), min(calls.before or 0, calls.after or 0)
    return not less or more - less <= _ABOUT * more


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
        sides = ((loads.before, calls.before), (loads.after, calls.after))
        loads = Pair(*(_CALLS * count / of if count is not None and of else None for count, of in sides))
    return Figure(name, loads, less_is_better=True, at_least=(before, after))


def _latency(quantity: str, change: LatencyChange) -> Figure:
    answer = str(change.answer)
    if change.answer is Answer.INCONCLUSIVE:
        needed = f", {MIN_P95} needed" if change.wanted == MIN_P95 else ""
        answer += f" ({words.side_counts(change.predictions, change.counted)}{needed})"
    name, pair = MODEL[quantity].label if quantity else "cached load", Pair(change.before_ns, change.after_ns)
    interval = words.interval(change) or ABSENT
    form = words.durations(change.resolution_ns)
    return Figure(name, pair, form, quantity, answer=answer, interval=interval, low=change.low)


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


def summary(comparison: Comparison) -> str:
    """The comparison in one line."""
    facts: list[str] = []
    compared = comparison.compared
    if not compared and comparison.models:
        facts.append("no model in common")
    statuses = {status: [one for one in comparison.findings if one.status is status] for status in FindingStatus}
    counts = {status: len({one.id for one in changes}) for status, changes in statuses.items()}
    if new := statuses[FindingStatus.NEW]:
        worst = ", ".join(filter(None, (f"{new[0].id}{of_models(new[0])}", finding_details(new[0]))))
        severity = f"{'worst: ' if counts[FindingStatus.NEW] > 1 else ''}{new[0].severity}"
        facts.append(f"{format_count(counts[FindingStatus.NEW], 'new finding')} ({severity}): {worst}")
    for wanted in (Answer.REGRESSED, Answer.IMPROVED):
        names = [
            f"{one.name} {words.percent_change(one.latency.ratio)}"
            if one.latency.answer is wanted
            else f"{one.name} p95 {words.percent_change(one.p95.ratio)}"
            for one in compared
            if wanted in (one.latency.answer, one.p95.answer)
        ]
        if names:
            facts.append(f"{wanted}: {format_names(names, CHANGES)}")
    if moved := [f"{one.name} moved {words.moved(one)}" for one in compared if words.moved(one)]:
        facts.append(format_names(moved, CHANGES))
    if compared and (cause := _load_change(compared)):
        # The time in Core ML is said where both sides worked as much and it differs.
        is_told = all(None not in (model.time_ns.before, model.time_ns.after) for model in compared)
        time = Figure("Core ML time", total(model.time_ns for model in compared), durations_of(compared))
        is_said = is_told and has_equal_work(compared) and time.differs
        facts.append(f"{time.words} ({words.percent_change(time.ratio)}): {cause}" if is_said else cause)
    left = ((status, counts[status]) for status in (FindingStatus.FIXED, FindingStatus.STILL_THERE))
    facts += [f"{format_count(count, 'finding')} {status}" for status, count in left if count]
    for wanted in (Answer.INCONCLUSIVE, Answer.UNCHANGED):
        answered = [one for one in compared if one.latency.answer is wanted and one.p95.answer not in CHANGED]
        if answered:
            which = answered[0].name if len(answered) == 1 else format_count(len(answered), "model")
            if 1 < len(answered) == len(compared):
                which = f"all {which}"
            answers = {words.answer(one.latency) for one in answered}
            facts.append(f"latency of {which} {answers.pop() if len(answers) == 1 else wanted}")
    if count := counts[FindingStatus.NOT_COMPARABLE]:
        facts.append(f"{format_count(count, 'finding')} {FindingStatus.NOT_COMPARABLE}")
    return " · ".join(facts) or "nothing to compare"


def _load_change(compared: Sequence[ModelComparison]) -> str:
    """How loads differ, by number, else by a time that users feel; empty where they do not."""
    every = total(model.time_ns for model in compared)
    error = max(sum(map(load_error, compared)), _FELT * max(every.before or 0, every.after or 0))
    time = Figure("load time", load_time(compared), durations_of(compared), error=error)
    return next((figure.words for figure in (loads_figure(compared), time) if figure.differs), "")


def of_models(change: FindingChange) -> str:
    """` (5 models)`: which models a finding is about, behind its name; empty for the recording."""
    return f" ({models})" if (models := words.finding_models(change)) else ""


def finding_details(change: FindingChange) -> str:
    """What a finding could save on the side that has it, and why it cannot be compared, as far as it is known."""
    after_ns = None if change.status is FindingStatus.FIXED else change.savings_after_ns
    savings_ns = after_ns or change.savings_before_ns
    savings = f"est. savings {format_estimate(savings_ns)}" if savings_ns else ""
    return ", ".join(filter(None, (savings, words.rates(change), change.reason)))
