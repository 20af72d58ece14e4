"""The rebuilt recording has the figures that its authors gave."""

from __future__ import annotations

import pytest

from support.reference_recordings import (
    CONDITIONS,
    DECODE,
    FIGURES,
    FIRST_CALLS,
    HIFT,
    LOADS,
    PARTITION_A,
    PREFILL,
    speech_app,
)
from tracekit.testing.rows import LOAD_CACHED, PREDICTION


@pytest.fixture(scope="module")
def scenario():
    return speech_app()


def rows(scenario, model, label):
    return [row for row in scenario.coreml if row.model.base == model.base and row.label == label]


def total(expected):
    return sum(row.duration_ns for row in expected)


def test_every_table_has_its_number_of_rows(scenario):
    counts = (len(scenario.coreml), len(scenario.neural_engine), len(scenario.signposts))
    assert counts == (13_644, 1_310, 1_315)
    assert len(scenario.processes) + 1 == 229


@pytest.mark.parametrize("model", FIGURES, ids=["decode", "prefill", "a", "b", "hift", "conditions"])
def test_counts_and_totals_are_those_of_the_recording(scenario, model):
    figures = FIGURES[model]
    assert len(rows(scenario, model, PREDICTION)) == figures.predictions
    # Durations stand on the clock of 125 ns.
    assert total(rows(scenario, model, PREDICTION)) == pytest.approx(figures.total_ns, abs=125)
    loads, load_ns = LOADS[model]
    assert len(rows(scenario, model, LOAD_CACHED)) == loads
    assert total(rows(scenario, model, LOAD_CACHED)) == pytest.approx(load_ns, abs=125)
    for kind in figures.rows:
        counted = rows(scenario, model, kind.label)
        assert (len(counted), total(counted)) == (kind.each * figures.predictions, kind.total_ns)


def test_each_call_of_the_language_model_has_one_neural_engine_row(scenario):
    for model, engine_ms in ((DECODE, 15_173.9), (PREFILL, 138.9)):
        calls = {index for index, row in enumerate(scenario.coreml) if row.model.base == model.base}
        engine_rows = [row for row in scenario.neural_engine if row.prediction in calls]
        assert len({row.prediction for row in engine_rows}) == len(engine_rows) == FIGURES[model].predictions
        assert total(engine_rows) / 1e6 == pytest.approx(engine_ms)


def test_the_first_calls_are_those_of_the_recording(scenario):
    calls = rows(scenario, DECODE, PREDICTION)[:4]
    engine = [row for row in scenario.neural_engine if row.label.startswith(DECODE.base)][:4]
    pairs = zip(calls, engine, strict=True)
    spans = [(call.start_ns, call.end_ns, row.start_ns, row.start_ns + row.duration_ns) for call, row in pairs]
    assert spans == list(FIRST_CALLS)


def test_one_instance_number_holds_three_fifths_of_the_calls(scenario):
    instances = [row.model.instance for row in rows(scenario, DECODE, PREDICTION)]
    assert instances.count(1) == 777
    assert len(instances) == 1_295


def test_preparation_and_request_together_exceed_the_predictions_of_the_gpu_model(scenario):
    parts = total(rows(scenario, PARTITION_A, "Prepare GPU Request")) + total(
        rows(scenario, PARTITION_A, "GPU Request")
    )
    assert parts > total(rows(scenario, PARTITION_A, PREDICTION))


def test_two_models_are_explained_in_small_part_only(scenario):
    for model, share in ((HIFT, 0.03), (CONDITIONS, 0.36)):
        inside = [row for row in scenario.coreml if row.model.base == model.base and row.prediction is not None]
        assert total(inside) < share * total(rows(scenario, model, PREDICTION))
