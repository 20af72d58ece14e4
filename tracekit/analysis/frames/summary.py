"""Late frames of a recording in numbers: how many, by how much, by which model, and the worst of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from tracekit.analysis.frames.late import Late, Strength, late_frames
from tracekit.analysis.frames.paths import Path
from tracekit.sorting import distinct_numbers
from tracekit.trace.instruments.frames import FRAMES, Stage
from tracekit.trace.trace import Trace, cached_by_trace


@dataclass(frozen=True, slots=True)
class HeldUp:
    """Late frames, or hangs, of one model that it made in one way."""

    model: str
    """Base name."""
    path: str
    """`GPU`, `main thread busy`, `main thread waits` or `CPU`."""
    count: int
    """How many."""
    proved: int
    """Frames of which comparable ones without the model's work are late clearly less often, and hangs in which call
    stacks show its calls; of the rest, times alone say so."""
    in_time: int
    """Frames that would have come in time without it; all hangs."""
    saved_ns: int
    """How much less late all of them would have come; of hangs how long they were."""
    longest_ns: int
    """The latest frame, or the longest hang."""
    longest_start_ns: int
    """When that was due, or began."""


@dataclass(frozen=True, slots=True)
class LateFrame:
    """One late frame. Times of stages are in ns from when it was due, negative before."""

    start_ns: int
    """When it was due."""
    duration_ns: int
    """By how much it came late."""
    interval_ns: int | None
    """Refresh interval in force; None where it is not known."""
    says: str | None
    """Cause in Apple's words; None where they give none."""
    model: str | None
    """The model that held it up; None where none is known to."""
    path: str | None
    """How; None as for `model`."""
    strength: str | None
    """`proved`, `fits`, or `coincides`, which is never counted; None as for `model`."""
    blocked_ns: int
    """For how long the model held it up."""
    saved_ns: int
    """How much less late it would be without."""
    stages: dict[str, tuple[int, int]]
    """Begin and end of `update`, `render` and `gpu`, as far as they were recorded."""


@dataclass(frozen=True, slots=True)
class FrameSummary:
    """Late frames of the target, of its recording."""

    late: int
    """Frames that came late and count."""
    late_ns: int
    """By how much, together."""
    shown: int | None
    """Frames of the target that were shown; None where tables list late ones alone."""
    recorded_ns: int | None
    """Duration of the recording."""
    animated_ns: int | None
    """Seconds in which pictures of the target were shown; None as for `shown`."""
    aside: dict[str, int]
    """Late frames that do not count, by why."""
    models: tuple[HeldUp, ...]
    """What models made late, the worst first."""
    worst: LateFrame | None
    """The latest frame; None where none came late."""

    @property
    def ns_per_second(self) -> float | None:
        """Lateness per second of animation, as Apple counts; where that is not known, of the recording."""
        of = self.animated_ns or self.recorded_ns
        return 1e9 * self.late_ns / of if of else None


def held_up(found: Late | None) -> tuple[HeldUp, ...]:
    """Late frames or hangs that count, by model and path, the worst first. O(n) by model and path."""
    if found is None:
        return ()
    listed, proved = list[HeldUp](), found.strength.is_any(Strength.PROVED)
    for model, path in product(found.model.values, Path):
        own = np.flatnonzero(found.counted & found.model.is_any(model) & found.path.is_any(path))
        if len(own):
            longest = own[np.argmax(found.duration_ns[own])]
            in_time = found.saved_ns[own] == found.duration_ns[own]
            counts = len(own), int(proved[own].sum()), int(in_time.sum()), int(found.saved_ns[own].sum())
            most = int(found.duration_ns[longest]), int(found.start_ns[longest])
            listed.append(HeldUp(model, str(path), *counts, *most))
    return tuple(sorted(listed, key=lambda each: -each.saved_ns))


@cached_by_trace
def frame_summary(trace: Trace) -> FrameSummary | None:
    """Late frames of a recording; None where none were recorded, late or not. O(n log n)."""
    if FRAMES not in trace.context:
        return None
    frames, found = trace.frames, late_frames(trace)
    own = frames.late | (frames.duration_ns == 0)
    reasons, has_shown = frames.aside.take(frames.duration_ns > 0), bool((frames.duration_ns == 0).any())
    seconds = distinct_numbers((frames.start_ns + frames.duration_ns)[own] // 1_000_000_000)
    return FrameSummary(
        late=len(found),
        late_ns=int(found.duration_ns.sum()),
        shown=int(own.sum()) if has_shown else None,
        recorded_ns=trace.run.duration_ns,
        animated_ns=1_000_000_000 * len(seconds) if has_shown else None,
        aside={
            str(value): count for value, count in zip(reasons.values, reasons.counts().tolist(), strict=True) if count
        },
        models=held_up(found),
        worst=described(trace, int(np.argmax(found.duration_ns))) if len(found) else None,
    )


def described(trace: Trace, number: int) -> LateFrame:
    """One of `late_frames`, with its stages."""
    frames, found = trace.frames, late_frames(trace)
    at = int(found.place[number])
    due, stages = int(frames.start_ns[at]), {}
    for stage in Stage:
        begin, end = (each.item(at) for each in frames.stage(stage))
        if begin is not None and end is not None:
            stages[str(stage)] = begin - due, end - due
    own = ("start_ns", "duration_ns", "model", "path", "strength", "blocked_ns", "saved_ns")
    held = {name: getattr(found, name).item(number) for name in own}
    return LateFrame(**held, interval_ns=frames.interval_ns.item(at), says=frames.says.item(at) or None, stages=stages)


def late_frame_at(trace: Trace, time_ns: int) -> int | None:
    """Row of `late_frames` that is due or still late at a time, or else the next; None where none follows. O(n)."""
    found = late_frames(trace)
    ends = found.start_ns + found.duration_ns
    at = np.flatnonzero(ends >= time_ns)
    return int(at[0]) if len(at) else None


def unknown_frames(trace: Trace) -> tuple[str, str]:
    """Why it is not known which frames came late, and what to do, each in one sentence."""
    hitches = trace.coverage_of("Hitches")
    if hitches.recorded:
        return (
            "The table of late frames (hitches) is not in this recording.",
            "Export all tables of Hitches and Display.",
        )
    return hitches.conclusion, hitches.advice
