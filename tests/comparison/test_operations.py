"""An operation of the app among the models that are compared."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import median

import pytest

from support.handover import trace_of
from support.samples.runtimes import frame_camera
from tracekit.api import judge
from tracekit.comparison.comparison import compare
from tracekit.comparison.latency import Answer
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.measuring import measure
from tracekit.comparison.reports import from_plain, to_plain
from tracekit.report.choice import Part, choose_shown
from tracekit.testing import Scenario

NAME = "ProcessFrame"


def measured(scenario: Scenario) -> Measurements:
    trace = trace_of(scenario)
    shown = choose_shown(trace, part=Part(signpost=NAME))
    return measure(trace, judge(trace, shown=shown), shown)


@pytest.fixture(scope="module")
def recording() -> Measurements:
    return measured(frame_camera())


def test_its_durations_are_those_that_were_logged(recording: Measurements) -> None:
    model, operation = recording.models
    logged = [row.duration_ns for row in frame_camera().logged if row.name == NAME]
    assert (operation.name, operation.predictions, operation.loads) == (NAME, len(logged), 0)
    assert operation.quantities["p50_ns"] == pytest.approx(median(logged), abs=100)
    assert (operation.is_operation, model.is_operation) == (True, False)
    stored = from_plain(json.loads(json.dumps(to_plain(recording))))
    assert [each.is_operation for each in stored.models] == [False, True]


def test_a_slower_operation_is_a_regression_and_no_time_in_core_ml(recording: Measurements) -> None:
    slower = frame_camera()
    slower.logged = [
        replace(row, duration_ns=row.duration_ns * 5 // 4) if row.name == NAME else row for row in slower.logged
    ]
    found = {each.name: each for each in compare([recording], [measured(slower)]).models}
    operation, model = found[NAME], found["SceneClassifier"]
    assert (operation.name, operation.latency.answer) == (NAME, Answer.REGRESSED)
    assert (operation.time_ns.before, operation.time_ns.after) == (None, None)
    assert model.latency.answer is Answer.UNCHANGED
