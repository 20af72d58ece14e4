"""The figures of the rebuilt public recording come out of an analysis as its authors gave them."""

from __future__ import annotations

import pytest

from support.reference_recordings import CONDITIONS, DECODE, HIFT, PARTITION_A, speech_app
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
    frame = split.every.frame()[(split.every.frame()["model"] == model.base).to_numpy()]
    columns = [name for name in frame if name.endswith("_ns")]
    return {name: frame[name].sum() / frame["duration_ns"].sum() for name in columns}


def test_every_neural_engine_row_finds_its_call(trace):
    engine = trace.hardware.frame()[(trace.hardware.frame()["kind"] == Kind.ANE_EXEC).to_numpy()]
    decode = engine[(engine["model"] == DECODE.base).to_numpy()]
    assert len(decode) == 1_295
    assert decode["prediction"].nunique() == 1_295
    assert set(decode["attribution"]) == {Attribution.LABEL}
    assert set(trace.activity.frame().loc[decode["prediction"], "model"]) == {DECODE.base}


def test_the_neural_engine_covers_most_of_the_decode_calls(split):
    assert shares(split, DECODE)["ane_ns"] == pytest.approx(0.938, abs=0.0005)


def test_overlapping_requests_are_counted_once(trace, split):
    shares_of_parts = shares(split, PARTITION_A)
    assert shares_of_parts["gpu_ns"] + shares_of_parts["gpu_queue_ns"] <= 1
    assert shares_of_parts["unaccounted_ns"] < 0.01
    compute = trace.compute.frame()[(trace.compute.frame()["model"] == PARTITION_A.base).to_numpy()]
    summed = compute.loc[compute["kind"].isin([Kind.GPU_PREPARE, Kind.GPU_REQUEST]).to_numpy(), "duration_ns"].sum()
    assert summed == 3_051_400_000


def test_what_no_row_explains_is_said(split):
    assert shares(split, HIFT)["unaccounted_ns"] == pytest.approx(0.973, abs=0.001)
    assert shares(split, CONDITIONS)["unaccounted_ns"] == pytest.approx(0.65, abs=0.003)


def test_the_parts_of_all_predictions_add_up(split):
    summary = summarize_breakdown(split)
    assert sum(part.total_ns or 0 for part in summary.parts) == summary.total_ns
