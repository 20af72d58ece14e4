"""Filters leave out what was not asked for, keep the links right, and say what they did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from tracekit.recording.contents import Contents, Run, Target
from tracekit.recording.table import Process
from tracekit.trace.events import EVENT_DTYPES
from tracekit.trace.filter import (
    EVENT_FRAMES,
    everything,
    model_names,
    narrow,
    only_models,
    only_process,
    only_range,
)
from tracekit.trace.frames import empty_events, sort_events
from tracekit.trace.models import model_frame
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


def events(*rows: dict[str, Any]) -> pd.DataFrame:
    """An event frame; what a row does not say has a usual value or is null."""
    full = [{name: row.get(name, DEFAULTS.get(name)) for name in EVENT_DTYPES} for row in rows]
    columns: dict[str, Any] = {}
    for name, dtype in EVENT_DTYPES.items():
        values = [row[name] for row in full]
        if dtype == "category":
            texts = empty_events()[name].cat.categories.dtype
            categories = pd.Index(sorted({value for value in values if value is not None}), dtype=texts)
            columns[name] = pd.Categorical(values, categories=categories)
        else:
            columns[name] = pd.array(values, dtype=dtype)
    return pd.DataFrame(columns)


@pytest.fixture
def trace() -> Trace:
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
        {"lane": "neural engine", "kind": "ane_exec", "model": "Style-B", "prediction": 3},
        {"lane": "gpu", "kind": "gpu_exec", "process": "App", "pid": 7},
        {"lane": "gpu", "kind": "gpu_exec", "process": "other", "pid": 8},
    )
    signposts = pd.DataFrame({"start_ns": [1, 2], "process": ["App", "other"], "pid": [7, 8]})
    run = Run(1, target=Target("launched", Process("App", 7)))
    return Trace(
        contents=Contents("x", "xctrace export XML", has_table_of_contents=True, runs=(run,)),
        run=run,
        activity=activity,
        data=data,
        compute=events(),
        other=events(),
        hardware=hardware,
        models=model_frame(sort_events([activity, data])),
        context={"signposts": signposts, "clock": pd.DataFrame({"start_ns": [0]})},
        coverage=(),
        notes=("A note.",),
    )


def of_models(trace: Trace, *names: str) -> Trace:
    return narrow(trace, only_models(everything(trace), trace, names))


def of_process(trace: Trace, process: str | int) -> Trace:
    return narrow(trace, only_process(everything(trace), trace, process))


def of_range(trace: Trace, start_ns: int, end_ns: int) -> Trace:
    return narrow(trace, only_range(everything(trace), trace, start_ns, end_ns))


def test_everything_leaves_all_as_it_is(trace: Trace) -> None:
    unfiltered = narrow(trace, everything(trace))
    for name in EVENT_FRAMES:
        pd.testing.assert_frame_equal(getattr(unfiltered, name), getattr(trace, name))
    assert unfiltered.notes == trace.notes


def test_a_model_keeps_its_rows_and_its_links(trace: Trace) -> None:
    filtered = of_models(trace, "Style-B")
    assert list(filtered.activity["model"]) == ["Style-B"]
    assert list(filtered.activity.index) == [0]
    assert list(filtered.data["kind"]) == ["data_cast"]
    assert list(filtered.data["prediction"]) == [0]
    assert list(filtered.hardware["prediction"]) == [0]
    assert list(filtered.models["name"]) == ["Style-B"]


def test_several_models_are_chosen_and_the_note_names_them(trace: Trace) -> None:
    filtered = of_models(trace, "Style-A", "Style-B")
    assert list(filtered.activity["model"]) == ["Style-A", "Style-B"]
    assert list(filtered.data["prediction"]) == [0, 1]
    assert filtered.notes[0] == "A note."
    assert "Style-A, Style-B" in filtered.notes[-1]


def test_a_pipeline_brings_its_stages(trace: Trace) -> None:
    filtered = of_models(trace, "Pipeline")
    assert list(filtered.activity["model"]) == ["Pipeline", "Stage"]
    assert list(filtered.activity["prediction"].isna()) == [True, False]
    assert filtered.activity["prediction"].iloc[1] == 0
    assert list(filtered.data["prediction"]) == [1]


def test_a_stage_alone_loses_the_link_to_the_pipeline_that_is_gone(trace: Trace) -> None:
    filtered = of_models(trace, "Stage")
    assert list(filtered.activity["model"]) == ["Stage"]
    assert filtered.activity["prediction"].isna().all()


def test_every_frame_keeps_its_columns_and_types(trace: Trace) -> None:
    filtered = narrow(trace, only_models(only_process(everything(trace), trace, "App"), trace, ["Style-A"]))
    for name in EVENT_FRAMES:
        frame = getattr(filtered, name)
        assert {column: str(dtype) for column, dtype in frame.dtypes.items()} == EVENT_DTYPES
        assert list(frame.index) == list(range(len(frame)))


@pytest.mark.parametrize("process", ["App", "7", 7])
def test_the_target_keeps_core_ml_and_what_names_no_process(trace: Trace, process: str | int) -> None:
    filtered = of_process(trace, process)
    assert len(filtered.activity) == 5
    assert list(filtered.hardware["pid"].dropna()) == [7]
    assert len(filtered.hardware) == 2
    assert list(filtered.context["signposts"]["pid"]) == [7]
    assert len(filtered.context["clock"]) == 1
    assert "1 hardware rows do not name a process" in filtered.notes[-1]


def test_another_process_than_the_target_has_no_core_ml_rows(trace: Trace) -> None:
    filtered = of_process(trace, "other")
    assert filtered.activity.empty
    assert filtered.data.empty
    assert list(filtered.hardware["pid"].dropna()) == [8]
    # The row that worked for a prediction names no process, but is the target's.
    assert len(filtered.hardware) == 1
    assert "belong to the target" in filtered.notes[-1]


def test_names_of_models_come_from_every_frame(trace: Trace) -> None:
    assert model_names(trace) == ("Pipeline", "Stage", "Style-A", "Style-B")


def test_a_range_keeps_what_starts_in_it_and_whole_predictions(trace: Trace) -> None:
    cut = of_range(trace, 20, 30)
    assert list(cut.activity["model"]) == ["Style-B"]
    # Both rows start at 0 and belong to the prediction that starts at 20.
    assert list(cut.data["kind"]) == ["data_cast"]
    assert list(cut.data["prediction"]) == [0]
    assert list(cut.hardware["kind"]) == ["ane_exec"]
    assert list(cut.models["name"]) == ["Style-B"]
    assert cut.notes[0] == "A note."
    assert "from 0.000000 s to 0.000000 s" in cut.notes[-1]


def test_a_range_brings_what_a_stage_of_its_prediction_did(trace: Trace) -> None:
    cut = of_range(trace, 10, 11)
    assert list(cut.activity["model"]) == ["Pipeline", "Stage"]
    assert list(cut.data["model"]) == ["Stage"]
    assert list(cut.data["prediction"]) == [1]


def test_what_starts_in_a_range_stays_without_a_prediction_that_began_before(trace: Trace) -> None:
    cut = of_range(trace, 11, 12)
    assert list(cut.activity["model"]) == ["Stage"]
    assert cut.activity["prediction"].isna().all()


def test_the_ends_of_a_range_are_half_open(trace: Trace) -> None:
    assert list(of_range(trace, 0, 10).activity["start_ns"]) == [0]
    assert list(of_range(trace, 10, 30).activity["start_ns"]) == [10, 11, 20]


def test_states_that_reach_into_a_range_stay(trace: Trace) -> None:
    states = pd.DataFrame({"start_ns": [0, 10, 25], "duration_ns": [10, 15, 5]})
    cut = of_range(replace(trace, context={**trace.context, "thermal": states}), 20, 25)
    assert list(cut.context["thermal"]["start_ns"]) == [10]
    assert cut.context["signposts"].empty
    assert len(cut.context["clock"]) == 1
