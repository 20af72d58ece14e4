"""What the hardware tables have in common: states, depth, and whose a row is as far as the row itself tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.recording.table import Process, Thread
from tracekit.trace.binding import flags, nullable, optional_integers, optional_values
from tracekit.trace.events import Attribution
from tracekit.trace.frames import fixed
from tracekit.trace.gather import chosen

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.recording.table import CellValue, Table
    from tracekit.trace.gather import Rows

_ACTIVE = "active"


def active(rows: Rows) -> Rows:
    """The rows in which the hardware worked: those whose state is `Active`, or is not recorded."""
    state = optional_values(rows.table, "state")
    idle = flags(state.codes, [str(value).strip().casefold() not in (_ACTIVE, "") for value in state.values])
    return chosen(rows, ~idle)


def depths(table: Table) -> pd.arrays.IntegerArray:
    """Nesting depth as recorded. Rows of depth 1 lie inside rows of depth 0."""
    return nullable(optional_integers(table, "event-depth"))


def attribution(table: Table, model: pd.Categorical, target: Process | None) -> pd.Categorical:
    """Whose each row is, from the row alone: `foreign` where its process is known and is not the target, `label`
    where its label names a model, else `unattributed`.

    This is the boundary of what binding decides. Links by time, by joined requests, and to models that the target
    never loaded need other tables and are made on the finished frames. `target` is None where the recording has no
    single target; then no row is foreign.
    """
    process = optional_values(table, "process")
    foreign = flags(process.codes, [_is_other(value, target) for value in process.values])
    named = np.asarray(model.codes) >= 0
    order = (Attribution.UNATTRIBUTED, Attribution.LABEL, Attribution.FOREIGN)
    return fixed("attribution", np.where(foreign, 2, named.astype(np.int32)), order)


def _is_other(value: CellValue, target: Process | None) -> bool:
    """Whether the cell is known to be a process other than the target. Ids decide where both sides have one."""
    process = value.process if isinstance(value, Thread) else value
    if target is None or process is None:
        return False
    if isinstance(process, Process) and process.pid is not None and target.pid is not None:
        return process.pid != target.pid
    name = process.name if isinstance(process, Process) else process
    return bool(target.name) and name != target.name
