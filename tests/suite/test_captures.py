"""The figures of the rebuilt public recording come out of an analysis as its authors gave them."""

import pytest

from support.reference_recordings import CONDITIONS, DECODE, HIFT, PARTITION_A, speech_app
from support.rows import values_of
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.breakdown.summary import summarize_breakdown
from tracekit.recording import open_recording
from tracekit.testing import write_export
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.events import Attribution, Kind


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speech")
    write_export(speech_app(), folder, only=NEEDED_SCHEMAS)
    return build_trace(open_recording(folder, schemas=NEEDED_SCHEMAS))


@pytest.fixture(scope="module")
def split(trace):
    return breakdown(trace)


def shares(split, model):
    """Share of every part in the predictions of a model."""
    rows = split.every.where(split.every.model.is_any(model.base))
    total = {name: sum(filter(None, values_of(rows, name))) for name in rows.columns() if name.endswith("_ns")}
    return {name: ns / total["duration_ns"] for name, ns in total.items()}


def test_every_neural_engine_row_finds_its_call(trace):
    engine = trace.hardware.where(trace.hardware.kind.is_any(Kind.ANE_EXEC))
    decode = engine.where(engine.model.is_any(DECODE.base))
    assert len(decode) == 1_295
    assert decode.prediction.known.all()
    assert len(set(decode.prediction.values.tolist())) == 1_295
    assert set(decode.attribution.held()) == {Attribution.LABEL}
    assert set(trace.activity.model.take(decode.prediction.values).held()) == {DECODE.base}


def test_the_neural_engine_covers_most_of_the_decode_calls(split):
    assert shares(split, DECODE)["neural_engine_ns"] == pytest.approx(0.938, abs=0.0005)


def test_overlapping_requests_are_counted_once(trace, split):
    shares_of_parts = shares(split, PARTITION_A)
    assert shares_of_parts["gpu_ns"] + shares_of_parts["gpu_queue_ns"] <= 1
    assert shares_of_parts["unexplained_ns"] < 0.01
    compute = trace.compute.where(trace.compute.model.is_any(PARTITION_A.base))
    asks = compute.kind.is_any(Kind.GPU_PREPARE, Kind.GPU_REQUEST)
    assert compute.duration_ns[asks].sum() == 3_051_400_000


def test_what_no_row_explains_is_said(split):
    assert shares(split, HIFT)["unexplained_ns"] == pytest.approx(0.973, abs=0.001)
    assert shares(split, CONDITIONS)["unexplained_ns"] == pytest.approx(0.65, abs=0.003)


def test_the_parts_of_all_predictions_add_up(split):
    summary = summarize_breakdown(split)
    assert sum(part.total_ns or 0 for part in summary.parts) == summary.total_ns
