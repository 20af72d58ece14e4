"""GPU instrument: what the GPU's channels executed, for the whole machine.

`metal-gpu-intervals` holds every process even where its target is one. Rows of Core ML work name model and operation
in their label. Rows of depth 1 lie inside rows of depth 0, so add durations of one depth only, or use unions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.binding import flags, mapped, optional_integers, optional_values, processes, recode, text
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import event_frame
from tracekit.trace.instruments.hardware import active, attribution, buffers_by_row, depths
from tracekit.trace.instruments.instrument import Hardware, Instrument, Work
from tracekit.trace.labels import gpu_labels

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.recording.table import Process
    from tracekit.trace.collect import Rows
    from tracekit.trace.instruments.hardware import CommandBuffers
    from tracekit.trace.labels import KnownModels


def bind(rows: Rows, known: KnownModels, target: Process | None) -> tuple[pd.DataFrame, CommandBuffers]:
    """Active intervals of the GPU's channels, and their command buffers. Raises `MissingColumn` where the table has no
    time."""
    rows = active(rows)
    label = optional_values(rows.table, "event-label")
    label_codes, meanings = gpu_labels(map(str, label.values), known)
    # The entry behind the last stands for no label.
    codes = np.array([*label_codes, -1], np.int32)[label.codes]
    model = recode(codes, [meaning.model for meaning in meanings])
    process, pid = processes(rows.table)
    frame = event_frame(
        rows,
        {
            "lane": Lane.GPU,
            "kind": Kind.GPU_EXEC,
            "label": text(label),
            "model": model,
            "device": Device.GPU,
            "process": process,
            "pid": pid,
            "depth": depths(rows.table),
            "operation": mapped(codes, [meaning.operation for meaning in meanings]),
            "attribution": attribution(rows.table, model, target),
        },
    )
    ids = optional_integers(rows.table, "cmdbuffer-id")
    first = flags(codes, [meaning.buffer == 0 for meaning in meanings])
    return frame, buffers_by_row(rows.row, np.where(ids.valid, ids.values, 0), first)


INSTRUMENT = Instrument(
    "GPU",
    "GPU work of the whole device",
    hardware=Hardware(Lane.GPU, ("metal-gpu-intervals",), bind, by_owner=True),
    kinds={Kind.GPU_EXEC: Work("GPU", "GPU execution")},
    added_as="GPU",
    in_template=True,
)
