"""Samples of call stacks: which functions a thread was in, in one form for all readers.

A stack is a list of frames, the innermost first. A frame is one function at one place; where the compiler put a call
into its caller, both are frames of their own. Nothing here holds an absolute address or a path: both are private or
differ from start to start of a machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tracekit.arrays import Int32Array, IntArray, RecordArray
from tracekit.columns import Codes, Numbers, constant, no_numbers
from tracekit.recording.table import Cells, CellValue, Thread


@dataclass(frozen=True, slots=True)
class Image:
    """A program or library."""

    name: str
    """Last part of its path."""
    is_system: bool | None
    """Whether it belongs to the system, not to the app; None where its path is not known."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function."""

    name: str
    """Short name (`tracekit.recording.function_names`)."""
    symbol: str
    """Name as it was recorded: mangled in bundles, in full in exports; empty for a function without name."""
    image: int
    """Place in `CallStacks.images`; -1 where it is not known."""
    start: int | None = None
    """Bytes from the begin of the image, where that is known. Functions that share their code share a name too."""


FRAME: Final = np.dtype(
    [
        ("image", np.int32),  # place in `CallStacks.images`; -1 where no image is known at the address
        ("function", np.int32),  # place in `CallStacks.functions`; -1 where its name is not known
        # Bytes from the begin of the image to the instruction, or to the one that was called from; -1 without image.
        ("offset", np.int64),
        ("file", np.int32),  # place in `CallStacks.files`; -1 where it is not known
        ("line", np.int32),  # 0 where it is not known
        ("inlined", np.bool_),  # whether the compiler put the function into the one of the next frame
        ("certain", np.bool_),  # whether the address is known to lie in the image, and not only behind its begin
    ]
)
"""A distinct frame."""


@dataclass(frozen=True, slots=True)
class Caught:
    """Instants of kernel events at which the stack of their thread was caught, in order of time."""

    time_ns: IntArray
    """Shape (events,)."""
    thread: Codes[CellValue]
    stack: IntArray
    """Place of the stack of each, as in `CallStacks`."""


def none_caught() -> Caught:
    """Where no such table is."""
    nothing = np.zeros(0, np.int64)
    return Caught(nothing, constant(None, 0), nothing)


@dataclass(frozen=True, slots=True)
class CallStacks:
    """Samples of one table in order of time, and their stacks."""

    time_ns: IntArray
    """Shape (samples,)."""
    thread: Codes[CellValue]
    process: Codes[CellValue]
    state: Codes[CellValue]
    """`Running`, `Blocked`; without any value where the table does not state it."""
    weight_ns: Numbers
    """Time that a sample stands for; without any value where the table does not state it."""
    weight_count: Numbers
    """What a sample stands for where that is no time: CPU cycles or events of a counter, by its table."""
    stack: IntArray
    """Place of the stack of each sample; -1 where it has none."""
    starts: IntArray
    """Shape (stacks + 1,): place of the first frame of each stack in `order`, and their number."""
    order: Int32Array
    """Frames of all stacks, one stack after the other, innermost first; places in `frames`."""
    frames: RecordArray
    """Distinct frames, as records of `FRAME`: shape (frames,)."""
    images: tuple[Image, ...]
    functions: tuple[Function, ...]
    files: tuple[str, ...]
    """Last parts of the paths of source files."""
    notes: tuple[str, ...] = ()
    """What could not be read and what it cost, one sentence each."""
    events: Caught = field(default_factory=none_caught)
    """Kernel events of the driver of the GPU in the target, beside samples that are taken by time."""


def no_samples() -> CallStacks:
    """Of a table without rows."""
    nothing, codes = np.zeros(0, np.int64), np.zeros(0, np.int32)
    columns = sample_columns({}, 0, weight_is_time=True)
    return CallStacks(nothing, *columns, nothing, np.zeros(1, np.int64), codes, np.zeros(0, FRAME), (), (), ())


def is_system_path(path: str) -> bool:
    """Whether an image at a path belongs to the system, not to the app."""
    return path.startswith(("/System/", "/usr/lib/", "/Library/Apple/"))


def owners(thread: Codes[CellValue]) -> Codes[CellValue]:
    """The processes of threads."""
    return thread.recoded(lambda value: value.process if isinstance(value, Thread) else None)


def sample_columns(
    cells: Mapping[str, Cells], rows: int, *, weight_is_time: bool
) -> tuple[Codes[CellValue], Codes[CellValue], Codes[CellValue], Numbers, Numbers]:
    """Thread, process, state and both weights of samples, as `CallStacks` has them, from the columns of a table by
    mnemonic. What the table lacks has no value anywhere."""

    def column_cells(mnemonic: str) -> Codes[CellValue]:
        column = cells.get(mnemonic)
        return column if isinstance(column, Codes) else constant(None, rows)

    weight, nothing = cells.get("weight"), no_numbers(rows)
    weight = weight if isinstance(weight, Numbers) else nothing
    thread = column_cells("thread")
    process = column_cells("process") if "process" in cells else owners(thread)
    weights = (weight, nothing) if weight_is_time else (nothing, weight)
    return thread, process, column_cells("thread-state"), *weights
