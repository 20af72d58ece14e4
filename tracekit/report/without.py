"""What fixing findings would bring: the recording replayed without what their fixes take away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.analysis.changes import as_one
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.pace import frame_steps
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.replay import asked_at
from tracekit.analysis.statistics import CallTimes, duration_statistics
from tracekit.analysis.throughput import bursts, summarize_throughput
from tracekit.arrays import BoolArray
from tracekit.detectors.fixes import NO_TIME
from tracekit.detectors.framework import Judgment
from tracekit.detectors.replayed import Replays, ended_in
from tracekit.errors import UsageError
from tracekit.intervals import Intervals
from tracekit.report.serialize import SCHEMAS
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import Kind
from tracekit.trace.trace import Trace
from tracekit.units import format_names


@dataclass(frozen=True, slots=True)
class Figures:
    """How a model does. None: not enough predictions, or it keeps to no frames."""

    median_ns: float | None
    """Of warm predictions, as p95; of all where none is."""
    p95_ns: float | None
    per_second: float | None
    dropped_frames: int | None
    core_ml_ns: int
    """Time that its loads, compilations and predictions cover."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A model before and after."""

    model: str
    models: int
    """How many are called in turn as parts of one graph, of which this is the first: figures are of such rounds. 1 for
    a model of its own."""
    before: Figures
    after: Figures
    saved_ns: int
    """Less time that its loads, compilations and predictions cover; where the app prepares while a prediction runs,
    less time from the first prediction to the last."""
    wait_ns: tuple[float, float] | None
    """Where fewer predictions are in flight then: how long the app keeps an input before it asks; median and p95."""
    resolution_ns: int
    """What times of inferred calls are known to; 0 for recorded ones."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The recording without what some fixes take away."""

    findings: tuple[str, ...]
    """Ids of their checks."""
    models: tuple[ModelChange, ...]
    """Those that change, what saves most first."""
    saved_ns: int
    """Of all models that the findings are about."""


@dataclass(frozen=True, slots=True)
class UnknownSavings:
    """A finding that cannot be replayed."""

    finding: str
    reason: str


@dataclass(frozen=True, slots=True)
class Without:
    """What fixing findings would bring."""

    source: str
    replays: tuple[Replay, ...]
    """One for each check; of several, the last one is of all together."""
    unknown: tuple[UnknownSavings, ...]
    assumed: tuple[str, ...]
    """One sentence each."""
    nothing: str = ""
    """Why there is nothing to replay, where no check had a verdict."""
    schema_version: int = SCHEMAS["replay"]


def without_findings(trace: Trace, source: str, answers: Iterable[Judgment], wanted: Sequence[str] = ()) -> Without:
    """What fixing the findings of the `wanted` checks, or of all, would bring, one after another and together. Raises
    `UsageError` for a check that found nothing. O(n log n) for each."""
    answers = tuple(answers)
    replays = Replays(trace, answers)
    findings = replays.found
    for name in wanted:
        if name not in findings:
            raise UsageError(f"{name} has no finding in this recording; see `tracekit analyze -v`")
    # Others cost no time, as those about the recording itself.
    reasons = {name: replays.why_unknown(name) for name in findings}
    replayable = [name for name in dict.fromkeys(wanted or findings) if name in replays.known and not reasons[name]]
    unknown = tuple(
        UnknownSavings(name, reasons[name] or NO_TIME)
        for name in dict.fromkeys(wanted or findings)
        if name not in replayable and (wanted or reasons[name])
    )
    if not replayable:
        return Without(source, (), unknown, ())
    asked = [(name,) for name in replayable] + ([tuple(replayable)] if len(replayable) > 1 else [])
    run = tuple(Replay(names, _models(replays, names), replays.together_ns(names)) for names in asked)
    models = {*replays.recorded.calls.model.held()}
    notes = ["Units take work in the order in which it was handed over; work of other processes comes at its times."]
    if paced := sorted(models & replays.recorded.paced):
        notes.append(f"{format_names(paced)} keep{'s' if len(paced) == 1 else ''} a steady rate: starts stay.")
    if models - replays.recorded.paced:
        who = "Other predictions" if paced else "Predictions"
        notes.append(f"{who} follow the one before after the recorded gap; after 0.5 s and more, starts stay.")
    assumed = (*(replays.fixes[name].assumed for name in replayable), *notes)
    return Without(source, run, unknown, tuple(dict.fromkeys(assumed)))


def _models(replays: Replays, fixed: Sequence[str]) -> tuple[ModelChange, ...]:
    trace, recorded, saved_ns = replays.trace, replays.recorded, replays.saved_ns(fixed).tolist()
    schedule, (changes, after) = recorded.schedule, replays.run(fixed)
    predicted, merged = recorded.calls.kind.is_any(Kind.PREDICTION), changes.merged
    cold = first_predictions(trace)[recorded.calls.id]
    models = []
    for code in distinct_numbers(recorded.model[recorded.model >= 0]).tolist():
        mine = recorded.model == code
        if (merged[mine] >= 0).any() and not changes.timed[mine].any():
            continue  # It is part of another model then.
        name, calls = replays.models[code], [times.where(mine & predicted) for times in (schedule.calls, after)]
        warm, parts = ~cold[mine & predicted], 1
        if (merged[mine] >= 0).any():
            parts = len(distinct_numbers(recorded.model[np.isin(merged, np.flatnonzero(mine))]))
            calls = [as_one(times, changes, mine) for times in (schedule.calls, after)]
            warm = np.arange(len(calls[0])) > 0
        elapsed = [times.where(mine).covered_ns for times in (schedule.calls, after)]
        paced = name in recorded.paced and not changes.ahead[mine].any()
        sides = _before_and_after(calls, warm, elapsed, paced=paced)
        waits = None
        if changes.in_flight[mine].any() and not changes.ahead[mine].any():
            kept = (after.starts - asked_at(schedule, after))[mine & predicted]
            waits = sample_quantiles(kept, 0.5)[0], sample_quantiles(kept, 0.95)[0]
        if sides[0] != sides[1]:
            resolution = int(recorded.calls.resolution_ns[mine].max())
            models.append(ModelChange(name, parts, *sides, saved_ns[code], waits, resolution))
    return tuple(sorted(models, key=lambda change: -change.saved_ns))


def _before_and_after(
    predictions: Sequence[Intervals], warm: BoolArray, elapsed_ns: Sequence[int], *, paced: bool
) -> tuple[Figures, Figures]:
    """Of a model's predictions before and after. A frame that was dropped because one took too long comes back."""
    before, after = predictions
    rows = CallTimes(before.starts, before.durations)
    steps = frame_steps(rows) if len(before) else None
    dropped: tuple[int | None, int | None] = None, None
    rate, faster, came_back = None, None, 0
    if len(before):
        sequence = bursts(rows)
        rate = summarize_throughput(rows, sequence).per_second
        faster = ended_in(before, sequence.first) / max(ended_in(after, sequence.first), 1)
    if steps is not None:
        # Frames until the next prediction. Those that passed for another reason than its work stay.
        longest = [
            np.ceil(times.durations[steps.index] * steps.frames_per_second / 1e9).astype(np.int64).clip(1, steps.frames)
            for times in (before, after)
        ]
        left = np.where(longest[0] == steps.frames, longest[1], steps.frames)
        came_back = int((steps.frames - left).sum())
        dropped = int((steps.frames - 1).sum()), int((left - 1).sum())
    if paced and len(before):
        faster = 1 + came_back / len(before)
    rates = rate, None if rate is None or faster is None else rate * faster
    compared = warm if warm.any() else ~warm
    figures = []
    for times, per_second, lost, elapsed in zip(predictions, rates, dropped, elapsed_ns, strict=True):
        latency = duration_statistics(times.starts[compared], times.durations[compared])
        p50, p95 = (None, None) if latency is None else (latency.p50_ns, latency.p95_ns)
        figures.append(Figures(p50, p95, per_second, lost, elapsed))
    return figures[0], figures[1]
