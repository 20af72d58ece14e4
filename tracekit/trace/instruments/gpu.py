"""GPU instrument: what the GPU's channels executed, for the whole machine, and the MPS graphs that were sent to it.

`metal-gpu-intervals` holds every process even where its target is one. Rows of Core ML work name model and operation
in their label. Rows of depth 1 lie inside rows of depth 0, so add durations of one depth only, or use unions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.binding import flags, optional_integers, optional_values
from tracekit.trace.collect import Rows
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.instruments.hardware import CommandBuffers, active, buffers_by_row, hardware_frame
from tracekit.trace.instruments.instrument import Hardware, Instrument, Work
from tracekit.trace.labels import KnownModels, gpu_labels, mps_command_buffers

_IDS_END = 1 << 63
"""Ids of command buffers are counted up; the greatest seen have 33 bits. No other table could hold a larger one."""


def bind(rows: Rows, known: KnownModels, target: Process | None) -> tuple[pd.DataFrame, CommandBuffers]:
    """Active intervals of the GPU's channels, and their command buffers. Raises `MissingColumn` where the table has no
    time."""
    rows = active(rows)
    label = optional_values(rows.table, "event-label")
    label_codes, meanings = gpu_labels(map(str, label.values), known)
    # The entry behind the last stands for no label.
    codes = np.array([*label_codes, -1], np.int32)[label.codes]
    frame = hardware_frame(rows, label, codes, meanings, target, lane=Lane.GPU, kind=Kind.GPU_EXEC, device=Device.GPU)
    ids = optional_integers(rows.table, "cmdbuffer-id")
    first = flags(codes, [meaning.buffer == 0 for meaning in meanings])
    return frame, buffers_by_row(rows.row, np.where(ids.valid, ids.values, 0), first)


def bind_graphs(rows: Rows, _known: KnownModels, target: Process | None) -> tuple[pd.DataFrame, CommandBuffers]:
    """Graph dispatches, and their command buffers. Raises `MissingColumn` where the table has no time.

    A row covers the first command buffer of its graph only, about a twelfth of the GPU's work in real recordings: count
    these rows, do not time with them. The process is a sentinel in every row seen; the label gives a command buffer
    that other Metal tables name too.
    """
    rows = active(rows)
    label = optional_values(rows.table, "event-label")
    none = np.full(rows.table.rows, -1)
    frame = hardware_frame(rows, label, none, (), target, lane=Lane.MPS, kind=Kind.MPS_DISPATCH, device=Device.GPU)
    named = mps_command_buffers(map(str, label.values))
    # The entry behind the last stands for no label.
    ids = np.array([*(0 if value is None or value >= _IDS_END else value for value in named), 0], np.int64)
    return frame, buffers_by_row(rows.row, ids[label.codes], np.ones(rows.table.rows, np.bool_))


INSTRUMENT = Instrument(
    "GPU",
    "GPU work of the whole device",
    hardware=Hardware(Lane.GPU, ("metal-gpu-intervals",), bind, by_owner=True),
    kinds={Kind.GPU_EXEC: Work("GPU", "GPU execution")},
    added_as="GPU",
    in_template=True,
)

MPS = Instrument(
    "MPS",
    "MPS graphs sent to the GPU; the rows count graphs but do not time them, because a row ends with the first command "
    "buffer of its graph",
    hardware=Hardware(Lane.MPS, ("mps-hw-intervals",), bind_graphs),
    kinds={Kind.MPS_DISPATCH: Work("MPS", "MPS graph dispatch")},
    in_template=True,
)
