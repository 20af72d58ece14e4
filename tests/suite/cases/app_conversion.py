"""Apps that convert pixels or audio between predictions, and conversions that no prediction waits for."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models, gpu_app, neural_engine_app
from tracekit.testing.recorder import App, cpu, gpu, start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import (
    CONVERT_PIXELS,
    PREDICT,
    SCALE_PIXELS,
    app_function,
    objective_c,
)

ID = "app-conversion"
ALSO = ("pipeline-gaps", "serial-predictions", "main-thread-work", "warm-up-spike", "unaccounted-time")
PACK = app_function("pack", 120, "Input.swift")
AUDIO = objective_c("AVFAudio", "-[AVAudioConverter convertToBuffer:error:withInputFromBlock:]")
FILTER = objective_c("CoreImage", "-[CIContext render:toCVPixelBuffer:]")


def recorded(draws: Draws, convert_ms: int, *, calls: int = 60, work_ms: int = 10) -> App:
    """Predictions on the CPU, before each of which the same thread converts for so long."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model)
    function = draws.choice((CONVERT_PIXELS, SCALE_PIXELS, AUDIO, FILTER))
    for _ in range(calls):
        if convert_ms:
            app.busy(draws.integer(convert_ms * 7, convert_ms * 13) * MS // 10, function, PACK)
        app.predict(model, cpu(work_ms * MS), inputs=0)
        app.pause(draws.integer(1, 9) * MS)
    return app


def each_input(draws: Draws) -> App:
    """Every input is scaled or converted."""
    return recorded(draws, draws.integer(4, 14))


def for_the_gpu(draws: Draws) -> App:
    """The GPU waits for conversions."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(50):
        app.busy(draws.integer(5, 12) * MS, CONVERT_PIXELS, PACK)
        app.predict(model, gpu(9 * MS))
    return app


def unseen_by_core_ml(draws: Draws) -> App:
    """Core ML's table stays empty; call stacks alone tell."""
    app = each_input(draws)
    app.scenario.emptied.add(CORE_ML)
    return app


def as_delivered(draws: Draws) -> App:
    """Inputs need no conversion."""
    return recorded(draws, 0)


def own_work(draws: Draws) -> App:
    """The app works between predictions, and converts nothing."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model)
    for _ in range(60):
        app.busy(4 * MS, PACK)
        app.predict(model, cpu(10 * MS), inputs=0)
        app.pause(draws.integer(1, 9) * MS)
    return app


def permille(draws: Draws, converting: int) -> App:
    """So many samples of 1,000 are in conversions. Nothing else was sampled but a load."""
    app = start_recording(draws, jitter=0, noise=False, code=True)
    assert app.code is not None
    model = draw_models(draws)[0]
    app.load(model, 40 * MS)
    app.predict(model, cpu(10 * MS), inputs=0)
    app.busy(converting * MS, CONVERT_PIXELS, PACK)
    before = len(app.scenario.samples)
    app.predict(model, cpu(10 * MS), inputs=0)
    others = 2 * (len(app.scenario.samples) - before)
    app.busy((1_000 - converting - others) * MS, PACK)
    return app


def samples(draws: Draws, count: int) -> App:
    """So many samples in conversions, a third of all or more."""
    app = start_recording(draws, jitter=0, noise=False, code=True)
    model = draw_models(draws)[0]
    app.load(model, 40 * MS)
    app.predict(model, cpu(8 * MS), inputs=0)
    app.busy(count * MS, CONVERT_PIXELS, PACK)
    app.predict(model, cpu(8 * MS), inputs=0)
    app.busy(10 * MS, PACK)
    return app


def on_another_thread(draws: Draws) -> App:
    """A thread that does not predict scales images, for the screen or for the next prediction."""
    app = recorded(draws, 0)
    assert app.code is not None
    app.code.thread = 2
    start = app.predictions[3].row.start_ns
    app.code.runs(start, app.now_ns - start, SCALE_PIXELS, app_function("thumbnail", 14, "Gallery.swift"))
    return app


def by_core_ml(draws: Draws) -> App:
    """Core ML converts inside its own calls."""
    app = recorded(draws, 0)
    assert app.code is not None
    for prediction in app.predictions:
        app.code.runs(prediction.row.start_ns + MS, 4 * MS, CONVERT_PIXELS, *PREDICT)
    return app


def before_the_first(draws: Draws) -> App:
    """Images are converted before the model is called for the first time."""
    app = start_recording(draws, code=True)
    model = draw_models(draws)[0]
    app.load(model)
    app.busy(300 * MS, CONVERT_PIXELS, PACK)
    for _ in range(60):
        app.predict(model, cpu(10 * MS), inputs=0)
        app.pause(3 * MS)
    return app


def hardly_sampled(draws: Draws) -> App:
    """Less than 20 ms of running threads."""
    app = start_recording(draws, jitter=0, noise=False, code=True)
    model = draw_models(draws)[0]
    app.load(model)
    app.predict(model, cpu(4 * MS), inputs=0)
    app.busy(5 * MS, CONVERT_PIXELS, PACK)
    app.predict(model, cpu(4 * MS), inputs=0)
    return app


CASES = [
    *cases(ID, POSITIVE, 6, each_input, also=ALSO),
    *cases(ID, POSITIVE, 4, for_the_gpu, also=ALSO),
    *cases(ID, POSITIVE, 2, unseen_by_core_ml, also=("core-ml-not-instrumented", *ALSO)),
    *cases(ID, NEGATIVE, 5, as_delivered, also=ALSO),
    *cases(ID, NEGATIVE, 5, own_work, also=ALSO),
    *each(ID, NEAR_ABOVE, (100, 101, 110), permille, also=ALSO),
    *each(ID, NEAR_ABOVE, (20, 21), samples, also=ALSO),
    *each(ID, NEAR_BELOW, (99, 98, 90), permille, also=ALSO),
    *each(ID, NEAR_BELOW, (19, 18), samples, also=ALSO),
    *cases(ID, LOOKALIKE, 2, on_another_thread, also=ALSO, page="The app converts images that it shows"),
    *cases(ID, LOOKALIKE, 1, on_another_thread, also=ALSO, page="Conversions of the next input"),
    *cases(ID, LOOKALIKE, 2, by_core_ml, also=ALSO, page="Core ML or Vision converts"),
    *cases(ID, LOOKALIKE, 1, before_the_first, also=ALSO),
    *cases(ID, INSUFFICIENT, 1, neural_engine_app),
    *cases(ID, INSUFFICIENT, 1, gpu_app),
    *cases(ID, INSUFFICIENT, 2, hardly_sampled, also=ALSO),
]
