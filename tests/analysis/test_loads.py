"""The first prediction after each load."""

from __future__ import annotations

from tracekit.analysis.loads import first_after_load

LOAD = "load_cached"


def test_only_the_first_prediction_after_each_load_is_marked(frame):
    activity = frame((0, 1), (1, 2), (5, 9), (10, 11), (12, 13), kind=["prediction", LOAD, *["prediction"] * 3])
    assert first_after_load(activity).tolist() == [False, False, True, False, False]


def test_models_are_told_apart(frame):
    activity = frame((0, 1), (2, 3), (4, 5), kind=[LOAD, "prediction", "prediction"], model=["A", "B", "A"])
    assert first_after_load(activity).tolist() == [False, False, True]


def test_instances_are_told_apart(frame):
    activity = frame(
        (0, 1), (2, 3), (4, 5), (6, 7), kind=[LOAD, LOAD, "prediction", "prediction"], instance=[1, 2, 1, 2]
    )
    assert first_after_load(activity).tolist() == [False, False, True, True]


def test_a_prediction_during_the_load_belongs_to_what_was_loaded_before(frame):
    activity = frame((0, 10), (5, 7), (10, 12), kind=[LOAD, "prediction", "prediction"])
    assert first_after_load(activity).tolist() == [False, False, True]


def test_a_compilation_is_no_load(frame):
    activity = frame((0, 1), (2, 3), kind=["compile", "prediction"])
    assert first_after_load(activity).tolist() == [False, False]


def test_two_loads_in_a_row_mark_one_prediction(frame):
    activity = frame((0, 1), (2, 3), (4, 5), (6, 7), kind=[LOAD, LOAD, "prediction", "prediction"])
    assert first_after_load(activity).tolist() == [False, False, True, False]


def test_nothing_recorded_marks_nothing(frame):
    assert first_after_load(frame()).tolist() == []
