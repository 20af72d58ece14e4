"""Cells whose value is defined further on.

`xctrace` never writes such a reference (none in 69 files); hand-made files do. The cell is kept and read again once
the id it waits for is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.errors import UnreadableRecording
from tracekit.recording.export import limits
from tracekit.recording.export.cells import CellError, Undefined, as_tag
from tracekit.recording.export.xml import EXPORT_AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

    from tracekit.recording.export.cells import Values


@dataclass(slots=True)
class WaitingCell:
    """A cell that refers to an id not defined so far."""

    element: _Element
    """A copy, since the parser's tree is dropped."""
    code: int
    settle: Callable[[int], object]
    """Takes the payload once it is known."""
    location: str
    """For messages: file, table, row and column."""
    missing: Undefined
    attempts: int = 0


class WaitingCells:
    """The waiting cells of one file, by the id they wait for."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._cells: dict[str, list[WaitingCell]] = {}
        self._count = 0
        self._elements = 0

    def add(self, cell: WaitingCell) -> None:
        """Keep a cell until its id is defined. Raises `CellError` when too many wait."""
        self._count += 1
        self._look(sum(1 for _ in cell.element.iter()))
        if self._count > limits.MAX_FORWARD_REFERENCES:
            raise CellError(f"more than {limits.MAX_FORWARD_REFERENCES:,} references to values not defined before")
        self._keep(cell)

    def retry(self) -> None:
        """Read the cells again whose id was defined; they may define ids that others wait for."""
        arrived = self._values.arrived
        while arrived:
            identity = arrived.pop()
            self._values.awaited.discard(identity)
            for cell in self._cells.pop(identity, []):
                self._read(cell)

    def check_empty(self) -> None:
        """At the end of the file no cell may wait. Raises `UnreadableRecording` naming the first one that does."""
        for cells in self._cells.values():
            missing = cells[0].missing
            raise UnreadableRecording(
                f"{cells[0].location}: {as_tag(missing.tag, missing.identity)} refers to an id that the file "
                f"never defines; {EXPORT_AGAIN}"
            )

    def _keep(self, cell: WaitingCell) -> None:
        self._values.awaited.add(cell.missing.identity)
        self._cells.setdefault(cell.missing.identity, []).append(cell)

    def _look(self, elements: int) -> None:
        self._elements += elements
        if self._elements > limits.MAX_WAITING_ELEMENTS:
            raise CellError(f"more than {limits.MAX_WAITING_ELEMENTS:,} elements in cells that wait for a value")

    def _read(self, cell: WaitingCell) -> None:
        cell.attempts += 1
        self._values.begin_row()
        try:
            if cell.attempts > limits.MAX_ATTEMPTS:
                raise CellError(f"it refers to more than {limits.MAX_ATTEMPTS} values not defined before")
            try:
                cell.settle(self._values.value(cell.element, cell.code))
            except Undefined as missing:
                cell.missing = missing
                self._keep(cell)
            self._look(self._values.elements)
        except CellError as error:
            raise UnreadableRecording(f"{cell.location}: {error}; {EXPORT_AGAIN}") from error
