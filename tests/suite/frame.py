"""Labeled cases: a recording, what one detector must answer, and which other findings are right as well.

Any finding of any detector that a case neither expects nor allows is a false positive of that detector.
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial, wraps
from inspect import unwrap
from pathlib import Path
from typing import Any

from suite.contradictions import contradictions
from suite.processes import on_all_processors
from suite.weight import Weight
from support.handover import trace_of
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import OUTCOME_NAMES
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.runner import run_detectors
from tracekit.recording import open_recording
from tracekit.testing import Draws, Scenario, write_bundle
from tracekit.testing.recorder import App
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.trace import Trace

POSITIVE, NEGATIVE = "positive", "negative"
NEAR_ABOVE, NEAR_BELOW = "near_above", "near_below"
LOOKALIKE, INSUFFICIENT = "lookalike", "insufficient"
CLEAN = "clean"
"""Kind of the recordings in `SHARED`, and what stands for the detector in them where none is meant."""

KINDS: dict[str, int] = {POSITIVE: 10, NEGATIVE: 10, NEAR_ABOVE: 5, NEAR_BELOW: 5, LOOKALIKE: 3, INSUFFICIENT: 3}
"""Each kind of case and how many every detector needs at least."""

FINDING, PASSED, NO_FINDING = "finding", "passed", "no_finding"
NOT_APPLICABLE, NOT_EVALUATED = "not_applicable", "not_evaluated"
NOTHING = "nothing"
"""No detector is meant."""

USUAL = {
    POSITIVE: FINDING,
    NEGATIVE: PASSED,
    NEAR_ABOVE: FINDING,
    NEAR_BELOW: PASSED,
    LOOKALIKE: NO_FINDING,
    INSUFFICIENT: NOT_EVALUATED,
    CLEAN: NOTHING,
}
"""What is expected of the main model where a case does not say."""

SHARED = ("clean", "captures")
"""Modules of recordings that belong to no detector."""

CaseKey = tuple[str, int]
"""Module, and number in its `CASES`."""
Recorded = App | Scenario
Key = tuple[str, str | None]
"""Detector and model; None for the recording as a whole."""
Allowed = str | Key
"""A detector (any model) or a key."""


@dataclass(frozen=True)
class Case:
    """One recording and what must be said of it."""

    detector: str
    """Id; `CLEAN` where no detector is meant. One that is not registered is not asked."""
    kind: str
    """A key of `KINDS`, or `clean`."""
    seed: int
    """Together with the number in the module it seeds the draws."""
    build: Callable[[Draws], Recorded]
    """Describes the recording. An `App` is finished by the frame."""
    expected: str | Mapping[str | None, str] | None = None
    """Outcome of the detector for the main model (the one that an `App` names first, or the first in the Core ML rows),
    or for each model; None for what is usual for the kind. `no_finding` holds for every outcome but finding and error.
    """
    also: tuple[Allowed, ...] = ()
    """Other findings that are right in this recording."""
    settings: Mapping[str, str | int | float] | None = None
    """Options of detectors, by `detector.option`."""
    bundle: bool = False
    """Write and read a native bundle: slower, but only bundles hold the issues of a run."""
    weight: Weight | None = None
    """What the findings of the detector must weigh; None where that is not asked."""
    found_in_more: tuple[str, ...] = ()
    """Detectors that only the number of something keeps from a finding: a recording twice as long may hold one."""
    lost_in_more: tuple[str, ...] = ()
    """Detectors that find a share of all work, in what only the end of a recording holds: with more work beside it or
    before, the share is smaller."""
    page: str = ""
    """Beginning of the item of the detector's page, of those that are no problem, that this is a case of."""
    variant: object = None
    """What `each` varies; for messages."""

    @property
    def name(self) -> str:
        """For messages."""
        variant = "" if self.variant is None else f"({self.variant})"
        return f"{self.recipe}{variant} {self.seed}"

    @property
    def recipe(self) -> str:
        """Kind and function that describes the recording, without its variant and draws."""
        build = unwrap(self.build)
        code = getattr(build, "func", build).__code__
        options = getattr(build, "keywords", "")
        return f"{self.kind} {code.co_name}, line {code.co_firstlineno}{options and f' {sorted(options)}'}"


def cases(detector: str, kind: str, count: int, build: Callable[[Draws], Recorded], **options: Any) -> list[Case]:
    """`count` cases of one recipe, each with its own draws. Takes the fields of `Case` from `expected` on."""
    return [Case(detector, kind, seed, build, **options) for seed in range(count)]


def each(
    detector: str, kind: str, values: Iterable[Any], build: Callable[[Draws, Any], Recorded], **options: Any
) -> list[Case]:
    """One case for each value, made by `build(draws, value)`: for thresholds and listed variants."""
    return [
        Case(detector, kind, seed, _with(build, value), variant=value, **options) for seed, value in enumerate(values)
    ]


def _with(build: Callable[[Draws, Any], Recorded], value: Any) -> Callable[[Draws], Recorded]:
    """`build` with its second argument given, under its own name."""

    @wraps(build)
    def chosen(draws: Draws) -> Recorded:
        return build(draws, value)

    return chosen


@dataclass(frozen=True)
class Judged:
    """What the detectors said of a case, and what they should have said."""

    outcomes: Mapping[Key, str]
    expected: Mapping[Key, str]
    unexpected: tuple[Key, ...]
    """Findings that the case neither expects nor allows."""
    errors: tuple[str, ...]
    """Detectors that failed, or why the case could not be judged."""
    weight: tuple[str, ...] = ()
    """What the findings should weigh and do not, and where the account of time contradicts them, one line each."""

    @property
    def missed(self) -> tuple[Key, ...]:
        """Expected outcomes that did not come."""
        return tuple(key for key, wanted in self.expected.items() if not fits(self.outcomes.get(key), wanted))

    @property
    def right(self) -> bool:
        """Whether everything came as expected, and nothing else."""
        return not (self.missed or self.unexpected or self.errors or self.weight)


def complaints(case: Case, judged: Judged) -> list[str]:
    """What is not right, one line each."""
    return [
        *(
            f"{case.name}: {key} is {judged.outcomes.get(key)}, expected {judged.expected[key]}"
            for key in judged.missed
        ),
        *(f"{case.name}: false positive of {key}" for key in judged.unexpected),
        *(f"{case.name}: {line}" for line in judged.weight),
        *(f"{case.name}: failed: {error}" for error in judged.errors),
    ]


def fits(outcome: str | None, wanted: str) -> bool:
    """Whether an outcome is the wanted one. None: the detector said nothing of the model."""
    if wanted == NO_FINDING:
        return outcome not in (None, FINDING, "error")
    return outcome == wanted


_JUDGED: dict[CaseKey, Judged] = {}


def judge(module: str, number: int) -> Judged:
    """The case with this number in `CASES` of a module, analyzed once in this process."""
    key = (module, number)
    if key not in _JUDGED:
        _JUDGED[key] = _judged(key)
    return _JUDGED[key]


def judge_many(keys: Iterable[CaseKey]) -> None:
    """Analyze cases ahead of `judge`, on all processors where they are many."""
    wanted = [key for key in dict.fromkeys(keys) if key not in _JUDGED]
    _JUDGED.update(zip(wanted, on_all_processors(_judged, wanted), strict=True))


def draws_of(case: Case, number: int) -> Draws:
    """What seeds the recording of the case with this number in `CASES` of its module."""
    return Draws(zlib.crc32(f"{case.detector} {case.kind} {case.seed} {number}".encode()))


def _judged(key: CaseKey, only: tuple[str, ...] = ()) -> Judged:
    """Describes, reads and judges a case, by all detectors or these. What fails is told like a detector that fails."""
    module, number = key
    case = load(module)[number]
    try:
        recorded = case.build(draws_of(case, number))
        trace = read_back(recorded, bundle=case.bundle)
        judgments = run_detectors(trace, only=only, settings=case.settings)
        outcomes, errors = named(judgments)
        expected = expected_of(case, recorded, outcomes)
        weight = [] if only or case.weight is None else [*case.weight.complaints(case.detector, judgments, trace)]
        weight += contradictions(trace, judgments)
    except Exception:
        return Judged({}, {}, (), (traceback.format_exc(),))
    unexpected = tuple(
        key
        for key, outcome in outcomes.items()
        if outcome == FINDING and expected.get(key) != FINDING and not allows(case, key)
    )
    return Judged(outcomes, expected, unexpected, errors, tuple(weight))


def own_complaints(module: str) -> list[str]:
    """What a detector says wrongly of the first case of each of its recipes and variants, one line each."""
    first: dict[str, int] = {}
    for number, case in enumerate(load(module)):
        first.setdefault(f"{case.recipe} {case.variant}", number)
    wrong = []
    for number in first.values():
        case = load(module)[number]
        wrong += complaints(case, _judged((module, number), (case.detector,)))
    return wrong


def complaints_in(keys: Iterable[CaseKey], check: Callable[[Case, Recorded], Iterable[str]]) -> list[str]:
    """What a check says of the recordings of labeled cases, one line each, on all processors."""
    return [line for lines in on_all_processors(partial(_checked, check), dict.fromkeys(keys)) for line in lines]


def _checked(check: Callable[[Case, Recorded], Iterable[str]], key: CaseKey) -> list[str]:
    module, number = key
    case = load(module)[number]
    try:
        wrong = list(check(case, case.build(draws_of(case, number))))
    except Exception:
        wrong = [traceback.format_exc()]
    return [f"{module}, {case.name}: {line}" for line in wrong]


def named(judgments: Iterable[Judgment]) -> tuple[dict[Key, str], tuple[str, ...]]:
    """What the detectors said, by detector and model, and which of them failed."""
    outcomes: dict[Key, str] = {}
    errors = []
    for judgment in judgments:
        detector, outcome = judgment.detector, judgment.outcome
        key = (detector.id, outcome.model)
        name = OUTCOME_NAMES[type(outcome)]
        # Several outcomes for one model: a finding outweighs the others.
        if outcomes.get(key) != FINDING:
            outcomes[key] = name
        if name == "error":
            errors.append(f"{detector.id}: {outcome.error}")
    return outcomes, tuple(errors)


def read_back(recorded: Recorded, *, bundle: bool) -> Trace:
    """The trace of a recording that is written as a bundle and read, or handed over as an export."""
    scenario = recorded.finish() if isinstance(recorded, App) else recorded
    if not bundle:
        return trace_of(scenario)
    with tempfile.TemporaryDirectory() as folder:
        path = write_bundle(scenario, Path(folder) / "run.trace", rows_per_block=64)
        return build_trace(open_recording(path, schemas=NEEDED_SCHEMAS))


def expected_of(case: Case, recorded: Recorded, outcomes: Mapping[Key, str]) -> dict[Key, str]:
    """What must be said, under the key that holds the answer: one for the recording stands for its models."""
    wanted = case.expected or USUAL[case.kind]
    if case.detector not in detector_ids() or wanted == NOTHING:
        return {}
    if not isinstance(wanted, Mapping):
        if isinstance(recorded, Scenario) and not recorded.coreml:
            wanted = {None: wanted}
        else:
            model = recorded.model if isinstance(recorded, App) else recorded.coreml[0].model
            wanted = {model.base: wanted}
    keys = {(case.detector, model): outcome for model, outcome in wanted.items()}
    of_recording = (case.detector, None)
    return {
        key if key in outcomes or of_recording not in outcomes else of_recording: outcome
        for key, outcome in keys.items()
    }


def allows(case: Case, key: Key) -> bool:
    return key[0] in case.also or key in case.also


def module_of(detector: str) -> str:
    """Name of the module with the cases of a detector."""
    return detector.replace("-", "_")


@cache
def load(module: str) -> tuple[Case, ...]:
    """`CASES` of a module; none where it is missing."""
    name = f"suite.cases.{module}"
    if importlib.util.find_spec(name) is None:
        return ()
    return tuple(importlib.import_module(name).CASES)


def detector_ids() -> tuple[str, ...]:
    """Every registered detector."""
    return tuple(detector.id for detector in DETECTORS)
