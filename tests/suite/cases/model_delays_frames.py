"""Frames that come late because of a model, and frames that are late, or in time, for other reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.frames import Refreshes, Screen, Work, predicted
from tracekit.testing.recorder import App, Step, cpu, gpu, neural_engine
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.work import Request

ID = "model-delays-frames"
START_NS = 1_600 * MS
BESIDE = (
    "attached-late",
    "gpu-contention",
    "main-thread-work",
    "load-on-main-thread",
    "latency-jitter",
    "warm-up-spike",
)
"""What else may be right of an app whose model competes with drawing."""
LIGHT = Work(3 * MS, 2 * MS, 2 * MS)


def scroll(
    draws: Draws,
    *,
    on_main: Callable[[int], Step | None] = lambda _: None,
    held_ns: Callable[[int], int] = lambda _: 0,
    beside: Callable[[int], Step] | None = None,
    every_ns: int = 70 * MS,
    work: Work | Callable[[int], Work] = LIGHT,
    frames: int = 300,
    every: int = 1,
    rate: int = 60,
    stages: bool = True,
    code: bool = True,
    machine: int | None = None,
    cores: int = 0,
    indexer: bool = False,
    drawing: bool = False,
) -> App:
    """An app that scrolls; its model works `on_main` before a frame by its number, and `beside` in the background; the
    main thread is held for `held_ns`, unsampled. With `cores`, what runs on the main thread needs one of so many, or
    the system's `drawing` does; an `indexer` takes all of them now and then."""
    kept = {"machine": machine, "code": code, "noise": False, "attached": False}
    simulation = Simulation(draws, cores=cores or 6, handover_ns=15_000, handover_permille=0, **kept)
    screen, app, (model, *_) = Screen(simulation, Refreshes.steady(rate)), simulation.app, draw_models(draws)
    screen.on_cores, screen.server_on_cores = cores > 0 and not drawing, drawing
    simulation.recorded.models.append(model)
    first = screen.refreshes.at(START_NS)

    def before(number: int) -> Thread | None:
        step, wait_ns = on_main(number - first), held_ns(number - first)
        if wait_ns:
            return app.pause(wait_ns)
        return None if step is None else predicted(app, model, step, on_main=True)

    def worker() -> Thread:
        yield from app.load(model, 60 * MS)
        number = 0
        while beside is not None and app.now_ns < START_NS + frames * every * 1_000_000_000 // rate:
            yield from app.until(max(app.now_ns, START_NS + number * every_ns))
            yield from predicted(app, model, beside(number))
            number += 1

    def index() -> Thread:
        other = simulation.process("Indexer", 778)
        for number in range(frames // 9 if indexer else 0):
            yield from other.until(START_NS + number * 150 * MS)
            yield simulation.ask(other.process, None, Request("cpu", other.now_ns, 33 * MS, cores))

    simulation.start(worker())
    simulation.start(index())
    simulation.start(screen.animate(app, frames, work, start_ns=START_NS, before=before, every=every))
    return screen.finish(simulation.run(), stages=stages)


def on_gpu(draws: Draws) -> App:
    """The model keeps the GPU busy for about as long as a refresh interval."""
    rate = draws.choice((60, 120))
    interval = 1_000_000_000 // rate
    length = draws.integer(13, 19) * interval // 10
    light = Work(interval // 6, interval // 8, interval // 8)
    beside = lambda _: gpu(length)  # noqa: E731
    return scroll(draws, beside=beside, every_ns=draws.integer(43, 75) * interval // 10, work=light, rate=rate)


def on_main(draws: Draws) -> App:
    """The main thread predicts before some frames and waits, or computes."""
    unit, often = draws.choice((neural_engine, cpu, gpu)), draws.integer(5, 12)
    return scroll(draws, on_main=lambda number: unit(draws.integer(17, 40) * MS) if number % often == 0 else None)


def without_call_stacks(draws: Draws) -> App:
    """Only the run loop shows that the main thread predicts."""
    often, length = draws.integer(5, 12), draws.integer(17, 40) * MS
    on_main = lambda number: neural_engine(length) if number % often == 0 else None  # noqa: E731
    return scroll(draws, code=False, on_main=on_main)


BUSY = Work(12 * MS, 2 * MS, 2 * MS)
"""On a core of its own, it is just done in time."""


def takes_cores(draws: Draws) -> App:
    """The model computes on all cores while the app scrolls, and the main thread has to share one."""
    step, cores = cpu(draws.integer(30, 60) * MS, threads=6), draws.integer(1, 2)
    # On two cores, the two threads of a model leave the main thread two thirds of one.
    work = BUSY._replace(update=(12 if cores == 1 else 15) * MS)
    return scroll(draws, beside=lambda _: step, every_ns=draws.integer(140, 210) * MS, work=work, cores=cores)


def cores_of_others(draws: Draws) -> App:
    """Another process takes all cores; the model works on the Neural Engine all the time."""
    return scroll(draws, beside=lambda _: neural_engine(40 * MS), work=BUSY, cores=draws.integer(1, 2), indexer=True)


DRAWN = Work(3 * MS, 10 * MS, 2 * MS)
"""On a core of its own, it is drawn in time."""


def takes_cores_of_drawing(draws: Draws) -> App:
    """The model computes on all cores while the app scrolls, and the system draws too late."""
    step, every_ns = cpu(draws.integer(25, 45) * MS, threads=6), draws.integer(190, 260) * MS
    return scroll(draws, beside=lambda _: step, every_ns=every_ns, work=DRAWN, cores=draws.integer(1, 2), drawing=True)


def drawing_without_core(draws: Draws) -> App:
    """Another process takes all cores from what the system draws; the model works on the Neural Engine all the time."""
    beside, cores = lambda _: neural_engine(40 * MS), draws.integer(1, 2)
    return scroll(draws, beside=beside, work=DRAWN, cores=cores, indexer=True, drawing=True)


def spare_cores(draws: Draws) -> App:
    """The model computes on the CPU, and there are cores for all."""
    return scroll(draws, beside=lambda _: cpu(40 * MS, threads=2), work=BUSY, cores=draws.integer(3, 6))


def in_time(draws: Draws) -> App:
    """The model works on the Neural Engine, or too briefly on the GPU to hold a frame up."""
    step = draws.choice((neural_engine(draws.integer(4, 25) * MS), gpu(2 * MS)))
    return scroll(draws, beside=lambda _: step)


def own_frames_late(draws: Draws) -> App:
    """Some frames take the app too long, whatever the model does on the Neural Engine."""
    heavy, often = LIGHT._replace(update=draws.integer(18, 40) * MS), draws.integer(6, 15)
    work = lambda number: heavy if number % often == 0 else LIGHT  # noqa: E731
    return scroll(draws, beside=lambda _: neural_engine(draws.integer(6, 20) * MS), work=work)


def late_frames(draws: Draws, count: int) -> App:
    """The model makes so many frames late in five seconds."""
    on_main = lambda number: neural_engine(22 * MS) if number % 90 == 80 and number // 90 < count else None  # noqa: E731
    return scroll(draws, on_main=on_main)


def late_ms(draws: Draws, frames: int) -> App:
    """The model makes three of so many frames late."""
    on_main = lambda number: neural_engine(22 * MS) if number in (80, 130, 180) else None  # noqa: E731
    return scroll(draws, on_main=on_main, frames=frames)


def game(draws: Draws) -> App:
    """The app draws on the GPU itself, and what it draws holds the compositor up."""
    simulation = Simulation(draws, code=True, noise=False, attached=False, jitter=0, handover_ns=15_000)
    screen, app, (model, *_) = Screen(simulation, Refreshes.steady(60)), simulation.app, draw_models(draws)
    simulation.recorded.models.append(model)

    def draw() -> Thread:
        yield from app.load(model, 60 * MS)
        for number in range(60):
            yield from app.until(START_NS + number * 83 * MS)
            yield from predicted(app, model, neural_engine(6 * MS))
            yield from app.use("gpu", 24 * MS, frame=number)

    simulation.start(draw())
    simulation.start(screen.animate(app, 300, LIGHT, start_ns=START_NS))
    return screen.finish(simulation.run())


def half_rate(draws: Draws) -> App:
    """Every frame takes longer than a refresh: a steady lower rate."""
    work = Work(19 * MS, 2 * MS, 2 * MS)
    return scroll(draws, work=work, beside=lambda _: neural_engine(6 * MS), frames=150, every=2)


def hot(draws: Draws) -> App:
    """The device is hot from the start, so that all takes longer."""
    app = on_gpu(draws)
    end, app.now_ns = app.now_ns, MS
    app.thermal("Serious")
    app.now_ns = end
    return app


def parked(draws: Draws) -> App:
    """Late frames are listed at times at which the main thread waits for events."""
    app = in_time(draws)
    tables = app.scenario.other_tables
    at = next(number for number, table in enumerate(tables) if table.schema == "hitches")
    idle = app.now_ns - 400 * MS
    rows = tuple(
        (idle - number * 90 * MS, 83_333_333, app.scenario.target, 0, number, hex(number), "Display 1", "")
        for number in range(4, 0, -1)
    )
    tables[at] = replace(tables[at], rows=rows)
    app.now_ns += 2_000 * MS
    return app


def long_waits(draws: Draws) -> App:
    """The main thread predicts for so long that another check is about it."""
    return scroll(draws, on_main=lambda number: neural_engine(150 * MS) if number % 45 == 20 else None)


def film(draws: Draws) -> App:
    """A video at 24 fps: four of five refreshes show nothing new, beside a model on the Neural Engine or the GPU."""
    step = draws.choice((neural_engine(draws.integer(10, 30) * MS), gpu(2 * MS)))
    return scroll(draws, beside=lambda _: step, every=5, rate=120, frames=120, work=Work(2 * MS, MS, MS))


def unsampled(draws: Draws) -> App:
    """The main thread is blocked for longer than a refresh, and no sample shows by what; the model runs beside it."""
    often, length = draws.integer(6, 12), draws.integer(20, 45) * MS
    step = draws.choice((neural_engine(draws.integer(6, 20) * MS), gpu(2 * MS)))
    return scroll(draws, beside=lambda _: step, held_ns=lambda number: length if number % often == 0 else 0)


def rotation(draws: Draws) -> App:
    """The interface is laid out again now and then, for some frames in a row, beside a model."""
    turn = Work(draws.integer(20, 34) * MS, 5 * MS, 5 * MS)
    step = draws.choice((neural_engine(draws.integer(6, 20) * MS), gpu(2 * MS)))
    return scroll(draws, beside=lambda _: step, work=lambda number: turn if number % 100 < 6 else LIGHT)


def without_stages(draws: Draws) -> App:
    """The tables of stages were not exported."""
    return scroll(draws, stages=False, on_main=lambda number: neural_engine(30 * MS) if number % 9 == 0 else None)


def without_hitches(draws: Draws) -> App:
    """Late frames were not recorded."""
    app = on_gpu(draws)
    app.scenario.other_tables = [each for each in app.scenario.other_tables if each.schema != "hitches"]
    return app


CASES = [
    *cases(ID, POSITIVE, 6, on_gpu, also=BESIDE),
    *cases(ID, POSITIVE, 5, on_main, also=BESIDE),
    *cases(ID, POSITIVE, 3, without_call_stacks, also=BESIDE),
    *cases(ID, POSITIVE, 4, takes_cores, also=BESIDE),
    *cases(ID, NEGATIVE, 6, in_time, also=BESIDE),
    *cases(ID, NEGATIVE, 2, spare_cores, also=BESIDE),
    *cases(ID, NEGATIVE, 4, own_frames_late, also=BESIDE, page="Frames are as late before"),
    *each(ID, NEAR_ABOVE, (3, 3), late_frames, also=BESIDE),
    *each(ID, NEAR_BELOW, (2, 2), late_frames, also=BESIDE),
    *each(ID, NEAR_ABOVE, (480, 530, 540), late_ms, also=BESIDE),
    *each(ID, NEAR_BELOW, (660, 720, 800), late_ms, also=BESIDE),
    *cases(ID, LOOKALIKE, 2, game, also=BESIDE, page="The app draws on the GPU itself"),
    *cases(ID, LOOKALIKE, 3, cores_of_others, also=BESIDE, page="Another process takes the cores"),
    *cases(ID, LOOKALIKE, 2, half_rate, also=BESIDE, page="An app shows every second refresh"),
    *cases(ID, LOOKALIKE, 2, hot, also=BESIDE, page="The device is hot"),
    *cases(ID, LOOKALIKE, 2, parked, also=BESIDE, page="The main thread waits for events"),
    *cases(ID, LOOKALIKE, 2, long_waits, also=BESIDE, page="The main thread loads for 250 ms"),
    *cases(ID, INSUFFICIENT, 2, without_stages, also=BESIDE),
    *cases(ID, INSUFFICIENT, 2, without_hitches, also=BESIDE),
    *cases(ID, LOOKALIKE, 3, film, also=BESIDE, page="A video at 24 fps"),
    *cases(ID, LOOKALIKE, 4, unsampled, also=BESIDE, page="Nothing is sampled while"),
    *cases(ID, LOOKALIKE, 4, rotation, also=BESIDE, page="The first frames after"),
    *cases(ID, POSITIVE, 4, takes_cores_of_drawing, also=BESIDE),
    *cases(ID, LOOKALIKE, 2, drawing_without_core, also=BESIDE, page="Another process takes the cores"),
]
