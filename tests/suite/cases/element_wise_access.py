"""Apps that touch multi-arrays element by element, and apps that hardly do."""

from __future__ import annotations

from suite.app_work import ALSO, insufficient, loaded, near
from suite.frame import LOOKALIKE, NEGATIVE, POSITIVE, cases
from suite.one_model import repeat, unseen
from support.scenarios import READ_ELEMENT, WRITE_ELEMENT
from tracekit.testing import Draws
from tracekit.testing.apps import MS
from tracekit.testing.machines import main_thread
from tracekit.testing.recorder import App, cpu, gpu
from tracekit.testing.stacks import START, SampleRow, Stack, app_function, core_ml

ID = "element-wise-access"
DECODE = app_function("decode", 88, "Decoder.swift")


def recorded(draws: Draws, elements_ms: int) -> App:
    """Predictions on the CPU, after each of which the app touches elements for so long."""
    app = loaded(draws)
    for _ in range(60):
        app.predict(app.model, cpu(10 * MS), inputs=0)
        if elements_ms:
            app.busy(
                draws.integer(elements_ms * 7, elements_ms * 13) * MS // 10,
                draws.choice((READ_ELEMENT, WRITE_ELEMENT)),
                DECODE,
            )
        app.pause(draws.integer(1, 9) * MS)
    return app


def reads_outputs(draws: Draws) -> App:
    """The app goes through each output."""
    return recorded(draws, draws.integer(3, 14))


def on_the_main_thread(draws: Draws) -> App:
    """The main thread does, without an interface."""
    app = loaded(draws)
    assert app.code is not None
    app.code.on_main, app.code.interface = True, False
    for _ in range(50):
        app.predict(app.model, gpu(8 * MS))
        app.busy(draws.integer(4, 9) * MS, READ_ELEMENT, DECODE)
        app.pause(2 * MS)
    return app


def through_pointers(draws: Draws) -> App:
    """The app works on whole buffers."""
    app = recorded(draws, 0)
    app.busy(80 * MS, DECODE)
    return app


def few_elements(draws: Draws) -> App:
    """The scores of a classifier: one sample in many calls."""
    app = recorded(draws, 0)
    for _ in range(3):
        app.busy(MS, READ_ELEMENT, DECODE)
        app.predict(app.model, cpu(10 * MS), inputs=0)
    return app


def permille(draws: Draws, elements: int) -> App:
    """So many samples of 1,000 are in element access. Nothing else was sampled but a load."""
    app = loaded(draws, 40, exact=True)
    app.predict(app.model, cpu(10 * MS), inputs=0)
    others = len(app.scenario.samples) - 40
    app.busy((1_000 - elements - others) * MS, DECODE)
    app.busy(elements * MS, READ_ELEMENT, DECODE)
    return app


def samples(draws: Draws, count: int) -> App:
    """So many samples in element access, half of all."""
    app = loaded(draws, 40, exact=True)
    app.predict(app.model, cpu(4 * MS), inputs=0)
    app.busy(20 * MS, DECODE)
    app.busy(count * MS, READ_ELEMENT, DECODE)
    return app


def core_ml_itself(draws: Draws) -> App:
    """Core ML reads elements for itself: no code of the app is on these stacks."""
    app = recorded(draws, 0)
    thread = main_thread(app.scenario.target)
    stack = Stack((READ_ELEMENT, core_ml("-[MLArrayBatchProvider featuresAtIndex:]"), START))
    rows = [SampleRow(app.now_ns + number * MS, thread, stack) for number in range(400)]
    app.scenario.samples += rows
    app.now_ns += 400 * MS
    return app


def once_at_start(draws: Draws) -> App:
    """A table is filled once, and then the app works on buffers."""
    app = loaded(draws)
    app.busy(25 * MS, WRITE_ELEMENT, DECODE)
    return repeat(app, app.model, cpu(12 * MS), 60, 3 * MS, inputs=0)


def hardly_sampled(draws: Draws) -> App:
    """Less than 20 ms of running threads."""
    app = loaded(draws, exact=True)
    app.predict(app.model, cpu(5 * MS), inputs=0)
    app.busy(6 * MS, READ_ELEMENT, DECODE)
    return app


CASES = [
    *cases(ID, POSITIVE, 6, reads_outputs, also=ALSO),
    *cases(ID, POSITIVE, 4, on_the_main_thread, also=ALSO),
    # Core ML's table stays empty; call stacks alone tell.
    *cases(ID, POSITIVE, 2, lambda draws: unseen(reads_outputs(draws)), also=ALSO),
    *cases(ID, NEGATIVE, 6, through_pointers, also=ALSO),
    *cases(ID, NEGATIVE, 5, few_elements, also=ALSO, page="Few elements are read"),
    *near(ID, permille, samples),
    *cases(ID, LOOKALIKE, 2, core_ml_itself, also=ALSO, page="Core ML or another framework reads"),
    *cases(ID, LOOKALIKE, 2, once_at_start, also=ALSO, page="Elements are read once"),
    *insufficient(ID, hardly_sampled),
]
