"""A recording put together from exported files: which node is which table of which run, and the table of contents."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tracekit.columns import Numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.call_stacks import CallStacks
from tracekit.recording.contents import Contents, Run, TableEntry, chosen_run, matches
from tracekit.recording.export import limits
from tracekit.recording.export.loading import ExportedFile, LoadedFiles, TocRun, load
from tracekit.recording.export.nodes import Node
from tracekit.recording.export.xml import unusable
from tracekit.recording.progress import Progress
from tracekit.recording.quoting import excerpt, export_command
from tracekit.recording.sources import Inputs
from tracekit.recording.table import NO_ATTRIBUTES, NOT_EXPORTED, Cells, Table, TableState

FORM = "xctrace export XML"
"""What `Contents.form` says of such a recording."""
ONE_RECORDING = "pass the files of one recording at a time"
"""What helps when files contradict each other."""


@dataclass(slots=True)
class _PlacedTable:
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

    def entry(self) -> TableEntry:
        """Its line in the list of tables."""
        if self.file is None:
            command = export_command(self.run, self.schema)
            reason = NOT_EXPORTED + (command and f"; export it with {command}")
            return TableEntry(
                self.schema, TableState.UNREADABLE, attributes=self.attributes, position=self.position, reason=reason
            )
        node = self.file.nodes[self.index]
        state = TableState.ROWS if node.rows else TableState.EMPTY
        columns, source = len(node.columns) or None, self.file.source.name
        return TableEntry(self.schema, state, node.rows, columns, self.attributes, self.position, source)

    def table(self) -> Table:
        """The table itself; reads its file again where it was only counted."""
        cells: tuple[Cells, ...] = () if self.file is None else self.file.cells(self.index)
        return self.entry().table(self.run, () if self.node is None else self.node.columns, cells)


class ExportRecording:
    """One run of an exported recording."""

    def __init__(self, contents: Contents, run: Run, tables: Sequence[_PlacedTable], inputs: Inputs) -> None:
        self.contents = contents
        self.run = run
        self._tables = tables
        # Tables that were only counted are read on demand, from archives and spooled input too.
        self._inputs = inputs

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """All tables of that schema in this run whose attributes contain the given ones, in order of position.

        An attribute that is a list (`subsystem="&quot;com.apple.coreml&quot;"`) contains each of its items. Reads a
        file now where it was only counted so far, hence may raise `UnreadableRecording`.
        """
        return [
            table.table() for table in self._tables if table.schema == schema and matches(table.attributes, attributes)
        ]

    def forget(self, schemas: Collection[str]) -> None:
        """As `Recording.forget`."""
        for table in self._tables:
            if table.schema in schemas and table.node is not None:
                table.node.cells = None

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`. Reads the files of these tables again."""
        # Imported here: most recordings have no call stacks, and naming functions takes many modules.
        from tracekit.recording.export.call_stacks import read_call_stacks

        stacks = [
            read_call_stacks(table.file.source, table.index)
            for table in self._tables
            if table.schema == schema and table.file is not None and matches(table.attributes, attributes)
        ]
        return [stack for stack in stacks if stack is not None]


def open_export(
    inputs: Inputs, run: int | None, schemas: Collection[str] | None, progress: Callable[[Progress], None] | None
) -> ExportRecording:
    """Read exported files. Raises `UnreadableRecording`, or `UsageError` for a run that does not exist."""
    return assemble(load(inputs, schemas, progress), inputs, run)


def assemble(loaded: LoadedFiles, inputs: Inputs, wanted: int | None) -> ExportRecording:
    """Join nodes and table of contents, and show a run, by default the latest.

    Raises `UnreadableRecording` where they contradict each other or nothing was recorded in the run, `UsageError` for a
    run that does not exist.
    """
    notes, toc, label = loaded.notes, None, ""
    if loaded.tocs:
        first, toc = loaded.tocs[0]
        label = first.label
    for source, other in loaded.tocs[1:]:
        if other != toc:
            raise UnreadableRecording(
                f"{label} and {source.label} are tables of contents of different recordings; {ONE_RECORDING}"
            )
        notes.append(f"{source.label} is the same table of contents as {label} and was ignored")
    tables = [
        _PlacedTable(node.schema, _run_number(node, toc, file), node.position, file=file, index=index)
        for file in loaded.files
        for index, node in enumerate(file.nodes)
    ]
    tables = _without_duplicates(tables, notes)
    by_run = _by_run(tables)
    if toc is None:
        runs = [Run(number) for number in sorted(by_run)] or [Run(1)]
    else:
        runs = sorted((entry.run for entry in toc), key=lambda run: run.number)
        tables = [table for run in toc for table in _merge_tables(run, by_run[run.run.number], label, notes)]
    by_run = _by_run(sorted(tables, key=lambda table: (table.position is None, table.position or 0)))
    runs = [replace(run, tables=tuple(table.entry() for table in by_run[run.number])) for run in runs]
    numbers = [run.number for run in runs]
    chosen, which_run = chosen_run(numbers, wanted, inputs.name)
    if any(entry.failed and entry.run.number == chosen for entry in toc or ()):
        raise UnreadableRecording(
            f"{label}: run {chosen} is a failed recording, without dates, duration and Instruments version; record it "
            "again and wait until xctrace or Instruments says that it was saved"
        )
    notes += which_run
    if len(notes) > limits.MAX_NOTES:
        notes[limits.MAX_NOTES :] = [f"{len(notes) - limits.MAX_NOTES:,} more notes of the same kinds"]
    contents = Contents(inputs.name, FORM, toc is not None, tuple(runs), tuple(notes))
    return ExportRecording(contents, runs[numbers.index(chosen)], by_run[chosen], inputs)


def _by_run(tables: Iterable[_PlacedTable]) -> defaultdict[int, list[_PlacedTable]]:
    """Tables by the number of their run, in their order."""
    by_run: defaultdict[int, list[_PlacedTable]] = defaultdict(list)
    for table in tables:
        by_run[table.run].append(table)
    return by_run


def _run_number(node: Node, toc: tuple[TocRun, ...] | None, file: ExportedFile) -> int:
    """Number of the run of a node. The xpath counts runs from 1; the table of contents gives them their numbers."""
    if toc is None:
        return node.run or 1
    if node.run is None and len(toc) > 1:
        raise unusable(
            f"{file.source.label}: table {excerpt(node.schema)} does not say which of the {len(toc)} runs it belongs to"
        )
    number = node.run or 1
    if number > len(toc):
        raise UnreadableRecording(
            f"{file.source.label} contains a table of run {number}, but the table of contents lists {len(toc)} "
            f"{'run' if len(toc) == 1 else 'runs'}: they are not from the same recording; {ONE_RECORDING}"
        )
    return toc[number - 1].run.number


def _without_duplicates(tables: list[_PlacedTable], notes: list[str]) -> list[_PlacedTable]:
    """Each table once. The same place with other content means that recordings were mixed."""
    places: defaultdict[tuple[int, int | str], list[_PlacedTable]] = defaultdict(list)
    for table in tables:
        places[table.run, table.position or table.schema].append(table)
    repeated: set[int] = set()
    for alike in places.values():
        distinct: dict[bytes, _PlacedTable] = {}
        # A table that is alone in its place need not be read for this.
        for table in alike if len(alike) > 1 else ():
            node = table.node
            digest = hashlib.sha256(repr((table.schema, node and (node.columns, node.rows))).encode())
            for cells in table.table().cells if node is not None and node.rows else ():
                if isinstance(cells, Numbers):
                    digest.update(cells.values.tobytes())
                    digest.update(cells.known.tobytes())
                else:
                    digest.update(repr(cells.values).encode())
                    digest.update(cells.codes.tobytes())
            twin = distinct.setdefault(digest.digest(), table)
            if twin is not table:
                repeated.add(id(table))
                notes.append(
                    f"table {excerpt(table.schema)} in {table.label} is the same as in {twin.label} and was ignored"
                )
            elif table is not alike[0] and table.position is not None:
                raise UnreadableRecording(
                    f"{alike[0].label} and {table.label} both contain table {table.position} of run {table.run}, with "
                    f"different content: they are not from the same recording; {ONE_RECORDING}"
                )
    return [table for table in tables if id(table) not in repeated]


def _merge_tables(toc: TocRun, mine: list[_PlacedTable], label: str, notes: list[str]) -> list[_PlacedTable]:
    """The tables of one run in the order of its table of contents, each with its node where one was given.

    O(tables): nodes without position are many in hostile files.
    """
    if toc.tables is None:
        return mine
    listed = [
        _PlacedTable(schema, toc.run.number, position, attributes)
        for position, (schema, attributes) in enumerate(toc.tables, 1)
    ]
    free: dict[str, dict[int, _PlacedTable]] = {}
    for entry in listed:
        free.setdefault(entry.schema, {})[entry.position or 0] = entry
    extra = []
    for table in mine:
        entries = free.get(table.schema)
        if entries is None or (table.position is not None and table.position not in entries):
            where = "" if table.position is None else f" at position {table.position}"
            raise UnreadableRecording(
                f"{table.label} contains table {excerpt(table.schema)}{where}, which {label} does not list there: they "
                f"are not from the same recording; {ONE_RECORDING}"
            )
        if table.position is None and len(entries) != 1:
            extra.append(table)
            notes.append(f"it is unknown which of several tables {excerpt(table.schema)} one of the nodes contains")
            continue
        entry = entries.pop(next(iter(entries)) if table.position is None else table.position)
        entry.file, entry.index = table.file, table.index
    return listed + extra
