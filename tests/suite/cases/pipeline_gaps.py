"""Apps that work longer than their models."""

from __future__ import annotations

from functools import partial

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, several_loaded
from suite.weight import Weight
from tracekit.testing import Draws, SignpostRow
from tracekit.testing.apps import MS, Amount, camera_app, cpu_app, draw_models, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, cpu, gpu, neural_engine
from tracekit.testing.rows import Model
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.stacks import app_function
from tracekit.testing.threads import paced_app

ID = "pipeline-gaps"
SERIAL = ("serial-predictions",)


def changing(draws: Draws, low_ms: int, high_ms: int) -> Amount:
    """Work that differs from call to call, as images do."""
    return lambda _: draws.integer(low_ms * 10, high_ms * 10) * MS // 10


def packing_pixels(draws: Draws) -> App:
    """A loop over pixels takes two to four times as long as the prediction."""
    return neural_engine_app(
        draws, compute_ns=changing(draws, 4, 10), gap_ns=changing(draws, 13, 26), predictions=150, runs=1
    )


def decoding_boxes(draws: Draws) -> App:
    """The same on the GPU, in several runs, with more work for some images."""
    return gpu_app(draws, compute_ns=changing(draws, 9, 14), gap_ns=changing(draws, 22, 34), predictions=150, runs=2)


def before_the_first_of_two(draws: Draws) -> App:
    """Two models in turn; the app prepares the input of the first."""
    app, (first, second) = several_loaded(draws, 2)
    for _ in range(120):
        app.pause(draws.integer(19, 29) * MS)
        app.predict(first, neural_engine(draws.integer(4, 8) * MS))
        app.pause(100_000)
        app.predict(second, cpu(draws.integer(15, 25) * MS // 10), inputs=0)
    return app


def with_signposts(draws: Draws) -> App:
    """The app's work takes any time, and signposts show it."""
    app, model = loaded(draws)
    for _ in range(60):
        length = draws.integer(5, 90) * MS
        app.scenario.signposts.append(
            SignpostRow(app.now_ns + 50_000, length - 100_000, "Preprocess", "com.example.photolab", "Vision")
        )
        app.now_ns += length
        app.predict(model, neural_engine(8 * MS))
    return app


def gap_share(draws: Draws, permille: int) -> App:
    """Gaps that are this much of the time, in turn with longer and shorter calls."""
    app, model = loaded(draws, **EXACT)
    app.now_ns += 3_000 * MS
    for index in range(150):
        length = (6, 14, 10, 8, 12)[index * 7 % 5] * MS
        app.scenario.predict(model, app.now_ns, length).event("CPU", 1_000, length - 2_000)
        gap = 10 * MS * permille // (1_000 - permille) // 125 * 125
        app.now_ns += length + gap
    return app


def unsteady_camera(draws: Draws) -> App:
    """Frames come some milliseconds early or late, and one in six is dropped."""
    app, model = loaded(draws)
    first = app.now_ns
    for frame in range(150):
        if draws.chance(160):
            continue
        app.now_ns = max(app.now_ns, first + frame * 33 * MS + draws.integer(0, 6_000) * 1_000)
        app.predict(model, neural_engine(draws.integer(60, 100) * MS // 10))
    return app


def typing(draws: Draws) -> App:
    """The user types: a call for each letter, whenever it comes."""
    app, model = loaded(draws)
    for _ in range(80):
        app.pause(draws.integer(80, 700) * MS)
        app.predict(model, cpu(3 * MS), inputs=0)
    return app


def loading_between(draws: Draws) -> App:
    """What lies between the calls is loading, which another detector judges."""

    def before(app: App, index: int) -> None:
        if index:
            app.load(app.model, 30 * MS)

    return neural_engine_app(draws, before=before, predictions=60, runs=1)


def other_models_between(draws: Draws) -> App:
    """A quick model waits for two slow ones."""
    app, models = several_loaded(draws, 3)
    for _ in range(60):
        for model, work in zip(models, (2, 14, 18), strict=True):
            app.predict(model, neural_engine(work * MS))
            app.pause(100_000)
    return app


def _at_rates(draws: Draws, rates: tuple[int, ...], pause_ms: int) -> App:
    """A camera at some frame rates, one after the other. The slower frames hold more noise, so calls take longer."""
    app, model = loaded(draws)
    for rate in rates:
        begin, period, longest = app.now_ns, 1_000 * MS // rate, 300 // rate
        works = changing(draws, longest * 9 // 10, longest)
        for frame in range(draws.integer(60, 110)):
            app.now_ns = begin + frame * period + draws.integer(0, 600) * 1_000
            app.predict(model, neural_engine(works(frame)))
        app.now_ns = begin + (frame + 1) * period + pause_ms * MS
    return app


def camera_in_the_dark(draws: Draws, rates: tuple[int, ...]) -> App:
    """The camera lowers its rate as light fails, and raises it again."""
    return _at_rates(draws, rates, 0)


def camera_opened_again(draws: Draws, rates: tuple[int, ...]) -> App:
    """After a pause, the camera runs at another rate."""
    return _at_rates(draws, rates, 3_000)


def camera_then_photos(draws: Draws) -> App:
    """A camera, and then photos whose pixels the app packs in a loop."""
    app = _at_rates(draws, (24, 20), 3_000)
    works, packs = changing(draws, 8, 15), changing(draws, 16, 27)
    return repeat(app, app.models[0], lambda index: neural_engine(works(index)), 120, packs)


def timer(draws: Draws) -> App:
    """Twice a second, by a timer."""
    return cpu_app(draws, compute_ns=6 * MS, period_ns=500 * MS, predictions=60, runs=1)


def sleeping(draws: Draws) -> App:
    """The app sleeps for 40 ms after each call, and wakes up to 6 ms late."""
    return neural_engine_app(
        draws, compute_ns=changing(draws, 5, 12), gap_ns=changing(draws, 40, 46), predictions=120, runs=1
    )


def sleeping_exactly(draws: Draws, sleep_ms: int) -> App:
    """The same for other times, which vary by some thousandths."""
    return cpu_app(draws, jitter=10, compute_ns=changing(draws, 5, 12), gap_ns=sleep_ms * MS, predictions=120, runs=1)


def _steadily(draws: Draws, *, working: bool) -> App:
    """Gaps of 40 ms with call stacks: as long as a sleep and as even, whatever the app does in them."""
    app, model = loaded(draws, code=True)
    works = changing(draws, 5, 12)
    for index in range(120):
        app.predict(model, neural_engine(works(index)))
        gap = draws.integer(400, 460) * MS // 10
        if working:
            app.busy(gap, app_function("pack", 61, "Pixels.swift"))
        else:
            app.now_ns += gap
    return app


def _on_events(simulation: Simulation, draws: Draws, model: Model, calls: int = 40) -> None:
    """Another model on the GPU, called whenever something happens."""

    def thread() -> Thread:
        yield from simulation.app.load(model)
        for _ in range(calls):
            yield from simulation.app.predict(model, gpu(draws.integer(12, 20) * MS))
            yield from simulation.app.pause(draws.integer(20, 150) * MS)

    simulation.start(thread(), 300 * MS)


def _beside_events(draws: Draws, work_ns: Amount, pause_ns: Amount) -> App:
    """Calls with pauses in between, on the Neural Engine."""
    simulation = Simulation(draws, jitter=10)
    model, other = draw_models(draws, 2)

    def thread() -> Thread:
        yield from simulation.app.load(model)
        for index in range(150):
            yield from simulation.app.predict(model, neural_engine(work_ns(index)))
            yield from simulation.app.pause(pause_ns(index))

    simulation.start(thread())
    _on_events(simulation, draws, other)
    return simulation.run()


def sleeping_beside_events(draws: Draws) -> App:
    """A sleep of a fixed time, into which the other model falls."""
    return _beside_events(draws, changing(draws, 5, 12), changing(draws, 40, 44))


def camera_beside_events(draws: Draws) -> App:
    """Frames of a camera for a small model, and the other model."""
    simulation = Simulation(draws)
    (model, other), steps = draw_models(draws, 2), changing(draws, 5, 10)
    work = paced_app(
        simulation.app, model, lambda index: (neural_engine(steps(index)),), period_ns=33_333_000, calls=120
    )
    simulation.start(work)
    _on_events(simulation, draws, other)
    return simulation.run()


CASES = [
    # Most of the time is lost, however little of it a prediction can hide.
    *cases(ID, POSITIVE, 4, packing_pixels, weight=Weight("critical")),
    *cases(ID, POSITIVE, 4, decoding_boxes),
    *cases(ID, POSITIVE, 2, before_the_first_of_two),
    *cases(ID, POSITIVE, 2, with_signposts, weight=Weight("critical")),
    # A loop over pixels, and a model on another unit that falls into the pauses by chance.
    *cases(ID, POSITIVE, 4, lambda draws: _beside_events(draws, changing(draws, 4, 10), changing(draws, 17, 27))),
    # Call stacks show the loop over pixels.
    *cases(ID, POSITIVE, 3, lambda draws: _steadily(draws, working=True)),
    *cases(ID, POSITIVE, 3, camera_then_photos),
    *each(ID, NEGATIVE, ((24, 20), (30, 24, 20), (30, 24), (24, 20, 24)) * 2, camera_in_the_dark),
    *each(ID, NEGATIVE, ((24, 20), (30, 25, 20), (20, 30), (25, 20)) * 2, camera_opened_again),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, gpu_app),
    *cases(ID, NEGATIVE, 3, camera_app),
    *cases(ID, NEGATIVE, 2, pipeline_app),
    *each(ID, NEAR_ABOVE, (501, 505, 510, 520, 530), gap_share, weight=Weight("critical")),
    *each(ID, NEAR_BELOW, (499, 495, 490, 480, 470), gap_share, also=SERIAL),
    # A model that takes a tenth of the frame.
    *cases(ID, LOOKALIKE, 2, lambda draws: camera_app(draws, compute_ns=draws.integer(2, 4) * MS)),
    *cases(ID, LOOKALIKE, 3, unsteady_camera, page="Camera frames"),
    *cases(ID, LOOKALIKE, 2, typing, page="The user or the network"),
    *cases(ID, LOOKALIKE, 1, loading_between, also=("reload-before-predict", "cold-load", "load-churn")),
    *cases(ID, LOOKALIKE, 1, other_models_between, page="Other models run or load"),
    *cases(ID, LOOKALIKE, 4, sleeping, expected="not_evaluated", page="The app sleeps for a fixed"),
    # No code of the app runs in the gaps.
    *cases(
        ID, LOOKALIKE, 3, partial(_steadily, working=False), expected="not_evaluated", page="The app sleeps for a fixed"
    ),
    *cases(ID, LOOKALIKE, 3, sleeping_beside_events, page="The app sleeps for a fixed"),
    *cases(ID, LOOKALIKE, 3, camera_beside_events, page="Camera frames"),
    *each(ID, LOOKALIKE, (17, 20, 33, 50, 90), sleeping_exactly),
    *cases(ID, LOOKALIKE, 1, timer, page="Camera frames"),
    # Eight photos.
    *cases(ID, INSUFFICIENT, 3, partial(neural_engine_app, compute_ns=8 * MS, gap_ns=20 * MS, predictions=8, runs=1)),
]
