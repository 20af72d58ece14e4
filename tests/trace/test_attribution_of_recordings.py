"""Whole recordings: every hardware row is linked to the prediction that caused it."""

import json

import numpy as np
import pytest

from support.ground_truth import ground_truth
from support.hardware_rows import MS, answers, engine_label
from support.rows import values_of
from support.samples import SAMPLES
from tracekit.recording.open import open_recording
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.events import Lane


def links(trace, schema):
    """Row in the Core ML table of the prediction that each row of a table is linked to, in order of the table."""
    row_of = {None: None} | dict(enumerate(trace.activity.row.tolist()))
    rows = trace.hardware.where(trace.hardware.table.is_any(schema))
    linked = [row_of[label] for label in values_of(rows, "prediction")]
    return [linked[at] for at in np.argsort(rows.row)]


def camera(version):
    """A scenario in which every hardware row's prediction can be told."""
    app, other = Process("Camera", 412), Process("Game", 77)
    scenario = Scenario(app, duration_ns=10_000 * MS, xcode_version=version, processes=[other])
    net, pipe = Model("Seg-menter", 1), Model("Pipe", 2)
    scenario.load(net, MS, 50 * MS)
    for k in range(20):
        call = scenario.predict(net if k % 2 else pipe, (100 + 100 * k) * MS, 60 * MS)
        call.neural_engine(MS, 20 * MS, "Neural Engine Prediction" if k % 2 else None, operation=k % 2)
        if k % 2:
            call.gpu(25 * MS, 30 * MS, operation=2, buffers=5)
        else:
            call.stage("Crop", 30 * MS, 20 * MS).neural_engine(MS, 5 * MS)
        scenario.gpu_work((110 + 100 * k) * MS, 5 * MS, other)
        scenario.gpu_work((120 + 100 * k) * MS, 5 * MS, app)
        scenario.other_neural_engine((170 + 100 * k) * MS, MS)
        scenario.other_neural_engine((120 + 100 * k) * MS, MS, "Rival_main__Op0_AneInference Prediction")
    return scenario


@pytest.mark.parametrize("version", ["16.4", "27.2"])
def test_every_row_of_a_recording_is_linked_to_the_prediction_that_caused_it(tmp_path, version):
    scenario = camera(version)
    write_export(scenario, tmp_path)
    trace = build_trace(open_recording(tmp_path, schemas=NEEDED_SCHEMAS))
    truth = ground_truth(scenario)
    for schema in (scenario.xcode.neural_engine_schema, "metal-gpu-intervals"):
        assert tuple(links(trace, schema)) == truth.parents[schema]
    graph = trace.hardware.where(trace.hardware.lane.is_any(Lane.MPS))
    assert values_of(graph, "attribution") == ["exact"] * 10
    assert values_of(graph, "model") == ["Seg-menter"] * 10


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_no_row_of_a_sample_is_linked_to_a_wrong_prediction(samples, name):
    scenario = SAMPLES[name]()
    truth = ground_truth(scenario)
    trace = build_trace(open_recording(samples / f"{name}.trace", schemas=NEEDED_SCHEMAS))
    for schema, parents in truth.parents.items():
        rows = trace.hardware.where(trace.hardware.table.is_any(schema))
        if not len(rows):
            continue
        # Calls of one model overlap in this sample, which leaves labels without a single prediction.
        overlap = name == "captions_concurrent"
        assert all(a == b or (overlap and a is None) for a, b in zip(links(trace, schema), parents, strict=True))
        # One app has work of its own on the GPU, outside of Core ML.
        own = {"unattributed"} if name == "frame_camera" else set()
        assert set(rows.attribution.held()) <= {"label", "exact", "foreign", *own}
    assert not trace.sharing.is_shared


@pytest.mark.corpus
def test_published_neural_engine_rows_are_linked_to_their_published_predictions(make, corpus):
    pairs = json.loads((corpus / "derived" / "cosyvoice-ane-label-and-containment-sample.json").read_text())["rows"]
    name = pairs[0]["label"].split("_main__")[0] + "-1"
    coreml = make.coreml(
        *((p["prediction"][0], p["prediction"][1] - p["prediction"][0], "Prediction", name) for p in pairs)
    )
    engine = make.engine(*((p["ane"][0], p["ane"][1] - p["ane"][0], p["label"]) for p in pairs))
    trace = build_trace(make.recording(coreml, engine))
    assert answers(trace) == [(index, name[:-2], "label") for index in range(len(pairs))]


def test_many_rows_find_their_predictions(make):
    count = 20_000
    index = np.arange(count)
    coreml = make.coreml(*((int(k) * 100, 90, "Prediction", f"m{k % 7}-1") for k in index))
    # Of each model either all rows name it or none.
    labels = [engine_label(f"m{k % 7}") if k % 7 % 2 else "Neural Engine Prediction" for k in index]
    trace = build_trace(
        make.recording(
            coreml, make.engine(*((int(k) * 100 + 10, 50, label) for k, label in zip(index, labels, strict=True)))
        )
    )
    hardware = trace.hardware
    assert hardware.prediction.filled().tolist() == list(range(count))
    assert (hardware.attribution.as_objects() == np.where(index % 7 % 2, "label", "contained")).all()
    assert hardware.model.as_objects().tolist() == [f"m{k % 7}" for k in index]
