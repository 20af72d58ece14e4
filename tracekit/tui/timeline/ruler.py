"""Ticks of the time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracekit.report.formatting import exact_moment
from tracekit.tui.viewport import Viewport, column_of

MS, S = 1_000_000, 1_000_000_000
MINUTE, HOUR = 60 * S, 3600 * S

STEPS: tuple[int, ...] = (
    *(factor * 10**power for power in range(10) for factor in (1, 2, 5)),
    *(10 * S, 20 * S, 30 * S),
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE),
    *(factor * HOUR for factor in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000)),
)
"""Distances between ticks in ns: 1, 2, 5 and their tens up to 5 s, then parts of minutes and hours."""

_GAP = 3
"""Blank cells between two labels."""
_FILLED = "="
"""Along a range."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis."""

    column: int
    label: str


def ruler(view: Viewport, columns: int) -> tuple[Tick, ...]:
    """The densest ticks whose labels leave each other room. O(columns)."""
    for step in STEPS:
        if step * columns < view.span_ns * (_GAP + 2):
            continue
        first = -(-view.start_ns // step) * step
        widest = max(len(exact_moment(time, step)) for time in (first, view.end_ns // step * step))
        if step * columns >= view.span_ns * (widest + _GAP) or step == STEPS[-1]:
            times = range(first, view.end_ns, step)
            return tuple(Tick(column_of(view, columns, time), exact_moment(time, step)) for time in times)
    return ()


def axis(ticks: Sequence[Tick], signs: Mapping[int, str], columns: int, filled: tuple[int, int] = (0, 0)) -> str:
    """The characters of the axis: ticks with their labels, and signs by column.

    A sign in the middle of a label would make another number of it, and a label behind a sign would seem to be the time
    of the sign: the label stands before its tick then, or nowhere.

    filled: first column and the one after the last that have `=` instead of blanks, to show a range.
    """
    cells = [_FILLED if filled[0] <= column < filled[1] else " " for column in range(columns)]
    for column, sign in signs.items():
        if 0 <= column < columns:
            cells[column] = sign

    def free(first: int, after: int) -> bool:
        return first >= 0 and all(cell in (" ", _FILLED) for cell in cells[first:after])

    for tick in ticks:
        at, size = tick.column, len(tick.label)
        if at + size >= columns:
            continue
        if free(at, at + 1):
            cells[at] = "╵"
        if free(at + 1, at + 1 + size):
            cells[at + 1 : at + 1 + size] = tick.label
        elif free(at - size - 1, at):
            cells[at - size : at] = tick.label
    return "".join(cells)
