"""Reads the rows of one node: checks them against the schema, resolves references, collects payloads.

`xctrace` never writes a reference to a value that is defined further on (none in 69 files); hand-made files do. Such a
cell is kept and read again once the id it waits for is there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from lxml.etree import _Element

from tracekit.recording.engineering_types import SENTINEL
from tracekit.recording.export import limits
from tracekit.recording.export.cells import CellError, Undefined, Values, as_tag
from tracekit.recording.export.columns import ColumnBuilder, Payloads, cells_of
from tracekit.recording.export.xml import unusable
from tracekit.recording.quoting import excerpt
from tracekit.recording.table import Cells, Column

HandmadeRow = tuple[tuple[str, ...], list[int]]
"""The tag of each cell, and its payload (0 for a cell without value)."""


_ANE = (
    "start:start-time duration channel-name:ane-event-name event-depth:metal-nesting-level "
    "event-label:formatted-label state:gpu-state color:render-buffer-depth"
)
_GPU = (
    "start:start-time duration channel-name:{channel} frame-number:gpu-frame-number start-latency:duration "
    "event-depth:metal-nesting-level event-label:formatted-label state:gpu-state connection-UUID:connection-uuid64 "
    "color:render-buffer-depth process gpu:metal-device-name channel-subtitle:metal-object-label"
)
_GPU_EXTRA = (
    " iosurface-accesses:formatted-label bytes:size-in-bytes cmdbuffer-id:metal-command-buffer-id "
    "encoder-id:metal-command-buffer-id gpu-submission-id:uint64"
)
_OS_SIGNPOST = (
    "time:event-time thread process event-type scope:string identifier:os-signpost-identifier name:signpost-name "
    "format-string backtrace:text-backtrace subsystem category message:os-log-metadata"
)
_SIGNPOST_INTERVAL = (
    "start:start-time duration layout-qualifier:layout-id name:{name} category subsystem "
    "identifier:os-signpost-identifier process end-process:process start-thread:thread end-thread:thread "
    "start-message:os-log-metadata end-message:os-log-metadata start-backtrace:text-backtrace "
    "end-backtrace:text-backtrace start-emit-location:return-location end-emit-location:return-location "
    "signature:os-log-metadata"
)
# As in exports and bundles of Xcode 16.4 to 27.2: `mnemonic:type`; the type is left out where both are the same.
_LISTS = {
    "coreml-os-signpost": (
        "start:start-time duration full-layout-id:layout-id event-label:coreml-model-event "
        "model-name:coreml-model-name model-specific-track-model-name:formatted-label "
        "fully-qualified-model:formatted-label parent-model-name:coreml-model-name model-level:coreml-model-level "
        "event-type:string color:event-concept graph-event-label:formatted-label",
    ),
    "ane-hw-intervals-internal": (_ANE,),
    "ane-hw-intervals": (_ANE,),
    "metal-gpu-intervals": (_GPU.format(channel="gpu-channel-name") + _GPU_EXTRA,),
    "mps-hw-intervals": (_GPU.format(channel="mps-event-name"),),
    "metal-gpu-state-intervals": (
        "start:start-time duration state:gpu-state label:formatted-label color:render-buffer-depth "
        "num-events:uint32 gpu:metal-device-name",
    ),
    "os-signpost": (_OS_SIGNPOST + " emit-location:return-location", _OS_SIGNPOST),
    "os-signpost-interval": (_SIGNPOST_INTERVAL.format(name="string"),),
    "OSSignpostIntervals": (_SIGNPOST_INTERVAL.format(name="signpost-name"),),
    "PointsOfInterestEvents": (
        "time:event-time process thread subsystem name:signpost-name message:os-log-metadata "
        "emit-location:return-location backtrace:text-backtrace",
    ),
    "device-thermal-state-intervals": (
        "start:start-time duration end:start-time thermal-state track-label:string is-induced:boolean narrative",
    ),
    "gpu-performance-state-intervals": (
        "start:start-time duration gpu-performance-state track-label:string is-induced:boolean narrative "
        "event-type:gpu-event-name",
    ),
    "potential-hangs": ("start:start-time duration hang-type thread process",),
    "hang-risks": (
        "time:event-time process message:narrative severity:short-string event-type backtrace:text-backtrace thread",
    ),
    "time-info": (
        "update-time:sample-time mabs-epoch:mach-absolute-time mct-epoch:mach-continuous-time "
        "timebase-info:mach-timebase-info trace-start-time:time-since-epoch",
    ),
    "process-info": ("time:event-time pid unique-id:uint64 process process-name:string",),
    "life-cycle-period": (
        "start:start-time group:string lane:layout-id duration process period:app-period narrative",
        "start:start-time duration group:string lane:layout-id process period:app-period narrative",
    ),
}


def _columns(text: str) -> tuple[Column, ...]:
    pairs = (item.partition(":") for item in text.split())
    return tuple(Column(mnemonic, engineering_type or mnemonic) for mnemonic, _, engineering_type in pairs)


KNOWN_SCHEMAS: Final = {schema: tuple(_columns(text) for text in texts) for schema, texts in _LISTS.items()}
"""Column lists of each schema, one for each known version of it."""


def bind_rows(schema: str, rows: Sequence[HandmadeRow], values: Values) -> ColumnBuilder:
    """Rows of a table whose schema lists no columns, as columns: by position where every row is complete, else by tag.
    Raises `CellError` in case of doubt.

    `xctrace` always lists them; files written by hand, such as the fixtures of other projects, do not, and leave cells
    out. Files that list their columns are read by their own list and never by this one.
    """
    for columns in KNOWN_SCHEMAS.get(schema, ()):
        if all(
            len(tags) == len(columns)
            and all(tag in (SENTINEL, column.engineering_type) for tag, column in zip(tags, columns, strict=True))
            for tags, _ in rows
        ):
            return _build(columns, rows, values)
    names: dict[str, Column] = {}
    for number, (tags, _) in enumerate(rows, 1):
        for tag in tags:
            if tag == SENTINEL or tags.count(tag) > 1:
                raise CellError(f"row {number}: the schema lists no columns, so it is unclear what {as_tag(tag)} means")
            if tag not in names:
                variants = KNOWN_SCHEMAS.get(schema, ())
                candidates = [column for columns in variants for column in columns if column.engineering_type == tag]
                if len({column.mnemonic for column in candidates}) > 1:
                    meanings = " or ".join(
                        f"'{name}'" for name in dict.fromkeys(column.mnemonic for column in candidates)
                    )
                    raise CellError(f"row {number}: the schema lists no columns, so {as_tag(tag)} may be {meanings}")
                names[tag] = candidates[0] if candidates else Column(tag, tag)
    by_tag = [dict(zip(tags, payloads, strict=True)) for tags, payloads in rows]
    complete = [
        (tuple(tag if tag in row else SENTINEL for tag in names), [row.get(tag, 0) for tag in names]) for row in by_tag
    ]
    return _build(tuple(names.values()), complete, values)


def _build(columns: tuple[Column, ...], rows: Sequence[HandmadeRow], values: Values) -> ColumnBuilder:
    builder = ColumnBuilder(columns, values)
    for tags, payloads in rows:
        builder.add(builder.signature(tags), payloads)
    return builder


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
            raise unusable(
                f"{cells[0].location}: {as_tag(missing.tag, missing.identity)} refers to an id that the file never "
                "defines"
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
        self._values.elements = 0
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
            raise unusable(f"{cell.location}: {error}") from error


class RowReader:
    """Collects the rows of one table."""

    def __init__(
        self, location: str, schema: str, columns: tuple[Column, ...], values: Values, waiting: WaitingCells
    ) -> None:
        self._location = location
        self._schema = schema
        self._values = values
        self._waiting = waiting
        self._builder = ColumnBuilder(columns, values)
        self._handmade: list[HandmadeRow] = []
        self._scanned: Payloads | None = None
        self._row = 0

    def read(self, row: _Element) -> None:
        """Take one row. Raises `UnreadableRecording` naming the row and what is wrong with it."""
        self._row += 1
        self._values.elements = 0
        try:
            if self._builder.columns:
                self._read_bound(row)
            else:
                self._read_handmade(row)
            if self._values.arrived:
                self._waiting.retry()
        except CellError as error:
            raise unusable(f"{self._location}, row {self._row}: {error}") from error

    def take(self, rows: Payloads) -> None:
        """Take all rows of the table at once."""
        self._scanned = rows

    def finish(self) -> tuple[tuple[Column, ...], tuple[Cells, ...]]:
        """Columns and cells of all rows. Raises `UnreadableRecording` where hand-made rows leave a doubt."""
        try:
            if self._handmade:
                self._builder = bind_rows(self._schema, self._handmade, self._values)
            columns, rows = self._builder.columns, self._scanned or self._builder.finish()
            return columns, cells_of(columns, rows, self._values)
        except CellError as error:
            raise unusable(f"{self._location}, {error}") from error

    def _read_bound(self, row: _Element) -> None:
        """The way of every real row; most cells are references met before, which cost one look-up."""
        builder = self._builder
        if len(row) > len(builder.columns):
            raise CellError(f"it has {len(row):,} cells, but the schema has {len(builder.columns)} columns")
        define, recall = self._values.define, self._values.recall
        cells = list(row)
        signature = builder.signature(tuple([cell.tag for cell in cells]))
        payloads: list[int] = []
        for cell, code, known in zip(cells, signature.codes, signature.known, strict=True):
            reference = cell.get("ref")
            payload = known.get(reference)
            if payload is None:
                try:
                    payload = define(cell, code) if reference is None else recall(reference, code)
                except (CellError, Undefined):
                    index = len(payloads)
                    settle = partial(builder.patch, builder.rows, index)
                    payload = self._value(cell, code, builder.columns[index].mnemonic, settle)
            payloads.append(payload)
        builder.add(signature, payloads)

    def _read_handmade(self, row: _Element) -> None:
        if len(row) > limits.MAX_COLUMNS or self._row > limits.MAX_HANDMADE_ROWS:
            raise CellError("the schema lists no columns, which is only accepted for small hand-made tables")
        tags: list[str] = []
        payloads: list[int] = []
        for cell in row:
            tag = cell.tag
            settle = partial(payloads.__setitem__, len(payloads))
            payload = 0 if tag == SENTINEL else self._value(cell, self._values.code(tag), tag, settle)
            tags.append(tag)
            payloads.append(payload)
        self._handmade.append((tuple(tags), payloads))

    def _value(self, cell: _Element, code: int, column: str, settle: Callable[[int], object]) -> int:
        """Payload of a cell; 0 for now where it refers to something that is not defined yet."""
        try:
            return self._values.value(cell, code)
        except CellError as error:
            raise CellError(f"column {excerpt(column)}: {error}") from error
        except Undefined as missing:
            location = f"{self._location}, row {self._row}, column {excerpt(column)}"
            self._waiting.add(WaitingCell(copy.deepcopy(cell), code, settle, location, missing))
            return 0
