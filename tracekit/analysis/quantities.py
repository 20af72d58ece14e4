"""The numbers of a model that are shown, each once: id, title, unit, population, least sample and formula.

Reports, matrix, comparison, gate, rules and the lists of the terminal UI read them here; keys of JSON are the ids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IntArray

_LEVELS = (0.5, 0.95, 0.99)
"""Quantiles of latencies that are shown of a model."""


class Population(StrEnum):
    """Which predictions a number is of, as its label says it. That of `WARM` needs no words: it is the default."""

    WARM = "warm predictions"
    """All but the first after each load; all of them where each is such a first."""
    ALL = "all predictions"
    FIRST = "first predictions after a load"
    ALONE = "predictions run one at a time"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What the numbers of one model in one recording follow from. Durations in ns, None: not recorded."""

    predictions: int | None
    latencies_ns: IntArray
    """Shape (n,): those with a known duration, in order of time."""
    warm: BoolArray
    """Same shape: not the first after a load."""
    loads_ns: IntArray
    """Loads not known to be cold."""
    cold_loads_ns: IntArray
    compute: Mapping[str, float] = field(default_factory=dict)
    """Share of the time on all compute units that each had; empty where no execution was recorded."""
    neural_engine_time: float | None = None
    """Share of all prediction time."""
    alone: BoolArray | None = None
    """Shape (n,): no other prediction of the model was in flight."""
    per_second: float | None = None
    overlap: bool = False
    """Most of the warm predictions overlap others of the model: their latency is under load, and no frame rate."""
    found: dict[Population, tuple[float | None, ...]] = field(default_factory=dict, init=False, repr=False)
    """Quantiles of the populations that were asked for."""

    def quantile(self, population: Population, level: float) -> float | None:
        """The quantile of a population at one of `_LEVELS`; all of these are found at once. O(n)."""
        if population not in self.found:
            self.found[population] = quantiles(self.of(population), *_LEVELS)
        return self.found[population][_LEVELS.index(level)]

    def of(self, population: Population) -> IntArray:
        """Latencies of a population."""
        if population is Population.ALL or (population is Population.WARM and not self.warm.any()):
            return self.latencies_ns
        if population is Population.ALONE:
            return self.latencies_ns[:0] if self.alone is None else self.latencies_ns[self.warm & self.alone]
        return self.latencies_ns[~self.warm if population is Population.FIRST else self.warm]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number."""

    id: str
    title: str
    unit: str
    """`ns`, `fps`, `share`, `count` or `/s`."""
    formula: Callable[[Any], float | None]
    """Of a `Sample`, or of one of requests; None where it was not recorded, or where there are fewer values than it
    takes (`least`)."""
    population: Population = Population.WARM
    most_is_best: bool | None = False
    """None where neither is better."""

    @property
    def label(self) -> str:
        """Its title, with the population where it is not the default one."""
        return self.title if self.population is Population.WARM else f"{self.title}, {self.population}"


def least(level: float) -> int:
    """Fewest values for a quantile, 1 / (1 - level) above the median: below it the quantile is just the largest value,
    or lies between the largest two, and says nothing that the maximum does not."""
    return 1 if level <= 0.5 else round(1 / (1 - level))


def quantiles(values: IntArray, *levels: float) -> tuple[float | None, ...]:
    """Quantiles that are shown: None below `least` values, shape (n,). O(n log n)."""
    if not len(values):
        return (None,) * len(levels)
    return tuple(
        value if len(values) >= least(level) else None
        for value, level in zip(sample_quantiles(values, *levels), levels, strict=True)
    )


def sample_quantiles(values: IntArray | FloatArray, *levels: float) -> tuple[float, ...]:
    """Quantiles of however few values, shape (n,), for decisions: by linear interpolation between neighboring values
    (Hyndman and Fan, American Statistician 50, 1996, definition 7). There must be a value; NaN where one is. The digits
    are those of `np.quantile`, in a quarter of its time for few values. O(n)."""
    last = len(values) - 1
    places = [level * last for level in levels]
    lower = [math.floor(place) for place in places]
    wanted = sorted({last, *lower, *(min(low + 1, last) for low in lower)})
    at = dict(zip(wanted, np.partition(values, wanted)[wanted].tolist(), strict=True))
    if math.isnan(at[last]):
        return (math.nan,) * len(levels)
    return tuple(
        _between(at[low], at[min(low + 1, last)], place - low) for place, low in zip(places, lower, strict=True)
    )


def _between(low: float, high: float, part: float) -> float:
    """From the nearer of two values, so that it is exact at both ends."""
    return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part))


def median(values: IntArray) -> float | None:
    """Median; None without values. O(n)."""
    return median_of(values) if len(values) else None


def median_of(values: IntArray | FloatArray) -> float:
    """Median of at least one value, shape (n,), none of them NaN: `np.median` takes thrice as long for few. O(n)."""
    middle = len(values) // 2
    parted = np.partition(values, middle)
    high = float(parted[middle])
    return high if len(values) % 2 else (float(parted[:middle].max()) + high) / 2


def fast_enough(latency_ns: float | None) -> float | None:
    """Frames per second that a latency is fast enough for, one prediction per frame: rounded down, below 10 to two
    digits. None without a latency."""
    if not latency_ns:
        return None
    rate = 1e9 / latency_ns
    scale = 1 if rate >= 10 else 10.0 ** (1 - math.floor(math.log10(rate)))
    return math.floor(rate * scale) / scale


def mostly_overlap(alone: BoolArray, warm: BoolArray) -> bool:
    """Whether most warm predictions overlap others, shape (n,) each."""
    return 2 * int((alone & warm).sum()) < int(warm.sum())


def _latency(name: str, title: str, level: float, population: Population = Population.WARM) -> Quantity:
    return Quantity(name, title, "ns", lambda sample: sample.quantile(population, level), population)


def _rate(name: str, title: str, level: float, population: Population = Population.WARM) -> Quantity:
    """Where each prediction is the first after a load, a frame needs the load too, so no rate follows; nor where
    predictions overlap."""

    def formula(sample: Sample) -> float | None:
        known = sample.warm.any() and (population is Population.ALONE or not sample.overlap)
        return fast_enough(sample.quantile(population, level)) if known else None

    return Quantity(name, title, "fps", formula, population, most_is_best=True)


MODEL: Mapping[str, Quantity] = {
    quantity.id: quantity
    for quantity in (
        Quantity("predictions", "predictions", "count", lambda sample: sample.predictions, most_is_best=None),
        _latency("p50_ns", "median", 0.5),
        _latency("p95_ns", "p95", 0.95),
        _latency("p99_ns", "p99", 0.99),
        _latency("all_p50_ns", "median", 0.5, Population.ALL),
        _latency("all_p95_ns", "p95", 0.95, Population.ALL),
        _latency("first_p50_ns", "median", 0.5, Population.FIRST),
        Quantity("load_ns", "load time", "ns", lambda sample: median(sample.loads_ns)),
        Quantity("cold_load_ns", "cold load time", "ns", lambda sample: median(sample.cold_loads_ns)),
        _rate("fps", "fast enough for", 0.5),
        _rate("fps_at_p95", "fast enough for, at p95", 0.95),
        _rate("alone_fps", "fast enough for", 0.5, Population.ALONE),
        Quantity("predictions_per_second", "predictions/s", "/s", lambda sample: sample.per_second, most_is_best=None),
        Quantity(
            "neural_engine_time",
            "Neural Engine, share of time",
            "share",
            lambda sample: sample.neural_engine_time,
            most_is_best=True,
        ),
        Quantity(
            "neural_engine_compute",
            "Neural Engine, share of compute",
            "share",
            lambda sample: sample.compute.get("neural-engine"),
            most_is_best=True,
        ),
    )
}
"""Numbers of one model in one recording, by id."""

PART_TITLES = {
    "neural_engine": "Neural Engine",
    "gpu": "GPU",
    "cpu": "CPU",
    "data": "data",
    "queued": "queued",
    "requested": "requested",
    "other": "other",
    "ambiguous": "ambiguous",
    "unexplained": "unexplained",
    "not_recorded": "not recorded",
}
"""What a prediction's time is taken apart into."""


def mean_id(part: str, population: Population = Population.ALL) -> str:
    """Id of the mean time per prediction of a part (`PART_TITLES`), or of all of it (empty)."""
    return "_".join(filter(None, ("" if population is Population.WARM else "all", "mean", part, "ns")))


PARTS: Mapping[str, Quantity] = {
    mean_id(part, population): Quantity(
        mean_id(part, population), ", ".join(filter(None, (title, "mean"))), "ns", lambda _: None, population
    )
    for population in (Population.ALL, Population.WARM)
    for part, title in (("", ""), *PART_TITLES.items())
}
"""Mean times per prediction, by id: sums of `analysis.breakdown` by the number of predictions, not of a sample."""


def phase_id(kind: str, path: Sequence[str]) -> str:
    """Id of the mean time per call of a phase of inferred calls (`analysis.code.phases`), or of all of such a call
    (no path)."""
    return "_".join((*" ".join((kind, *path)).replace("(", "").replace(")", "").lower().split(), "mean_ns"))


PLANNED = Quantity("planned_neural_engine", "on Neural Engine, plan", "share", lambda _: None, most_is_best=True)
"""Share of the operations that a performance report places on the Neural Engine: never observed."""

LOADS = Quantity("loads", "loads", "count", lambda _: None)
"""How often a model was loaded, counted by `Measurements`."""


def quantities_of(sample: Sample) -> dict[str, float | None]:
    """All numbers of a model, by id. O(n log n) in its predictions."""
    return {name: quantity.formula(sample) for name, quantity in MODEL.items()}
