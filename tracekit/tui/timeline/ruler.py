"""Ticks of the time axis, and times in the fewest words that tell two neighbouring columns apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.tui.timeline.viewport import column_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tracekit.tui.timeline.viewport import Viewport

US, MS, S = 1_000, 1_000_000, 1_000_000_000
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


@dataclass(frozen=True, slots=True)
class Ruler:
    """Ticks of a view. Labels that begin with `+` count from `base`."""

    ticks: tuple[Tick, ...]
    base: str
    """The time that labels with `+` count from; empty where labels count from the start of the run."""
    step_ns: int


def ruler(view: Viewport, columns: int) -> Ruler:
    """The densest ticks whose labels leave each other room. O(columns)."""
    for step in STEPS:
        if step * columns < view.span_ns * (_GAP + 2):
            continue
        base = _base(view, step)
        first = -(-view.start_ns // step) * step
        widest = max(len(_label(time, step, base)) for time in (first, view.end_ns // step * step))
        if step * columns >= view.span_ns * (widest + _GAP) or step == STEPS[-1]:
            times = range(first, view.end_ns, step)
            ticks = tuple(Tick(column_of(view, columns, time), _label(time, step, base)) for time in times)
            return Ruler(ticks, moment(base, MS if step >= US else US) if base else "", step)
    return Ruler((), "", STEPS[-1])


def axis(marks: Ruler, signs: Mapping[int, str], columns: int, filled: tuple[int, int] = (0, 0)) -> str:
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

    for tick in marks.ticks:
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


def moment(time_ns: int, resolution_ns: int) -> str:
    """A time since the start of the run with as many digits as tell times `resolution_ns` apart: `12.3 s`, `2:05 min`.

    Below a millisecond of resolution the digits go on in groups of three: `12.345 678 s`.
    """
    if abs(time_ns) < S and resolution_ns < MS:
        unit, name = (MS, "ms") if abs(time_ns) >= MS else (US, "µs")
        return f"{_decimals(time_ns, unit, resolution_ns)} {name}"
    if abs(time_ns) >= 2 * MINUTE:
        hours, rest = divmod(abs(time_ns), HOUR)
        minutes, rest = divmod(rest, MINUTE)
        sign = "-" if time_ns < 0 else ""
        lead = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
        seconds = _decimals(rest, S, resolution_ns)
        return f"{sign}{lead}:{'0' if rest < 10 * S else ''}{seconds} {'h' if hours else 'min'}"
    return f"{_decimals(time_ns, S, resolution_ns)} s"


def _base(view: Viewport, step: int) -> int:
    """What labels count from: nothing for steps of a millisecond and more, else the whole larger unit before."""
    if step >= MS:
        return 0
    unit = MS if step >= US else US
    return view.start_ns // unit * unit


def _label(time_ns: int, step: int, base: int) -> str:
    if step >= MS:
        return moment(time_ns, step)
    unit, name = (US, "µs") if step >= US else (1, "ns")
    return f"{'+' if base else ''}{(time_ns - base) // unit:,} {name}"


def _decimals(time_ns: int, unit: int, resolution_ns: int) -> str:
    """Units with just enough decimals for the resolution, in groups of three, truncated."""
    places = 0
    while 10**places * resolution_ns < unit and 10**places < unit:
        places += 1
    whole, rest = divmod(abs(time_ns), unit)
    sign = "-" if time_ns < 0 else ""
    if not places:
        return f"{sign}{whole:,}"
    digits = f"{rest:0{len(str(unit)) - 1}d}"[:places]
    grouped = " ".join(digits[at : at + 3] for at in range(0, places, 3))
    return f"{sign}{whole:,}.{grouped}"
