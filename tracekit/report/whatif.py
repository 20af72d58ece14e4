"""What fixing findings would bring: the recording replayed without what their fixes take away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.frame_steps import FrameSteps, frame_steps
from tracekit.analysis.replay import Changes, changed, replay
from tracekit.analysis.schedule import Recorded, recorded_schedule
from tracekit.analysis.statistics import duration_statistics
from tracekit.analysis.throughput import burst_numbers, bursts, summarize_throughput
from tracekit.detectors.fixes import FIXES, NO_TIME, UNKNOWN
from tracekit.detectors.outcomes import Finding
from tracekit.errors import UsageError
from tracekit.grouping import grouped
from tracekit.trace.events import Kind
from tracekit.trace.frames import categorical, is_any
from tracekit.units import format_names

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.framework import Judgment
    from tracekit.intervals import Intervals
    from tracekit.trace.trace import Trace

INFERRED = "Core ML recorded no calls; times of inferred ones are only known within bounds"


@dataclass(frozen=True, slots=True)
class Figures:
    """How a model does. None: not enough predictions, or it keeps to no frames."""

    median_ns: float | None
    p95_ns: float | None
    per_second: float | None
    dropped_frames: int | None
    core_ml_ns: int
    """Time that its loads, compilations and predictions cover."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A model before and after."""

    model: str
    before: Figures
    after: Figures


@dataclass(frozen=True, slots=True)
class Replay:
    """The recording without what some fixes take away."""

    findings: tuple[str, ...]
    """Ids of their checks."""
    models: tuple[ModelChange, ...]
    """Those that change, what saves most first."""


@dataclass(frozen=True, slots=True)
class UnknownSavings:
    """A finding that cannot be replayed."""

    finding: str
    reason: str


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What fixing findings would bring."""

    source: str
    replays: tuple[Replay, ...]
    """One for each check; of several, the last one is of all together."""
    unknown: tuple[UnknownSavings, ...]
    assumed: tuple[str, ...]
    """One sentence each."""


def what_if(trace: Trace, source: str, answers: Iterable[Judgment], wanted: Sequence[str] = ()) -> WhatIf:
    """What fixing the findings of these checks would bring, one check after another and together; without `wanted`,
    those of all. Raises `UsageError` for a check that found nothing. O(n log n) for each.
    """
    found = grouped((each.detector.id, each.outcome) for each in answers if isinstance(each.outcome, Finding))
    for name in wanted:
        if name not in found:
            raise UsageError(f"{name} has no finding in this recording; see `tracekit analyze -v`")
    chosen = list(dict.fromkeys(wanted)) or list(found)
    known = [name for name in chosen if name in FIXES and not trace.inferred]
    unknown = [
        UnknownSavings(name, INFERRED if name in FIXES else UNKNOWN.get(name, NO_TIME))
        for name in chosen
        if name not in known
    ]
    if not known:
        return WhatIf(source, (), tuple(unknown), ())
    recorded = recorded_schedule(trace)
    changes = {
        name: reduce(Changes.joined, (FIXES[name].take(trace, recorded, finding) for finding in found[name]))
        for name in known
    }
    asked = [(name,) for name in known] + ([tuple(known)] if len(known) > 1 else [])
    replays = [
        Replay(names, _models(recorded, reduce(Changes.joined, (changes[name] for name in names)))) for names in asked
    ]
    assumed = (*(FIXES[name].assumed for name in known), *_pace(recorded))
    return WhatIf(source, tuple(replays), tuple(unknown), tuple(dict.fromkeys(assumed)))


def _models(recorded: Recorded, changes: Changes) -> tuple[ModelChange, ...]:
    """The models that change."""
    schedule = recorded.schedule
    after = replay(changed(schedule, changes))
    codes = categorical(recorded.calls["model"])
    models = []
    for code in np.unique(recorded.model[recorded.model >= 0]).tolist():
        mine = recorded.model == code
        of_before, of_after = schedule.calls.where(mine), after.where(mine)
        predicted = is_any(recorded.calls["kind"][mine], Kind.PREDICTION)
        steps = frame_steps(_frame(of_before.where(predicted))) if predicted.any() else None
        change = ModelChange(
            str(codes.categories[code]),
            _figures(of_before, predicted, steps, of_before),
            _figures(of_after, predicted, steps, of_before),
        )
        if change.before != change.after:
            models.append(change)
    return tuple(sorted(models, key=lambda each: each.after.core_ml_ns - each.before.core_ml_ns))


def _figures(calls: Intervals, predicted: BoolArray, steps: FrameSteps | None, recorded: Intervals) -> Figures:
    """Of the calls of a model, of which some are predictions. `steps` are those of the recorded times."""
    times = calls.where(predicted)
    latency = duration_statistics(times.starts, times.durations)
    dropped, came_back = None, 0
    if steps is not None:
        passed = [_frames(each.where(predicted).durations[steps.index], steps) for each in (recorded, calls)]
        # Frames that passed while the earlier prediction ran; what else is missing was not asked for.
        late = np.minimum(passed[0], steps.frames)
        left = np.where(late == steps.frames, np.minimum(passed[1], steps.frames), steps.frames)
        dropped, came_back = int((left - 1).sum()), int((steps.frames - left).sum())
    rate = None
    if len(times):
        # The same bursts before and after: shorter calls would end others.
        rows = _frame(times)
        rate = summarize_throughput(rows, bursts(rows, burst_numbers(_frame(recorded.where(predicted))))).per_second
    return Figures(
        None if latency is None else latency.p50_ns,
        None if latency is None else latency.p95_ns,
        None if rate is None else rate * (1 + came_back / len(times)),
        dropped,
        calls.covered_ns,
    )


def _frames(durations: IntArray, steps: FrameSteps) -> IntArray:
    """Frames from the start of each prediction until a new one can start."""
    return np.maximum(np.ceil(durations * steps.frames_per_second / 1e9).astype(np.int64), 1)


def _frame(times: Intervals) -> pd.DataFrame:
    order = np.argsort(times.starts, kind="stable")
    return pd.DataFrame({"start_ns": times.starts[order], "duration_ns": times.durations[order]})


def _pace(recorded: Recorded) -> list[str]:
    """What is assumed of when predictions start."""
    models = {str(name) for name in recorded.calls["model"].dropna().unique()}
    said = ["Units take work in the order in which it was handed over; work of other processes comes at its times."]
    if paced := sorted(models & recorded.paced):
        said.append(f"{format_names(paced)} keep{'s' if len(paced) == 1 else ''} a steady rate: starts stay.")
    if models - recorded.paced:
        who = "Other predictions" if paced else "Predictions"
        said.append(f"{who} follow the one before after the recorded gap; after 0.5 s and more, starts stay.")
    return said
