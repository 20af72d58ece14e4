"""Databases over recordings whose truth is known."""

from __future__ import annotations

from functools import cache, partial

import pytest

from support.analyses import kept_trace
from support.handover import trace_of
from tracekit.api import judge
from tracekit.testing import Model, Process, Scenario
from tracekit.testing.rows import SignpostRow

pytest.importorskip("duckdb")

from tracekit.query.database import Database, RecordingViews
from tracekit.query.private import recorded_rows
from tracekit.query.views import Source

MS = 1_000_000
RENDERER = Process("Renderer", 99)


def scenario() -> Scenario:
    """A model that is loaded once, 20 predictions of 5 to 24 ms, each with 3 ms of Neural Engine, and GPU work of
    another process beside the first."""
    made = Scenario(Process("App", 7), duration_ns=2_000 * MS, processes=[RENDERER])
    model = Model("Segmenter")
    made.load(model, 0, 10 * MS)
    for number in range(20):
        prediction = made.predict(model, (20 + 50 * number) * MS, (5 + number) * MS)
        prediction.neural_engine(MS, 3 * MS)
    made.gpu_work(21 * MS, 2 * MS, RENDERER, label="Draw")
    made.signposts.append(SignpostRow(MS, 9 * MS, "Frame", "com.example", "Loop", "secret words"))
    return made


def database(trace, path=None, seconds=60.0, **options) -> Database:
    source = Source(trace, cache(lambda: judge(trace)))
    return Database(RecordingViews(source, partial(recorded_rows, path=path), **options), seconds)


@pytest.fixture(scope="module")
def known() -> Database:
    return database(trace_of(scenario()))


@pytest.fixture(scope="module")
def sample(samples) -> Database:
    path = samples / "captions_concurrent.trace"
    return database(kept_trace(path), path)
