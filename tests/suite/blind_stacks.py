"""Call stacks for any labeled recording: what threads did follows from its rows, and is sampled like a real one.

A thread runs in Core ML where nothing else works for its call, waits without samples while the Neural Engine or the
GPU works, and runs in code of the app right before and after. What a recording was given as samples already stays, but
is sampled anew. Of the Neural Engine no stack was ever seen: its frames have no names here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tracekit.testing import Draws, Scenario, stacks
from tracekit.testing.code import FIRST_NS, SAMPLE_NS
from tracekit.testing.machines import Thread
from tracekit.testing.rows import (
    ACTIVITY,
    COMPILE,
    ENGINE_LOAD,
    ENGINE_PREPARE,
    LOAD,
    LOAD_COLD,
    PREDICTION,
    CoreMLRow,
    GpuRow,
    NeuralEngineRow,
)
from tracekit.testing.stacks import Frame, SampleRow, Stack, app_function
from tracekit.testing.tables import main_thread

HIDDEN_ENGINE = Frame("/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/AppleNeuralEngine", "", "")
HIDDEN_APP = Frame("", "", "")
ASKS = {stacks.LOAD, stacks.COMPILE, *stacks.PREDICT, stacks.OPEN_MODEL}
"""Functions that lie in a call."""
MS = 1_000_000
Row = CoreMLRow | NeuralEngineRow | GpuRow
LOST_PERMILLE = 20
"""How many samples are missed one by one."""


@dataclass(frozen=True)
class TrueCall:
    """What the app asked of Core ML."""

    kind: str
    """`LOAD`, `COMPILE` or `PREDICTION`."""
    row: CoreMLRow
    names: frozenset[str]
    """Of the model, and of the stages of a pipeline, which labels of the hardware name."""
    thread: Thread
    places: frozenset[str]
    """Files and lines of the app that it comes from, as `main.swift:15`."""


@dataclass(frozen=True)
class Span:
    """A time in which a thread runs in one stack."""

    start_ns: int
    end_ns: int
    stack: Stack | None


@dataclass
class Threads:
    """What the threads of an app do, and how it is written."""

    scenario: Scenario
    draws: Draws
    spans: dict[Thread, list[Span]] = field(default_factory=lambda: defaultdict(list))
    calls: list[TrueCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        chance = self.draws.chance
        self.stripped, self.hidden_operations, self.inlines = chance(250), chance(250), chance(400)
        self.one_load_site, self.one_prediction_site = chance(250), chance(250)
        self.busy, self.own_threads = chance(500), chance(500)
        self.models = list(dict.fromkeys(row.model.base for row in self.scenario.coreml))
        # A model that hangs cover half of the calls of is called by the main thread.
        hangs = [(row.start_ns, row.start_ns + row.duration_ns) for row in self.scenario.hangs]
        calls = [row for row in self.scenario.coreml if is_call(row)]
        hung = Counter(row.model.base for row in calls if any(a <= row.start_ns and row.end_ns <= b for a, b in hangs))
        count = Counter(row.model.base for row in calls)
        self.on_main = {name for name in hung if 2 * hung[name] > count[name]}

    def outer(self, kind: str, model: str, thread: Thread) -> tuple[Frame, ...]:
        """The frames that a call is made from, innermost first: one place of the app for each model, or for all."""
        number = self.models.index(model)
        if kind == PREDICTION:
            name, line, alone = "infer", 88, self.one_prediction_site
        else:
            name, line, alone = "prepareModel", 14 if kind == LOAD else 19, self.one_load_site
        called = app_function(name, line + (0 if alone else 20 * number), "Models.swift")
        callers = [called, app_function("run", 30 + number, "Pipeline.swift")]
        if self.inlines:
            callers.insert(0, app_function(f"{name}Inlined", called.line + 3, "Helpers.swift"))
        if self.stripped:
            callers = [HIDDEN_APP] * len(callers)
        return (*callers, *_root(thread, self.scenario))

    def app_code(self, thread: Thread, name: str) -> Stack:
        """The thread works in the app itself."""
        frame = HIDDEN_APP if self.stripped else app_function(name, 51, "Pipeline.swift")
        return Stack((frame, *_root(thread, self.scenario)))


def with_stacks(scenario: Scenario, draws: Draws, period_ns: int) -> tuple[Scenario, list[TrueCall]]:
    """The recording with a sample of each running thread every `period_ns`, and all calls that it shows."""
    threads = Threads(scenario, draws)
    _add_recorded(threads)
    _add_calls(threads)
    if not scenario.samples:
        _add_others(threads)
    times = _ticks(draws, scenario.duration_ns, period_ns)
    samples: list[SampleRow] = []
    for thread, spans in threads.spans.items():
        # Timers of different processors do not fire at once.
        own = times + draws.integer(0, period_ns // 8)
        samples += _sampled(thread, spans, own[own < scenario.duration_ns])
    samples.sort(key=lambda row: row.time_ns)
    return replace(scenario, samples=samples, sample_ns=period_ns), threads.calls


def is_call(row: CoreMLRow) -> bool:
    known = row.label.startswith(LOAD) or row.label in (COMPILE, PREDICTION)
    return known and row.lane == ACTIVITY and row.prediction is None and row.model.parent is None


def _root(thread: Thread, scenario: Scenario) -> tuple[Frame, ...]:
    if thread == main_thread(scenario.target):
        return (*stacks.INTERFACE, stacks.MAIN, stacks.START)
    return (stacks.WORKER,)


def _add_recorded(threads: Threads) -> None:
    """What the recording's own samples show: each stands for the time around it."""
    rows: dict[Thread, list[SampleRow]] = defaultdict(list)
    for row in sorted(threads.scenario.samples, key=lambda row: row.time_ns):
        rows[row.thread].append(row)
    calls = [row for row in threads.scenario.coreml if is_call(row)]
    for thread, own in rows.items():
        for row in own:
            start, end = row.time_ns - FIRST_NS, row.time_ns - FIRST_NS + SAMPLE_NS
            if _asks(row.stack):
                # The last sample of a call reaches no farther than the call.
                call = next((each for each in calls if each.start_ns <= row.time_ns < each.end_ns), None)
                start, end = (start, end) if call is None else (max(start, call.start_ns), min(end, call.end_ns))
            threads.spans[thread].append(Span(start, end, row.stack))


def _add_calls(threads: Threads) -> None:
    """What threads do for each call, where the recording's own samples do not show it."""
    scenario = threads.scenario
    inside = _rows_inside(scenario)
    shown = sorted((row for row in scenario.samples if _asks(row.stack)), key=lambda row: row.time_ns)
    times = [row.time_ns for row in shown]
    free: dict[Thread, int] = {}
    made: dict[Thread, list[TrueCall]] = defaultdict(list)
    numbered = [(index, row) for index, row in enumerate(scenario.coreml) if is_call(row)]
    for index, row in sorted(numbered, key=lambda each: each[1].start_ns):
        kind = LOAD if row.label.startswith(LOAD) else row.label
        names = frozenset({row.model.base, *(each.model.base for each in inside[index] if isinstance(each, CoreMLRow))})
        first = bisect_left(times, row.start_ns)
        is_shown = first < len(shown) and times[first] < row.end_ns
        if is_shown := first < len(shown) and times[first] < row.end_ns:
            thread, outer = shown[first].thread, shown[first].stack.frames
        else:
            thread = _free_thread(threads, row, free)
            outer = threads.outer(kind, row.model.base, thread)
        places = frozenset(f"{frame.file}:{frame.line}" for frame in outer if frame.line)
        call = TrueCall(kind, row, names, thread, places)
        threads.calls.append(call)
        if is_shown:
            continue
        free[thread] = row.end_ns
        made[thread].append(call)
        parts = _prediction(threads, call, inside[index]) if kind == PREDICTION else _load(call, scenario)
        threads.spans[thread] += [Span(start, end, Stack((*inner, *outer))) for start, end, inner in parts]
    for thread, calls in made.items():
        _add_app_code(threads, thread, calls)


def _asks(stack: Stack | None) -> bool:
    return stack is not None and not ASKS.isdisjoint(stack.frames)


def _rows_inside(scenario: Scenario) -> dict[int, list[Row]]:
    """All rows that belong to a prediction or to its stages, by the prediction's index."""
    inside: dict[int, list[Row]] = defaultdict(list)
    for row in (*scenario.coreml, *scenario.neural_engine, *scenario.gpu):
        owner = row.prediction
        while owner is not None and (outer := scenario.coreml[owner].prediction) is not None:
            owner = outer
        if owner is not None:
            inside[owner].append(row)
    return inside


def _free_thread(threads: Threads, row: CoreMLRow, free: dict[Thread, int]) -> Thread:
    """The main thread or the first worker that is in no call; with threads of their own, one of the model's."""
    process, model = threads.scenario.target, row.model.base
    main = main_thread(process)
    if model in threads.on_main and free.get(main, 0) <= row.start_ns:
        return main
    number = 20 + (100 * threads.models.index(model) if threads.own_threads else 0)
    while free.get(Thread(main.tid + number, process), 0) > row.start_ns:
        number += 1
    return Thread(main.tid + number, process)


Part = tuple[int, int, tuple[Frame, ...]]
"""From when until when a thread runs, and in which frames of Core ML."""


def _load(call: TrueCall, scenario: Scenario) -> Iterator[Part]:
    """A load compiles or reads the program, and waits for the Neural Engine to take it."""
    waits = [
        (row.start_ns, row.start_ns + row.duration_ns)
        for row in scenario.neural_engine
        if row.label in (ENGINE_LOAD, ENGINE_PREPARE) and call.row.start_ns <= row.start_ns < call.row.end_ns
    ]
    inner: tuple[Frame, ...] = (stacks.COMPILE,)
    if call.kind == LOAD:
        cold = (stacks.COMPILE_ON_DEVICE,) if call.row.label == LOAD_COLD else ()
        inner = (*cold, stacks.LOAD_PROGRAM, stacks.LOAD)
    for start, end in _without(waits, call.row.start_ns, call.row.end_ns):
        yield start, end, inner


def _prediction(threads: Threads, call: TrueCall, inside: Sequence[Row]) -> Iterator[Part]:
    """A prediction binds its inputs and executes: it waits for the Neural Engine, and for the GPU once that has its
    work."""
    waits, works = [], []
    bound = call.row.start_ns + 20_000
    for row in inside:
        end = row.start_ns + row.duration_ns
        if isinstance(row, NeuralEngineRow):
            waits.append((row.start_ns, end))
        elif isinstance(row, GpuRow):
            waits.append((row.start_ns + row.duration_ns // 8, end))
            works.append((row.start_ns, "gpu"))
        elif row.label == "CPU" and row.duration_ns >= 100_000:
            works.append((row.start_ns, "cpu"))
        elif row.label in ("Input Copy", "Data Cast") and not works + waits:
            bound = max(bound, end)
    bound = min(bound, call.row.end_ns)
    yield call.row.start_ns, bound, (stacks.BIND, *stacks.PREDICT)
    units = sorted(works + [(start, "neural engine") for start, _ in waits])
    for start, end in _without(waits, bound, call.row.end_ns):
        unit = next((unit for at, unit in reversed(units) if at < end), "")
        frame = HIDDEN_ENGINE if threads.hidden_operations else stacks.OPERATIONS.get(unit, HIDDEN_ENGINE)
        yield start, end, ((frame,) if unit else ()) + (stacks.EXECUTE, *stacks.PREDICT)


def _without(waits: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is left of a time without others."""
    for first, last in sorted(waits):
        if start < first:
            yield start, min(first, end)
        start = max(start, last)
    if start < end:
        yield start, end


def _add_app_code(threads: Threads, thread: Thread, calls: Sequence[TrueCall]) -> None:
    """Code of the app fills gaps of less than 1 ms; in a busy app it also runs around each call."""
    spans, duration = threads.spans[thread], threads.scenario.duration_ns
    before, after = threads.app_code(thread, "makeInput"), threads.app_code(thread, "useOutput")
    ends = [0, *(call.row.end_ns for call in calls)]
    starts = [*(call.row.start_ns for call in calls), duration]
    for begin, end in zip(ends, starts, strict=True):
        if end - begin < MS:
            spans.append(Span(begin, end, after))
        elif threads.busy:
            spans += [Span(begin, begin + min((end - begin) // 2, MS), after)] if begin else []
            spans += [Span(end - min((end - begin) // 2, 2 * MS), end, before)] if end < duration else []


def _add_others(threads: Threads) -> None:
    """The main thread draws, and a worker does other work of the app."""
    process, duration = threads.scenario.target, threads.scenario.duration_ns
    main = main_thread(process)
    if threads.draws.chance(300) and main not in threads.spans:
        draw = Stack((stacks.DRAW, *_root(main, threads.scenario)))
        threads.spans[main] = [Span(at, at + 2 * MS, draw) for at in range(0, duration, 100 * MS)]
    if threads.draws.chance(300):
        other = Thread(main.tid + 5, process)
        code = threads.app_code(other, "readFrames")
        threads.spans[other] = [Span(at, at + 5 * MS, code) for at in range(0, duration, 40 * MS)]


def _sampled(thread: Thread, spans: list[Span], times: np.ndarray) -> list[SampleRow]:
    """What samples at these times catch. A span ends where the next one of its thread begins."""
    if not spans:
        return []
    spans = sorted(spans, key=lambda span: span.start_ns)
    starts = np.array([span.start_ns for span in spans])
    ends = np.minimum([span.end_ns for span in spans], np.append(starts[1:], 1 << 62))
    index = np.searchsorted(starts, times, "right") - 1
    caught = (index >= 0) & (times < ends[index])
    return [
        SampleRow(int(time), thread, spans[each].stack) for time, each in zip(times[caught], index[caught], strict=True)
    ]


def _ticks(draws: Draws, duration_ns: int, period_ns: int) -> np.ndarray:
    """When samples are taken: a little early or late, some not at all, and in some recordings none for a while."""
    count = duration_ns // period_ns
    words = np.random.PCG64(draws.integer(0, 1 << 30)).random_raw(max(count, 1))[:count]
    early_or_late = (words >> np.uint64(32)).astype(np.int64) % (period_ns // 10)
    times = np.arange(count) * period_ns + draws.integer(0, period_ns - 1) + early_or_late
    kept = words % np.uint64(1_000) >= LOST_PERMILLE
    if draws.chance(300) and count:
        for _ in range(3):
            first = draws.integer(0, count - 1)
            kept[first : first + draws.integer(5, 20)] = False
    return times[kept & (times < duration_ns)]
