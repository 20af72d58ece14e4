"""Labeled recordings judged without Core ML's rows, from call stacks and hardware, against the same with them.

`PYTHONPATH=tests python -m suite.blind [STEP]` judges one in `STEP` recordings, prints what is wrong, and writes
docs/detectors/blind.md where it judges all.
"""

from __future__ import annotations

import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from suite.blind_calls import Calls, calls_meant, compare_calls
from suite.blind_stacks import TrueCall, is_call, with_stacks
from suite.frame import FINDING, NOT_EVALUATED, PASSED, Key, allows, draws_of, expected_of, load, named
from suite.metamorphic import RELATIONS, all_keys
from suite.processes import on_all_processors
from suite.random_apps import HEALTHY, ILL_SESSION, MAKERS, PROBLEM, SESSION
from support.handover import trace_of
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws, Scenario
from tracekit.testing.recorder import App
from tracekit.testing.scenario import CORE_ML

PERIODS = {1: 1_000_000, 5: 5_000_000}
"""Times between samples in ns, by ms."""
WORTH = 10
"""A finding must be found again from a cost of more than so many samples on."""
FOUND, MISSING, CONTRADICTION, FALSE_ALARM = "found again", "not evaluated", "contradicts", "false alarm"
CHANGES = ("twice", "longer", "beside")
"""Changes that make a further recording of every tenth one."""
RANDOM = {HEALTHY: 1_000, PROBLEM: 200, SESSION: 100, ILL_SESSION: 100}

NOT_SHOWN: Mapping[str, tuple[str, ...]] = {
    "Copies, conversions and what no step explains": (
        "excess-data-copies",
        "float-conversion",
        "state-copies",
        "unaccounted-time",
    ),
    "Requests of a call to compute units, and its hand-offs": (
        "neural-engine-contention",
        "gpu-contention",
        "cpu-contention",
        "compute-unit-ping-pong",
        "neural-engine-fragmentation",
    ),
    "Numbers of instances, and which models the app loaded": ("duplicate-instances", "foreign-neural-engine-work"),
    "The recording itself": ("core-ml-not-instrumented", "run-issues", "attached-late", "truncated-recording"),
}
EXEMPT = {detector for detectors in NOT_SHOWN.values() for detector in detectors}
ARTIFACTS: Mapping[tuple[str, str], str] = {
    ("load_on_main_thread", "two_at_once"): "Two threads load, and Core ML's rows hold one load.",
    ("core_ml_not_instrumented", ""): "Its recordings hold what Core ML did not record.",
}
"""Recordings that do not count, by module and builder (all where it is empty), with the reason."""


class RecordingKey(NamedTuple):
    """A labeled recording."""

    source: str
    """Module of cases, or kind of random app."""
    number: int
    change: str = ""
    """A key of `RELATIONS`."""
    period_ms: int = 1

    @property
    def name(self) -> str:
        return f"{self.source} {self.number}{self.change and ' ' + self.change} at {self.period_ms} ms"


@dataclass(frozen=True)
class Labeled:
    """A recording with Core ML's rows, and what may be found in it besides what is found with them."""

    scenario: Scenario
    may_hold: Callable[[Key], bool]
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """What of a recording's judgment is left without Core ML's rows."""

    key: RecordingKey
    answers: tuple[tuple[str, str, bool], ...] = ()
    """Detector, one of the four comparisons, and whether the finding had to be found again."""
    calls: Calls | None = None
    """None where the recording does not count."""
    error: str = ""

    @property
    def complaints(self) -> list[str]:
        """Contradictions, false alarms, counts above the truth, and failures, one line each."""
        wrong = [f"{detector} {what}" for detector, what, _ in self.answers if what in (CONTRADICTION, FALSE_ALARM)]
        wrong += [f"more calls of {name} than there are" for name in (self.calls.too_many if self.calls else ())]
        return [f"{self.key.name}: {line}" for line in (*dict.fromkeys(wrong), *filter(None, [self.error]))]


def keys() -> list[RecordingKey]:
    """Every recording of the blind test, with samples every ms."""
    cases = [RecordingKey(*key) for key in all_keys()]
    changed = [key._replace(change=change) for key in cases[::10] for change in CHANGES]
    apps = [RecordingKey(kind, seed) for kind, count in RANDOM.items() for seed in range(count)]
    return [*cases, *changed, *apps]


def labeled(key: RecordingKey) -> Labeled | None:
    """The recording; None where it does not count."""
    if key.source in MAKERS:
        made = MAKERS[key.source](key.number)
        right = made.planted.union(made.allowed, *made.one_of)
        return Labeled(made.simulation.recorded.finish(), right.__contains__, {"model_settings": made.settings})
    case = load(key.source)[key.number]
    if {(key.source, case.build.__name__), (key.source, "")} & ARTIFACTS.keys():
        return None
    recorded = case.build(draws_of(case, key.number))
    scenario = recorded.finish() if isinstance(recorded, App) else recorded
    changed = RELATIONS[key.change].change(scenario) if key.change and scenario.coreml else scenario
    if changed is None or not changed.coreml:
        return None
    expected = expected_of(case, recorded, {})
    return Labeled(
        changed, lambda found: allows(case, found) or expected.get(found) == FINDING, {"settings": case.settings}
    )


def compared(key: RecordingKey) -> Compared:
    """A recording with call stacks, judged with and without Core ML's rows."""
    try:
        made = labeled(key)
        # Rows of several processes name none: nobody can say which are whose.
        if made is None or made.scenario.all_processes or not _has_core_ml(made.scenario):
            return Compared(key)
        period_ns = PERIODS[key.period_ms]
        whole, calls = with_stacks(made.scenario, Draws(zlib.crc32(f"{key.source} {key.number}".encode())), period_ns)
        trace = trace_of(replace(whole, emptied={*whole.emptied, CORE_ML}))
        truth, blind = (run_detectors(each, **made.settings) for each in (trace_of(whole), trace))
        answers = tuple(_answers(truth, blind, calls, made.may_hold, period_ns))
        errors = named(blind)[1]
        return Compared(key, answers, compare_calls(trace.activity, calls, whole.samples, period_ns), "; ".join(errors))
    except Exception:
        return Compared(key, error=traceback.format_exc())


def _has_core_ml(scenario: Scenario) -> bool:
    return CORE_ML not in scenario.missing | scenario.emptied and any(map(is_call, scenario.coreml))


def _answers(
    truth: Sequence[Judgment],
    blind: Sequence[Judgment],
    calls: Sequence[TrueCall],
    may_hold: Callable[[Key], bool],
    period_ns: int,
) -> Iterator[tuple[str, str, bool]]:
    """Comparisons of each finding of either side. An answer is about all models that its name may stand for."""
    said, _ = named(blind)
    about = {name: {None, *(call.row.model.base for call in calls_meant(name, calls))} for _, name in said}
    worth: dict[Key, bool] = {}
    for judgment in truth:
        key = (judgment.detector.id, judgment.outcome.model)
        if isinstance(judgment.outcome, Finding):
            cost = judgment.outcome.cost
            worth[key] = worth.get(key, False) or cost is None or cost.ns > WORTH * period_ns
    for (detector, model), must in worth.items():
        here = {what for (other, name), what in said.items() if other == detector and model in about[name]}
        if (detector, model) in said:
            here = {said[detector, model]}
        only_passed = PASSED in here and NOT_EVALUATED not in here
        yield detector, FOUND if FINDING in here else CONTRADICTION if only_passed else MISSING, must
    for (detector, name), what in said.items():
        models = about[name] if (detector, name) not in worth else {name}
        right = any((detector, model) in worth or may_hold((detector, model)) for model in models)
        if what == FINDING and not right and detector != "core-ml-not-instrumented":
            yield detector, FALSE_ALARM, False


def main(step: int = 1) -> int:
    """Compare, print, write the page of a whole run, and return the exit status."""
    from suite.blind_page import PAGE, page

    results = on_all_processors(compared, [key._replace(period_ms=ms) for key in keys()[::step] for ms in PERIODS])
    text = page(results)
    if step == 1:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    complaints = [line for result in results for line in result.complaints]
    sys.stdout.writelines([text, *(f"{line}\n" for line in complaints)])
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
