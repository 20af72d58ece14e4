"""Histories of builds that changed by a known amount, or not at all, and how often what is found in them is wrong.

`python -m support.simulated_histories` prints the tables of docs/history.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from tracekit.comparison.change_points import MIN_BUILDS, Change, changes_in
from tracekit.comparison.history import NEWEST

STEADY_BUILDS = 200


@dataclass(frozen=True, slots=True)
class Noise:
    """How builds of an app that did not change differ, as logarithms."""

    name: str
    spread: float = 0.01
    phi: float = 0.0
    """How much each build is like the one before, as builds of one day are."""
    heavy: bool = False
    """Student's t with 4 degrees of freedom in place of the normal distribution."""
    outliers: float = 0.0
    """Share of builds that are slower by up to 30%."""


NORMAL = Noise("1% noise")
NOISES = (
    NORMAL,
    Noise("1% noise, heavy tails", heavy=True),
    Noise("1% noise, 3% of builds up to 30% slower", outliers=0.03),
    Noise("1% noise, φ 0.3", phi=0.3),
    Noise("1% noise, φ 0.5", phi=0.5),
    Noise("3% noise", spread=0.03),
)


def steady(noise: Noise, count: int, generator: np.random.Generator) -> np.ndarray:
    """Logarithms of the latency of builds that do not differ, shape (count,)."""
    shocks = generator.standard_t(4, size=count + 50) / np.sqrt(2) if noise.heavy else generator.normal(size=count + 50)
    logs = np.zeros(count + 50)
    for at in range(1, len(logs)):
        logs[at] = noise.phi * logs[at - 1] + shocks[at] * np.sqrt(1 - noise.phi**2)
    return logs[50:] * noise.spread + (generator.random(count) < noise.outliers) * generator.random(count) * 0.3


def with_drift(values: np.ndarray, first: int, rate: float) -> np.ndarray:
    """The series with builds that are slower by `rate` each from one on."""
    return values + np.log1p(rate) * np.maximum(np.arange(len(values)) - first + 1, 0)


def with_step(values: np.ndarray, first: int, size: float) -> np.ndarray:
    """The series with builds that are slower by `size` from one on."""
    return values + np.log1p(size) * (np.arange(len(values)) >= first)


def rises(values: np.ndarray) -> list[Change]:
    """Changes for the worse that reach into the newest builds."""
    return [one for one in changes_in(values) if one.after > one.before and one.first_after >= len(values) - NEWEST]


def false_changes(noise: Noise, histories: int, *, seed: int = 1) -> int:
    """Changes found in all of some histories of 200 steady builds, once they are complete."""
    generator = np.random.default_rng(seed)
    return sum(len(changes_in(steady(noise, STEADY_BUILDS, generator))) for _ in range(histories))


def false_alarms(noise: Noise, histories: int, *, seed: int = 1) -> float:
    """Share of steady builds at which a gate that looks at each sees a rise."""
    generator = np.random.default_rng(seed)
    alarms = 0
    for _ in range(histories):
        values = steady(noise, STEADY_BUILDS, generator)
        alarms += sum(bool(rises(values[:end])) for end in range(MIN_BUILDS, STEADY_BUILDS + 1))
    return alarms / histories / (STEADY_BUILDS + 1 - MIN_BUILDS)


def builds_until_found(
    noise: Noise, before: int, rate: float, histories: int, *, most: int = NEWEST, seed: int = 1
) -> list[int | None]:
    """After how many builds a drift is found, for each history; None: not within `most`."""
    generator = np.random.default_rng(seed)
    found: list[int | None] = []
    for _ in range(histories):
        values = with_drift(steady(noise, before + most, generator), before, rate)
        found.append(next((builds for builds in range(1, most + 1) if rises(values[: before + builds])), None))
    return found


@dataclass(slots=True)
class Steps:
    """What was found of steps, in histories."""

    found: int = 0
    covered: int = 0
    """Those whose range holds the step."""
    builds: int = 0
    """Builds of all ranges."""
    drifts: int = 0
    """Those that were called a drift."""


def steps_found(noise: Noise, before: int, size: float, after: int, histories: int, *, seed: int = 1) -> Steps:
    """How often a step is found so many builds after it."""
    generator = np.random.default_rng(seed)
    steps = Steps()
    for _ in range(histories):
        for change in rises(with_step(steady(noise, before + after, generator), before, size))[:1]:
            steps.found += 1
            steps.covered += change.last_before < before <= change.first_after
            steps.builds += change.first_after - change.last_before
            steps.drifts += change.kind == "drift"
    return steps


def main(histories: int = 200) -> None:
    """Print the tables of the documentation."""
    _say("| noise between builds | changes found in 200 steady builds | a gate fails at one of |")
    _say("|---|--:|--:|")
    for noise in NOISES:
        share = false_alarms(noise, max(histories // 4, 1))
        one_in = f"{1 / share:,.0f} builds" if share else f"more than {max(histories // 4, 1) * 193:,} builds"
        _say(f"| {noise.name} | {false_changes(noise, histories) / histories:.3f} | {one_in} |")
    _say("\n| drift a build | builds before | found within 12 builds | median | with φ 0.3 |")
    _say("|---|--:|--:|--:|--:|")
    for rate in (0.01, 0.005, 0.003):
        for before in (8, 20, 50):
            cells = []
            for noise in (NORMAL, NOISES[3]):
                each = builds_until_found(noise, before, rate, histories)
                known = [builds for builds in each if builds is not None]
                cells.append((f"{100 * len(known) / histories:.0f}%", f"{np.median(known):.0f} builds"))
            _say(f"| {rate:.1%} | {before} | {cells[0][0]} | {cells[0][1]} | {cells[1][0]} |")
    _say(
        "\n| step | builds before | after 3 builds | after 6 | after 12 | range holds the step | builds in the range |"
    )
    _say("|---|--:|--:|--:|--:|--:|--:|")
    for size in (0.03, 0.05, 0.1):
        for before in (8, 20, 50):
            each_after = [steps_found(NORMAL, before, size, after, histories) for after in (3, 6, 12)]
            found = sum(one.found for one in each_after) or 1
            cells_of = [f"{100 * one.found / histories:.0f}%" for one in each_after]
            held = f"{100 * sum(one.covered for one in each_after) / found:.0f}%"
            width = f"{sum(one.builds for one in each_after) / found:.1f}"
            _say(f"| {size:.0%} | {before} | {' | '.join(cells_of)} | {held} | {width} |")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
