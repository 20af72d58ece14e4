"""Models whose first call of each new input shape is slow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, repeat
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, decoder_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, Step, Unit, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import paced_app

ID = "new-shape-spike"
UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")
OTHER_WORK = ("shape-switching", "latency-jitter")
"""What is right to say of calls whose work differs much."""


def shapes(
    draws: Draws,
    slow_ns: int,
    *,
    works: tuple[int, ...] = (8, 16),
    calls: int = 110,
    each_ns: Callable[[int], int] = lambda _: 0,
    unit: Unit | None = None,
    loads: int = 1,
    new: Callable[[App], None] = lambda _: None,
) -> App:
    """The user turns the device: calls of several shapes in turn, some of each. `new` is called ahead of the first call
    of each shape but the one after the load, which takes `slow_ns` longer, during which nothing works. Each call takes
    longer by `each_ns` of its number."""
    app = start_recording(draws)
    model, unit = draw_models(draws)[0], unit or draws.choice(UNITS)
    number = 0
    for _ in range(loads):
        app.load(model, engine=unit == "neural engine")
        shape, seen = 0, {0}
        for _ in range(calls // loads):
            if shape not in seen:
                new(app)
            app.predict(
                model, Step(unit, works[shape] * MS), host_ns=each_ns(number) + (0 if shape in seen else slow_ns)
            )
            app.pause(draws.choice((150_000, 2 * MS)))
            seen.add(shape)
            number += 1
            if number > 5 and draws.chance(180):
                shape = (shape + draws.integer(1, len(works) - 1)) % len(works) if len(works) > 2 else 1 - shape
        app.pause(500 * MS)
    return app


def turned(draws: Draws) -> App:
    """Portrait and landscape, of different size; any unit."""
    return shapes(draws, draws.integer(40, 400) * MS, works=(8, draws.integer(14, 30)))


def three(draws: Draws) -> App:
    """Three sizes of images."""
    return shapes(draws, draws.integer(60, 300) * MS, works=(6, 13, 28), calls=150)


def again_after_each_load(draws: Draws) -> App:
    """The model is loaded three times, and prepares each shape anew."""
    return shapes(draws, draws.integer(60, 300) * MS, calls=180, loads=3)


def beside_a_camera(draws: Draws) -> App:
    """Another model works on another unit meanwhile."""
    simulation = Simulation(draws)
    app, (model, other) = simulation.app, draw_models(draws, 2)
    start = draws.integer(10, 30)

    def calls() -> Thread:
        yield from app.load(model, engine=True)
        for index in range(100):
            second = index >= start and (index - start) % 5 < 2
            extra = 150 * MS if index == start else 0
            yield from app.predict(model, Step("neural engine", (17 if second else 8) * MS), host_ns=extra)
            yield from app.pause(200_000)

    simulation.start(calls())
    simulation.start(paced_app(app, other, (Step("gpu", 7 * MS),), period_ns=33_333_000, calls=60))
    return simulation.run()


def exact(draws: Draws, extra_us: int, works: tuple[int, int] = (8, 16)) -> App:
    """Exact calls of two amounts of work in ms, in turns of five; the first of the second takes this much longer."""
    app = start_recording(draws, **EXACT)
    model = Model("Segmenter")
    app.load(model)
    for index in range(80):
        second = index // 5 % 2 == 1
        length = works[second] * MS + (extra_us * 1_000 if index == 5 else 0)
        app.scenario.predict(model, app.now_ns, length).event("CPU", 0, works[second] * MS)
        app.now_ns += length + 200_000
    return app


def of_long_calls(draws: Draws, extra_us: int) -> App:
    """The same where the second shape takes 20 ms, so that the ratio decides."""
    return exact(draws, extra_us, works=(8, 20))


def larger_first(draws: Draws, host_ns: int = 0) -> App:
    """The first call of the second shape works longer: its input is larger than any later one. It may take time on the
    host besides."""
    app = start_recording(draws)
    model, unit = draw_models(draws)[0], draws.choice(UNITS)
    app.load(model, engine=unit == "neural engine")
    for index in range(90):
        second, first = index >= 10 and index % 7 < 3, index == 14
        work = 140 if first else 18 if second else 8
        app.predict(model, Step(unit, work * MS), host_ns=host_ns if first else 0)
        app.pause(200_000)
    return app


def behind_others(draws: Draws) -> App:
    """Another process has the Neural Engine when the second shape comes for the first time."""

    def occupied(app: App) -> None:
        app.occupy("neural engine", app.now_ns, 120 * MS)

    return shapes(draws, 0, unit="neural engine", new=occupied)


def beside_a_load(draws: Draws) -> App:
    """The app loads another model on another thread when the second shape comes for the first time."""
    other = Model("Upscaler")

    def loading(app: App) -> None:
        app.scenario.load(other, app.now_ns, 130 * MS)

    app = shapes(draws, 110 * MS, unit="cpu", new=loading)
    return repeat(app, other, Step("gpu", 5 * MS), 20, 200_000)


def warmed_up(draws: Draws) -> App:
    """One call for each shape after the load, then the user comes."""
    app = start_recording(draws)
    model, unit = draw_models(draws)[0], draws.choice(UNITS)
    app.load(model, engine=unit == "neural engine")
    works = (8, 17, 35)
    for work in works:
        app.predict(model, Step(unit, work * MS), host_ns=0 if work == works[0] else 120 * MS)
        app.pause(200_000)
    app.pause(3_000 * MS)
    return repeat(app, model, lambda index: Step(unit, works[index // 4 % 3] * MS), 90, 200_000)


def slow_after_the_load(draws: Draws) -> App:
    """The first call after the load is slow, and no other."""
    return shapes(draws, 0, each_ns=lambda number: 0 if number else 150 * MS)


def slow_at_any_time(draws: Draws) -> App:
    """Every tenth call is held up, of either shape."""
    return shapes(draws, 90 * MS, each_ns=lambda number: 90 * MS if number % 10 == 7 else 0)


def comes_and_stays(draws: Draws) -> App:
    """The second shape is used from the middle on: its unit may as well have become slower."""
    app = start_recording(draws)
    model, unit = draw_models(draws)[0], draws.choice(UNITS)
    app.load(model, engine=unit == "neural engine")
    for index in range(90):
        app.predict(model, Step(unit, (18 if index >= 45 else 9) * MS), host_ns=160 * MS if index == 45 else 0)
        app.pause(200_000)
    return app


def after_a_gap(draws: Draws) -> App:
    """The user chooses the second shape after a gap: the gap can be the reason as well."""
    return shapes(draws, 130 * MS, new=lambda app: app.pause(3_000 * MS))


def right_after_a_slow_first(draws: Draws) -> App:
    """Shapes in turn from the load on: the second call can belong to the warm-up."""
    app = start_recording(draws)
    model, unit = draw_models(draws)[0], draws.choice(UNITS)
    app.load(model, engine=unit == "neural engine")
    for index in range(90):
        app.predict(model, Step(unit, (18 if index % 2 else 8) * MS), host_ns=150 * MS if index < 2 else 0)
        app.pause(200_000)
    return app


def few_calls(draws: Draws) -> App:
    """Too few to compare."""
    return shapes(draws, 150 * MS, calls=draws.integer(8, 16))


HELD_UP = ("unexplained-time",)
WARM_UP = ("warm-up-spike",)


CASES = [
    *cases(ID, POSITIVE, 5, turned, also=OTHER_WORK),
    # The second shape does half of the work of the first.
    *cases(ID, POSITIVE, 3, lambda draws: shapes(draws, draws.integer(60, 300) * MS, works=(20, 10)), also=OTHER_WORK),
    *cases(ID, POSITIVE, 3, three, also=OTHER_WORK),
    *cases(ID, POSITIVE, 3, again_after_each_load, also=(*OTHER_WORK, "load-churn")),
    *cases(ID, POSITIVE, 2, beside_a_camera, also=OTHER_WORK),
    # The same shapes, and the first call of each is as fast as the others.
    *cases(ID, NEGATIVE, 6, lambda draws: shapes(draws, 0, works=(8, draws.integer(14, 30))), also=OTHER_WORK),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *cases(ID, NEGATIVE, 2, decoder_app),
    *each(ID, NEAR_ABOVE, (16_000, 16_200, 17_000), exact, also=OTHER_WORK),
    *each(ID, NEAR_ABOVE, (20_000, 20_300, 21_000), of_long_calls, also=OTHER_WORK),
    *each(ID, NEAR_BELOW, (15_990, 15_700, 15_000), exact, also=OTHER_WORK),
    *each(ID, NEAR_BELOW, (19_990, 19_700, 19_000), of_long_calls, also=OTHER_WORK),
    *cases(ID, LOOKALIKE, 3, larger_first, also=OTHER_WORK, page="The first prediction of a shape takes longer"),
    *cases(
        ID,
        LOOKALIKE,
        3,
        behind_others,
        also=(*OTHER_WORK, "neural-engine-contention", "foreign-neural-engine-work"),
        page="The first prediction of a shape queues",
    ),
    *cases(ID, LOOKALIKE, 3, beside_a_load, also=OTHER_WORK, page="The first prediction of a shape queues"),
    *cases(ID, LOOKALIKE, 3, warmed_up, also=OTHER_WORK, page="The model is warmed up"),
    *cases(ID, LOOKALIKE, 2, slow_after_the_load, also=(*OTHER_WORK, *WARM_UP), page="The first prediction after a"),
    *cases(ID, LOOKALIKE, 2, slow_at_any_time, also=(*OTHER_WORK, *HELD_UP), page="Predictions stand out at any time"),
    # Two shapes that take the same time: one slow call among others.
    *cases(ID, INSUFFICIENT, 3, lambda draws: shapes(draws, 150 * MS, works=(11, 11))),
    *cases(ID, INSUFFICIENT, 3, comes_and_stays, also=("lasting-slowdown",)),
    *cases(ID, INSUFFICIENT, 3, after_a_gap, also=OTHER_WORK),
    *cases(ID, INSUFFICIENT, 3, right_after_a_slow_first, also=(*OTHER_WORK, *WARM_UP)),
    *cases(ID, INSUFFICIENT, 2, few_calls, also=(*OTHER_WORK, *HELD_UP)),
    # The model is prepared for it besides.
    *cases(ID, POSITIVE, 3, partial(larger_first, host_ns=80 * MS), also=OTHER_WORK),
]
