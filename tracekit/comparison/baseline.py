"""A baseline: measurements of up to ten recordings of one kind of device, in a small JSON file for a repository; and
what recordings of a build say against it."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from tracekit._version import __version__
from tracekit.comparison import words
from tracekit.comparison.comparison import (
    LABELS,
    NOT_RECORDED,
    Comparison,
    EnvironmentDifference,
    check_repeats,
    compare,
    environment_differences,
    same_recording,
)
from tracekit.comparison.findings import FindingStatus
from tracekit.comparison.latency import METHOD_VERSION, MIN_PREDICTIONS, Answer, Reason
from tracekit.comparison.measurements import Measurements, names_of, of_model
from tracekit.comparison.models import ModelComparison, Presence, compared_values, raised
from tracekit.comparison.non_inferiority import Compared, Held, hold
from tracekit.comparison.reports import MalformedError, from_plain, read_json, to_plain
from tracekit.comparison.settings import CheckSettings, Floors
from tracekit.comparison.verdict import Item, Verdict
from tracekit.detectors.options import matches
from tracekit.errors import TracekitError, UsageError
from tracekit.units import format_names, format_time

SCHEMA_VERSION = 2
MAX_RECORDINGS = 10
"""More would make the file grow, and a baseline old."""
_MOST_ANCHORED = MAX_RECORDINGS // 2
MAX_BYTES = 64 << 20
"""Of a baseline file; ten recordings of a thousand predictions a model have 0.1 MB."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What later recordings are held against."""

    recordings: tuple[Measurements, ...]
    """At least one, oldest first."""
    checks: frozenset[str]
    """Checks that the tracekit which wrote it knew: a new one is no regression."""
    method: int = METHOD_VERSION
    tracekit: str = __version__
    """Version that wrote it."""
    anchored: int = 0
    """How many recordings, the first ones, it was first saved with: they stay, so that it cannot drift."""

    def spread(self, model: str) -> float | None:
        """How far the recordings of a model differ: standard deviation of the logarithms of their medians, about a
        share of the latency; None with fewer than two."""
        medians = (entry.quantities["p50_ns"] for entry in of_model(self.recordings, model))
        logs = [math.log(value) for value in medians if value]
        return float(np.std(logs, ddof=1)) if len(logs) > 1 else None


def baseline_of(recordings: Sequence[Measurements], earlier: Baseline | None = None) -> Baseline:
    """A baseline of these recordings, behind those of an earlier one; beyond `MAX_RECORDINGS` the oldest go that it was
    not first saved with.

    Raises `UsageError` for recordings without predictions, of different environments, and for one that is in it.
    """
    check_repeats(recordings)
    all_recordings = list(earlier.recordings if earlier is not None else ())
    for recording in recordings:
        if not any(len(model.latencies_ns) for model in recording.models):
            raise UsageError(f"{recording.source}: no prediction with a known latency, so nothing to compare with")
        if any(same_recording(recording, other) for other in all_recordings):
            raise UsageError(f"{recording.source} is in the baseline already; a recording counts once")
        all_recordings.append(recording)
    if differences := _that_count(environment_differences(all_recordings[:1], all_recordings[1:])):
        differs = f"{differences[0].what}: {differences[0].before}, {differences[0].after}"
        raise UsageError(f"recordings of different environments ({differs}); keep a baseline for each")
    nameless = (replace(recording, source=f"recording {number}") for number, recording in enumerate(all_recordings, 1))
    checks = frozenset(result.id for recording in all_recordings for result in recording.checks)
    anchored = min(len(recordings) if earlier is None else earlier.anchored, _MOST_ANCHORED)
    beyond = max(len(all_recordings) - MAX_RECORDINGS, 0)
    return Baseline(
        tuple(one for place, one in enumerate(nameless) if not 0 <= place - anchored < beyond),
        checks | (earlier.checks if earlier is not None else frozenset()),
        anchored=anchored,
    )


def to_text(baseline: Baseline) -> str:
    """The file: sorted keys and a line for each value, so that a review shows what moved."""
    spreads = {name: baseline.spread(name) for name in names_of(baseline.recordings)}
    plain = {
        "schema_version": SCHEMA_VERSION,
        "tracekit": baseline.tracekit,
        "method": baseline.method,
        "anchored": baseline.anchored,
        "checks": sorted(baseline.checks),
        "spread": {name: round(spread, 4) for name, spread in spreads.items() if spread is not None},
        "recordings": [to_plain(recording) for recording in baseline.recordings],
    }
    text = json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=1, sort_keys=True)
    # Lists of numbers stand on one line. Texts hold no raw line break, so none is touched.
    text = re.sub(r"\[\n\s*(-?\d+(?:,\n\s*-?\d+)*)\n\s*\]", lambda match: f"[{' '.join(match[1].split())}]", text)
    return f"{text}\n"


def load_baseline(path: Path) -> Baseline:
    """A baseline file. Raises `TracekitError` with what is wrong with it."""
    plain = read_json(path, str(path), "baseline", MAX_BYTES, TracekitError)
    if not isinstance(plain, dict) or plain.get("schema_version") != SCHEMA_VERSION:
        raise TracekitError(
            f"{path} is not a baseline of this version of tracekit; delete it, then save it again with "
            "`tracekit check --save-baseline`"
        )
    entries, checks = plain.get("recordings"), plain.get("checks")
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_RECORDINGS or not isinstance(checks, list):
        raise TracekitError(f"{path} is not a whole baseline: it holds no recordings; save it again")
    try:
        recordings = tuple(map(from_plain, entries))
    except MalformedError as error:
        raise TracekitError(f"{path} is not a whole baseline: '{error}' is missing or wrong; save it again") from None
    method, version, anchored = plain.get("method"), plain.get("tracekit"), plain.get("anchored")
    return Baseline(
        recordings,
        frozenset(map(str, checks)),
        method if isinstance(method, int) else 0,
        version if isinstance(version, str) else "unknown",
        anchored if type(anchored) is int and 0 < anchored <= len(recordings) else min(len(recordings), _MOST_ANCHORED),
    )


def held_models(
    baseline: Sequence[Measurements], recordings: Sequence[Measurements], comparison: Comparison, floors: Floors
) -> dict[str, Held | None]:
    """The latency of each model on both sides, held against the baseline; None where a side has too few predictions."""
    compared = comparison.compared
    kept = []
    for model in compared:
        _, window, values = compared_values(of_model(baseline, model.name_before), of_model(recordings, model.name))
        error_ns = sum(side.latency_ns for side in model.inexact)
        sides = [[one for one in side if len(one) >= MIN_PREDICTIONS] for side in values]
        kept.append(Compared(sides, raised(floors.of(model.name), error_ns), window.fits, error_ns))
    return dict(zip((model.name for model in compared), hold(kept), strict=True))


def check_anchor(baseline: Baseline, recordings: Sequence[Measurements], floors: Floors, path: Path) -> None:
    """Raise `UsageError` where recordings are slower than what a baseline was first saved with by more than is allowed:
    added one after another, they would move it unseen."""
    anchor = baseline.recordings[: baseline.anchored]
    comparison = compare(anchor, recordings, floors=floors)
    for name, held in held_models(anchor, recordings, comparison, floors).items():
        if held is not None and held.change >= held.allowed:
            raise UsageError(
                f"{name} is {words.percent_change(1 + held.change).lstrip('+')} slower than in the recordings that "
                f"{path} was first saved with ({words.arrow(*map(format_time, held.latencies_ns))}), allowed "
                f"+{held.allowed * 100:.0f}%; to accept that, delete {path} and save a new baseline"
            )


def _item(verdict: Verdict, subject: str, model: str | None, text: str, about: str | None = None) -> Item:
    return Item(verdict, subject, model, text, about, ("baseline",))


def _that_count(differences: Iterable[EnvironmentDifference]) -> list[EnvironmentDifference]:
    """An app may have another name in the next build; whether its models are there is asked for itself."""
    return [one for one in differences if one.what != LABELS["target"]]


def environment_items(
    baseline: Baseline, recordings: Sequence[Measurements], comparison: Comparison, *, allowed: bool
) -> Iterator[Item]:
    """An item for each difference of the environment, and one for recordings of the baseline itself."""
    ending = "; allowed" if allowed else "; to compare anyway: --allow-environment-change"
    differs, is_open = [Verdict.NOT_COUNTED] * 2 if allowed else [Verdict.ERROR, Verdict.INCONCLUSIVE]
    for one in _that_count(comparison.unfair):
        text = f"{one.what}: {one.before} in the baseline, now {one.after}{ending}"
        verdict = is_open if NOT_RECORDED in (one.before, one.after) else differs
        yield _item(verdict, "environment", None, text, one.what)
    for name in ("device", "system"):
        values = {value for one in baseline.recordings if (value := getattr(one.environment, name)) is not None}
        if values and any(getattr(one.environment, name) is None for one in recordings):
            # A table of contents that is gone may hide another one.
            said = f"{' / '.join(sorted(values))} in the baseline, now {NOT_RECORDED}: export the table of contents"
            yield _item(is_open, "environment", None, f"{name}: {said}{ending}", name)
    if same := [one.source for one in recordings if any(same_recording(one, other) for other in baseline.recordings)]:
        text = f"a recording of the baseline is checked against it: {format_names(same)}"
        yield _item(Verdict.NOT_COUNTED, "baseline", None, text, "same recording")


def method_items(baseline: Baseline) -> Iterator[Item]:
    """An item where the baseline was saved by another version of the method."""
    if baseline.method != METHOD_VERSION:
        text = f"saved with version {baseline.method} of the method, compared with {METHOD_VERSION}"
        yield _item(Verdict.NOT_COUNTED, "baseline", None, f"{text}; save a new baseline to remove this line")


def model_items(
    comparison: Comparison, held: Mapping[str, Held | None], allow_missing: Sequence[str]
) -> Iterator[Item]:
    """Items for each model, and one where no model can be compared."""
    if not comparison.compared:
        text = "the baseline and the recording have no model in common; rename it with --rename, or save a new baseline"
        yield _item(Verdict.ERROR, "baseline", None, text)
    for model in comparison.models:
        if model.presence is not Presence.BOTH:
            yield _one_sided(model, allow_missing, inferred=comparison.inferred[1])
            continue
        yield _latency(model, held[model.name])
        if moved := words.moved(model):
            text = f"moved {moved}; save a new baseline if it should"
            yield _item(Verdict.FAILED, "baseline", model.name, text, "compute unit")
        few = zip(model.left_out, ("baseline", "build"), strict=True)
        if sides := ", ".join(f"{count} of the {side}" for count, side in few if count):
            text = f"recordings with fewer than {MIN_PREDICTIONS} {model.latency.counted} do not count: {sides}"
            yield _item(Verdict.NOT_COUNTED, "baseline", model.name, text, "short recordings")
    if text := words.what_is_seen(held):
        yield _item(Verdict.NOT_COUNTED, "baseline", None, text, "seen")
    for model in comparison.models:
        if (change := model.p95).answer is Answer.REGRESSED:
            # What is allowed holds for the medians, and a limit for p95 says what is too slow.
            percent = words.percent_change(change.ratio) + (f" ({ends})" if (ends := words.interval(change)) else "")
            text = f"p95 {change.answer}: {words.latencies(change)}, {percent}; set a limit for p95 to let it fail"
            yield _item(Verdict.NOT_COUNTED, "baseline", model.name, text, "p95")


def _one_sided(model: ModelComparison, allow_missing: Sequence[str], *, inferred: bool) -> Item:
    if model.presence is Presence.ONLY_AFTER:
        return _item(Verdict.NOT_COUNTED, "baseline", model.name, "new model, not in the baseline")
    allowed = any(matches(model.name, pattern) for pattern in allow_missing)
    ending = "allowed" if allowed else f"{shlex.join(('--allow-missing', model.name))} lets it pass"
    if inferred and not allowed:
        text = f"in the baseline, and not seen in the recording, in which Core ML recorded no events; {ending}"
        return _item(Verdict.INCONCLUSIVE, "baseline", model.name, text)
    verdict = Verdict.NOT_COUNTED if allowed else Verdict.FAILED
    return _item(verdict, "baseline", model.name, f"in the baseline, but not in the recording; {ending}")


def _latency(model: ModelComparison, held: Held | None) -> Item:
    change = model.latency
    if held is None:
        text = "no latency to compare"
        if change.before_ns is not None and change.after_ns is not None:
            text = f"too few {change.counted}: {words.sample_counts(change)}, {MIN_PREDICTIONS} needed"
        return _item(Verdict.INCONCLUSIVE, "baseline", model.name, text)
    verdict, lead = {
        None: (Verdict.INCONCLUSIVE, words.why_open(held)),
        True: (Verdict.PASSED, words.why_passed(held)),
        False: (Verdict.FAILED, "slower than allowed"),
    }[held.passed]
    lead, _, more = lead.partition("; ")
    # Ends that round to what is allowed would look as if they decided.
    ends = " to ".join(words.percent_change(1 + end, held.reason is Reason.WIDE) for end in (held.low, held.high))
    text = f"{lead}: median {words.arrow(*map(words.durations(change.resolution_ns), held.latencies_ns))}"
    if held.reason is not Reason.INEXACT:
        text += f", {words.percent_change(1 + held.change)} ({ends}), allowed +{held.allowed * 100:.0f}%"
    basis = words.side_counts(held.predictions, change.counted) + (
        "" if model.window is None else words.windowed(model.window)
    )
    basis += words.inference(model.inexact)
    item = _item(verdict, "baseline", model.name, "; ".join(filter(None, (text, basis, more))))
    return item if held.reason is Reason.INEXACT else replace(item, value=held.change, allowed=held.allowed)


def new_finding_items(
    comparison: Comparison, baseline: Baseline, settings: CheckSettings, today: date
) -> Iterator[Item]:
    """An item for each finding and model that the baseline does not have. Suppressed ones have an item already."""
    for change in comparison.findings:
        if not change.rates[1].found or change.status not in (FindingStatus.NEW, FindingStatus.NOT_COMPARABLE):
            continue
        for model in change.models:
            name, verdict = f"{change.id}:{model}" if model else change.id, Verdict.NOT_COUNTED
            if settings.suppresses(change.id, model, today):
                continue
            if change.id not in baseline.checks:
                text = "is new, as is its check: save a new baseline"
            elif change.status is not FindingStatus.NEW:
                text = f"cannot be compared: {change.reason}"
            else:
                verdict, text = Verdict.FAILED, "is new since the baseline"
                if baseline.tracekit != __version__:
                    text += f" (saved by tracekit {baseline.tracekit}, this is {__version__})"
            yield _item(verdict, "findings", model, f"{name} {text}", name)
