"""The first prediction after a load."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, loaded_on_any, repeat, started
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, Step, Unit, cpu, neural_engine
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import paced_app, steady

ID = "warm-up-spike"
WAITS = ("neural-engine-contention", "gpu-contention")


def slow_first(draws: Draws) -> App:
    """The first call takes several times as long, on any unit."""
    work, factor = draws.integer(6, 20) * MS, draws.integer(5, 40)
    make = draws.choice((neural_engine_app, gpu_app))
    return make(draws, compute_ns=lambda index: work * factor if index == 0 else work, runs=2)


def camera_stutters(draws: Draws) -> App:
    """The first frame takes a tenth of a second or more."""
    first = draws.integer(100, 400) * MS
    return camera_app(draws, fps=30, compute_ns=lambda index: first if index == 0 else 11 * MS)


def after_each_load(draws: Draws) -> App:
    """The model is loaded for each session, and each begins with a slow call."""
    app, model = started(draws)
    unit = draws.choice(("neural engine", "gpu"))
    for _ in range(3):
        app.load(model, 40 * MS)
        repeat(app, model, lambda index: Step(unit, (160 if index == 0 else 15) * MS), 25)
        app.pause(7_000 * MS)
    return app


def exact(draws: Draws, first_us: int, usual_us: int = 20_000) -> App:
    """A first call of this length before sixty of the usual one; nothing is left to chance."""
    app, model = loaded(draws, 40 * MS, **EXACT)
    for index in range(61):
        length = (first_us if index == 0 else usual_us) * 1_000
        app.scenario.predict(model, app.now_ns, length).event("CPU", 0, length)
        app.now_ns += length + (2_000 * MS if index == 40 else 200_000)
    return app


def prepared(draws: Draws) -> App:
    """The first call prepares for long, and its compute unit works no longer than later; nobody pauses."""
    app, model, unit = loaded_on_any(draws, 60 * MS, units=("neural engine", "gpu"))
    for index in range(60):
        app.predict(model, Step(unit, 12 * MS), host_ns=draws.integer(60, 400) * MS if index == 0 else 0)
        app.pause(300_000)
    return app


def one_answer(draws: Draws) -> App:
    """One prompt and one long answer, with or without work of the app between the tokens."""
    app, model, unit = loaded_on_any(draws, 180 * MS)
    between = draws.choice((150_000, 2 * MS, 5 * MS))
    app.predict(model, Step(unit, draws.integer(90, 900) * MS))
    for _ in range(draws.integer(80, 160)):
        app.pause(between)
        app.predict(model, Step(unit, 11 * MS))
    return app


def answers_after_loads(draws: Draws) -> App:
    """The same three times, loaded for each, with prompts of different lengths."""
    app, model = started(draws)
    for prompt in (90, 260, 150):
        app.load(model, 180 * MS)
        app.predict(model, Step("neural engine", prompt * MS))
        for _ in range(40):
            app.pause(150_000)
            app.predict(model, Step("neural engine", 11 * MS))
        app.pause(8_000 * MS)
    return app


def of_short_calls(draws: Draws, first_us: int) -> App:
    """The same where the usual call takes 2 ms, so that the 10 ms decide."""
    return exact(draws, first_us, usual_us=2_000)


def warmed_up(draws: Draws) -> App:
    """A slow call after the load to warm up, then the user comes to the feature."""
    app, model = loaded(draws, 60 * MS)
    unit = draws.choice(("neural engine", "gpu"))
    app.predict(model, Step(unit, draws.integer(80, 700) * MS))
    app.pause(draws.integer(1_500, 6_000) * MS)
    return repeat(app, model, Step(unit, 12 * MS), 60, MS)


def turns(draws: Draws) -> App:
    """A language model under one name: each turn begins with a long call for the prompt."""
    app, model = loaded(draws, 180 * MS)
    for _ in range(draws.integer(3, 5)):
        app.predict(model, Step("neural engine", draws.integer(90, 130) * MS))
        repeat(app, model, Step("neural engine", 11 * MS), draws.integer(25, 40))
        app.pause(2_500 * MS)
    return app


def often_slow(draws: Draws) -> App:
    """Every tenth call is slow, the first among them."""
    return neural_engine_app(
        draws, compute_ns=lambda index: (60 if index % 10 == 0 else 8) * MS, predictions=80, runs=1
    )


def behind_another(draws: Draws, unit: Unit) -> App:
    """The first call queues behind a long one of another model, which has a first call of its own before."""
    simulation = Simulation(draws, noise=False)
    app, (model, other) = simulation.app, draw_models(draws, 2)
    long = Step(unit, draws.integer(50, 90) * MS)

    def both() -> Thread:
        yield from app.load(model)
        yield from steady(app, other, (long,), calls=8)
        running = app.start(app.predict(other, long))
        yield from app.pause(2 * MS)
        yield from steady(app, model, (Step(unit, 6 * MS),), calls=80, load_ns=0)
        yield from app.join(running)

    simulation.start(both())
    return simulation.run()


def slow_beside_another(draws: Draws) -> App:
    """The first call prepares for long, and another model uses the same unit for a twelfth of the time."""
    simulation = Simulation(draws)
    app, (model, other) = simulation.app, draw_models(draws, 2)

    def calls() -> Thread:
        yield from app.load(model)
        for index in range(100):
            yield from app.predict(model, neural_engine(6 * MS), host_ns=0 if index else draws.integer(60, 200) * MS)
            yield from app.pause(200_000)

    simulation.start(calls())
    simulation.start(paced_app(app, other, (neural_engine(4 * MS),), period_ns=50 * MS, calls=20))
    return simulation.run()


def few_calls(draws: Draws) -> App:
    """A slow first call and a handful of others."""
    return neural_engine_app(
        draws, compute_ns=lambda index: (150 if index == 0 else 10) * MS, predictions=draws.integer(2, 5), runs=1
    )


def beside_a_load(draws: Draws) -> App:
    """The first call prepares for long while the app loads a model for the CPU, which holds neither unit."""
    simulation = Simulation(draws, noise=False)
    app, (model, other) = simulation.app, draw_models(draws, 2)
    unit, work = draws.choice(("neural engine", "gpu")), draws.integer(5, 12) * MS

    def predicting() -> Thread:
        yield from app.load(model, engine=unit == "neural engine")
        loading = app.start(app.load(other, 20 * work))
        for index in range(60):
            yield from app.predict(model, Step(unit, work), host_ns=0 if index else 15 * work)
            yield from app.pause(120_000)
        yield from app.join(loading)
        for _ in range(20):
            yield from app.predict(other, cpu(4 * MS))
            yield from app.pause(120_000)

    simulation.start(predicting())
    return simulation.run()


def longest_prompt_first(draws: Draws) -> App:
    """The first prompt is the longest; shorter ones follow after tools and pauses, some answers go on without one."""
    app, model, unit = loaded_on_any(draws, 180 * MS)
    prompts = [draws.integer(500, 900), *(draws.choice((0, draws.integer(40, 220))) for _ in range(4)), 120]
    for prompt in prompts:
        if prompt:
            app.predict(model, Step(unit, prompt * MS))
        for _ in range(draws.integer(20, 40)):
            app.pause(150_000)
            app.predict(model, Step(unit, 11 * MS))
        app.pause(draws.integer(1_200, 4_000) * MS)
    return app


def prepared_for_a_prompt(draws: Draws) -> App:
    """Prompts of different lengths, and the first call also prepares for long."""
    app, model, unit = loaded_on_any(draws, 180 * MS)
    for turn in range(5):
        prepares = draws.integer(300, 900) * MS if turn == 0 else 0
        app.predict(model, Step(unit, draws.integer(90, 250) * MS), host_ns=prepares)
        for _ in range(30):
            app.pause(150_000)
            app.predict(model, Step(unit, 11 * MS))
        app.pause(draws.integer(1_200, 4_000) * MS)
    return app


def warmed_up_or_used(draws: Draws) -> App:
    """A slow call after the load, then one call every second or two; the user took longer after the first one."""
    app, model, unit = loaded_on_any(draws, 60 * MS, units=("neural engine", "gpu"))
    app.predict(model, Step(unit, 12 * MS), host_ns=draws.integer(200, 700) * MS)
    app.pause(draws.integer(9_000, 15_000) * MS)
    return repeat(app, model, Step(unit, 12 * MS), 25, lambda _: draws.integer(800, 1_500) * MS)


CASES = [
    *cases(ID, POSITIVE, 6, slow_first),
    *cases(ID, POSITIVE, 3, camera_stutters),
    *cases(ID, POSITIVE, 3, after_each_load),
    *cases(ID, POSITIVE, 3, prepared),
    *cases(ID, POSITIVE, 3, slow_beside_another, also=WAITS),
    *cases(ID, NEGATIVE, 4, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *each(ID, NEAR_ABOVE, (60_000, 61_000, 63_000), exact),
    *each(ID, NEAR_ABOVE, (12_000, 12_300, 13_000), of_short_calls),
    *each(ID, NEAR_BELOW, (59_900, 59_000, 57_000), exact),
    *each(ID, NEAR_BELOW, (11_990, 11_700, 11_000), of_short_calls),
    *cases(ID, LOOKALIKE, 2, warmed_up),
    *cases(ID, LOOKALIKE, 2, turns, also=("shape-switching", "latency-jitter"), page="A language model reads the"),
    *cases(ID, LOOKALIKE, 6, one_answer, expected="not_evaluated", page="A language model reads the whole"),
    *cases(ID, LOOKALIKE, 2, answers_after_loads, also=("load-churn", "cold-load"), page="The first prediction has a"),
    *cases(
        ID, LOOKALIKE, 1, often_slow, also=("shape-switching", "latency-jitter"), page="The model's predictions are"
    ),
    *each(
        ID,
        LOOKALIKE,
        ("neural engine", "gpu", "neural engine", "gpu", "neural engine", "gpu"),
        behind_another,
        also=WAITS,
        page="The first prediction is queued",
    ),
    *cases(ID, INSUFFICIENT, 3, few_calls),
    *cases(ID, POSITIVE, 3, beside_a_load),
    *cases(
        ID,
        LOOKALIKE,
        6,
        longest_prompt_first,
        also=("shape-switching", "latency-jitter"),
        page="The first prediction has a far",
    ),
    *cases(ID, POSITIVE, 4, prepared_for_a_prompt, also=("shape-switching", "latency-jitter", "unexplained-time")),
    *cases(ID, INSUFFICIENT, 3, warmed_up_or_used, also=("unexplained-time",)),
]
