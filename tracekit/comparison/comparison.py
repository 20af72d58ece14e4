"""Recordings before a change against recordings after it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from tracekit.analysis.device_states import THROTTLED
from tracekit.comparison.findings import FindingChange, finding_changes, footprints_differ
from tracekit.comparison.latency import METHOD_VERSION, Answer, Reason
from tracekit.comparison.launches import Launches, launches_of
from tracekit.comparison.measurements import Environment, Measurements, names_of, of_model
from tracekit.comparison.models import Basis, ModelComparison, Presence, compare_model
from tracekit.comparison.settings import Floors
from tracekit.errors import UsageError, unknown
from tracekit.recording.contents import SIMULATOR
from tracekit.units import format_names

SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""

LABELS = {
    "device": "device",
    "system": "system",
    "instruments": "Instruments",
    "template": "template",
    "thermal": "thermal state",
    "input_type": "input type",
    "target": "target",
}
"""What each field of `Environment` is called."""

NOT_RECORDED = "not recorded"
NEVER_RECORDED = ("low power mode",)
"""What changes latency, and no table of Instruments shows."""

ONE_RECORDING = "One recording per side cannot show run-to-run variation; use three or more per side."
RUNS_OF_ONE = "With one recording per side, no change below 8% counts: two runs of one build may differ by as much."
FEW_OF_TWO = "Two recordings per side find a change of 10% in two of three cases; record three or more."
EACH_BY_ITSELF = "Each model is compared in isolation, at 95%: 1 model in 20 may seem changed by chance."
INFERRED = (
    "Where Core ML recorded no events, loads and latency are inferred from call stacks and hardware rows; copies are "
    "unknown."
)
OF_ALL = "Where one side has too few warm predictions, all predictions were compared, also those after a load."
FOOTPRINTS = (
    "Footprints do not compare: from OS 27 on, on devices that support Apple Intelligence, they include memory of the "
    "Neural Engine."
)
UNSTEADY = "A recording that is not steady changes within itself as much as the two differ; record again."
WITH_ITSELF = "A recording was compared with itself"
OF_ANSWERS = (RUNS_OF_ONE, FEW_OF_TWO, EACH_BY_ITSELF)
"""Notes on how often these answers are wrong, which do not hold for a gate."""


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """Something that must agree for a fair comparison, and does not."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed."""

    schema_version: int
    method: int
    """Version of the method: `METHOD_VERSION`."""
    before: tuple[str, ...]
    """Names of the recordings."""
    after: tuple[str, ...]
    unfair: tuple[EnvironmentDifference, ...]
    not_recorded: tuple[str, ...]
    """What would make it unfair if it differed, and a recording does not show."""
    models: tuple[ModelComparison, ...]
    """Those on both sides first, then those on one, each by the time they took."""
    findings: tuple[FindingChange, ...]
    inferred: tuple[bool, bool]
    """Whether a recording before, and one after, has no rows of Core ML: what is not in it may have happened."""
    notes: tuple[str, ...]
    """What to know before relying on the answers, one sentence each."""
    launches: tuple[Launches, ...] = ()
    """In which recordings each model was compiled."""

    @property
    def compared(self) -> tuple[ModelComparison, ...]:
        """The models on both sides."""
        return tuple(model for model in self.models if model.presence is Presence.BOTH)


def compare(
    before: Sequence[Measurements],
    after: Sequence[Measurements],
    *,
    renames: Mapping[str, str] | None = None,
    floors: Floors | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare two sides of one or more recordings each. The same measurements give the same digits.

    `renames` maps names of models before to their names after; `floors` says how much each must change to count;
    `notes` are said before all others. Raises `UsageError` for a rename of a model that is not there, and for a
    recording that is given twice on one side, since it would count as two.
    """
    renamed, floors = dict(renames or {}), floors or Floors()
    for side in (before, after):
        check_repeats(side)
    _check_renames(renamed, before, after)
    names = dict.fromkeys([*names_of(after), *(renamed.get(name, name) for name in names_of(before))])
    back = {new: old for old, new in renamed.items()}
    environments = [recording.environment for recording in (*before, *after)]
    unfair = environment_differences(before, after)
    named = {one.what for one in unfair}
    gaps = (
        words
        for name, words in LABELS.items()
        if name != "target" and words not in named and any(getattr(one, name) is None for one in environments)
    )
    counts, simulated = (len(before), len(after)), any(environment.simulated for environment in environments)
    doubt = Reason.SIMULATOR if simulated else Reason.HOT if one_is_hot(before, after) else None
    models = [
        compare_model(of_model(before, back.get(name, name)), of_model(after, name), floors.of(name), counts, doubt)
        for name in names
    ]
    return Comparison(
        schema_version=SCHEMA_VERSION,
        method=METHOD_VERSION,
        before=tuple(recording.source for recording in before),
        after=tuple(recording.source for recording in after),
        unfair=unfair,
        not_recorded=(*gaps, *NEVER_RECORDED),
        models=tuple(sorted(models, key=_order)),
        findings=finding_changes(before, after, renamed),
        inferred=(any(not one.core_ml for one in before), any(not one.core_ml for one in after)),
        notes=(*notes, *_notes(before, after, models)),
        launches=launches_of((*before, *after)),
    )


def check_repeats(side: Sequence[Measurements]) -> None:
    """Raises `UsageError` for a recording that is given twice: it would count as two."""
    for index, recording in enumerate(side):
        for other in side[:index]:
            if same_recording(recording, other):
                again = "given twice" if recording.source == other.source else f"the same recording as {other.source}"
                raise UsageError(f"{recording.source} is {again}; a recording counts once")


def _check_renames(renames: Mapping[str, str], before: Sequence[Measurements], after: Sequence[Measurements]) -> None:
    for names, side, argument in ((renames.keys(), before, "OLD"), (renames.values(), after, "NEW")):
        model_names = sorted(names_of(side))
        for name in names:
            if name not in model_names:
                raise UsageError(f"--rename OLD=NEW, {argument}: {unknown('model', name, model_names)}")
    if len(set(renames.values())) < len(renames):
        raise UsageError("two models are renamed to the same name; write each --rename OLD=NEW with a name of its own")


def environment_differences(
    before: Sequence[Measurements], after: Sequence[Measurements]
) -> tuple[EnvironmentDifference, ...]:
    """Fields of the environment that differ, where both sides recorded them, or one ran hot."""
    differences = []
    for field in fields(Environment):
        sides = [
            {value for recording in side if (value := getattr(recording.environment, field.name)) is not None}
            for side in (before, after)
        ]
        is_hot = field.name == "thermal" and one_is_hot(before, after)
        if is_hot or (all(sides) and len(sides[0] | sides[1]) > 1):
            words = [" / ".join(sorted(values)) or NOT_RECORDED for values in sides]
            differences.append(EnvironmentDifference(LABELS[field.name], *words))
    return tuple(differences)


def one_is_hot(before: Sequence[Measurements], after: Sequence[Measurements]) -> bool:
    """Whether one side, and not the other as far as it shows, ran where devices slow down."""
    hot = [any(recording.environment.thermal in THROTTLED for recording in side) for side in (before, after)]
    return bool(before and after) and hot[0] != hot[1]


def _order(model: ModelComparison) -> tuple[bool, float, str]:
    latency, count = model.latency, model.predictions
    time = max((latency.before_ns or 0) * (count.before or 0), (latency.after_ns or 0) * (count.after or 0))
    return (model.presence is not Presence.BOTH, -time, model.name)


def _notes(
    before: Sequence[Measurements], after: Sequence[Measurements], models: Sequence[ModelComparison]
) -> tuple[str, ...]:
    shared = [one.source for one in after if any(same_recording(one, other) for other in before)]
    is_pair = len(before) == len(after) == 1
    without = [recording.models for recording in (*before, *after) if not recording.core_ml]
    lacked = [
        {
            check.lacks.partition(" was ")[0].partition(" were ")[0]
            for one in side
            for check in one.checks
            if check.lacks
        }
        for side in (before, after)
    ]
    one_sided = sorted(lacked[0] ^ lacked[1])
    simulated = dict.fromkeys(one.source for one in (*before, *after) if one.environment.simulated)
    notes = {
        f"{format_names([*simulated])}: {SIMULATOR}.": bool(simulated),
        f"{WITH_ITSELF}: {format_names(shared)}.": bool(shared),
        ONE_RECORDING: is_pair,
        RUNS_OF_ONE: is_pair,
        FEW_OF_TWO: min(len(before), len(after)) == 2,
        INFERRED: any(not model.is_operation for models in without for model in models),
        "A recording without Core ML events has no data on loads, copies or latency.": not all(without),
        OF_ALL: any(model.presence is Presence.BOTH and model.basis is Basis.ALL for model in models),
        f"Only one side has {format_names(one_sided)}: what rests on that is not compared.": bool(one_sided),
        FOOTPRINTS: footprints_differ((*before, *after)),
        UNSTEADY: any(model.latency.reason is Reason.NOT_STEADY for model in models),
        EACH_BY_ITSELF: sum(model.latency.answer is not Answer.INCONCLUSIVE for model in models) > 1,
    }
    return tuple(note for note, holds in notes.items() if holds)


def typical(side: Sequence[Measurements]) -> int:
    """Position of the recording whose latencies are nearest to those of its side: the sum of the distances of its
    medians from the middle of each model, as logarithms. The first of several; 0 for one without latencies."""
    medians = [{model.name: model.quantities["p50_ns"] for model in recording.models} for recording in side]
    logs = [{name: math.log(max(one, 1.0)) for name, one in median.items() if one is not None} for median in medians]
    names = dict.fromkeys(name for log in logs for name in log)
    middles = {name: float(np.median([log[name] for log in logs if name in log])) for name in names}

    def distance(index: int) -> tuple[int, float]:
        own = logs[index]
        return -len(own), sum(abs(own[name] - middle) for name, middle in middles.items() if name in own)

    return min(range(len(side)), key=distance)


def same_recording(one: Measurements, other: Measurements) -> bool:
    """Whether two measurements are known to be of one recording. Equal ones may be of two."""
    return one.identity is not None and one.identity == other.identity
