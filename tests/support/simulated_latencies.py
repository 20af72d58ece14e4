"""Latencies of a build that changed by a known amount, or not at all, and how often a comparison is wrong about it.

`make error-rates` writes docs/error-rates.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np

from tracekit.comparison.change_points import MIN_BUILDS, changes_in
from tracekit.comparison.history import NEWEST
from tracekit.comparison.latency import Answer, LatencyChange, compare_latency
from tracekit.comparison.measurements import ModelMeasurements
from tracekit.comparison.models import compare_model
from tracekit.comparison.non_inferiority import Compared, hold
from tracekit.comparison.sampling import t_quantile
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
STEADY = Case("steady", runs=0.01)
JUDGED = (
    STEADY,
    Case("recordings differ by 2%", runs=0.02),
    Case("10% drift", runs=0.01, drift=0.10),
    Case("φ 0.6, spread 10%", runs=0.01, phi=0.6, spread=0.10),
    Case("φ 0.8", runs=0.01, phi=0.8),
    Case("beat of 10% over 20 predictions", runs=0.01, spread=0.03, beat=0.10, period=20),
    Case("beat of 15% over 50 predictions", runs=0.01, spread=0.03, beat=0.15),
    Case("beat of 10% over 90 predictions", runs=0.01, spread=0.03, beat=0.10, period=90),
    Case("two units, twice apart, each for 20 predictions", runs=0.01, spread=0.03, level=2.0),
    Case("two clocks, 20% apart, each for 20 predictions", runs=0.01, spread=0.03, level=1.2),
    Case("throttles by 30% at some time", runs=0.01, spread=0.03, step=0.30),
)
"""What one table of the page judges, beside other methods."""
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
    spreads: Sequence[float],
    slower: Sequence[float],
    sizes: tuple[int, int],
    times: int,
    *,
    count: int = 60,
    allow: float = 0.10,
) -> list[tuple[float, float]]:
    """Share of builds that pass and that fail, for each true ratio in `slower` of the first model: `spreads` has how
    far the recordings of each model differ, `sizes` how many recordings the baseline and the build have."""
    generator = np.random.default_rng(3)
    passed, failed = np.zeros(len(slower)), np.zeros(len(slower))
    for _ in range(times):
        drawn = [
            [[latencies(Case("", runs=runs), count, generator) for _ in range(size)] for size in sizes]
            for runs in spreads
        ]
        for at, ratio in enumerate(slower):
            sides = [(drawn[0][0], [(one * ratio).astype(np.int64) for one in drawn[0][1]]), *drawn[1:]]
            held = hold([Compared(side, Floor(allow=allow), is_fair=True) for side in sides])
            verdicts = [one.passed for one in held if one is not None]
            passed[at] += all(verdicts)
            failed[at] += False in verdicts
    return list(zip((passed / times).tolist(), (failed / times).tolist(), strict=True))


def covered(case: Case, count: int, pairs: int) -> float:
    """Share of intervals that contain the true change, of those that there are."""
    found = [one.low <= case.scale <= one.high for one in changes(case, count, pairs) if one.low and one.high]
    return sum(found) / len(found)


def steady_builds_failed(case: Case, histories: int, *, builds: int = 100, allow: float = 0.10) -> float:
    """Share of steady builds, of one recording of 100 predictions each, at which a gate on their history fails."""
    generator, failed = np.random.default_rng(1), 0
    for _ in range(histories):
        logs = np.log([np.median(latencies(case, 100, generator)) for _ in range(builds)])
        for end in range(MIN_BUILDS, builds + 1):
            news = [one for one in changes_in(logs[:end]) if one.first_after >= end - NEWEST]
            failed += bool(news) and np.expm1(news[-1].after - news[0].before) > allow
    return failed / histories / (builds + 1 - MIN_BUILDS)


METHODS = ("tracekit", "Mann-Whitney", "Welch's t", "bootstrap", "t of medians")


def claims(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> dict[str, int]:
    """What other methods say of recordings of a build: 1 slower, -1 faster, 0 nothing, at 95% and from a change of 5%
    on as tracekit. The first three take all predictions of a side for one independent sample."""
    sides = [np.log(np.concatenate(side)) for side in (before, after)]
    first, second = map(len, sides)
    ranks = np.concatenate(sides).argsort().argsort()[first:].sum() - second * (second - 1) / 2
    medians = np.array([[np.median(one) for one in map(np.log, side)] for side in (before, after)])
    means, errors = zip(*(_exact_bootstrap(side) for side in sides), strict=True)
    change = float(np.median(sides[1]) - np.median(sides[0]))
    scores = {
        "Mann-Whitney": (ranks - first * second / 2) / np.sqrt(first * second * (first + second + 1) / 12),
        "Welch's t": _score(*(np.concatenate(side) for side in (before, after))),
        "bootstrap": (means[1] - means[0]) / np.hypot(*errors),
    }
    critical, differs = dict.fromkeys(scores, 1.96), dict.fromkeys(scores, change)
    if len(before) > 1:
        scores["t of medians"], differs["t of medians"] = _score(*medians), float(np.diff(medians.mean(axis=1))[0])
        critical["t of medians"] = t_quantile(0.975, 2 * len(before) - 2)
    return {
        name: int(np.sign(score)) * (abs(score) > critical[name] and abs(differs[name]) >= np.log(1.05))
        for name, score in scores.items()
    }


def _score(before: np.ndarray, after: np.ndarray) -> float:
    error = np.hypot(*(side.std(ddof=1) / np.sqrt(len(side)) for side in (before, after)))
    return float((after.mean() - before.mean()) / error)


def _exact_bootstrap(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the medians of all resamples (Maritz and Jarrett, JASA 73, 1978)."""
    count, normal = len(values), NormalDist(len(values) / 2, np.sqrt(len(values)) / 2)
    weights = np.diff([normal.cdf(edge) for edge in range(count + 1)])
    weights, ordered = weights / weights.sum(), np.sort(values)
    mean = float(weights @ ordered)
    return mean, float(np.sqrt(weights @ (ordered - mean) ** 2))


def judged(case: Case, recordings: int, counts: tuple[int, int], pairs: int) -> dict[str, tuple[float, float]]:
    """In %, by method: false claims where nothing changed, and slowdowns of 10% that were caught, of the same draws."""
    generator, found = np.random.default_rng(7), {name: [0, 0] for name in METHODS}
    for _ in range(pairs):
        before, same = ([latencies(case, count, generator) for _ in range(recordings)] for count in counts)
        for at, after in enumerate((same, [(one * 1.1).astype(np.int64) for one in same])):
            if counts[0] == counts[1]:
                answer = compare_latency(before, after).answer
            else:
                answer = compare_model(*(list(map(measured, side)) for side in (before, after)), Floor()).latency.answer
            own = {Answer.REGRESSED: 1, Answer.IMPROVED: -1}.get(answer, 0)
            for name, claim in (("tracekit", own), *claims(before, after).items()):
                found[name][at] += claim != 0 if at == 0 else claim == 1
    return {name: (100 * false / pairs, 100 * caught / pairs) for name, (false, caught) in found.items()}


HEAD = """# Error rates

How often are `tracekit compare`, `check` and `history` wrong? `make error-rates` writes this page from simulated
latencies: {times} pairs or builds per cell. Tests check smaller samples. Nothing here is a real device.

Latencies are log-normal around 10 ms, and 2% of the predictions take twice as long. Unless a case says otherwise, the
spread is 5% (3% with levels or beats) and the first-order autocorrelation φ 0.3. The standard deviation between
recordings of one build is 1%.

## Two builds

The cells have two shares in %: false claims if nothing changed / caught slowdowns of 10%. The other methods judge the
same latencies and also claim changes from 5% on. The first three pool all predictions of a side; the last one takes the
median of each recording. A row without a case belongs to the case above.
"""
LEVELS_THAT_LAST = """
One recording per side cannot show a level that lasts from its beginning to its end. If two units or clocks each last
for 60 predictions, 4% of pairs of 100 predictions and 10% of pairs of 50 are called changed. With three recordings per
side, at most 1% are.
"""
GATE = """
## The gate

`tracekit check` against a baseline; passes / fails, in %. One model gets slower: by the allowed change, by twice that,
or by 21%. A check fails about 1 in 100 unchanged builds, however many models it has, so it sees only larger slowdowns
of one model. If those are larger than the allowed change, a model that is slower by the allowed change often passes.
Each check says how much it can show.

| allowed | models | recordings differ by | baseline, build | same build | slower by that | by twice that | by 21% |
|---|---|---|---|---:|---:|---:|---:|
"""
HISTORY = """
## The history

The share of steady builds at which a gate on their history fails. Each build is one recording of 100 predictions;
10% is allowed.

| case | fails, in % |
|---|---:|
"""


def two_builds(times: int) -> Iterator[str]:
    """Rows of the first table, of so many draws for each cell, and what they come to."""
    yield f"| case | recordings | predictions | {' | '.join(METHODS)} |"
    yield f"|---|---|---|{'---:|' * len(METHODS)}"
    rows = [(case, size, (count, count)) for case in JUDGED for size in (1, 3, 5) for count in (20, 50, 100)]
    rows = [row for row in rows if row[1] == 1 or row[2][0] > 20]
    rows += [(replace(WARM_UP, runs=0.01), size, (600, 50)) for size in (1, 3, 5)]
    false = []
    for case, size, counts in rows:
        found = judged(case, size, counts, times)
        false.append(found["tracekit"][0])
        named = [name for name in METHODS if size > 1 or name != METHODS[-1]]
        cells = ["{:.1f}/{:.0f}".format(*found[name]) for name in named] + ["–"] * (len(METHODS) - len(named))
        count = " and ".join(f"{one:,}" for one in dict.fromkeys(counts))
        title = case.name if (size, counts) == next(row[1:] for row in rows if row[0] == case) else ""
        yield f"| {title} | {size}×{size} | {count} | {' | '.join(cells)} |"
    yield f"\nFalse claims of tracekit: {np.mean(false):.2f}% on average, {max(false):.1f}% at most."


def gates(times: int) -> Iterator[str]:
    """Rows of the second table."""
    for allow, spreads in ((0.1, (0.02,)), (0.05, (0.02,)), (0.05, (0.02,) * 20), (0.1, (0.01, 0.02, 0.04) * 7)):
        for sizes in ((3, 3), (5, 5), (5, 1), (10, 1)):
            differ = " to ".join(f"{each:.0%}" for each in sorted({min(spreads), max(spreads)}))
            found = gate(spreads, (1.0, 1 + allow, 1 + 2 * allow, 1.21), sizes, times, allow=allow)
            cells = ("{:.0f}/{:.0f}".format(*(100 * share for share in each)) for each in found)
            yield f"| {allow:.0%} | {len(spreads)} | {differ} | {sizes[0]}, {sizes[1]} | {' | '.join(cells)} |"


def histories(times: int) -> Iterator[str]:
    """Rows of the third table."""
    longer = (replace(case, name=f"{case.name[:-14]}100 predictions", lasts=100.0) for case in JUDGED[8:10])
    for case in (STEADY, *JUDGED[8:], *longer):
        yield f"| {case.name} | {100 * steady_builds_failed(case, max(times // 10, 1)):.2f} |"


def page(times: int) -> str:
    """The page, of so many draws for each cell."""
    first, second, third = ("\n".join(rows(times)) for rows in (two_builds, gates, histories))
    return f"{HEAD.format(times=times)}\n{first}\n{LEVELS_THAT_LAST}{GATE}{second}\n{HISTORY}{third}\n"


if __name__ == "__main__":
    PAGE.write_text(page(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
