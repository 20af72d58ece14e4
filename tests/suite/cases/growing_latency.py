"""Calls that become longer with their sequence."""

from __future__ import annotations

from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_EVALUATED, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, started
from suite.several_loads import loaded_again
from tracekit.testing import Draws
from tracekit.testing.apps import MS, cpu_app, decoder_app, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.scenario import CORE_ML

ID = "growing-latency"
EFFECTS = ("latency-jitter",)
SLOWER = ("lasting-slowdown",)
"""What a growth that this detector leaves alone may rightly be called."""


def rising(app: App, model: Model, calls: int, first_ns: int, last_ns: int, pause_ns: int = 150_000) -> None:
    """A sequence whose work rises in even steps from the first call to the last."""
    for index in range(calls):
        app.predict(model, neural_engine(first_ns + (last_ns - first_ns) * index // (calls - 1)))
        app.pause(pause_ns)


def without_a_cache(draws: Draws) -> App:
    """A language model that reads its whole text for each token, for two to four answers."""
    app, model = loaded(draws, engine=True)
    factor = draws.integer(20, 50)
    for _ in range(draws.integer(2, 4)):
        rising(app, model, draws.integer(30, 60), 6 * MS, 6 * MS * factor // 10)
        app.pause(1_900 * MS)
    return app


def one_answer(draws: Draws) -> App:
    """One sequence of a few seconds, too short for heat."""
    app, model = loaded(draws, engine=True)
    rising(app, model, draws.integer(60, 120), 5 * MS, draws.integer(12, 25) * MS)
    return app


def answers_without_pause(draws: Draws) -> App:
    """Sequences that follow each other at once: only the fall of the latency tells where one ends."""
    app, model = loaded(draws)
    for _ in range(4):
        rising(app, model, 40, 5 * MS, 15 * MS)
    return app


def in_buckets(draws: Draws) -> App:
    """The text is padded to the next of five lengths, so that latency rises in steps."""
    app, model = loaded(draws)
    for _ in range(3):
        for bucket in range(5):
            repeat(app, model, neural_engine((5 + 2 * bucket) * MS), 10, 100_000)
        app.pause(1_900 * MS)
    return app


def to_ratio(draws: Draws, permille: int) -> App:
    """Three exact sequences of 50 calls whose last tenth takes this much of the first."""
    app, model = loaded(draws, **EXACT)
    # Medians of tenths are those of the calls 2 and 47: 45 steps apart, and 2 steps from the beginning.
    start = 8 * MS
    step = start * (permille - 1_000) // (45_000 + 2 * (1_000 - permille)) if permille > 1_000 else 0
    for _ in range(3):
        for index in range(50):
            length = (start + step * index) // 125 * 125 + 125
            app.scenario.predict(model, app.now_ns, length).event("CPU", 1_000, length - 2_000)
            app.now_ns += start + step * index + MS
        app.now_ns += 3_000 * MS
    return app


def a_jump(draws: Draws) -> App:
    """Half of the calls take twice as long as the first half: one change, no growth."""
    return neural_engine_app(draws, compute_ns=lambda index: (6 if index < 40 else 12) * MS, predictions=80, runs=1)


def heating_up(draws: Draws) -> App:
    """The device becomes hot in two minutes, across pauses, and calls take longer and longer."""
    app, model = started(draws)
    app.thermal("Nominal")
    app.load(model, engine=True)
    for turn in range(4):
        if turn == 2:
            app.thermal("Serious")
        for index in range(30):
            app.predict(model, neural_engine((8 + 2 * turn + index * 2 // 30) * MS))
            app.pause(draws.integer(900, 1_100) * MS)
        app.pause(9_000 * MS)
    return app


def piling_up(draws: Draws) -> App:
    """Calls come faster than the device works: each waits for all those before it."""
    app, model = loaded(draws)
    for _ in range(60):
        app.predict(model, neural_engine(10 * MS), wait=False)
        app.now_ns += 7 * MS
    return app


def short_sequences(draws: Draws) -> App:
    """Answers of 8 to 15 tokens."""
    app, model = loaded(draws)
    for _ in range(3):
        rising(app, model, draws.integer(8, 15), 6 * MS, 20 * MS)
        app.pause(1_900 * MS)
    return app


def one_long_answer(draws: Draws, *, cool: bool = False) -> App:
    """One sequence of most of a minute: a device that heats up looks the same, unless it is known to be `cool`."""
    app, model = started(draws, noise=False)
    if cool:
        app.thermal("Nominal")
    app.load(model)
    rising(app, model, 100, 8 * MS, 24 * MS, pause_ns=400 * MS)
    return app


def context_of_all_turns(draws: Draws) -> App:
    """A chat whose text is read again as a whole for each token: latency rises on from turn to turn, in the cool."""
    app, model = started(draws, noise=False)
    app.thermal("Nominal")
    app.load(model, engine=True)
    tokens = draws.integer(14, 45)
    for turn in range(4):
        done = turn * tokens
        repeat(
            app,
            model,
            lambda index, done=done: neural_engine(6 * MS + (done + index) * 14 * MS // (4 * tokens)),
            tokens,
            150_000,
        )
        app.pause(draws.integer(8, 20) * 1_000 * MS)
    return app


def heat_and_rest(draws: Draws) -> App:
    """Twice the device becomes hot within a minute, and cools down in a rest of three."""
    app, model = loaded(draws, engine=True, noise=False)
    for _ in range(2):
        app.thermal("Nominal")
        for index in range(60):
            if index in (20, 40):
                app.thermal("Fair" if index == 20 else "Serious")
            app.predict(model, neural_engine((8 + 8 * index // 59) * MS))
            app.pause(900 * MS)
        app.pause(180_000 * MS)
    return app


def larger_settings(draws: Draws) -> App:
    """Each setting is slower than the one before, and a load of its own."""
    step = draws.integer(12, 15)
    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return loaded_again(
        draws, unit, lambda load, _: 8 * MS * step**load // 10**load, loads=8, calls=25, pause_ns=200_000
    )


def answers_on_their_own_load(draws: Draws) -> App:
    """A model without a cache is loaded for each answer."""
    longest = draws.integer(30, 40)
    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return loaded_again(draws, unit, lambda _, index: (6 + index // 3) * MS, loads=4, calls=longest)


def on_hardware_alone(draws: Draws, values: tuple[int, int]) -> App:
    """Core ML's table stays empty. Each call has more work of a unit than the one before. No row shows the
    CPU's time in each."""
    host_ms, more_ms = values
    app, model = start_recording(draws), Model("Landmarks")
    unit = draws.choice((neural_engine, gpu))
    for index in range(120):
        app.predict(model, unit(round((7 + more_ms * index / 120) * MS)), host_ns=host_ms * MS)
        app.pause(200_000)
    app.scenario.emptied.add(CORE_ML)
    return app


CASES = [
    *cases(ID, POSITIVE, 5, without_a_cache),
    *cases(ID, POSITIVE, 3, one_answer),
    *cases(ID, POSITIVE, 2, answers_without_pause),
    *cases(ID, POSITIVE, 2, in_buckets),
    *cases(ID, POSITIVE, 1, partial(one_long_answer, cool=True)),
    *cases(ID, POSITIVE, 4, context_of_all_turns),
    *cases(ID, NEGATIVE, 4, decoder_app, expected={}),
    *cases(ID, NEGATIVE, 4, gpu_app, expected="no_finding"),
    # Calls of the same length.
    *cases(ID, NEGATIVE, 4, lambda draws: cpu_app(draws, compute_ns=cpu(6 * MS).compute_ns, predictions=80)),
    *each(ID, NEAR_ABOVE, (1505, 1510, 1520, 1540, 1560), to_ratio),
    *each(ID, NEAR_BELOW, (1440, 1460, 1480, 1490, 1495), to_ratio),
    *cases(ID, LOOKALIKE, 2, a_jump, also=SLOWER, page="Latency jumps once, for example"),
    *cases(ID, LOOKALIKE, 2, heating_up, also=("thermal-throttling",), page="The device heats up: predictions"),
    *cases(ID, LOOKALIKE, 3, heat_and_rest, also=("thermal-throttling",), page="The device heats up: predictions"),
    *cases(ID, LOOKALIKE, 1, piling_up, also=("concurrent-predictions",), page="Predictions pile up and each"),
    *cases(ID, INSUFFICIENT, 2, short_sequences),
    *cases(ID, INSUFFICIENT, 2, one_long_answer, expected=NOT_EVALUATED, also=EFFECTS),
    *cases(ID, LOOKALIKE, 4, larger_settings, also=("load-churn",), page="A setting changes, and the model"),
    *cases(ID, POSITIVE, 4, answers_on_their_own_load, also=("load-churn", "latency-jitter")),
    *each(ID, POSITIVE, ((0, 15), (1, 15), (7, 15)), on_hardware_alone, also=("core-ml-not-instrumented",)),
    *each(ID, INSUFFICIENT, ((8, 5), (8, 6), (9, 6)), on_hardware_alone, also=("core-ml-not-instrumented",)),
]
