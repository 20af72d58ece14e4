"""Latencies of a build that changed by a known amount, or not at all, and how often a comparison is wrong about it.

`python -m support.simulated_latencies` prints the tables of docs/compare.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from tracekit.compare.latency import Answer, compare_latency

TYPICAL_NS = 10_000_000
OUTLIERS = 0.02
"""Share of predictions that take twice as long."""


@dataclass(frozen=True, slots=True)
class Case:
    """How latencies are drawn: log normal, each like the one before by `phi`."""

    name: str
    spread: float = 0.05
    phi: float = 0.3
    scale: float = 1.0
    """True ratio of after by before."""
    runs: float = 0.0
    """Standard deviation between recordings of one build."""
    drift: float = 0.0
    step: float = 0.0


NOTHING_CHANGED = tuple(
    Case(f"spread 5%, φ {phi:g}{shape}", phi=phi, drift=drift, step=step)
    for phi in (0.0, 0.3, 0.8)
    for shape, drift, step in (("", 0.0, 0.0), (", 10% drift", 0.10, 0.0), (", a 15% step", 0.0, 0.15))
)
RUNS_DIFFER = Case("spread 5%, φ 0.3, recordings differ by 2%", runs=0.02)
SLOWER = Case("10% slower, spread 5%, φ 0.3", scale=1.1)
NOISY = replace(SLOWER, name="10% slower, spread 10%, φ 0.3", spread=0.10)
DEPENDENT = replace(NOISY, name="10% slower, spread 10%, φ 0.8", phi=0.8)


def latencies(case: Case, count: int, generator: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    """One recording's warm latencies in ns, shape (count,)."""
    shocks = generator.normal(size=count + 100) * np.sqrt(1 - case.phi**2)
    logs = np.zeros(count + 100)
    for index in range(1, len(logs)):
        logs[index] = case.phi * logs[index - 1] + shocks[index]
    logs = logs[100:] * case.spread + np.linspace(0, np.log1p(case.drift), count)
    logs[generator.integers(count // 5, count - count // 5) :] += np.log1p(case.step)
    logs[generator.random(count) < OUTLIERS] += np.log(2)
    return (TYPICAL_NS * scale * np.exp(logs + generator.normal() * case.runs)).astype(np.int64)


def answers(case: Case, count: int, pairs: int, *, seed: int = 1) -> Counter[Answer]:
    """What comparisons of so many pairs of recordings say."""
    generator = np.random.default_rng(seed)
    counts: Counter[Answer] = Counter()
    for _ in range(pairs):
        before = latencies(case, count, generator)
        after = latencies(case, count, generator, case.scale)
        counts[compare_latency([before], [after]).answer] += 1
    return counts


def main(pairs: int = 200) -> None:
    """Print the tables of the documentation."""
    counts = (20, 50, 100, 500)
    _say(f"Nothing changed: called a change / unchanged, in % of {pairs} pairs of recordings\n")
    _print_table(((*NOTHING_CHANGED, RUNS_DIFFER), counts, pairs), (Answer.REGRESSED, Answer.IMPROVED))
    _say(f"\n10% slower: found / called faster, in % of {pairs} pairs\n")
    _print_table(((SLOWER, NOISY, DEPENDENT), counts, pairs), (Answer.REGRESSED,))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _print_table(what: tuple[tuple[Case, ...], tuple[int, ...], int], first: tuple[Answer, ...]) -> None:
    cases, counts, pairs = what
    second = Answer.UNCHANGED if len(first) == 2 else Answer.IMPROVED
    _say(f"| case | {' | '.join(f'{count} predictions' for count in counts)} |")
    _say(f"|---|{'---|' * len(counts)}")
    for case in cases:
        cells = []
        for count in counts:
            answered = answers(case, count, pairs)
            share = 100 * sum(answered[answer] for answer in first) / pairs
            cells.append(f"{share:.0f} / {100 * answered[second] / pairs:.0f}")
        _say(f"| {case.name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
