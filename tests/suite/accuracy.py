"""Precision and recall of every detector on the labeled recordings: prints them and writes the page with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from suite import metamorphic, random_apps, random_chats, random_memory
from suite.consistency import contradictions_of
from suite.filters import filter_complaints
from suite.frame import (
    FINDING,
    INSUFFICIENT,
    LOOKALIKE,
    NEAR_ABOVE,
    NEAR_BELOW,
    NEGATIVE,
    POSITIVE,
    SHARED,
    Case,
    Judged,
    complaints,
    detector_ids,
    judge,
    judge_many,
    load,
    module_of,
)
from suite.processes import printed

NEAR = (NEAR_ABOVE, NEAR_BELOW)
COLUMNS = {
    "positives": (POSITIVE,),
    "negatives": (NEGATIVE,),
    "look-alikes": (LOOKALIKE,),
    "too little data": (INSUFFICIENT,),
    "near misses": NEAR,
}
"""Heading and kinds of case."""

PAGES = "../../tracekit/detectors/rules"

HEAD = """# Accuracy

How often are checks right? `make accuracy` writes this page from {count:,} labeled recordings. `tracekit.testing`
makes them with the overlaps, duplicated rows and work of other processes that real ones have. Every check evaluates
each recording, and a wrong finding counts against it.

Each check has recordings of its own: with the problem, clean, look-alikes, with too little data, and just above and
below its thresholds (near misses). {shared} more belong to no check: clean apps of every kind, samples after their fix,
and a public recording rebuilt from its figures.

Precision is the share of findings that are right, recall the share of problems found, both without near misses. The
other columns count correct answers on a check's own recordings.
"""


@dataclass
class Score:
    """What one detector made of the suite."""

    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    found: int = 0
    missed: int = 0
    false: int = 0
    """Findings that are not right."""

    @property
    def precision(self) -> float | None:
        """None without findings."""
        made = self.found + self.false
        return self.found / made if made else None

    @property
    def recall(self) -> float | None:
        """None without problems to find."""
        there = self.found + self.missed
        return self.found / there if there else None


def scores() -> dict[str, Score]:
    """By detector, over all cases."""
    result = {detector: Score() for detector in detector_ids()}
    for case, judged in _judgments():
        near = case.kind in NEAR
        for detector, _ in judged.unexpected:
            result[detector].false += not (near and detector == case.detector)
        if case.detector not in result:
            continue
        score = result[case.detector]
        column = next((column for column, kinds in COLUMNS.items() if case.kind in kinds), None)
        if column is not None:
            score.total[column] += 1
            score.right[column] += judged.right
        if not near:
            problems = [key for key, wanted in judged.expected.items() if wanted == FINDING]
            missed = sum(key in judged.missed for key in problems)
            score.found += len(problems) - missed
            score.missed += missed
    return result


def page() -> str:
    """The page as Markdown."""
    scored = scores()
    shared = sum(len(load(module)) for module in SHARED)
    count = shared + sum(sum(score.total.values()) for score in scored.values())
    lines = [
        f"| check | {' | '.join(COLUMNS)} | precision | recall |",
        f"|---|{'---:|' * (len(COLUMNS) + 2)}",
        *(_row(f"[{detector}]({PAGES}/{detector}.md)", score) for detector, score in scored.items()),
        _row("**all**", _sum(scored.values())),
    ]
    return HEAD.format(shared=shared, count=count) + "\n" + "\n".join(lines) + "\n"


def _judgments() -> Iterator[tuple[Case, Judged]]:
    """Every case of the suite. Detectors without cases have none."""
    modules = _modules()
    judge_many((module, index) for module in modules for index in range(len(load(module))))
    for module in modules:
        for index, case in enumerate(load(module)):
            yield case, judge(module, index)


def _modules() -> list[str]:
    """Modules that hold cases."""
    return [module for module in (*map(module_of, detector_ids()), *SHARED) if load(module)]


def _sum(parts: Iterable[Score]) -> Score:
    """All detectors together."""
    total = Score()
    for part in parts:
        for column in COLUMNS:
            total.right[column] += part.right[column]
            total.total[column] += part.total[column]
        total.found += part.found
        total.missed += part.missed
        total.false += part.false
    return total


def _row(name: str, score: Score) -> str:
    """A line of the table."""
    answers = " | ".join(f"{score.right[column]}/{score.total[column]}" for column in COLUMNS)
    return f"| {name} | {answers} | {_share(score.precision)} | {_share(score.recall)} |"


def _share(value: float | None) -> str:
    """Rounded down, so that only a perfect score reads 1."""
    return "–" if value is None else f"{int(value * 1_000) / 1_000:.3f}"


def main() -> int:
    """Print the page and what is not right, write the page, and return the exit status."""
    text = page()
    Path("docs/detectors/accuracy.md").write_text(text, encoding="utf-8", newline="\n")
    wrong = [f"{case.detector}, {line}\n" for case, judged in _judgments() for line in complaints(case, judged)]
    everywhere = [(module, index) for module in _modules() for index in range(len(load(module)))]
    wrong += [f"{line}\n" for line in (*filter_complaints(everywhere), *contradictions_of(everywhere))]
    sys.stdout.writelines([text, *wrong])
    sys.stdout.write("\nChanges that must not change an answer, over all labeled recordings:\n")
    changed = metamorphic.main()
    sys.stdout.write("\nRandom apps:\n")
    failed = [
        random_apps.main(),
        printed(random_memory.false_alarms, 500, "sessions"),
        printed(random_chats.false_alarms, 500, "chats"),
    ]
    return 1 if wrong or any(failed) or changed else 0


if __name__ == "__main__":
    sys.exit(main())
