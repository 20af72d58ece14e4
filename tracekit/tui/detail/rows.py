"""What a list shows: any object that gives its cells row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tracekit.tui.detail.columns import Column
    from tracekit.tui.theme import Palette


@dataclass(frozen=True, slots=True)
class Cell:
    """Text with a color of its own."""

    text: str
    color: str | None = None
    bold: bool = False
    bar: Callable[[int], str] | None = None
    """Draws signs of `tracekit.report.time_breakdown.GROUPS` in so many cells, in place of the text."""
    short: Callable[[int], str] | None = None
    """The text in so many cells, where it does not fit and should not just lose its middle."""


class Rows(Protocol):
    """What a list shows. Made again, as a value, when what it shows changes."""

    @property
    def columns(self) -> Sequence[Column]:
        """Columns from left to right."""
        ...

    def __len__(self) -> int:
        """Number of rows."""
        ...

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """The cells of a row, one for each column."""
        ...

    @property
    def sorted_by(self) -> tuple[int, bool] | None:
        """Column that the rows are sorted by, and whether largest first; None where that cannot be chosen."""
        ...

    @property
    def empty(self) -> str:
        """What to say where there are no rows."""
        ...


@dataclass(frozen=True, eq=False)
class NoRows:
    """Nothing to list, and why."""

    columns: Sequence[Column]
    empty: str
    sorted_by: tuple[int, bool] | None = None

    def __len__(self) -> int:
        return 0

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """Raises `IndexError`, as there are no rows."""
        del palette
        raise IndexError(row)
