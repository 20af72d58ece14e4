"""What recordings of a build say against a baseline."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from tracekit._version import __version__
from tracekit.compare import words
from tracekit.compare.comparison import EACH_BY_ITSELF, Comparison, compare
from tracekit.compare.findings import FindingChange, FindingStatus
from tracekit.compare.latency import METHOD_VERSION, Answer, LatencyChange, Reason
from tracekit.compare.measurements import Measurements, of_model
from tracekit.compare.models import ModelComparison, Presence, compare_model
from tracekit.compare.verdict import Item, Verdict
from tracekit.detectors.options import matches

if TYPE_CHECKING:
    from tracekit.compare.baseline import Baseline
    from tracekit.compare.settings import CheckSettings, Floors

_VERDICTS = {Answer.REGRESSED: Verdict.FAILED, Answer.INCONCLUSIVE: Verdict.INCONCLUSIVE}


def compare_with_baseline(
    baseline: Baseline, recordings: Sequence[Measurements], renames: Mapping[str, str], floors: Floors
) -> Comparison:
    """The comparison with changes kept only as far as Holm's procedure keeps them over all models.

    The strongest of m changes must hold at a level of 1 - 0.05/m, the next at 1 - 0.05/(m - 1), and so on; from the
    first that does not on, none counts (Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    comparison = compare(baseline.recordings, recordings, renames=renames, floors=floors)
    compared = comparison.compared
    changed = [model for model in compared if model.latency.answer in (Answer.REGRESSED, Answer.IMPROVED)]
    changed.sort(key=lambda model: -_strength(model))
    dropped = set()
    for rank, model in enumerate(changed):
        strict = compare_model(
            of_model(baseline.recordings, model.name_before),
            of_model(recordings, model.name),
            floor=floors.of(model.name),
            confidence=1 - 0.05 / (len(compared) - rank),
        )
        if strict.latency.answer is not model.latency.answer:
            dropped = {one.name for one in changed[rank:]}
            break
    models = tuple(
        replace(model, latency=replace(model.latency, answer=Answer.INCONCLUSIVE, reason=Reason.WIDE))
        if model.name in dropped
        else model
        for model in comparison.models
    )
    notes = tuple(note for note in comparison.notes if note != EACH_BY_ITSELF)
    return replace(comparison, models=models, notes=notes)


def false_alarms(baseline: Baseline, floors: Floors) -> int | None:
    """How many recordings of a baseline would fail against its others, although nothing changed; None with fewer than
    three recordings. O(recordings²)."""
    everything = baseline.recordings
    if len(everything) < 3:
        return None
    failed = 0
    for index, recording in enumerate(everything):
        others = replace(baseline, recordings=(*everything[:index], *everything[index + 1 :]))
        models = compare_with_baseline(others, [recording], {}, floors).models
        failed += any(model.latency.answer is Answer.REGRESSED for model in models)
    return failed


def _strength(model: ModelComparison) -> float:
    """Size of a change against the width of its interval."""
    change = model.latency
    if change.low is None or change.high is None or change.ratio is None:
        return 0.0
    width = math.log(change.high / change.low)
    return abs(math.log(change.ratio)) / width if width else math.inf


def _item(verdict: Verdict, subject: str, model: str | None, text: str, about: str | None = None) -> Item:
    return Item(verdict, subject, model, text, about, ("baseline",))


def environment_items(comparison: Comparison, *, allowed: bool) -> list[Item]:
    """An item for each difference of the environment."""
    verdict, ending = Verdict.ERROR, "; --allow-environment-change compares all the same"
    if allowed:
        verdict, ending = Verdict.NOT_COUNTED, "; allowed"
    return [
        _item(
            verdict,
            "environment",
            None,
            f"{one.what} differs from the baseline: {one.before}, now {one.after}{ending}",
            one.what,
        )
        for one in comparison.unfair
    ]


def model_items(comparison: Comparison, floors: Floors, allow_missing: Sequence[str]) -> list[Item]:
    """An item for each model, and one where no model can be compared."""
    items = []
    if not comparison.compared:
        text = "the baseline and the recording have no model in common; rename it with --rename, or save a new baseline"
        items.append(_item(Verdict.ERROR, "baseline", None, text))
    items += [_model(model, floors, allow_missing, inferred=comparison.inferred[1]) for model in comparison.models]
    return items + [_slower_tail(model) for model in comparison.models if model.p95.answer is Answer.REGRESSED]


def _model(model: ModelComparison, floors: Floors, allow_missing: Sequence[str], *, inferred: bool) -> Item:
    if model.presence is Presence.ONLY_AFTER:
        return _item(Verdict.NOT_COUNTED, "baseline", model.name, "new model, not in the baseline")
    if model.presence is Presence.ONLY_BEFORE:
        allowed = any(matches(model.name, pattern) for pattern in allow_missing)
        ending = "; allowed" if allowed else f"; {shlex.join(('--allow-missing', model.name))} lets it pass"
        if inferred and not allowed:
            text = "in the baseline, and not seen in the recording, in which Core ML recorded no events"
            return _item(Verdict.INCONCLUSIVE, "baseline", model.name, text + ending)
        text = f"in the baseline, but not in the recording{ending}"
        return _item(Verdict.NOT_COUNTED if allowed else Verdict.FAILED, "baseline", model.name, text)
    change = model.latency
    if change.before_ns is None or change.after_ns is None:
        return _item(Verdict.INCONCLUSIVE, "baseline", model.name, "no latency to compare")
    why = words.reason(change)
    text = f"{change.answer}{f' ({why})' if why else ''}: {_numbers(change)}"
    smallest = smallest_visible(model, floors)
    if smallest is not None:
        text += f"; smallest detectable change: {smallest * 100:.0f}%"
    return _item(_VERDICTS.get(change.answer, Verdict.PASSED), "baseline", model.name, text)


def _slower_tail(model: ModelComparison) -> Item:
    """It does not count: Holm's procedure is over the medians, and a limit for p95 says what is too slow."""
    change = model.p95
    text = f"p95 {change.answer}: {_numbers(change)}; set a limit for p95 to let it fail"
    return _item(Verdict.NOT_COUNTED, "baseline", model.name, text, "p95")


def _numbers(change: LatencyChange) -> str:
    """Both medians, the change with its interval, and what it rests on."""
    interval = words.interval(change)
    percent = words.percent_change(change.ratio) + (f" ({interval})" if interval else "")
    return f"{words.latencies(change)}, {percent}, {words.sample_counts(change)}"


def smallest_visible(model: ModelComparison, floors: Floors) -> float | None:
    """The smallest change of latency that the comparison could have called one; None where it has no interval."""
    change = model.latency
    if change.low is None or change.high is None or change.before_ns is None or change.after_ns is None:
        return None
    width = math.log(change.high / change.low) / 2
    return math.expm1(max(width, floors.of(model.name).log(change.before_ns, change.after_ns)))


def new_finding_items(comparison: Comparison, baseline: Baseline, settings: CheckSettings, today: date) -> list[Item]:
    """An item for each finding and model that the baseline does not have. Suppressed ones have an item already."""
    return [
        _new_finding(change, model, baseline)
        for change in comparison.findings
        if change.status is FindingStatus.NEW or change.reason.endswith("before")
        for model in change.models
        if not settings.suppresses(change.id, model, today)
    ]


def _new_finding(change: FindingChange, model: str | None, baseline: Baseline) -> Item:
    name = f"{change.id}:{model}" if model else change.id
    if change.id not in baseline.checks:
        text = f"{name} is new, as is its check: save a new baseline"
        return _item(Verdict.NOT_COUNTED, "findings", model, text, name)
    if change.status is not FindingStatus.NEW:
        return _item(Verdict.NOT_COUNTED, "findings", model, f"{name} cannot be compared: {change.reason}", name)
    text = f"{name} is new since the baseline"
    if baseline.tracekit != __version__:
        text += f" (saved by tracekit {baseline.tracekit}, this is {__version__})"
    return _item(Verdict.FAILED, "findings", model, text, name)


def method_items(baseline: Baseline) -> list[Item]:
    """An item where the baseline was saved by another version of the method."""
    if baseline.method == METHOD_VERSION:
        return []
    text = (
        f"saved with version {baseline.method} of the method, compared with {METHOD_VERSION}; save a new baseline to "
        "remove this line"
    )
    return [_item(Verdict.NOT_COUNTED, "baseline", None, text)]
