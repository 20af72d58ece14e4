"""The verdict of `tracekit check` as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.comparison.verdict import Item, Verdict
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.comparison.gate import Gate

ANNOTATIONS = 10
"""Most annotations of a level that GitHub takes from a step; a composite action is one step (actions/runner
`ExecutionContext.cs`)."""
_LONGEST = 2000
"""Characters of a message; the runner cuts at 4,096."""
_LEVELS = (("error", (Verdict.ERROR, Verdict.FAILED)), ("warning", (Verdict.INCONCLUSIVE,)))


def workflow_commands(gate: Gate, file: str | None, line: Callable[[Item], int]) -> str:
    """At most `ANNOTATIONS` commands of a level, worst first, and how many more there are; a line each.

    `file` is the file of settings, relative to the repository; None where there is none.
    """
    lines = []
    for level, verdicts in _LEVELS:
        items = [item for item in gate.items if item.verdict in verdicts]
        shown = items if len(items) <= ANNOTATIONS else items[: ANNOTATIONS - 1]
        for item in shown:
            location = f"file={_property(file)},line={line(item)}," if file is not None and item.setting else ""
            lines.append(f"::{level} {location}title={_property(item.title)}::{_data(item.text)}")
        if len(items) > len(shown):
            lines.append(f"::{level} title=tracekit::and {format_count(len(items) - len(shown), 'more item')}")
    return "".join(f"{text}\n" for text in lines)


def _data(text: str) -> str:
    """Text of a message (actions/runner `ActionCommand.cs`)."""
    short = visible(text)[:_LONGEST]
    return short.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
