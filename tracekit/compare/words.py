"""What a comparison says, in the words that all of its readable forms share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.compare.findings import FindingStatus
from tracekit.compare.latency import MIN_PREDICTIONS, Answer, Reason
from tracekit.compare.models import Pair, Presence
from tracekit.report.formatting import ABSENT, listed
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
ARROW = "→"
CHANGED = frozenset((Answer.REGRESSED, Answer.IMPROVED))


def arrow(before: str, after: str) -> str:
    """`before → after`."""
    return f"{before} {ARROW} {after}"


def percent_change(ratio: float | None) -> str:
    """A ratio as a signed change: `+10%`, `−0.4%`; `–` where it is not known."""
    if ratio is None:
        return ABSENT
    percent = (ratio - 1) * 100
    digits = 0 if abs(percent) >= 9.95 else 1
    text = f"{abs(percent):,.{digits}f}%"
    zero = not float(text.rstrip("%").replace(",", ""))
    return text if zero else f"{'+' if percent > 0 else '−'}{text}"


def interval(change: LatencyChange) -> str:
    """The interval of a ratio as changes: `−31% to −29%`; empty where there is none."""
    if change.low is None or change.high is None:
        return ""
    return f"{percent_change(change.low)} to {percent_change(change.high)}"


def reason(change: LatencyChange) -> str:
    """Why an answer is inconclusive, and what would help; empty where it is not."""
    if change.reason is None:
        return ""
    more = f"; record at least {format_count(change.wanted, 'prediction')} a side" if change.wanted else ""
    if change.reason in (Reason.WIDE, Reason.SMALL) and change.effective is None:
        more = "; compare more recordings a side"
    few = min(change.counts) < MIN_PREDICTIONS
    words = {
        Reason.MISSING: "no latency on one side",
        Reason.FEW: (
            f"{min(change.counts)} predictions, {MIN_PREDICTIONS} needed"
            if few
            else f"neighboring predictions depend on each other; they are worth {_worth(change)} independent ones"
        ),
        Reason.WIDE: "the interval is too wide to tell",
        Reason.SMALL: f"changed, but maybe by less than {_floor(change)}",
        Reason.NOT_STEADY: "not steady; one recording changes by as much within itself",
        Reason.MODES: "latencies gather around several values",
    }
    return words[change.reason] + more


def _floor(change: LatencyChange) -> str:
    return "what counts" if change.floor is None else f"{change.floor * 100:.2g}%"


def _worth(change: LatencyChange) -> str:
    return ABSENT if change.effective is None else f"{min(change.effective):.0f}"


def measured(change: LatencyChange) -> str:
    """How many values the answer rests on: `139 and 139 predictions`."""
    noun = "recordings" if change.effective is None and change.low is not None else "predictions"
    worth = ""
    if change.effective is not None and any(
        effective < 0.9 * count for effective, count in zip(change.effective, change.counts, strict=True)
    ):
        worth = ", worth " + " and ".join(f"{effective:.0f}" for effective in change.effective) + " independent ones"
    return f"{change.counts[0]:,} and {change.counts[1]:,} {noun}{worth}"


def latencies(change: LatencyChange) -> str:
    """Medians before and after."""
    return arrow(
        *(ABSENT if value is None else format_duration(value) for value in (change.before_ns, change.after_ns))
    )


def answer(change: LatencyChange) -> str:
    """The answer with its size: `improved by 30%`, `unchanged within ±5%`."""
    if change.answer in CHANGED:
        return f"{change.answer} by {percent_change(change.ratio).lstrip('+−')}"
    if change.answer is Answer.UNCHANGED and change.floor is not None:
        return f"{change.answer} within ±{_floor(change)}"
    return str(change.answer)


def p95(model: ModelComparison) -> str:
    """The 95th percentile, where it can be compared; else empty."""
    change = model.p95
    if change.ratio is None:
        return ""
    return f"{answer(change)}, {latencies(change)}, {percent_change(change.ratio)} ({interval(change)})"


def answers(models: Iterable[ModelComparison]) -> set[Answer]:
    """What is said of the models on both sides: of their medians, and of percentiles that changed."""
    compared = [model for model in models if model.presence is Presence.BOTH]
    tails = {model.p95.answer for model in compared} & CHANGED
    return {model.latency.answer for model in compared} | tails


def not_recorded(comparison: Comparison) -> str:
    """What could make the comparison unfair, and no recording shows."""
    return f"not recorded: {', '.join(comparison.not_recorded)}; a difference would not be seen"


def parts(model: ModelComparison) -> str:
    """Where the difference lies: the parts that changed for certain, largest first; empty where none did."""
    min_difference_ns = NOTABLE * (model.latency.before_ns or 0)
    changed = [part for part in model.parts if part.differs and abs(part.difference_ns) >= min_difference_ns]
    changed.sort(key=lambda part: -abs(part.difference_ns))
    return ", ".join(map(_part, changed[:PARTS]))


def _part(part: PartChange) -> str:
    return f"{part.part} {signed_duration(part.difference_ns)}"


def signed_duration(time_ns: float) -> str:
    """A difference of times: `+512.15 µs`, `−3.61 ms`."""
    return f"{'+' if time_ns > 0 else '−'}{format_duration(abs(time_ns))}"


def facts(model: ModelComparison) -> str:
    """Loads, copies and the like that differ, in one line; empty where none does."""
    rows: list[tuple[str, Pair, Callable[[float], str]]] = [
        ("loads", model.loads, number),
        ("load time", model.load_ns, format_duration),
        ("cold load", _medians(model.cold_load), format_duration),
        ("cached load", _medians(model.cached_load), format_duration),
        ("copies per prediction", model.copies, number),
        ("most in flight", model.in_flight, number),
    ]
    rows += [
        (f"{DEVICE_NAMES[Device(name)]} share of compute", pair, share)
        for name, pair in model.units
        if _differs_by_share(pair)
    ]
    return ", ".join(f"{label} {pair_words(pair, form)}" for label, pair, form in rows if _differs(pair))


def _medians(change: LatencyChange) -> Pair:
    return Pair(change.before_ns, change.after_ns)


def pair_words(pair: Pair, form: Callable[[float], str]) -> str:
    """`373 → 5`."""
    before, after = (ABSENT if value is None else form(value) for value in (pair.before, pair.after))
    return arrow(before, after)


def totals(models: Sequence[ModelComparison]) -> str:
    """Loads and load time of all models together, where they differ; empty where they do not, or for one model."""
    if len(models) < 2:
        return ""
    rows = [
        ("loads", [model.loads for model in models], number),
        ("load time", [model.load_ns for model in models], format_duration),
    ]
    words = []
    for label, pairs, form in rows:
        total = _total(pairs)
        if _differs(total):
            words.append(f"{label} {pair_words(total, form)}")
    return ", ".join(words)


def _total(pairs: Iterable[Pair]) -> Pair:
    known = list(pairs)
    return Pair(sum(pair.before or 0 for pair in known), sum(pair.after or 0 for pair in known))


def number(value: float) -> str:
    """A count, or the mean of several."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def share(value: float) -> str:
    """A share in percent."""
    return f"{value * 100:.0f}%"


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
    words = []
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    if not compared and comparison.models:
        words.append("no model in common")
    for wanted in (Answer.REGRESSED, Answer.IMPROVED):
        names = [name for one in compared if (name := _model_with_answer(one, wanted))]
        if names:
            words.append(f"{wanted}: {listed(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
    for wanted in (Answer.UNCHANGED, Answer.INCONCLUSIVE):
        count = sum(model.latency.answer is wanted and model.p95.answer not in CHANGED for model in compared)
        if count:
            words.append(f"{format_count(count, 'model')} {wanted}")
    loads = _total([model.loads for model in compared])
    if _differs(loads):
        words.append(f"loads {pair_words(loads, number)}")
    for status in (FindingStatus.NEW, FindingStatus.STILL_THERE, FindingStatus.FIXED, FindingStatus.NOT_COMPARABLE):
        count = len({change.id for change in comparison.findings if change.status is status})
        if count:
            words.append(f"{format_count(count, 'finding')} {status}")
    return " · ".join(words) or "nothing to compare"


def _model_with_answer(model: ModelComparison, wanted: Answer) -> str:
    """The model with the change that has this answer: that of the median, else of the 95th percentile; else empty."""
    if model.latency.answer is wanted:
        return f"{model.name} {percent_change(model.latency.ratio)}"
    return f"{model.name} p95 {percent_change(model.p95.ratio)}" if model.p95.answer is wanted else ""


def unmatched(models: Iterable[ModelComparison]) -> list[str]:
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
    how = "Welch's t interval on the logarithms of the recordings' medians"
    if not several:
        how = "circular block bootstrap of the median of log latency"
    return f"Method {comparison.method}: {how}; see docs/compare.md."
