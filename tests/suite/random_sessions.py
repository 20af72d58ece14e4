"""Random sessions without a problem: what people do with an app, as assistants, cameras and settings make it.

Each builder starts the threads of one app in a simulation and says what it does. None of it is a problem but what
queues make of it; where two calls differ, their own work, their load, their process or their pace differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from suite.random_uses import UNITS, RandomApp, add_healthy, finished, step_on
from tracekit.testing import Draws, Model
from tracekit.testing.apps import draw_models
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.threads import MS, overlapping, paced_app, steady
from tracekit.testing.work import Unit

Builder = Callable[[RandomApp, Draws, Model, Unit], str]
"""Starts its threads and returns what happens, in words."""

HARDWARE = frozenset({"ane-hw-intervals", "ane-hw-intervals-internal", "metal-gpu-intervals", "mps-hw-intervals"})
"""Tables of the compute units."""
FRAME_RATES = (60, 50, 30, 25, 24, 20, 15)


def session(seed: int) -> RandomApp:
    """One session, in half of all cases beside a model that is used as it should be."""
    return session_of(Draws(90_000 + seed), SESSIONS[seed % len(SESSIONS)], ALONE, nameless=True)


def session_of(draws: Draws, build: Builder, alone: Collection[Builder], *, nameless: bool = False) -> RandomApp:
    """The session of a builder, beside a healthy model on another unit unless it is one of those `alone`; `nameless`:
    rows of some name no model."""
    generic = {"generic_labels": draws.chance(100)} if nameless else {}
    made = RandomApp(Simulation(draws, handover_ns=draws.integer(0, 300) * 1_000, **generic))
    own, other = draw_models(draws, 2)
    unit = draws.choice(UNITS)
    made.story.append(f"{own.base}: {build.__name__}, {build(made, draws, own, unit)}, on {unit}")
    if build not in alone and draws.chance(500):
        add_healthy(made, draws, other, draws.choice([each for each in UNITS if each != unit]))
    return finished(made)


def one_name_in_two_processes(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """All processes are recorded; another one calls a model of the same name, which takes other times there."""
    simulation = made.simulation
    simulation.scenario.all_processes = True
    other = simulation.process("Widget", 40_123)
    length = draws.integer(4, 12) * MS
    theirs = length * draws.integer(15, 40) // 10
    # Rows of the GPU name the process, whatever the numbers of the instances.
    model_there = Model(model.base, 1 if unit == "gpu" and draws.chance(400) else 2)
    period = (length + theirs) * draws.integer(2, 3)
    step, step_there = step_on(unit, length, draws), step_on(unit, theirs, draws)
    simulation.start(
        paced_app(simulation.app, model, (step,), period_ns=period, drops=False, calls=draws.integer(60, 120))
    )
    simulation.start(
        paced_app(other, model_there, (step_there,), period_ns=period, phase_ns=period // 2, drops=False, calls=60)
    )
    # No label tells the work of the one from that of the other.
    made.unclear.add(model.base)
    made.allowed.add(("foreign-neural-engine-work", None))
    return f"{length // MS} and {theirs // MS} ms"


def settings_to_and_fro(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """The user changes a setting to and fro; each change loads the model in another configuration, which takes other
    times. Loads take a few hundredths of the time."""
    app, slower = made.simulation.app, draws.integer(13, 40)
    lengths = [draws.integer(5, 12) * MS]
    lengths.append(lengths[0] * slower // 10)
    units = (unit, unit if draws.chance(600) else draws.choice(UNITS))
    at_pace, numbered, changes = draws.chance(400), draws.chance(500), draws.integer(3, 7)

    def thread() -> Thread:
        for turn in range(changes):
            loaded = Model(model.base, turn + 1) if numbered else model
            steps = (step_on(units[turn % 2], lengths[turn % 2], draws),)
            calls, load = draws.integer(80, 130), draws.integer(15, 25) * MS
            if at_pace:
                yield from paced_app(app, loaded, steps, period_ns=2 * max(lengths), calls=calls, load_ns=load)
            else:
                yield from steady(app, loaded, steps, calls=calls, gap_ns=150_000, load_ns=load)
            yield from app.pause(draws.integer(100, 3_000) * MS)

    made.simulation.start(thread())
    return f"{changes} loads, {slower / 10}x"


def assistant_with_tools(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Prompts of many lengths with their tokens, and tools or a reader between; one model for both, or two. In half of
    them the longest prompt, with all instructions, comes first."""
    app, token, turns = made.simulation.app, draws.integer(5, 14) * MS, draws.integer(4, 14)
    prompt = model if draws.chance(600) else Model(f"{model.base}_prefill")
    lengths = [draws.integer(20, 900) * MS for _ in range(turns)]
    first_is_longest = draws.chance(500)
    if first_is_longest:
        lengths[0] = max(lengths) * draws.integer(11, 20) // 10

    def thread() -> Thread:
        yield from app.load(model, 170 * MS, engine=unit == "neural engine")
        if prompt != model:
            yield from app.load(prompt, 150 * MS, engine=unit == "neural engine")
        for length in lengths:
            yield from app.predict(prompt, step_on(unit, length, draws), inputs=4)
            for _ in range(draws.integer(8, 40)):
                yield from app.pause(150_000)
                yield from app.predict(model, step_on(unit, token, draws), inputs=4)
            yield from app.pause(draws.integer(150, 4_000) * MS)

    made.simulation.start(thread())
    return f"{turns} prompts, {'one model' if prompt == model else 'two models'}" + ", longest first" * first_is_longest


def speculative_decoding(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """A draft model guesses a few tokens, which the target model checks at once; then again. A round takes as long as
    it takes, by chance as long as a frame of a camera."""
    app, guesses, turns = made.simulation.app, draws.integer(3, 6), draws.integer(3, 6)
    draft, target = Model(f"{model.base}_draft"), Model(f"{model.base}_target")
    round_ns = 1_000 * MS // draws.choice(FRAME_RATES) if draws.chance(500) else draws.integer(15, 70) * MS
    guess = round_ns * draws.integer(30, 60) // 100 // guesses
    check = round_ns - guesses * guess - (guesses + 1) * 250_000
    draft_unit = draws.choice(UNITS)
    adaptive = draws.chance(300)

    def thread() -> Thread:
        for each, on in ((target, unit), (draft, draft_unit)):
            yield from app.load(each, 120 * MS, engine=on == "neural engine")
        for _ in range(turns):
            prompt = draws.integer(40, 500) * MS
            yield from app.predict(target, step_on(unit, prompt, draws), inputs=4)
            yield from app.predict(draft, step_on(draft_unit, prompt // 5, draws), inputs=4)
            for _ in range(draws.integer(15, 30)):
                for _ in range(draws.integer(1, guesses) if adaptive else guesses):
                    yield from app.predict(draft, step_on(draft_unit, guess, draws), inputs=4)
                    yield from app.pause(150_000)
                yield from app.predict(target, step_on(unit, check, draws), inputs=4)
                yield from app.pause(150_000)
            yield from app.pause(draws.integer(1_100, 3_000) * MS)

    made.simulation.start(thread())
    return f"{guesses} guesses on {draft_unit}, {round_ns / MS:.1f} ms per round"


def two_in_flight(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Two calls are in flight all the time, started one after the other or by two threads. On the Neural Engine and the
    GPU they queue behind each other, and behind nobody else."""
    app, steps = made.simulation.app, (step_on(unit, draws.integer(4, 20) * MS, draws),)
    calls = draws.integer(70, 140)
    if draws.chance(500):
        made.simulation.start(overlapping(app, model, steps, in_flight=2, calls=calls))
        return "started ahead"

    def threads() -> Thread:
        yield from app.load(model, engine=unit == "neural engine")
        both = [app.start(steady(app, model, steps, calls=calls // 2, load_ns=0)) for _ in range(2)]
        for task in both:
            yield from app.join(task)

    made.simulation.start(threads())
    return "by two threads"


def camera_of_changing_rate(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """A camera whose frame rate changes once or a few times, as with the light. Each frame is in time at each rate."""
    app, rates = made.simulation.app, list(draws.permutation(FRAME_RATES)[: draws.integer(2, 3)])
    if draws.chance(500):
        rates = [24, 20] if draws.chance(500) else [*rates, *rates]
    periods = [1_000 * MS // rate for rate in rates]
    made.cameras[model.base] = min(periods)
    steps = (step_on(unit, min(periods) * draws.integer(15, 50) // 100, draws),)

    def thread() -> Thread:
        yield from app.load(model, engine=unit == "neural engine")
        for period in periods:
            yield from paced_app(app, model, steps, period_ns=period, calls=draws.integer(50, 120), load_ns=0)

    made.simulation.start(thread())
    return f"{rates} fps"


def instances_on_two_units(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """Two instances take turns on two units, for as long on the one as on the other. No table of the hardware was
    recorded: Core ML's own rows show the units."""
    app, length = made.simulation.app, draws.integer(6, 14) * MS
    made.simulation.scenario.missing |= HARDWARE
    other = draws.choice([each for each in UNITS if each != unit])
    pair = [(Model(model.base, 1), unit), (Model(model.base, 2), other)]
    calls = draws.integer(60, 120)

    def thread() -> Thread:
        for instance, _ in pair:
            yield from app.load(instance, 120 * MS)
        for index in range(calls):
            instance, on = pair[index % 2]
            yield from app.predict(instance, step_on(on, length, draws), inputs=2)
            yield from app.pause(150_000)

    made.simulation.start(thread())
    return f"the second on {other}"


def hangs_of_another_cause(made: RandomApp, draws: Draws, model: Model, unit: Unit) -> str:
    """A camera's model runs in the background all the time, while something else makes the main thread hang."""
    app, period = made.simulation.app, 1_000 * MS // draws.choice((60, 30))
    hangs, length = draws.integer(3, 7), draws.integer(120, 700) * MS
    frames = (hangs + 1) * 2_200 * MS // period
    steps = (step_on(unit, period * draws.integer(15, 50) // 100, draws),)
    made.cameras[model.base] = period
    made.simulation.start(paced_app(app, model, steps, period_ns=period, calls=frames))

    def hang() -> Thread:
        for _ in range(hangs):
            yield from app.pause(draws.integer(1_300, 1_900) * MS)
            made.simulation.scenario.hang(app.now_ns // 125 * 125, length)

    made.simulation.start(hang(), made.simulation.clock.now_ns + 500 * MS)
    return f"{hangs} hangs"


SESSIONS: tuple[Builder, ...] = (
    one_name_in_two_processes,
    settings_to_and_fro,
    assistant_with_tools,
    speculative_decoding,
    two_in_flight,
    camera_of_changing_rate,
    instances_on_two_units,
    hangs_of_another_cause,
)
ALONE = {instances_on_two_units, hangs_of_another_cause}
"""What a model beside would make ambiguous: work that no hardware row shows, and calls that meet a hang by chance."""
