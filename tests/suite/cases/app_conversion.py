"""Apps that convert pixels or audio between predictions, and conversions that no prediction waits for."""

from __future__ import annotations

from suite.app_work import ALSO, insufficient, loaded, near
from suite.frame import LOOKALIKE, NEGATIVE, POSITIVE, cases
from suite.one_model import repeat, unseen
from support.scenarios import CONVERT_PIXELS, SCALE_PIXELS
from tracekit.testing import Draws
from tracekit.testing.apps import MS
from tracekit.testing.recorder import App, cpu, gpu
from tracekit.testing.stacks import PREDICT, app_function, objective_c

ID = "app-conversion"
PACK = app_function("pack", 120, "Input.swift")
AUDIO = objective_c("AVFAudio", "-[AVAudioConverter convertToBuffer:error:withInputFromBlock:]")
FILTER = objective_c("CoreImage", "-[CIContext render:toCVPixelBuffer:]")


def recorded(draws: Draws, convert_ms: int) -> App:
    """Predictions on the CPU, before each of which the same thread converts for so long."""
    app = loaded(draws)
    function = draws.choice((CONVERT_PIXELS, SCALE_PIXELS, AUDIO, FILTER))
    for _ in range(60):
        if convert_ms:
            app.busy(draws.integer(convert_ms * 7, convert_ms * 13) * MS // 10, function, PACK)
        app.predict(app.model, cpu(10 * MS), inputs=0)
        app.pause(draws.integer(1, 9) * MS)
    return app


def each_input(draws: Draws) -> App:
    """Every input is scaled or converted."""
    return recorded(draws, draws.integer(4, 14))


def for_the_gpu(draws: Draws) -> App:
    """The GPU waits for conversions."""
    app = loaded(draws)
    for _ in range(50):
        app.busy(draws.integer(5, 12) * MS, CONVERT_PIXELS, PACK)
        app.predict(app.model, gpu(9 * MS))
    return app


def own_work(draws: Draws) -> App:
    """The app works between predictions, and converts nothing."""
    app = loaded(draws)
    for _ in range(60):
        app.busy(4 * MS, PACK)
        app.predict(app.model, cpu(10 * MS), inputs=0)
        app.pause(draws.integer(1, 9) * MS)
    return app


def permille(draws: Draws, converting: int) -> App:
    """So many samples of 1,000 are in conversions. Nothing else was sampled but a load."""
    app = loaded(draws, 40, exact=True)
    app.predict(app.model, cpu(10 * MS), inputs=0)
    app.busy(converting * MS, CONVERT_PIXELS, PACK)
    before = len(app.scenario.samples)
    app.predict(app.model, cpu(10 * MS), inputs=0)
    others = 2 * (len(app.scenario.samples) - before)
    app.busy((1_000 - converting - others) * MS, PACK)
    return app


def samples(draws: Draws, count: int) -> App:
    """So many samples in conversions, a third of all or more."""
    app = loaded(draws, 40, exact=True)
    app.predict(app.model, cpu(8 * MS), inputs=0)
    app.busy(count * MS, CONVERT_PIXELS, PACK)
    app.predict(app.model, cpu(8 * MS), inputs=0)
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
    app = loaded(draws)
    app.busy(300 * MS, CONVERT_PIXELS, PACK)
    return repeat(app, app.model, cpu(10 * MS), 60, 3 * MS, inputs=0)


def hardly_sampled(draws: Draws) -> App:
    """Less than 20 ms of running threads."""
    app = loaded(draws, exact=True)
    app.predict(app.model, cpu(4 * MS), inputs=0)
    app.busy(5 * MS, CONVERT_PIXELS, PACK)
    app.predict(app.model, cpu(4 * MS), inputs=0)
    return app


CASES = [
    *cases(ID, POSITIVE, 6, each_input, also=ALSO),
    *cases(ID, POSITIVE, 4, for_the_gpu, also=ALSO),
    # Core ML's table stays empty; call stacks alone tell.
    *cases(ID, POSITIVE, 2, lambda draws: unseen(each_input(draws)), also=ALSO),
    # Inputs need no conversion.
    *cases(ID, NEGATIVE, 5, lambda draws: recorded(draws, 0), also=ALSO),
    *cases(ID, NEGATIVE, 5, own_work, also=ALSO),
    *near(ID, permille, samples),
    *cases(ID, LOOKALIKE, 2, on_another_thread, also=ALSO, page="The app converts images that it shows"),
    *cases(ID, LOOKALIKE, 1, on_another_thread, also=ALSO, page="Conversions of the next input"),
    *cases(ID, LOOKALIKE, 2, by_core_ml, also=ALSO, page="Core ML or Vision converts"),
    *cases(ID, LOOKALIKE, 1, before_the_first, also=ALSO),
    *insufficient(ID, hardly_sampled),
]
