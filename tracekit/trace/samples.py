"""What the threads of a run were doing: samples, and the call stacks that they caught.

Read when something asks for it, since most answers need none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Flags, Numbers, Texts, codes_of, column, constant, no_numbers, numbers_by_code, or_null
from tracekit.errors import UnreadableRecording
from tracekit.recording.call_stacks import CallStacks, Caught, no_samples
from tracekit.recording.contents import Recording
from tracekit.recording.table import Process, Thread
from tracekit.rows import Rows
from tracekit.trace.binding import as_texts, flags
from tracekit.trace.cache import Cache

TIMED = ("time-profile", "time-sample")
"""Tables of samples that are taken by time, the better one first: in the second a caller may be missing."""
COUNTED = {"cpu-profile": "CPU cycles", "counters-profile": "counter events"}
"""Tables of samples that are taken whenever a CPU has counted so many of these, which shows no time."""
SCHEMAS = (*TIMED, *COUNTED)
APP, SYSTEM = "app", "system"
SAMPLE_NS = 1_000_000
"""Time between two samples of a running thread, and what a sample stands for where its table does not state it:
Instruments takes one of each running thread every ms."""
_ENTRY = ("dyld", "start")
"""Image and function in which the stacks of main threads begin; those of others begin elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleRows(Rows):
    """Samples, in order of time."""

    time_ns: IntArray = column("when the sample was taken")
    thread: Texts = column("the thread, as Instruments shows it")
    tid: Numbers = column("id of the thread")
    main_thread: Flags = column("whether it is a main thread; null where that is not known")
    process: Texts = column("name of the process")
    pid: Numbers = column("id of the process")
    state: Texts = column("state of the thread")
    weight_ns: Numbers = column("time that the sample stands for; null where the table does not state it")
    weight_count: Numbers = column("the same in `Samples.unit`")
    stack: Numbers = column("its call stack, in `stacks`; null where none was caught")


@dataclass(frozen=True, slots=True, eq=False)
class StackRows(Rows):
    """Frames of each distinct stack, sorted by stack and depth: innermost first."""

    stack: IntArray = column("the call stack")
    depth: IntArray = column("0 is the innermost frame")
    image: Texts = column("binary")
    function: Texts = column("function")
    offset: Numbers = column("bytes from the begin of the image")
    file: Texts = column("source file; null where it is not known")
    line: Numbers = column("line; null where it is not known")
    owner: Texts = column("`app`, `system`, or null")
    inlined: BoolArray = column("whether the compiler put the function into the next one")
    overlay: BoolArray = column("whether it is the Swift face of Core ML in the app's own code")
    certain: BoolArray = column("whether the address is known to lie in the image")


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of a run and their stacks."""

    samples: SampleRows
    stacks: StackRows
    starts: IntArray
    """Shape (stacks + 1,): row of `stacks` at which each stack begins, and their number."""
    waiting: SampleRows = field(default_factory=SampleRows.none)
    """As `samples`, of threads that waited: only some recordings hold them."""
    driver: SampleRows = field(default_factory=SampleRows.none)
    """Instants at which threads of the target were in the driver of the GPU, without state and weight."""
    notes: tuple[str, ...] = ()
    """What could not be read and what it cost, one sentence each."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why the call stacks of a table could not be read, by schema."""
    unit: str | None = None
    """What samples are weighted by where they are not taken by time; a value of `COUNTED`."""
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    @property
    def period_ns(self) -> int:
        """From one sample of a running thread to the next: what most samples say that they stand for."""
        weight = self.samples.weight_ns.filled(SAMPLE_NS)
        return (int(np.median(weight)) if len(weight) else 0) or SAMPLE_NS

    @property
    def weights(self) -> IntArray | None:
        """Shape (samples,): what each sample stands for, in `unit`; None where it is time, or not stated for all."""
        weight = self.samples.weight_count
        return None if self.unit is None or not weight.known.all() else weight.values


class SampleSource:
    """Where the samples of a run come from. A copy in another process has none: files stay where they are."""

    __slots__ = ("_recording",)

    def __init__(self, recording: Recording | None = None) -> None:
        self._recording = recording

    def read(self, schemas: Iterable[str] = TIMED) -> Samples | None:
        """The samples of the first of these tables, with notes on what cannot be read; None for none. O(frames)."""
        recording = self._recording
        if recording is None:
            return None
        failures: dict[str, str] = {}
        for schema in schemas:
            try:
                tables = recording.call_stacks(schema)
            except UnreadableRecording as error:
                failures[schema] = str(error)
                continue
            if tables:
                # Several tables of one schema show the same samples, of one process or of all.
                largest = max(tables, key=lambda table: len(table.time_ns))
                return _read(largest, failures, COUNTED.get(schema))
        return _read(no_samples(), failures) if failures else None

    def __reduce__(self) -> tuple[type[SampleSource], tuple[()]]:
        return SampleSource, ()


def _read(table: CallStacks, failures: Mapping[str, str], unit: str | None = None) -> Samples:
    notes = tuple(f"call stacks of the table {schema}: {why}" for schema, why in failures.items())
    thread, process = table.thread, table.process
    tids = [each.tid if isinstance(each, Thread) else None for each in thread.values]
    owners = [each if isinstance(each, Process) else None for each in process.values]
    samples = SampleRows(
        time_ns=table.time_ns,
        thread=as_texts(thread),
        tid=numbers_by_code(thread.codes, tids),
        main_thread=_on_main_thread(table),
        process=codes_of(process.codes, [None if owner is None else owner.name for owner in owners]),
        pid=numbers_by_code(process.codes, [None if owner is None else owner.pid for owner in owners]),
        state=as_texts(table.state),
        weight_ns=table.weight_ns,
        weight_count=table.weight_count,
        stack=or_null(table.stack.astype(np.int64)),
    )
    # Whether the thread of each sample ran, as far as its table says.
    ran = ~flags(table.state.codes, [str(value).casefold() != "running" for value in table.state.values])
    for weight in (table.weight_ns, table.weight_count):
        ran &= ~weight.known | (weight.values > 0)
    return Samples(
        samples.where(ran),
        _stack_rows(table),
        table.starts,
        samples.where(~ran),
        _driver_rows(table.events, samples),
        (*notes, *table.notes),
        failures,
        unit,
    )


def _driver_rows(events: Caught, samples: SampleRows) -> SampleRows:
    # A table of events names no main thread; samples of the same thread do.
    tids = [each.tid if isinstance(each, Thread) else None for each in events.thread.values]
    owners = [each.process if isinstance(each, Thread) else None for each in events.thread.values]
    count, codes = len(events.time_ns), events.thread.codes
    tid, main = numbers_by_code(codes, tids), samples.main_thread
    on_main, told = (tid.known & np.isin(tid.filled(), samples.tid.filled()[of]) for of in (main.values, main.known))
    return SampleRows(
        time_ns=events.time_ns,
        thread=as_texts(events.thread),
        tid=tid,
        main_thread=Flags(on_main, told),
        process=codes_of(codes, [None if owner is None else owner.name for owner in owners]),
        pid=numbers_by_code(codes, [None if owner is None else owner.pid for owner in owners]),
        state=constant(None, count),
        weight_ns=no_numbers(count),
        weight_count=no_numbers(count),
        stack=or_null(events.stack),
    )


def _stack_rows(table: CallStacks) -> StackRows:
    """All frames of all stacks. Codes are taken from the distinct frames, so that no frame costs a step of Python."""
    from tracekit.recording.function_names import is_core_ml_overlay

    frames, order = table.frames, table.order.astype(np.intp)
    image, function = frames["image"], frames["function"]
    lengths = np.diff(table.starts)
    stack = np.repeat(np.arange(len(lengths)), lengths)
    systems = [None if each.is_system is None else SYSTEM if each.is_system else APP for each in table.images]
    overlay = flags(function, [is_core_ml_overlay(each.symbol) for each in table.functions])
    owner = codes_of(image, systems, (APP, SYSTEM))
    return StackRows(
        stack=stack,
        depth=np.arange(len(order)) - table.starts[stack],
        image=codes_of(image, [each.name for each in table.images]).take(order),
        function=codes_of(function, [each.name for each in table.functions]).take(order),
        offset=or_null(frames["offset"].astype(np.int64)).take(order),
        file=codes_of(frames["file"], table.files).take(order),
        line=or_null(np.where(frames["line"] > 0, frames["line"], -1).astype(np.int64)).take(order),
        owner=owner.take(order),
        inlined=frames["inlined"][order],
        overlay=(overlay & owner.is_any(APP))[order],
        certain=frames["certain"][order],
    )


def _on_main_thread(table: CallStacks) -> Flags:
    """Whether each sample is of the main thread of its process: null where no thread of the process is known to be."""
    # Whether the outermost frame of each stack is the one in which main threads begin.
    images = [image.name for image in table.images]
    function = [each.image >= 0 and (images[each.image], each.name) == _ENTRY for each in table.functions]
    filled = np.diff(table.starts) > 0
    entry = np.zeros(len(filled), np.bool_)
    entry[filled] = flags(table.frames["function"], function)[table.order[table.starts[1:][filled] - 1]]
    on_main = np.zeros(len(table.thread.values) + 1, np.bool_)
    caught = table.stack >= 0
    on_main[table.thread.codes[caught][entry[table.stack[caught]]]] = True
    on_main[-1] = False
    named = [isinstance(value, Thread) and value.text.startswith("Main Thread") for value in table.thread.values]
    main = (on_main | np.array([*named, False], np.bool_))[table.thread.codes]
    process = table.process.codes
    known = np.zeros(len(table.process.values) + 1, np.bool_)
    known[process[main]] = True
    return Flags(main, known[process])
