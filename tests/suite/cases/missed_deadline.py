"""Calls that are too slow for the frame they belong to."""

from __future__ import annotations

from suite.frame import (
    INSUFFICIENT,
    LOOKALIKE,
    NEAR_ABOVE,
    NEAR_BELOW,
    NEGATIVE,
    NOT_APPLICABLE,
    POSITIVE,
    Allowed,
    cases,
    each,
)
from suite.one_model import EXACT, loaded, repeat, several_loaded, started
from suite.weight import Weight
from tracekit.testing import Draws, Model
from tracekit.testing.apps import MS, camera_app, cpu_app, draw_models, neural_engine_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine
from tracekit.testing.simulation import Simulation, Thread

ID = "missed-deadline"
BUDGET_60 = {"missed-deadline.budget_ms": 16.7}
BUDGET_30 = {"missed-deadline.budget_ms": 33.3}


def too_slow_for_60(draws: Draws) -> App:
    """Every call takes 20 to 30 ms, at 30 frames a second."""
    return camera_app(draws, fps=30, compute_ns=draws.integer(20, 28) * MS)


def too_slow_for_30(draws: Draws) -> App:
    """A model on the GPU that takes 40 to 60 ms."""
    app, model = loaded(draws)
    return repeat(app, model, lambda _: gpu(draws.integer(40, 60) * MS), 60, 300_000)


def by_turns(draws: Draws, theirs_ms: int) -> App:
    """Two instances of a model at the same pace, each of which keeps its own: all starts together look like 50 frames
    a second of which every third is dropped, after the longer calls."""
    app, model = started(draws, **EXACT)
    first, second = Model(model.base, 1), Model(model.base, 2)
    app.load(first)
    app.load(second)
    begin = app.now_ns + 100 * MS
    for index in range(90):
        for caller, phase_ms, took_ms in ((first, 0, 10), (second, 20, theirs_ms)):
            start = begin + (60 * index + phase_ms) * MS
            app.scenario.predict(caller, start, took_ms * MS).event("CPU", 0, took_ms * MS - 200_000)
    app.now_ns = begin + 90 * 60 * MS
    return app


def in_time(draws: Draws) -> App:
    """Calls of 4 to 10 ms."""
    return neural_engine_app(draws, compute_ns=draws.integer(4, 10) * MS)


def late(draws: Draws, count: int) -> App:
    """So many of 200 calls take 18 ms and the others 12 ms, without any jitter."""
    app, model = loaded(draws, **EXACT)
    app.predict(model, neural_engine(12 * MS))
    every = 200 // max(count, 1)
    for index in range(200):
        slow = index % every == 0 and index // every < count
        app.predict(model, cpu((18 if slow else 12) * MS))
        app.pause(150_000)
    return app


def cold_calls(draws: Draws) -> App:
    """Only the first calls after loads are late: one in ten."""
    app, model = started(draws)
    for _ in range(4):
        app.load(model, 30 * MS, engine=True)
        repeat(app, model, lambda call: neural_engine((22 if call == 0 else 8) * MS), 10)
        app.pause(6_000 * MS)
    return app


def no_budget(draws: Draws) -> App:
    """Slow work that nobody waits for frame by frame."""
    return cpu_app(draws, compute_ns=draws.integer(60, 90) * MS)


def seldom(draws: Draws) -> App:
    """One late call in forty."""
    return neural_engine_app(draws, compute_ns=lambda index: (30 if index % 40 == 20 else 9) * MS, predictions=120)


def few_calls(draws: Draws) -> App:
    """A dozen slow calls."""
    return neural_engine_app(draws, compute_ns=25 * MS, predictions=draws.integer(8, 19), runs=1)


def dropping(draws: Draws, fps: int, every: int, long_permille: int = 1_350) -> App:
    """A camera; one prediction in `every` takes this much of a frame, and the frame that comes meanwhile is dropped."""
    app, model = loaded(draws)
    first, period, frame = app.now_ns + 20 * MS, 1_000 * MS // fps, 0
    for index in range(120):
        app.now_ns = first + frame * period + draws.integer(0, 1_600) * 125
        slow = index % every == every - 1
        app.predict(model, neural_engine(period * (long_permille if slow else 550) // 1_000))
        frame = (app.now_ns - first) // period + 1
    return app


def frames_of_30(draws: Draws, every: int) -> App:
    """30 fps, and one in so many predictions costs a frame."""
    return dropping(draws, 30, every)


def two_in_one_frame(draws: Draws) -> App:
    """Two models of 10 ms each in every frame of 33 ms: either keeps within 16.7 ms."""
    app, (first, second) = several_loaded(draws, 2)
    begin = app.now_ns + 20 * MS
    for frame in range(80):
        app.now_ns = begin + frame * 1_000 * MS // 30
        app.predict(first, neural_engine(10 * MS))
        app.predict(second, neural_engine(10 * MS))
    return app


def skipped_on_purpose(draws: Draws) -> App:
    """Every fourth frame is left out, and no prediction takes longer than a frame."""
    app, model = loaded(draws)
    first, period = app.now_ns + 20 * MS, 1_000 * MS // 30
    for frame in range(140):
        if frame % 4 != 3:
            app.now_ns = first + frame * period + draws.integer(0, 1_600) * 125
            app.predict(model, neural_engine(18 * MS))
    return app


def two_lengths(draws: Draws) -> App:
    """Calls of 32 and 65 ms that follow each other at once: by chance near one and two frames."""
    return neural_engine_app(
        draws, compute_ns=lambda index: (63 if index % 4 == 3 else 30) * MS, predictions=100, runs=1
    )


def overlapping(draws: Draws) -> App:
    """30 fps; one in five predictions takes longer than a frame, and the next one starts in time."""
    app, model = loaded(draws)
    first = app.now_ns + 20 * MS
    for frame in range(120):
        app.now_ns = first + frame * 1_000 * MS // 30
        app.predict(model, cpu((42 if frame % 5 == 4 else 16) * MS), inputs=0, wait=False)
    return app


FREE: tuple[Allowed, ...] = ("latency-jitter", "shape-switching")
"""Every nth prediction that takes longer may rightly be called jitter, or a second shape."""


def together(draws: Draws, slow: int) -> App:
    """Two models for each frame of a camera; in some frames (per thousand) the second takes so long that both together
    take longer than the frame."""
    simulation = Simulation(draws)
    app, (first, second) = simulation.app, draw_models(draws, 2)
    period = 33_333_000

    def thread() -> Thread:
        yield from app.load(first)
        yield from app.load(second)
        begin, frame = app.now_ns, 0
        for _ in range(150):
            frame = max(frame, -(-(app.now_ns - begin) // period))
            yield from app.until(max(app.now_ns, begin + frame * period + draws.integer(0, 1_000) * 125))
            yield from app.predict(first, neural_engine(13 * MS))
            yield from app.predict(second, neural_engine((24 if draws.chance(slow) else 11) * MS))
            frame += 1

    simulation.start(thread())
    return simulation.run()


def missed_by(draws: Draws, percent: int) -> App:
    """So many of a hundred calls take 20 ms and the others 12 ms, in no order."""
    app, model = loaded(draws, **EXACT)
    app.predict(model, neural_engine(12 * MS))
    begin = app.now_ns + 10 * MS
    for index in range(200):
        slow = index * 37 % 100 < percent
        app.scenario.predict(model, begin + index * 50 * MS, (20 if slow else 12) * MS).event("CPU", 0, 11 * MS)
    app.now_ns = begin + 200 * 50 * MS
    return app


MISSED = {7: "low", 12: "medium", 30: "high", 60: "critical", 100: "critical"}
"""Calls of a hundred that miss the budget, and how severe that is: a fact, which saves nothing."""

CASES = [
    *(
        case
        for percent, severity in MISSED.items()
        for case in each(
            ID,
            POSITIVE,
            (percent,) * 2,
            missed_by,
            settings=BUDGET_60,
            also=("latency-jitter",),
            weight=Weight(severity, savings_ms=0),
        )
    ),
    *each(ID, POSITIVE, (2, 3, 4, 6, 8, 10), frames_of_30, also=FREE),
    # 60 fps.
    *each(ID, POSITIVE, (3, 5, 9), lambda draws, every: dropping(draws, 60, every), also=FREE),
    *each(ID, NEAR_ABOVE, (17, 18, 19), frames_of_30, also=FREE),
    *each(ID, NEAR_BELOW, (22, 25, 40), frames_of_30, also=FREE),
    *cases(ID, LOOKALIKE, 2, two_in_one_frame, settings=BUDGET_60, page="Several models run in one frame"),
    *cases(ID, LOOKALIKE, 2, skipped_on_purpose, page="The app skips frames on purpose"),
    *cases(ID, LOOKALIKE, 2, two_lengths, also=FREE),
    *each(
        ID,
        LOOKALIKE,
        (22, 24, 26, 28),
        by_turns,
        also=(*FREE, "shape-switching", "duplicate-instances"),
        page="Several processes or instances",
    ),
    *cases(ID, LOOKALIKE, 2, overlapping, also=(*FREE, "concurrent-predictions"), page="Long predictions overlap"),
    *cases(ID, POSITIVE, 6, too_slow_for_60, settings=BUDGET_60),
    *cases(ID, POSITIVE, 5, too_slow_for_30, settings=BUDGET_30),
    *cases(ID, NEGATIVE, 6, in_time, settings=BUDGET_60),
    *cases(ID, NEGATIVE, 5, too_slow_for_60, settings=BUDGET_30 | {"missed-deadline.missed_share": 1}),
    *each(ID, NEAR_ABOVE, (10, 11, 12, 13, 14), late, settings=BUDGET_60),
    *each(ID, NEAR_BELOW, (5, 6, 7, 8, 9), late, settings=BUDGET_60),
    *cases(ID, LOOKALIKE, 2, cold_calls, settings=BUDGET_60, page="The first prediction after a load"),
    *cases(ID, LOOKALIKE, 2, no_budget, expected=NOT_APPLICABLE, page="No one waits for the work"),
    *cases(ID, LOOKALIKE, 2, seldom, settings=BUDGET_60),
    *cases(ID, INSUFFICIENT, 3, few_calls, settings=BUDGET_60),
    *each(
        ID, INSUFFICIENT, (200, 250, 300), together, also=("latency-jitter", "shape-switching"), page="Several models"
    ),
    *each(ID, NEGATIVE, (0, 0), together),
]
