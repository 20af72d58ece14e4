"""Models whose first call after each pause is slow."""

from __future__ import annotations

from suite.cases.shape_switching import prompt_and_tokens
from suite.cases.warm_up_spike import slow_first
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, several_loaded
from tracekit.testing import Draws
from tracekit.testing.apps import MS, neural_engine_app
from tracekit.testing.recorder import App, Step, Unit, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "slow-after-idle"


def uses(
    draws: Draws,
    unit: Unit = "neural engine",
    *,
    pauses: int = 6,
    calls: int = 14,
    usual_ns: int = 9 * MS,
    first_ns: int = 0,
    host_ns: int = 0,
    period_ns: int = 0,
) -> App:
    """The user comes back so many times. The first call of each use takes `first_ns` of work instead of the usual, and
    `host_ns` without any row to explain it."""
    app, model = loaded(draws, engine=unit == "neural engine")
    for _ in range(pauses + 1):
        begin = app.now_ns
        for index in range(calls):
            work = first_ns or usual_ns if index == 0 else usual_ns
            inputs = 0 if unit == "cpu" else 2
            app.predict(model, Step(unit, work), inputs=inputs, host_ns=host_ns if index == 0 else 0)
            app.now_ns = max(app.now_ns + 150_000, begin + (index + 1) * period_ns)
        app.pause(draws.integer(2_000, 6_000) * MS)
    return app


def taken_from_memory(draws: Draws) -> App:
    """After each pause, the first call first brings the program back: no unit works meanwhile."""
    return uses(draws, draws.choice(("neural engine", "gpu", "cpu")), host_ns=draws.integer(25, 90) * MS)


def low_clocks(draws: Draws) -> App:
    """Frames of a camera, with pauses: the unit works three times as long for the first one."""
    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return uses(draws, unit, first_ns=draws.integer(24, 32) * MS, period_ns=33_333_000)


def ratio(draws: Draws, permille: int) -> App:
    """Exact calls of 20 ms, and this much of it after each pause."""
    app = start_recording(draws, **EXACT)
    model = Model("Landmarks")
    app.load(model)
    for index in range(80):
        length = 20_000 * (permille if index % 10 == 0 else 1_000)
        app.scenario.predict(model, app.now_ns, length).event("CPU", 1_000, 18 * MS)
        app.now_ns += length + (3_000 if index % 10 == 9 else 1) * MS
    return app


def others_work_first(draws: Draws) -> App:
    """When the user comes back, another process has the Neural Engine."""

    def before(app: App, index: int) -> None:
        if index and index % 12 == 0:
            app.occupy("neural engine", app.now_ns, 30 * MS)

    return neural_engine_app(draws, compute_ns=8 * MS, predictions=84, runs=7, before=before)


def slow_at_any_time(draws: Draws) -> App:
    """Every fourth call is held up, after a pause or not."""
    app, model = loaded(draws, engine=True)
    for index in range(96):
        app.predict(model, Step("neural engine", 8 * MS), host_ns=26 * MS if index % 4 == 0 else 0)
        app.pause(2_500 * MS if index % 12 == 11 else 200_000)
    return app


def _speculating(draws: Draws, frames: int, camera: bool = False) -> App:
    """In each round a small model drafts some tokens, and the large one, which takes longer when it is asked first,
    checks them. With a `camera` the round waits for the next frame."""
    app, (target, draft) = several_loaded(draws, 2, engine=True, jitter=6)
    drafted = draws.integer(2, 4)
    period = 1_000 * MS // frames
    for _ in range(7):
        begin = app.now_ns
        for index in range(16):
            if camera:
                app.now_ns = max(app.now_ns, begin + index * 2 * period)
            repeat(app, draft, neural_engine(period // 3 // drafted), drafted, 100_000)
            # The rest of the frame, less what surrounds the work of each call.
            rest = period - period // 3 - 2_070_000 - drafted * 220_000
            app.predict(target, neural_engine(rest * 3 if index == 0 else rest))
            app.pause(100_000)
        app.pause(draws.integer(2_000, 5_000) * MS)
    return app


HELD_UP = ("unexplained-time",)
CONTENTION = ("neural-engine-contention", "foreign-neural-engine-work")


def with_a_prompt(draws: Draws) -> App:
    """Each use opens with a prompt, and its program is brought back first: each alone would make the call slow."""
    unit = draws.choice(("neural engine", "gpu", "cpu"))
    return uses(draws, unit, first_ns=draws.integer(60, 150) * MS, host_ns=draws.integer(40, 60) * MS)


CASES = [
    *cases(ID, POSITIVE, 6, taken_from_memory, also=HELD_UP),
    *cases(ID, POSITIVE, 6, low_clocks),
    # The same uses, and no call is slow.
    *cases(ID, NEGATIVE, 6, lambda draws: uses(draws, draws.choice(("neural engine", "gpu", "cpu")))),
    # Frames of a camera, with pauses.
    *cases(ID, NEGATIVE, 5, lambda draws: uses(draws, period_ns=33_333_000)),
    *each(ID, NEAR_ABOVE, (2_000, 2_010, 2_030, 2_060, 2_100), ratio, also=HELD_UP),
    *each(ID, NEAR_BELOW, (1_999, 1_990, 1_970, 1_940, 1_900), ratio, also=HELD_UP),
    *cases(ID, LOOKALIKE, 2, prompt_and_tokens, page="A prompt precedes its tokens"),
    *cases(ID, LOOKALIKE, 2, others_work_first, also=CONTENTION, page="Predictions queue behind other work"),
    *cases(ID, LOOKALIKE, 2, slow_at_any_time, also=("latency-jitter", *HELD_UP), page="Predictions are slow at any"),
    # No pause at all.
    *cases(ID, LOOKALIKE, 2, lambda draws: neural_engine_app(draws, predictions=80, runs=1)),
    *cases(ID, LOOKALIKE, 3, slow_first, also=("warm-up-spike",), page="The first prediction after a"),
    # A camera whose frames are of two models, one after the other; clocks are low after each pause.
    *each(ID, POSITIVE, (30, 25), lambda draws, frames: _speculating(draws, 2 * frames, camera=True)),
    # A round takes as long as a frame by chance; the first is a prompt.
    *each(ID, INSUFFICIENT, (15, 24, 25, 30), _speculating, page="A prompt precedes its tokens"),
    # Too few of them.
    *cases(ID, INSUFFICIENT, 2, lambda draws: uses(draws, pauses=2, calls=30, host_ns=40 * MS), also=HELD_UP),
    # The unit works longer for the first call, and the others follow at once: a text generator looks the same.
    *cases(ID, INSUFFICIENT, 2, lambda draws: uses(draws, first_ns=30 * MS), page="A prompt precedes its tokens"),
    *cases(ID, POSITIVE, 4, with_a_prompt, also=("shape-switching", "latency-jitter", *HELD_UP)),
]
