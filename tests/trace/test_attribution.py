import pytest

from support.hardware_rows import GPU, answers, engine_label, gpu_label
from support.rows import values_of
from tracekit.trace.build import build_trace
from tracekit.trace.filter import everything, narrow, only_models

GENERIC = "Neural Engine Prediction"
UNKNOWN = (None, None, "unattributed")
AMBIGUOUS = (None, None, "ambiguous")
ENGINE = {
    "a specific label belongs to the prediction of its model that contains it": (
        [(0, 100, "Prediction", "a-1"), (0, 100, "Prediction", "b-1"), (200, 50, "Prediction", "a-1")],
        [
            ((0, 100, engine_label("a")), (0, "a", "label")),  # bounds count
            ((10, 20, engine_label("b", 3)), (1, "b", "label")),
            ((210, 40, engine_label("a", verb="")), (2, "a", "label")),
            # 1 ns beyond the end: the Neural Engine gets no tolerance
            ((210, 41, engine_label("a")), (None, "a", "label")),
            ((120, 10, engine_label("a")), (None, "a", "label")),
        ],
    ),
    "of several instances in flight the model is known and the prediction is not": (
        [(0, 100, "Prediction", "a-1"), (50, 100, "Prediction", "a-2")],
        [
            ((10, 20, engine_label("a")), (0, "a", "label")),
            ((60, 20, engine_label("a")), (None, "a", "label")),
            ((110, 20, engine_label("a")), (1, "a", "label")),
        ],
    ),
    "where Core ML leaves a model unnamed no label is foreign": (
        [(0, 100, "Prediction", "a-1"), (0, 100, "Prediction", None)],
        [((10, 20, engine_label("b")), (None, "b", "label"))],
    ),
    "nor where it calls one so": (
        [(0, 100, "Prediction", "a-1"), (0, 100, "Prediction", "Unnamed_Model")],
        [((10, 20, engine_label("b")), (None, "b", "label"))],
    ),
    "a generic label belongs by time alone": (
        [
            (0, 100, "Prediction", "a-1"),
            (50, 100, "Prediction", "b-1"),
            (300, 10, "Load", "a-1"),
            (400, 9, "Prediction", None),
        ],
        [
            ((10, 20, GENERIC), (0, "a", "contained")),
            ((60, 20, GENERIC), AMBIGUOUS),
            ((110, 20, GENERIC), (1, "b", "contained")),
            ((200, 20, GENERIC), UNKNOWN),
            ((301, 5, GENERIC), UNKNOWN),
            ((401, 5, GENERIC), (3, None, "contained")),
        ],
    ),
    "a generic row that runs past its call may be of it": (
        [(10, 90, "Prediction", "a-1")],
        [
            ((5, 20, GENERIC), UNKNOWN),  # began before the call
            ((30, 100, GENERIC), AMBIGUOUS),
            ((100, 5, GENERIC), UNKNOWN),  # began when it had ended
            ((99, 2, GENERIC), AMBIGUOUS),
        ],
    ),
    # Reference, section 4: one public trace has 599 rows that name its model, and 6,837 generic ones of another job.
    "a generic row beside named rows of the same model is not surely its own": (
        [
            (0, 100, "Prediction", "a-1"),
            (200, 100, "Prediction", "a-1"),
            (400, 100, "Prediction", "b-1"),
            (600, 100, "Prediction", "pipe-1"),
            (610, 30, "Prediction", "stage-1", "pipe-1", "sub"),
        ],
        [
            ((10, 20, engine_label("a")), (0, "a", "label")),
            ((40, 20, GENERIC), AMBIGUOUS),
            ((210, 20, GENERIC), AMBIGUOUS),
            ((410, 20, GENERIC), (2, "b", "contained")),
            ((615, 20, engine_label("stage")), (4, "stage", "label")),
            ((650, 20, GENERIC), AMBIGUOUS),
        ],
    ),
    "loads and compilations of the engine belong to no prediction": (
        [(0, 100, "Prediction", "a-1")],
        [
            ((10, 1, "Neural Engine Load: prepare and cache"), UNKNOWN),
            ((20, 1, engine_label("a", verb=" Compile")), (None, "a", "label")),
            ((30, 1, engine_label("a", verb="  Load")), (None, "a", "label")),
            ((40, 1, "something new"), UNKNOWN),
        ],
    ),
    "a stage of one of two stages at once is not singled out": (
        [
            (0, 1000, "Prediction", "pipe"),
            (100, 500, "Prediction", "one", "pipe", "sub"),
            (100, 500, "Prediction", "two", "pipe", "sub"),
            (200, 100, "Prediction", "inner", "two", "sub"),
            (700, 100, "Prediction", "two", "pipe", "sub"),
            (710, 80, "Prediction", "inner", "two", "sub"),
        ],
        [((220, 10, GENERIC), (0, "pipe", "contained")), ((720, 10, GENERIC), (5, "inner", "contained"))],
    ),
    "two pipelines in flight leave rows of their stages ambiguous": (
        [
            (0, 1000, "Prediction", "pipe"),
            (0, 1000, "Prediction", "other"),
            (100, 300, "Prediction", "first", "pipe", "sub"),
        ],
        [((150, 10, GENERIC), AMBIGUOUS), ((150, 11, engine_label("first")), (2, "first", "label"))],
    ),
}
"""Rows of the Core ML table; and rows of the Neural Engine, each with its prediction, model and attribution."""


@pytest.mark.parametrize("case", ENGINE)
def test_rows_of_the_neural_engine_belong_to_predictions(make, case):
    coreml, engine = ENGINE[case]
    trace = build_trace(make.recording(make.coreml(*coreml), make.engine(*(row for row, _ in engine))))
    assert answers(trace) == [answer for _, answer in engine]


def test_a_label_tells_the_operation(make):
    trace = build_trace(
        make.recording(make.coreml(), make.engine((0, 1, engine_label("a")), (2, 1, engine_label("b", 3))))
    )
    assert values_of(trace.hardware, "operation") == [0, 3]


def test_a_model_that_core_ml_does_not_name_is_foreign_at_any_time(make):
    coreml = make.coreml((0, 100, "Prediction", "a-1"))
    engine = make.engine((10, 20, engine_label("b")), (210, 20, engine_label("b", verb=" Compile")))
    gpu = make.table("metal-gpu-intervals", GPU, (10, 20, gpu_label("b"), None, 1))
    assert answers(build_trace(make.recording(coreml, engine, gpu))) == [(None, "b", "foreign")] * 3


def pipeline(make):
    return make.coreml(
        (0, 1000, "Prediction", "pipe-1"),
        (100, 300, "Prediction", "first-1", "pipe-1", "sub"),
        (500, 300, "Prediction", "second-1", "pipe-1", "sub"),
        (600, 300, "Prediction", "third-1", "pipe-1", "sub"),
    )


def parents(trace):
    return values_of(trace.hardware, "parent_model")


def test_a_stage_is_the_innermost_prediction(make):
    engine = make.engine(
        (170, 10, GENERIC),
        (450, 10, GENERIC),
        (650, 10, GENERIC),  # in two stages at once: certainly in the pipeline
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


def test_a_pipeline_keeps_the_hardware_rows_of_its_stages_when_others_are_filtered_out(make):
    for label, attribution in ((engine_label("first"), "label"), (GENERIC, "contained")):
        engine = make.engine((150, 10, label), (2000, 1, engine_label("x")))
        trace = build_trace(make.recording(pipeline(make), engine))
        trace = narrow(trace, only_models(everything(trace), trace, ["pipe"]))
        assert answers(trace) == [(1, "first", attribution)]


def test_a_damaged_table_whose_pipelines_run_in_a_circle_ends(make):
    coreml = make.coreml((0, 100, "Prediction", "a", "b", "sub"), (0, 100, "Prediction", "b", "a", "sub"))
    trace = build_trace(make.recording(coreml, make.engine((10, 5, "Neural Engine Prediction"))))
    assert not trace.hardware.prediction.known.any()


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
