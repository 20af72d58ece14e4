"""Decoders whose app copies arrays between steps, and copies that no step waits for."""

from __future__ import annotations

from suite.app_work import ALSO, loaded
from suite.cases.pipeline_gaps import changing
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import unseen
from support.scenarios import COPY_BYTES, READ_ELEMENT
from tracekit.testing import Draws
from tracekit.testing.apps import MS, decoder_app, neural_engine_app
from tracekit.testing.recorder import App, Step, cpu
from tracekit.testing.stacks import PREDICT, Frame, app_function, core_ml, objective_c

ID = "copies-between-predictions"
SERIAL = "serial-predictions"
UPDATES = app_function("update", 88, "KVCache.swift"), app_function("update", 89, "KVCache.swift")
SAMPLE = app_function("sample", 31, "Sampler.swift")
COPIES: tuple[tuple[Frame, ...], ...] = (
    (COPY_BYTES,),
    (COPY_BYTES, core_ml("-[MLMultiArray copyWithZone:]")),
    (core_ml("-[MLMultiArray transferToMultiArray:]"),),
    (COPY_BYTES, core_ml("+[MLMultiArray multiArrayByConcatenatingMultiArrays:alongAxis:dataType:]")),
)
"""What is on the stack above the function of the app."""


def steps(draws: Draws, copy_ms: float, *, sample_ms: float = 0, work_ms: int = 9, count: int = 120) -> App:
    """Steps of a decoder, after each of which the app copies two arrays in two lines, and then takes the next token."""
    app = loaded(draws)
    unit, copy = draws.choice(("neural engine", "gpu")), draws.choice(COPIES)
    for _ in range(count):
        app.predict(app.model, Step(unit, draws.around(work_ms * MS, 80)))
        for update in UPDATES if copy_ms else ():
            app.busy(draws.around(round(copy_ms * MS / 2), 80), *copy, update)
        if sample_ms:
            app.busy(draws.around(round(sample_ms * MS), 80), SAMPLE)
    return app


def whole_cache(draws: Draws) -> App:
    """The copies take a quarter to nearly half of each step."""
    return steps(draws, draws.integer(4, 8))


def whole_cache_and_sampling(draws: Draws) -> App:
    """The app also samples the next token, for half as long."""
    return steps(draws, 6, sample_ms=3)


def longer_than_the_model(draws: Draws) -> App:
    """Copies of a small model take longer than it does."""
    return steps(draws, 9, work_ms=5)


def share(draws: Draws, permille: int) -> App:
    """The app copies for this share of the time between calls of 8 to 12 ms, or waits for nothing else."""
    app = loaded(draws, 40, exact=True)
    spent = copied = 0
    for index in range(150):
        begin = app.now_ns
        app.predict(app.model, cpu((8, 12, 10, 9, 11)[index * 7 % 5] * MS), inputs=0)
        # A sample each ms: steps without a copy make up for whole ms.
        spent += app.now_ns - begin
        due = round(spent * permille / (1_000 - permille) / MS) - copied
        copied += due
        if due:
            app.busy(due * MS, COPY_BYTES, UPDATES[0])
    return app


def another_thread(draws: Draws) -> App:
    """A thread that does not predict copies what it shows."""
    app = steps(draws, 0, sample_ms=4)
    assert app.code is not None
    app.code.thread = 2
    start = app.predictions[3].row.start_ns
    app.code.runs(start, app.now_ns - start, COPY_BYTES, app_function("show", 14, "Transcript.swift"))
    return app


def by_core_ml(draws: Draws) -> App:
    """Core ML copies inside its calls, and the app samples between them."""
    app = steps(draws, 0, sample_ms=3)
    assert app.code is not None
    for prediction in app.predictions:
        app.code.runs(prediction.row.start_ns + MS, 2 * MS, COPY_BYTES, *PREDICT)
    return app


def element_by_element(draws: Draws) -> App:
    """The app reads the logits one element at a time."""
    app = loaded(draws)
    for _ in range(120):
        app.predict(app.model, Step("neural engine", draws.around(9 * MS, 80)))
        app.busy(draws.around(5 * MS, 80), READ_ELEMENT, SAMPLE)
    return app


def camera_frames(draws: Draws) -> App:
    """The app copies each frame of a camera, and waits for the next one."""
    app, works = loaded(draws), changing(draws, 5, 9)
    begin = app.now_ns
    for frame in range(120):
        app.now_ns = max(app.now_ns, begin + frame * 33_333_000)
        app.busy(8 * MS, COPY_BYTES, app_function("frame", 51, "Camera.swift"))
        app.predict(app.model, Step("neural engine", works(frame)))
    return app


def of_another_framework(draws: Draws) -> App:
    """A framework copies memory for itself."""
    app, archives = loaded(draws), objective_c("Foundation", "-[NSKeyedArchiver encodeObject:forKey:]")
    for _ in range(120):
        app.predict(app.model, Step("neural engine", draws.around(9 * MS, 80)))
        app.busy(draws.around(5 * MS, 80), COPY_BYTES, archives, SAMPLE)
    return app


GAPS = (*ALSO, "latency-jitter")

CASES = [
    *cases(ID, POSITIVE, 5, whole_cache, also=("warm-up-spike",)),
    *cases(ID, POSITIVE, 3, whole_cache_and_sampling, also=("warm-up-spike",)),
    *cases(ID, POSITIVE, 2, longer_than_the_model, also=("warm-up-spike", "pipeline-gaps")),
    *cases(ID, POSITIVE, 2, lambda draws: unseen(whole_cache(draws)), also=GAPS),
    # The app samples tokens, and copies nothing.
    *cases(ID, NEGATIVE, 6, lambda draws: steps(draws, 0, sample_ms=draws.integer(3, 6)), also=GAPS),
    *cases(ID, NEGATIVE, 4, lambda draws: steps(draws, 0), also=GAPS),
    *each(ID, NEAR_ABOVE, (103, 108, 115, 125, 150), share, also=GAPS),
    *each(ID, NEAR_BELOW, (97, 92, 85, 75, 50), share, also=GAPS),
    *cases(ID, LOOKALIKE, 2, another_thread, also=GAPS, page="A thread that does not predict copies"),
    *cases(ID, LOOKALIKE, 2, by_core_ml, also=GAPS, page="Core ML copies inside"),
    *cases(ID, LOOKALIKE, 2, element_by_element, also=(*GAPS, "element-wise-access"), page="The app reads outputs"),
    *cases(ID, LOOKALIKE, 2, camera_frames, also=GAPS, page="Camera frames, audio"),
    *cases(ID, LOOKALIKE, 2, of_another_framework, also=GAPS),
    *cases(ID, INSUFFICIENT, 2, neural_engine_app),
    *cases(ID, INSUFFICIENT, 1, decoder_app),
    # A dozen steps.
    *cases(ID, INSUFFICIENT, 1, lambda draws: steps(draws, 6, count=12), also=GAPS),
]
