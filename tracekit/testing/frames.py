"""Frames of an app that is simulated: a pipeline of refreshes, commits, drawing, a queue for the GPU, and swaps.

simulation = Simulation(Draws(7), code=True)
screen = Screen(simulation, Refreshes.steady(60))
simulation.start(screen.animate(simulation.app, 300, work=Work(3 * MS, 2 * MS, 2 * MS)))
simulation.start(camera(simulation.app))
app = screen.finish(simulation.run())

The main thread of the app commits a frame at each refresh; the render server draws it at the next one and asks the GPU,
which takes one work after the other; it is shown at the first refresh at which it is ready, and no earlier than it is
due. Work per frame is drawn by the number of its refresh, so that a simulation without the model has the same frames:
what is late in one and not in the other is late because of the model. Nothing here knows how frames are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from tracekit.testing.machines import BACKBOARD, WINDOW_SERVER, Process, Thread as ThreadOfProcess, main_thread
from tracekit.testing.recorder import App
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import Cell, TableContent, columns_from
from tracekit.testing.simulation import Running, Simulation, Thread, Use
from tracekit.testing.work import Request, Step

MS = 1_000_000
QUANTUM_NS = 4_166_667
"""Refresh intervals of a display with a variable rate are whole multiples of this."""
AFTER_REFRESH_NS, BEFORE_REFRESH_NS = 500_000, 300_000
"""From a refresh until the render server begins, and how long before a refresh a picture must be ready."""
HANG_NS = 33 * MS
"""The Animation Hitches template lists hangs from here on."""
_FIRST_NS, _END_NS = 7 * MS, 30_000 * MS


@dataclass(frozen=True, slots=True)
class Refreshes:
    """When a display refreshes, in ns, ascending."""

    times: tuple[int, ...]
    display: str = "Display 1"

    @classmethod
    def steady(cls, rate: int, display: str = "Display 1") -> Refreshes:
        """So many refreshes a second."""
        count = (_END_NS - _FIRST_NS) * rate // 1_000_000_000
        return cls(tuple(_FIRST_NS + number * 1_000_000_000 // rate for number in range(count)), display)

    @classmethod
    def variable(cls, draws: Draws) -> Refreshes:
        """A rate that changes every 20 to 90 refreshes, as ProMotion's does."""
        times = [_FIRST_NS]
        while times[-1] < _END_NS:
            step = draws.choice((2, 2, 3, 4)) * QUANTUM_NS
            times += [times[-1] + (number + 1) * step for number in range(draws.integer(20, 90))]
        return cls(tuple(times))

    def at(self, time_ns: int) -> int:
        """Number of the first refresh at or after a time."""
        return bisect_left(self.times, time_ns)


class Work(NamedTuple):
    """Time of a frame in each stage, in ns."""

    update: int
    render: int
    gpu: int


@dataclass(slots=True)
class Frame:
    """What happened to one frame. Times in ns; `shown` is None where an earlier one that came late took its refresh."""

    refresh: int
    """Number of the refresh at which the app was to begin it."""
    swap: int
    due_ns: int
    interval_ns: int
    update: tuple[int, int]
    render: tuple[int, int] = (0, 0)
    gpu: tuple[int, int] = (0, 0)
    ready_ns: int = 0
    """The refresh at which its picture is ready, whether or not it is shown then."""
    shown_ns: int | None = None

    @property
    def late_ns(self) -> int:
        """By how much it came late; 0 for one that was never shown."""
        return 0 if self.shown_ns is None else self.shown_ns - self.due_ns


@dataclass(slots=True)
class Screen:
    """One display, the frames that an app shows on it, and what its main thread did."""

    simulation: Simulation
    refreshes: Refreshes
    depth: int = 2
    """Refreshes from the one at which the app begins a frame to the one at which it is due."""
    first_swap: int = 769_000
    spread: int = 120
    """Of the work of frames, in thousandths."""
    frames: list[Frame] = field(default_factory=list)
    busy: list[tuple[int, int]] = field(default_factory=list)
    """When the main thread was busy."""
    process: Process | None = None
    on_cores: bool = False
    """Whether the main thread needs a core for its own work, which others may have; threads are recorded then."""
    server_on_cores: bool = False
    """Whether the render server needs one."""
    _drawn_until: int = 0
    _shown: int = -1
    _is_drawing: bool = False

    def animate(
        self,
        app: Running,
        count: int,
        work: Work | Callable[[int], Work],
        *,
        start_ns: int = 1_200 * MS,
        before: Callable[[int], Thread | None] | None = None,
        every: int = 1,
    ) -> Thread:
        """The main thread shows `count` frames, one at each refresh or each `every`th; `before`, with the number of the
        refresh, is what it does first, in the same turn of its run loop."""
        self.process, times = app.process, self.refreshes.times
        number = self.refreshes.at(start_ns)
        last = number + count * every
        while number < last:
            if times[number] > app.now_ns:
                yield from app.until(times[number])
            begin = app.now_ns
            thread = before(number) if before is not None else None
            if thread is not None:
                yield from thread
            draws = Draws(self.first_swap + number)
            took = Work(*(draws.around(ns, self.spread) for ns in (work(number) if callable(work) else work)))
            from_ns = app.now_ns
            if self.on_cores:
                yield self.simulation.ask(app.process, None, Request("cpu", from_ns, took.update))
            else:
                yield from app.until(from_ns + took.update)
            due = times[number + self.depth]
            frame = Frame(
                number, self.first_swap + number, due, due - times[number + self.depth - 1], (from_ns, app.now_ns)
            )
            self.busy.append((begin, app.now_ns))
            if self.simulation.recorded.code is not None:
                self.simulation.recorded.code.draws_interface(from_ns, took.update)
            app.start(self._draw(app, frame, took))
            # One call of the display link stands for all refreshes that it missed.
            missed = self.refreshes.at(app.now_ns + 1)
            number = max(number + every, missed - 1 if missed - 1 > number else 0)

    def _draw(self, app: Running, frame: Frame, took: Work) -> Thread:
        """The render server draws a frame, and shows it when the GPU is done."""
        times, simulation = self.refreshes.times, self.simulation
        at = times[self.refreshes.at(frame.update[1])] + AFTER_REFRESH_NS
        begin = max(at, self._drawn_until)
        self._drawn_until = begin + took.render
        yield from app.until(begin)
        server = WINDOW_SERVER if simulation.scenario.device.platform == "macOS" else BACKBOARD
        if self.server_on_cores:
            while self._is_drawing:
                yield from app.until(app.now_ns + 100_000)
            self._is_drawing, begin = True, app.now_ns
            yield simulation.ask(server, None, Request("cpu", begin, took.render))
            self._is_drawing = False
        else:
            yield from app.until(begin + took.render)
        frame.render = begin, app.now_ns
        use: Use = yield simulation.ask(server, None, Request("gpu", app.now_ns, took.gpu))
        frame.gpu = use.begin_ns, use.end_ns
        row = simulation.scenario.gpu_work(use.begin_ns, use.end_ns - use.begin_ns, server, frame=frame.refresh)
        simulation.scenario.gpu[-1] = replace(row, latency_ns=use.begin_ns - use.requested_ns)
        self.frames.append(frame)
        refresh = self.refreshes.at(max(use.end_ns + BEFORE_REFRESH_NS, frame.due_ns))
        frame.ready_ns = times[refresh]
        if refresh > self._shown:
            self._shown, frame.shown_ns = refresh, frame.ready_ns

    @property
    def late(self) -> dict[int, Frame]:
        """Late frames by the number of their refresh."""
        return {frame.refresh: frame for frame in self.frames if frame.late_ns > 0}

    def finish(self, app: App, *others: Screen, stages: bool = True) -> App:
        """Write the tables of this screen and of others into the recording, to be finished afterwards. Without
        `stages`, the tables are those of hitches and refreshes alone."""
        scenario, screens = app.scenario, (self, *others)
        scenario.other_tables += _tables(screens, stages=stages)
        busy = sorted(span for screen in screens if screen.process == scenario.target for span in screen.busy)
        scenario.other_tables.append(_run_loop(scenario, busy))
        if self.on_cores or self.server_on_cores:
            scenario.other_tables.append(_thread_states(self.simulation))
        for begin, end in busy:
            if end - begin >= HANG_NS:
                scenario.hang(begin, end - begin)
        scenario.recorded.add("potential-hangs")
        return app


def predicted(app: Running, model: Model, *steps: Step, on_main: bool = False) -> Thread:
    """A prediction, with the samples of the thread that makes it."""
    begin, code = app.now_ns, app.simulation.recorded.code
    yield from app.predict(model, *steps)
    if code is not None:
        code.on_main = on_main
        code.predict(begin, app.now_ns - begin, steps)


_STAGE = (
    "swap-id: uint32 | Swap ID; surface-id: uint32 | Surface ID; frame-color: event-concept; "
    "containment-level: uint32; label: string"
)
_COLUMNS = {
    "hitches": "start: start-time; duration; process; is-system: boolean; swap-id: uint32 | Swap ID; label: string; "
    "display: display-name; narrative-description: string | Potential Issue",
    "hitches-updates": f"start: start-time; duration; process; display: display-name; {_STAGE}",
    "hitches-renders": f"start: start-time; duration; display: display-name; offscreen-passes: uint32; {_STAGE}",
    "hitches-gpu": f"start: start-time; duration; display: display-name; {_STAGE}",
    "display-vsyncs-interval": "timestamp: start-time; duration; display-name; color: render-buffer-depth",
    "display-surface-swap": "timestamp: start-time; delay: start-time; display-name; "
    "surface-id: displayed-surface-swap; framebuffer-index: uint32; swap-id: displayed-surface-swap; "
    "color: render-buffer-depth",
    "runloop-intervals": "start: start-time; duration; interval-type: short-string; interval-identifier: short-string; "
    "nesting-level: uint64; containment-level; is-main: boolean; thread; process",
    "thread-state": "start: start-time; thread; state: thread-state; duration; process",
}
_SURFACES = 9, 42, 19


def _tables(screens: Sequence[Screen], *, stages: bool) -> list[TableContent]:
    rows: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in list(_COLUMNS)[: 6 if stages else 1]}
    rows["display-vsyncs-interval"] = []
    for screen in screens:
        name, end = screen.refreshes.display, screen.simulation.clock.now_ns
        for time in screen.refreshes.times:
            if time <= end:
                rows["display-vsyncs-interval"] += [(time, 1, each, 2) for each in (name, f"Built-In {name}")]
        for frame in screen.frames:
            label, surface = f"0x{frame.swap:x}", _SURFACES[frame.refresh % 3]
            if frame.late_ns > 0:
                spans = {
                    "app update(s)": frame.update,
                    "render, 0 offscreen passes": frame.render,
                    "GPU work": (frame.render[1], frame.gpu[1]),
                }
                long = [text for text, (begin, end) in spans.items() if end - begin > frame.interval_ns // 2]
                # Apple's words for the stages that took more than half an interval.
                says = ", ".join(f"Potentially expensive {text}" for text in long)
                what = screen.process, 0, frame.swap, label, name, says
                rows["hitches"].append((frame.due_ns, frame.late_ns, *what))
            if not stages:
                continue
            drawn = frame.swap, surface, "Purple", 0, label
            rows["hitches-updates"].append((*_span(frame.update), screen.process, name, *drawn))
            rows["hitches-renders"] += [(*_span(frame.render), name, 0, *drawn)] * (1 + (frame.refresh % 50 == 0))
            rows["hitches-gpu"].append((*_span(frame.gpu), name, *drawn))
            if frame.shown_ns is not None:
                delay = frame.shown_ns - frame.update[0]
                picture = f"Built-In {name}", surface, 17, frame.swap, frame.refresh % 2
                rows["display-surface-swap"].append((frame.shown_ns, delay, *picture))
    return [
        TableContent(schema, (), columns_from(_COLUMNS[schema]), tuple(sorted(each, key=lambda row: row[0])))  # type: ignore[arg-type, return-value]
        for schema, each in rows.items()
    ]


def _span(span: tuple[int, int]) -> tuple[int, int]:
    """Start and duration."""
    return span[0], span[1] - span[0]


def _run_loop(scenario: Scenario, busy: Sequence[tuple[int, int]]) -> TableContent:
    """Iterations of the main run loop: busy, then waiting."""
    thread, rows = main_thread(scenario.target, scenario.thread), list[tuple[Cell, ...]]()
    for number, (begin, end) in enumerate(busy):
        until = max(busy[number + 1][0] if number + 1 < len(busy) else end, end)
        kinds = (
            ("Individual Iteration", begin, until, 4),
            ("Busy", begin, end, 5),
            ("Waiting For Events", end, until, 5),
        )
        for kind, first, last, depth in kinds:
            if last > first:
                rows.append((first, last - first, kind, f"r1_i{number}", 1, depth, 1, thread, scenario.target))
    schema = "runloop-intervals"
    return TableContent(schema, (("target-pid", "SINGLE"),), columns_from(_COLUMNS[schema]), tuple(rows))


def _thread_states(simulation: Simulation) -> TableContent:
    """Threads that want a core: where there are too few, they take turns of about a ms."""
    target, cores, rows = simulation.scenario.target, simulation.cores, list[tuple[Cell, ...]]()
    uses = [use for use in simulation.uses if use.unit == "cpu"]
    for begin, end in pairwise(sorted({time for use in uses for time in (use.begin_ns, use.end_ns)})):
        wanting = [
            main_thread(target)
            if use.process == target and use.model is None
            else ThreadOfProcess(10_000 + 10 * use.process.pid + number, use.process)
            for use in uses
            if use.begin_ns <= begin < use.end_ns
            for number in range(min(use.threads, cores))
        ]
        count = len(wanting)
        turns = -(-(end - begin) // (count * MS)) * count if count > cores else 1
        for turn in range(turns):
            first, last = (begin + (end - begin) * edge // turns for edge in (turn, turn + 1))
            for place, thread in enumerate(wanting):
                state = "Running" if (place - turn) % count < cores else "Runnable"
                rows.append((first, thread, state, last - first, thread.process))
    return TableContent("thread-state", (), columns_from(_COLUMNS["thread-state"]), tuple(rows))
