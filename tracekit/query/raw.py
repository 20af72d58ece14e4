"""Recorded tables as frames, for the views of the schema `raw`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from tracekit.errors import UnreadableRecording, unknown
from tracekit.recording.table import Cells, Column, IntegerCells, Table, TableState
from tracekit.recording.writing.forms import column_names, is_unsigned
from tracekit.trace.binding import recode

if TYPE_CHECKING:
    from tracekit.recording.contents import Recording


def raw_frame(recording: Recording, schema: str) -> pd.DataFrame:
    """The rows of all tables of a schema, in their order: a column for each of theirs, with underscores for hyphens.

    Numbers are `Int64` or `UInt64`, in the unit of the recording (ns for times); other cells are categories of the text
    that Instruments shows. Raises `UsageError` for a schema that the recording does not have, and `UnreadableRecording`
    for one that cannot be read.
    """
    tables = recording.tables(schema)
    readable = [table for table in tables if table.state in (TableState.ROWS, TableState.EMPTY)]
    if not readable:
        entries = recording.run.tables
        reason = next((entry.reason for entry in entries if entry.schema == schema), None)
        if reason is None:
            raise unknown("table", schema, dict.fromkeys(entry.schema for entry in entries))
        raise UnreadableRecording(f"table '{schema}' cannot be read: {reason or 'it is not in the recording'}")
    rows = pd.concat([_frame(table) for table in readable], ignore_index=True)
    # Categories of several tables become plain texts.
    return rows.astype({name: "category" for name, dtype in rows.dtypes.items() if not is_numeric_dtype(dtype)})


def _frame(table: Table) -> pd.DataFrame:
    names = [name.replace("-", "_") for name in column_names(table.columns)]
    cells = zip(table.columns, table.cells, strict=True)
    return pd.DataFrame(dict(zip(names, (_column(*each) for each in cells), strict=True)), copy=False)


def _column(column: Column, cells: Cells) -> pd.Categorical | pd.arrays.IntegerArray:
    if isinstance(cells, IntegerCells):
        values = cells.values.astype(np.uint64) if is_unsigned(column.engineering_type) else cells.values
        return pd.arrays.IntegerArray(values, ~cells.valid)
    return recode(cells.codes, [str(value) for value in cells.values])
