"""The history of an app: numbers of many recordings as series of builds, with what changed in them.

A series is one model on one kind of device with one system; a long time without a build begins a new one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import MODEL
from tracekit.compare.change_points import MIN_BUILDS, changes_in
from tracekit.compare.latency import MIN_PREDICTIONS
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.compare.measurements import Measurements, ModelMeasurements

NEWEST = 12
"""The newest builds: a change that reaches into them is news."""
GAP_DAYS = 30
"""Days without a build that begin a new series, where builds are usually a tenth of that apart (heuristic)."""
_LEAST = {"ns": 0.02, "/s": 0.02, "share": 0.05, "count": 0.5}
"""Smallest change that is reported, by unit: of times and rates as a share (heuristic)."""
SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that is followed."""

    title: str
    unit: str
    """`ns`, `/s`, `share` or `count`."""
    worse: int = 0
    """1 where more is worse, -1 where less is, 0 where neither is."""


FIGURES: Mapping[str, Figure] = {
    "p50_ns": Figure("latency", "ns", 1),
    "p95_ns": Figure("p95", "ns", 1),
    "load_ns": Figure("load", "ns", 1),
    "cold_load_ns": Figure("cold load", "ns", 1),
    "predictions_per_second": Figure(MODEL["predictions_per_second"].title, "/s"),
    "ane": Figure("Neural Engine", "share", -1),
    "gpu": Figure("GPU", "share"),
    "cpu": Figure("CPU", "share"),
    "findings": Figure("findings", "count", 1),
}
"""By id, in their order; shares are those of compute."""


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """One recording in a history: numbers alone, nothing private."""

    time: str
    """When it began, in UTC as ISO 8601; else the date of its file."""
    commit: str | None
    identity: str | None
    device: str | None
    system: str | None
    models: Mapping[str, tuple[float | None, ...]]
    """Values of each model in the order of `FIGURES`. None: not recorded, or too few values."""
    findings: Mapping[str, tuple[str, ...]]
    """Ids of the checks with a finding, for models with any."""
    report: str = ""
    """Path of the report; empty where there is none to link to."""


@dataclass(frozen=True, slots=True)
class Build:
    """The recordings of one commit, or a recording without one."""

    time: str
    """Of its first recording, in UTC as ISO 8601."""
    commit: str | None
    recordings: int
    report: str
    """Path of the report on one of them; empty where there is none."""
    findings: tuple[str, ...]
    """Ids of the checks with a finding in any of them."""

    @property
    def day(self) -> datetime:
        """When it was."""
        return datetime.fromisoformat(self.time)


@dataclass(frozen=True, slots=True)
class Shift:
    """A lasting change of a figure."""

    kind: str
    """`change point` or `drift`."""
    last_before: int
    """Position of the last build that is as before; of a drift, the build that it began after."""
    first_after: int
    """Position of the first build that is as after: a change point lies between the two with 95% confidence."""
    before: float
    """Level before, in the unit of the figure."""
    after: float
    confidence: float
    """Probability that it is no chance."""


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure of a series."""

    figure: str
    """Key of `FIGURES`."""
    values: tuple[float | None, ...]
    """Of each build: the median of its recordings, in ns, per second, as a share or a count. None: not recorded."""
    shifts: tuple[Shift, ...]
    """In order; none where fewer than 8 builds have a value."""

    @property
    def known(self) -> list[float]:
        """Values that were recorded."""
        return [value for value in self.values if value is not None]

    @property
    def judged(self) -> bool:
        """Whether there are enough builds to find a change."""
        return len(self.known) >= MIN_BUILDS

    def change(self, before: float, after: float) -> float:
        """From one level to another: of times and rates as a share of the first, else the difference."""
        return after / before - 1 if FIGURES[self.figure].unit in ("ns", "/s") and before else after - before

    def news(self) -> tuple[Shift, ...]:
        """Changes that reach into the newest builds."""
        return tuple(shift for shift in self.shifts if shift.first_after >= len(self.values) - NEWEST)

    def worsening(self) -> float:
        """How far the newest builds are worse than before the first change that reaches into them; 0 where they are
        not."""
        news = self.news()
        worse = FIGURES[self.figure].worse
        return max(worse * self.change(news[0].before, news[-1].after), 0.0) if news and worse else 0.0


@dataclass(frozen=True, slots=True)
class Series:
    """One model on one kind of device with one system."""

    model: str
    device: str | None
    system: str | None
    begins: str
    """Why it is not the continuation of another series, in a clause; empty for the first."""
    current: bool
    """Whether it is the latest of its model and device."""
    builds: tuple[Build, ...]
    """Oldest first."""
    trends: tuple[Trend, ...]
    """Figures that any build has."""


@dataclass(frozen=True, slots=True)
class History:
    """All series, those that go on first."""

    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    """What could not be read, and what counts once."""
    schema_version: int = SCHEMA_VERSION


@dataclass(slots=True)
class _Members:
    """Recordings of a build, as they are collected."""

    recordings: list[Recorded] = field(default_factory=list)
    values: list[tuple[float | None, ...]] = field(default_factory=list)


def recorded_of(recording: Measurements, modified: float, commit: str | None = None, report: str = "") -> Recorded:
    """What a history keeps of a recording; `modified` is the date of its file in seconds, for one that does not say
    when it began, `commit` that of one that does not name any."""
    found = Counter((check.model, check.id) for check in recording.checks if check.outcome == "finding")
    findings: dict[str, tuple[str, ...]] = {}
    for model, check in found:
        if model is not None:
            findings[model] = (*findings.get(model, ()), check)
    return Recorded(
        _utc(recording.started) or datetime.fromtimestamp(modified, UTC).isoformat(timespec="seconds"),
        recording.commit or commit,
        recording.identity,
        recording.environment.device,
        recording.environment.system,
        {
            model.name: tuple(_values(model, len(findings.get(model.name, ())) if recording.core_ml else None))
            for model in recording.models
        },
        findings,
        report,
    )


def _values(model: ModelMeasurements, findings: int | None) -> Iterator[float | None]:
    quantities, units = model.quantities, dict(model.units)
    for name, figure in FIGURES.items():
        if name == "findings":
            yield findings
        elif figure.unit == "share":
            # Where one unit was recorded, the others had no work.
            yield round(units.get(name, 0.0), 4) if units else None
        elif name == "p50_ns" and len(model.latency_ns) < MIN_PREDICTIONS:
            yield None
        else:
            value = quantities[name]
            # What call stacks show to a ms cannot be followed to a percent.
            yield (
                None
                if value is None or model.inexact.error_ns(name)
                else round(value, 0 if FIGURES[name].unit == "ns" else 3)
            )


def _utc(date: str | None) -> str | None:
    try:
        moment = datetime.fromisoformat(date or "")
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None


def history_of(recordings: Iterable[Recorded], newest: Sequence[Recorded] = (), notes: Sequence[str] = ()) -> History:
    """The series of some recordings. `newest` are recordings of one build, which is the newest whatever its date.
    A recording that is given twice counts once. O(recordings · models · log)."""
    grouped: dict[tuple[str, str | None, str | None], dict[object, _Members]] = {}
    seen: set[str] = set()
    repeated = 0
    is_newest = {id(one) for one in newest}
    for one in (*newest, *recordings):
        if one.identity is not None and one.identity in seen:
            repeated += 1
            continue
        seen.update(() if one.identity is None else (one.identity,))
        build = "newest" if id(one) in is_newest else one.commit or object()
        for model, values in one.models.items():
            members = grouped.setdefault((model, one.device, one.system), {}).setdefault((build,), _Members())
            members.recordings.append(one)
            members.values.append(values)
    series = [part for key, builds in grouped.items() for part in _parts(*key, builds)]
    more = [f"{format_count(repeated, 'recording is', 'recordings are')} given twice and counted once"] * bool(repeated)
    return History(tuple(_linked(series)), (*notes, *more))


def _parts(model: str, device: str | None, system: str | None, builds: Mapping[object, _Members]) -> Iterator[Series]:
    """A series for each stretch without a long gap."""
    last = builds.get(("newest",))
    ordered = sorted((each for each in builds.values() if each is not last), key=_began)
    ordered += [] if last is None else [last]
    times = np.array([datetime.fromisoformat(_began(each)).timestamp() for each in ordered]) / 86_400
    steps = np.diff(times)
    gap = max(GAP_DAYS, 10 * float(np.median(steps)) if len(steps) else 0)
    edges = [0, *(np.flatnonzero(steps > gap) + 1).tolist(), len(ordered)]
    for low, high in pairwise(edges):
        begins = f"{steps[low - 1]:,.0f} days without a build" if low else ""
        table = np.array([_medians(each.values) for each in ordered[low:high]], np.float64)
        trends = (_trend(name, table[:, at]) for at, name in enumerate(FIGURES) if not np.isnan(table[:, at]).all())
        yield Series(model, device, system, begins, True, tuple(_builds(model, ordered[low:high])), tuple(trends))


def _began(members: _Members) -> str:
    return min(one.time for one in members.recordings)


def _medians(values: Sequence[tuple[float | None, ...]]) -> Sequence[float | None]:
    if len(values) == 1:
        return values[0]
    columns = ([value for value in column if value is not None] for column in zip(*values, strict=True))
    return [float(np.median(column)) if column else None for column in columns]


def _builds(model: str, ordered: Iterable[_Members]) -> Iterator[Build]:
    for members in ordered:
        recordings = members.recordings
        report = next((one.report for one in recordings if one.report), "")
        findings = dict.fromkeys(check for one in recordings for check in one.findings.get(model, ()))
        yield Build(_began(members), recordings[0].commit, len(recordings), report, tuple(findings))


def _trend(name: str, column: np.ndarray) -> Trend:
    """A figure with its changes; times and rates differ by ratios, so their logarithms are followed."""
    places = np.flatnonzero(~np.isnan(column))
    values = column[places]
    ratios = FIGURES[name].unit in ("ns", "/s") and bool((values > 0).all())
    shifts = []
    for change in changes_in(np.log(values) if ratios else values):
        before, after = (math.exp(level) if ratios else level for level in (change.before, change.after))
        size = abs(after / before - 1) if ratios else abs(after - before)
        if size >= _LEAST[FIGURES[name].unit]:
            kind = "drift" if change.drift else "change point"
            first, last = int(places[change.last_before]), int(places[change.first_after])
            shifts.append(Shift(kind, first, last, before, after, change.confidence))
    known = tuple(None if math.isnan(value) else value for value in column.tolist())
    return Trend(name, known, tuple(shifts))


def _linked(series: Iterable[Series]) -> Iterator[Series]:
    """The series with why each begins where another ended; those that go on first, by model."""
    by_model: dict[tuple[str, str | None], list[Series]] = {}
    for one in series:
        by_model.setdefault((one.model, one.device), []).append(one)
    current: list[Series] = []
    ended: list[Series] = []
    for parts in by_model.values():
        parts.sort(key=lambda part: (part.builds[-1].time, part.builds[0].time))
        for at, part in enumerate(parts):
            begins = part.begins
            earlier = [other for other in parts[:at] if other.builds[-1].time <= part.builds[0].time]
            if not begins and earlier:
                begins = f"system changed from {earlier[-1].system or 'an unknown one'} to {part.system or 'unknown'}"
            is_last = at == len(parts) - 1
            linked = Series(part.model, part.device, part.system, begins, is_last, part.builds, part.trends)
            (current if is_last else ended).append(linked)
    yield from sorted(current, key=lambda one: (one.model, one.device or ""))
    yield from sorted(ended, key=lambda one: (one.model, one.device or "", one.builds[0].time))
