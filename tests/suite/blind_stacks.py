"""Call stacks for any labeled recording: what threads did follows from its rows, and is sampled like a real one.

A thread runs in Core ML where nothing else works for its call, waits without samples while the Neural Engine or the
GPU works, and runs in code of the app right before and after. What a recording was given as samples already stays, but
is sampled anew. Of the Neural Engine no stack was ever seen: its frames have no names here.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from support.scenarios import MAKE_READY, OPEN_MODEL
from tracekit.testing import Draws, Scenario, rows, stacks
from tracekit.testing.code import FIRST_NS, SAMPLE_NS
from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.rows import CoreMLRow, GpuRow, NeuralEngineRow
from tracekit.testing.stacks import Frame, SampleRow, Stack, app_function

ENGINE = Frame("/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/AppleNeuralEngine", "", "")
ASKS = {stacks.LOAD, stacks.COMPILE, *stacks.PREDICT, OPEN_MODEL}
"""Functions that lie in a call."""
MS = 1_000_000
BEGINS = 50
"""Part of a call in which it begins: measured in 17 predictions and two loads of public recordings."""
ASKING_NS, HANDOVER_NS = 400_000, 1_000_000
"""How long a thread takes to ask a unit for work; most time from work on a unit to the next, which waited for it."""
DRIFT = 700
"""Samples after which one falls a period later than on the clock by which cases are written."""
LOST_PERMILLE = 20
"""How many samples are missed one by one."""

Row = CoreMLRow | NeuralEngineRow | GpuRow
Part = tuple[int, int, tuple[Frame, ...]]
"""From when until when a thread runs, and in which frames of Core ML."""


@dataclass(frozen=True)
class TrueCall:
    """What the app asked of Core ML."""

    kind: str
    """`rows.LOAD`, `rows.COMPILE` or `rows.PREDICTION`."""
    row: CoreMLRow
    names: frozenset[str]
    """Of the model, and of the stages of a pipeline, also as labels of the hardware spell them."""
    thread: Thread
    places: frozenset[str]
    """Files and lines of the app that it comes from, as `main.swift:15`."""
    callers: tuple[Frame, ...]
    """What called Core ML, the innermost first."""


@dataclass(frozen=True)
class Span:
    """A time in which a thread runs in one stack, unless its next one begins before."""

    start_ns: int
    end_ns: int
    stack: Stack | None


@dataclass
class Threads:
    """What the threads of an app do, and how it is written."""

    scenario: Scenario
    draws: Draws
    spans: dict[Thread, list[Span]] = field(default_factory=lambda: defaultdict(list))
    done: list[list[tuple[int, int]]] = field(default_factory=list)
    """When the Neural Engine and the GPU were done with each row, and of which prediction it is."""
    free: dict[Thread, int] = field(default_factory=dict)
    """When each thread is in no call any more."""

    def __post_init__(self) -> None:
        chance = self.draws.chance
        self.stripped, self.hidden_operations, self.inlines = chance(250), chance(250), chance(400)
        self.one_place, self.busy, self.own_threads = chance(250), chance(500), chance(500)
        self.main = main_thread(self.scenario.target)
        units = (self.scenario.neural_engine, self.scenario.gpu)
        self.done = [
            sorted((row.end_ns, -1 if row.prediction is None else row.prediction) for row in of) for of in units
        ]
        self.models = list(dict.fromkeys(row.model.base for row in self.scenario.coreml))
        # A model that hangs cover half of the calls of is called by the main thread.
        hangs = [(row.start_ns, row.start_ns + row.duration_ns) for row in self.scenario.hangs]
        calls = [row for row in self.scenario.coreml if is_call(row)]
        hung = Counter(row.model.base for row in calls if any(a <= row.start_ns and row.end_ns <= b for a, b in hangs))
        count = Counter(row.model.base for row in calls)
        self.on_main = {name for name in hung if 2 * hung[name] > count[name]}

    def queued(self, row: NeuralEngineRow | GpuRow) -> bool:
        """Whether a unit did other work right before this."""
        done = self.done[isinstance(row, GpuRow)]
        first = bisect_left(done, (row.start_ns - HANDOVER_NS, -1))
        after = bisect_left(done, (row.start_ns + 1, -1))
        return any(each != row.prediction for _, each in done[first:after])

    def worker(self, number: int) -> Thread:
        return Thread(self.main.tid + number, self.scenario.target)

    def free_thread(self, row: CoreMLRow) -> Thread:
        """The main thread or the first worker that is in no call; with threads of their own, one of the model's."""
        if row.model.base in self.on_main and self.free.get(self.main, 0) <= row.start_ns:
            return self.main
        number = 20 + (100 * self.models.index(row.model.base) if self.own_threads else 0)
        while self.free.get(self.worker(number), 0) > row.start_ns:
            number += 1
        return self.worker(number)

    def stack(self, thread: Thread, *frames: Frame) -> Stack:
        """Frames of the app, and what the thread begins in."""
        main = (*stacks.INTERFACE, stacks.MAIN, stacks.START)
        called = (_without_name(frame) if self.stripped and frame.is_app else frame for frame in frames)
        return Stack((*called, *(main if thread == self.main else (stacks.WORKER,))))

    def calling(self, kind: str, model: str, thread: Thread) -> tuple[Frame, ...]:
        """The frames that a call is made from, innermost first: one place of the app for each model, or for all."""
        number = self.models.index(model)
        name, line = {rows.LOAD: ("loadModel", 14), rows.COMPILE: ("compileModel", 19)}.get(kind, ("infer", 88))
        frame = app_function(name, line + (0 if self.one_place else 20 * number), "Models.swift")
        inlined = (app_function(f"{name}Inlined", frame.line + 3, "Helpers.swift"),) if self.inlines else ()
        return self.stack(thread, *inlined, frame, app_function("run", 30 + number, "Pipeline.swift")).frames


def _without_name(frame: Frame) -> Frame:
    """The same place in an app without symbols."""
    return Frame("", "", "", line=frame.line + zlib.crc32(frame.name.encode()) % 1_000_000)


def with_stacks(scenario: Scenario, draws: Draws, period_ns: int) -> tuple[Scenario, Scenario, list[TrueCall]]:
    """The recording with a sample of each running thread every `period_ns`, the same with those of threads that wait,
    and all calls that it shows."""
    threads = Threads(scenario, draws)
    _add_recorded(threads)
    calls = _add_calls(threads)
    if not scenario.samples and draws.chance(300):
        for thread, length, every, frame in (
            (threads.main, 2 * MS, 100 * MS, stacks.DRAW),
            (threads.worker(5), 5 * MS, 40 * MS, app_function("readFrames", 71, "Camera.swift")),
        ):
            stack = threads.stack(thread, frame)
            others = [Span(at, at + length, stack) for at in range(0, scenario.duration_ns, every)]
            threads.spans[thread] = threads.spans[thread] or others
    times = _ticks(draws, scenario.duration_ns, period_ns)
    samples: list[SampleRow] = []
    waiting: list[SampleRow] = []
    for thread, spans in threads.spans.items():
        # Timers of different processors do not fire at once.
        own = times + draws.integer(0, period_ns // 8)
        if spans:
            within = sorted((call.row.start_ns, call.row.end_ns) for call in calls if call.thread == thread)
            ran, waited = _sampled(thread, spans, own[own < scenario.duration_ns], within, threads.stack(thread))
            samples, waiting = samples + ran, waiting + waited
    running = sorted(samples, key=lambda row: row.time_ns)
    every = sorted([*samples, *waiting], key=lambda row: row.time_ns)
    return (
        replace(scenario, samples=running, sample_ns=period_ns),
        replace(scenario, samples=every, sample_ns=period_ns),
        calls,
    )


def is_call(row: CoreMLRow) -> bool:
    """Whether the app itself asked for it."""
    known = row.label.startswith(rows.LOAD) or row.label in (rows.COMPILE, rows.PREDICTION)
    return known and row.lane == rows.ACTIVITY and row.prediction is None and row.model.parent is None


def asks(row: SampleRow) -> bool:
    return row.stack is not None and not ASKS.isdisjoint(row.stack.frames)


def _begins(call: CoreMLRow) -> int:
    """How long a call takes to begin: to open the model, or to bind inputs."""
    return max(20_000, call.duration_ns // BEGINS)


def _add_recorded(threads: Threads) -> None:
    """What the recording's own samples show: each stands for the time around it, those of a call within the call, where
    that does not wait for a compute unit."""
    inside = _rows_inside(threads.scenario)
    calls = [(index, row) for index, row in enumerate(threads.scenario.coreml) if is_call(row)]
    for row in threads.scenario.samples:
        start, end, waits = row.time_ns - FIRST_NS, row.time_ns - FIRST_NS + SAMPLE_NS, list[tuple[int, int]]()
        if asks(row):
            within = (each for each in calls if each[1].start_ns <= row.time_ns < each[1].end_ns)
            for index, call in islice(within, 1):
                begun, waits = call.start_ns + _begins(call), list(map(_waited, filter(_is_work, inside[index])))
                if start < begun and row.stack is not None:
                    first = OPEN_MODEL if call.label.startswith(rows.LOAD) else stacks.BIND
                    outer = row.stack.frames[next(n for n, each in enumerate(row.stack.frames) if each in ASKS) :]
                    threads.spans[row.thread].append(Span(call.start_ns, min(begun, end), Stack((first, *outer))))
                start, end = max(start, begun), min(end, call.end_ns)
        threads.spans[row.thread] += [Span(*runs, row.stack) for runs in _without(waits, start, end)]


def _is_work(row: Row) -> bool:
    return isinstance(row, NeuralEngineRow | GpuRow)


def _waited(work: NeuralEngineRow | GpuRow) -> tuple[int, int]:
    """While a compute unit works, a thread waits: for the GPU once that has its work."""
    handed = work.duration_ns // 8 if isinstance(work, GpuRow) else 0
    return work.start_ns + handed, work.start_ns + work.duration_ns


def _add_calls(threads: Threads) -> list[TrueCall]:
    """All calls, and what threads do for those that the recording's own samples do not show."""
    scenario, inside = threads.scenario, _rows_inside(threads.scenario)
    shown = sorted(filter(asks, scenario.samples), key=lambda row: row.time_ns)
    times = [row.time_ns for row in shown]
    calls: list[TrueCall] = []
    made: dict[Thread, list[CoreMLRow]] = defaultdict(list)
    numbered = [(index, row) for index, row in enumerate(scenario.coreml) if is_call(row)]
    for index, row in sorted(numbered, key=lambda each: each[1].start_ns):
        kind = rows.LOAD if row.label.startswith(rows.LOAD) else row.label
        first = bisect_left(times, row.start_ns)
        if first < len(shown) and times[first] < row.end_ns:
            thread, outer = shown[first].thread, shown[first].stack.frames
        else:
            thread = threads.free_thread(row)
            outer = threads.calling(kind, row.model.base, thread)
            threads.free[thread] = row.end_ns
            made[thread].append(row)
            parts = _prediction(threads, row, inside[index]) if kind == rows.PREDICTION else _load(row, scenario)
            threads.spans[thread] += [Span(start, end, Stack((*inner, *outer))) for start, end, inner in parts]
        bases = [row.model.base, *(each.model.base for each in inside[index] if isinstance(each, CoreMLRow))]
        names = frozenset([*bases, *(base.replace("-", "_") for base in bases)])
        places = frozenset(f"{frame.file}:{frame.line}" for frame in outer if frame.line)
        asked = [place for place, frame in enumerate(outer) if frame in ASKS]
        calls.append(TrueCall(kind, row, names, thread, places, outer[asked[-1] + 1 if asked else 0 :]))
    for thread, of_thread in made.items():
        threads.spans[thread] += _app_code(threads, thread, of_thread)
    return calls


def _rows_inside(scenario: Scenario) -> dict[int, list[Row]]:
    """All rows that belong to a prediction or to its stages, by the prediction's index."""
    inside: dict[int, list[Row]] = defaultdict(list)
    for row in (*scenario.coreml, *scenario.neural_engine, *scenario.gpu):
        owner = row.prediction
        # Stages lie in predictions; where rows were taken away, an index may be of anything.
        for _ in range(2):
            outer = scenario.coreml[owner].prediction if owner is not None and owner < len(scenario.coreml) else None
            owner = owner if outer is None else outer
        if owner is not None:
            inside[owner].append(row)
    return inside


def threads_of(scenario: Scenario, calls: Sequence[TrueCall]) -> dict[int, Thread]:
    """The thread of each prediction, those of stages too, by its index."""
    threads = {id(call.row): call.thread for call in calls}
    inside = _rows_inside(scenario)
    own = {index: threads[id(row)] for index, row in enumerate(scenario.coreml) if id(row) in threads}
    stages = {id(row): thread for index, thread in own.items() for row in inside[index]}
    return own | {index: stages[id(row)] for index, row in enumerate(scenario.coreml) if id(row) in stages}


def callers_of(scenario: Scenario, calls: Sequence[TrueCall]) -> dict[int, tuple[Frame, ...]]:
    """What called each prediction, by its index."""
    callers = {id(call.row): call.callers for call in calls}
    return {index: callers[id(row)] for index, row in enumerate(scenario.coreml) if id(row) in callers}


def _load(call: CoreMLRow, scenario: Scenario) -> Iterator[Part]:
    """A load compiles or reads the program, and waits for the Neural Engine to take it."""
    inner: tuple[Frame, ...] = (stacks.COMPILE,)
    if call.label != rows.COMPILE:
        cold = (stacks.COMPILE_ON_DEVICE,) if call.label == rows.LOAD_COLD else ()
        # Where the row does not tell a cold load from a cached one, stacks do not either.
        told = (MAKE_READY,) if call.label == rows.LOAD else (*cold, stacks.LOAD_PROGRAM)
        inner = (*told, stacks.LOAD)
    taken = [row for row in scenario.neural_engine if row.label in (rows.ENGINE_LOAD, rows.ENGINE_PREPARE)]
    waits = [(row.start_ns, row.start_ns + row.duration_ns) for row in taken]
    opened = call.start_ns
    if call.label != rows.COMPILE:
        opened += _begins(call)
        yield call.start_ns, opened, (OPEN_MODEL, stacks.LOAD)
    for start, end in _without(waits, opened, call.end_ns):
        yield start, end, inner


def _prediction(threads: Threads, call: CoreMLRow, inside: Iterable[Row]) -> Iterator[Part]:
    """A prediction binds its inputs and executes: it waits for the Neural Engine, and for the GPU once that has its
    work."""
    waits: list[tuple[int, int]] = []
    units: list[tuple[int, str]] = []
    computed = 0
    bound = call.start_ns + _begins(call)
    ready = call.start_ns
    for row in sorted(inside, key=lambda each: each.start_ns):
        end = row.start_ns + row.duration_ns
        if isinstance(row, NeuralEngineRow | GpuRow) and row.start_ns - ready > HANDOVER_NS and threads.queued(row):
            waits.append((ready + ASKING_NS, row.start_ns))
        ready = max(ready, end)
        if _is_work(row):
            waits.append(_waited(row))
            units.append((row.start_ns, "gpu" if isinstance(row, GpuRow) else "neural engine"))
        elif row.label in ("Neural Engine Request", "GPU Request"):
            # The unit may do other work first.
            waits.append((row.start_ns + row.duration_ns // 20, end))
        elif row.label == "CPU" and row.duration_ns >= 100_000:
            # Where its row holds all of the prediction, it binds inputs too.
            units.append((max(row.start_ns, bound), "cpu"))
            computed = max(computed, end)
    works = min((at for at, _ in units), default=call.end_ns)
    inputs = (row for row in inside if isinstance(row, CoreMLRow) and row.label in ("Input Copy", "Data Cast"))
    bound = min(max([bound, *(row.end_ns for row in inputs if row.end_ns <= works)]), works, call.end_ns)
    yield call.start_ns, bound, (stacks.BIND, *stacks.PREDICT)
    for start, end in _without(waits, bound, call.end_ns):
        unit = next((unit for at, unit in sorted(units, reverse=True) if at < end), "")
        operation = ENGINE if threads.hidden_operations else stacks.OPERATIONS.get(unit, ENGINE)
        # When the CPU is done, its operation is too.
        done = max(start, min(computed, end)) if unit == "cpu" else end
        yield start, done, (*((operation,) if unit else ()), stacks.EXECUTE, *stacks.PREDICT)
        yield done, end, (stacks.EXECUTE, *stacks.PREDICT)


def _without(waits: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is left of a time without others."""
    for first, last in sorted(waits):
        if start < min(first, end):
            yield start, min(first, end)
        start = max(start, last)
    if start < end:
        yield start, end


def _app_code(threads: Threads, thread: Thread, calls: Sequence[CoreMLRow]) -> Iterator[Span]:
    """Code of the app fills gaps of less than 1 ms; in a busy app it also runs around each call."""
    before, after = (threads.stack(thread, app_function(name, 51)) for name in ("makeInput", "useOutput"))
    begins = [0, *(row.end_ns for row in calls)]
    ends = [*(row.start_ns for row in calls), threads.scenario.duration_ns]
    for begin, end in zip(begins, ends, strict=True):
        half = (end - begin) // 2
        if threads.busy or end - begin < MS:
            yield Span(begin, begin + min(half, MS), after)
            yield Span(end - min(half, 2 * MS), end, before)


def _sampled(
    thread: Thread, spans: list[Span], times: np.ndarray, calls: Sequence[tuple[int, int]], idle: Stack
) -> tuple[list[SampleRow], list[SampleRow]]:
    """What samples at these times catch: of a thread that runs, and of one that waits, in what it did last in a call
    or, outside of the `calls`, `idle`."""
    spans = sorted((span for span in spans if span.start_ns < span.end_ns), key=lambda span: span.start_ns)
    starts = np.array([span.start_ns for span in spans])
    ends = np.minimum([span.end_ns for span in spans], np.append(starts[1:], 1 << 62))
    index = np.searchsorted(starts, times, "right") - 1
    caught = (index >= 0) & (times < ends[index])
    found = zip(times[caught].tolist(), index[caught].tolist(), strict=True)
    ran = [SampleRow(time, thread, spans[each].stack) for time, each in found]
    begins, after = (np.array(edges, np.int64) for edges in (zip(*calls, strict=True) if calls else ((), ())))
    rest, last = times[~caught], index[~caught]
    call = np.searchsorted(begins, rest, "right") - 1
    inside = (call >= 0) & (rest < np.append(after, 0)[call]) & (last >= 0)
    # Of one that waits in a call before it is seen to run there, the stack is not known.
    known = ~inside | (starts[last] >= np.append(begins, 0)[call])
    waits = zip(*(each[known].tolist() for each in (rest, last, inside)), strict=True)
    waited = [
        SampleRow(time, thread, spans[each].stack if in_call else idle, "Blocked") for time, each, in_call in waits
    ]
    return ran, waited


def _ticks(draws: Draws, duration_ns: int, period_ns: int) -> np.ndarray:
    """When samples are taken: a little late, some not at all, and in some recordings none for a while. Calls of many
    cases begin on whole ms, which those of apps do not: against these, the samples drift."""
    count = duration_ns // period_ns
    words = np.random.PCG64(draws.integer(0, 1 << 30)).random_raw(count)
    late = (words >> np.uint64(32)).astype(np.int64) % (period_ns // 10)
    kept = words % np.uint64(1_000) >= LOST_PERMILLE
    for _ in range(3 * draws.chance(300)):
        first = draws.integer(0, count)
        kept[first : first + draws.integer(5, 20)] = False
    drifting = np.arange(count) * period_ns * (DRIFT + 1) // DRIFT
    return (drifting + draws.integer(0, period_ns - 1) + late)[kept]
