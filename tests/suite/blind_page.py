"""The page with the figures of the blind test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from suite.blind import (
    CONTRADICTION,
    EXEMPT,
    FALSE_ALARM,
    FOUND,
    NOT_EVALUATED,
    NOT_SHOWN,
    PERIODS,
    WORTH,
    Compared,
)
from suite.frame import detector_ids
from suite.random_apps import HEALTHY

PAGE = Path("docs/detectors/blind.md")
RULES = "../../tracekit/detectors/rules"
COLUMNS = (FOUND, NOT_EVALUATED, CONTRADICTION, FALSE_ALARM)

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
        if worth or what not in (FOUND, NOT_EVALUATED)
    )
    recall = [detector for detector in detector_ids() if detector not in EXEMPT]
    lines = [HEAD.format(count=len({result.key[:3] for result in counted}), worth=WORTH)]
    headings = " | ".join(f"{what}, {ms} ms" for ms in PERIODS for what in COLUMNS)
    lines += [f"| check | {headings} | ", f"|---|{'---:|' * len(COLUMNS) * len(PERIODS)}"]
    lines += [_row(f"[{each}]({RULES}/{each}.md)", answers, [each]) for each in recall]
    lines += [_row("**all of these**", answers, recall), _row("all others", answers, sorted(EXEMPT))]
    lines += ["", "The others need not find anything again:", ""]
    lines += [f"- {reason} {', '.join(detectors)}." for reason, detectors in NOT_SHOWN.items()]
    lines += ["", "## Calls", "", *_calls(counted)]
    return "\n".join(lines).replace(" | \n", " |\n") + "\n"


def _row(name: str, answers: Counter[tuple[int, str, str]], detectors: Sequence[str]) -> str:
    cells = [str(sum(answers[ms, each, what] for each in detectors)) for ms in PERIODS for what in COLUMNS]
    return f"| {name} | {' | '.join(cells)} |"


def _calls(counted: Sequence[Compared]) -> list[str]:
    """A table of the inferred calls, by period."""
    titles = {
        "loads, compilations and predictions": lambda calls: sum(each.true for each in calls),
        "inferred": lambda calls: sum(each.inferred for each in calls),
        "inferred, with begin and end within the bounds": lambda calls: sum(each.within for each in calls),
        "begins and ends at which the thread runs": lambda calls: sum(len(each.widths) for each in calls),
        "of these, bounds of at most 3 samples": lambda calls: sum(
            width <= 3 for each in calls for width in each.widths
        ),
        "recordings with more calls than the truth": lambda calls: sum(bool(each.too_many) for each in calls),
    }
    by_period = {ms: [each.calls for each in counted if each.key.period_ms == ms] for ms in PERIODS}
    healthy = {
        ms: [each for each in counted if each.key.period_ms == ms and each.key.source == HEALTHY] for ms in PERIODS
    }
    rows = [
        f"| {title} | {' | '.join(f'{of(calls):,}' for calls in by_period.values())} |" for title, of in titles.items()
    ]
    alarms = " | ".join(
        f"{sum(any(what == FALSE_ALARM for _, what, _ in each.answers) for each in apps)} of {len(apps):,}"
        for apps in healthy.values()
    )
    return [
        f"| | {' | '.join(f'{ms} ms' for ms in PERIODS)} |",
        "|---|---:|---:|",
        *rows,
        f"| healthy apps with a false alarm | {alarms} |",
    ]
