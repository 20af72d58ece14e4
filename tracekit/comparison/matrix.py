"""Models × recordings: the same figures of many recordings side by side, the best of each row marked.

A row does not know what its figures were measured from, so that other sources than recordings can stand beside them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median

import numpy as np

from tracekit.analysis.quantities import LOADS, MODEL, PLANNED, Quantity, Sample, fast_enough
from tracekit.arrays import IntArray
from tracekit.comparison import words
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.launches import Launches
from tracekit.comparison.measurements import EXACT, Inexact, Measurements, ModelMeasurements, least_exact
from tracekit.comparison.sampling import quantile_interval
from tracekit.comparison.settings import Floor
from tracekit.errors import UsageError, unknown
from tracekit.grouping import grouped
from tracekit.model_files.performance.facts import ComputeUnit, PerformanceReport
from tracekit.recording.contents import SIMULATOR
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count

SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""

USED = 0.01
"""Least share of the execution from which a compute unit counts as used."""

TIE = 0.005
"""Values that differ from the best by no more than this share of it are the best, too: they look the same."""

PERFORMANCE_REPORT = "performance report"
"""Kind of a source."""

REPORTS_NOTE = (
    "Performance reports time a model alone, without the app; their compute units and the operations on the Neural "
    "Engine are planned, not observed."
)

NO_TEST = (
    "* best of its row, by more than 5% and by more than values vary within a recording; `tracekit compare` tests it."
)

_USUAL = Floor().ratio / 2
"""By how much a time is off at least, as times of one build differ from recording to recording."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one source says of one model. None or missing: not measured, or too few values."""

    model: str
    quantities: Mapping[str, float | None]
    """By the ids of `FIGURES`."""
    units: tuple[str, ...]
    """Compute units that executed it, or are planned to, as Apple calls them."""
    inexact: Inexact = EXACT
    """How exact its quantities are."""
    noise: Mapping[str, float] = field(default_factory=dict)
    """By how much they may differ by chance, as a share: half of the interval within the recording."""

    def error(self, figure: str) -> float:
        """How far one of its quantities may be off."""
        value = self.quantities.get(figure) or 0.0
        if FIGURES[figure].unit != "ns" and figure != "fps":
            return self.inexact.error_ns(figure)
        by_chance = value * max(_USUAL, self.noise.get(figure, 0.0))
        # The inverse of a latency.
        inexact = value * value * self.inexact.latency_ns / 1e9 if figure == "fps" else self.inexact.error_ns(figure)
        return max(by_chance, inexact)


@dataclass(frozen=True, slots=True)
class Source:
    """Something that holds figures of models."""

    name: str
    kind: str
    """What it is: `recording` or `performance report`."""
    device: str | None
    system: str | None
    models: tuple[Figures, ...]
    notes: tuple[str, ...] = ()
    """What to know of its figures, one sentence each."""
    started: str | None = None
    """When it began, as ISO 8601."""

    @property
    def facts(self) -> tuple[str | None, str | None, str | None]:
        """Device, system, and the compute units that any of its models used, in the order of `DEVICE_NAMES`."""
        used = {unit for model in self.models for unit in model.units}
        return self.device, self.system, ", ".join(name for name in DEVICE_NAMES.values() if name in used) or None


@dataclass(frozen=True, slots=True)
class Column:
    """One label, and the sources that have it."""

    label: str
    device: str | None
    system: str | None
    units: str | None
    """Compute units that executed models."""
    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    recorded: str | None
    """The day, or the first and the last one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one model, a value for each column; of several sources with one label their median."""

    model: str
    figure: str
    """A key of `FIGURES`."""
    values: tuple[float | None, ...]
    best: tuple[int, ...]
    """Positions of the best values; empty where less than two are known, one is a lower bound or all are the same."""
    at_least: tuple[int, ...]
    """Positions of the values that are lower bounds."""
    resolution_ns: int
    """Durations have no more digits than that."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """All figures."""

    schema_version: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    """By model, in the order of the first source that holds it."""
    notes: tuple[str, ...]
    launches: tuple[Launches, ...] = ()
    """In which recordings each model was compiled."""


def _tokens_per_second(sample: Sample) -> float | None:
    return 1e9 / latency_ns if (latency_ns := MODEL["all_p50_ns"].formula(sample)) else None


WARM, ALL = ("p50_ns", "p95_ns"), ("all_p50_ns", "all_p95_ns")

_COMPILED = Quantity("compiled", "times compiled", "count", lambda _: None, most_is_best=None)
_SHOWN = (
    *WARM,
    *ALL,
    LOADS.id,
    _COMPILED.id,
    "load_ns",
    "cold_load_ns",
    "fps",
    "neural_engine_compute",
    PLANNED.id,
    "predictions",
)
_COUNTED = {name: name.replace("_", " ") for name in ("signposts", "first_tokens", "next_tokens")}
"""What is counted in place of predictions where there is no model, or one of language."""
_RATE = Quantity("tokens_per_second", "tokens/s at the median", "/s", _tokens_per_second, most_is_best=None)
FIGURES: dict[str, Quantity] = {
    **{name: {**MODEL, LOADS.id: LOADS, _COMPILED.id: _COMPILED, PLANNED.id: PLANNED}[name] for name in _SHOWN},
    _RATE.id: _RATE,
    **{name: replace(MODEL["predictions"], id=name, title=title) for name, title in _COUNTED.items()},
}
"""Rows of a model, in order."""


def sources_of(recordings: Sequence[Measurements]) -> list[Source]:
    """Recordings as sources. The latencies of a model are of its warm predictions in all recordings, or else of all."""
    every = set()
    for model in chain.from_iterable(recording.models for recording in recordings):
        count, warm = len(model.latencies_ns), int(model.warm.sum())
        # Those that are warm stand for a model also where it has too few in all, but any that is warm.
        if count and (not warm or warm < MIN_PREDICTIONS <= count):
            every.add(model.name)
    sources = []
    for one in recordings:
        environment = one.environment
        rates = ("fps",) if environment.simulated else ()
        figures = tuple(
            _figures(model, (*rates, *(WARM if model.name in every else ALL)), one.times_compiled(model.name))
            for model in one.models
        )
        notes: list[str] = []
        if one.environment.simulated:
            notes.append(f"{one.source}: {SIMULATOR}.")
        inexact = least_exact(model.inexact for model in one.models)
        if margin := words.margin(inexact):
            more = "; there may be more loads than were seen" if inexact.loads_at_least else ""
            notes.append(f"{one.source}: {margin}{more}.")
        if any(len(model.other_loads_ns) for model in one.models):
            notes.append(f"{one.source}: the load time includes loads that may have been cold.")
        facts = (environment.device, environment.system, figures, tuple(notes), one.started)
        sources.append(Source(one.source, "recording", *facts))
    return sources


def _figures(model: ModelMeasurements, hidden: Collection[str], compiled: int | None) -> Figures:
    quantities = {name: value for name, value in model.quantities.items() if name not in hidden}
    for name, title in _COUNTED.items():
        if model.counted == title:
            quantities |= {"predictions": None, name: model.predictions}
            if name != "signposts":
                quantities |= {"fps": None, _RATE.id: _RATE.formula(model.sample) if name == "next_tokens" else None}
    noise: dict[str, float] = {}
    for prefix, values in (("", model.warm_ns), ("all_", model.latencies_ns)):
        if len(values) >= MIN_PREDICTIONS:
            noise |= {f"{prefix}p50_ns": _half_width(values), f"{prefix}p95_ns": _half_width(values, 0.95)}
    for name, values in (("load_ns", model.sample.loads_ns), ("cold_load_ns", model.cold_loads_ns)):
        noise[name] = _half_width(values) if len(values) >= MIN_PREDICTIONS else _OF_FEW
    half_widths = noise | ({"fps": noise["p50_ns"]} if "p50_ns" in noise else {})
    return Figures(
        model.name,
        quantities | {LOADS.id: model.loads or None, _COMPILED.id: compiled},
        tuple(DEVICE_NAMES[Device(name)] for name, share in model.followed_units.items() if share >= USED),
        model.inexact,
        half_widths,
    )


def _half_width(values: IntArray, quantile: float = 0.5) -> float:
    low, high = quantile_interval(values, quantile)
    return (high - low) / (high + low)


_OF_FEW = 0.2
"""By how much a few loads may differ by chance, as a share (heuristic)."""


def source_of_report(report: PerformanceReport) -> Source:
    """A report as a source. Its placement is a plan, so it has no share of the Neural Engine in what was executed; a
    report without operations states no compute units. O(operations)."""
    prediction, load, counts = report.prediction, report.load, report.counts
    latency_ns = prediction.median_ns if prediction else None
    quantities = {
        "predictions": (prediction.count or None) if prediction else None,
        "p50_ns": latency_ns,
        "fps": fast_enough(latency_ns),
        "load_ns": load.median_ns if load else None,
        "cold_load_ns": median(load.first_ns) if load and load.first_ns else None,
        PLANNED.id: counts.get(ComputeUnit.NEURAL_ENGINE, 0) / sum(counts.values()) if counts else None,
    }
    figures = Figures(report.name, quantities, tuple(map(str, counts)))
    return Source(report.source, PERFORMANCE_REPORT, report.device, report.system, (figures,))


def matrix(sources: Sequence[Source], labels: Sequence[str], notes: Iterable[str] = ()) -> Matrix:
    """The figures of all sources; `labels` has one for each, and sources with the same one share a column."""
    groups = grouped(zip(labels, sources, strict=True))
    models = [model for source in sources for model in source.models]
    names = dict.fromkeys(model.model for model in models)
    every = (_row(name, figure, list(groups.values())) for name in names for figure in FIGURES)
    rows = tuple(
        row for row in every if any(value or (value == 0 and row.figure != _COMPILED.id) for value in row.values)
    )
    explained = [NO_TEST] if any(row.best for row in rows) else []
    if any(len(group) > 1 for group in groups.values()):
        explained.append("Several recordings with one label: the median of their values; counts are added up.")
    if any(model.quantities.get("predictions") and model.quantities.get("fps", 0) is None for model in models):
        explained.append("fast enough for –: each frame would wait for a load, or for other predictions in flight.")
    explained += [note for source in sources for note in source.notes]
    explained += [f"{source.name}: no predictions or loads recorded." for source in sources if not source.models]
    if any(source.kind == PERFORMANCE_REPORT for source in sources):
        explained.append(REPORTS_NOTE)
    columns: list[Column] = []
    for label, group in groups.items():
        values = (
            (value for value in of_all if value is not None)
            for of_all in zip(*(one.facts for one in group), strict=True)
        )
        device, system, units = (" / ".join(dict.fromkeys(value)) or None for value in values)
        kinds = tuple(dict.fromkeys(source.kind for source in group))
        days = sorted({source.started[:10] for source in group if source.started})
        recorded = " to ".join(dict.fromkeys(days[:1] + days[-1:])) or None
        columns.append(Column(label, device, system, units, tuple(source.name for source in group), kinds, recorded))
    return Matrix(SCHEMA_VERSION, tuple(columns), rows, (*explained, *notes))


def _row(name: str, figure: str, groups: Sequence[Sequence[Source]]) -> Row:
    models = [[model for source in group for model in source.models if model.model == name] for group in groups]
    inexact = [least_exact(model.inexact for model in group) for group in models]
    at_least = tuple(at for at, one in enumerate(inexact) if figure == LOADS.id and one.loads_at_least)
    resolution_ns = max(one.resolution_ns for one in inexact)
    values = tuple(_value(figure, group) for group in models)
    distinct = {value for value in values if value is not None}
    wants_most = FIGURES[figure].most_is_best
    predictions = [count for group in models if (count := _value("predictions", group))]
    if figure == LOADS.id and predictions and min(predictions) < 0.9 * max(predictions):
        wants_most = None  # Who predicts for longer may load more often.
    best: list[int] = []
    if wants_most is not None and len(distinct) > 1 and not at_least:
        wanted = max(distinct) if wants_most else min(distinct)
        errors = [max((model.error(figure) for model in group), default=0) for group in models]
        margin = max(TIE * wanted, errors[values.index(wanted)])
        near = zip(values, errors, strict=True)
        best = [at for at, (one, error) in enumerate(near) if one is not None and abs(one - wanted) <= margin + error]
    marked = tuple(best) if len(best) < len(values) - values.count(None) else ()
    return Row(name, figure, values, marked, at_least, resolution_ns)


def _value(figure: str, models: Sequence[Figures]) -> float | None:
    measured = [value for model in models if (value := model.quantities.get(figure)) is not None]
    return float(sum(measured) if FIGURES[figure].unit == "count" else np.median(measured)) if measured else None


PLACEHOLDERS = ("{device}", "{system}", "{units}", "{name}")
"""What a label may take from the recording."""


def labels_of(sources: Sequence[Source], given: Sequence[str | None]) -> list[str]:
    """A label for each source: the one that is given, its placeholders filled in; else what sets it apart.

    That is what differs of device, system and compute units, or else the name, with its date or a number if it occurs
    again.
    """
    facts = [source.facts for source in sources]
    differing = [index for index in range(3) if len({fact[index] for fact in facts}) > 1]
    told = [" · ".join(fact[index] or "not recorded" for index in differing) for fact in facts]
    if not differing or len(set(told)) < len(told):
        names = [source.name for source in sources]
        dated = [f"{one.name} {(one.started or '')[:16].replace('T', ' ')}".strip() for one in sources]
        names = [date if names.count(name) > 1 else name for name, date in zip(names, dated, strict=True)]
        nth = [names[:at].count(name) + 1 for at, name in enumerate(names)]
        told = [f"{name} ({at})" if names.count(name) > 1 else name for name, at in zip(names, nth, strict=True)]
    labels = []
    for source, label, differences in zip(sources, given, told, strict=True):
        text = differences if label is None else label
        if label is not None:
            for placeholder, value in zip(PLACEHOLDERS, (*source.facts, source.name), strict=True):
                text = text.replace(placeholder, value or "not recorded")
        labels.append(text)
    return labels


def expanded_labels(labels: Sequence[str], counts: Sequence[int]) -> list[str | None]:
    """The label of each recording, of labels for each path and the recordings that it means.

    One label counts for all paths. Raises `UsageError` for another number than of paths, and unknown placeholders.
    """
    for placeholder in (match for label in labels for match in re.findall(r"\{\w*\}", label)):
        if placeholder not in PLACEHOLDERS:
            raise unknown("placeholder in --label", placeholder, PLACEHOLDERS)
    if len(labels) < 2:
        return [labels[0] if labels else None] * sum(counts)
    if len(labels) != len(counts):
        raise UsageError(
            f"--label is given {len(labels)} times for {format_count(len(counts), 'path')}; give one for each, or "
            "one for all, such as '{device}'"
        )
    return [label for label, count in zip(labels, counts, strict=True) for _ in range(count)]
