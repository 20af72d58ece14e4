"""Filters leave out what was not asked for, keep the links right, and say what they did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.rows import records_of, values_of
from tracekit.recording.contents import Contents, Run, Target
from tracekit.recording.table import Process
from tracekit.trace.calls.infer import recorded_calls
from tracekit.trace.events import Events
from tracekit.trace.filter import EVENT_FRAMES, everything, model_names, narrow, only_models, only_process, only_range
from tracekit.trace.instruments.tables import Clock, Signposts, Thermal
from tracekit.trace.models import models_of
from tracekit.trace.trace import Trace

DEFAULTS: dict[str, Any] = {
    "start_ns": 0,
    "duration_ns": 1,
    "lane": "activity",
    "kind": "prediction",
    "guessed": False,
    "label": "Prediction",
    "level": "top",
    "attribution": "exact",
    "table": "coreml-os-signpost",
    "row": 0,
}


def events(*rows: dict[str, Any]) -> Events:
    """Rows of a lane; what one does not say has a usual value or is null."""
    names = {*DEFAULTS, *(name for row in rows for name in row)}
    cells = {name: [row.get(name, DEFAULTS.get(name)) for row in rows] for name in names}
    return replace(Events.listed(len(rows), cells), id=np.arange(len(rows)))


@pytest.fixture
def trace():
    """Two models and a pipeline with a stage. Process 7 is the target, 8 another."""
    activity = events(
        {"model": "Style-A", "start_ns": 0},
        {"model": "Pipeline", "start_ns": 10},
        {"model": "Stage", "parent_model": "Pipeline", "level": "sub", "start_ns": 11, "prediction": 1},
        {"model": "Style-B", "start_ns": 20},
        {"start_ns": 30},
    )
    data = events(
        {"model": "Style-A", "kind": "input_copy", "prediction": 0},
        {"model": "Stage", "parent_model": "Pipeline", "level": "sub", "kind": "input_copy", "prediction": 2},
        {"model": "Style-B", "kind": "data_cast", "prediction": 3},
    )
    hardware = events(
        {"lane": "neural-engine", "kind": "neural_engine_exec", "model": "Style-B", "prediction": 3},
        {"lane": "gpu", "kind": "gpu_exec", "process": "App", "pid": 7},
        {"lane": "gpu", "kind": "gpu_exec", "process": "other", "pid": 8},
    )
    signposts = Signposts.listed(2, {"start_ns": [1, 2], "process": ["App", "other"], "pid": [7, 8]})
    run = Run(1, target=Target("launched", Process("App", 7)))
    return Trace(
        contents=Contents("x", "xctrace export XML", has_table_of_contents=True, runs=(run,)),
        run=run,
        activity=recorded_calls(activity),
        data=data,
        compute=events(),
        other=events(),
        hardware=hardware,
        models=models_of(activity, data),
        context={"signposts": signposts, "clock": Clock.listed(1, {"start_ns": [0]})},
        coverage=(),
        notes=("A note.",),
    )


def of_models(trace: Trace, *names: str) -> Trace:
    return narrow(trace, only_models(everything(trace), trace, names))


def of_process(trace: Trace, process: str | int) -> Trace:
    return narrow(trace, only_process(everything(trace), trace, process))


def of_range(trace: Trace, start_ns: int, end_ns: int) -> Trace:
    return narrow(trace, only_range(everything(trace), trace, start_ns, end_ns))


def test_everything_leaves_all_as_it_is(trace):
    unfiltered = narrow(trace, everything(trace))
    for name in EVENT_FRAMES:
        assert records_of(unfiltered.events[name]) == records_of(trace.events[name])
    assert unfiltered.notes == trace.notes


def links(rows: Events, column: str) -> list[tuple[str, int | None]]:
    """Each row with the row of its prediction."""
    return [*zip(values_of(rows, column), values_of(rows, "prediction"), strict=True)]


CAST = [("data_cast", 0)]
"""The data of Style-B, whose row starts at 0 and belongs to the prediction that starts at 20."""
FIRST = [("Style-A", None)]
SECOND = [("Style-B", None)]
PIPELINE = [("Pipeline", None), ("Stage", 0)]


@pytest.mark.parametrize(
    ("models", "span", "activity", "data"),
    [
        (["Style-B"], None, SECOND, CAST),
        (["Style-A", "Style-B"], None, FIRST + SECOND, [("input_copy", 0), ("data_cast", 1)]),
        # A pipeline brings its stages; a stage alone loses the link to it.
        (["Pipeline"], None, PIPELINE, [("input_copy", 1)]),
        (["Stage"], None, [("Stage", None)], [("input_copy", 0)]),
        # A range is half open and keeps whole predictions.
        ([], (20, 30), SECOND, CAST),
        ([], (10, 11), PIPELINE, [("input_copy", 1)]),
        ([], (10, 30), PIPELINE + SECOND, [("input_copy", 1), ("data_cast", 2)]),
        # What starts in it stays without a prediction that began before.
        ([], (11, 12), [("Stage", None)], [("input_copy", 0)]),
    ],
)
def test_models_and_ranges_keep_their_rows_and_links(trace, models, span, activity, data):
    kept = of_range(trace, *span) if span else of_models(trace, *models)
    assert links(kept.activity, "model") == activity
    assert links(kept.data, "kind") == data
    assert kept.activity.id.tolist() == list(range(len(activity)))
    assert set(kept.models.name) == {name for name, _ in activity}
    of_style_b = [row for row, (name, _) in enumerate(activity) if name == "Style-B"]
    assert links(kept.hardware.where(kept.hardware.model.known), "kind") == [
        ("neural_engine_exec", row) for row in of_style_b
    ]
    assert kept.notes[0] == "A note."
    assert ("from 0.000000 s to 0.000000 s" if span else ", ".join(models)) in kept.notes[-1]


def test_the_rows_of_every_lane_are_numbered_again(trace):
    filtered = narrow(trace, only_models(only_process(everything(trace), trace, "App"), trace, ["Style-A"]))
    for name, rows in filtered.events.items():
        assert type(rows) is type(trace.events[name])
        assert rows.id.tolist() == list(range(len(rows)))


@pytest.mark.parametrize("process", ["App", "7", 7])
def test_the_target_keeps_core_ml_and_what_names_no_process(trace, process):
    filtered = of_process(trace, process)
    assert len(filtered.activity) == 5
    assert filtered.hardware.pid.values[filtered.hardware.pid.known].tolist() == [7]
    assert len(filtered.hardware) == 2
    assert values_of(filtered.context["signposts"], "pid") == [7]
    assert len(filtered.context["clock"]) == 1
    assert "1 hardware rows do not name a process" in filtered.notes[-1]


def test_another_process_than_the_target_has_no_core_ml_rows(trace):
    filtered = of_process(trace, "other")
    assert not len(filtered.activity)
    assert not len(filtered.data)
    assert filtered.hardware.pid.values[filtered.hardware.pid.known].tolist() == [8]
    # The row that worked for a prediction names no process, but is the target's.
    assert len(filtered.hardware) == 1
    assert "belong to the target" in filtered.notes[-1]


def test_names_of_models_come_from_every_frame(trace):
    assert model_names(trace) == ("Pipeline", "Stage", "Style-A", "Style-B")


def test_states_that_reach_into_a_range_stay_and_what_starts_at_its_end_does_not(trace):
    states = Thermal.listed(3, {"start_ns": [0, 10, 25], "duration_ns": [10, 15, 5]})
    # The end of a range is not in it.
    assert of_range(trace, 0, 10).activity.start_ns.tolist() == [0]
    cut = of_range(replace(trace, context={**trace.context, "thermal": states}), 20, 25)
    assert cut.context["thermal"].start_ns.tolist() == [10]
    assert not len(cut.context["signposts"])
    assert len(cut.context["clock"]) == 1
