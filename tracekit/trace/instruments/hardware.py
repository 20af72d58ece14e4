"""What the hardware tables have in common: states, depth, command buffers, and whose a row is as far as the row itself
names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.recording.table import CellValue, CodedCells, Process, Table, Thread
from tracekit.trace.binding import (
    flags,
    nullable,
    optional_integers,
    optional_values,
    processes,
    recode,
    text,
    values_by_code,
)
from tracekit.trace.collect import Rows, select_rows
from tracekit.trace.events import Attribution
from tracekit.trace.frames import ColumnValues, event_frame, fixed_categorical, is_any
from tracekit.trace.labels import HardwareLabel

_ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class CommandBuffers:
    """Command buffers of hardware rows; shape (rows,) each."""

    id: IntArray
    """`cmdbuffer-id` of the Metal tables; 0 where the row has none."""
    first: BoolArray
    """Whether the label says that it is the first one of its operation."""


def buffers_by_row(row: IntArray, ids: IntArray, first: BoolArray) -> CommandBuffers:
    """Command buffers in the order of column `row`, for rows given in any order; rows that were left out have none."""
    size = int(row.max(initial=-1)) + 1
    buffers = CommandBuffers(np.zeros(size, np.int64), np.zeros(size, np.bool_))
    buffers.id[row], buffers.first[row] = ids, first
    return buffers


def in_order(hardware: pd.DataFrame, by_row: Mapping[str, CommandBuffers | None]) -> CommandBuffers:
    """Command buffers of the rows of the hardware frame. `by_row` gives those of each lane, which is one schema, in the
    order of column `row`."""
    buffers = CommandBuffers(np.zeros(len(hardware), np.int64), np.zeros(len(hardware), np.bool_))
    for lane, of_lane in by_row.items():
        if of_lane is None:
            continue
        lane_rows = np.flatnonzero(is_any(hardware["lane"], lane))
        row = hardware["row"].to_numpy()[lane_rows]
        buffers.id[lane_rows], buffers.first[lane_rows] = of_lane.id[row], of_lane.first[row]
    return buffers


def active(rows: Rows) -> Rows:
    """The rows in which the hardware worked: those whose state is `Active`, or is not recorded."""
    state = optional_values(rows.table, "state")
    idle = flags(state.codes, [str(value).strip().casefold() not in (_ACTIVE, "") for value in state.values])
    return select_rows(rows, ~idle)


def hardware_frame(
    rows: Rows,
    label: CodedCells,
    codes: CodeArray,
    meanings: Sequence[HardwareLabel],
    target: Process | None,
    **columns: ColumnValues | str,
) -> pd.DataFrame:
    """The event frame of hardware rows: what all tables have alike, and the columns that are given. `codes`: of each
    row, what its label says, as index in `meanings`; -1 for nothing. Rows of depth 1 lie inside rows of depth 0."""
    process, pid = processes(rows.table)
    model = recode(codes, [meaning.model for meaning in meanings])
    return event_frame(
        rows,
        {
            "label": text(label),
            "model": model,
            "process": process,
            "pid": pid,
            "depth": nullable(optional_integers(rows.table, "event-depth")),
            "operation": values_by_code(codes, [meaning.operation for meaning in meanings]),
            "attribution": attribution(rows.table, model, target),
            **columns,
        },
    )


def attribution(table: Table, model: pd.Categorical, target: Process | None) -> pd.Categorical:
    """Whose each row is, from the row alone: `foreign` where its process is known and is not the target; where its
    label names a model, `exact` if the process is known to be the target's, else `label`; otherwise `unattributed`.

    This is the boundary of what binding decides. Links by time, by joined requests, and to models that the target
    never loaded need other tables and are made on the finished frames (`tracekit.trace.attribution`). `target` is None
    where the recording has no single target; then no row is foreign, and none exact.
    """
    process = optional_values(table, "process")
    of_target = [_is_target(value, target) for value in process.values]
    foreign = flags(process.codes, [whose is False for whose in of_target])
    exact = flags(process.codes, [whose is True for whose in of_target])
    named = np.asarray(model.codes) >= 0
    order = (Attribution.UNATTRIBUTED, Attribution.LABEL, Attribution.EXACT, Attribution.FOREIGN)
    return fixed_categorical("attribution", np.select([foreign, named & exact, named], [3, 2, 1], 0), order)


def _is_target(value: CellValue, target: Process | None) -> bool | None:
    """Whether the cell's process is the target; None where that is not known. Ids decide where both sides have one."""
    process = value.process if isinstance(value, Thread) else value
    if target is None or process is None:
        return None
    if isinstance(process, Process) and process.pid is not None and target.pid is not None:
        return process.pid == target.pid
    name = process.name if isinstance(process, Process) else process
    return name == target.name if target.name else None
