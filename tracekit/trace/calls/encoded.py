"""What Metal shows of predictions on the GPU: the thread that encodes each, when it begins to, and when the process is
told that the GPU is done. A prediction begins before the first instant and ends after the last (20 of 20 predictions
in three public recordings: 0.3 to 7.4 ms before, 1.2 to 6.1 ms after)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.trace.events import Events
from tracekit.trace.instruments.instrument import CommandBuffers
from tracekit.trace.instruments.metal import SubmittedBuffers

BEFORE_NS: Final = 400_000
"""How long before its first command buffer a warm prediction usually begins (17 of them: 0.3 to 1 ms)."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The command buffer of each row of hardware, as the thread saw it: shape (rows,) each."""

    known: BoolArray
    """Whether its submission was recorded."""
    thread: IntArray
    """A number for the thread that encoded it; -1 for none."""
    tid: IntArray
    """Id of that thread; -1 for none."""
    starts: IntArray
    """When it was created, where that is known; else when the row begins."""
    ends: IntArray
    """When the process was told that it is done, where that is known; else when the row ends."""

    def rows_of(self, prediction: IntArray, count: int) -> IntArray:
        """Shape (predictions,): for each of so many a row of hardware of which the thread is known; -1 for none.
        `prediction`: of each row."""
        rows = np.full(count + 1, -1)
        known = np.flatnonzero(self.known & (prediction >= 0))
        rows[prediction[known]] = known
        return rows[:-1]

    @classmethod
    def of(cls, hardware: Events, buffers: CommandBuffers, submitted: SubmittedBuffers | None) -> Encoded:
        """From the rows of hardware with the ids of their buffers, and what the app submitted. O(n log n)."""
        count = len(hardware)
        if submitted is None or not len(submitted):
            none = np.full(count, -1)
            return cls(np.zeros(count, np.bool_), none, none, hardware.start_ns, hardware.ends_ns)
        ids = submitted.buffer_id.filled()
        order = np.argsort(ids, kind="stable")
        at = order[np.minimum(np.searchsorted(ids[order], buffers.id), len(order) - 1)]
        known = (buffers.id != 0) & (ids[at] == buffers.id)
        # A second row of a buffer, and one that the GPU was at before it was created, is of another clock or a mistake.
        known &= submitted.start_ns[at] <= hardware.start_ns
        told = submitted.completed_ns.filled()[at]
        return cls(
            known,
            np.where(known, submitted.thread.codes[at], -1),
            np.where(known, submitted.tid.filled()[at], -1),
            np.where(known, submitted.start_ns[at], hardware.start_ns),
            np.where(known, np.maximum(told, hardware.ends_ns), hardware.ends_ns),
        )
