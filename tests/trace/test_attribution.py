import json

import numpy as np
import pandas as pd
import pytest

from support.ground_truth import ground_truth
from support.samples import SAMPLES
from tracekit.recording.open import open_recording
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.events import Lane
from tracekit.trace.filter import everything, narrowed, only_models

MS = 1_000_000
GPU = "start duration event-label process cmdbuffer-id"


def engine_label(model, operation=0, verb=" Prediction"):
    return f"{model}_main__Op{operation}_AneInference{verb}"


def gpu_label(model, operation=0, buffer=0):
    return f"{model}_main__Op{operation}_MpsGraphInference{'+' * buffer}:Compute Command 0   (app (42)) 0x1"


def graph_label(buffer):
    return f"MPSGraph:0x13af0a280 (CommandBuffer: 0x{buffer:x})"


def graphs(make, *rows):
    return make.table("mps-hw-intervals", "start duration event-label process", *rows)


def answers(trace):
    """(row of the prediction in the Core ML table, model, attribution) of each hardware row, by lane and row."""
    hardware = trace.hardware.sort_values(["table", "row"], key=lambda column: column.astype(object))
    return [
        (
            None if pd.isna(prediction) else int(trace.activity["row"][prediction]),
            None if pd.isna(model) else model,
            attribution,
        )
        for prediction, model, attribution in zip(
            hardware["prediction"], hardware["model"], hardware["attribution"], strict=True
        )
    ]


def test_a_specific_label_is_linked_to_the_prediction_of_its_model_that_contains_it(make):
    coreml = make.coreml((0, 100, "Prediction", "a-1"), (0, 100, "Prediction", "b-1"), (200, 50, "Prediction", "a-1"))
    engine = make.engine(
        (0, 100, engine_label("a")),  # bounds count
        (10, 20, engine_label("b", 3)),
        (210, 40, engine_label("a", verb="")),
        (210, 41, engine_label("a")),  # 1 ns beyond the end: the Neural Engine gets no tolerance
        (120, 10, engine_label("a")),
    )
    trace = build_trace(make.recording(coreml, engine))
    assert answers(trace) == [
        (0, "a", "label"),
        (1, "b", "label"),
        (2, "a", "label"),
        (None, "a", "label"),
        (None, "a", "label"),
    ]
    assert trace.hardware["operation"].tolist() == [0, 3, 0, 0, 0]


def test_of_several_instances_in_flight_the_model_is_known_and_the_prediction_is_not(make):
    coreml = make.coreml((0, 100, "Prediction", "a-1"), (50, 100, "Prediction", "a-2"))
    engine = make.engine((10, 20, engine_label("a")), (60, 20, engine_label("a")), (110, 20, engine_label("a")))
    trace = build_trace(make.recording(coreml, engine))
    assert answers(trace) == [(0, "a", "label"), (None, "a", "label"), (1, "a", "label")]


def test_a_model_that_core_ml_does_not_name_is_foreign_at_any_time(make):
    coreml = make.coreml((0, 100, "Prediction", "a-1"))
    engine = make.engine((10, 20, engine_label("b")), (210, 20, engine_label("b", verb=" Compile")))
    gpu = make.table("metal-gpu-intervals", GPU, (10, 20, gpu_label("b"), None, 1))
    assert answers(build_trace(make.recording(coreml, engine, gpu))) == [(None, "b", "foreign")] * 3


@pytest.mark.parametrize("name", [None, "Unnamed_Model"])
def test_where_core_ml_leaves_models_unnamed_no_label_is_foreign(make, name):
    coreml = make.coreml((0, 100, "Prediction", "a-1"), (0, 100, "Prediction", name))
    trace = build_trace(make.recording(coreml, make.engine((10, 20, engine_label("b")))))
    assert answers(trace) == [(None, "b", "label")]


def test_a_generic_label_is_linked_by_time_alone(make):
    coreml = make.coreml(
        (0, 100, "Prediction", "a-1"),
        (50, 100, "Prediction", "b-1"),
        (300, 10, "Load", "a-1"),
        (400, 9, "Prediction", None),
    )
    generic = "Neural Engine Prediction"
    engine = make.engine(
        (10, 20, generic),
        (60, 20, generic),
        (110, 20, generic),
        (200, 20, generic),
        (301, 5, generic),
        (401, 5, generic),
    )
    assert answers(build_trace(make.recording(coreml, engine))) == [
        (0, "a", "contained"),
        (None, None, "ambiguous"),
        (1, "b", "contained"),
        (None, None, "unattributed"),
        (None, None, "unattributed"),
        (3, None, "contained"),
    ]


def test_loads_and_compilations_of_the_engine_belong_to_no_prediction(make):
    coreml = make.coreml((0, 100, "Prediction", "a-1"))
    engine = make.engine(
        (10, 1, "Neural Engine Load: prepare and cache"),
        (20, 1, engine_label("a", verb=" Compile")),
        (30, 1, engine_label("a", verb="  Load")),
        (40, 1, "something new"),
    )
    assert answers(build_trace(make.recording(coreml, engine))) == [
        (None, None, "unattributed"),
        (None, "a", "label"),
        (None, "a", "label"),
        (None, None, "unattributed"),
    ]


def pipeline(make):
    return make.coreml(
        (0, 1000, "Prediction", "pipe-1"),
        (100, 300, "Prediction", "first-1", "pipe-1", "sub"),
        (500, 300, "Prediction", "second-1", "pipe-1", "sub"),
        (600, 300, "Prediction", "third-1", "pipe-1", "sub"),
    )


def parents(trace):
    column = trace.hardware["parent_model"]
    return column.astype(object).where(column.notna(), None).tolist()


def test_a_stage_is_the_innermost_prediction(make):
    generic = "Neural Engine Prediction"
    engine = make.engine(
        (170, 10, generic),
        (450, 10, generic),
        (650, 10, generic),  # in two stages at once: certainly in the pipeline
    )
    trace = build_trace(make.recording(pipeline(make), engine))
    assert answers(trace) == [(1, "first", "contained"), (0, "pipe", "contained"), (0, "pipe", "contained")]
    assert parents(trace) == ["pipe", None, None]


def test_a_label_may_name_a_stage_or_its_pipeline(make):
    engine = make.engine(
        (150, 10, engine_label("first")),
        (160, 10, engine_label("pipe")),
        (950, 10, engine_label("first")),  # a stage outside its own prediction, inside the pipeline's
    )
    trace = build_trace(make.recording(pipeline(make), engine))
    assert answers(trace) == [(1, "first", "label"), (0, "pipe", "label"), (0, "first", "label")]
    assert parents(trace) == ["pipe", None, "pipe"]


def test_a_stage_of_one_of_two_stages_at_once_is_not_singled_out(make):
    coreml = make.coreml(
        (0, 1000, "Prediction", "pipe"),
        (100, 500, "Prediction", "one", "pipe", "sub"),
        (100, 500, "Prediction", "two", "pipe", "sub"),
        (200, 100, "Prediction", "inner", "two", "sub"),
        (700, 100, "Prediction", "two", "pipe", "sub"),
        (710, 80, "Prediction", "inner", "two", "sub"),
    )
    engine = make.engine((220, 10, "Neural Engine Prediction"), (720, 10, "Neural Engine Prediction"))
    assert answers(build_trace(make.recording(coreml, engine))) == [(0, "pipe", "contained"), (5, "inner", "contained")]


def test_two_pipelines_in_flight_leave_their_stages_rows_ambiguous(make):
    coreml = make.coreml(
        (0, 1000, "Prediction", "pipe"),
        (0, 1000, "Prediction", "other"),
        (100, 300, "Prediction", "first", "pipe", "sub"),
    )
    engine = make.engine((150, 10, "Neural Engine Prediction"), (150, 11, engine_label("first")))
    assert answers(build_trace(make.recording(coreml, engine))) == [
        (None, None, "ambiguous"),
        (2, "first", "label"),
    ]


@pytest.mark.parametrize(
    ("start", "end", "linked"),
    [
        (50 * MS, 100 * MS, True),
        (50 * MS, 101 * MS, True),  # GPU work may end 1 ms after the prediction
        (50 * MS, 101 * MS + 1, False),
        (100 * MS, 100 * MS + 1, True),
        (100 * MS + 1, 100 * MS + 2, False),  # but not begin after it
        (-1, 50 * MS, False),
    ],
)
def test_gpu_work_may_outlive_its_prediction_a_little(make, start, end, linked):
    app = make.process("app", 42)
    coreml = make.coreml((0, 100 * MS, "Prediction", "a-1"))
    gpu = make.table("metal-gpu-intervals", GPU, (start, end - start, gpu_label("a"), app, 1))
    answered = answers(build_trace(make.recording(coreml, gpu, target=app)))
    assert answered == [(0 if linked else None, "a", "exact")]


def test_gpu_work_inside_the_next_prediction_is_not_the_last_ones(make):
    app = make.process("app", 42)
    coreml = make.coreml((0, 10 * MS, "Prediction", "a-1"), (10 * MS, 10 * MS, "Prediction", "a-1"))
    gpu = make.table("metal-gpu-intervals", GPU, (10 * MS + 1, 1000, gpu_label("a"), app, 1))
    assert answers(build_trace(make.recording(coreml, gpu, target=app))) == [(1, "a", "exact")]


def test_gpu_rows_are_judged_by_process_then_label_and_never_by_time_alone(make):
    app, other = make.process("app", 42), make.process("other", 7)
    coreml = make.coreml((0, 100, "Prediction", "a-1"))
    gpu = make.table(
        "metal-gpu-intervals",
        GPU,
        (10, 5, gpu_label("a"), app, 1),
        (20, 5, gpu_label("a"), other, 2),
        (30, 5, gpu_label("a"), None, 3),
        (40, 5, "Render Command 0", app, 4),
        (50, 5, "Render Command 0", None, 5),
        (60, 5, gpu_label("unnamed"), app, 6),
    )
    assert answers(build_trace(make.recording(coreml, gpu, target=app))) == [
        (0, "a", "exact"),
        (None, "a", "foreign"),
        (0, "a", "label"),
        (None, None, "unattributed"),
        (None, None, "unattributed"),
        (None, "unnamed", "exact"),
    ]


def test_a_graph_shares_what_is_known_of_its_command_buffer(make):
    app, other = make.process("app", 42), make.process("other", 7)
    coreml = make.coreml((0, 100, "Prediction", "a-1"), (0, 100, "Prediction", "b-1"), (200, 9, "Prediction", "b-1"))
    gpu = make.table(
        "metal-gpu-intervals",
        GPU,
        (9, 2, "no model", app, 0x1234567890),
        (10, 5, gpu_label("a", 2), app, 0x1234567890),
        (30, 5, gpu_label("a"), other, 2),
        (40, 5, "Own graph", app, 3),
    )
    mps = graphs(
        make,
        (10, 5, graph_label(0x1234567890), None),
        (30, 5, graph_label(2), None),
        (40, 5, graph_label(3), None),
        (50, 5, graph_label(99), None),  # no GPU row: time decides
        (201, 5, graph_label(0), None),
        (205, 1 * MS, "unreadable", None),
        (300, 5, graph_label(98), None),
        (201, 5, graph_label(97), other),
        (10, 5, graph_label(0xFFFFFFFFFFFFFFFF), None),
        (10, 5, graph_label(0x1234567890), other),  # its own process tells more than its command buffer
    )
    trace = build_trace(make.recording(coreml, gpu, mps, target=app))
    assert answers(trace)[4:] == [
        (0, "a", "exact"),
        (None, "a", "foreign"),
        (None, None, "unattributed"),
        (None, None, "ambiguous"),
        (2, "b", "contained"),
        (2, "b", "contained"),
        (None, None, "unattributed"),
        (None, None, "foreign"),
        (None, None, "ambiguous"),
        (None, None, "foreign"),
    ]
    rows = trace.hardware[trace.hardware["lane"] == Lane.MPS]
    assert rows.set_index("row")["operation"].dropna().to_dict() == {0: 2, 1: 0}


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
    core_ml_row = trace.activity["row"]
    for schema in (scenario.xcode.neural_engine_schema, "metal-gpu-intervals"):
        rows = trace.hardware[trace.hardware["table"] == schema].sort_values("row")
        linked = [None if pd.isna(label) else int(core_ml_row[label]) for label in rows["prediction"]]
        assert tuple(linked) == truth.parents[schema]
    graph = trace.hardware[trace.hardware["lane"] == Lane.MPS]
    assert len(graph) == 10
    assert graph["attribution"].eq("exact").all()
    assert graph["model"].eq("Seg-menter").all()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_no_row_of_a_sample_is_linked_to_a_wrong_prediction(samples, name):
    scenario = SAMPLES[name]()
    truth = ground_truth(scenario)
    trace = build_trace(open_recording(samples / f"{name}.trace", schemas=NEEDED_SCHEMAS))
    for schema, parents in truth.parents.items():
        rows = trace.hardware[trace.hardware["table"] == schema].sort_values("row")
        if rows.empty:
            continue
        linked = [None if pd.isna(label) else int(trace.activity["row"][label]) for label in rows["prediction"]]
        # Calls of one model overlap in this sample, which leaves labels without a single prediction.
        overlap = name == "captions_concurrent"
        assert all(a == b or (overlap and a is None) for a, b in zip(linked, parents, strict=True))
        assert set(rows["attribution"]) <= {"label", "exact", "foreign"}
    assert not trace.sharing.is_shared


def test_a_pipeline_keeps_the_hardware_rows_of_its_stages_when_others_are_filtered_out(make):
    generic = "Neural Engine Prediction"
    for label, attribution in ((engine_label("first"), "label"), (generic, "contained")):
        engine = make.engine((150, 10, label), (2000, 1, engine_label("x")))
        trace = build_trace(make.recording(pipeline(make), engine))
        trace = narrowed(trace, only_models(everything(trace), trace, ["pipe"]))
        assert answers(trace) == [(1, "first", attribution)]


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


def test_a_damaged_table_whose_pipelines_run_in_a_circle_ends(make):
    coreml = make.coreml((0, 100, "Prediction", "a", "b", "sub"), (0, 100, "Prediction", "b", "a", "sub"))
    trace = build_trace(make.recording(coreml, make.engine((10, 5, "Neural Engine Prediction"))))
    assert trace.hardware["prediction"].isna().all()


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
    assert trace.hardware["prediction"].tolist() == list(range(count))
    assert trace.hardware["attribution"].eq(np.where(index % 7 % 2, "label", "contained")).all()
    assert trace.hardware["model"].tolist() == [f"m{k % 7}" for k in index]


def test_gpu_work_that_may_have_outlived_one_of_two_calls_is_of_neither_for_sure(make):
    app = make.process("app", 42)
    coreml = make.coreml((0, 10 * MS, "Prediction", "a-1"), (5 * MS, 15 * MS, "Prediction", "a-1"))
    gpu = make.table(
        "metal-gpu-intervals",
        GPU,
        (4 * MS, 2 * MS, gpu_label("a"), app, 1),
        (9 * MS, 2 * MS, gpu_label("a"), app, 2),  # ends 1 ms after the first call
        (9 * MS, 2 * MS + 1, gpu_label("a"), app, 3),  # ends too late for the first one
    )
    assert answers(build_trace(make.recording(coreml, gpu, target=app))) == [
        (0, "a", "exact"),
        (None, "a", "exact"),
        (1, "a", "exact"),
    ]


def test_a_generic_row_that_runs_past_its_call_may_be_of_it(make):
    coreml = make.coreml((10, 90, "Prediction", "a-1"))
    generic = "Neural Engine Prediction"
    engine = make.engine((5, 20, generic), (30, 100, generic), (100, 5, generic), (99, 2, generic))
    assert answers(build_trace(make.recording(coreml, engine))) == [
        (None, None, "unattributed"),  # began before the call
        (None, None, "ambiguous"),
        (None, None, "unattributed"),  # began when it had ended
        (None, None, "ambiguous"),
    ]


def test_a_generic_row_beside_named_rows_of_the_same_model_is_not_surely_its_own(make):
    # Reference, section 4: one public trace has 599 rows that name its model, and 6,837 generic ones of another job.
    coreml = make.coreml(
        (0, 100, "Prediction", "a-1"),
        (200, 100, "Prediction", "a-1"),
        (400, 100, "Prediction", "b-1"),
        (600, 100, "Prediction", "pipe-1"),
        (610, 30, "Prediction", "stage-1", "pipe-1", "sub"),
    )
    generic = "Neural Engine Prediction"
    engine = make.engine(
        (10, 20, engine_label("a")),
        (40, 20, generic),
        (210, 20, generic),
        (410, 20, generic),
        (615, 20, engine_label("stage")),
        (650, 20, generic),
    )
    assert answers(build_trace(make.recording(coreml, engine))) == [
        (0, "a", "label"),
        (None, None, "ambiguous"),
        (None, None, "ambiguous"),
        (2, "b", "contained"),
        (4, "stage", "label"),
        (None, None, "ambiguous"),
    ]


def test_a_prediction_in_which_two_processes_ran_its_model_is_of_neither_for_sure(make):
    one, two = make.process("one", 1), make.process("two", 2)
    coreml = make.coreml(
        (0, 100, "Prediction", "a-1"), (200, 100, "Prediction", "a-1"), (400, 100, "Prediction", "a-1")
    )
    gpu = make.table(
        "metal-gpu-intervals",
        GPU,
        (10, 5, gpu_label("a"), one, 1),
        (20, 5, gpu_label("a"), two, 2),
        (210, 5, gpu_label("a"), two, 3),
        (220, 5, gpu_label("a"), None, 4),
        (410, 5, gpu_label("a"), one, 5),
    )
    engine = make.engine((30, 5, engine_label("a")))
    assert answers(build_trace(make.recording(coreml, engine, gpu))) == [
        (0, "a", "label"),
        (None, "a", "label"),
        (None, "a", "label"),
        (1, "a", "label"),
        (1, "a", "label"),
        (2, "a", "label"),
    ]
    # Of a single target, rows of others are known.
    assert answers(build_trace(make.recording(coreml, engine, gpu, target=one))) == [
        (0, "a", "label"),
        (0, "a", "exact"),
        (None, "a", "foreign"),
        (None, "a", "foreign"),
        (1, "a", "label"),
        (2, "a", "exact"),
    ]
