"""Context frames: tables beside the lanes, bound by a list of fields.

Every context frame begins with `start_ns` (int64, ns since the start of the run) and ends with `table` (category,
schema) and `row` (int64, position in that schema's tables). Tables of intervals have `duration_ns` (int64) second. The
columns between are those of the fields. Frames are sorted by start, then longest first, then row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.recording.table import Table, Thread
from tracekit.trace import binding
from tracekit.trace.collect import Rows
from tracekit.trace.frames import durations, reorder, sort_order


class Form(Enum):
    """What a field becomes."""

    TEXT = auto()
    """One category column."""
    INTEGER = auto()
    """One `Int64` column."""
    PROCESS = auto()
    """Two columns: the name as category, and the id as `Int64` under the same name with `pid` for `process`."""
    THREAD = auto()
    """Two columns: the display text as category, and the id as `Int64` under the same name with `tid` for `thread`."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a table and what it becomes."""

    name: str
    """Column of the frame."""
    form: Form = Form.TEXT
    column: str = ""
    """Mnemonic of the column of the table, where it is not the name with hyphens."""
    type: str = ""
    """Engineering type of the column, where its mnemonic is not known: the first column of that type."""
    required: bool = False
    """Whether the table means nothing without it."""


def context_frame(rows: Rows, fields: Iterable[Field]) -> pd.DataFrame:
    """The rows as a context frame. Raises `MissingColumn` where a required field is absent. O(n log n)."""
    table = rows.table
    columns: dict[str, object] = {"start_ns": rows.starts}
    if table.has("duration"):
        columns["duration_ns"] = durations(table)
    for field in fields:
        columns |= _columns(table, field)
    frame = pd.DataFrame({**columns, "table": binding.text(rows.schema), "row": rows.row}, copy=False)
    return sorted_by_start(frame)


def sorted_by_start(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame sorted by start, then longest first, then order of the rows, indexed 0..n-1."""
    return reorder(frame, sort_order(frame))


def ends_of(frame: pd.DataFrame, end_ns: int) -> IntArray:
    """When rows end: shape (rows,). Without a duration they are instants; without an end they last until `end_ns`."""
    starts = frame["start_ns"].to_numpy()
    if "duration_ns" not in frame:
        return starts
    ends: IntArray = starts + frame["duration_ns"].array.to_numpy(np.int64, na_value=0)
    return np.where(frame["duration_ns"].isna(), np.maximum(end_ns, starts), ends)


def _columns(table: Table, field: Field) -> dict[str, object]:
    mnemonic = field.column or field.name.replace("_", "-")
    if field.type:
        mnemonic = next((each.mnemonic for each in table.columns if each.engineering_type == field.type), mnemonic)
    if field.form is Form.INTEGER:
        read = binding.required_integers if field.required else binding.optional_integers
        return {field.name: binding.nullable(read(table, mnemonic))}
    cells = (binding.required_values if field.required else binding.optional_values)(table, mnemonic)
    if field.form is Form.PROCESS:
        name, pid = binding.processes(table, mnemonic)
        return {field.name: name, field.name.replace("process", "pid"): pid}
    if field.form is Form.THREAD:
        ids = [value.tid if isinstance(value, Thread) else None for value in cells.values]
        tids = binding.values_by_code(cells.codes, ids)
        return {field.name: binding.text(cells), field.name.replace("thread", "tid"): tids}
    return {field.name: binding.text(cells)}
