"""The verdict on a build: limits, findings, and the comparison with a baseline. Nothing passes in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from tracekit._version import __version__
from tracekit.analysis.specialization import Answer
from tracekit.analysis.where.verdict import Whereabouts
from tracekit.comparison.baseline import (
    Baseline,
    environment_items,
    held_models,
    method_items,
    model_items,
    new_finding_items,
)
from tracekit.comparison.change_points import MIN_BUILDS
from tracekit.comparison.comparison import OF_ANSWERS, WITH_ITSELF, Comparison, check_repeats, compare, one_is_hot
from tracekit.comparison.history import FIGURES, History, Recorded, Series, change_words, moved_words, not_in_newest
from tracekit.comparison.latency import Reason
from tracekit.comparison.measurements import CheckResult, Environment, Measurements
from tracekit.comparison.settings import CheckSettings, Floors
from tracekit.comparison.verdict import Item, ModelFigures, Verdict, figures_of, limit_items
from tracekit.grouping import grouped
from tracekit.report.formatting import word_list
from tracekit.report.report import SEVERITIES
from tracekit.units import format_count, format_names, format_share, format_time


@dataclass(frozen=True, slots=True)
class Allowed:
    """What would fail or stop a check, and is allowed for this one."""

    environment_change: bool = False
    missing: tuple[str, ...] = ()
    """Patterns of models that may be gone since the baseline."""
    no_baseline: bool = False
    """There is no baseline yet."""


@dataclass(frozen=True, slots=True)
class RanOn:
    """Where a model ran in one recording, to be kept with a release."""

    model: str
    recording: str
    sha256: str | None
    """Of the file, or of the list of its files with the hash of each; None where it is not at hand."""
    identity: str | None
    """Which recording it is, in copies and exports alike."""
    environment: Environment
    commit: str | None
    where: Whereabouts


SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""


@dataclass(frozen=True, slots=True)
class Gate:
    """All that was checked."""

    verdict: Verdict
    """Never `Verdict.NOT_COUNTED`."""
    items: tuple[Item, ...]
    """What decides first."""
    comparison: Comparison | None
    """With the baseline; None without one."""
    models: tuple[ModelFigures, ...] = ()
    """Those of the recordings, whether they have limits or not."""
    ran_on: tuple[RanOn, ...] = ()
    """Where each model ran, in each recording."""
    model_files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the model files that were given, by name."""
    tracekit: str = __version__
    schema_version: int = SCHEMA_VERSION


def check(
    recordings: Sequence[Measurements],
    settings: CheckSettings,
    baseline: Baseline | None,
    *,
    today: date,
    allowed: Allowed | None = None,
    renames: Mapping[str, str] | None = None,
    floors: Floors | None = None,
    problems: Sequence[Item] = (),
) -> Gate:
    """Check recordings of one build. `renames` maps names of models in the baseline to those in the recordings;
    `problems` are items about recordings and a baseline that could not be read.

    Raises `UsageError` for a recording that is given twice, and where `compare` does.
    """
    allowed, floors = allowed or Allowed(), floors or Floors()
    check_repeats(recordings)
    models = figures_of(recordings)
    items = list(problems)
    if not recordings and not problems:
        items.append(Item(Verdict.ERROR, "input", None, "no recording, so nothing was checked"))
    comparison = None
    if baseline is not None and recordings:
        comparison = compare(baseline.recordings, recordings, renames=renames, floors=floors)
        notes = (one for one in comparison.notes if one not in OF_ANSWERS and not one.startswith(WITH_ITSELF))
        comparison = replace(comparison, notes=tuple(notes))
        # What makes all the rest doubtful comes first.
        items = [*environment_items(baseline, recordings, comparison, allowed=allowed.environment_change), *items]
    for recording in recordings:
        if not any(model.predictions for model in recording.models):
            text = f"{recording.source} contains no predictions; `tracekit analyze` says what to record"
            items.append(Item(Verdict.ERROR, "input", None, text, recording.source))
    if allowed.no_baseline:
        text = "there is no baseline yet, so nothing was compared; save one with `tracekit check --save-baseline`"
        items.append(Item(Verdict.NOT_COUNTED, "baseline", None, text, None, ("baseline",)))
    if settings.late_frames is not None:
        items += [_late_item(recording, settings.late_frames) for recording in recordings]
    if settings.compiled is not None:
        items += [_compiled_item(recording, settings.compiled) for recording in recordings]
    if not items and not settings.limits and not settings.findings and baseline is None:
        text = "nothing to check against: 'tracekit check --init RECORDING' writes limits; or give --baseline"
        items.append(Item(Verdict.ERROR, "config", None, text))
    results = [result for recording in recordings for result in recording.checks]
    if recordings:
        items += limit_items(models, settings)
        items += _finding_items(results, settings, today)
    items += _suppression_items(results, settings, today)
    if baseline is not None and comparison is not None:
        items += method_items(baseline)
        held = held_models(baseline.recordings, recordings, comparison, floors)
        if one_is_hot(baseline.recordings, recordings) and not allowed.environment_change:
            held = {name: one and replace(one, passed=None, reason=Reason.HOT) for name, one in held.items()}
        items += model_items(comparison, held, allowed.missing)
        items += new_finding_items(comparison, baseline, settings, today)
        before = (one for recording in baseline.recordings for one in recording.checks)
        evaluated = {one.id for one in before if one.outcome in ("finding", "passed")}
        evaluated -= {one.id for one in results if one.outcome in ("finding", "passed")}
        if lacking := _lacking(one for one in results if one.id in evaluated):
            text = f"evaluated in the baseline, not now: {_lacking_words(lacking)}"
            items.append(Item(Verdict.INCONCLUSIVE, "findings", None, text, "lacking", ("baseline",)))
    return gate_of(items, comparison, models)


def gate_of(items: Sequence[Item], comparison: Comparison | None = None, models: tuple[ModelFigures, ...] = ()) -> Gate:
    """The verdict on items: that of the worst. Without any, nothing was checked."""
    order = list(Verdict)
    ordered = tuple(sorted(items, key=lambda item: order.index(item.verdict)))
    verdict = ordered[0].verdict if ordered else Verdict.ERROR
    return Gate(Verdict.PASSED if verdict is Verdict.NOT_COUNTED else verdict, ordered, comparison, models)


def _late_item(recording: Measurements, most_ns: float) -> Item:
    """Whether frames of a recording come no later than is allowed."""
    bound, measured, setting = f"allowed: at most {format_time(most_ns)}/s", recording.late_ns, ("late-frames",)
    if measured is None:
        text = f"late frames were not recorded in {recording.source}; record with --frames; {bound}"
        return Item(Verdict.INCONCLUSIVE, "late-frames", None, text, recording.source, setting, None, most_ns)
    verdict = Verdict.PASSED if measured <= most_ns else Verdict.FAILED
    text = f"{format_time(measured)} late per second of animation, {bound}"
    return Item(verdict, "late-frames", None, text, recording.source, setting, measured, most_ns)


def _compiled_item(recording: Measurements, most: float) -> Item:
    """Whether no more models were compiled in a recording than may be."""
    models = () if recording.specializations is None else recording.specializations.models
    compiled = [f"{one.model} {format_time(one.ns or 0)}" for one in models if one.answer == Answer.COMPILED]
    unknown = [f"{one.model}: {one.why}" for one in models if one.answer not in (Answer.COMPILED, Answer.CACHED)]
    text = (
        f"{format_count(len(compiled), 'model')} compiled for the device{f' ({word_list(compiled)})' * bool(compiled)}"
    )
    verdict = Verdict.FAILED if len(compiled) > most else Verdict.PASSED
    if len(compiled) <= most < len(compiled) + len(unknown) or not models:
        verdict = Verdict.INCONCLUSIVE
        text += f"; unknown: {'; '.join(unknown) or 'no model was loaded'}; record from the launch on"
    about = f"{recording.source}: {text}, allowed: {most:g}"
    return Item(verdict, "compiled", None, about, recording.source, ("compiled",), len(compiled), most)


def _finding_items(results: Sequence[CheckResult], settings: CheckSettings, today: date) -> Iterator[Item]:
    """An item for each severity that has a limit. A check that finds something in several models counts once."""
    if not settings.findings:
        return
    ids_by_outcome = grouped((one.outcome, one.id) for one in results)
    evaluated = {*ids_by_outcome.get("finding", ()), *ids_by_outcome.get("passed", ())}
    blind = {*ids_by_outcome.get("not_evaluated", ())} - evaluated
    unknown = f"; {format_count(len(blind), 'check')} not evaluated" if blind else ""
    unsuppressed = [one for one in results if not settings.suppresses(one.id, one.model, today)]
    lost = _lacking(one for one in unsuppressed if one.lost and one.id not in evaluated)
    counted = [one for one in unsuppressed if one.outcome == "finding"]
    for severity in SEVERITIES:
        if (allowed := settings.findings.get(severity)) is not None:
            ids = dict.fromkeys(result.id for result in counted if result.severity == severity)
            listed = f" ({', '.join(ids)})" if ids else ""
            verdict = Verdict.FAILED if len(ids) > allowed else Verdict.INCONCLUSIVE if lost else Verdict.PASSED
            why = f"; {_lacking_words(lost)}" if verdict is Verdict.INCONCLUSIVE else unknown
            text = f"{format_count(len(ids), f'{severity} finding')}{listed}, allowed: {allowed}{why}"
            yield Item(verdict, "findings", None, text, severity, ("findings", severity), len(ids), allowed)
    if failed := dict.fromkeys(ids_by_outcome.get("error", ())):
        text = f"{format_count(len(failed), 'check')} failed, so what they would find is unknown: {', '.join(failed)}"
        yield Item(Verdict.ERROR, "findings", None, text, "failed checks", ("findings",))
    if not evaluated:
        text = "no check could be evaluated"
        yield Item(Verdict.INCONCLUSIVE, "findings", None, text, "evaluated", ("findings",))


def _lacking(results: Iterable[CheckResult]) -> dict[str, list[str]]:
    """Checks that were not evaluated because an instrument shows nothing, by what is said of it."""
    ids = grouped((one.lacks, one.id) for one in results if one.lacks)
    return {reason: [*dict.fromkeys(checks)] for reason, checks in ids.items()}


def _lacking_words(lacking: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{format_names(ids)} not evaluated ({why})" for why, ids in lacking.items())


def _suppression_items(results: Sequence[CheckResult], settings: CheckSettings, today: date) -> Iterator[Item]:
    """An item for each suppression that has expired, and for each that hides a finding."""
    findings = [result for result in results if result.outcome == "finding"]
    for number, entry in enumerate(settings.suppressions):
        setting = ("suppress", number)
        if entry.expires < today:
            text = f"the suppression of {entry.finding} expired on {entry.expires} ({entry.reason})"
            yield Item(Verdict.FAILED, "suppression", None, text, entry.finding, setting)
        elif any(entry.covers(result.id, result.model) for result in findings):
            text = f"{entry.finding} does not count until {entry.expires} ({entry.reason})"
            yield Item(Verdict.NOT_COUNTED, "suppression", None, text, entry.finding, setting)


def history_items(history: History, newest: Sequence[Recorded], floors: Floors) -> Iterator[Item]:
    """An item for each figure that became worse by more than is allowed, and one for the others of each model. Steps
    that each pass a check add up there."""
    latest = sorted(history.series, key=lambda one: one.builds[-1].time)
    series_of = {(one.model, one.device, one.system): one for one in latest}
    for key in dict.fromkeys((model, one.device, one.system) for one in newest for model in one.models):
        builds_there = [one for one in latest if one.model == key[0] and None not in (one.device, one.system)]
        if builds_there and None in key:
            text = "device or system is unknown, so the history is of others; export the table of contents too"
            yield Item(Verdict.INCONCLUSIVE, "history", key[0], text, None, ("history",))
        yield from _series_items(series_of[key], floors.of(key[0]).allow)
    yield from _compiled_anew(series_of.values())
    devices = {one.device for one in newest if one.models}
    for series, text in not_in_newest(history):
        if series.device in devices:
            yield Item(Verdict.NOT_COUNTED, "history", series.model, text, None, ("history",))


EARLIER = 5
"""Builds before the newest that say whether a model was compiled in them too."""


def _compiled_anew(series: Iterable[Series]) -> Iterator[Item]:
    """An item for each model that the newest build compiled and none of those right before it."""
    for one in series:
        of = next((trend.values for trend in one.trends if trend.figure == "compiled"), (None,))
        known = [value for value in of[:-1] if value is not None][-EARLIER:]
        if of[-1] and known and not any(known):
            text = f"compiled in this build, and in none of the {format_count(len(known), 'build')} before it that tell"
            yield Item(Verdict.NOT_COUNTED, "history", one.model, text, None, ("history",))


def _series_items(series: Series, allow: float) -> Iterator[Item]:
    setting = ("history",)
    bound, texts, steady, latency = f", allowed: at most {format_share(allow)}", [], [], False
    for trend in series.trends:
        worse, figure = trend.worsening(), FIGURES[trend.figure]
        changes = "; ".join(change_words(series, trend, change) for change in trend.news())
        # A single change says how far it moved.
        text = f"{figure.title} {moved_words(trend) if len(trend.news()) > 1 else ''}".rstrip() + f": {changes}{bound}"
        if not trend.judged or trend.values[-1] is None or not figure.worse or figure.unit == "count":
            continue
        latency |= trend.figure.endswith("p50_ns")
        if worse > allow:
            about = f"{trend.figure}:{series.model}"
            yield Item(Verdict.FAILED, "history", series.model, text, about, setting, worse, allow)
        elif worse:
            texts.append(text)
        else:
            steady.append(figure.title)
    builds = format_count(len(series.builds), "build")
    texts += [f"{word_list(steady)} not worse over {builds}"] if steady else []
    if texts:
        yield Item(Verdict.PASSED, "history", series.model, "; ".join(texts), None, setting)
    followed = [trend for trend in series.trends if trend.judged and trend.figure in ("p50_ns", "neural-engine")]
    if lacking := [FIGURES[trend.figure].title for trend in followed if trend.values[-1] is None]:
        text = f"{word_list(lacking)}: not known of the newest build"
        yield Item(Verdict.INCONCLUSIVE, "history", series.model, text, "not known", setting)
    elif series.judged and not latency and any(trend.figure.endswith("p50_ns") for trend in series.trends):
        text = f"latency is not checked: fewer than {MIN_BUILDS} builds have it, or the newest does not"
        yield Item(Verdict.NOT_COUNTED, "history", series.model, text, None, setting)
    if not series.judged:
        because = f" ({series.begins})" if series.begins else ""
        text = f"{builds}{because}; a change can be found from {MIN_BUILDS} on"
        yield Item(Verdict.NOT_COUNTED, "history", series.model, text, None, setting)
