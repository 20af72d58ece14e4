"""Random sessions with a problem: a wait, a burst, a hang, or one that other work, loads and pauses nearly hide.

Each builder starts the threads of one app in a simulation, and puts down what must and what may be found.
"""

from __future__ import annotations

from suite.random_sessions import FRAME_RATES, HARDWARE, Builder, session_of
from suite.random_uses import UNITS, RandomApp, step_on
from tracekit.testing import Draws, Model
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.simulation import Thread
from tracekit.testing.threads import MS, paced_app
from tracekit.testing.work import Step, Unit

RECORDINGS_S = (5, 12, 42, 120, 300, 900)
"""Lengths of recordings with one wait."""
LONG_WAIT_NS = 6_000 * MS
"""A wait that is never less than a slowdown of a tenth."""


def ill_session(seed: int) -> RandomApp:
    """One session with a problem, in half of all cases beside a healthy model on another unit."""
    return session_of(Draws(130_000 + seed), SESSIONS[seed % len(SESSIONS)], ALONE)


def one_wait(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """The app waits once for a load, or compiles, in a recording of seconds or minutes; then it is used in bursts or at
    a user's pace."""
    app, seconds = made.simulation.app, draws.choice(RECORDINGS_S)
    kind = draws.choice(("cold-load", "slow-load", "recompiled-each-run"))
    wait = min(draws.integer(1_300, 18_000), seconds * 400) * MS
    made.planted.add((kind, model.base))
    if wait >= LONG_WAIT_NS:
        made.least[kind, model.base] = "medium"
    made.allowed.add(("unexplained-time", model.base))
    steps = (step_on(unit, draws.integer(6, 30) * MS, draws),)
    in_bursts = draws.chance(500)
    pause = max(seconds * 1_000 * MS - wait, 2_000 * MS) // 60

    def thread() -> Thread:
        recorded = made.simulation.recorded
        if kind == "recompiled-each-run":
            # The first one is needed.
            for length in (draws.integer(50, 90) * MS, wait):
                recorded.now_ns = app.now_ns
                recorded.compile(model, length)
                yield from app.until(recorded.now_ns)
            yield from app.load(model, 80 * MS)
        elif kind == "cold-load":
            yield from app.load(model, wait, LOAD_COLD, engine=unit == "neural engine")
        else:
            yield from app.load(model, wait)
        yield from app.pause(draws.integer(1, 25) * MS)
        for index in range(60):
            yield from app.predict(model, *steps)
            if in_bursts:
                yield from app.pause(pause * 20 if index % 20 == 19 else 200_000)
            else:
                yield from app.pause(pause * draws.integer(50, 150) // 100)

    made.simulation.start(thread())
    return f"{kind} of {wait / MS / 1_000:.1f} s in {seconds} s, {'in bursts' if in_bursts else 'one by one'}"


def burst_of_calls(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Many calls are started together and served one after another, several times."""
    app, many, bursts = made.simulation.app, draws.integer(6, 30), draws.integer(3, 8)
    on: Unit = "gpu" if unit == "cpu" else unit
    steps = (Step(on, draws.integer(3, 12) * MS),)
    made.planted.add(("concurrent-predictions", model.base))

    def thread() -> Thread:
        yield from app.load(model, engine=on == "neural engine")
        for _ in range(bursts):
            running = [app.start(app.predict(model, *steps)) for _ in range(many)]
            for task in running:
                yield from app.join(task)
            yield from app.pause(draws.integer(50, 2_500) * MS)

    made.simulation.start(thread())
    return f"{bursts} of {many} calls on {on}"


def one_model_on_main(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """A touch runs one model while the main thread hangs; a camera's model runs in the background all the time."""
    app, touches = made.simulation.app, draws.integer(4, 8)
    camera = Model(f"{model.base}Camera")
    elsewhere = draws.choice([each for each in UNITS if each != unit])
    period = 1_000 * MS // draws.choice((60, 30))
    work = step_on(elsewhere, period * draws.integer(20, 55) // 100, draws)
    made.cameras[camera.base] = period
    made.simulation.start(paced_app(app, camera, (work,), period_ns=period, calls=touches * 2_900 * MS // period))
    made.planted.add(("main-thread-work", None))
    made.blamed["main-thread-work", None] = {model.base}
    length = draws.integer(15, 40) * MS

    def thread() -> Thread:
        yield from app.load(model, 60 * MS, engine=unit == "neural engine")
        for _ in range(touches):
            yield from app.pause(draws.integer(1_500, 2_500) * MS)
            start = app.now_ns
            for _ in range(max(250 * MS // length, 3)):
                yield from app.predict(model, step_on(unit, length, draws))
                yield from app.pause(400_000)
            made.simulation.scenario.hang((start - 3 * MS) // 125 * 125, (app.now_ns - start + 6 * MS) // 125 * 125)

    made.simulation.start(thread())
    return f"{touches} touches, a camera on {elsewhere}"


def instances_in_turn_unseen(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Two instances do the same work in turns, and no table of the hardware was recorded."""
    app, length = made.simulation.app, draws.integer(6, 14) * MS
    made.simulation.scenario.missing |= HARDWARE
    key = ("duplicate-instances", model.base)
    # Where the Neural Engine leaves no request rows, nothing shows on which units the instances are.
    (made.allowed if unit == "neural engine" else made.planted).add(key)
    step, calls = step_on(unit, length, draws), draws.integer(60, 100)

    def thread() -> Thread:
        pair = [Model(model.base, number) for number in (1, 2)]
        for instance in pair:
            yield from app.load(instance, 120 * MS)
        for index in range(calls):
            yield from app.predict(pair[index % 2], step, inputs=2)
            yield from app.pause(150_000)

    made.simulation.start(thread())
    return "no hardware tables"


def shapes_in_each_configuration(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Settings change to and fro, each change a load; in each configuration a quarter to a half of the calls have an
    input that takes three to five times as long."""
    app, length, loads = made.simulation.app, draws.integer(5, 9) * MS, draws.integer(2, 4)
    often, factor, slower = draws.integer(250, 500), draws.integer(3, 5), draws.integer(13, 25)
    made.planted.add(("shape-switching", model.base))
    made.allowed |= {("shape-switching", model.base), ("latency-jitter", model.base)}

    def thread() -> Thread:
        for turn in range(loads):
            yield from app.load(model, 20 * MS, engine=unit == "neural engine")
            usual = length if turn % 2 == 0 else length * slower // 10
            for index in range(draws.integer(80, 120)):
                other = index > 0 and draws.chance(often)
                yield from app.predict(model, step_on(unit, usual * factor if other else usual, draws))
                yield from app.pause(150_000)
            yield from app.pause(draws.integer(200, 2_000) * MS)

    made.simulation.start(thread())
    return f"{loads} loads, {factor}x, settings {slower / 10}x"


def slow_first_prompt(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """An assistant whose first prompt waits for the model to get ready, far beyond its own work; later prompts of many
    lengths do not."""
    app, token, extra = made.simulation.app, draws.integer(5, 14) * MS, draws.integer(1_500, 4_000) * MS
    lengths = [draws.integer(20, 400) * MS for _ in range(draws.integer(5, 12))]
    made.planted.add(("warm-up-spike", model.base))
    made.allowed.add(("unexplained-time", model.base))

    def thread() -> Thread:
        yield from app.load(model, 170 * MS, engine=unit == "neural engine")
        for turn, length in enumerate(lengths):
            wait = 0 if turn else extra
            yield from app.predict(model, step_on(unit, length, draws), inputs=4, host_ns=wait)
            for _ in range(draws.integer(15, 40)):
                yield from app.pause(150_000)
                yield from app.predict(model, step_on(unit, token, draws), inputs=4)
            yield from app.pause(draws.integer(200, 4_000) * MS)

    made.simulation.start(thread())
    return f"{extra // MS} ms before the first of {len(lengths)} prompts"


def frames_dropped(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """One call in six or seven of a camera takes longer than a frame, and the next frame is dropped. In half of them
    the camera changes its frame rate, which nothing but a budget tells from frames that are dropped by chance."""
    app, rates = made.simulation.app, draws.permutation([rate for rate in FRAME_RATES if rate != 20])[:2]
    rates = rates if draws.chance(500) else rates[:1] * 2
    others = {("latency-jitter", model.base), ("shape-switching", model.base)}
    made.one_of.append({("missed-deadline", model.base)} | (others if len(set(rates)) == 2 else set()))
    made.allowed |= others
    usual = 1_000 * MS // max(rates) * draws.integer(20, 40) // 100

    def thread() -> Thread:
        yield from app.load(model, engine=unit == "neural engine")
        for rate in rates:
            period = 1_000 * MS // rate
            slow = set(draws.permutation(range(1, 180))[: draws.integer(26, 30)])
            long = {index: period * draws.integer(112, 160) // 100 for index in slow}
            steps = [(step_on(unit, long.get(index, usual), draws),) for index in range(180)]
            yield from paced_app(
                app, model, lambda index, steps=steps: steps[index], period_ns=period, calls=180, load_ns=0
            )

    made.simulation.start(thread())
    return f"{list(rates)} fps"


SESSIONS: tuple[Builder, ...] = (
    one_wait,
    burst_of_calls,
    one_model_on_main,
    instances_in_turn_unseen,
    shapes_in_each_configuration,
    slow_first_prompt,
    frames_dropped,
)
ALONE = {instances_in_turn_unseen, one_model_on_main}
"""What a model beside would make ambiguous."""
