"""Judges scenarios as a user would: read as an export is, and run through the detectors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from support.handover import trace_of
from tracekit.detectors.outcomes import Outcome
from tracekit.detectors.runner import run_detectors
from tracekit.model_files.facts import ModelFile
from tracekit.testing.machines import Process
from tracekit.testing.scenario import Scenario
from tracekit.trace.trace import Joined, Match, Trace

MS = 1_000_000
Judge = Callable[..., dict[str | None, Outcome]]


@pytest.fixture
def scenario() -> Scenario:
    """An empty scenario of one minute."""
    return Scenario(Process("Camera", 412), duration_ns=60_000 * MS)


@pytest.fixture(scope="module")
def traces() -> dict[bytes, Trace]:
    """What scenarios of a module mean: rows of a table that differ in options alone share it."""
    return {}


@pytest.fixture
def judge(traces: dict[bytes, Trace]) -> Judge:
    """`judge(scenario, detector_id, **settings)`: outcome per model (None: the whole recording). `file` is the facts of
    the file of every model."""

    def run(
        scenario: Scenario, detector_id: str, file: ModelFile | None = None, **settings: float
    ) -> dict[str | None, Outcome]:
        key = pickle.dumps(scenario)
        trace = traces.get(key) or traces.setdefault(key, trace_of(scenario))
        if file is not None:
            joined = (Joined(file.source, name, Match.GIVEN, file) for name in trace.models.name)
            trace = replace(trace, model_files=tuple(joined))
        chosen = {f"{detector_id}.{name}": value for name, value in settings.items()}
        outcomes = [outcome for _, outcome, _ in run_detectors(trace, only=[detector_id], settings=chosen)]
        by_model = {outcome.model: outcome for outcome in outcomes}
        assert len(by_model) == len(outcomes), "one outcome per model"
        return by_model

    return run
