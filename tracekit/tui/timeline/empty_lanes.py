"""How the reasons of several lanes that show nothing share few lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tracekit.grouping import grouped
from tracekit.report.formatting import visible


def reasons(lanes: Sequence[tuple[str, str]], columns: int, max_lines: int) -> tuple[str, ...]:
    """Titles of lanes with their reasons, given in pairs, on as few lines of `columns` cells as can be, at most `most`.

    A reason stands on one line where that costs none. Half a reason would be another one ("recorded" of "recorded, no
    events"): where the lines do not hold all, the last reasons give way to the number of their lanes.
    """
    titles = grouped((why, visible(title)) for title, why in lanes)
    described = [f"{', '.join(of_reason)}: {why}" for why, of_reason in titles.items()]
    left = [len(of_reason) for of_reason in titles.values()]
    for count in range(len(described), 0, -1):
        rest = [f"{sum(left[count:])} more"] if count < len(described) else []
        lines = _lines([*described[:count], *rest], columns)
        if len(lines) <= max_lines:
            return tuple(lines)
    return (f"{len(lanes)} lanes",)


def whole_words(text: str, cells: int) -> str:
    """Text in at most `cells` cells, with `…` after the last word that fits where it is longer."""
    if cell_len(text) <= cells:
        return text
    words = text.split()
    while words and cell_len(" ".join(words)) + 2 > cells:
        words.pop()
    return " ".join([*words, "…"]) if cells > 0 else ""


def _lines(parts: Sequence[str], columns: int) -> list[str]:
    """Parts behind one another, with breaks between two of them, or between words where that takes fewer lines."""
    ended = [*(f"{part};" for part in parts[:-1]), parts[-1]]
    by_word = _lines_of_units(" ".join(ended).split(), columns)
    by_part = _lines_of_units(ended, columns)
    fits = all(cell_len(line) <= columns for line in by_part)
    return by_part if fits and len(by_part) <= len(by_word) else by_word


def _lines_of_units(units: Sequence[str], columns: int) -> list[str]:
    """Units with a blank between them, as many on each line as fit; one that is longer than a line stands alone."""
    lines = [units[0]]
    for unit in units[1:]:
        if cell_len(lines[-1]) + 1 + cell_len(unit) <= columns:
            lines[-1] += f" {unit}"
        else:
            lines.append(unit)
    return lines
