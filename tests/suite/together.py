"""Apps that call several models at once, each at its own pace, on compute units that queue."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tracekit.testing import Draws
from tracekit.testing.apps import draw_models
from tracekit.testing.recorder import App, Step, Unit, start_recording

Before = Callable[[App, int], None]
"""Called with the number of the first caller's call before it is made."""


@dataclass(frozen=True)
class Caller:
    """How the app calls one model."""

    unit: Unit
    work_ns: Callable[[int], int]
    """From the number of the call."""
    period_ns: int = 0
    """From start to start; 0: the next call follows a third of a millisecond after the last one."""
    offset_ns: int = 0
    """Of the first call."""


def together(draws: Draws, *callers: Caller, calls: int = 100, before: Before | None = None, **recording: Any) -> App:
    """Each caller has a model of its own; the recording ends with so many calls of the first one."""
    app = start_recording(draws, **recording)
    models = draw_models(draws, len(callers))
    for model, caller in zip(models, callers, strict=True):
        app.load(model, engine=caller.unit == "neural engine")
    due = [(app.now_ns + caller.offset_ns, number, 0) for number, caller in enumerate(callers)]
    heapq.heapify(due)
    while due:
        at, number, index = heapq.heappop(due)
        caller = callers[number]
        if number == 0 and index == calls:
            break
        app.now_ns = at
        if before is not None and number == 0:
            before(app, index)
        inputs = 0 if caller.unit == "cpu" else 2
        called = app.predict(models[number], Step(caller.unit, caller.work_ns(index)), inputs=inputs, wait=False)
        following = called.row.end_ns + 333_000
        heapq.heappush(due, (max(following, at + caller.period_ns), number, index + 1))
    return app
