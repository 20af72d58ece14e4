"""Brings files together: which node is which table of which run, and what the table of contents adds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tracekit.errors import UnreadableRecording
from tracekit.recording.contents import Run, TableEntry
from tracekit.recording.export.toc import failed_recording
from tracekit.recording.export.xml import EXPORT_AGAIN
from tracekit.recording.quoting import export_command, shortened
from tracekit.recording.table import NO_ATTRIBUTES, NOT_EXPORTED, IntegerCells, Table, TableState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tracekit.recording.export.loading import ExportedFile, LoadedFiles
    from tracekit.recording.export.nodes import Node
    from tracekit.recording.export.toc import TocRun
    from tracekit.recording.table import Cells

ONE_RECORDING = "pass the files of one recording at a time"
"""What helps when files contradict each other."""


@dataclass(slots=True)
class PlacedTable:
    """One table of one run: a node, or a line of the table of contents that no node was given for."""

    schema: str
    run: int
    position: int | None
    attributes: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    file: ExportedFile | None = None
    index: int = 0
    """Place of the node in its file."""

    @property
    def node(self) -> Node | None:
        """The node; None where the table was not exported."""
        return None if self.file is None else self.file.nodes[self.index]

    @property
    def label(self) -> str:
        """How messages call its file."""
        return "" if self.file is None else self.file.source.label

    @property
    def reason(self) -> str:
        """Why the table cannot be read; empty where it can."""
        if self.file is not None:
            return ""
        command = export_command(self.run, self.schema)
        return NOT_EXPORTED + (command and f"; export it with {command}")

    @property
    def state(self) -> TableState:
        """What can be said of it."""
        if self.node is None:
            return TableState.UNREADABLE
        return TableState.ROWS if self.node.rows else TableState.EMPTY

    def entry(self) -> TableEntry:
        """Its line in the list of tables."""
        node = self.node
        return TableEntry(
            schema=self.schema,
            state=self.state,
            rows=None if node is None else node.rows,
            columns=None if node is None or not node.columns else len(node.columns),
            attributes=self.attributes,
            position=self.position,
            source="" if self.file is None else self.file.source.name,
            reason=self.reason,
        )

    def table(self) -> Table:
        """The table itself; reads its file again where it was only counted."""
        cells: tuple[Cells, ...] = () if self.file is None else self.file.cells(self.index)
        columns, entry = () if self.node is None else self.node.columns, self.entry()
        return Table(
            self.schema,
            self.run,
            entry.state,
            columns,
            cells,
            entry.rows or 0,
            self.attributes,
            self.position,
            entry.source,
            entry.reason,
        )


@dataclass(slots=True)
class Assembled:
    """Runs in order of number, each with its tables."""

    runs: list[Run]
    tables: list[PlacedTable]
    has_table_of_contents: bool
    failed: dict[int, UnreadableRecording] = field(default_factory=dict)
    """Runs in which nothing was recorded, with the error to raise when one of them is opened."""


def assemble(loaded: LoadedFiles, notes: list[str]) -> Assembled:
    """Join nodes and table of contents. Raises `UnreadableRecording` where they contradict each other."""
    toc = _one_toc(loaded, notes)
    tables = [
        PlacedTable(node.schema, _run_number(node, toc, file), node.position, file=file, index=index)
        for file in loaded.files
        for index, node in enumerate(file.nodes)
    ]
    tables = _without_duplicates(tables, notes)
    failed = {}
    if toc is not None:
        label = loaded.tocs[0][0].label
        failed = {each.run.number: failed_recording(label, each.run.number) for each in toc if each.failed}
        runs = [each.run for each in toc]
        by_run = _by_run(tables)
        tables = [table for each in toc for table in _joined(each, by_run.get(each.run.number, []), label, notes)]
    else:
        runs = [Run(number) for number in sorted({table.run for table in tables})] or [Run(1)]
    tables.sort(key=lambda table: (table.run, table.position is None, table.position or 0))
    by_run = _by_run(tables)
    listed = [
        replace(run, tables=tuple(table.entry() for table in by_run.get(run.number, ())))
        for run in sorted(runs, key=lambda run: run.number)
    ]
    return Assembled(listed, tables, toc is not None, failed)


def _by_run(tables: Sequence[PlacedTable]) -> dict[int, list[PlacedTable]]:
    """Tables by the number of their run, in their order."""
    by_run: dict[int, list[PlacedTable]] = {}
    for table in tables:
        by_run.setdefault(table.run, []).append(table)
    return by_run


def _one_toc(loaded: LoadedFiles, notes: list[str]) -> tuple[TocRun, ...] | None:
    """The table of contents, if there is one. Two that differ belong to two recordings."""
    if not loaded.tocs:
        return None
    first, toc = loaded.tocs[0]
    for source, other in loaded.tocs[1:]:
        if other != toc:
            raise UnreadableRecording(
                f"{first.label} and {source.label} are tables of contents of different recordings; {ONE_RECORDING}"
            )
        notes.append(f"{source.label} is the same table of contents as {first.label} and was ignored")
    return toc


def _run_number(node: Node, toc: tuple[TocRun, ...] | None, file: ExportedFile) -> int:
    """Number of the run of a node. The xpath counts runs from 1; the table of contents gives them their numbers."""
    if toc is None:
        return node.run or 1
    if node.run is None and len(toc) > 1:
        raise UnreadableRecording(
            f"{file.source.label}: table {shortened(node.schema)} does not say which of the {len(toc)} runs it "
            f"belongs to; {EXPORT_AGAIN}"
        )
    number = node.run or 1
    if number > len(toc):
        raise UnreadableRecording(
            f"{file.source.label} contains a table of run {number}, but the table of contents lists {len(toc)} "
            f"{'run' if len(toc) == 1 else 'runs'}: they are not from the same recording; {ONE_RECORDING}"
        )
    return toc[number - 1].run.number


@dataclass(frozen=True, slots=True)
class _Alike:
    """Tables of one place, each different from the others."""

    tables: list[PlacedTable]
    by_content: dict[int, list[PlacedTable]]
    """Tables by their fingerprints, from the second table on; each is read once."""

    def twin(self, table: PlacedTable) -> PlacedTable | None:
        """The table that is equal to this one. Takes note of this one."""
        if not self.tables:
            return None
        if not self.by_content:
            self.by_content[_fingerprint(self.tables[0])] = [self.tables[0]]
        candidates = self.by_content.setdefault(_fingerprint(table), [])
        same = next((other for other in candidates if _equal(other, table)), None)
        if same is None:
            candidates.append(table)
        return same


def _fingerprint(table: PlacedTable) -> int:
    """A number that equal tables share."""
    if table.node is None or not table.node.rows:
        return 0
    parts = [
        (cells.values.tobytes(), cells.valid.tobytes())
        if isinstance(cells, IntegerCells)
        else (cells.values, cells.codes.tobytes())
        for cells in table.table().cells
    ]
    return hash((table.schema, table.node.rows, tuple(map(hash, parts))))


def _without_duplicates(tables: list[PlacedTable], notes: list[str]) -> list[PlacedTable]:
    """Each table once. The same place with other content means that recordings were mixed."""
    distinct: list[PlacedTable] = []
    alike: dict[tuple[int, int | str], _Alike] = {}
    for table in tables:
        same = alike.setdefault((table.run, table.position or table.schema), _Alike([], {}))
        twin = same.twin(table)
        if twin is None and same.tables and table.position is not None:
            raise UnreadableRecording(
                f"{same.tables[0].label} and {table.label} both contain table {table.position} of run "
                f"{table.run}, with different content: they are not from the same recording; {ONE_RECORDING}"
            )
        if twin is None:
            same.tables.append(table)
            distinct.append(table)
        else:
            notes.append(
                f"table {shortened(table.schema)} in {table.label} is the same as in {twin.label} and was ignored"
            )
    return distinct


def _equal(one: PlacedTable, other: PlacedTable) -> bool:
    if one.node is None or other.node is None:
        return False
    if (one.schema, one.node.columns, one.node.rows) != (other.schema, other.node.columns, other.node.rows):
        return False
    if not one.node.rows:
        return True
    return all(_equal_cells(*pair) for pair in zip(one.table().cells, other.table().cells, strict=True))


def _equal_cells(one: Cells, other: Cells) -> bool:
    if isinstance(one, IntegerCells):
        return (
            isinstance(other, IntegerCells)
            and np.array_equal(one.values, other.values)
            and np.array_equal(one.valid, other.valid)
        )
    return not isinstance(other, IntegerCells) and one.values == other.values and np.array_equal(one.codes, other.codes)


def _joined(toc: TocRun, mine: list[PlacedTable], label: str, notes: list[str]) -> list[PlacedTable]:
    """The tables of one run in the order of its table of contents, each with its node where one was given.

    O(tables): nodes without position are many in hostile files.
    """
    if toc.tables is None:
        return mine
    listed = [
        PlacedTable(entry.schema, toc.run.number, position, entry.attributes)
        for position, entry in enumerate(toc.tables, 1)
    ]
    free: dict[str, dict[int, PlacedTable]] = {}
    for entry in listed:
        free.setdefault(entry.schema, {})[entry.position or 0] = entry
    extra = []
    for table in mine:
        entries = free.get(table.schema)
        if entries is None or (table.position is not None and table.position not in entries):
            raise _contradiction(table, label)
        if table.position is None and len(entries) != 1:
            extra.append(table)
            notes.append(f"it is unknown which of several tables {shortened(table.schema)} one of the nodes contains")
            continue
        entry = entries.pop(next(iter(entries)) if table.position is None else table.position)
        entry.file, entry.index = table.file, table.index
    return listed + extra


def _contradiction(table: PlacedTable, label: str) -> UnreadableRecording:
    where = "" if table.position is None else f" at position {table.position}"
    return UnreadableRecording(
        f"{table.label} contains table {shortened(table.schema)}{where}, which {label} does not list there: they are "
        f"not from the same recording; {ONE_RECORDING}"
    )
