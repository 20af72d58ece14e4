"""Where the time of each model's predictions went, in words and bars for all readable formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.analysis.breakdown.partition import Part, Unknown
from tracekit.analysis.breakdown.summary import GROUPS, BreakdownSummary, Group, PartSummary
from tracekit.analysis.quantities import mean_id
from tracekit.report import formatting
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_percent, format_share, format_time

if TYPE_CHECKING:
    from tracekit.analysis.models import ModelSummary

TITLE = "Where the time of a prediction goes"

SHOWN = ("p50_ns", "p95_ns")
"""Latencies in the tables of models, of reports and of `view`, by id; the first ones stay longest."""

AT_LEAST = "≥ "
"""Stands before time that is known for some predictions or units only."""


WORTH_SAYING = 0.1
"""Least share of a prediction's time that a headline names (heuristic)."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What a group took of one model's predictions."""

    group: Group
    mean_ns: float
    """Per prediction."""
    share: float
    """Of their time."""
    incomplete: bool
    """Whether some of it is not known."""

    @property
    def quantity(self) -> str:
        """Id of its mean time: it is of all predictions."""
        return mean_id(self.group.part)

    @property
    def words(self) -> str:
        """Time and share."""
        prefix = AT_LEAST if self.incomplete else ""
        return f"{prefix}{format_time(self.mean_ns)} ({format_share(self.share)})"


@dataclass(frozen=True, slots=True)
class PartsRow:
    """One model that the app called."""

    name: str
    mean_ns: float
    slices: tuple[Slice, ...]
    """What took time, in the order of `GROUPS`; together the whole."""
    parts: tuple[PartSummary, ...]
    quantities: Mapping[str, float | None]
    """Numbers of the model, by id."""
    preparing_share: float = 0.0
    """Part of the time in which it was specialized, of what no row explains."""

    def bar(self, cells: int) -> str:
        """The slices drawn in so many cells: whole cells first, the rest by largest remainder."""
        exact = [part.share * cells for part in self.slices]
        cells_of_parts = [int(amount) for amount in exact]
        by_remainder = sorted(range(len(cells_of_parts)), key=lambda index: cells_of_parts[index] - exact[index])
        for index in by_remainder[: cells - sum(cells_of_parts)]:
            cells_of_parts[index] += 1
        return "".join(part.group.sign * size for part, size in zip(self.slices, cells_of_parts, strict=True))

    @property
    def large(self) -> list[Slice]:
        """The groups that took most, largest first."""
        return sorted((part for part in self.slices if part.share >= WORTH_SAYING), key=lambda part: -part.share)

    @property
    def headline(self) -> str:
        """The groups that took most, in whole percent; what samples show of the unexplained by its own name."""
        said = []
        for part in self.large:
            share = part.share
            if part.group.part == "unexplained" and self.preparing_share >= WORTH_SAYING:
                said.append(f"specialization {format_percent(min(self.preparing_share, share))}")
                share -= min(self.preparing_share, share)
                if share < WORTH_SAYING:
                    continue
            said.append(f"{part.group.name} {AT_LEAST if part.incomplete else ''}{format_percent(share)}")
        return ", ".join(said)

    @property
    def sentence(self) -> str:
        """Its mean prediction and the slices, largest first, and the frame rate."""
        ordered = sorted(self.slices, key=lambda part: -part.mean_ns)
        parts = ", ".join(f"{part.group.name} {part.words}" for part in ordered)
        return "; ".join(filter(None, (f"of {format_time(self.mean_ns)}: {parts}", fast_enough(self.quantities))))


def parts_rows(models: Iterable[ModelSummary]) -> tuple[PartsRow, ...]:
    """One row for each model whose predictions are broken down."""
    return tuple(
        replace(
            parts_row(model.name, model.breakdown, model.quantities),
            preparing_share=model.preparing_ns / model.breakdown.total_ns,
        )
        for model in models
        if model.breakdown is not None and model.breakdown.total_ns
    )


def parts_row(name: str, breakdown: BreakdownSummary, quantities: Mapping[str, float | None] | None = None) -> PartsRow:
    """The row of a breakdown, which must hold some time."""
    slices = []
    for group in GROUPS:
        members = [part for part in breakdown.parts if part.part in group.parts]
        time = sum(part.total_ns or 0 for part in members)
        if time:
            incomplete = any(part.unknown for part in members)
            slices.append(Slice(group, time / breakdown.predictions, time / breakdown.total_ns, incomplete))
    return PartsRow(name, breakdown.mean_ns, tuple(slices), breakdown.parts, quantities or {})


def shown_groups(rows: Iterable[PartsRow]) -> tuple[Group, ...]:
    """Groups that took time in any of the rows."""
    groups = {part.group for row in rows for part in row.slices}
    return tuple(group for group in GROUPS if group in groups)


def legend(rows: Sequence[PartsRow]) -> str:
    """What the signs of the bars stand for."""
    return ", ".join(f"{group.sign} {group.name}" for group in shown_groups(rows))


def fast_enough(quantities: Mapping[str, float | None]) -> str:
    """How many frames a second a model can serve: `fast enough for 80 fps (75 at p95)`; empty where it is not known."""
    typical, slow = (quantities.get(name) for name in ("fps", "fps_at_p95"))
    if typical is None:
        return ""
    median, p95 = formatting.frames(typical), formatting.frames(slow)
    return f"fast enough for {median} fps{f' ({p95} at p95)' if slow is not None and p95 != median else ''}"


def each_first(models: Iterable[ModelSummary]) -> tuple[str, ...]:
    """A note on models whose latency is not that of warm predictions, since they have none."""
    timed = [model for model in models if model.latency is not None]
    first = [model.name for model in timed if model.latency and model.latency.cold and not model.latency.warm]
    whose = f" of {formatting.word_list(first)}" if len(first) < len(timed) else ""
    return (f"every prediction{whose} follows a load: numbers include the first ones",) if first else ()


_UNITS: dict[str, str] = {
    **dict.fromkeys((Part.ANE, Part.ANE_QUEUE), DEVICE_NAMES[Device.ANE]),
    **dict.fromkeys((Part.GPU, Part.GPU_QUEUE), DEVICE_NAMES[Device.GPU]),
}

_REASONS: dict[str, str] = {
    Unknown.NOT_RECORDED: "{} activity was not recorded; its time counts as unexplained",
    Unknown.NO_REQUESTS: "requests to the {} were not recorded; only queueing behind other work is known",
    Unknown.NOT_SPLIT: "the recording does not show when the {} executed its requests",
    Unknown.AMBIGUOUS: "several predictions were in flight, and not all {} rows show which one they belong to",
}
"""Why the time of a unit is not known, as a sentence about it."""

MEANINGS: dict[str, str] = {
    "requested": "requested: queued or executing, which cannot be distinguished here",
    "queued": "queued: requested, but not executing on the compute unit",
    "other": "other: Core ML events unknown to tracekit",
    "ambiguous": "ambiguous: compute-unit work of this prediction or of another one in flight",
    "unexplained": "unexplained: time that no recorded event explains",
    "not_recorded": "not recorded: Core ML recorded no event of these predictions",
}
"""What the parts of a group are, as a note, by `Group.part`."""

_INFERRED = "inferred predictions: what Core ML and the CPU did in them was not recorded"

_ALL = "mean and parts are of all predictions"

_FRAMES = "fps: one prediction per frame, not overlapping; from median and p95 of warm predictions"


def parts_notes(rows: Sequence[PartsRow]) -> tuple[str, ...]:
    """What a reader must know about the parts shown: what they mean, and why some are not known."""
    parts = [part for row in rows for part in row.parts]
    took = {group.part for group in GROUPS if any(part.part in group.parts and part.total_ns for part in parts)}
    notes = [words for name, words in MEANINGS.items() if name in took]
    for part in parts:
        for reason in part.unknown:
            if reason == Unknown.NO_CORE_ML:
                notes.append(_INFERRED)
            elif part.part in _UNITS and (reason != Unknown.NOT_SPLIT or part.part in (Part.ANE, Part.GPU)):
                notes.append(_REASONS[reason].format(_UNITS[part.part]))
    if rows:
        notes.append(_ALL)
    if any(row.quantities.get("fps") is not None for row in rows):
        notes.append(_FRAMES)
    return tuple(dict.fromkeys(notes))
