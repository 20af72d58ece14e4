"""Hardware rows of pipelines: stages that several have, and pipelines in pipelines."""

import pytest

from support.rows import records_of, values_of
from tracekit.trace.build import build_trace
from tracekit.trace.linking import top_predictions


def engine_label(model):
    return f"{model}_main__Op0_AneInference Prediction"


def test_a_stage_of_two_pipelines_is_sought_in_both(make):
    rows = [
        (0, 100, "Prediction", "first-1"),
        (50, 100, "Prediction", "second-1"),
        (10, 5, "Prediction", "shared-1", "first-1", "sub"),
        (110, 5, "Prediction", "shared-1", "second-1", "sub"),
        (20, 5, "Prediction", "own-1", "first-1", "sub"),
    ]
    shared, own_label = engine_label("shared"), engine_label("own")
    engine = [(30, 5, shared), (130, 5, shared), (60, 5, shared), (60, 6, own_label)]
    trace = build_trace(make.recording(make.coreml(*rows), make.engine(*engine)))
    called = {None: None} | dict(enumerate(values_of(trace.activity, "model")))
    linked = {(row["start_ns"], row["model"]): called[row["prediction"]] for row in records_of(trace.hardware)}
    assert linked == {(30, "shared"): "first", (130, "shared"): "second", (60, "shared"): None, (60, "own"): "first"}


@pytest.mark.parametrize("levels", [3, 40])
def test_a_row_in_many_pipelines_leads_to_the_call_of_the_app(make, levels):
    nested = [(k, 1_000 - 2 * k, "Prediction", f"s{k}-1", f"s{k - 1}-1", "sub") for k in range(1, levels)]
    core_ml = make.coreml((0, 1_000, "Prediction", "s0-1"), *nested)
    trace = build_trace(make.recording(core_ml, make.engine((500, 5, "Neural Engine Prediction"))))
    assert values_of(trace.hardware, "attribution") == ["contained"]
    (prediction,) = values_of(trace.hardware, "prediction")
    assert trace.activity.model.item(prediction) == f"s{min(levels, 16) - 1}"
    assert top_predictions(trace.activity)[prediction] == 0
