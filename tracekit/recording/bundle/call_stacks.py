"""Call stacks of the samples of a table, with the names of their functions.

backtrace   chunks (process reference << 32 | reference of an array of addresses), the leaf's chunk first. The leaf is
            the instruction that ran, plus one; the others are where calls return to
kperf-bt    reference of an array of return addresses, the instruction that ran, process reference
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from tracekit.arrays import IntArray, UInt64Array, UnsignedArray
from tracekit.columns import Codes
from tracekit.recording.bundle import DamageError, symbolication
from tracekit.recording.bundle.arrays import LOW, SharedArrays
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.images import Images, read_images, read_saved_images, with_saved_images
from tracekit.recording.bundle.rows import cells_of, ordered_fields, valid_numbers
from tracekit.recording.bundle.stores import TIME, Store, StoredColumn
from tracekit.recording.bundle.values import RunValues
from tracekit.recording.call_stacks import CallStacks, Caught, none_caught, sample_columns
from tracekit.recording.table import Cells, CellValue, number_codes

_ADDRESS_BITS: Final = np.uint64((1 << 47) - 1)
"""What lies above is the authentication of a pointer."""
_USER: Final = "cp-user-callstack"
"""The column of stacks where a table has one for the kernel too."""


_RawFrames = tuple[IntArray, IntArray, IntArray]
"""Stack, reference of the process, and address of frames: of instructions and calls, not of what follows them."""


class _Stacks(NamedTuple):
    """Distinct stacks of the rows of a table."""

    place: IntArray
    """Shape (rows,): the stack of each; -1 for none."""
    time_ns: IntArray
    """Shape (stacks,): a time at which each was caught."""
    frames: _RawFrames


_NOTHING: Final = np.zeros(0, np.int64)
_NO_STACKS: Final = _Stacks(_NOTHING, _NOTHING, (_NOTHING, _NOTHING, _NOTHING))


class StackReader:
    """Call stacks of the tables of a run. The images are read once, each symbol archive when it is first needed."""

    def __init__(self, files: BundleFiles, stores: Sequence[Store], values: RunValues, run: int) -> None:
        self._files = files
        self._run = run
        self._stores = stores
        self._values = values
        self._symbols = symbolication.Symbols(files)
        self._unread: tuple[str, ...] = ()

    def read(self, store: Store, events: Store | None = None, pid: int | None = None) -> CallStacks:
        """Samples of a table, and the stacks of kernel `events` in the process of this id. Raises `DamageError` where
        the table, or what its stacks need, cannot be read."""
        column = stack_column(store)
        if column is None:
            raise DamageError("it has no call stacks")
        images = self._all_images
        time, cells, numbers = self._rows(store, column)
        distinct_stacks = self._distinct(column, time, numbers)
        caught, others = none_caught(), _NO_STACKS
        if events is not None and events.rows and not events.damage and pid is not None:
            # Samples say a lot without them.
            with contextlib.suppress(DamageError):
                caught, others = self._events(events, pid)
        caught = replace(caught, stack=np.where(caught.stack < 0, -1, caught.stack + len(distinct_stacks.time_ns)))
        stack, process, address = (
            np.concatenate([one, other])
            for one, other in zip(
                distinct_stacks.frames,
                (others.frames[0] + len(distinct_stacks.time_ns), *others.frames[1:]),
                strict=True,
            )
        )
        caught_ns = np.append(distinct_stacks.time_ns, others.time_ns)
        epoch = np.searchsorted(images.unmaps_ns, caught_ns, "right")
        # Distinct addresses by process and part of the run, and which of them each frame has. Most runs have one
        # process in one part, and numbers are slow to sort.
        key = address
        for other in (process, epoch[stack]):
            if len(other) and (other != other[0]).any():
                keys, code = np.unique(key, return_inverse=True)
                key = code + len(keys) * np.unique(other, return_inverse=True)[1]
        _, firsts, index = np.unique(key, return_index=True, return_inverse=True)
        addresses = symbolication.Addresses(process[firsts], caught_ns[stack][firsts], address[firsts])
        named = symbolication.symbolicate(addresses, images, self._symbols)
        # Frames of each stack, with what was inlined.
        sizes = np.diff(named.starts)[index]
        ends = np.cumsum(sizes)
        order = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(named.starts[index] - ends + sizes, sizes)
        is_time = any(stored.column.mnemonic == "weight" and stored.type.is_time for stored in store.columns)
        return CallStacks(
            time,
            *sample_columns(cells, len(time), weight_is_time=is_time),
            stack=distinct_stacks.place,
            starts=np.searchsorted(np.repeat(stack, sizes), np.arange(len(caught_ns) + 1)),
            order=order.astype(np.int32),
            frames=named.frames,
            images=named.images,
            functions=named.functions,
            files=named.files,
            notes=self._notes(images, all_found=bool((named.frames["image"] >= 0).all())),
            events=caught,
        )

    def _distinct(self, column: StoredColumn, time: IntArray, numbers: UnsignedArray) -> _Stacks:
        """The stacks of rows, by their times and the numbers in their cells. One that is seen before and after an image
        went is two: its addresses may be those of two images."""
        references, codes = number_codes(numbers, valid_numbers(column.type, numbers))
        width = max(len(references), 1)
        pairs = np.where(codes < 0, -1, codes + np.searchsorted(self._all_images.unmaps_ns, time, "right") * width)
        distinct, first = np.unique(pairs, return_index=True)
        distinct, first = distinct[distinct >= 0], first[distinct >= 0]
        frames = _raw_frames(references[distinct % width].astype(np.int64), column.type.mnemonic, self._values.arrays)
        return _Stacks(np.where(pairs < 0, -1, np.searchsorted(distinct, pairs)), time[first], frames)

    def _events(self, store: Store, pid: int) -> tuple[Caught, _Stacks]:
        """Rows of threads of a process, and their stacks. Raises `DamageError`."""
        column, arrays = stack_column(store), self._values.arrays
        if column is None:
            raise DamageError("it has no call stacks")
        field = next(stored.field for stored in store.columns if stored.column.mnemonic == "thread")
        rows = ordered_fields(self._files, store, [column.field, field])
        threads, codes = number_codes(rows[field], rows[field] != LOW)
        owners = arrays.prefixes(threads.astype(np.int64), 2)[:, 1].astype(np.int64)
        own = np.append(arrays.prefixes(owners, 2)[:, 0] == pid, False)
        kept = np.flatnonzero(own[codes])
        time = rows[TIME][kept].astype(np.int64)
        names: list[CellValue] = [*self._values.threads(threads[own[:-1]].astype(np.int64))]
        stacks = self._distinct(column, time, rows[column.field][kept])
        return Caught(
            time, Codes((np.cumsum(own) - 1)[codes[kept]].astype(np.int32), tuple(names)), stacks.place
        ), stacks

    @cached_property
    def _all_images(self) -> Images:
        images = read_images(self._files, self._stores, self._values)
        try:
            saved = read_saved_images(self._files, self._run)
            if not saved:
                return images
            # A process that no table mentions has no stacks.
            references = list(self._values.names.processes)
            processes = self._values.processes(np.array(references, np.int64))
            by_reference = {
                reference: saved[process.pid]
                for reference, process in zip(references, processes, strict=True)
                if process.pid is not None and process.pid in saved
            }
            return with_saved_images(images, by_reference)
        except DamageError as damage:
            self._unread = (f"libraries that were loaded before the recording began are not known: {damage}",)
            return images

    def _rows(self, store: Store, column: StoredColumn) -> tuple[IntArray, Mapping[str, Cells], UnsignedArray]:
        """Time and cells of rows in order of time, and the numbers that stand for their stacks."""
        columns = [
            stored
            for stored in store.columns
            if stored.column.mnemonic in ("thread", "process", "thread-state", "weight")
        ]
        rows = ordered_fields(self._files, store, [column.field, *(stored.field for stored in columns)])
        self._values.budget.begin(f"call stacks of {store.path}")
        cells = {stored.column.mnemonic: cells_of(stored, rows[stored.field], self._values) for stored in columns}
        return rows[TIME].astype(np.int64), cells, rows[column.field]

    def _notes(self, images: Images, *, all_found: bool) -> tuple[str, ...]:
        """What the names of functions lack, one sentence each."""
        if not len(images):
            why = "call stacks have no names, since the recording does not show which libraries were loaded"
            return (why, *self._unread)
        if not self._symbols.identities():
            return ("call stacks name libraries and no functions, since the bundle holds no symbols", *self._unread)
        unplaced = () if all_found else symbolication.unplaced_note(self._symbols, images)
        names = {images.uuids[index]: images.name(index) for index in range(len(images))}
        return (*self._unread, *unplaced, *symbolication.notes_on(self._symbols, names))


def stack_column(store: Store) -> StoredColumn | None:
    """The column of a table that holds call stacks of programs; None where it has none."""
    columns = [column for column in store.columns if column.type.mnemonic in ("backtrace", "kperf-bt")]
    return next((column for column in columns if column.column.mnemonic == _USER), columns[0] if columns else None)


def _raw_frames(references: IntArray, kind: str, arrays: SharedArrays) -> _RawFrames:
    """Frames of stacks, innermost first. Raises `DamageError`."""
    if kind == "backtrace":
        chunks, lengths = arrays.flat(references)
        owner = np.repeat(np.arange(len(references)), lengths)
        process, lists = (chunks >> np.uint64(32)).astype(np.int64), (chunks & LOW).astype(np.int64)
        addresses, counts = arrays.flat(lists)
        return _frames_at(
            np.repeat(owner, counts), np.repeat(process, counts), addresses, np.ones(len(addresses), np.int64)
        )
    parts = arrays.prefixes(references, 3)
    callers, counts = arrays.flat(parts[:, 0].astype(np.int64))
    # The instruction that ran stands before its callers.
    before = np.cumsum(counts) - counts
    addresses = np.insert(callers, before, parts[:, 1])
    behind = np.insert(np.ones(len(callers), np.int64), before, 0)
    owner = np.repeat(np.arange(len(references)), counts + 1)
    return _frames_at(owner, parts[:, 2].astype(np.int64)[owner], addresses, behind)


def _frames_at(stack: IntArray, process: IntArray, addresses: UInt64Array, behind: IntArray) -> _RawFrames:
    """Frames at looked up addresses, those so many bytes behind them moved. No code lies at 0, which fills arrays."""
    plain = (addresses & _ADDRESS_BITS).astype(np.int64)
    kept = plain != 0
    return stack[kept], process[kept], (plain - behind)[kept]
