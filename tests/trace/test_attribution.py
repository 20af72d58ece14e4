import pytest

from support.hardware_rows import GPU, answers, engine_label, gpu_label
from tracekit.trace.build import build_trace
from tracekit.trace.filter import everything, narrow, only_models


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
    assert answers(build_trace(make.recording(coreml, engine))) == [(None, None, "ambiguous"), (2, "first", "label")]


def test_a_pipeline_keeps_the_hardware_rows_of_its_stages_when_others_are_filtered_out(make):
    generic = "Neural Engine Prediction"
    for label, attribution in ((engine_label("first"), "label"), (generic, "contained")):
        engine = make.engine((150, 10, label), (2000, 1, engine_label("x")))
        trace = build_trace(make.recording(pipeline(make), engine))
        trace = narrow(trace, only_models(everything(trace), trace, ["pipe"]))
        assert answers(trace) == [(1, "first", attribution)]


def test_a_damaged_table_whose_pipelines_run_in_a_circle_ends(make):
    coreml = make.coreml((0, 100, "Prediction", "a", "b", "sub"), (0, 100, "Prediction", "b", "a", "sub"))
    trace = build_trace(make.recording(coreml, make.engine((10, 5, "Neural Engine Prediction"))))
    assert trace.hardware["prediction"].isna().all()


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
