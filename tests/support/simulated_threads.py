"""Threads whose calls of Core ML are known to the ns, as a sampling profiler and the hardware tables see them.

A thread runs, waits and calls; `Simulated.samples` are what a profiler that looks at all running threads at once, every
`period_ns`, catches of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from support.call_stacks import START, WQ, Call, Sample, app, core_ml, source
from tracekit.columns import all_known, coded, constant
from tracekit.recording.table import Process, Thread
from tracekit.trace.calls.infer import Inferred, infer_calls
from tracekit.trace.calls.sites import Sites
from tracekit.trace.calls.stacks import Api
from tracekit.trace.events import (
    ATTRIBUTIONS,
    DEVICES,
    KINDS,
    LANES,
    Attribution,
    Device,
    Events,
    Kind,
    Lane,
    bare_events,
)
from tracekit.trace.instruments.instrument import CommandBuffers

MS = 1_000_000
APP = Process("App", 7)
LOAD = core_ml("+[MLModel modelWithContentsOfURL:configuration:error:]")
OPEN = core_ml("-[MLModelAsset initWithURL:configuration:error:]")
PROGRAM = core_ml(
    "-[MLE5ProgramLibraryOnDeviceAOTCompilationImpl createProgramLibraryHandleWithRespecialization:error:]"
)
READY = core_ml("-[MLE5Engine prepareWithConcurrencyHint:error:]")
PREDICT = core_ml("-[MLModel predictionFromFeatures:error:]")
DELEGATE = core_ml("-[MLDelegateModel predictionFromFeatures:options:error:]")
PIPELINE = core_ml("-[MLPipeline predictionFromFeatures:options:error:]")
BIND = core_ml("-[MLE5ExecutionStream _prepareForInputFeatures:options:error:]")
EXECUTE = core_ml("-[MLE5ExecutionStream _executeStream:error:]")
UNNAMED = Call("Espresso", None, 0x4242)
CPU = Call("Espresso", "E5RT::Ops::BnnsCpuInferenceOperation::ExecuteSync")
IDLE = Call("CoreFoundation", "CFRunLoopRun")


@dataclass
class Truth:
    """A call as it was."""

    api: Api
    line: int
    start_ns: int
    end_ns: int
    model: str
    tid: int


@dataclass
class Simulated:
    """A recording in the making."""

    seed: int
    period_ns: int = MS
    missed: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    calls: list[Truth] = field(default_factory=list)
    engine: list[tuple[int, int, str]] = field(default_factory=list)
    end_ns: int = 0
    watched: bool = True
    """Whether the Neural Engine was recorded."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.offset = int(self.random.integers(self.period_ns))

    def thread(self, number: int = 0) -> Worker:
        """A thread of the app; 0 is the main one."""
        text = "Main Thread (0x9) (App, pid: 7)" if not number else f"0x{number + 9:x} (App, pid: 7)"
        return Worker(self, Thread(text, 9 + number, APP))

    def inferred(self) -> Inferred:
        """What is inferred from samples and hardware."""
        hardware, buffers = hardware_of(self.engine)
        ordered = sorted(self.samples, key=lambda sample: sample[0])
        sampled = source(*ordered, unit_ns=1, weight_ns=self.period_ns).read()
        return infer_calls(hardware, buffers, sampled, self.end_ns, watched=self.watched)


@dataclass
class Worker:
    """A thread, at `now_ns`."""

    to: Simulated
    thread: Thread
    now_ns: int = 3 * MS

    def around(self, ns: float) -> int:
        """About so long."""
        return max(int(ns * self.to.random.normal(1, 0.06)), 1_000)

    def waits(self, ns: float) -> None:
        """Nothing runs."""
        self.now_ns += int(ns)
        self.to.end_ns = max(self.to.end_ns, self.now_ns)

    def runs(self, ns: float, *frames: Call) -> None:
        """The thread is in these functions, innermost first."""
        to, begin = self.to, self.now_ns
        self.waits(ns)
        root = (START,) if self.thread.tid == 9 else (WQ,)
        first = begin + (to.offset - begin) % to.period_ns
        for time in range(first, self.now_ns, to.period_ns):
            if to.random.random() >= to.missed:
                to.samples.append((time, self.thread, [*frames, *root]))

    def works(self, ns: float, line: int = 5) -> None:
        """The app's own code."""
        self.runs(ns, app("App.work", line))

    def predicts(
        self,
        line: int,
        model: str = "",
        *,
        bind_ms: float = 0.2,
        cpu_ms: float = 0.0,
        engine_ms: float = 0.0,
        tail_ms: float = 0.3,
        stages: Sequence[str] = (),
        nested: bool = True,
        hidden: bool = False,
    ) -> None:
        """A prediction: binds, computes on the CPU, waits for the Neural Engine, and handles outputs; each stage of a
        pipeline does so."""
        caller, begin = app("App.predict", line), self.now_ns
        outer = [PIPELINE, DELEGATE, PREDICT, caller] if stages and nested else [DELEGATE, PREDICT, caller]
        for stage in stages or (model,):
            inner = [DELEGATE, *outer] if stages and nested else outer
            self.runs(self.around(bind_ms * MS), BIND, *inner)
            if cpu_ms:
                below = [UNNAMED] if hidden else [CPU, EXECUTE]
                self.runs(self.around(cpu_ms * MS), *below, *inner)
            if engine_ms:
                self.waits(30_000)
                start = self.now_ns
                self.waits(self.around(engine_ms * MS))
                self.to.engine.append((start, self.now_ns, stage))
                self.waits(30_000)
            self.runs(self.around(tail_ms * MS), EXECUTE, *inner)
        self.to.calls.append(Truth(Api.PREDICTION, line, begin, self.now_ns, model, self.thread.tid))

    def loads(self, line: int, model: str = "", *, ms: float = 90.0, waits_ms: float = 0.0, open_ms: float = 3) -> None:
        """A load: opens, gets the program, waits for a service meanwhile, makes ready."""
        caller, begin = app("App.load", line), self.now_ns
        self.runs(self.around(open_ms * MS), OPEN, LOAD, caller)
        self.runs(self.around(ms * MS / 2), PROGRAM, LOAD, caller)
        self.waits(waits_ms * MS)
        self.runs(self.around(ms * MS / 2), PROGRAM, LOAD, caller)
        self.runs(self.around(2 * MS), READY, LOAD, caller)
        self.to.calls.append(Truth(Api.LOAD, line, begin, self.now_ns, model, self.thread.tid))


def hardware_of(engine: Sequence[tuple[int, int, str]]) -> tuple[Events, CommandBuffers]:
    """Hardware rows as binding gives them, of executions (start, end, model) on the Neural Engine."""
    rows = [row for row in sorted(engine) if row[2]]
    count = len(rows)
    start, end = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    events = replace(
        bare_events(start, end - start),
        lane=constant(Lane.NEURAL_ENGINE, count, LANES),
        kind=constant(Kind.ANE_EXEC, count, KINDS),
        label=constant("row", count),
        model=coded([model for _, _, model in rows], sorted({model for _, _, model in rows})),
        device=constant(Device.ANE, count, DEVICES),
        operation=all_known(np.zeros(count, np.int64)),
        attribution=constant(Attribution.LABEL, count, ATTRIBUTIONS),
        table=constant("ane-hw-intervals", count),
        row=np.arange(count),
    )
    return events, CommandBuffers(np.zeros(count, np.int64), np.zeros(count, bool))


@dataclass
class Measured:
    """How inferred calls compare with true ones."""

    inferred: int = 0
    starts: int = 0
    """Whose true start lies within the bounds; `ends` alike."""
    ends: int = 0
    unseen: int = 0
    """Calls that only the hardware shows; not among `inferred`."""
    above: int = 0
    """Places and models with more inferred calls than there are true ones."""
    misnamed: int = 0

    def __iadd__(self, other: Measured) -> Measured:
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


def measured(made: Simulated) -> Measured:
    """The inferred calls of a simulation against its truth: each with the last true call of its place and thread that
    began by its latest start."""
    inferred = made.inferred()
    activity, result = inferred.activity, Measured()
    sites = Sites.none() if inferred.sites is None else inferred.sites
    result.unseen = len(activity) - len(sites)
    for line, tid in {(call.line, call.tid) for call in made.calls}:
        own = sites.id[(sites.line.filled() == line) & (sites.tid.filled() == tid)]
        truth = sorted((c for c in made.calls if (c.line, c.tid) == (line, tid)), key=lambda call: call.start_ns)
        result.above += len(own) > len(truth)
        starts = np.array([call.start_ns for call in truth])
        rows = activity.take(own)
        for model, low, high, least, most in zip(
            rows.model.as_objects(), *map(np.ndarray.tolist, rows.bounds), strict=True
        ):
            call = truth[max(int(np.searchsorted(starts, high, "right")) - 1, 0)]
            result.inferred += 1
            result.starts += low <= call.start_ns <= high
            result.ends += least <= call.end_ns <= most
            result.misnamed += not str(model).startswith("model ") and model != call.model
    for model in {call.model for call in made.calls if call.model}:
        true = sum(call.model == model and call.api == Api.PREDICTION for call in made.calls)
        result.above += int((activity.model.is_any(model) & activity.kind.is_any(Kind.PREDICTION)).sum()) > true
    return result


def back_to_back(made: Simulated) -> None:
    """Calls on the CPU, one right behind the other."""
    thread = made.thread(1)
    thread.loads(7, "net")
    for _ in range(40):
        thread.predicts(42, "net", cpu_ms=9)
        thread.works(120_000)


def far_apart(made: Simulated) -> None:
    """Short calls on the CPU, with nothing between them."""
    thread = made.thread()
    for _ in range(3):
        thread.predicts(42, "net", cpu_ms=5)
        thread.waits(10_000 * MS)
    thread.runs(2 * MS, IDLE)


def camera(made: Simulated) -> None:
    """A call on the Neural Engine for each frame, with a little work before it."""
    thread = made.thread(1)
    thread.loads(7, "net", waits_ms=200)
    for _ in range(60):
        thread.waits(12 * MS)
        thread.works(thread.around(2 * MS))
        thread.predicts(42, "net", engine_ms=8)


def short(made: Simulated) -> None:
    """Calls that are shorter than a sample."""
    thread = made.thread(1)
    for _ in range(100):
        thread.waits(30 * MS)
        thread.predicts(42, "net", bind_ms=0.1, cpu_ms=0.3, tail_ms=0.1)


def short_on_engine(made: Simulated) -> None:
    """Calls on the Neural Engine whose thread hardly runs."""
    thread = made.thread(1)
    for _ in range(100):
        thread.waits(30 * MS)
        thread.predicts(42, "net", bind_ms=0.1, engine_ms=4, tail_ms=0.1)


def blocked(made: Simulated) -> None:
    """Long waits for the Neural Engine."""
    thread = made.thread()
    thread.loads(7, "net")
    for _ in range(12):
        thread.works(thread.around(4 * MS))
        thread.predicts(42, "net", engine_ms=239, tail_ms=0.4)


def blocked_unseen(made: Simulated) -> None:
    """The same, where the Neural Engine was not recorded."""
    blocked(made)
    made.engine.clear()
    made.watched = False


def pipeline(made: Simulated) -> None:
    """Two stages."""
    thread = made.thread(1)
    for _ in range(3):
        thread.predicts(42, "whole", cpu_ms=6, stages=("first", "second"))
        thread.works(thread.around(5 * MS))


def pipeline_on_engine(made: Simulated) -> None:
    """Two stages that look like calls one after the other, on the Neural Engine."""
    thread = made.thread(1)
    for _ in range(30):
        thread.predicts(42, "whole", bind_ms=1.2, engine_ms=6, stages=("first", "second"), nested=False)
        thread.works(thread.around(5 * MS))


def two_models(made: Simulated) -> None:
    """One model on the CPU, another one on the Neural Engine, each on its thread."""
    one, other = made.thread(1), made.thread(2)
    for _ in range(50):
        one.works(one.around(3 * MS))
        one.predicts(42, "on cpu", cpu_ms=20)
        other.waits(other.around(12 * MS))
        other.works(other.around(2 * MS))
        other.predicts(88, "on engine", engine_ms=8)


def two_threads(made: Simulated) -> None:
    """One model, called on two threads."""
    for number in (1, 2):
        thread = made.thread(number)
        for _ in range(40):
            thread.works(thread.around(3 * MS))
            thread.predicts(42, "net", engine_ms=8)


def reloads(made: Simulated) -> None:
    """A load before each prediction."""
    thread = made.thread(1)
    for _ in range(15):
        thread.loads(7, "net", ms=60)
        thread.predicts(42, "net", cpu_ms=6)
        thread.waits(50 * MS)


def loads_alone(made: Simulated) -> None:
    """Loads with nothing between them."""
    thread = made.thread(1)
    for _ in range(6):
        thread.loads(7, "net", ms=60)
        thread.waits(400 * MS)


def hidden_frames(made: Simulated) -> None:
    """Predictions in functions without names."""
    thread = made.thread(1)
    for _ in range(30):
        thread.works(thread.around(3 * MS))
        thread.predicts(42, "net", cpu_ms=9, hidden=True)


SCENES: Sequence[Callable[[Simulated], None]] = (
    back_to_back,
    far_apart,
    camera,
    short,
    short_on_engine,
    blocked,
    blocked_unseen,
    pipeline,
    pipeline_on_engine,
    two_models,
    two_threads,
    reloads,
    loads_alone,
    hidden_frames,
)


def simulated(scene: Callable[[Simulated], None], seed: int, period_ns: int = MS, missed: float = 0.0) -> Simulated:
    """A recording of a scene."""
    made = Simulated(seed, period_ns, missed)
    scene(made)
    return made
