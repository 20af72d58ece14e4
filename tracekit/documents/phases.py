"""Calls that Core ML did not record, in words: how many there were at least, what shows them, between which times they
began and ended, and what they did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tracekit.analysis.code.phases import LOAD, OTHER, OTHERS, WAITING, CallPhases, Phase
from tracekit.analysis.models import ModelSummary, is_inferred
from tracekit.analysis.quantities import phase_id
from tracekit.documents.time_breakdown import AT_LEAST
from tracekit.report.formatting import word_list
from tracekit.trace.calls.stacks import LoadPhase
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_like, format_percent, format_time

TITLE: Final = "Phases of inferred calls"
LEAST_SHARE, LEAST_INNER_SHARE = 0.02, 0.1
"""Phases of a smaller share of a call, and those inside others, are not worth a word in a line."""
MAIN_SHARE: Final = 0.1
"""Least share that a headline names (heuristic)."""


def calls_words(model: ModelSummary) -> str:
    """`1 load ≥ 3.23 s · 9 predictions`: the loads with what they took together, and how many predictions: at least
    so many where some may be several. Call stacks show a load from its first sample to its last, and not while
    its thread waited before and after."""
    parts = []
    if model.load is not None and model.loads:
        least = AT_LEAST if model.resolution_ns else ""
        took = format_time(model.load.total_ns, model.resolution_ns)
        parts.append(f"{format_count(model.loads, 'load')} {least}{took}")
    if model.predictions:
        least = AT_LEAST if model.several else ""
        parts.append(f"{least}{format_count(model.predictions, 'prediction')}")
    return " · ".join(parts)


def source_words(models: Sequence[ModelSummary]) -> str:
    """`inferred from call stacks and GPU rows`; empty for no model, and where Core ML recorded the calls of one."""
    if not models or not all(map(is_inferred, models)):
        return ""
    worked = {part.part for model in models if model.breakdown for part in model.breakdown.parts if part.total_ns}
    rows = [f"{DEVICE_NAMES[unit]} rows" for unit in (Device.ANE, Device.GPU) if unit in worked]
    stacks = ["call stacks"] if any(model.resolution_ns for model in models) else []
    return f"inferred from {word_list((*stacks, *rows))}"


def headline(model: ModelSummary) -> str:
    """How long compute units worked for a prediction, and what its thread did most: of first ones without others."""
    calls = next((phase for phase in reversed(model.phases) if phase.kind != LOAD), None)
    if calls is None:
        parts = model.breakdown.parts if model.breakdown else ()
        units = ((Device(part.part), part) for part in parts if part.part in set(Device))
        return ", ".join(
            f"{DEVICE_NAMES[unit]} busy {format_time(part.mean_ns)}" for unit, part in units if part.mean_ns
        )
    busy = (f"{DEVICE_NAMES[Device(unit)]} busy {format_time(ns)}" for unit, ns in calls.busy_ns.items())
    large = (phase for phase in calls.phases if len(phase.path) == 1 and phase.share >= MAIN_SHARE)
    return ", ".join((*busy, *(f"{phase.name} {format_percent(phase.share)}" for phase in large)))


def phase_lines(model: ModelSummary) -> tuple[str, ...]:
    """Where the time of loads and first predictions went, a line each; what is in parentheses is a part."""
    return tuple(_phase_line(phase, model.resolution_ns) for phase in model.phases if phase.kind != OTHERS)


def _phase_line(calls: CallPhases, resolution_ns: int) -> str:
    """`load 3.23 s: …`, `3 loads, each 0.21 s: …`."""
    least = AT_LEAST if calls.kind == LOAD and resolution_ns else ""
    mean = f"{least}{format_time(calls.mean_ns, resolution_ns)}"
    head = f"{calls.kind} {mean}" if calls.calls == 1 else f"{format_count(calls.calls, calls.kind)}, each {mean}"

    def is_shown(phase: Phase) -> bool:
        least = LEAST_SHARE if len(phase.path) == 1 else LEAST_INNER_SHARE
        return phase.share >= least and phase.mean_ns >= resolution_ns / 2

    large = list(filter(is_shown, calls.phases))

    def time(ns: float) -> str:
        return format_like(ns, calls.mean_ns, resolution_ns)

    def inside(path: tuple[str, ...]) -> list[Phase]:
        return [phase for phase in large if phase.path[:-1] == path]

    def words(phase: Phase) -> str:
        within = inside(phase.path)
        if LoadPhase.COMPILING in (part.name for part in within):
            rest_ns = phase.mean_ns - sum(part.mean_ns for part in within)
            return ", ".join((*map(words, within), f"cache lookup {time(rest_ns)}"))
        more = ", ".join(f"{time(part.mean_ns)} {part.name}" for part in within)
        return f"{phase.name} {time(phase.mean_ns)}{f' ({more})' if more else ''}"

    little_ns = sum(phase.mean_ns for phase in calls.phases if len(phase.path) == 1 and not is_shown(phase))
    other = (f"other {time(little_ns)}",) if little_ns >= resolution_ns else ()
    return f"{head}: {', '.join((*map(words, inside(())), *other))}"


class PhaseRow(NamedTuple):
    """A phase of calls of one kind of one model, or all of such a call."""

    model: str
    calls: CallPhases
    words: str
    """What it is, set in by how deep it lies."""
    mean_ns: float
    """Per call."""
    share: float
    """Of the time of the calls."""
    quantity: str
    """Id of this time."""
    resolution_ns: int

    @property
    def share_words(self) -> str:
        """Time and share."""
        return f"{format_time(self.mean_ns, self.resolution_ns)} ({format_percent(self.share)})"


def phase_rows(models: Iterable[ModelSummary]) -> Iterator[PhaseRow]:
    """Every call of every model that call stacks show, and behind it its phases."""
    for model in models:
        for calls in model.phases:
            whole = phase_id(calls.kind, ())
            yield PhaseRow(model.name, calls, "whole call", calls.mean_ns, 1.0, whole, model.resolution_ns)
            for phase in calls.phases:
                depth, name = len(phase.path) - 1, phase_id(calls.kind, phase.path)
                words = f"{'· ' * (depth - 1)}of which {phase.name}" if depth else phase.name
                yield PhaseRow(model.name, calls, words, phase.mean_ns, phase.share, name, model.resolution_ns)


NOTES: Final = (
    'phases without "of which" add up to the whole call; the others are a part of one above them ("·": one deeper)',
    f"{OTHER}: the thread ran, in no function that is known by name",
    f"{WAITING}: the thread did not run, or no sample of it was taken",
)
