"""Apps whose frames come late, each simulated with the model and without it: what made a frame late is known by that.

A frame was made late by the model where it comes later than in the world without. `score` counts how often tracekit
says so, with the right path, and how often it claims what is not true.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path as Folder

from support.scenarios import SCALE_PIXELS
from tracekit.analysis.frames.late import Strength, late_frames
from tracekit.analysis.frames.paths import Path
from tracekit.testing import Draws, Model, Simulation, Step, cpu, gpu, neural_engine, write_export
from tracekit.testing.frames import MS, Frame, Refreshes, Screen, Work, predicted
from tracekit.testing.recorder import App
from tracekit.testing.simulation import Thread
from tracekit.testing.work import Request
from tracekit.trace.build import open_trace
from tracekit.trace.trace import Trace

MODEL = Model("Segmenter")
FRAMES, START_NS = 260, 2_300 * MS


@dataclass(frozen=True, slots=True)
class World:
    """A simulated recording, its screens, and how the model holds frames up."""

    app: App
    screens: tuple[Screen, ...]
    paths: tuple[Path, ...] = ()

    @property
    def frames(self) -> dict[int, Frame]:
        """By swap id."""
        return {frame.swap: frame for screen in self.screens for frame in screen.frames}


def _simulation(draws: Draws, **more: int) -> Simulation:
    """Of a device and version of Xcode that are drawn; call stacks are sampled."""
    recording = {"code": True, "noise": False, "attached": True, **more}
    return Simulation(draws, handover_ns=15_000, handover_permille=0, machine=draws.integer(0, 5), **recording)


def _refreshes(draws: Draws) -> tuple[Refreshes, int]:
    """Those of a display, and about how long an interval lasts."""
    match draws.integer(0, 2):
        case 0:
            return Refreshes.steady(60), 16_666_667
        case 1:
            return Refreshes.steady(120), 8_333_333
        case _:
            return Refreshes.variable(draws), 8_333_333


def _light(interval_ns: int) -> Work:
    """Work of a frame that is ready in time."""
    return Work(interval_ns // 5, interval_ns // 8, interval_ns // 8)


def _screen(draws: Draws, simulation: Simulation) -> tuple[Screen, int]:
    refreshes, interval = _refreshes(draws)
    return Screen(simulation, refreshes, depth=draws.choice((2, 2, 3))), interval


def _background(screen: Screen, steps: Callable[[int], Step], every_ns: int, *, calls: int) -> Thread:
    """A worker that predicts at a pace of its own."""
    app, draws = screen.simulation.app, Draws(91)
    yield from app.load(MODEL, 60 * MS)
    for number in range(calls):
        yield from app.until(START_NS + 20 * MS + number * every_ns + draws.integer(0, every_ns // 3))
        yield from predicted(app, MODEL, steps(number))


def background_on_gpu(draws: Draws, *, model: bool) -> World:
    """A camera whose model works on the GPU while the app scrolls: what the compositor draws waits for it."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    length = draws.integer(11, 18) * interval // 10
    app = simulation.app
    simulation.start(screen.animate(app, FRAMES, _light(interval), start_ns=START_NS))
    if model:
        calls = FRAMES * interval // (6 * interval)
        simulation.start(_background(screen, lambda _: gpu(length), 5 * interval, calls=calls))
    return World(screen.finish(simulation.run()), (screen,), (Path.GPU,))


def _on_main(draws: Draws, *, model: bool, step: Callable[[int], Step], path: Path, loads: bool = False) -> World:
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    app, often, length = simulation.app, draws.integer(5, 14), draws.integer(9, 25) * interval // 10

    def before(number: int) -> Thread | None:
        if not model or number % often:
            return None
        return _load_on_main(screen, length) if loads else predicted(app, MODEL, step(length), on_main=True)

    simulation.start(screen.animate(app, FRAMES, _light(interval), start_ns=START_NS, before=before))
    if model and not loads:
        simulation.start(app.load(MODEL, 60 * MS))
    return World(screen.finish(simulation.run()), (screen,), (path,))


def _load_on_main(screen: Screen, length_ns: int) -> Thread:
    app, code = screen.simulation.app, screen.simulation.recorded.code
    assert code is not None
    code.on_main = True
    yield from app.load(MODEL, length_ns)


def waits_on_main(draws: Draws, *, model: bool) -> World:
    """The main thread waits for predictions on the Neural Engine."""
    return _on_main(draws, model=model, step=neural_engine, path=Path.MAIN_WAITS)


def busy_on_main(draws: Draws, *, model: bool) -> World:
    """The main thread computes predictions itself."""
    return _on_main(draws, model=model, step=cpu, path=Path.MAIN_BUSY)


def loads_on_main(draws: Draws, *, model: bool) -> World:
    """The main thread loads the model again and again."""
    return _on_main(draws, model=model, step=cpu, path=Path.MAIN_BUSY, loads=True)


def converts_on_main(draws: Draws, *, model: bool) -> World:
    """The main thread scales pixels for as long as a frame may take, and predicts for a short time."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    app, code, often = simulation.app, simulation.recorded.code, draws.integer(5, 9)
    length = draws.integer(11, 18) * interval // 10
    assert code is not None

    def converted() -> Thread:
        begin = app.now_ns
        yield from app.until(begin + length)
        code.on_main = True
        code.runs(begin, length, SCALE_PIXELS)
        yield from predicted(app, MODEL, neural_engine(interval // 8), on_main=True)

    before = lambda number: converted() if model and number % often == 0 else None  # noqa: E731
    simulation.start(screen.animate(app, FRAMES, _light(interval), start_ns=START_NS, before=before))
    return World(screen.finish(simulation.run()), (screen,), (Path.MAIN_BUSY,))


def without_call_stacks(draws: Draws, *, model: bool) -> World:
    """The main thread waits for predictions, and only its run loop shows that."""
    simulation = _simulation(draws, code=False)
    screen, interval = _screen(draws, simulation)
    app, often, length = simulation.app, draws.integer(5, 14), draws.integer(9, 25) * interval // 10

    def before(number: int) -> Thread | None:
        return predicted(app, MODEL, neural_engine(length)) if model and number % often == 0 else None

    simulation.start(screen.animate(app, FRAMES, _light(interval), start_ns=START_NS, before=before))
    return World(screen.finish(simulation.run()), (screen,), (Path.MAIN_WAITS,))


def two_displays(draws: Draws, *, model: bool) -> World:
    """The app animates on two displays of different rates; one GPU draws both."""
    simulation = _simulation(draws)
    first = Screen(simulation, Refreshes.steady(60), first_swap=100_000)
    second = Screen(simulation, Refreshes.steady(120, display="Display 2"), first_swap=900_000)
    app = simulation.app
    simulation.start(first.animate(app, FRAMES, Work(2 * MS, MS, MS), start_ns=START_NS))
    simulation.start(second.animate(app, 2 * FRAMES, Work(MS, 800_000, 700_000), start_ns=START_NS))
    if model:
        length = draws.integer(12, 22) * MS
        simulation.start(_background(first, lambda _: gpu(length), 90 * MS, calls=45))
    return World(first.finish(simulation.run(), second), (first, second), (Path.GPU,))


def own_work_beside(draws: Draws, *, model: bool) -> World:
    """The app's own work makes frames late, while a model works for a short time on the GPU or the Neural Engine."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    app, often = simulation.app, draws.integer(4, 9)
    light, which = _light(interval), draws.integer(0, 2)
    heavy = light._replace(**{Work._fields[which]: draws.integer(15, 26) * interval // 10})
    work = lambda number: heavy if number % often == 0 else light  # noqa: E731
    simulation.start(screen.animate(app, FRAMES, work, start_ns=START_NS))
    if model:
        unit, length = draws.choice((gpu, neural_engine, neural_engine)), interval // draws.integer(8, 14)
        calls = FRAMES * interval // (3 * interval)
        simulation.start(_background(screen, lambda _: unit(length), 2 * interval, calls=calls))
    return World(screen.finish(simulation.run()), (screen,), (Path.GPU,))


def drawing_of_others(draws: Draws, *, model: bool) -> World:
    """Other drawing keeps the GPU from the compositor: of another process or the app; the model uses the engine."""
    simulation = _simulation(draws, jitter=0)
    screen, interval = _screen(draws, simulation)
    app = simulation.app
    drawer = app if draws.chance(500) else simulation.process("Game", 777)

    def draw() -> Thread:
        draws = Draws(17)
        for number in range(FRAMES // 7):
            yield from app.until(START_NS + number * 7 * interval)
            yield from drawer.use("gpu", draws.integer(10, 17) * interval // 10, frame=number)

    simulation.start(screen.animate(app, FRAMES, _light(interval), start_ns=START_NS))
    simulation.start(draw())
    if model:
        simulation.start(_background(screen, lambda _: neural_engine(interval), 2 * interval, calls=FRAMES // 3))
    return World(screen.finish(simulation.run()), (screen,))


def near_the_deadline(draws: Draws, *, model: bool) -> World:
    """Frames that take most of the time they have, and a model whose short work on the GPU is too much for some."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    screen.spread = 60
    app, length = simulation.app, draws.integer(2, 7) * interval // 10
    work = Work(interval // 3, interval // 5, interval // (3 if screen.depth == 2 else 2))
    simulation.start(screen.animate(app, FRAMES, work, start_ns=START_NS))
    if model:
        simulation.start(_background(screen, lambda _: gpu(length), 2 * interval, calls=FRAMES // 2))
    return World(screen.finish(simulation.run()), (screen,), (Path.GPU,))


def heavy_frames_beside(draws: Draws, *, model: bool) -> World:
    """Some frames take too long by themselves, others wait for the model on the GPU, some both."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    app, often, light = simulation.app, draws.integer(4, 9), _light(interval)
    length, which = draws.integer(8, 16) * interval // 10, draws.integer(0, 2)
    heavy = light._replace(**{Work._fields[which]: draws.integer(13, 20) * interval // 10})
    work = lambda number: heavy if number % often == 0 else light  # noqa: E731
    simulation.start(screen.animate(app, FRAMES, work, start_ns=START_NS))
    if model:
        simulation.start(_background(screen, lambda _: gpu(length), 4 * interval, calls=FRAMES // 4))
    return World(screen.finish(simulation.run()), (screen,), (Path.GPU,))


def engine_in_background(draws: Draws, *, model: bool) -> World:
    """Work on the Neural Engine, for which no frame waits."""
    simulation = _simulation(draws)
    screen, interval = _screen(draws, simulation)
    app, often, light = simulation.app, draws.integer(6, 15), _light(interval)
    work = lambda number: light._replace(update=2 * interval) if number % often == 0 else light  # noqa: E731
    simulation.start(screen.animate(app, FRAMES, work, start_ns=START_NS))
    if model:
        simulation.start(_background(screen, lambda _: neural_engine(3 * interval), 4 * interval, calls=FRAMES // 5))
    return World(screen.finish(simulation.run()), (screen,))


def _on_cores(
    draws: Draws, beside: Callable[[Simulation, Screen, int], Thread] | None, *, stage: str = "update"
) -> World:
    """The app's own work, or what the system draws, needs most of a refresh interval on a core, and something works
    beside it."""
    simulation = _simulation(draws, cores=draws.integer(1, 2))
    screen, interval = _screen(draws, simulation)
    screen.on_cores, screen.server_on_cores = stage == "update", stage == "render"
    work = _light(interval)._replace(**{stage: draws.integer(58, 75) * interval // 100})
    simulation.start(screen.animate(simulation.app, FRAMES, work, start_ns=START_NS))
    if beside is not None:
        simulation.start(beside(simulation, screen, interval))
    return World(screen.finish(simulation.run()), (screen,), (Path.CPU,))


def cores_taken(draws: Draws, *, model: bool, stage: str = "update") -> World:
    """The model computes on all cores, and the main thread waits for one."""
    length, often = draws.integer(15, 30), draws.integer(6, 11)

    def beside(_: Simulation, screen: Screen, interval: int) -> Thread:
        step = cpu(length * interval // 10, threads=2)
        return _background(screen, lambda _: step, often * interval, calls=FRAMES // often)

    return _on_cores(draws, beside if model else None, stage=stage)


def drawing_without_core(draws: Draws, *, model: bool) -> World:
    """The model computes on all cores, and the thread of the system that draws waits for one."""
    return cores_taken(draws, model=model, stage="render")


def _cores_of_others(draws: Draws, step: Callable[[int], Step], *, model: bool, stage: str = "update") -> World:
    often = draws.integer(6, 11)

    def beside(simulation: Simulation, screen: Screen, interval: int) -> Thread:
        other, calls = simulation.process("Indexer", 778), FRAMES // often

        def index() -> Thread:
            for number in range(calls):
                yield from other.until(START_NS + number * often * interval)
                yield simulation.ask(other.process, None, Request("cpu", other.now_ns, 2 * interval, 2))

        simulation.start(index())
        return _background(screen, lambda _: step(interval), often * interval, calls=calls if model else 0)

    return _on_cores(draws, beside, stage=stage)


def cores_of_others(draws: Draws, *, model: bool) -> World:
    """Another process computes on all cores; the model works on the Neural Engine."""
    return _cores_of_others(draws, lambda interval: neural_engine(2 * interval), model=model)


def drawing_beside_others(draws: Draws, *, model: bool) -> World:
    """Another process computes on all cores, which drawing waits for; the model works on the Neural Engine."""
    return _cores_of_others(draws, lambda interval: neural_engine(2 * interval), model=model, stage="render")


def cores_of_both(draws: Draws, *, model: bool) -> World:
    """Another process computes on all cores, and the model a little: who would have had them does not show."""
    return _cores_of_others(draws, lambda interval: cpu(interval // 3), model=model)


def _by_name(*worlds: Callable[..., World]) -> dict[str, Callable[..., World]]:
    return {world.__name__: world for world in worlds}


WORLDS = _by_name(
    *(background_on_gpu, waits_on_main, busy_on_main, loads_on_main, converts_on_main, without_call_stacks),
    *(cores_taken, drawing_without_core, two_displays, near_the_deadline, heavy_frames_beside),
    *(own_work_beside, drawing_of_others, engine_in_background, cores_of_others, drawing_beside_others),
)
UNKNOWN = _by_name(cores_of_both)
"""Worlds in which rows do not show all causes."""


def trace_of(world: World) -> Trace:
    """The recording of a world, read."""
    return trace_of_app(world.app)


def trace_of_app(app: App) -> Trace:
    """A recording, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        write_export(app.finish(), folder)
        trace = open_trace(Folder(folder))
        # The files are gone when something asks for the samples.
        _ = trace.sampled
        return trace


def later_with(frames: dict[int, Frame], without: dict[int, Frame]) -> dict[int, int]:
    """By how much each late frame came later, in ns, than its picture is ready in the world without the model.

    Ready, not shown: there too an earlier frame that the app itself makes late may take its refresh."""
    return {
        swap: max(frame.shown_ns - without[swap].ready_ns, 0)
        for swap, frame in frames.items()
        if frame.shown_ns is not None and frame.late_ns > 0 and swap in without
    }


def score(make: Callable[..., World], seed: int) -> Counter[str]:
    """How many late frames the model made later, how many of all late ones are judged right, and what is wrong."""
    world = make(Draws(seed), model=True)
    later = later_with(world.frames, make(Draws(seed), model=False).frames)
    trace, counts = trace_of(world), Counter[str]()
    found, swaps = late_frames(trace), trace.frames.swap
    for number in range(len(found)):
        by_ns = later.get(swaps.values[found.place[number]])
        if by_ns is None:
            counts["in one world only"] += 1
            continue
        caused, counted, strength = by_ns > 0, bool(found.counted[number]), found.strength.item(number)
        counts["late"] += 1
        counts["by the model"] += caused
        counts["right"] += caused == counted and (not caused or found.path.item(number) in world.paths)
        counts["missed"] += caused and not counted
        counts["false proved"] += strength == Strength.PROVED and not caused
        counts["false"] += counted and not caused
        counts["too much"] += counted and found.saved_ns[number] > by_ns + 1_000
        counts[str(strength)] += 1
    return counts


def measured(name: str, seeds: Iterable[int]) -> Counter[str]:
    """The scores of a world over many draws, together."""
    return sum((score((WORLDS | UNKNOWN)[name], seed) for seed in seeds), Counter())


COLUMNS = ("late", "by the model", "right", "missed", "false", "false proved", str(Strength.PROVED), str(Strength.FITS))


def table(seeds: range) -> str:
    """The table of docs/frames.md."""
    rows = {name: measured(name, seeds) for name in WORLDS}
    rows["all"] = sum(rows.values(), Counter())
    rows |= {name: measured(name, seeds) for name in UNKNOWN}
    lines = [f"| world | {' | '.join(COLUMNS)} |", f"|---|{'--:|' * len(COLUMNS)}"]
    for name, row in rows.items():
        figures = " | ".join(str(row[key]) for key in COLUMNS)
        lines += [f"| {name.replace('_', ' ')} | {figures} |"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(range(100, 100 + int(sys.argv[1]))))  # noqa: T201
