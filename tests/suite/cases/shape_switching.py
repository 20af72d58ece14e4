"""Inputs of several shapes."""

from __future__ import annotations

from collections.abc import Iterable

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.one_model import EXACT, loaded, repeat, several_loaded
from suite.several_loads import callers_of_one_name, loaded_again
from suite.together import Caller, together
from tracekit.testing import Draws
from tracekit.testing.apps import MS, camera_app, cpu_app, gpu_app, neural_engine_app, pipeline_app
from tracekit.testing.recorder import App, Step, Unit, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import Model

ID = "shape-switching"


def taking_turns(draws: Draws, fast: Step, slow: Step, slow_permille: int = 350, calls: int = 90) -> App:
    """Calls of both kinds in a random order."""
    app, model = loaded(draws, engine=True)
    return repeat(app, model, lambda _: slow if draws.chance(slow_permille) else fast, calls, 200_000)


def off_the_engine(draws: Draws) -> App:
    """The default shape runs on the Neural Engine, the other one on the CPU."""
    return taking_turns(draws, neural_engine(6 * MS), cpu(draws.integer(20, 40) * MS))


def off_to_the_gpu(draws: Draws) -> App:
    """The same with the GPU."""
    return taking_turns(draws, neural_engine(8 * MS), gpu(draws.integer(22, 40) * MS))


def slower_on_the_same_unit(draws: Draws) -> App:
    """Both shapes run on the GPU, one of them in a slower way, without any larger input."""
    return taking_turns(draws, gpu(10 * MS), gpu(draws.integer(26, 60) * MS), slow_permille=500)


def three_shapes(draws: Draws) -> App:
    """Three shapes, in phases of some calls each."""
    app, model = loaded(draws)
    for phase in range(18):
        repeat(app, model, neural_engine((6, 15, 40)[phase % 3] * MS), draws.integer(3, 8), 200_000)
    return app


def exact(draws: Draws, lengths_ns: Iterable[int]) -> App:
    """Calls of these lengths on the Neural Engine."""
    app, model = start_recording(draws, **EXACT), Model("Segmenter")
    app.load(model)
    app.predict(model, cpu(10 * MS))
    for length in lengths_ns:
        app.scenario.predict(model, app.now_ns, length).neural_engine(1_000, length - 2_000)
        app.now_ns += length + MS
    return app


def ratio(draws: Draws, permille: int) -> App:
    """Exact calls, every third of which takes this much of the others."""
    return exact(draws, (10_000 * (permille if index % 3 == 0 else 1_000) for index in range(90)))


def slow_share(draws: Draws, count: int) -> App:
    """So many of 100 calls take three times as long."""
    every = 100 // count
    slow = range(5, every * count, every)
    return exact(draws, ((30 if index in slow else 10) * MS for index in range(100)))


def prompt_and_tokens(draws: Draws) -> App:
    """Prefill and decode of one model: long calls open each answer."""
    app, model = loaded(draws, engine=True)
    for _ in range(draws.integer(4, 7)):
        repeat(app, model, lambda index: neural_engine((60 if index < 2 else 9) * MS), draws.integer(8, 14), 150_000)
        app.pause(1_900 * MS)
    return app


def waiting(draws: Draws) -> App:
    """Another process occupies the Neural Engine before every third call."""

    def before(app: App, index: int) -> None:
        if index % 3 == 1:
            app.occupy("neural engine", app.now_ns, 14 * MS)

    return neural_engine_app(draws, compute_ns=8 * MS, predictions=90, runs=1, before=before)


def held_up(draws: Draws) -> App:
    """Every third call takes longer on the host, with the same work on the Neural Engine."""
    app, model = loaded(draws)
    return repeat(
        app, model, neural_engine(8 * MS), 90, 200_000, host_ns=lambda index: 14 * MS if index % 3 == 0 else 0
    )


def larger_inputs(draws: Draws) -> App:
    """Small and large images: copying them takes longer too, and the work is in proportion."""
    app, model = loaded(draws)
    for _ in range(100):
        scale = draws.choice((1, 1, 3))
        app.predict(model, neural_engine(7 * scale * MS), copy_ns=60_000 * scale)
        app.pause(200_000)
    return app


def one_change(draws: Draws) -> App:
    """The user chooses another quality: a change for good."""
    return gpu_app(draws, compute_ns=lambda index: (9 if index < 70 else 24) * MS, predictions=100, runs=1)


def two_models(draws: Draws) -> App:
    """A fast and a slow model take turns."""
    app, models = several_loaded(draws, 2)
    for index in range(100):
        app.predict(models[index % 2], neural_engine((5, 30)[index % 2] * MS))
        app.pause(200_000)
    return app


def few_calls(draws: Draws) -> App:
    """A dozen calls of both kinds."""
    return taking_turns(draws, neural_engine(6 * MS), cpu(30 * MS), calls=draws.integer(8, 18))


def nothing_of_the_work(draws: Draws) -> App:
    """Neither Neural Engine nor GPU were recorded, so that working and waiting look the same."""
    app = taking_turns(draws, neural_engine(6 * MS), neural_engine(30 * MS))
    app.scenario.missing |= {app.scenario.xcode.neural_engine_schema, "metal-gpu-intervals", "mps-hw-intervals"}
    app.scenario.coreml[:] = [row for row in app.scenario.coreml if row.label != "Neural Engine Request"]
    return app


def beside_a_decoder(draws: Draws) -> App:
    """Two shapes on the Neural Engine, while another model decodes on the GPU without a break."""
    shapes = [draws.chance(350) for _ in range(120)]
    first = Caller("neural engine", lambda index: (22 if shapes[index] else 7) * MS, 40 * MS)
    return together(draws, first, Caller("gpu", lambda _: 11 * MS), calls=120)


JITTER = ("latency-jitter",)
ENGINE = ("neural-engine-contention", "foreign-neural-engine-work")
DEVICE = ("not-on-expected-unit",)


def growing_answers(draws: Draws) -> App:
    """Answers of a model without a cache: latency rises with each token, and starts afresh."""
    app, model = loaded(draws)
    for _ in range(3):
        for index in range(40):
            app.pause(150_000)
            app.predict(model, neural_engine((6 + index // 4) * MS))
        app.pause(2_000 * MS)
    return app


UNITS: tuple[Unit, ...] = ("neural engine", "gpu", "cpu")


def settings_to_and_fro(draws: Draws) -> App:
    """The user tries two settings in turn, and the app loads the model for each."""
    fast, slow = draws.integer(6, 9) * MS, draws.integer(20, 40) * MS
    unit = draws.choice(UNITS)
    return loaded_again(draws, unit, lambda load, _: slow if load % 2 else fast, loads=6)


def two_configurations(draws: Draws) -> App:
    """Two instances of different configurations, called in turn."""
    slow = draws.integer(24, 40) * MS
    return callers_of_one_name(draws, (lambda _: 8 * MS, lambda _: slow), (1, 2), unit=draws.choice(("gpu", "cpu")))


def two_processes(draws: Draws, numbers: tuple[int | None, int | None]) -> App:
    """All processes are recorded, and two of them call a model of one name."""
    slow = draws.integer(24, 40) * MS
    return callers_of_one_name(draws, (lambda _: 8 * MS, lambda _: slow), numbers, of_processes=True)


def two_processes_unnamed(draws: Draws) -> App:
    """The same on the CPU, where no row names a process."""
    works = (lambda _: 8 * MS, lambda _: 30 * MS)
    return callers_of_one_name(draws, works, (1, 1), of_processes=True, unit="cpu")


def on_each_load(draws: Draws) -> App:
    """Shapes change on each of several loads of two settings."""
    shapes = [draws.chance(350) for _ in range(40)]
    unit = draws.choice(UNITS)
    scale = draws.integer(13, 20)
    return loaded_again(
        draws,
        unit,
        lambda load, index: (25 if shapes[index] else 8) * (scale if load % 2 else 10) * MS // 10,
        loads=4,
        calls=40,
    )


def in_one_of_two_instances(draws: Draws) -> App:
    """One of two instances is given inputs of several shapes."""
    shapes = [draws.chance(350) for _ in range(60)]
    works = (lambda _: 15 * MS, lambda index: (40 if shapes[index] else 10) * MS)
    return callers_of_one_name(draws, works, (1, 2), calls=60, unit=draws.choice(("gpu", "cpu")))


def slow_by_any_amount(draws: Draws) -> App:
    """One call in six takes longer, by anything from twice to more than four times."""
    slow = {index for index in range(5, 150) if draws.chance(170)}
    unit = draws.choice(UNITS)
    return loaded_again(
        draws,
        unit,
        lambda _, index: 8 * (draws.integer(196, 427) if index in slow else 100) * MS // 100,
        loads=1,
        calls=150,
    )


CASES = [
    *cases(ID, POSITIVE, 3, off_the_engine, also=DEVICE),
    *cases(ID, POSITIVE, 3, off_to_the_gpu, also=DEVICE),
    *cases(ID, POSITIVE, 3, slower_on_the_same_unit),
    *cases(ID, POSITIVE, 2, three_shapes),
    *cases(ID, POSITIVE, 3, beside_a_decoder),
    *cases(ID, NEGATIVE, 3, neural_engine_app),
    *cases(ID, NEGATIVE, 3, cpu_app),
    *cases(ID, NEGATIVE, 2, camera_app),
    *cases(ID, NEGATIVE, 3, pipeline_app),
    *each(ID, NEAR_ABOVE, (2010, 2040, 2100), ratio),
    *each(ID, NEAR_ABOVE, (10, 11, 12), slow_share),
    *each(ID, NEAR_BELOW, (1990, 1960, 1900), ratio, also=JITTER),
    *each(ID, NEAR_BELOW, (7, 8, 9), slow_share, also=JITTER),
    *cases(ID, LOOKALIKE, 2, prompt_and_tokens, expected="no_finding", page="One model processes both prompt"),
    *cases(ID, LOOKALIKE, 2, waiting, also=ENGINE, page="Predictions queue behind other models"),
    *cases(ID, LOOKALIKE, 2, held_up, also=(*JITTER, "unexplained-time"), page="Predictions queue behind other models"),
    *cases(ID, LOOKALIKE, 2, larger_inputs),
    *cases(ID, LOOKALIKE, 2, one_change, also=("lasting-slowdown",), page="Latency changes once and stays"),
    *cases(ID, LOOKALIKE, 1, two_models),
    *cases(ID, LOOKALIKE, 2, growing_answers, also=("growing-latency",), page="Latency grows with a sequence"),
    *cases(ID, INSUFFICIENT, 2, few_calls, also=DEVICE),
    *cases(ID, INSUFFICIENT, 2, nothing_of_the_work, also=(*JITTER, "unexplained-time")),
    *cases(ID, LOOKALIKE, 6, settings_to_and_fro, also=("load-churn",), page="A setting changes, and the model"),
    *cases(ID, LOOKALIKE, 3, two_configurations, page="A setting changes, and the model"),
    *each(ID, LOOKALIKE, ((1, 2), (1, 1), (None, None)), two_processes, page="A setting changes, and the model"),
    *cases(ID, INSUFFICIENT, 2, two_processes_unnamed),
    *cases(ID, POSITIVE, 4, on_each_load, also=("load-churn",)),
    *cases(ID, POSITIVE, 3, in_one_of_two_instances, also=("duplicate-instances",)),
    *cases(ID, LOOKALIKE, 5, slow_by_any_amount, also=JITTER, page="Predictions are slow by any amount"),
]
