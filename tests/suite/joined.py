"""Two uses of one model in one recording: on a load, in an instance or in a process each.

What is found in both together is what is found in either: nothing compares the latency of the one with that of the
other where these differ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from suite.frame import FINDING, NOT_EVALUATED, CaseKey, draws_of, load, named
from suite.metamorphic import GAP_NS, STATES, moved
from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Model, Scenario
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App
from tracekit.testing.rows import LOAD_CACHED, PREDICTION

CHECKS = ("shape-switching", "latency-jitter", "growing-latency", "thermal-throttling", "lasting-slowdown")
"""Checks that compare predictions with each other."""
MODULES = tuple(check.replace("-", "_") for check in CHECKS)
APART = 1.3
"""Usual latencies that differ by so much are of different configurations."""
OTHER = Process("Assistant", 40_123)


def _is_one_use(key: CaseKey) -> bool:
    """Whether the app loads a single model once, with its first row, under default settings."""
    case, scenario = load(key[0])[key[1]], recorded(*key)
    names = {row.model.recorded_name for row in scenario.coreml}
    loads = [row for row in scenario.coreml if row.label == LOAD_CACHED]
    first = min(scenario.coreml, key=lambda row: row.start_ns, default=None)
    return (
        len(names) == len(loads) == 1
        and first is loads[0]
        and first.model.instance is not None
        and not (case.settings or scenario.missing or scenario.emptied or scenario.all_processes)
    )


@cache
def recorded(module: str, number: int) -> Scenario:
    """The recording of a case."""
    case = load(module)[number]
    app = case.build(draws_of(case, number))
    return app.finish() if isinstance(app, App) else app


def pairs(step: int = 1) -> list[tuple[CaseKey, CaseKey]]:
    """Every so many labeled recordings of a single use with another one, of which the latency differs and in which as
    much was recorded."""
    every = [(module, number) for module in MODULES for number in range(len(load(module)))]
    chosen = []
    for number in range(0, len(every), step):
        if not _is_one_use(every[number]):
            continue
        first = recorded(*every[number])
        # Prime steps, so that uses meet those of other modules.
        for other in ((7 * number + 11 * distance) % len(every) for distance in range(1, len(every))):
            second = recorded(*every[other])
            if _is_one_use(every[other]) and _apart(first, second) and bool(first.thermal) == bool(second.thermal):
                chosen.append((every[number], every[other]))
                break
    return chosen


def _apart(first: Scenario, second: Scenario) -> bool:
    shorter, longer = sorted((latency_ns(first), latency_ns(second)))
    return longer >= APART * shorter


def latency_ns(scenario: Scenario) -> int:
    """Tenth percentile of the durations."""
    durations = sorted(row.duration_ns for row in scenario.coreml if row.label == PREDICTION)
    return durations[len(durations) // 10]


def joined(first: Scenario, second: Scenario, instance: int, process: Process | None = None) -> Scenario:
    """All of the first recording, a gap, and all of the second with the model of the first, loaded again: as this
    instance, and in another process where one is given."""
    model = next(row.model for row in first.coreml)
    old = next(row.model for row in second.coreml)
    new = Model(model.base, instance)
    offset = first.duration_ns + GAP_NS
    later = moved(second, offset, len(first.coreml))
    both = replace(first, duration_ns=offset + second.duration_ns, all_processes=process is not None)
    both.processes = [*first.processes, *([process] if process else [])]
    both.coreml = [*first.coreml, *(replace(row, model=new) for row in later.coreml)]
    both.neural_engine = [
        *first.neural_engine,
        *(replace(row, label=row.label.replace(old.program, new.program)) for row in later.neural_engine),
    ]
    both.gpu = [
        *first.gpu,
        *(
            replace(
                row,
                command_buffer=row.command_buffer.replace(old.program, new.program),
                process=(process or first.target) if row.process == second.target else row.process,
            )
            for row in later.gpu
        ),
    ]
    both.mps = [*first.mps, *later.mps]
    both.shaders = [
        *first.shaders,
        *(
            replace(row, process=(process or first.target) if row.process in (None, second.target) else row.process)
            for row in later.shaders
        ),
    ]
    both.points, both.samples, both.hangs, both.signposts = [], [], [], []
    for name in STATES:
        rows = getattr(first, name), getattr(later, name)
        setattr(both, name, [*_until(rows[0], offset), *rows[1]] if all(rows) else [])
    return both


def _until(rows: list, end_ns: int) -> list:
    return [*rows[:-1], replace(rows[-1], duration_ns=end_ns - rows[-1].start_ns)]


def said(scenario: Scenario) -> dict[str, str]:
    """What each of `CHECKS` says of the model."""
    outcomes, errors = named(run_detectors(trace_of(scenario), only=CHECKS))
    assert not errors, errors
    return {check: outcome for (check, _), outcome in outcomes.items()}


def differences(first: Scenario, second: Scenario, whole: Scenario) -> list[str]:
    """What is found in the whole and in neither part, or in a part and not in the whole, in words."""
    parts, both = (said(first), said(second)), said(whole)
    wrong = []
    for check in CHECKS:
        found = any(part.get(check) == FINDING for part in parts)
        if found != (both.get(check) == FINDING) and NOT_EVALUATED not in {part.get(check) for part in parts} - {
            both.get(check)
        }:
            wrong.append(f"{check}: {' and '.join(str(part.get(check)) for part in parts)}, joined {both.get(check)}")
    return wrong
