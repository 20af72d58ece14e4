"""Context: tables beside the lanes. Each is a class of rows whose fields say which columns they are read from: a new
column of an instrument is one field.

Rows are sorted by start, then longest first, then row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Codes, Numbers, Texts, codes_of, column, numbers_by_code
from tracekit.recording.table import CellValue, Process, Thread
from tracekit.rows import Rows, in_order, start_order
from tracekit.trace import binding, collect
from tracekit.trace.binding import durations

TABLE = "schema of the recorded table"
ROW = "row in that table, from 0"


@dataclass(frozen=True, slots=True, eq=False)
class ContextRows(Rows):
    """Rows beside the lanes: instants, unless their class says else. `table` and `row` are where they stand."""

    start_ns: IntArray = column("start")

    def ends(self, _end_ns: int) -> IntArray:
        """Shape (rows,): when each row ends; what has no end lasts until the recording does."""
        return self.start_ns


@dataclass(frozen=True, slots=True, eq=False)
class ContextIntervals(ContextRows):
    """Rows beside the lanes that last."""

    duration_ns: IntArray = column("duration")

    def ends(self, _end_ns: int) -> IntArray:
        """Shape (rows,): when each row ends."""
        ends: IntArray = self.start_ns + self.duration_ns
        return ends


@runtime_checkable
class OfProcesses(Protocol):
    """Rows that say of which process each is."""

    process: Texts
    pid: Numbers


AnyContext = TypeVar("AnyContext", bound=ContextRows)
_Make = Callable[[Codes[CellValue]], Texts | Numbers]


@dataclass(frozen=True, slots=True)
class _Source:
    mnemonic: str
    type: str
    required: bool
    make: _Make | None


def recorded(
    says: str, mnemonic: str = "", *, kind: str = "", required: bool = False, make: _Make | None = None
) -> Any:
    """A column that is read from a table: `mnemonic` where that is not the name of the field with hyphens; `kind`, an
    engineering type, where it is not known: the first column of that type. Required: the table means nothing without
    it. `make` makes the column of its cells; without it they are texts, or numbers where the field is."""
    return field(metadata={"says": says, "source": _Source(mnemonic, kind, required, make)})


def _names(cells: Codes[CellValue]) -> Texts:
    owners = (value.process if isinstance(value, Thread) else value for value in cells.values)
    return codes_of(
        cells.codes, [owner.name if isinstance(owner, Process) else owner and str(owner) for owner in owners]
    )


def _pids(cells: Codes[CellValue]) -> Numbers:
    owners = (value.process if isinstance(value, Thread) else value for value in cells.values)
    return numbers_by_code(cells.codes, [owner.pid if isinstance(owner, Process) else None for owner in owners])


def _tids(cells: Codes[CellValue]) -> Numbers:
    return numbers_by_code(cells.codes, [value.tid if isinstance(value, Thread) else None for value in cells.values])


def process_of(mnemonic: str = "process", kind: str = "") -> Any:
    """Name of a process. Fields `pid` and `tid` are read from the columns of `process` and `thread`."""
    return recorded("name of the process", mnemonic, kind=kind, make=_names)


def pid_of(mnemonic: str = "process", kind: str = "") -> Any:
    """Id of the process."""
    return recorded("id of the process", mnemonic, kind=kind, make=_pids)


def thread_of(mnemonic: str = "thread") -> Any:
    """Text of a thread."""
    return recorded("the thread, as Instruments shows it", mnemonic)


def tid_of(mnemonic: str = "thread") -> Any:
    """Id of the thread."""
    return recorded("id of the thread", mnemonic, make=_tids)


def bind_context(rows: collect.Rows, cls: type[AnyContext]) -> AnyContext:
    """The rows of a table as those of a class. Raises `MissingColumn` where a required column is absent. O(n log n)."""
    given: dict[str, Any] = {"start_ns": rows.starts, "table": binding.as_texts(rows.schema), "row": rows.row}
    if issubclass(cls, ContextIntervals):
        given["duration_ns"] = durations(rows.table) if rows.table.has("duration") else np.zeros_like(rows.starts)
    given |= {each.name: _cells(rows, each) for each in fields(cls) if each.name not in given}
    return sorted_by_start(cls(**given))


def rows_of_class(context: Mapping[str, ContextRows | None], of: type[AnyContext]) -> AnyContext | None:
    """The rows of a class in a context; None where they are not in it."""
    return next((rows for rows in context.values() if type(rows) is of), None)


def sorted_by_start(rows: AnyContext) -> AnyContext:
    """The rows by start, then longest first, then as they stand. O(n log n)."""
    length = rows.duration_ns if isinstance(rows, ContextIntervals) else None
    return in_order(rows, start_order(rows.start_ns, length))


def _cells(rows: collect.Rows, each: Field[Any]) -> Texts | Numbers:
    source: _Source = each.metadata["source"]
    table, mnemonic = rows.table, source.mnemonic or each.name.replace("_", "-")
    if source.type:
        of_type = (other.mnemonic for other in table.columns if other.engineering_type == source.type)
        mnemonic = next(of_type, mnemonic)
    if source.make is None and str(each.type) == "Numbers":
        return (binding.required_integers if source.required else binding.optional_integers)(table, mnemonic)
    cells = (binding.required_values if source.required else binding.optional_values)(table, mnemonic)
    return (source.make or binding.as_texts)(cells)


def of_target(pids: Numbers, target: Process | None) -> BoolArray:
    """Shape (rows,): what is of the target, such as what it logged; where no process is the target, all."""
    if target is None or target.pid is None:
        return np.ones(len(pids), np.bool_)
    own: BoolArray = pids.filled() == target.pid
    return own
