"""The page with the figures of the blind test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from suite.blind import (
    CONTRADICTION,
    EXEMPT,
    FALSE_ALARM,
    FOUND,
    MISSING,
    NOT_SHOWN,
    PERIODS,
    WORTH,
    Compared,
)
from suite.frame import detector_ids
from suite.random_apps import HEALTHY

PAGE = Path("docs/detectors/blind.md")
RULES = "../../tracekit/detectors/rules"
COLUMNS = (FOUND, MISSING, CONTRADICTION, FALSE_ALARM)

HEAD = """# Without Core ML's rows

How much of a judgment is left where Core ML recorded no rows; `make blind` writes this page. The labeled recordings of
[accuracy.md](accuracy.md), every tenth of them also repeated, lengthened and beside another model, and random apps are
given call stacks of 1 ms and 5 ms: with missed samples, several threads, inlined frames and functions without names.
Each is judged with Core ML's rows and without, and the answers are compared: {count:,} recordings. Those of several
processes, and those that hold what Core ML did not record, do not count.

- *Found again*, *not evaluated*: findings with a cost of more than {worth} samples, or without cost.
- *Contradicts*: a check passes that finds something with Core ML's rows. *False alarm*: a finding that is there only
  without them. Neither may occur.
"""


def page(results: Sequence[Compared]) -> str:
    """The page as Markdown."""
    counted = [result for result in results if result.calls is not None]
    answers = Counter(
        (result.key.period_ms, detector, what)
        for result in counted
        for detector, what, worth in result.answers
        if worth or what not in (FOUND, MISSING)
    )
    recall = [detector for detector in detector_ids() if detector not in EXEMPT]
    lines = [HEAD.format(count=len({result.key[:3] for result in counted}), worth=WORTH)]
    headings = " | ".join(f"{what}, {ms} ms" for ms in PERIODS for what in COLUMNS)
    lines += [f"| check | {headings} | ", f"|---|{'---:|' * len(COLUMNS) * len(PERIODS)}"]
    lines += [_row(f"[{each}]({RULES}/{each}.md)", answers, [each]) for each in recall]
    lines += [_row("**all of these**", answers, recall), _row("all others", answers, sorted(EXEMPT))]
    lines += ["", "The others rest on what only Core ML records, and need not find anything again:", ""]
    lines += [f"- {reason}: {', '.join(detectors)}." for reason, detectors in NOT_SHOWN.items()]
    lines += ["", "## Calls", "", *_calls(counted)]
    return "\n".join(lines).replace(" | \n", " |\n") + "\n"


def _row(name: str, answers: Counter[tuple[int, str, str]], detectors: Sequence[str]) -> str:
    cells = [str(sum(answers[ms, each, what] for each in detectors)) for ms in PERIODS for what in COLUMNS]
    return f"| {name} | {' | '.join(cells)} |"


def _calls(counted: Sequence[Compared]) -> Iterator[str]:
    """A table of the inferred calls, by period."""
    yield f"| | {' | '.join(f'{ms} ms' for ms in PERIODS)} |"
    yield f"|---|{'---:|' * len(PERIODS)}"
    by_period = [[each for each in counted if each.key.period_ms == ms] for ms in PERIODS]
    for title, figure in FIGURES.items():
        yield f"| {title} | {' | '.join(f'{sum(map(figure, results)):,}' for results in by_period)} |"


def _is_healthy(result: Compared) -> bool:
    return result.key.source == HEALTHY


FIGURES: dict[str, Callable[[Compared], int]] = {
    "loads, compilations and predictions": lambda result: result.calls.true,
    "inferred": lambda result: result.calls.inferred,
    "inferred, with begin and end within their bounds": lambda result: result.calls.within,
    "begins and ends of these at which the thread runs": lambda result: len(result.calls.widths),
    "of these, bounds of at most 3 samples": lambda result: sum(width <= 3 for width in result.calls.widths),
    "recordings with more calls than there are": lambda result: bool(result.calls.too_many),
    "healthy apps": _is_healthy,
    "healthy apps with a false alarm": lambda result: (
        _is_healthy(result) and any(what == FALSE_ALARM for _, what, _ in result.answers)
    ),
}
