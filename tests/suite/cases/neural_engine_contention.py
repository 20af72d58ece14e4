"""Predictions that queue for the Neural Engine."""

from __future__ import annotations

from dataclasses import replace

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, Allowed, cases, each
from suite.one_model import EXACT, loaded, several_loaded, without_engine
from suite.weight import Weight
from tracekit.testing import Draws
from tracekit.testing.apps import MS, async_app, camera_app, draw_models, many_models_app, neural_engine_app
from tracekit.testing.recorder import App, neural_engine
from tracekit.testing.rows import Model
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import steady

ID = "neural-engine-contention"
ASSISTANT = "Assistant_main__Op0_AneInference Prediction"
"""Label of a model that the app never loaded."""
LATE: tuple[Allowed, ...] = ("latency-jitter", "foreign-neural-engine-work")
"""Waiting that comes and goes may rightly be called jitter too, and the others are other processes."""
OTHERS: tuple[Allowed, ...] = ("foreign-neural-engine-work",)


def behind_another_process(draws: Draws) -> App:
    """Another process asks for the engine just before most calls."""
    app, model = loaded(draws, engine=True)
    work, often = draws.integer(4, 9) * MS, draws.integer(2, 10)
    for index in range(draws.integer(60, 90)):
        if index % 10 < often:
            app.occupy("neural engine", app.now_ns, 2 * work + draws.integer(0, work), label=ASSISTANT)
        app.predict(model, neural_engine(work), inputs=2)
        app.pause(2 * MS)
    return app


def behind_another_model(draws: Draws) -> App:
    """A long model of the app goes first in every frame, and a short one waits for it."""
    app, (short, long) = several_loaded(draws, 2, engine=True)
    for _ in range(60):
        app.predict(long, neural_engine(14 * MS), wait=False)
        app.now_ns += 200_000
        app.predict(short, neural_engine(4 * MS), wait=False)
        app.now_ns += 40 * MS
    return app


def slow_handover(draws: Draws, median_us: int) -> App:
    """The engine takes some time from the end of one request to the begin of the next, a different one each."""
    app, model = loaded(draws, engine=True)
    work, often = draws.integer(5, 9) * MS, draws.integer(3, 8)
    for index in range(70):
        if index % 10 < often:
            app.occupy("neural engine", app.now_ns, work + draws.integer(0, work), label=ASSISTANT)
            app.busy_until["neural engine"] += draws.around(median_us * 1_000, 250)
        app.predict(model, neural_engine(work), inputs=2)
        app.pause(2 * MS)
    return app


def by_chance(draws: Draws) -> App:
    """Work of others ends at any time before a prediction's own begins, which it does when it is ready."""
    app, model = loaded(draws, engine=True, noise=False)
    for _ in range(80):
        prediction = app.scenario.predict(model, app.now_ns, 14 * MS)
        begin = draws.around(4 * MS, 40)
        if draws.chance(700):
            end = app.now_ns + begin * draws.integer(50, 995) // 1_000 // 125 * 125
            app.scenario.other_neural_engine(app.now_ns - 2 * MS, end - app.now_ns + 2 * MS, ASSISTANT)
        prediction.neural_engine(begin, 9 * MS)
        app.now_ns += 25 * MS
    return app


def nameless_others(draws: Draws) -> App:
    """The model's own rows name it; those of the other process name nothing."""
    app, model = loaded(draws, engine=True)
    for _ in range(60):
        app.occupy("neural engine", app.now_ns, 12 * MS)
        app.predict(model, neural_engine(6 * MS))
        app.pause(3 * MS)
    return app


def exact(draws: Draws, wait_permille: int, affected: int) -> App:
    """Exact calls of 10 ms, of which so many of 100 wait this long for the engine."""
    app, model = loaded(draws, engine=True, **EXACT)
    wait = 10 * MS * wait_permille // 1_000
    for index in range(100):
        start = app.now_ns + index * 20 * MS
        prediction = app.scenario.predict(model, start, 10 * MS)
        before = wait if index * affected // 100 != (index + 1) * affected // 100 else 0
        if before:
            app.scenario.other_neural_engine(start - 2 * MS, 2 * MS + before, ASSISTANT)
        prediction.neural_engine(before, 9_900_000 - before)
    return app


def so_long(draws: Draws, permille: int) -> App:
    """Half of the calls wait for this share of their time."""
    return exact(draws, permille, 50)


def so_many(draws: Draws, count: int) -> App:
    """This many of 100 calls wait for half of their time."""
    return exact(draws, 500, count)


def side_by_side(draws: Draws) -> App:
    """The engine works for others and for the model at the same time, and nobody waits."""

    def beside(app: App, _: int) -> None:
        app.occupy("neural engine", app.now_ns, 25 * MS, label=ASSISTANT, blocks=False)

    return neural_engine_app(draws, compute_ns=8 * MS, before=beside, gap_ns=3 * MS)


def own_business(draws: Draws) -> App:
    """Others work early in a call, and end long before its own work begins after a step on the CPU."""
    app, model = loaded(draws, engine=True, noise=False)
    for _ in range(60):
        prediction = app.scenario.predict(model, app.now_ns, 20 * MS)
        prediction.event("CPU", 100_000, 12 * MS)
        app.scenario.other_neural_engine(app.now_ns, draws.integer(5, 9) * MS, ASSISTANT)
        prediction.neural_engine(13 * MS, 6 * MS)
        app.now_ns += 30 * MS
    return app


def own_short_calls(draws: Draws, labels: bool) -> App:
    """Calls of a small model start while the one before is on the engine, and the way from one to the next takes much
    of their time. Nobody else uses the engine."""
    simulation = Simulation(draws, handover_ns=draws.integer(600, 1_000) * 1_000, generic_labels=not labels)
    app, model, work = simulation.app, draw_models(draws)[0], draws.integer(15, 25) * MS // 10
    simulation.recorded.models.append(model)

    def several() -> Thread:
        yield from app.load(model, engine=True)
        for _ in range(60):
            running = []
            for _ in range(draws.integer(2, 3)):
                running.append(app.start(app.predict(model, neural_engine(work), inputs=0)))
                yield from app.pause(work * draws.integer(30, 90) // 100)
            for task in running:
                yield from app.join(task)
            yield from app.pause(draws.integer(4, 9) * MS)

    simulation.start(several())
    return simulation.run()


def others_in_turn(draws: Draws) -> App:
    """The same hand-overs, between work of the model and of another process."""
    simulation = Simulation(draws, handover_ns=draws.integer(300, 900) * 1_000)
    model, step = draw_models(draws)[0], neural_engine(draws.integer(30, 50) * MS // 10)
    simulation.recorded.models.append(model)
    simulation.start(steady(simulation.app, model, (step,), gap_ns=2 * MS))
    other = simulation.process("Assistant", 931)
    simulation.start(steady(other, Model("Rewriter"), (neural_engine(6 * MS),), gap_ns=MS, calls=200))
    return simulation.run()


def nameless(draws: Draws) -> App:
    """No row names a model, and another process uses the engine too."""

    def crowd(app: App, _: int) -> None:
        app.occupy("neural engine", app.now_ns, draws.integer(4, 9) * MS)
        app.pause(2 * MS)

    return neural_engine_app(draws, generic_labels=True, compute_ns=6 * MS, before=crowd, gap_ns=5 * MS)


def few_calls(draws: Draws) -> App:
    """Nine calls, all of which wait."""
    app, model = loaded(draws)
    for _ in range(9):
        app.occupy("neural engine", app.now_ns, 12 * MS, label=ASSISTANT)
        app.predict(model, neural_engine(6 * MS))
        app.pause(3 * MS)
    return app


def queued_for(draws: Draws, queued_ms: int) -> App:
    """Every call of 5 ms on the engine waits this long behind another process."""
    app, model = loaded(draws, 50 * MS, **EXACT)
    for k in range(30):
        start, length = app.now_ns + k * 200 * MS, (queued_ms + 5) * MS
        prediction = app.scenario.predict(model, start, length)
        app.scenario.other_neural_engine(start, queued_ms * MS, ASSISTANT)
        prediction.neural_engine(queued_ms * MS, 4 * MS)
        prediction.event("Input Validation", 0, 7_500)
    app.now_ns += 30 * 200 * MS
    return app


CASES = [
    *(
        replace(case, weight=Weight(savings_ms=30 * case.variant, metrics={"median-wait": case.variant * MS}))
        for case in each(ID, POSITIVE, (12, 20, 45, 90), queued_for, also=LATE)
    ),
    *cases(ID, POSITIVE, 6, behind_another_process, also=LATE),
    *cases(ID, POSITIVE, 3, nameless_others, also=LATE),
    *cases(ID, POSITIVE, 3, behind_another_model, also=LATE),
    *each(ID, POSITIVE, (20, 50, 100, 150, 200, 250, 300, 400, 500), slow_handover, also=LATE),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *cases(ID, NEGATIVE, 3, many_models_app, expected="no_finding"),
    *each(ID, NEAR_ABOVE, (200, 205, 210, 220), so_long, also=LATE),
    *each(ID, NEAR_ABOVE, (10, 11, 12), so_many, also=LATE),
    *each(ID, NEAR_BELOW, (180, 190, 195, 199), so_long, also=LATE),
    *each(ID, NEAR_BELOW, (7, 8, 9), so_many, also=LATE),
    *cases(ID, LOOKALIKE, 2, side_by_side, also=OTHERS, page="Other work runs next to that of the model"),
    *cases(ID, LOOKALIKE, 2, own_business, also=OTHERS, page="Other work ended long before"),
    *cases(ID, LOOKALIKE, 4, by_chance, also=OTHERS, page="Other work ends while a prediction"),
    # Two calls of the same model in flight wait for each other.
    *cases(ID, LOOKALIKE, 2, lambda draws: async_app(draws, in_flight=2), page="Several predictions of the same"),
    *each(ID, LOOKALIKE, (True, False, True, False, True), own_short_calls, page="Several predictions of the same"),
    *cases(ID, POSITIVE, 2, others_in_turn, also=LATE),
    *cases(ID, INSUFFICIENT, 2, nameless, also=(*OTHERS, "serial-predictions"), page="Rows name no model"),
    *cases(ID, INSUFFICIENT, 1, few_calls, also=LATE),
    *cases(ID, INSUFFICIENT, 1, lambda draws: without_engine(behind_another_process(draws)), also=LATE),
]
