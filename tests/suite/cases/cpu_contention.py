"""Models that share the CPU."""

from __future__ import annotations

from functools import partial
from typing import Any

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, Allowed, cases, each
from suite.one_model import EXACT, several_loaded
from tracekit.testing import Draws, Model
from tracekit.testing.apps import MS
from tracekit.testing.recorder import App, neural_engine

ID = "cpu-contention"
LATE: tuple[Allowed, ...] = ("latency-jitter", "shape-switching")
"""Predictions that slow down now and then may rightly be called jitter too, and their steps may look like shapes."""


def two_models(draws: Draws, **options: Any) -> tuple[App, Model, Model]:
    """Two loaded models, long before the first call."""
    app, (first, second) = several_loaded(draws, 2, **options)
    app.now_ns += 100 * MS
    return app, first, second


def on_cpu(app: App, model: Model, start_ns: int, length_ns: int) -> None:
    """A prediction that works on the CPU from its first µs to its last."""
    start, length = start_ns // 125 * 125, length_ns // 125 * 125
    app.predictions.append(app.scenario.predict(model, start, length))
    app.predictions[-1].event("CPU", 2_000, length - 10_000)


def together(
    app: App, models: tuple[Model, Model], work_ns: tuple[int, int], late_ns: int = 0, slow_permille: int = 1_800
) -> int:
    """Both at once, the second `late_ns` after the first. While both work, each takes `slow_permille` thousandths of
    its time. Returns the end of the later one in ns."""
    (first, second), (mine, other), late = models, work_ns, min(late_ns, work_ns[0])
    both = min(mine - late, other)
    ends = (late + both * slow_permille // 1_000 + (mine - late - both), both * slow_permille // 1_000 + (other - both))
    on_cpu(app, first, app.now_ns, ends[0])
    on_cpu(app, second, app.now_ns + late, ends[1])
    return app.now_ns + max(ends[0], late + ends[1])


def rounds(
    draws: Draws, often: int = 5, slow_permille: int = 1_800, count: int = 80, late_us: tuple[int, int] = (0, 900)
) -> App:
    """In `often` of ten rounds two models run at once, in the others one after the other."""
    app, first, second = two_models(draws)
    work = draws.integer(8, 20) * MS
    for index in range(count):
        mine, other = draws.around(work), draws.around(work)
        if index * often // 10 != (index + 1) * often // 10:
            late = draws.integer(*late_us) * 1_000
            app.now_ns = together(app, (first, second), (mine, other), late, slow_permille)
        else:
            on_cpu(app, first, app.now_ns, mine)
            on_cpu(app, second, app.now_ns + mine + 400_000, other)
            app.now_ns += mine + other + 400_000
        app.now_ns += 800_000
    return app


def in_the_background(draws: Draws) -> App:
    """A long model runs in phases; a short one, which the user waits for, is called all the time."""
    app, short, long = two_models(draws)
    work = draws.integer(6, 10) * MS
    for _ in range(6):
        begin = app.now_ns
        for _ in range(8):
            length = draws.around(work) * 17 // 10
            on_cpu(app, short, app.now_ns, length)
            app.now_ns += length + 300_000
        on_cpu(app, long, begin - 100_000, app.now_ns - begin)
        for _ in range(8):
            length = draws.around(work)
            on_cpu(app, short, app.now_ns, length)
            app.now_ns += length + 300_000
        app.now_ns += 5 * MS
    return app


def exact(
    draws: Draws, overlap_permille: int, slow_permille: int, affected: int = 50, filled_permille: int = 1_000
) -> App:
    """Exact predictions of 10 ms. Of so many of 100, another model covers this share of the first 10 ms, and they are
    longer by `slow_permille` thousandths, of which the other one covers `filled_permille`."""
    app, first, second = two_models(draws, **EXACT)
    alone = 5 * MS
    for index in range(100):
        slow = index * affected // 100 != (index + 1) * affected // 100
        extra = 10 * MS * (slow_permille - 1_000) // 1_000 if slow else 0
        prediction = app.scenario.predict(first, app.now_ns, 10 * MS + extra)
        prediction.event("CPU", 0, 10 * MS + extra)
        covered = max(10 * MS * overlap_permille // 1_000, extra * filled_permille // 1_000)
        alone = covered if slow else alone
        if slow:
            app.scenario.predict(second, app.now_ns, covered).event("CPU", 0, covered)
        app.now_ns += 40 * MS
        app.scenario.predict(second, app.now_ns, alone).event("CPU", 0, alone)
        app.now_ns += 20 * MS
    return app


def so_slow(draws: Draws, permille: int) -> App:
    """Half of the predictions are longer by this share."""
    return exact(draws, 500, 1_000 + permille)


def so_much(draws: Draws, permille: int) -> App:
    """The other model covers this share of half of the predictions, which are a quarter longer."""
    return exact(draws, permille, 1_250, filled_permille=500)


def so_many(draws: Draws, count: int) -> App:
    """This many of 100 are half as long again."""
    return exact(draws, 600, 1_500, affected=count)


def nearly_alone(draws: Draws) -> App:
    """Every seventh prediction meets the last tenth of another one: too little to slow it down."""
    app, first, second = two_models(draws)
    for index in range(90):
        length = draws.around(12 * MS)
        on_cpu(app, first, app.now_ns, length)
        if index % 7 == 0:
            on_cpu(app, second, app.now_ns + length * 9 // 10, 9 * MS)
        app.now_ns += length + 12 * MS
    return app


def more_work(draws: Draws) -> App:
    """Every other prediction has three times the work, and another model runs for a part of it."""
    app, first, second = two_models(draws)
    for index in range(80):
        length = draws.around(30 * MS if index % 2 else 10 * MS)
        on_cpu(app, first, app.now_ns, length)
        if index % 2:
            on_cpu(app, second, app.now_ns + 100_000, 5 * MS)
        app.now_ns += length + 6 * MS
    return app


def of_any_length(draws: Draws) -> App:
    """Predictions of 8 or 24 ms, and another model that runs every 40 ms, whatever the first one does."""
    app, first, second = two_models(draws)
    begin = app.now_ns
    for _ in range(120):
        length = draws.around(24 * MS if draws.chance(500) else 8 * MS, 20)
        on_cpu(app, first, app.now_ns, length)
        app.now_ns += length + draws.integer(1, 9) * MS
    for start in range(begin, app.now_ns, 40 * MS):
        on_cpu(app, second, start, draws.around(14 * MS))
    return app


def other_units(draws: Draws) -> App:
    """Two models on the Neural Engine that prepare little on the CPU at the same time, one behind the other."""
    app, first, second = two_models(draws)
    for _ in range(60):
        one = app.predict(first, neural_engine(8 * MS), wait=False)
        one.event("CPU", 20_000, 300_000)
        two = app.predict(second, neural_engine(6 * MS), wait=False)
        two.event("CPU", 20_000, 300_000)
        app.now_ns = max(one.row.end_ns, two.row.end_ns) + 9 * MS
    return app


in_turn = partial(rounds, often=0)
"""Two models on the CPU, one after the other."""
cores_of_their_own = partial(rounds, slow_permille=1_000)
"""Two models at once that do not slow each other down."""

CASES = [
    # Half of the predictions take 1.8 times as long.
    *cases(ID, POSITIVE, 5, rounds, also=(ID, *LATE)),
    # Two to seven of ten, between 1.4 and 2 times as long.
    *cases(
        ID, POSITIVE, 5, lambda draws: rounds(draws, draws.integer(2, 7), draws.integer(1_400, 2_000)), also=(ID, *LATE)
    ),
    *cases(ID, POSITIVE, 3, in_the_background, also=LATE),
    *cases(ID, NEGATIVE, 5, in_turn),
    *cases(ID, NEGATIVE, 5, cores_of_their_own),
    *cases(ID, NEGATIVE, 3, nearly_alone, also=("serial-predictions",)),
    *each(ID, NEAR_ABOVE, (200, 205, 215, 230), so_slow, also=LATE),
    *each(ID, NEAR_ABOVE, (200, 205), so_much, also=LATE),
    *each(ID, NEAR_ABOVE, (10, 11), so_many, also=LATE),
    *each(ID, NEAR_BELOW, (150, 180, 190, 199), so_slow, also=LATE),
    *each(ID, NEAR_BELOW, (190, 199), so_much, also=LATE),
    *each(ID, NEAR_BELOW, (8, 9), so_many, also=LATE),
    *cases(ID, LOOKALIKE, 3, cores_of_their_own, page="Models that run at the same"),
    *cases(ID, LOOKALIKE, 2, more_work, also=LATE, page="Predictions do more work of their"),
    *cases(ID, LOOKALIKE, 3, of_any_length, also=LATE, page="A model's latency varies a lot"),
    *cases(ID, LOOKALIKE, 2, in_turn, page="Models alternate"),
    *cases(ID, LOOKALIKE, 2, other_units, also=(*LATE, "neural-engine-contention", "serial-predictions")),
    # Both at once in every round: without one alone there is nothing to compare with.
    *cases(ID, INSUFFICIENT, 2, partial(rounds, often=10, late_us=(0, 300)), page="Two models always run together"),
    # Nine rounds.
    *cases(ID, INSUFFICIENT, 2, partial(rounds, count=9), also=(ID, *LATE)),
]
