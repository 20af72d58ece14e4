"""Threads of simulated apps: the usual ways in which apps call models. Times are ns; jitter comes on top.

Each function gives a thread for `Simulation.start` or `Running.start`, which loads its model first unless told not to.
"""

from __future__ import annotations

from collections.abc import Callable

from tracekit.testing.rows import Model
from tracekit.testing.simulation import Running, Task, Thread
from tracekit.testing.work import Stage, Step, neural_engine

Steps = tuple[Step | Stage, ...]
Work = Steps | Callable[[int], Steps]
"""What a call asks for, or a function from its number (from 0) to that."""

MS = 1_000_000
PREFILL = (neural_engine(28 * MS),)
"""Work of a usual prefill."""


def steady(
    app: Running, model: Model, work: Work, *, calls: int = 80, gap_ns: int = 120_000, load_ns: int = 90 * MS
) -> Thread:
    """One call after the other, with a short gap."""
    if load_ns:
        yield from app.load(model, load_ns, engine=_on_engine(work))
    for index in range(calls):
        yield from app.predict(model, *_steps(work, index), inputs=2)
        yield from app.pause(gap_ns)


def paced_app(
    app: Running,
    model: Model,
    work: Work,
    *,
    period_ns: int,
    calls: int = 80,
    load_ns: int = 90 * MS,
    phase_ns: int = 0,
    drops: bool = True,
) -> Thread:
    """A camera or a timer: a frame every `period_ns` after the load and `phase_ns`, and a call for each.

    A frame that comes while the call for an earlier one is running is dropped, or with `drops=False` waits its turn.
    Returns the number of frames that were dropped.
    """
    if load_ns:
        yield from app.load(model, load_ns, engine=_on_engine(work))
    first, frame, dropped = app.now_ns + phase_ns, 0, 0
    for index in range(calls):
        if drops and (late := -(-(app.now_ns - first) // period_ns)) > frame:
            frame, dropped = late, dropped + late - frame
        arrives = first + frame * period_ns + app.simulation.draws.integer(0, 3_200) * 125
        if arrives > app.now_ns:
            yield from app.until(arrives)
        yield from app.predict(model, *_steps(work, index), inputs=2)
        frame += 1
    return dropped


def decoder(
    app: Running,
    prefill: Model,
    decode: Model,
    work: Work,
    *,
    turns: int = 3,
    tokens: int | Callable[[int], int] = 30,
    prefill_work: Steps = PREFILL,
) -> Thread:
    """A language model with state: a prefill and then a call for each token in every turn, then the user reads."""
    load_ns = 170 * MS
    yield from app.load(decode, load_ns, engine=_on_engine(work))
    yield from app.load(prefill, load_ns * 8 // 9, engine=_on_engine(prefill_work))
    number = 0
    for turn in range(turns):
        yield from app.predict(prefill, *prefill_work, inputs=4)
        for _ in range(tokens if isinstance(tokens, int) else tokens(turn)):
            yield from app.pause(150_000)
            yield from app.predict(decode, *_steps(work, number), inputs=5)
            number += 1
        yield from app.pause(1_900 * MS)


def overlapping(app: Running, model: Model, work: Work, *, in_flight: int = 2, calls: int = 90) -> Thread:
    """Calls without waiting, so that up to `in_flight` overlap."""
    yield from app.load(model, engine=_on_engine(work))
    running: list[Task] = []
    for index in range(calls):
        if len(running) == in_flight:
            yield from app.join(running.pop(0))
        running.append(app.start(app.predict(model, *_steps(work, index), inputs=2)))
        yield from app.pause(400_000)
    for task in running:
        yield from app.join(task)


def drawing(app: Running, *, work_ns: int, until_ns: int) -> Thread:
    """The process draws 60 frames a second, and waits for the GPU with each."""
    frame = 0
    while app.now_ns < until_ns:
        start = app.now_ns
        yield from app.use("gpu", work_ns, frame=frame)
        frame += 1
        yield from app.until(max(start + 16_667_000, app.now_ns))


def _steps(work: Work, index: int) -> Steps:
    return work(index) if callable(work) else work


def _on_engine(work: Work) -> bool:
    """Whether the Neural Engine takes part in the first call, so that it shows the load."""
    return any(getattr(step, "unit", "") == "neural engine" for step in _steps(work, 0))
