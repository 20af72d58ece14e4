"""Reports made by hand, and a recording in which only call stacks show the calls."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from support.made_reports import clean, failed, full, hostile, hundred, many, not_judged
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.trace import Trace

__all__ = ["clean", "failed", "full", "hostile", "hundred", "many", "not_judged"]


@pytest.fixture(scope="session")
def sampled_trace() -> Trace:
    """A load and two predictions of the main thread, of which Core ML recorded nothing."""
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = True
    app.load(Model("Net"), 300_000_000)
    for _ in range(2):
        app.pause(50_000_000)
        app.predict(Model("Net"), cpu(40_000_000), inputs=0)
    app.scenario.emptied.add(CORE_ML)
    return trace_of(app.finish())
