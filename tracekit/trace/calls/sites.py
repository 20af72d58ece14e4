"""The code of the app that made calls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Codes, Flags, Keyed, Numbers, Texts, column
from tracekit.rows import Rows
from tracekit.trace.samples import StackRows


@dataclass(frozen=True, slots=True, eq=False)
class CodePlaces(Rows):
    """Frames of the app."""

    caller: Texts = column("function")
    image: Texts = column("binary")
    file: Texts = column("source file")
    line: Numbers = column("line")
    frame_row: IntArray = column("row of `Trace.stacks`; -1 for none")


@dataclass(frozen=True, slots=True, eq=False)
class Sites(CodePlaces):
    """The code that made calls."""

    id: IntArray = column("row of `Trace.activity`, ascending")
    thread: Texts = column("the thread, as Instruments shows it")
    tid: Numbers = column("id of the thread")
    main_thread: Flags = column("whether it is a main thread; null where that is not known")
    samples: IntArray = column("samples of the running thread in the call")
    ambiguous: BoolArray = column("whether other threads were in such a call meanwhile, so that it may be theirs")
    busy: Keyed = column("those of the samples in each phase of a call and unit of a prediction")
    api: Texts = column("what was called, one of `tracekit.trace.calls.stacks.Api`")
    path: IntArray = column("one number for inferred calls from the same code; 0 for recorded ones")

    def samples_in(self, *names: str) -> IntArray:
        """Shape (sites,): samples in each of these phases and units, added up; 0 where none of it was looked for."""
        total = np.zeros(len(self), np.int64)
        for name in names:
            cells = self.busy.cells.get(name)
            total += cells if isinstance(cells, np.ndarray) else 0
        return total

    def moved(self, rows: IntArray) -> Sites:
        """The sites of calls that stand in other rows of `Trace.activity`, shape (sites,): none where the row is -1.
        O(n log n)."""
        order = np.argsort(rows, kind="stable")
        order = order[np.searchsorted(rows[order], 0) :]
        return replace(self.take(order), id=rows[order])


def place_of(stacks: StackRows, rows: IndexArray) -> CodePlaces:
    """The places of frames of the app; null for row -1."""
    texts = (stacks.function, stacks.image, stacks.file)
    caller, image, file = (Codes(np.append(cells.codes, -1)[rows], cells.values) for cells in texts)
    line = Numbers(np.append(stacks.line.values, 0)[rows], np.append(stacks.line.known, False)[rows])
    return CodePlaces(caller, image, file, line, rows)
