"""Whether other processes used the Neural Engine too, so that its rows are not the target's alone.

The Neural Engine's table shows the whole machine and names no process. Work of others shows by its labels, and by
execution at times at which the target had no prediction in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tracekit.arrays import BoolArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Attribution, Events, Kind, Lane
from tracekit.units import format_names, format_share

MAX_OUTSIDE_SHARE = 0.05
"""Share of execution outside all predictions above which others used the engine (heuristic)."""

PADDING_NS = 1_000_000
"""How far around a prediction execution still counts as inside (heuristic)."""


class SharingState(StrEnum):
    """Whose work the Neural Engine did."""

    OWN = "own"
    """The target's, as far as labels and times show."""
    SHARED = "shared"
    """That of other processes too."""
    UNKNOWN = "unknown"
    """Core ML recorded nothing to compare with."""
    NONE = "none"
    """Nothing of the engine was recorded."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """What a recording shows of others on the Neural Engine."""

    state: SharingState = SharingState.NONE
    outside_share: float | None = None
    """Share of the execution time, 0 to 1, in which the engine ran outside every prediction of the target, padded by
    `PADDING_NS`. Work whose label names a model of the target is its own at any time and not counted as outside, loads
    and compilations are no execution. None where there is no execution or no prediction to compare with."""
    foreign_models: tuple[str, ...] = ()
    """Models that labels name and that the target never loaded, sorted."""
    sentence: str = "No Neural Engine activity was recorded."
    """The same for users."""

    @property
    def is_shared(self) -> bool:
        """Whether others are known to have used the engine."""
        return self.state is SharingState.SHARED


def sharing(hardware: Events, events: Events) -> Sharing:
    """Who used the Neural Engine. `hardware` are the finished rows, `events` the Core ML rows. O(n log n)."""
    engine = hardware.lane.is_any(Lane.NEURAL_ENGINE)
    if not engine.any():
        return Sharing()
    executed = engine & hardware.kind.is_any(Kind.ANE_EXEC)
    of_others = engine & hardware.attribution.is_any(Attribution.FOREIGN)
    models = tuple(sorted(hardware.model.take(of_others).held()))
    if not len(events):
        return _unknown("there are no Core ML rows to compare with")
    outside = _outside_share(hardware, executed, events)
    if models or (outside is not None and outside > MAX_OUTSIDE_SHARE):
        signs = []
        if outside is not None and outside > MAX_OUTSIDE_SHARE:
            signs.append(f"{format_share(outside)} of its execution time is outside the target's predictions")
        if models:
            some = "a model" if len(models) == 1 else "models"
            signs.append(f"labels name {some} that the target never loaded ({format_names(models)})")
        sentence = f"Other processes used the Neural Engine too: {', and '.join(signs)}."
        return Sharing(SharingState.SHARED, outside, models, sentence)
    if outside is None and executed.any():
        return _unknown("Core ML recorded no predictions to compare with")
    sentence = "Nothing suggests that other processes used the Neural Engine."
    return Sharing(SharingState.OWN, outside, (), sentence)


def _unknown(why: str) -> Sharing:
    sentence = f"It is unknown whether other processes used the Neural Engine: {why}."
    return Sharing(SharingState.UNKNOWN, sentence=sentence)


def _outside_share(hardware: Events, executed: BoolArray, events: Events) -> float | None:
    calls = events.lane.is_any(Lane.ACTIVITY) & events.kind.is_any(Kind.PREDICTION)
    times, called = Intervals.from_rows(hardware).where(executed), Intervals.from_rows(events).where(calls)
    executed_ns = times.covered_ns
    if not len(called) or not executed_ns:
        return None
    loaded = hardware.model.codes_in(events.model.values) >= 0
    of_target = (hardware.attribution.is_any(Attribution.LABEL) & loaded)[executed]
    # Time under work of the target counts as inside, as time under a prediction does.
    inside = Intervals(called.starts - PADDING_NS, called.ends + PADDING_NS).joined(times.where(of_target))
    return (executed_ns - int(inside.covered_within(times.union()).sum())) / executed_ns
