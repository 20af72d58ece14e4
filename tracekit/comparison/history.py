"""The history of an app: numbers of many recordings as series of builds, with what changed in them.

A series is one model on one kind of device with one system; a long time without a build begins a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from tracekit.analysis.quantities import MODEL
from tracekit.analysis.specialization import Answer, Launch, Specialization, Specializations
from tracekit.arrays import FloatArray
from tracekit.comparison.change_points import MIN_BUILDS, Change, changes_in
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.launches import Launched, Launches
from tracekit.comparison.measurements import Environment, Measurements, ModelMeasurements, utc
from tracekit.comparison.words import arrow, percent_change
from tracekit.grouping import grouped
from tracekit.report.formatting import quantity, word_list
from tracekit.report.report import DRAWN
from tracekit.units import format_count

NEWEST = 12
"""The newest builds: a change that reaches into them is news."""
GAP_DAYS = 30
"""Days without a build that begin a new series, where builds are usually a tenth of that apart (heuristic)."""
RATIOS = ("ns", "/s")
"""Units whose changes are shares."""
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
    "all_p50_ns": Figure("latency, all predictions", "ns", 1),
    "all_p95_ns": Figure("p95, all predictions", "ns", 1),
    "load_ns": Figure("load", "ns", 1),
    "cold_load_ns": Figure("cold load", "ns", 1),
    "predictions_per_second": Figure(MODEL["predictions_per_second"].title, "/s"),
    "neural-engine": Figure("Neural Engine", "share", -1),
    "gpu": Figure("GPU", "share"),
    "cpu": Figure("CPU", "share"),
    "compiled": Figure("times compiled", "count"),
    "findings": Figure("findings", "count", 1),
}
"""By id, in their order; shares are those of compute. Latencies of all predictions are those of a recording with too
few warm ones: the first after a load may take longer, so they are followed apart."""


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
    """Ids of the checks with a finding in each model."""
    report: str = ""
    """Path of the report; empty where there is none to link to."""


@dataclass(frozen=True, slots=True)
class Build:
    """The recordings of one commit, or a recording without one."""

    time: str
    """Of its first recording, in UTC as ISO 8601."""
    commit: str | None
    recordings: int
    findings: tuple[str, ...]
    """Ids of the checks with a finding in any of them."""
    report: str = field(metadata=DRAWN)
    """Path of the report on one of them; empty where there is none."""

    @property
    def day(self) -> datetime:
        """When it was."""
        return datetime.fromisoformat(self.time)


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure of a series."""

    figure: str
    """Key of `FIGURES`."""
    values: tuple[float | None, ...]
    """Of each build: the median of its recordings, in ns, per second, as a share or a count. None: not recorded."""
    changes: tuple[Change, ...]
    """In order; none where fewer than 8 builds have a value."""

    @property
    def known(self) -> list[float]:
        """Values that were recorded."""
        return [value for value in self.values if value is not None]

    @property
    def judged(self) -> bool:
        """Whether there are enough builds to find a change."""
        return len(self.known) >= MIN_BUILDS

    def size(self, before: float, after: float) -> float:
        """How far one level is from another: of times and rates as a share of the first, else the difference."""
        return after / before - 1 if FIGURES[self.figure].unit in RATIOS and before else after - before

    def news(self) -> tuple[Change, ...]:
        """Changes that reach into the newest builds."""
        return tuple(change for change in self.changes if change.first_after >= len(self.values) - NEWEST)

    def moved(self) -> tuple[float, float]:
        """Levels before and after all changes that reach into the newest builds; there has to be one."""
        news = self.news()
        return news[0].before, news[-1].after

    def worsening(self) -> float:
        """How far the newest builds are worse than those before the first change that reaches into them, or 0."""
        return max(FIGURES[self.figure].worse * self.size(*self.moved()), 0.0) if self.news() else 0.0


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

    @property
    def judged(self) -> bool:
        """Whether there are enough builds to find a change of any figure."""
        return any(trend.judged for trend in self.trends)


@dataclass(frozen=True, slots=True)
class History:
    """All series, those that go on first."""

    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    """What could not be read, and what counts once."""
    launches: tuple[Launches, ...] = ()
    """In which recordings each model was compiled."""
    schema_version: int = SCHEMA_VERSION


def recorded_of(recording: Measurements, modified: float, commit: str | None = None, report: str = "") -> Recorded:
    """What a history keeps of a recording; `modified` is the date of its file in seconds, for one that does not say
    when it began, `commit` that of one that does not name any."""
    models, findings = {}, {}
    for model in recording.models:
        ids = [check.id for check in recording.checks if (check.outcome, check.model) == ("finding", model.name)]
        findings[model.name] = tuple(ids)
        quantities = {**model.quantities, "findings": len(ids) if recording.core_ml else None}
        quantities["compiled"] = recording.times_compiled(model.name)
        models[model.name] = tuple(_value(name, model, quantities) for name in FIGURES)
    return Recorded(
        utc(recording.started) or datetime.fromtimestamp(modified, UTC).isoformat(timespec="seconds"),
        *(recording.commit or commit, recording.identity, recording.environment.device, recording.environment.system),
        models,
        findings,
        report,
    )


def _value(name: str, model: ModelMeasurements, quantities: Mapping[str, float | None]) -> float | None:
    """A figure of a model, None where it cannot be followed."""
    unit = FIGURES[name].unit
    if unit == "share":
        return round(share, 4) if (share := model.followed_units.get(name)) is not None else None
    value = quantities[name]
    few = name == "all_p50_ns" and len(model.latencies_ns) < MIN_PREDICTIONS
    if name.endswith(("p50_ns", "p95_ns")):
        few |= (model.warm.sum() < MIN_PREDICTIONS) != name.startswith("all")
    # What call stacks show to a ms cannot be followed to a percent.
    return None if value is None or few or model.inexact.error_ns(name) else round(value, 0 if unit == "ns" else 3)


def launched_of(one: Recorded) -> Launched:
    """A recording of a history as a launch, by its figures alone."""
    models: list[Specialization] = []
    for name, values in one.models.items():
        figures = dict(zip(FIGURES, values, strict=True))
        if (times := figures["compiled"]) is not None:
            answer, ns = (Answer.COMPILED, "cold_load_ns") if times else (Answer.CACHED, "load_ns")
            models.append(Specialization(name, answer, int(times), int(figures[ns] or 0) or None))
    environment = Environment(one.device, one.system, *(None,) * 4)
    shown = Specializations(Launch(None, None, None, one.identity, ""), tuple(models))
    return Launched(one.commit or one.time, environment, one.time, one.commit, shown)


def history_of(recordings: Iterable[Recorded], newest: Sequence[Recorded] = (), notes: Sequence[str] = ()) -> History:
    """The series of some recordings; one that is given twice counts once. `newest` are those of one build, which is the
    newest whatever its date. O(recordings · models · log)."""
    checked = {one.identity for one in newest} - {None}
    earlier = [one for one in recordings if one.identity not in checked]
    latest = max((one.time for one in (*earlier, *newest)), default="")
    given = [*earlier, *(replace(one, time=latest, commit="newest") for one in newest)]
    distinct = {one.identity or id(one): one for one in given}
    series = grouped(((model, one.device, one.system), one) for one in distinct.values() for model in one.models)
    parts = grouped(
        ((model, device), part)
        for (model, device, system), of_one in series.items()
        for part in _parts(model, device, system, of_one)
    )
    linked = []
    for of_device in parts.values():
        of_device.sort(key=lambda part: (part.builds[-1].time, part.builds[0].time))
        for at, part in enumerate(of_device):
            # Why it begins where another ended; the last one goes on.
            before = [other.system for other in of_device[:at] if other.builds[-1].time <= part.builds[0].time]
            systems = [system or "an unknown one" for system in (*before[-1:], part.system)]
            changed = f"system changed from {' to '.join(systems)}" if before else ""
            linked.append(replace(part, begins=part.begins or changed, current=part is of_device[-1]))
    ordered = sorted(linked, key=lambda one: (not one.current, one.model, one.device or "", one.builds[0].time))
    if repeated := len(given) - len(distinct):
        notes = [*notes, f"{format_count(repeated, 'recording is', 'recordings are')} given twice and counted once"]
    return History(tuple(ordered), tuple(notes))


def not_in_newest(history: History) -> Iterator[tuple[Series, str]]:
    """Series of models that the newest build of their device lacks and one of those shortly before has, with a clause
    that says so."""
    for of_device in grouped((one.device, one) for one in history.series if one.current).values():
        times = {build.commit or build.time: build.time for one in of_device for build in one.builds}
        ordered = sorted(times, key=lambda build: (times[build], build == "newest"))[-NEWEST:]
        newest = datetime.fromisoformat(times[ordered[-1]])
        for one in of_device:
            last = one.builds[-1]
            if (last.commit or last.time) in ordered[:-1]:
                where = (
                    f"{last.commit[:7]} ({day_words(last.day, newest)})" if last.commit else day_words(last.day, newest)
                )
                yield one, f"in earlier builds, but not in the newest one; last in {where}"


def _parts(model: str, device: str | None, system: str | None, recorded: Iterable[Recorded]) -> Iterator[Series]:
    """A series for each stretch without a long gap."""
    ordered = sorted(grouped((one.commit or id(one), one) for one in recorded).values(), key=_began)
    steps = np.diff([datetime.fromisoformat(_began(build)).timestamp() / 86_400 for build in ordered])
    gap = max(GAP_DAYS, 10 * float(np.median(steps)) if len(steps) else 0)
    edges = [0, *(np.flatnonzero(steps > gap) + 1).tolist(), len(ordered)]
    for low, high in pairwise(edges):
        begins = f"{steps[low - 1]:,.0f} days without a build" if low else ""
        stretch = ordered[low:high]
        medians: list[Sequence[float | None]] = []
        builds: list[Build] = []
        for build in stretch:
            values = [one.models[model] for one in build]
            if len(values) == 1:
                medians.append(values[0])
            else:
                columns = ([value for value in column if value is not None] for column in zip(*values, strict=True))
                medians.append([float(np.median(column)) if column else None for column in columns])
            report = next((one.report for one in build if one.report), "")
            findings = dict.fromkeys(check for one in build for check in one.findings.get(model, ()))
            builds.append(Build(_began(build), build[0].commit, len(build), tuple(findings), report))
        table = np.array(medians, np.float64)
        known = (table[:, at] > 0 if name == "compiled" else ~np.isnan(table[:, at]) for at, name in enumerate(FIGURES))
        trends = (
            _trend(name, table[:, at]) for at, (name, of) in enumerate(zip(FIGURES, known, strict=True)) if of.any()
        )
        yield Series(model, device, system, begins, False, tuple(builds), tuple(trends))


def _began(recordings: Sequence[Recorded]) -> str:
    return min(one.time for one in recordings)


def _trend(name: str, column: FloatArray) -> Trend:
    """A figure with its changes; times and rates differ by ratios, so their logarithms are followed."""
    places, unit = np.flatnonzero(~np.isnan(column)), FIGURES[name].unit
    values = column[places]
    ratios = unit in RATIOS and bool((values > 0).all())
    trend = Trend(name, tuple(None if math.isnan(value) else value for value in column.tolist()), ())
    changes = []
    for change in changes_in(np.log(values) if ratios else values):
        levels = [math.exp(level) if ratios else level for level in (change.before, change.after)]
        if abs(trend.size(*levels)) >= _LEAST[unit]:
            first, last = int(places[change.last_before]), int(places[change.first_after])
            changes.append(replace(change, last_before=first, first_after=last, before=levels[0], after=levels[1]))
    return replace(trend, changes=tuple(changes))


CERTAIN = 0.9999
"""Confidence from which on words say so."""


def moved_words(trend: Trend) -> str:
    """How far the newest builds are from those before: `+31%`, or both levels of shares and counts."""
    return _size(trend, *trend.moved()) if trend.news() else ""


def _size(trend: Trend, before: float, after: float) -> str:
    unit = FIGURES[trend.figure].unit
    if unit in RATIOS:
        return percent_change(1 + trend.size(before, after))
    return arrow(quantity(round(before, 2), unit), quantity(round(after, 2), unit))


def change_words(series: Series, trend: Trend, change: Change) -> str:
    """A change with its builds, size and day, and how sure it is."""
    first, last = series.builds[change.last_before], series.builds[change.first_after]
    names = [build.commit[:7] for build in (first, last) if build.commit]
    drift, day = change.kind == "drift", day_words(last.day, series.builds[-1].day)
    facts = [_size(trend, change.before, change.after)]
    facts += [f"over {format_count(change.first_after - change.last_before, 'build')} to {day}"] if drift else [day]
    facts.append("certain" if change.confidence >= CERTAIN else f"{change.confidence:.1%} sure")
    if trend.figure == "findings":
        new = [check for check in last.findings if check not in first.findings]
        facts += [f"new: {word_list(new)}"] if new else []
    where = f" {'' if drift else 'at '}{'…'.join(names)}" if len(names) == 2 else ""
    return f"{change.kind}{where} ({', '.join(facts)})"


def day_words(day: datetime, newest: datetime) -> str:
    """A day, with its year if that is not the newest build's."""
    return f"{day.day} {day:%b}" + (f" {day.year}" if day.year != newest.year else "")
