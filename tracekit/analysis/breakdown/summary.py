"""Breakdowns of many predictions added up: sums, means and shares of the parts, and which a reader sees as one."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.breakdown.partition import REASONS, Breakdown, Part
from tracekit.analysis.quantities import PART_TITLES
from tracekit.analysis.statistics import exact_sum
from tracekit.columns import Numbers
from tracekit.sorting import distinct_numbers


@dataclass(frozen=True, slots=True)
class PartSummary:
    """One part of the predictions' time. Sums are of the predictions in which it is known; null where it is in none."""

    part: str
    """`neural_engine`, `gpu`, `cpu`: a compute unit worked for it. `data_...`: copies and conversions before, between
    and after that; `data_unplaced`: of predictions without any. `..._queue`: queued for the unit. `..._requested`:
    requested, and not known whether queued or executing. `other`: events with an unknown compute unit. `ambiguous`:
    work for one of several predictions in flight. `unexplained`: no event. `not_recorded`: the same of predictions
    that Core ML did not record."""
    known: int
    """Predictions in which it is known."""
    total_ns: int | None
    """Its time in these."""
    mean_ns: float | None
    """Per prediction in which it is known."""
    share: float | None
    """Of the summed time of all predictions, so that the shares of all parts add up to 1. None where `total_ns` is, and
    where the predictions have no duration."""
    unknown: tuple[str, ...]
    """Why it is not known in the others: the table of the unit is missing or
    unreadable, no row shows when work was requested or when the unit worked, it may have worked for another prediction,
    or the prediction is inferred."""


@dataclass(frozen=True, slots=True)
class BreakdownSummary:
    """Where the time of several predictions went."""

    predictions: int
    """Number of predictions."""
    total_ns: int
    """Their summed durations: what the known parts add up to exactly. Predictions may overlap each other."""
    mean_ns: float
    """Mean duration."""
    parts: tuple[PartSummary, ...]
    """Every part."""
    handoffs: float | None
    """Changes of the compute unit per prediction, as a mean over those in which they are known."""
    handoff_gap_ns: float | None
    """Mean time per prediction at those changes in which no unit worked for it."""
    segments: float | None
    """Distinct operations on the Neural Engine per prediction, as a mean."""
    lead_ns: float | None
    """Mean time before the first work of a compute unit."""
    tail_ns: float | None
    """Mean time after the last work of a compute unit."""
    other_models_ns: int
    """Summed time in which predictions of other models were running too."""


def summarize_breakdown(breakdown: Breakdown) -> BreakdownSummary | None:
    """The predictions of a breakdown together; None where it holds none. O(n)."""
    durations = breakdown.every.duration_ns[breakdown.chosen]
    if not len(durations):
        return None
    total = exact_sum(durations)
    return BreakdownSummary(
        predictions=len(durations),
        total_ns=total,
        mean_ns=total / len(durations),
        parts=tuple(_part(breakdown, part, total) for part in Part),
        handoffs=_mean(breakdown.every.handoffs.take(breakdown.chosen)),
        handoff_gap_ns=_mean(breakdown.every.handoff_gap_ns.take(breakdown.chosen)),
        segments=_mean(breakdown.every.segments.take(breakdown.chosen)),
        lead_ns=_mean(breakdown.every.lead_ns.take(breakdown.chosen)),
        tail_ns=_mean(breakdown.every.tail_ns.take(breakdown.chosen)),
        other_models_ns=exact_sum(breakdown.every.other_models_ns[breakdown.chosen]),
    )


def _part(breakdown: Breakdown, part: Part, all_ns: int) -> PartSummary:
    codes = breakdown.unknown[part]
    values, known = breakdown.part(part).values, codes < 0
    values = values if known.all() else values[known]
    total = exact_sum(values) if len(values) else None
    return PartSummary(
        part=str(part),
        known=len(values),
        total_ns=total,
        mean_ns=None if total is None else total / len(values),
        share=None if total is None or not all_ns else total / all_ns,
        unknown=tuple(str(REASONS[code]) for code in distinct_numbers(codes[codes >= 0]).tolist()),
    )


def _mean(numbers: Numbers) -> float | None:
    known = numbers.values[numbers.known]
    return float(known.mean()) if len(known) else None


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that a reader sees as one."""

    part: str
    """A key of `PART_TITLES`."""
    sign: str
    """Its cells in a bar."""
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """What a reader sees."""
        return PART_TITLES[self.part]


GROUPS: tuple[Group, ...] = (
    Group("neural_engine", "N", (Part.ANE,)),
    Group("gpu", "G", (Part.GPU,)),
    Group("cpu", "C", (Part.CPU,)),
    Group("data", "d", (Part.DATA_BEFORE, Part.DATA_BETWEEN, Part.DATA_AFTER, Part.DATA_UNPLACED)),
    Group("queued", "q", (Part.ANE_QUEUE, Part.GPU_QUEUE)),
    Group("requested", "r", (Part.ANE_REQUESTED, Part.GPU_REQUESTED)),
    Group("other", "o", (Part.OTHER,)),
    Group("ambiguous", "?", (Part.AMBIGUOUS,)),
    Group("unexplained", "·", (Part.UNEXPLAINED,)),
    Group("not_recorded", "-", (Part.NOT_RECORDED,)),
)
"""Every part stands in one of them."""
