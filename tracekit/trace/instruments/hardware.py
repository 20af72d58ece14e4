"""Neural Engine, GPU and MPS instruments: what the whole machine executed, and whose a row says that it is.

The Neural Engine's table was renamed in Xcode 27; its columns stayed. It names no process. Identical rows are one
interval written twice (public evidence). `metal-gpu-intervals` holds every process even where its target is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.columns import Codes, Texts, codes_of, constant, numbers_by_code
from tracekit.recording.table import CellValue, Process, Table, Thread
from tracekit.trace import binding
from tracekit.trace.collect import Rows, select_rows
from tracekit.trace.events import ATTRIBUTIONS, DEVICES, KINDS, LANES, Attribution, Device, Events, Kind, Lane
from tracekit.trace.instruments.instrument import CommandBuffers, Hardware, Instrument, Work, bare_rows
from tracekit.trace.labels import HardwareLabel, KnownModels, gpu_labels, mps_command_buffers, neural_engine_label

_IDS_END = 1 << 63
"""Ids of command buffers are counted up; the greatest seen have 33 bits. No other table could hold a larger one."""


def buffers_by_row(row: IntArray, ids: IntArray, first: BoolArray) -> CommandBuffers:
    """Command buffers in the order of column `row`, for rows given in any order; rows that were left out have none."""
    size = int(row.max(initial=-1)) + 1
    buffers = CommandBuffers(np.zeros(size, np.int64), np.zeros(size, np.bool_))
    buffers.id[row], buffers.first[row] = ids, first
    return buffers


def in_order(hardware: Events, by_row: Mapping[str, CommandBuffers | None]) -> CommandBuffers:
    """Command buffers of the hardware rows; `by_row`: of each lane (one schema), by column `row`."""
    buffers = CommandBuffers(np.zeros(len(hardware), np.int64), np.zeros(len(hardware), np.bool_))
    for lane, of_lane in by_row.items():
        if of_lane is None:
            continue
        lane_rows = np.flatnonzero(hardware.lane.is_any(lane))
        row = hardware.row[lane_rows]
        buffers.id[lane_rows], buffers.first[lane_rows] = of_lane.id[row], of_lane.first[row]
    return buffers


def active(rows: Rows) -> Rows:
    """The rows in which the hardware worked: those whose state is `Active`, or is not recorded."""
    state = binding.optional_values(rows.table, "state")
    idle = binding.flags(state.codes, [str(value).strip().casefold() not in ("active", "") for value in state.values])
    return select_rows(rows, ~idle)


def hardware_events(
    rows: Rows,
    label: Codes[CellValue],
    codes: CodeArray,
    meanings: Sequence[HardwareLabel],
    target: Process | None,
    work: tuple[Lane, Kind, Device],
) -> Events:
    """Hardware rows with what all tables have alike, and the `work` of all of them. `codes`: of each row, what its
    label says, as index in `meanings`; -1 for nothing. Rows of depth 1 lie inside rows of depth 0, so add durations of
    one depth only, or use unions."""
    count, (lane, kind, device) = rows.table.rows, work
    process, pid = binding.owners(rows.table)
    model = codes_of(codes, [meaning.model for meaning in meanings])
    return replace(
        bare_rows(rows),
        lane=constant(lane, count, LANES),
        kind=constant(kind, count, KINDS),
        label=binding.as_texts(label),
        model=model,
        device=constant(device, count, DEVICES),
        process=process,
        pid=pid,
        depth=binding.optional_integers(rows.table, "event-depth"),
        operation=numbers_by_code(codes, [meaning.operation for meaning in meanings]),
        attribution=attribution(rows.table, model, target),
    )


def attribution(table: Table, model: Texts, target: Process | None) -> Texts:
    """Whose each row is, from the row alone: `foreign` where its process is known and is not the target; where its
    label names a model, `exact` if the process is known to be the target's, else `label`; otherwise `unattributed`.

    What needs other tables is decided on the rows of all of them (`tracekit.trace.attribution`). `target` is None where
    the recording has no single target; then no row is foreign, and none exact.
    """
    process = binding.optional_values(table, "process")
    of_target = [_is_target(value, target) for value in process.values]
    foreign = binding.flags(process.codes, [whose is False for whose in of_target])
    exact = binding.flags(process.codes, [whose is True for whose in of_target])
    named = model.known
    order = (Attribution.UNATTRIBUTED, Attribution.LABEL, Attribution.EXACT, Attribution.FOREIGN)
    return codes_of(np.select([foreign, named & exact, named], [3, 2, 1], 0), order, ATTRIBUTIONS)


def _is_target(value: CellValue, target: Process | None) -> bool | None:
    """Whether the cell's process is the target; None where that is not known. Ids decide where both sides have one."""
    process = value.process if isinstance(value, Thread) else value
    if target is None or process is None:
        return None
    if isinstance(process, Process) and process.pid is not None and target.pid is not None:
        return process.pid == target.pid
    name = process.name if isinstance(process, Process) else process
    return name == target.name if target.name else None


def bind_neural_engine(rows: Rows, known: KnownModels, target: Process | None) -> tuple[Events, None]:
    """Active intervals of the Neural Engine. Raises `MissingColumn` where the table has no time or no label."""
    rows = active(rows)
    label = binding.required_values(rows.table, "event-label")
    meanings = [neural_engine_label(str(value), known) for value in label.values]
    work = Lane.NEURAL_ENGINE, Kind.OTHER, Device.ANE
    events = hardware_events(rows, label, label.codes, meanings, target, work)
    kinds = [*(meaning.kind for meaning in meanings), Kind.OTHER]
    return replace(events, kind=codes_of(np.where(label.known, label.codes, len(meanings)), kinds, KINDS)), None


NEURAL_ENGINE = Instrument(
    "Neural Engine",
    "Neural Engine activity of the whole device, without process names",
    hardware=Hardware(
        Lane.NEURAL_ENGINE, ("ane-hw-intervals", "ane-hw-intervals-internal"), bind_neural_engine, once=True
    ),
    kinds={
        Kind.ANE_EXEC: Work("ANE", "Neural Engine execution"),
        Kind.ANE_LOAD: Work("LOAD", "Neural Engine load"),
        Kind.ANE_COMPILE: Work("COMPILE", "Neural Engine compilation"),
    },
    added_as="Neural Engine",
    in_template=True,
)


def bind_gpu(rows: Rows, known: KnownModels, target: Process | None) -> tuple[Events, CommandBuffers]:
    """Active intervals of the GPU's channels, and their command buffers. Raises `MissingColumn` without a time."""
    rows = active(rows)
    label = binding.optional_values(rows.table, "event-label")
    label_codes, meanings = gpu_labels(map(str, label.values), known)
    # The entry behind the last stands for no label.
    codes = np.array([*label_codes, -1], np.int32)[label.codes]
    events = hardware_events(rows, label, codes, meanings, target, (Lane.GPU, Kind.GPU_EXEC, Device.GPU))
    # In 63,196 of 63,196 rows of real recordings, start − latency is the commit in the table of buffers.
    events = replace(events, waited_ns=binding.optional_integers(rows.table, "start-latency"))
    ids = binding.optional_integers(rows.table, "cmdbuffer-id")
    first = binding.flags(codes, [meaning.buffer == 0 for meaning in meanings])
    return events, buffers_by_row(rows.row, ids.filled(0), first)


def bind_graphs(rows: Rows, _known: KnownModels, target: Process | None) -> tuple[Events, CommandBuffers]:
    """Graph dispatches, and their command buffers. Raises `MissingColumn` where the table has no time.

    A row covers the first command buffer of its graph only, about a twelfth of the GPU's work in real recordings: count
    these rows, do not time with them. The process is a sentinel in every row seen; the label gives a command buffer
    that other Metal tables name too.
    """
    rows = active(rows)
    label = binding.optional_values(rows.table, "event-label")
    none = np.full(rows.table.rows, -1)
    events = hardware_events(rows, label, none, (), target, (Lane.MPS, Kind.MPS_DISPATCH, Device.GPU))
    named = mps_command_buffers(map(str, label.values))
    # The entry behind the last stands for no label.
    ids = np.array([*(0 if value is None or value >= _IDS_END else value for value in named), 0], np.int64)
    return events, buffers_by_row(rows.row, ids[label.codes], np.ones(rows.table.rows, np.bool_))


GPU = Instrument(
    "GPU",
    "GPU work of the whole device",
    hardware=Hardware(Lane.GPU, ("metal-gpu-intervals",), bind_gpu, by_owner=True),
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
