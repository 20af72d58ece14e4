"""MPS rows of the GPU instrument: one per graph that was sent to the GPU.

A row covers the first command buffer of its graph only, about a twelfth of the GPU's work in real recordings: count
these rows, do not time with them. The process is a sentinel in every row seen; the label gives a command buffer
(`labels.mps_command_buffers`) that other Metal tables name too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.binding import constant, mapped, optional_values, processes, text
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import event_frame
from tracekit.trace.instruments.hardware import active, attribution, buffers_by_row, depths
from tracekit.trace.instruments.instrument import Hardware, Instrument, Work
from tracekit.trace.labels import mps_command_buffers

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.recording.table import Process
    from tracekit.trace.collect import Rows
    from tracekit.trace.instruments.hardware import CommandBuffers
    from tracekit.trace.labels import KnownModels

_IDS_END = 1 << 63
"""Ids of command buffers are counted up; the greatest seen have 33 bits. No other table could hold a larger one."""


def bind(rows: Rows, _known: KnownModels, target: Process | None) -> tuple[pd.DataFrame, CommandBuffers]:
    """Graph dispatches, and their command buffers. Raises `MissingColumn` where the table has no time."""
    rows = active(rows)
    label = optional_values(rows.table, "event-label")
    process, pid = processes(rows.table)
    model = constant(None, rows.table.rows)
    frame = event_frame(
        rows,
        {
            "lane": Lane.MPS,
            "kind": Kind.MPS_DISPATCH,
            "label": text(label),
            "device": Device.GPU,
            "process": process,
            "pid": pid,
            "depth": depths(rows.table),
            "attribution": attribution(rows.table, model, target),
        },
    )
    named = mps_command_buffers(map(str, label.values))
    ids = mapped(label.codes, [value if value is not None and value < _IDS_END else None for value in named])
    return frame, buffers_by_row(rows.row, ids.fillna(0).to_numpy(np.int64), np.ones(rows.table.rows, np.bool_))


INSTRUMENT = Instrument(
    "MPS",
    "MPS graphs sent to the GPU; the rows count graphs but do not time them, because a row ends with the first command "
    "buffer of its graph",
    hardware=Hardware(Lane.MPS, ("mps-hw-intervals",), bind),
    kinds={Kind.MPS_DISPATCH: Work("MPS", "MPS graph dispatch")},
    in_template=True,
)
