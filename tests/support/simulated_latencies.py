"""Latencies of a build that changed by a known amount, or not at all, and how often a comparison is wrong about it.

`make error-rates` writes docs/error-rates.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tracekit.comparison.latency import CHANGED, Answer, LatencyChange, compare_latency
from tracekit.comparison.measurements import ModelMeasurements
from tracekit.comparison.models import compare_model
from tracekit.comparison.non_inferiority import Compared, hold
from tracekit.comparison.settings import Floor

PAGE = Path("docs/error-rates.md")
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
    level: float = 1.0
    """Ratio of a second level, as of another clock or compute unit, between which latencies change at random."""
    lasts: float = 20.0
    """Predictions for which a level lasts, on average."""
    beat: float = 0.0
    """Amplitude of a slow wave, as of a display and a camera that go apart."""
    period: float = 50.0
    warm_up: float = 0.0
    """How much slower the first predictions are; it fades over 60."""


NOTHING_CHANGED = tuple(
    Case(f"spread 5%, φ {phi:g}{shape}", phi=phi, drift=drift, step=step)
    for phi in (0.0, 0.3, 0.8)
    for shape, drift, step in (("", 0.0, 0.0), (", 10% drift", 0.10, 0.0), (", a 15% step", 0.0, 0.15))
)
TWO_LEVELS = (
    Case("two compute units, twice apart, each for 20 predictions", spread=0.03, level=2.0),
    Case("two clocks, 20% apart, each for 20 predictions", spread=0.03, level=1.2),
    Case("beat of 15% over 20 predictions", spread=0.03, beat=0.15, period=20),
    Case("beat of 15% over 50 predictions", spread=0.03, beat=0.15),
)
RUNS_DIFFER = Case("spread 5%, φ 0.3, recordings differ by 2%", runs=0.02)
SLOWER = Case("10% slower, spread 5%, φ 0.3", scale=1.1)
NOISY = replace(SLOWER, name="10% slower, spread 10%, φ 0.3", spread=0.10)
DEPENDENT = replace(NOISY, name="10% slower, spread 10%, φ 0.8", phi=0.8)
WARM_UP = Case("the first predictions 30% slower", spread=0.03, warm_up=0.3)


def latencies(case: Case, count: int, generator: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    """One recording's warm latencies in ns, shape (count,)."""
    shocks = generator.normal(size=count + 100) * np.sqrt(1 - case.phi**2)
    logs = np.zeros(count + 100)
    for index in range(1, len(logs)):
        logs[index] = case.phi * logs[index - 1] + shocks[index]
    logs = logs[100:] * case.spread + np.linspace(0, np.log1p(case.drift), count)
    logs[generator.integers(count // 5, count - count // 5) :] += np.log1p(case.step)
    logs[generator.random(count) < OUTLIERS] += np.log(2)
    logs += np.log1p(case.warm_up) * np.exp(-np.arange(count) / 60)
    if case.level != 1:
        changes = np.cumsum(generator.random(count) < 1 / case.lasts) + generator.integers(2)
        logs += np.log(case.level) * (changes % 2)
    if case.beat:
        logs += case.beat * np.sin(2 * np.pi * (np.arange(count) / case.period + generator.random()))
    return (TYPICAL_NS * scale * np.exp(logs + generator.normal() * case.runs)).astype(np.int64)


def changes(case: Case, count: int, pairs: int, *, seed: int = 1) -> Iterator[LatencyChange]:
    """Comparisons of so many pairs of recordings."""
    generator = np.random.default_rng(seed)
    for _ in range(pairs):
        before = latencies(case, count, generator)
        yield compare_latency([before], [latencies(case, count, generator, case.scale)])


def answers(case: Case, count: int, pairs: int, *, seed: int = 1) -> Counter[Answer]:
    """What comparisons of so many pairs of recordings say."""
    return Counter(change.answer for change in changes(case, count, pairs, seed=seed))


def measured(values: np.ndarray) -> ModelMeasurements:
    """A model that was loaded once, before these predictions; latencies in ns, shape (predictions,)."""
    nothing, warm = np.zeros(0, np.int64), np.arange(len(values)) > 0
    return ModelMeasurements(
        "Net", len(values), values, warm, nothing, nothing, nothing, 0, 1, None, None, (("neural-engine", 1.0),)
    )


def of_unequal_lengths(case: Case, counts: tuple[int, int], times: int, *, recordings: int = 3) -> Counter[Answer]:
    """What comparisons say of so many recordings a side, those of the sides of different lengths."""
    generator = np.random.default_rng(2)
    result: Counter[Answer] = Counter()
    for _ in range(times):
        sides = [[measured(latencies(case, count, generator)) for _ in range(recordings)] for count in counts]
        result[compare_model(*sides, floor=Floor()).latency.answer] += 1
    return result


def gate(
    spreads: Sequence[float], slower: float, sizes: tuple[int, int], times: int, *, count: int = 60
) -> tuple[float, float]:
    """Share of builds that pass and that fail: `spreads` has how far the recordings of each model differ, `slower` is
    the true ratio of the first one, `sizes` how many recordings the baseline and the build have."""
    generator = np.random.default_rng(3)
    passed = failed = 0
    for _ in range(times):
        models = []
        for index, runs in enumerate(spreads):
            scales = (1.0, slower if index == 0 else 1.0)
            case = Case("", runs=runs)
            sides = [
                [latencies(case, count, generator, scale) for _ in range(size)]
                for scale, size in zip(scales, sizes, strict=True)
            ]
            models.append(Compared(sides, Floor(), is_fair=True))
        verdicts = [held.passed for held in hold(models) if held is not None]
        passed += all(verdicts)
        failed += False in verdicts
    return passed / times, failed / times


COUNTS = (20, 50, 100, 500)
HEAD = """# Error rates

How often `tracekit compare` and `tracekit check` are wrong, on simulated latencies; `make error-rates` writes this
page. Latencies are log-normal around 10 ms with first-order autocorrelation φ, and 2% of them take twice as long. Each
cell has {times} pairs, or builds. Nothing here is a real device.

Tests check these figures on smaller samples.
"""


def page(times: int) -> str:
    """The page, of so many draws for each cell."""
    every = (*NOTHING_CHANGED, *TWO_LEVELS, RUNS_DIFFER)
    lines = [HEAD.format(times=times)]
    lines += ["## Nothing changed", "", "Called a change / called unchanged, in %. One recording per side.", ""]
    lines += _table(every, lambda said: f"{_share(said, *CHANGED)} / {_share(said, Answer.UNCHANGED)}", times)
    lines += ["", "## 10% slower", "", "Called regressed / called improved, in %. One recording per side.", ""]
    slower = (SLOWER, NOISY, DEPENDENT)
    lines += _table(slower, lambda said: f"{_share(said, Answer.REGRESSED)} / {_share(said, Answer.IMPROVED)}", times)
    lines += ["", "## Coverage", "", "Intervals of 95% that contain the true change, in %.", ""]
    lines += [f"| case | {' | '.join(f'{count} predictions' for count in COUNTS)} |", f"|---|{'---:|' * len(COUNTS)}"]
    for case in (*(one for one in every if not one.step), *slower):
        cells = (f"{100 * covered(case, count, times):.0f}" for count in COUNTS)
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    lines += ["", "## Warm-up and recordings of unequal length", ""]
    lines += [f"Nothing changed, {WARM_UP.name}: called a change, in %.", ""]
    lines += ["| recordings | predictions of each | called a change |", "|---|---|---:|"]
    for recordings in (1, 3):
        for counts in ((600, 40), (1000, 50), (600, 600)):
            said = of_unequal_lengths(WARM_UP, counts, times, recordings=recordings)
            sizes = f"{counts[0]:,} and {counts[1]:,}"
            lines.append(f"| {recordings} and {recordings} | {sizes} | {_share(said, *CHANGED)} |")
    lines += ["", "## The gate", "", "`tracekit check` against a baseline, allowed: +10%; passes / fails, in %.", ""]
    lines += ["| models | recordings differ by | baseline, build | same build | 10% slower | 21% slower |"]
    lines += ["|---|---|---|---:|---:|---:|"]
    for spreads in ((0.02,), (0.02,) * 20, (0.01, 0.02, 0.04) * 7):
        for sizes in ((3, 3), (5, 1), (10, 1)):
            differ = " to ".join(f"{each:.0%}" for each in sorted({min(spreads), max(spreads)}))
            cells = (
                "{:.0f} / {:.0f}".format(*(100 * share for share in gate(spreads, slower, sizes, times)))
                for slower in (1.0, 1.1, 1.21)
            )
            lines.append(f"| {len(spreads)} | {differ} | {sizes[0]}, {sizes[1]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def covered(case: Case, count: int, pairs: int) -> float:
    """Share of intervals that contain the true change, of those that there are."""
    found = [one.low <= case.scale <= one.high for one in changes(case, count, pairs) if one.low and one.high]
    return sum(found) / len(found)


def _table(cases, cell, times):
    yield f"| case | {' | '.join(f'{count} predictions' for count in COUNTS)} |"
    yield f"|---|{'---:|' * len(COUNTS)}"
    for case in cases:
        yield f"| {case.name} | {' | '.join(cell(answers(case, count, times)) for count in COUNTS)} |"


def _share(answered: Counter[Answer], *wanted: Answer) -> str:
    return f"{100 * sum(answered[answer] for answer in wanted) / answered.total():.0f}"


if __name__ == "__main__":
    PAGE.write_text(page(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
