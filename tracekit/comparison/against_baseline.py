"""What recordings of a build say against a baseline."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from tracekit._version import __version__
from tracekit.comparison import words
from tracekit.comparison.comparison import NOT_RECORDED, Comparison, compare, same_recording
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.comparison.latency import METHOD_VERSION, MIN_PREDICTIONS, Answer
from tracekit.comparison.measurements import Measurements, of_model
from tracekit.comparison.models import ModelComparison, Presence, compared_values, raised
from tracekit.comparison.non_inferiority import Compared, Held, hold
from tracekit.comparison.verdict import Item, Verdict
from tracekit.detectors.options import matches
from tracekit.errors import UsageError
from tracekit.units import format_duration, format_names

if TYPE_CHECKING:
    from pathlib import Path

    from tracekit.comparison.baseline import Baseline
    from tracekit.comparison.settings import CheckSettings, Floors


def held_models(
    baseline: Sequence[Measurements], recordings: Sequence[Measurements], comparison: Comparison, floors: Floors
) -> dict[str, Held | None]:
    """The latency of each model on both sides, held against the baseline; None where a side has too few predictions."""
    compared = comparison.compared
    chosen = []
    for model in compared:
        _, window, values = compared_values(of_model(baseline, model.name_before), of_model(recordings, model.name))
        error_ns = sum(side.latency_ns for side in model.inexact)
        sides = [[one for one in side if len(one) >= MIN_PREDICTIONS] for side in values]
        chosen.append(Compared(sides, raised(floors.of(model.name), error_ns), window.fits, error_ns))
    return dict(zip((model.name for model in compared), hold(chosen), strict=True))


def check_anchor(baseline: Baseline, recordings: Sequence[Measurements], floors: Floors, path: Path) -> None:
    """Raise `UsageError` where recordings are slower than what a baseline was first saved with by more than is allowed:
    added one after another, they would move it unseen."""
    anchor = baseline.recordings[: baseline.anchored]
    comparison = compare(anchor, recordings, floors=floors)
    for name, held in held_models(anchor, recordings, comparison, floors).items():
        if held is not None and held.change >= held.allowed:
            raise UsageError(
                f"{name} is {words.percent_change(1 + held.change).lstrip('+')} slower than in the recordings that "
                f"{path} was first saved with ({words.arrow(*map(format_duration, held.latencies_ns))}), allowed "
                f"+{held.allowed * 100:.0f}%; to accept that, delete {path} and save a new baseline"
            )


def _item(verdict: Verdict, subject: str, model: str | None, text: str, about: str | None = None) -> Item:
    return Item(verdict, subject, model, text, about, ("baseline",))


def environment_items(
    baseline: Baseline, recordings: Sequence[Measurements], comparison: Comparison, *, allowed: bool
) -> list[Item]:
    """An item for each difference of the environment, and one for recordings of the baseline itself."""
    ending = "; allowed" if allowed else "; --allow-environment-change compares all the same"
    items = []
    for one in comparison.unfair:
        is_open = NOT_RECORDED in (one.before, one.after)
        verdict = Verdict.NOT_COUNTED if allowed else Verdict.INCONCLUSIVE if is_open else Verdict.ERROR
        text = f"{one.what}: {one.before} in the baseline, now {one.after}{ending}"
        items.append(_item(verdict, "environment", None, text, one.what))
    same = [one.source for one in recordings if any(same_recording(one, other) for other in baseline.recordings)]
    if same:
        text = f"a recording of the baseline is checked against it: {format_names(same)}"
        items.append(_item(Verdict.NOT_COUNTED, "baseline", None, text, "same recording"))
    return items


def model_items(comparison: Comparison, held: Mapping[str, Held | None], allow_missing: Sequence[str]) -> list[Item]:
    """An item for each model, and one where no model can be compared."""
    items = []
    if not comparison.compared:
        text = "the baseline and the recording have no model in common; rename it with --rename, or save a new baseline"
        items.append(_item(Verdict.ERROR, "baseline", None, text))
    for model in comparison.models:
        if model.presence is Presence.BOTH:
            items += [_latency(model, held[model.name]), *_moved(model), *_left_out(model)]
        else:
            items.append(_one_sided(model, allow_missing, inferred=comparison.inferred[1]))
    return items + [_slower_tail(model) for model in comparison.models if model.p95.answer is Answer.REGRESSED]


def _one_sided(model: ModelComparison, allow_missing: Sequence[str], *, inferred: bool) -> Item:
    if model.presence is Presence.ONLY_AFTER:
        return _item(Verdict.NOT_COUNTED, "baseline", model.name, "new model, not in the baseline")
    allowed = any(matches(model.name, pattern) for pattern in allow_missing)
    ending = "; allowed" if allowed else f"; {shlex.join(('--allow-missing', model.name))} lets it pass"
    if inferred and not allowed:
        text = "in the baseline, and not seen in the recording, in which Core ML recorded no events"
        return _item(Verdict.INCONCLUSIVE, "baseline", model.name, text + ending)
    text = f"in the baseline, but not in the recording{ending}"
    return _item(Verdict.NOT_COUNTED if allowed else Verdict.FAILED, "baseline", model.name, text)


def _latency(model: ModelComparison, held: Held | None) -> Item:
    change = model.latency
    if held is None:
        text = "no latency to compare"
        if change.before_ns is not None and change.after_ns is not None:
            text = f"too few predictions: {words.sample_counts(change)}, {MIN_PREDICTIONS} needed"
        return _item(Verdict.INCONCLUSIVE, "baseline", model.name, text)
    ends = " to ".join(words.percent_change(1 + each) for each in (held.low, held.high))
    medians = words.arrow(*map(words.durations(change.resolution_ns), held.latencies_ns))
    text = f"{medians}, {words.percent_change(1 + held.change)} ({ends}), allowed +{held.allowed * 100:.0f}%; "
    text += words.side_counts(held.predictions)
    if model.window is not None:
        text += words.windowed(model.window)
    if held.passed is None:
        verdict, lead = Verdict.INCONCLUSIVE, words.why_open(held)
    elif held.passed:
        verdict, lead = Verdict.PASSED, "not slower than allowed"
    else:
        verdict, lead = Verdict.FAILED, "slower than allowed"
    item = _item(verdict, "baseline", model.name, f"{lead}: {text}")
    return replace(item, value=held.change, allowed=held.allowed)


def _slower_tail(model: ModelComparison) -> Item:
    """It does not count: what is allowed holds for the medians, and a limit for p95 says what is too slow."""
    change = model.p95
    interval = words.interval(change)
    percent = words.percent_change(change.ratio) + (f" ({interval})" if interval else "")
    text = f"p95 {change.answer}: {words.latencies(change)}, {percent}; set a limit for p95 to let it fail"
    return _item(Verdict.NOT_COUNTED, "baseline", model.name, text, "p95")


def _moved(model: ModelComparison) -> list[Item]:
    """An item where another compute unit does most of the work that one did."""
    if not (said := words.moved(model)):
        return []
    text = f"moved to another compute unit: {said}; save a new baseline if it should"
    return [_item(Verdict.FAILED, "baseline", model.name, text, "compute unit")]


def _left_out(model: ModelComparison) -> list[Item]:
    """An item where a recording is too short to count."""
    few = model.left_out
    if not any(few):
        return []
    sides = (f"{count} of the {side}" for count, side in zip(few, ("baseline", "build"), strict=True) if count)
    text = f"recordings with fewer than {MIN_PREDICTIONS} predictions do not count: {', '.join(sides)}"
    return [_item(Verdict.NOT_COUNTED, "baseline", model.name, text, "short recordings")]


def new_finding_items(comparison: Comparison, baseline: Baseline, settings: CheckSettings, today: date) -> list[Item]:
    """An item for each finding and model that the baseline does not have. Suppressed ones have an item already."""
    return [
        _new_finding(change, model, baseline)
        for change in comparison.findings
        if change.rates[1].found and change.status in (FindingStatus.NEW, FindingStatus.NOT_COMPARABLE)
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
