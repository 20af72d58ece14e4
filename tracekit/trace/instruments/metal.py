"""Metal Application instrument: what threads of the app encode for the GPU, and when they are told that it is done.

Measured on three public recordings of Xcode 16.4: each prediction on the GPU has one row `Encode MPSGraph` on the
thread that calls, which holds its encoders; its command buffers name model and operation. An attribute `target-pid`
does not mean that a table holds the target alone, so rows are chosen by process; completions name none, and belong to
the process that submitted the buffer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tracekit.arrays import IntArray
from tracekit.columns import Codes, Numbers, Texts, all_known, column, known_where, no_numbers, numbers_by_code
from tracekit.recording.table import CellValue
from tracekit.trace.binding import as_texts
from tracekit.trace.context import (
    ROW,
    TABLE,
    ContextIntervals,
    ContextRows,
    pid_of,
    process_of,
    recorded,
    sorted_by_start,
    thread_of,
    tid_of,
)
from tracekit.trace.instruments.instrument import Context, Instrument

ENCODES_GRAPH: Final = "Encode MPSGraph"
"""What `event_type` holds for the encoding of a whole graph."""
COMPLETED: Final = "metal-command-buffer-completed"
"""Schema of the instants at which processes are told that the GPU is done with a command buffer."""
_COMMITTED = re.compile(r'Committed "(.*)" with \d+ encoders?$')
_BUFFER = "id of the command buffer, the same in all tables; null where the row belongs to none"


def _ids(cells: Codes[CellValue]) -> Numbers:
    """All ones, which is -1 in a bundle, is no id."""
    numbers = (int(text) if (text := str(value)).isdecimal() else -1 for value in cells.values)
    return numbers_by_code(cells.codes, [number if 0 <= number < 1 << 63 else None for number in numbers])


def _buffer_label(cells: Codes[CellValue]) -> Texts:
    return as_texts(cells).recoded(lambda note: found[1] if (found := _COMMITTED.match(note)) else note)


@dataclass(frozen=True, slots=True, eq=False)
class MetalIntervals(ContextIntervals):
    """Graphs, command buffers and encoders of the target while threads encode them; they lie inside one another."""

    label: Texts = recorded("what is encoded", "event-label", required=True)
    event_type: Texts = recorded("`Encode MPSGraph` for a whole graph, else `Encoding`")
    depth: Numbers = recorded("0: a graph, 4: an encoder, 14 or 24, alternating: a command buffer", "event-depth")
    buffer_id: Numbers = recorded(_BUFFER, "cmdbuffer-id", make=_ids)
    encoder_id: Numbers = recorded("id of the encoder; null where the row is no encoder", make=_ids)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class MetalEncoders(ContextIntervals):
    """Encoders of the target, from their beginning to their end."""

    label: Texts = recorded("label of the buffer, which names model and operation of Core ML", "cmdbuffer-label")
    encoder: Texts = recorded("label of the encoder", "encoder-label")
    buffer_id: Numbers = recorded(_BUFFER, "cmdbuffer-id", required=True, make=_ids)
    encoder_id: Numbers = recorded("id of the encoder", make=_ids)
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class SubmittedBuffers(ContextIntervals):
    """Command buffers of the target: a thread creates each at `start_ns`, encodes and commits it, and may wait until
    the process learns that the GPU is done, as the row ends. Where that is not recorded, it ends with the commit."""

    label: Texts = recorded("its label, which names model and operation of Core ML", "event-label", make=_buffer_label)
    encoders: Numbers = recorded("how many encoders it has", "num-encoders")
    encoder_ns: Numbers = recorded("duration of these", "encoder-time")
    buffer_id: Numbers = recorded(_BUFFER, "cmdbuffer-id", required=True, make=_ids)
    committed_ns: Numbers = recorded("when it was committed")
    completed_ns: Numbers = recorded("when the process was told that the GPU is done; null where that is not recorded")
    process: Texts = process_of()
    pid: Numbers = pid_of()
    thread: Texts = thread_of()
    tid: Numbers = tid_of()
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


@dataclass(frozen=True, slots=True, eq=False)
class Completions(ContextRows):
    """When processes were told that the GPU is done with a command buffer. The table names no process."""

    buffer_id: Numbers = recorded(_BUFFER, "cmdbuffer-id", required=True, make=_ids)
    table: Texts = column(TABLE)
    row: IntArray = column(ROW)


INSTRUMENT = Instrument(
    "Metal Application",
    "what threads of the app encode for the GPU, and when each process learns that it is done",
    (COMPLETED,),
    context=(
        Context("metal_intervals", ("metal-application-intervals",), MetalIntervals, of_target=True),
        Context("metal_encoders", ("metal-application-encoders-list",), MetalEncoders, of_target=True),
        Context("command_buffers", ("metal-application-command-buffer-submissions",), SubmittedBuffers, of_target=True),
    ),
    added_as="Metal Application",
    in_template=True,
    empty="the app encoded nothing for the GPU",
)


def with_completions(buffers: SubmittedBuffers, completions: Completions | None) -> SubmittedBuffers:
    """Rows of the table of submissions with what the table of completions says of them. O(n log n)."""
    committed, completed = all_known(buffers.start_ns + buffers.duration_ns), no_numbers(len(buffers))
    if completions is not None and len(completions):
        ids, sought = completions.buffer_id.filled(), buffers.buffer_id.filled()
        order = np.argsort(ids, kind="stable")
        at = order[np.minimum(np.searchsorted(ids[order], sought), len(order) - 1)]
        told = completions.start_ns[at]
        completed = known_where((ids[at] == sought) & (sought >= 0) & (told >= committed.values), told)
    ends = np.maximum(committed.values, completed.filled())
    lasting = replace(buffers, duration_ns=ends - buffers.start_ns, committed_ns=committed, completed_ns=completed)
    return sorted_by_start(lasting)
