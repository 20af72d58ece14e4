"""From files to meaning: samples against their ground truth, real exports against the reference."""

import numpy as np
import pytest

from support.ground_truth import ground_truth
from support.rows import values_of
from support.samples import SAMPLES
from tracekit.notebook.recordings import LoadedTrace
from tracekit.recording.open import open_recording
from tracekit.testing.export_xml import write_export
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import CORE_ML, Scenario
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.instruments.tables import Hangs


def opened(path):
    return build_trace(open_recording(path, schemas=NEEDED_SCHEMAS))


def links(trace):
    """Row of the prediction's table row, or None, by row of the Core ML table; and the attributions."""
    row_of = {None: None} | dict(enumerate(trace.activity.row.tolist()))
    rows = [
        row
        for lane in (trace.activity, trace.data, trace.compute, trace.other)
        for row in zip(lane.row.tolist(), values_of(lane, "prediction"), values_of(lane, "attribution"), strict=True)
    ]
    rows.sort(key=lambda row: row[0])
    return [row_of[label] for _, label, _ in rows], [attribution for _, _, attribution in rows]


def assert_links_are_true(trace, truth):
    """Every link is the true one; where there is none, several predictions contain the row."""
    linked, attributions = links(trace)
    for inside, attribution, cause in zip(linked, attributions, truth.parents[CORE_ML], strict=True):
        if attribution == "ambiguous":
            assert inside is None
            assert cause is not None
        else:
            assert (inside, attribution) == (cause, "exact" if cause is None else "contained")


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", sorted(SAMPLES, key=lambda name: name != "captions_concurrent"))
def test_a_sample_means_what_its_scenario_says(samples, name):
    truth = ground_truth(SAMPLES[name]())
    trace = opened(samples / f"{name}.trace")
    if not truth.judgeable:
        assert (trace.coverage_of("Core ML").state, len(trace.models)) == ("empty", 0)
        return
    assert_links_are_true(trace, truth)
    # Only predictions that overlap leave rows ambiguous.
    assert ("ambiguous" in links(trace)[1]) == (name == "captions_concurrent")
    models = LoadedTrace(trace).models.set_index("name")
    assert sorted(models.index) == [model.name for model in truth.models]
    for model in truth.models:
        row = models.loc[model.name]
        assert row[["load", "load_cached", "load_uncached"]].sum() == model.loads
        assert row["load_uncached"] == model.cold_loads
        assert row["prediction"] == model.predictions
        assert row["instances"] == len(model.instances)
        mine = trace.activity.where(trace.activity.model.is_any(model.name))
        predicts = mine.kind.is_any("prediction")
        assert mine.duration_ns[predicts].sum() == model.prediction_total_ns
        assert mine.duration_ns[~predicts].sum() == model.load_total_ns


def test_the_reload_sample_holds_the_figures_of_the_talk(samples):
    # WWDC22 talk 10027: mean load 17.17 ms, total 6.41 s; mean prediction 7.2 ms, total 2.69 s.
    activity = opened(samples / "style_transfer_reload.trace").activity
    predicts = activity.kind.is_any("prediction")
    predictions, loads = activity.duration_ns[predicts], activity.duration_ns[~predicts]
    assert round(loads.mean() / 1e6, 2) == 17.17
    assert round(loads.sum() / 1e9, 2) == 6.41
    assert round(predictions.mean() / 1e6, 1) == 7.2
    assert round(predictions.sum() / 1e9, 2) == 2.69


@pytest.mark.parametrize("version", ["16.4", "27.2"])
@pytest.mark.parametrize("event_types", [True, False])
def test_a_pipeline_and_its_stages_survive_the_way_through_files(tmp_path, version, event_types):
    app = Process("Camera", 412)
    scenario = Scenario(app, duration_ns=2_000_000_000, xcode_version=version, event_types=event_types)
    model = Model("Detector-2", 1)
    scenario.load(model, 1_000_000, 25_000_000)
    for start in (100_000_000, 200_000_000):
        prediction = scenario.predict(model, start, 50_000_000)
        prediction.event("Input Copy", 1_000, 20_000)
        for stage, at in (("Crop", 1_000_000), ("Classify", 20_000_000)):
            inner = prediction.stage(stage, at, 10_000_000)
            inner.event("Neural Engine Request", 1_000_000, 8_000_000)
    write_export(scenario, tmp_path)
    trace = opened(tmp_path)
    assert_links_are_true(trace, ground_truth(scenario))
    models = trace.models
    assert dict(zip(models.name, models.level, strict=True)) == {"Detector-2": "top", "Crop": "sub", "Classify": "sub"}
    assert models.parents[models.name.index("Crop")] == ("Detector-2",)
    assert set(values_of(trace.compute, "parent_model")) == {"Detector-2"}
    top = trace.activity.where(trace.activity.level.is_any("top"))
    assert set(values_of(top, "model")) == {"Detector-2"}


@pytest.mark.corpus
def test_a_real_export_of_mps_rows_beside_an_empty_core_ml_table_is_explained(corpus):
    folder = corpus / "xml"
    trace = opened([folder / "xcode16.4-coreml-os-signpost-0rows.xml", folder / "xcode16.4-mps-hw-intervals.xml"])
    core_ml = trace.coverage_of("Core ML")
    assert (core_ml.state, core_ml.rows) == ("empty", 0)
    assert "MPS graphs were sent to the GPU (10 rows)" in core_ml.conclusion
    assert "get-task-allow" in core_ml.conclusion
    # Sum and first row as the reference gives them for this recording.
    hardware = trace.hardware
    assert hardware.duration_ns.sum() == 2554876
    assert (hardware.start_ns[0], hardware.duration_ns[0]) == (4397573333, 259167)
    assert not hardware.process.known.any()


@pytest.mark.corpus
def test_the_real_table_of_contents_alone_says_what_to_export(corpus):
    trace = opened(corpus / "xml" / "xcode16.4-coreml-toc-quick_probe.xml")
    for name in ("Core ML", "Neural Engine", "GPU", "MPS"):
        assert trace.coverage_of(name).state == "unreadable"
        assert "xcrun xctrace export" in trace.coverage_of(name).advice
    # The Core ML template of Xcode 16.4 carries neither instrument.
    for name in ("Hangs", "Thermal State"):
        assert trace.coverage_of(name).state == "missing"


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("file", "frame", "rows"),
    [
        ("xcode27.0-potential-hangs.xml", "hangs", 23),
        ("xcode27.0-hang-risks.xml", "hang_risks", 0),
        ("xcode27.0-OSSignpostIntervals.xml", "signposts", 2),
        ("xcode27.0-PointsOfInterestEvents.xml", "points_of_interest", 2),
        ("xcode15-device-thermal-state-intervals.xml", "thermal", 1),
        ("xcode16.4-os-signpost-coreml-0rows.xml", "signpost_events", 0),
    ],
)
def test_real_tables_of_other_instruments_become_context(corpus, file, frame, rows):
    found = opened(corpus / "xml" / file).context[frame]
    assert len(found) == rows
    assert found.start_ns.dtype == np.int64


@pytest.mark.corpus
def test_real_hangs_have_the_durations_of_the_reference(corpus):
    # Section 10.4: 6 unresponsive times of 104 to 237 ms, 17 delays of 41 to 89 ms.
    hangs = opened(corpus / "xml" / "xcode27.0-potential-hangs.xml").table(Hangs)
    for name, *expected in (("Brief Unresponsiveness", 6, 104, 237), ("Potential Interaction Delay", 17, 41, 89)):
        spans_ms = hangs.duration_ns[hangs.hang_type.is_any(name)] / 1e6
        assert [len(spans_ms), round(spans_ms.min()), round(spans_ms.max())] == expected
    assert hangs.process.known.all()


@pytest.mark.corpus
def test_identical_neural_engine_rows_of_a_fixture_are_one(corpus):
    # Its author says that the last two rows are duplicates.
    trace = opened(corpus / "xml" / "snippet-ane-hw-intervals-activitymonitor.xml")
    assert values_of(trace.hardware, "kind") == ["neural_engine_exec", "neural_engine_exec", "neural_engine_load"]
    assert any("1 of 4 rows" in note for note in trace.notes)
