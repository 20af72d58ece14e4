"""Random sessions without a problem whose footprint is recorded: what models hold is freed with them, and what the app
itself holds comes and goes as it does in real ones. Nothing of it is a problem of memory.

PYTHONPATH=tests python -m suite.random_memory 500
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from math import exp

from suite.frame import FINDING, named, read_back
from suite.memory_apps import MB
from suite.random_apps import healthy
from suite.random_sessions import session
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws, MemoryRow, Scenario
from tracekit.testing.recorder import FOOTPRINT, PAGE
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, PREDICTION

CHECKS = ("memory-growth", "unreturned-load", "duplicate-memory", "memory-peak")
LIMIT_MB = 4_000
"""More than any of the sessions holds."""
Own = Callable[[float], float]
"""What the app itself holds, in bytes, from the share of the recording that is over."""


def remember(scenario: Scenario, draws: Draws) -> None:
    """Sample the footprint of a described recording, every 0.1 to 1 s."""
    held = [*_of_models(scenario, draws)]
    own, wobble = _own(draws), draws.integer(5, 200) * PAGE
    scenario.memory_ns = draws.choice((100_000_000, 250_000_000, 500_000_000, 1_000_000_000))
    for time in range(draws.integer(0, 99) * MB, scenario.duration_ns, scenario.memory_ns):
        size = FOOTPRINT + sum(size for start, end, size in held if start <= time < end)
        size += int(own(time / scenario.duration_ns)) + draws.integer(-wobble, wobble)
        scenario.memory.append(MemoryRow(time, max(size, PAGE)))


def _of_models(scenario: Scenario, draws: Draws) -> Iterable[tuple[int, int, int]]:
    """When each instance was held, and its size: until its last use where the model is loaded again later, else to the
    end."""
    loads, uses = defaultdict(list), defaultdict(list)
    for row in scenario.coreml:
        if row.label in (LOAD, LOAD_CACHED, LOAD_COLD) and row.model.parent is None:
            loads[row.model.base].append(row)
        elif row.label == PREDICTION and row.model.parent is None:
            uses[row.model.recorded_name].append(row.end_ns)
    for rows in loads.values():
        size = draws.integer(2, 400) * MB
        for row in sorted(rows, key=lambda row: row.start_ns):
            of_name = [each for each in rows if each.model.recorded_name == row.model.recorded_name]
            until = min((each.start_ns for each in of_name if each.start_ns > row.start_ns), default=1 << 60)
            last = max((end for end in uses[row.model.recorded_name] if row.end_ns <= end <= until), default=row.end_ns)
            reloaded = any(each.start_ns >= last for each in rows if each is not row)
            end = last + draws.integer(0, 200) * 1_000_000 if reloaded else scenario.duration_ns
            yield row.end_ns, min(end, until), size


def _own(draws: Draws) -> Own:
    """Level, a cache that fills, a pool that is drained now and then, another screen, or one that is closed again."""
    size, at, often = draws.integer(1, 150) * MB, draws.integer(5, 95) / 100, draws.integer(6, 60)
    return draws.choice(
        (
            lambda _share: 0.0,
            lambda share: size * (1 - exp(-share * often)),
            lambda share: size / 5 * (share * often % 1),
            lambda share: size if share >= at else 0.0,
            lambda share: size if at / 2 <= share < at else 0.0,
        )
    )


def false_alarms(seed: int) -> list[str]:
    """Findings about memory in the session of a seed, one line each."""
    made = (healthy if seed % 4 == 0 else session)(seed)
    scenario = made.simulation.recorded.finish()
    remember(scenario, Draws(70_000 + seed))
    answers = run_detectors(
        read_back(scenario, bundle=False), only=CHECKS, settings={"memory-peak.limit_mb": float(LIMIT_MB)}
    )
    outcomes, errors = named(answers)
    allowed = {("duplicate-memory", model) for check, model in made.allowed if check == "duplicate-instances"}
    found = sorted(key for key, outcome in outcomes.items() if outcome == FINDING and key not in allowed)
    return [f"{seed}: {key} [{'; '.join(made.story)}]" for key in found] + [f"{seed}: {error}" for error in errors]
