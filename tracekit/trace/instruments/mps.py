"""MPS rows of the GPU instrument: one per graph that was sent to the GPU.

A row covers the first command buffer of its graph only, about a twelfth of the GPU's work in real recordings: count
these rows, do not time with them. The process is a sentinel in every row seen; the label gives a command buffer
(`labels.mps_command_buffer`) that other Metal tables name too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.trace.binding import constant, optional_values, processes, text
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import event_frame
from tracekit.trace.instruments.hardware import active, attribution, depths

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.recording.table import Process
    from tracekit.trace.gather import Rows

SCHEMAS = ("mps-hw-intervals",)


def bind(rows: Rows, target: Process | None) -> pd.DataFrame:
    """Graph dispatches. Raises `MissingColumn` where the table has no time."""
    rows = active(rows)
    process, pid = processes(rows.table)
    model = constant(None, rows.table.rows)
    return event_frame(
        rows,
        {
            "lane": Lane.MPS,
            "kind": Kind.MPS_DISPATCH,
            "label": text(optional_values(rows.table, "event-label")),
            "device": Device.GPU,
            "process": process,
            "pid": pid,
            "depth": depths(rows.table),
            "attribution": attribution(rows.table, model, target),
        },
    )
