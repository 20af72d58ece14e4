"""Facts per model."""

import pytest

from support import handover
from support.samples import SAMPLES
from tracekit.analysis.models import summarize_models


def test_loads_and_predictions_are_counted_and_timed(events, trace_of):
    activity = events(
        (0, 10), (10, 12), (20, 30), (40, 44), kind=["load_cached", "prediction", "load_uncached", "prediction"]
    )
    (model,) = summarize_models(trace_of(activity))
    assert (model.name, model.level, model.parents, model.instances) == ("Model", "top", (), None)
    assert (model.loads, model.cold_loads, model.predictions) == (2, 1, 2)
    assert model.load.total_ns == 20
    assert model.prediction.mean_ns == 3


@pytest.mark.parametrize(
    ("kinds", "cold"),
    [
        (["load_cached", "load_cached"], 0),
        (["load_uncached", "load_uncached"], 2),
        (["load", "load_cached"], None),
        (["prediction", "prediction"], None),
    ],
)
def test_cold_loads_are_unknown_where_loads_do_not_tell(events, trace_of, kinds, cold):
    (model,) = summarize_models(trace_of(events((0, 1), (2, 3), kind=kinds)))
    assert model.cold_loads == cold


def test_instances_count_distinct_numbers_and_the_costliest_model_comes_first(events, trace_of):
    activity = events((0, 2), (0, 9), (0, 2), (3, 9), model=["B", "C", "A", "C"], instance=[1, 1, 1, 3])
    assert [(model.name, model.instances) for model in summarize_models(trace_of(activity))] == [
        ("C", 2),
        ("A", 1),
        ("B", 1),
    ]


def test_a_stage_of_a_pipeline_names_its_parent(events, trace_of):
    activity = events(
        (0, 10), (1, 5), model=["Pipeline", "Encoder"], level=["top", "sub"], parent_model=[None, "Pipeline"]
    )
    first, second = summarize_models(trace_of(activity))
    assert (first.name, first.level, first.predictions) == ("Pipeline", "top", 1)
    assert (second.name, second.level, second.parents, second.predictions) == ("Encoder", "sub", ("Pipeline",), 1)


def test_rows_of_predictions_in_flight_are_of_each_in_the_order_of_submission():
    trace = handover.trace_of(SAMPLES["captions_concurrent"]())
    (model,) = summarize_models(trace)
    total_ns = {part.part: part.total_ns for part in model.breakdown.parts}
    # The engine does one after the other, and nothing but this model.
    engine = trace.hardware.where(trace.hardware.lane.is_any("neural-engine"))
    assert model.in_flight.max == 8
    assert (total_ns["neural_engine"], total_ns["ambiguous"]) == (engine.duration_ns.sum(), 0)


def test_a_model_without_activity_has_no_statistics(events, trace_of):
    trace = trace_of(events(), data=events((0, 1), kind="input_copy", lane="data"))
    (model,) = summarize_models(trace)
    assert (model.loads, model.predictions, model.load, model.prediction) == (0, 0, None, None)


def test_counts_are_open_where_core_ml_recorded_nothing(events, trace_of):
    inferred = events((0, 10), (20, 30), attribution="inferred")
    (model,) = summarize_models(trace_of(inferred))
    assert (model.loads, model.cold_loads, model.predictions) == (None, None, 2)
    # An event of Core ML shows that it recorded, and then none means none.
    (model,) = summarize_models(trace_of(inferred, data=events((0, 1), kind="input_copy", lane="data")))
    assert (model.loads, model.predictions) == (0, 2)
