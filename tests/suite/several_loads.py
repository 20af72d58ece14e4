"""Apps that load one model several times: for each configuration, in several instances, or in two processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracekit.testing import Draws
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.machines import Process
from tracekit.testing.recorder import App, Step, Unit, start_recording
from tracekit.testing.rows import Model

NUMBERS: tuple[Callable[[int], int | None], ...] = (lambda _: None, lambda _: 1, lambda load: load % 2 + 1)
"""How the instances of successive loads are numbered: not at all, all alike, by configuration."""

WorkOf = Callable[[int, int], int]
"""From the numbers of the load and of the call on it to the work in ns."""


def loaded_again(
    draws: Draws,
    unit: Unit,
    work_ns: WorkOf,
    *,
    loads: int,
    calls: int = 30,
    pause_ns: int = 700 * MS,
    load_ns: int = 30 * MS,
    before: Callable[[App, int, int], None] = lambda _app, _load, _call: None,
) -> App:
    """The user changes a setting, and the app loads the model again for it, each time with so many calls. Loads are
    short enough to be no problem of their own."""
    app = start_recording(draws)
    base, number = draw_models(draws)[0].base, draws.choice(NUMBERS)
    for load in range(loads):
        model = Model(base, number(load))
        app.load(model, load_ns)
        for index in range(calls):
            before(app, load, index)
            app.predict(model, Step(unit, work_ns(load, index)), inputs=0 if unit == "cpu" else 2)
            app.pause(200_000)
        app.pause(pause_ns)
    return app


def callers_of_one_name(
    draws: Draws,
    works_ns: Sequence[Callable[[int], int]],
    numbers: Sequence[int | None],
    *,
    calls: int = 45,
    of_processes: bool = False,
    unit: Unit = "gpu",
) -> App:
    """Models of one name with their own configuration, called one after the other: by two processes of which all rows
    are recorded, or as instances of one app."""
    app = start_recording(draws)
    base = draw_models(draws)[0].base
    models = [Model(base, number) for number in numbers]
    processes: list[Process | None] = [None] * len(models)
    if of_processes:
        app.scenario.all_processes = True
        processes[1:] = [Process("Assistant", 40_123 + number) for number in range(len(models) - 1)]
        app.scenario.processes += [process for process in processes if process is not None]
    for model in models:
        app.load(model, 30 * MS)
    for index in range(calls):
        for model, process, work_ns in zip(models, processes, works_ns, strict=True):
            work = draws.around(work_ns(index), 60)
            call = app.scenario.predict(model, app.now_ns, work + 2 * MS, process)
            if unit == "gpu":
                call.event("GPU Request", MS // 2, work + MS)
                call.gpu(MS, work)
            else:
                call.event("CPU", MS, work)
            app.now_ns = call.row.end_ns + draws.integer(1, 3) * MS
    return app
