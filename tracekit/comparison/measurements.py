"""What a comparison takes from one recording: the durations themselves, not only their summary.

Measurements are small, hold nothing private, and let the report that holds them stand for the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime

import numpy as np

from tracekit.analysis.quantities import Population, Sample, quantities_of
from tracekit.analysis.specialization import Answer, Specializations
from tracekit.analysis.where.verdict import CLOSE, Whereabouts
from tracekit.arrays import BoolArray, IntArray
from tracekit.errors import unknown
from tracekit.recording.contents import is_simulator
from tracekit.report.choice import matching_any


@dataclass(frozen=True, slots=True)
class Environment:
    """What must agree for a comparison to be fair. None: not recorded, which is no difference but from a thermal state
    in which devices slow down."""

    device: str | None
    system: str | None
    """Platform and version."""
    instruments: str | None
    template: str | None
    thermal: str | None
    """Hottest thermal state in which a prediction began."""
    input_type: str | None
    """How the recording was read: a bundle or an export."""
    target: str | None = None
    """Name of the process that was recorded."""

    @property
    def simulated(self) -> bool:
        """Whether it ran in a simulator, so that no gate may believe its numbers."""
        return is_simulator(self.system)


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the time of some predictions of a model went, on average: a value for each of
    `tracekit.analysis.breakdown.summary.GROUPS`."""

    means_ns: tuple[float, ...]
    """They add up to the mean latency."""
    errors_ns: tuple[float, ...]
    """Standard errors, by the same draws of whole predictions for all parts."""
    complete: tuple[bool, ...]
    """Whether all of it is known; else the mean is a lower bound."""
    degrees: float
    """Degrees of freedom of the standard errors."""


@dataclass(frozen=True, slots=True)
class Inexact:
    """How exact the numbers of a model are: by how much each is off at most."""

    resolution_ns: int = 0
    """The time between two samples, where call stacks show the calls: durations have no more digits."""
    latency_ns: int = 0
    """How far its median latency may be off."""
    load_ns: int = 0
    """How far the duration of a load may be off."""
    loads_at_least: bool = False
    """Whether there may be more loads than were seen."""

    def error_ns(self, quantity: str) -> int:
        """How far a number may be off, by its id; 0 for one that is no duration of calls."""
        return self.latency_ns if quantity in _LATENCIES else self.load_ns if quantity in _LOAD_TIMES else 0


MOST_OFF = 0.5
"""From here on a share of compute is not compared: it may be that of another unit."""
EXACT = Inexact()
"""Of a model whose calls Core ML recorded."""
_LATENCIES = ("p50_ns", "p95_ns", "all_p50_ns", "all_p95_ns")
_LOAD_TIMES = ("load_ns", "cold_load_ns", "awaited_load_ns")


def least_exact(each: Iterable[Inexact]) -> Inexact:
    """What holds for several recordings together; `EXACT` for none. O(recordings)."""
    known = (EXACT, *each)
    return Inexact(*(max(values) for values in zip(*map(astuple, known), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class ModelMeasurements:
    """One model that the app calls. Durations in ns, in order of time."""

    name: str
    predictions: int
    latencies_ns: IntArray
    """Of predictions that ended, shape (n,); (0,) where they are inferred from hardware, which shows no latency."""
    warm: BoolArray
    """Same shape: not the first prediction after a load."""
    cold_loads_ns: IntArray
    cached_loads_ns: IntArray
    other_loads_ns: IntArray
    """Loads of which the recording does not show whether they were cold."""
    copies: int | None = None
    """Rows of copies and conversions that belong to its predictions; None where predictions are inferred."""
    max_in_flight: int | None = None
    awaited_load_ns: int | None = None
    """Longest load that a prediction or the main thread waited for, 0 for none; None where no load was recorded."""
    warm_parts: Parts | None = None
    """Of the warm predictions; None where there are too few to resample."""
    parts: Parts | None = None
    """Of all predictions."""
    where: Whereabouts | None = None
    """Which compute units it ran on; None without predictions."""
    inexact: Inexact = EXACT
    per_second: float | None = None
    """Predictions per second while it predicts; None: not recorded."""
    overlap: bool = False
    """Most of its warm predictions overlap others of it."""
    counted: str = "predictions"
    """What its latencies are of: `signposts` of an operation of the app (`--signpost`); `first tokens` or `next tokens`
    of a language model."""

    @property
    def is_operation(self) -> bool:
        """Whether it is no model, but takes time as one does."""
        return self.counted != "predictions"

    @property
    def followed_units(self) -> dict[str, float]:
        """Shares that are known well enough to be compared."""
        return {} if self.where is None else self.where.shares(MOST_OFF)

    @property
    def sample(self) -> Sample:
        """What its numbers follow from."""
        loads_ns = np.concatenate([self.cached_loads_ns, self.other_loads_ns])
        return Sample(
            *(self.predictions, self.latencies_ns, self.warm, loads_ns, self.cold_loads_ns),
            compute={} if self.where is None else self.where.shares(CLOSE),
            per_second=self.per_second,
            overlap=self.overlap,
        )

    @property
    def quantities(self) -> dict[str, float | None]:
        """Its numbers, by id."""
        return quantities_of(self.sample)

    @property
    def latency_ns(self) -> IntArray:
        """Latencies of the default population: the warm predictions, or all where each is the first after a load."""
        return self.sample.of(Population.WARM)

    @property
    def warm_ns(self) -> IntArray:
        """Latencies of the warm predictions."""
        return self.latencies_ns[self.warm]

    @property
    def since_load(self) -> IntArray:
        """How many predictions lie between each and the load before it, or the start of the recording."""
        place = np.arange(len(self.warm))
        return place - np.maximum.accumulate(np.where(self.warm, 0, place))

    @property
    def copies_per_prediction(self) -> float | None:
        """Copies and conversions by predictions; None where either is not known."""
        return self.copies / self.predictions if self.copies is not None and self.predictions else None

    @property
    def loads(self) -> int:
        """All loads."""
        return len(self.cold_loads_ns) + len(self.cached_loads_ns) + len(self.other_loads_ns)

    @property
    def load_ns(self) -> int:
        """Summed duration of all loads."""
        return sum(int(part.sum()) for part in (self.cold_loads_ns, self.cached_loads_ns, self.other_loads_ns))


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check answered for one model, or for the recording (None)."""

    id: str
    title: str
    model: str | None
    outcome: str
    severity: str | None
    savings_ns: int | None
    lacks: str = ""
    """Why the instrument that it needs shows nothing, in a clause; empty where it is evaluated, or not for that."""
    margin: float | None = None
    """How many times the threshold the metric that decides is: 1 or more for a finding. None without a threshold."""

    @property
    def lost(self) -> bool:
        """Whether its evidence may exist: what was not recorded at all, no limit is about."""
        return bool(self.lacks) and not self.lacks.endswith("not recorded")


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """One recording."""

    source: str
    environment: Environment
    core_ml: bool
    """Whether Core ML recorded rows: without them, no model and no load that is not there is known to be absent."""
    models: tuple[ModelMeasurements, ...]
    """Models that the app calls or loads, in the order of the report."""
    checks: tuple[CheckResult, ...]
    unreadable: tuple[str, ...] = ()
    """Which tables could not be read and why, a clause for each reason. What they held is not in here."""
    limited: str = ""
    """A sentence on the models that are not in here, where a report has no room for all."""
    identity: str | None = None
    """Which recording it is (`tracekit.trace.trace`); None where nothing tells it from others."""
    started: str | None = None
    """When it began, as ISO 8601."""
    commit: str | None = None
    """The commit that it is of, where one was given."""
    specializations: Specializations | None = None
    """Which models were compiled; None where that was not kept."""
    late_ns: float | None = None
    """Lateness of frames in ns per second of animation; None where late frames were not recorded."""

    def times_compiled(self, model: str) -> int | None:
        """How often a model was compiled; None where the recording does not tell."""
        held = () if self.specializations is None else self.specializations.models
        known = (one.times for one in held if one.model == model and one.answer in (Answer.COMPILED, Answer.CACHED))
        return next(known, None)


def utc(date: str | None) -> str | None:
    """A date in UTC as ISO 8601, to the second, so that texts sort by time; None where it is none."""
    try:
        moment = datetime.fromisoformat(date or "")
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None


def of_model(recordings: Iterable[Measurements], name: str) -> list[ModelMeasurements]:
    """What recordings hold of one model; those without it are left out."""
    return [model for recording in recordings for model in recording.models if model.name == name]


def names_of(recordings: Sequence[Measurements]) -> list[str]:
    """Models of recordings, each once, in their order."""
    return list(dict.fromkeys(model.name for recording in recordings for model in recording.models))


def only_models(recording: Measurements, patterns: Sequence[str]) -> Measurements:
    """What is measured of the models that match any of some patterns. Raises `UsageError` for one that matches none."""
    names = sorted(model.name for model in recording.models)
    chosen = matching_any(names, patterns, lambda pattern: unknown("model", pattern, names))
    return replace(
        recording,
        models=tuple(model for model in recording.models if model.name in chosen),
        checks=tuple(check for check in recording.checks if check.model is None or check.model in chosen),
        specializations=(held := recording.specializations)
        and replace(held, models=tuple(each for each in held.models if each.model in chosen)),
    )
