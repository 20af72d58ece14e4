"""All rows of one or several schemas of a run, as one table.

A run may hold one schema several times: one table per target (`SINGLE`, `ALL`), per category, per subsystem. A row
that stands in two of them is one event. What repeats inside one table is several events, except where the instrument
is known to write a row twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Codes, Numbers, joined_codes, no_numbers
from tracekit.recording.contents import Recording
from tracekit.recording.table import Cells, CellValue, Table, TableState
from tracekit.rows import group_ids
from tracekit.sorting import is_first_of_each, occurrence
from tracekit.trace.binding import as_coded, optional_integers, required_integers

DRAWING_TYPES = frozenset({"layout-id", "render-buffer-depth", "event-concept"})
"""Engineering types that only say how Instruments draws a row: they differ between tables that show the same row."""

_FARTHEST_NS = (1 << 50) - 1
"""Instruments' times have 50 bits (13 days). The largest means that there is no time; what lies beyond is none, and
sums of such values could overflow."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the tables of an instrument. `table` holds them with one set of columns."""

    table: Table
    schema: Codes[CellValue]
    row: IntArray
    """0-based position of each row, counted through the tables of its schema in order of position."""
    notes: tuple[str, ...] = ()
    """What was left out and why, one sentence each."""

    @property
    def starts(self) -> IntArray:
        """The time column, whatever its mnemonic: shape (rows,)."""
        return _time_column(self.table).values


def collect(recording: Recording, schemas: Sequence[str], *, once: bool = False) -> Rows | None:
    """Rows of all tables of these schemas; None where none of them is `rows` or `empty`.

    A row that occurs in several tables counts as often as in the table that holds it most often; with `once` a row
    counts once altogether. Rows without a usable time are left out. `notes` names what was left out.
    Raises `MissingColumn` where a table has rows and no time column. O(rows) per column.
    """
    readable = [
        table
        for schema in schemas
        for table in recording.tables(schema)
        if table.state in (TableState.ROWS, TableState.EMPTY)
    ]
    if not readable:
        return None
    tables = [table for table in readable if table.rows] or readable[:1]
    # All tables as one, under the columns that all of them have.
    names = tuple(dict.fromkeys(table.schema for table in tables))
    counts = [table.rows for table in tables]
    codes = np.repeat(np.array([names.index(table.schema) for table in tables], np.int32), counts)
    numbers: list[IntArray] = []
    reached = dict.fromkeys(names, 0)
    for table in tables:
        numbers.append(np.arange(reached[table.schema], reached[table.schema] + table.rows, dtype=np.int64))
        reached[table.schema] += table.rows
    one = tables[0]
    if len(tables) > 1:
        columns = tuple(column for column in one.columns if all(table.has(column.mnemonic) for table in tables))
        cells = tuple(_join([table.column(column.mnemonic) for table in tables]) for column in columns)
        one = Table(one.schema, one.run, one.state, columns, cells, sum(counts))
    rows = Rows(one, Codes(codes, names), np.concatenate(numbers))
    if not rows.table.rows:
        return rows
    rows = _without_repeats(rows, np.repeat(np.arange(len(tables)), [table.rows for table in tables]), once=once)
    times = _time_column(rows.table)
    keep = times.known & (np.abs(times.values) < _FARTHEST_NS)
    if rows.table.has("duration"):
        duration = optional_integers(rows.table, "duration").values
        keep &= (duration >= 0) & (duration < _FARTHEST_NS)
    return select_rows(rows, keep, "no usable time")


def select_rows(rows: Rows, keep: BoolArray, why: str = "", names: str = "") -> Rows:
    """The rows to keep, in the same order; a note says how many of which tables (`names`) are left out, and `why`."""
    if keep.all():
        return rows
    index, table = np.flatnonzero(keep), rows.table
    cells = tuple(column.take(index) for column in table.cells)
    state = TableState.ROWS if len(index) else TableState.EMPTY
    note = f"Ignored {table.rows - len(index)} of {table.rows} rows of {names or table.schema}: {why}."
    return Rows(
        Table(table.schema, table.run, state, table.columns, cells, len(index)),
        rows.schema.take(index),
        rows.row[index],
        (*rows.notes, note) if why else rows.notes,
    )


def _join(parts: Sequence[Cells]) -> Cells:
    """Cells of several tables, one after the other. A column that is numbers in some tables only becomes text."""
    if any(isinstance(part, Numbers) for part in parts):
        # What cells without any value would hold is not known.
        parts = [part if isinstance(part, Numbers) or part.values else no_numbers(len(part)) for part in parts]
    numbers = [part for part in parts if isinstance(part, Numbers)]
    if len(numbers) == len(parts):
        return Numbers(
            np.concatenate([part.values for part in numbers]), np.concatenate([part.known for part in numbers])
        )
    return joined_codes([as_coded(part) for part in parts])


def _without_repeats(rows: Rows, origin: IndexArray, *, once: bool) -> Rows:
    """Rows that are in an earlier table (or, with `once`, anywhere before) left out."""
    times = _time_column(rows.table)
    apart = times.known.all() and (times.values[1:] > times.values[:-1]).all()
    if apart or (not once and origin[0] == origin[-1]):
        return rows
    # Columns that make a row what it is, as numbers: all but the drawing aids.
    columns: list[IntArray] = []
    for column, cells in zip(rows.table.columns, rows.table.cells, strict=True):
        if column.engineering_type in DRAWING_TYPES:
            continue
        if isinstance(cells, Numbers):
            columns += [cells.values, cells.known.astype(np.int64)]
        else:
            columns.append(cells.codes.astype(np.int64))
    identity = group_ids(columns, rows.table.rows)
    if not once:
        # The n-th occurrence of a row in one table is the n-th occurrence in every other.
        identity = group_ids([identity, occurrence(identity, origin)], rows.table.rows)
    keep = is_first_of_each(identity)
    why = "identical to another row" if once else "also in another table of this run"
    return select_rows(rows, keep, why, ", ".join(map(str, rows.schema.values)))


TIME_COLUMNS = ("start", "time", "timestamp", "update-time")
"""Mnemonics of the time column of a table; each table that rows were seen of has one of them."""
TIME_TYPES = frozenset({"start-time", "event-time", "sample-time"})
"""Engineering types of the time column of others: the first column of one."""


def _time_column(table: Table) -> Numbers:
    times = (column.mnemonic for column in table.columns if column.engineering_type in TIME_TYPES)
    present = next((name for name in TIME_COLUMNS if table.has(name)), next(times, TIME_COLUMNS[0]))
    return required_integers(table, present)
