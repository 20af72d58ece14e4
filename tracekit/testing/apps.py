"""Clean recordings of the usual kinds of apps: nothing in them is a problem. Tests add one, detectors must find it.

Each function returns an `App` that is still being recorded, so that calls, rows and other processes can be added before
`finish`. Names, counts, durations, device and version of Xcode are drawn unless given. Further keywords go to
`start_recording`. Every recording holds 60 to 200 predictions unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracekit.testing.recorder import App, Stage, Step, Unit, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model

Amount = int | Callable[[int], int]
"""A time in ns, or a function from the number of the prediction (from 0) to one. Jitter comes on top."""
Before = Callable[[App, int], None]
"""Called with the app and the number of the prediction before it is asked for. May load, pause, occupy devices, ..."""

MS = 1_000_000

NAMES = (
    "Segmenter",
    "StyleTransfer",
    "PoseNet",
    "DepthAnything-small",
    "caption_encoder",
    "TextRecognizer",
    "9f2c51d6a8e04b7796cd1a3385e0f4b2",
    "MobileCLIP-s0",
    "Denoiser",
    "vad",
    "SuperRes-2",
    "Landmarks",
)
"""Base names as compiled models have them."""


def draw_models(draws: Draws, count: int = 1) -> list[Model]:
    """Models of different names."""
    names = list(NAMES)
    return [Model(names.pop(draws.integer(0, len(names) - 1))) for _ in range(count)]


def steady_app(
    draws: Draws,
    unit: Unit,
    *,
    compute_ns: Amount,
    predictions: int | None = None,
    period_ns: Amount | None = None,
    gap_ns: Amount | None = None,
    runs: int | None = None,
    model: Model | None = None,
    inputs: int = 1,
    load_ns: int = 90 * MS,
    before: Before | None = None,
    **recording: Any,
) -> App:
    """One model on one unit, loaded once from the cache and called one prediction after the other.

    Calls follow each other at once (after a hundredth of the work; `gap_ns` instead), or at the pace of `period_ns`.
    The user pauses for a second or two between `runs` of calls. The first call after the load takes a quarter longer,
    unless `compute_ns` is a function.
    """
    app = start_recording(draws, **recording)
    drawn = model or draw_models(draws)[0]
    count = predictions or draws.integer(60, 100)
    run_length = -(-count // (runs or draws.integer(1, 3)))
    app.load(drawn, load_ns, engine=unit == "neural engine")
    for index in range(count):
        if index and index % run_length == 0:
            app.pause(1_600 * MS)
        if before is not None:
            before(app, index)
        work = _amount(compute_ns, index)
        start = app.now_ns
        first = index == 0 and isinstance(compute_ns, int)
        app.predict(drawn, Step(unit, work * 5 // 4 if first else work), inputs=inputs)
        if period_ns is None:
            app.pause(_amount(gap_ns, index) if gap_ns is not None else work // 100)
        else:
            app.now_ns = max(app.now_ns, start + draws.around(_amount(period_ns, index), min(app.work.jitter, 8)))
    return app


def neural_engine_app(draws: Draws, *, compute_ns: Amount | None = None, **options: Any) -> App:
    """A model on the Neural Engine; takes what `steady_app` takes. Work: 4 to 18 ms."""
    work = compute_ns if compute_ns is not None else draws.integer(4, 18) * MS
    return steady_app(draws, "neural engine", compute_ns=work, **{"inputs": draws.integer(1, 5), **options})


def gpu_app(draws: Draws, *, compute_ns: Amount | None = None, **options: Any) -> App:
    """A model on the GPU; takes what `steady_app` takes. Work: 8 to 40 ms."""
    work = compute_ns if compute_ns is not None else draws.integer(8, 40) * MS
    return steady_app(draws, "gpu", compute_ns=work, **{"inputs": draws.integer(1, 5), **options})


def cpu_app(draws: Draws, *, compute_ns: Amount | None = None, **options: Any) -> App:
    """A model on the CPU, which leaves no copies; takes what `steady_app` takes. Work: 2 to 15 ms."""
    work = compute_ns if compute_ns is not None else draws.integer(2, 15) * MS
    return steady_app(draws, "cpu", compute_ns=work, **{"inputs": 0, **options})


def camera_app(
    draws: Draws,
    *,
    fps: int | None = None,
    compute_ns: Amount | None = None,
    frames: int | None = None,
    before: Before | None = None,
    **recording: Any,
) -> App:
    """A model on the Neural Engine at the pace of a camera of 30 or 60 frames a second, which the app also draws.

    A prediction takes a quarter to a half of the frame, and the drawing does not slow it down.
    """
    app = start_recording(draws, **recording)
    drawn = draw_models(draws)[0]
    period = 1_000 * MS // (fps or draws.choice((30, 60)))
    work = compute_ns if compute_ns is not None else period * draws.integer(25, 45) // 100
    app.load(drawn, engine=True)
    first = app.now_ns
    for index in range(frames or draws.integer(70, 140)):
        app.now_ns = max(app.now_ns, first + index * period + draws.integer(0, 3_200) * 125)
        if before is not None:
            before(app, index)
        app.scenario.gpu_work(app.now_ns + period // 5, draws.around(period // 12), app.scenario.target, frame=index)
        app.predict(drawn, neural_engine(_amount(work, index)), inputs=1)
    return app


def pipeline_app(draws: Draws, *, stages: tuple[Stage, ...] | None = None, **recording: Any) -> App:
    """A pipeline of two or three stages, called one prediction after the other."""
    app = start_recording(draws, **recording)
    pipeline = Model(f"{draw_models(draws)[0].base}Pipeline")
    scale = draws.integer(4, 10) * MS
    parts = stages or (
        Stage("Backbone", (neural_engine(scale),)),
        Stage("Decoder", (neural_engine(scale // 2),)),
        *((Stage("Suppression", (cpu(scale // 5),)),) if draws.chance(500) else ()),
    )
    app.load(pipeline, 140 * MS, engine=True)
    for _ in range(draws.integer(60, 90)):
        app.predict(pipeline, *parts)
        app.pause(scale // 60)
    return app


def many_models_app(draws: Draws, *, before: Before | None = None, **recording: Any) -> App:
    """Three to five models on all units, called one after the other in each of 25 to 40 rounds.

    `before` gets the number of the round.
    """
    app = start_recording(draws, **recording)
    models = draw_models(draws, draws.integer(3, 5))
    makers = (neural_engine, gpu, cpu)
    steps = [makers[k % 3](draws.integer(3, 9) * MS) for k in range(len(models))]
    for model, step in zip(models, steps, strict=True):
        app.load(model, draws.integer(15, 160) * MS, engine=step.unit == "neural engine")
    for index in range(draws.integer(25, 40)):
        if before is not None:
            before(app, index)
        for model, step in zip(models, steps, strict=True):
            app.predict(model, step, inputs=0 if step.unit == "cpu" else 2)
            app.pause(60_000)
    return app


def decoder_app(
    draws: Draws,
    *,
    turns: int | None = None,
    tokens: int | None = None,
    compute_ns: Amount | None = None,
    copy_ns: int = 1_625,
    **recording: Any,
) -> App:
    """A language model with state: in each turn a prefill, then a decode for each token, all of the same length.

    `models` are prefill and decode; `compute_ns` is that of the decode calls, numbered through.
    """
    app = start_recording(draws, **recording)
    base = draw_models(draws)[0].base
    prefill, decode = Model(f"{base}_prefill"), Model(f"{base}_decode")
    work = compute_ns if compute_ns is not None else draws.integer(8, 16) * MS
    app.load(decode, 180 * MS, engine=True)
    app.load(prefill, 160 * MS, engine=True)
    number = 0
    for _ in range(turns or draws.integer(2, 4)):
        app.predict(prefill, neural_engine(28 * MS), inputs=4)
        for _ in range(tokens or draws.integer(25, 40)):
            app.pause(150_000)
            app.predict(decode, neural_engine(_amount(work, number)), inputs=5, copy_ns=copy_ns)
            number += 1
        app.pause(1_900 * MS)
    return app


def async_app(
    draws: Draws,
    *,
    in_flight: int = 2,
    compute_ns: Amount | None = None,
    predictions: int | None = None,
    alone: int = 12,
    unit: Unit = "neural engine",
    **recording: Any,
) -> App:
    """A model that is called without waiting, so that `in_flight` predictions overlap and queue for the unit.

    `alone` calls go first, one at a time. Two in flight is the limit of the framework itself.
    """
    app = start_recording(draws, **recording)
    drawn = draw_models(draws)[0]
    work = compute_ns if compute_ns is not None else draws.integer(5, 12) * MS
    app.load(drawn, engine=unit == "neural engine")
    for index in range(predictions or draws.integer(70, 110)):
        if index < alone:
            app.pause(2 * MS)
            app.predict(drawn, Step(unit, _amount(work, index)))
            continue
        app.now_ns = max(app.now_ns + 400_000, app.room_at(in_flight) + 50_000)
        app.predict(drawn, Step(unit, _amount(work, index)), wait=False)
    return app


def _amount(amount: Amount, index: int) -> int:
    return amount if isinstance(amount, int) else amount(index)
