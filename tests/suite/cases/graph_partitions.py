"""Graphs in several models with code of a runtime between them, and models that follow each other for other reasons."""

from __future__ import annotations

from suite.app_work import ALSO
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import without
from tracekit.testing import Draws, Model
from tracekit.testing.apps import MS, draw_models, pipeline_app
from tracekit.testing.recorder import App, Step, start_recording
from tracekit.testing.stacks import Frame, app_function, c_function

ID = "graph-partitions"
ORT, TORCH = ("/Frameworks/onnxruntime.framework/onnxruntime", "/Frameworks/executorch.framework/executorch")
RUNS = {
    "onnxruntime::Pad::Compute": (ORT, "onnxruntime::InferenceSession::Run"),
    "onnxruntime::Gather::Compute": (ORT, "onnxruntime::InferenceSession::Run"),
    "torch::executor::native::index_out": (TORCH, "executorch::runtime::Method::execute"),
}
INFER = app_function("infer", 52, "Enhancer.swift")


def operation(name: str) -> tuple[Frame, ...]:
    """What is on the stack while a runtime runs an operation."""
    library, run = RUNS[name]
    return c_function(library, name), c_function(library, run), INFER


def rounds(
    draws: Draws,
    between_ms: float,
    *,
    count: int = 30,
    size: int = 0,
    frames: tuple[Frame, ...] = (),
    prefix: str = "partition_",
    frame_ms: int = 0,
    exact: bool = False,
    rest_ns: int = 4 * MS,
) -> App:
    """Models in one order in each round, code between two of them, and other work of the app from round to round."""
    app = start_recording(draws, jitter=0, noise=False, code=True) if exact else start_recording(draws, code=True)
    size = size or draws.integer(3, 9)
    models = [Model(f"{prefix}{number}") for number in range(size)]
    unit = draws.choice(("neural engine", "gpu"))
    for model in models:
        app.load(model, 40 * MS)
    begin = app.now_ns
    for index in range(count):
        if frame_ms:
            app.now_ns = max(app.now_ns, begin + index * frame_ms * MS)
        for model in models:
            app.predict(model, Step(unit, 2 * MS if exact else draws.around(2 * MS, 150)))
            if model is not models[-1]:
                length = round(between_ms * MS) if exact else draws.around(round(between_ms * MS), 150)
                if frames:
                    app.busy(length, *frames)
                else:
                    app.now_ns += length
        if not frame_ms:
            rest = rest_ns if exact else draws.around(rest_ns, 300)
            app.busy(rest, app_function("present", 12, "View.swift"))
    return app


def one_operation(draws: Draws) -> App:
    """An operation that Core ML lacks, again and again."""
    return rounds(draws, draws.integer(2, 4), frames=operation(draws.choice(tuple(RUNS))))


def frames_of_a_camera(draws: Draws) -> App:
    """The same for each frame of a camera."""
    return rounds(draws, 2, size=draws.integer(4, 8), frames=operation("onnxruntime::Pad::Compute"), frame_ms=50)


def by_name(draws: Draws) -> App:
    """No call stacks, but models are named as the runtime names them."""
    app = rounds(draws, 2, prefix="onnxruntime-5A1C-")
    return without(app, "time-profile", "time-sample")


def share(draws: Draws, permille: int) -> App:
    """Code of the runtime between models for this share of the time: twice 2 ms a round."""
    pad = operation("onnxruntime::Pad::Compute")
    one = rounds(draws, 2, size=3, frames=pad, exact=True, count=1, rest_ns=0)
    predicted = sum(call.row.duration_ns for call in one.predictions)
    rest_ns = 4 * MS * 1_000 // permille - 4 * MS - predicted
    return rounds(draws, 2, size=3, frames=pad, exact=True, rest_ns=rest_ns)


def app_between(draws: Draws) -> App:
    """The app itself crops and scales between models."""
    return rounds(draws, 3, frames=(app_function("crop", 61, "Faces.swift"),))


def waiting_between(draws: Draws) -> App:
    """Nothing runs between them."""
    return rounds(draws, 2)


def encoder_and_decoder(draws: Draws) -> App:
    """Two graphs in turn, each with operations of the runtime."""
    return rounds(draws, 3, size=2, frames=operation("onnxruntime::Gather::Compute"))


def another_runtime(draws: Draws) -> App:
    """Code of a runtime that calls whole models."""
    library = "/Frameworks/WhisperKit.framework/WhisperKit"
    return rounds(draws, 3, frames=(c_function(library, "WhisperKit.TextDecoder.decode"), INFER))


def in_any_order(draws: Draws) -> App:
    """Three models, whichever is asked for, with code of the runtime between them."""
    app, models = start_recording(draws, code=True), draw_models(draws, 3)
    for model in models:
        app.load(model, 40 * MS)
    for _ in range(90):
        app.predict(draws.choice(tuple(models)), Step("neural engine", draws.around(2 * MS, 150)))
        app.busy(draws.around(3 * MS, 150), *operation("onnxruntime::Pad::Compute"))
    return app


def nine_rounds(draws: Draws) -> App:
    """Too few rounds."""
    return rounds(draws, 2, count=9, frames=operation("onnxruntime::Pad::Compute"))


GAPS = (*ALSO, "latency-jitter", "duplicate-instances", "excess-data-copies", "gpu-contention")
FIRST, PASSES = {"partition_0": "finding"}, {"partition_0": "passed"}

CASES = [
    *cases(ID, POSITIVE, 6, one_operation, expected=FIRST, also=GAPS),
    *cases(ID, POSITIVE, 3, frames_of_a_camera, expected=FIRST, also=GAPS),
    *cases(ID, POSITIVE, 2, by_name, expected={"onnxruntime-5A1C-0": "finding"}, also=GAPS),
    *each(ID, NEAR_ABOVE, (101, 103, 106, 115, 130), share, expected=FIRST, also=GAPS),
    *each(ID, NEAR_BELOW, (99, 97, 94, 85, 70), share, expected=PASSES, also=GAPS, page="The operations"),
    *cases(ID, NEGATIVE, 4, app_between, also=GAPS, page="The app itself calls"),
    *cases(ID, NEGATIVE, 3, waiting_between, also=GAPS),
    *cases(ID, NEGATIVE, 3, pipeline_app),
    *cases(ID, LOOKALIKE, 2, encoder_and_decoder, also=GAPS),
    *cases(ID, LOOKALIKE, 2, another_runtime, also=GAPS, page="Another runtime calls"),
    *cases(ID, LOOKALIKE, 2, in_any_order, also=GAPS),
    # Nine rounds.
    *cases(ID, INSUFFICIENT, 3, nine_rounds, also=GAPS),
]
