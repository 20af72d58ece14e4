"""Changes of a recording that must not change what is found in it.

Each relation takes the description of a labeled recording and gives another one, with what must then hold:

- `in another order`, `in more files`, `later`: every detector says the same of every model, with the same metrics.
- `twice`: the app does all of it again, half a minute later. What is found stays found, what passed or cannot occur is
  not found now. What lacked data may become what the label allows: any answer, but a finding only where the label
  expects one, allows one, or expects that the data do not suffice. A case names the detectors that a number of
  something keeps from a finding (`found_in_more`), and those that find a share of the recording that only its end holds
  (`lost_in_more`): what the end cuts off is a whole row in the middle of a recording twice as long.
- `longer`: the app is idle for five more minutes at the end. What was said holds as under `twice`, and what is found is
  as severe as before.
- `beside`: a clean model in the same process works now and then on a unit that no model of the recording uses. What was
  said of the others holds as under `twice`, and of the new model nothing is found, unless settings of the case ask
  something of it.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from suite.frame import (
    FINDING,
    NOT_EVALUATED,
    SHARED,
    Case,
    CaseKey,
    Key,
    Recorded,
    allows,
    complaints_in,
    detector_ids,
    expected_of,
    load,
    module_of,
    named,
)
from support.handover import trace_of
from tracekit.detectors.outcomes import Finding, severity_of
from tracekit.detectors.runner import run_detectors
from tracekit.recording import open_recording
from tracekit.testing import Draws, Model, Scenario, write_export
from tracekit.testing.recorder import App
from tracekit.testing.rows import StateRow
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.schemas import LANGUAGE_MODELS
from tracekit.testing.tables import TIME_PROFILE
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.trace import Trace

S = 1_000_000_000
GAP_NS = 30 * S
"""Longer than all that the pages call a pause within one use of a model."""
IDLE_NS = 300 * S
SHIFT_NS = 7 * S + 333_333_000
"""In whole µs: a table of contents gives the length of a run in these."""
BESIDE_EVERY_NS, BESIDE_CALLS = 200_000_000, 4
"""Time between the calls of the model beside, and how many it makes at least: a model that is called once, right before
the only sequence of another one, may read its prompt."""
BESIDE = Model("Bystander")
SESSIONS = 1_000
"""Added to the number of a session of a language model to make it another one."""
GAP_CHECKS = ("pipeline-gaps", "serial-predictions")


@dataclass(frozen=True)
class Answers:
    """What the detectors said of a recording."""

    outcomes: Mapping[Key, str]
    metrics: Mapping[Key, tuple[object, ...]]
    """Of the findings."""
    errors: tuple[str, ...]
    severities: Mapping[Key, str] = field(default_factory=dict)
    """Of the findings."""


def answers(scenario: Scenario, case: Case) -> Answers:
    """What all detectors say of a recording that is handed over in memory."""
    return _answers(trace_of(scenario), case)


def answers_of_files(scenario: Scenario, case: Case, order: Draws | None = None) -> Answers:
    """What they say of a recording that is written as an export, with its rows in some order, and read."""
    with tempfile.TemporaryDirectory() as folder:
        write_export(scenario, Path(folder), only={*NEEDED_SCHEMAS, TIME_PROFILE}, order=order)
        return _answers(build_trace(open_recording(Path(folder), schemas=NEEDED_SCHEMAS)), case)


def _answers(trace: Trace, case: Case) -> Answers:
    judgments = run_detectors(trace, settings=case.settings)
    outcomes, errors = named(judgments)
    answered = [(judgment.detector.id, judgment.outcome) for judgment in judgments]
    metrics = {(name, outcome.model): outcome.metrics for name, outcome in answered if isinstance(outcome, Finding)}
    severities = {(name, one.model): severity_of(one) for name, one in answered if isinstance(one, Finding)}
    return Answers(outcomes, metrics, errors, severities)


def moved(scenario: Scenario, by_ns: int, first: int) -> Scenario:
    """A copy with all rows that much later, and their predictions at indices from `first` on."""

    def later(row: Any) -> Any:
        changed = {name: getattr(row, name) + by_ns for name in ("start_ns", "time_ns") if hasattr(row, name)}
        if getattr(row, "prediction", None) is not None:
            changed["prediction"] = row.prediction + first
        return replace(row, **changed) if changed else row

    lists = {each.name: held for each in fields(scenario) if isinstance(held := getattr(scenario, each.name), list)}
    return replace(
        deepcopy(scenario),
        **{name: [*map(later, held)] for name, held in lists.items()},
        language_models={
            schema: [(int(cells[0] or 0) + by_ns, *cells[1:]) for cells in rows]
            for schema, rows in scenario.language_models.items()
        },
    )


STATES = ("gpu_states", "gpu_performance", "thermal")
"""States, which hold until the next one."""
_ONCE = ("processes", "issues", "other_tables")
"""Lists of a scenario that are no rows in time."""


def twice(scenario: Scenario) -> Scenario:
    """The recording, a pause, and all of it again. States hold until the next one."""
    offset = scenario.duration_ns + GAP_NS
    again = moved(scenario, offset, len(scenario.coreml))
    again.gpu = [
        replace(
            row,
            command_buffer_id=_new_id(row.command_buffer_id),
            encoder_id=_new_id(row.encoder_id),
            submission_id=_new_id(row.submission_id),
        )
        for row in again.gpu
    ]
    again.mps = [replace(row, command_buffer_id=_new_id(row.command_buffer_id)) for row in again.mps]
    both = replace(deepcopy(scenario), duration_ns=offset + scenario.duration_ns)
    for name in (each.name for each in fields(scenario) if each.name not in (*_ONCE, *STATES)):
        if isinstance(getattr(scenario, name), list):
            setattr(both, name, [*getattr(scenario, name), *getattr(again, name)])
    for schema, rows in again.language_models.items():
        both.language_models[schema] = [*both.language_models[schema], *_renamed(schema, rows)]
    for name in STATES:
        setattr(both, name, [*_lengthened(getattr(scenario, name), offset), *getattr(again, name)])
    return both


def _new_id(number: int) -> int:
    """An id of the second time; 0 stands for none."""
    return number + (1 << 40) if number else 0


def _renamed(schema: str, rows: Iterable[tuple[int | str | None, ...]]) -> list[tuple[int | str | None, ...]]:
    """Rows of language models whose ids and sessions are those of the second time."""
    names = [name.partition(":")[0] for name in LANGUAGE_MODELS[schema].split()]

    def again(name: str, cell: int | str | None) -> int | str | None:
        if name == "session-index":
            return int(cell or 0) + SESSIONS
        return re.sub(r"\b(event|inference|request|session)-", r"\1-again-", cell) if isinstance(cell, str) else cell

    return [tuple(map(again, names, cells)) for cells in rows]


def _lengthened(rows: list, until_ns: int) -> list:
    """States of which the last holds until a time."""
    return [*rows[:-1], replace(rows[-1], duration_ns=until_ns - rows[-1].start_ns)] if rows else []


def later(scenario: Scenario) -> Scenario:
    """Everything happens some seconds later. The states of the beginning hold from the beginning on."""
    changed = moved(scenario, SHIFT_NS, 0)
    changed.duration_ns += SHIFT_NS
    for name in STATES:
        rows: list[StateRow] = getattr(changed, name)
        if rows:
            head = replace(rows[0], start_ns=rows[0].start_ns - SHIFT_NS, duration_ns=rows[0].duration_ns + SHIFT_NS)
            setattr(changed, name, [head, *rows[1:]])
    return changed


def longer(scenario: Scenario) -> Scenario:
    """Nothing happens for some minutes more. The states of the end hold until then."""
    changed = replace(deepcopy(scenario), duration_ns=scenario.duration_ns + IDLE_NS)
    for name in STATES:
        setattr(changed, name, _lengthened(getattr(changed, name), changed.duration_ns))
    return changed


def more_files(scenario: Scenario) -> Scenario | None:
    """The rows of each table lie in two tables of its schema, each in a file of its own. None where rows of Core ML are
    equal: equal rows in two tables are one event."""
    rows = [(row.start_ns, row.duration_ns, row.label, row.model, row.lane) for row in scenario.coreml]
    return replace(deepcopy(scenario), parts=2) if len(set(rows)) == len(rows) else None


def beside(scenario: Scenario) -> Scenario | None:
    """A model that is called five times a second on the CPU, or on the GPU; None where neither is free, or where no
    Core ML rows were recorded."""
    unit = _idle_unit(scenario)
    if unit is None:
        return None
    changed = deepcopy(scenario)
    start, end = _used(scenario)
    changed.load(BESIDE, max(start - 100_000_000, 0), 60_000_000)
    for time in range(start + 1_000_000, end - 10_000_000, min(BESIDE_EVERY_NS, (end - start) // BESIDE_CALLS)):
        call = changed.predict(BESIDE, time // 125 * 125, 4_000_000)
        call.event("Input Validation", 3_000, 7_500)
        call.event("Output Transformation", 3_990_000, 5_000)
        if unit == "cpu":
            call.event("CPU", 20_000, 3_960_000)
        else:
            call.event("GPU Request", 20_000, 3_960_000)
            call.gpu(60_000, 3_900_000)
    return changed


def _used(scenario: Scenario) -> tuple[int, int]:
    """From the first row of Core ML to the last, in ns."""
    return min(row.start_ns for row in scenario.coreml), max(row.end_ns for row in scenario.coreml)


def _idle_unit(scenario: Scenario) -> str | None:
    """A unit that no model of the recording uses."""
    if CORE_ML in scenario.missing | scenario.emptied or not scenario.coreml:
        return None
    # Short rows come with each request to the GPU.
    if not any(row.label == "CPU" and row.duration_ns >= 100_000 for row in scenario.coreml):
        return "cpu"
    on_gpu = any("GPU" in row.label for row in scenario.coreml) or any(
        row.process == scenario.target for row in scenario.gpu
    )
    lost = "metal-gpu-intervals" in scenario.missing | scenario.emptied
    return None if on_gpu or lost or not scenario.gpu else "gpu"


Differences = Callable[[Case, Answers, Answers, Mapping[Key, str]], list[str]]


def the_same(case: Case, before: Answers, after: Answers, expected: Mapping[Key, str]) -> list[str]:
    """What is said otherwise, in words."""
    keys = sorted({*before.outcomes, *after.outcomes}, key=str)
    changed = [
        f"{key} was {before.outcomes.get(key)}, is {after.outcomes.get(key)}"
        for key in keys
        if before.outcomes.get(key) != after.outcomes.get(key)
    ]
    other = [f"{key} has other metrics" for key in before.metrics if before.metrics[key] != after.metrics.get(key)]
    return changed or other


def as_severe(case: Case, before: Answers, after: Answers, expected: Mapping[Key, str]) -> list[str]:
    """What `no_worse` says, and findings that weigh more or less now, in words."""
    rated = [
        f"{key} was {severity}, is {after.severities[key]}"
        for key, severity in before.severities.items()
        if severity != after.severities.get(key, severity)
    ]
    return [*no_worse(case, before, after, expected), *rated]


def no_worse(case: Case, before: Answers, after: Answers, expected: Mapping[Key, str]) -> list[str]:
    """Findings that are gone, or new ones that the label does not allow, in words."""
    wrong = []
    earlier, later = _of_gaps(before.outcomes), _of_gaps(after.outcomes)
    for key, outcome in later.items():
        was = earlier.get(key)
        if outcome == FINDING and was != FINDING:
            if (key[1] == BESIDE.base and case.settings) or key[0] in case.found_in_more:
                continue
            unknown = was in (None, NOT_EVALUATED)
            if not (unknown and (allows(case, key) or expected.get(key) in (FINDING, NOT_EVALUATED))):
                wrong.append(f"{key} was {was}, is a finding")
    gone = [
        key
        for key, was in earlier.items()
        if was == FINDING and later.get(key) != FINDING and key[0] not in case.lost_in_more
    ]
    return wrong + [f"{key} was a finding, is {later.get(key)}" for key in gone]


def _of_gaps(outcomes: Mapping[Key, str]) -> Mapping[Key, str]:
    """Outcomes in which what one check of gaps finds, or else lacks data for, counts for both: which of them judges
    gaps depends on whether these take half of the time, and predictions of a model beside are no gap."""
    of_both = dict(outcomes)
    for answer in (NOT_EVALUATED, FINDING):
        for (detector, model), outcome in outcomes.items():
            if detector in GAP_CHECKS and outcome == answer:
                of_both |= {(check, model): answer for check in GAP_CHECKS}
    return of_both


@dataclass(frozen=True)
class Relation:
    """A change, and what must hold after it."""

    change: Callable[[Scenario], Scenario | None]
    differences: Differences
    of_files: bool = False
    """Whether it is about how rows are written."""
    shuffled: bool = False
    """Whether they are written in another order."""

    def answers(self, scenario: Scenario, case: Case, draws: Draws) -> Answers:
        """What is said of a changed recording."""
        if self.of_files:
            return answers_of_files(scenario, case, draws if self.shuffled else None)
        return answers(scenario, case)


RELATIONS: dict[str, Relation] = {
    "in another order": Relation(lambda scenario: scenario, the_same, of_files=True, shuffled=True),
    "in more files": Relation(more_files, the_same, of_files=True),
    "later": Relation(later, the_same),
    "longer": Relation(longer, as_severe),
    "twice": Relation(twice, no_worse),
    "beside": Relation(beside, no_worse),
}
"""By name."""


def broken(case: Case, recorded: Recorded) -> list[str]:
    """What each relation says against the answers to a labeled recording, one line each."""
    scenario = recorded.finish() if isinstance(recorded, App) else recorded
    before = answers(scenario, case)
    expected = expected_of(case, recorded, before.outcomes)
    complaints = []
    for name, relation in RELATIONS.items():
        changed = relation.change(scenario)
        if changed is not None:
            after = relation.answers(
                changed, case, Draws(zlib.crc32(f"{case.detector} {case.kind} {case.seed}".encode()))
            )
            complaints += [f"{name}: {line}" for line in relation.differences(case, before, after, expected)]
            complaints += [f"{name}: {line}" for line in after.errors]
    return complaints


def broken_in(keys: Iterable[CaseKey]) -> list[str]:
    """The same for many labeled recordings, on all processors."""
    return complaints_in(keys, broken)


def all_keys() -> list[CaseKey]:
    """Every labeled recording."""
    modules = (*map(module_of, detector_ids()), *SHARED)
    return [(module, number) for module in modules for number in range(len(load(module)))]


def main() -> int:
    """Print what is broken in labeled recordings, and return the exit status."""
    wrong = broken_in(all_keys())
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(f"{len(wrong)} answers change where they must not\n")
    return 1 if wrong else 0
