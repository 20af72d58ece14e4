import pytest

from support.scenarios import derive_gpu_states
from tracekit.testing.machines import WINDOW_SERVER, Process
from tracekit.testing.rows import ACTIVITY, COMPUTE, DATA, GpuStateRow, Model
from tracekit.testing.scenario import Scenario

APP = Process("Camera", 412)
MODEL = Model("Segmenter")


def test_loads_and_compilations_are_rows_of_the_app_and_return_their_end():
    scenario = Scenario(APP, duration_ns=1_000)
    assert (scenario.load(MODEL, 100, 50), scenario.compile(MODEL, 200, 50)) == (150, 250)
    assert [row.label for row in scenario.coreml][-1] == "Compile"
    assert {row.lane for row in scenario.coreml} == {ACTIVITY}


def test_events_count_from_the_start_of_their_prediction_and_unknown_ones_need_a_lane():
    scenario = Scenario(APP, duration_ns=1_000)
    prediction = scenario.predict(MODEL, 300, 200)
    prediction.event("Input Copy", 10, 20)
    prediction.event("CPU", 40, 160)
    prediction.event("New Step", 0, 5, lane=DATA)
    copy, compute, new = scenario.coreml[1:]
    assert (copy.start_ns, copy.end_ns, copy.lane, copy.prediction) == (310, 330, DATA, prediction.index)
    assert (compute.end_ns, compute.lane) == (500, COMPUTE)
    assert new.label == "New Step"
    with pytest.raises(KeyError, match="New Step"):
        prediction.event("New Step", 0, 5)


@pytest.mark.parametrize(("at_ns", "duration_ns"), [(-1, 5), (0, 201), (150, 51), (10, -1)])
def test_an_event_outside_its_prediction_is_refused(at_ns, duration_ns):
    prediction = Scenario(APP, duration_ns=1_000).predict(MODEL, 300, 200)
    with pytest.raises(ValueError, match="does not lie in a prediction of 200 ns"):
        prediction.event("Input Copy", at_ns, duration_ns)
    with pytest.raises(ValueError, match="does not lie in a prediction of 200 ns"):
        prediction.stage("Decoder", at_ns, duration_ns)


@pytest.mark.parametrize(("start_ns", "duration_ns"), [(-1, 5), (990, 11), (5, -1)])
def test_a_row_outside_the_run_is_refused(start_ns, duration_ns):
    scenario = Scenario(APP, duration_ns=1_000)
    with pytest.raises(ValueError, match="does not fit a run of 1000 ns"):
        scenario.predict(MODEL, start_ns, duration_ns)
    with pytest.raises(ValueError, match="does not fit a run of 1000 ns"):
        scenario.gpu_work(start_ns, duration_ns, APP)


def test_a_stage_names_its_pipeline_and_lies_in_its_prediction():
    scenario = Scenario(APP, duration_ns=1_000)
    pipeline = scenario.predict(Model("Pipeline"), 100, 500)
    stage = pipeline.stage("Decoder", 50, 100)
    assert stage.row.start_ns == 150
    assert stage.row.model.level == "sub"
    assert stage.row.model.parent == Model("Pipeline")
    assert stage.row.prediction == pipeline.index


def test_hardware_labels_name_the_program_with_underscores():
    scenario = Scenario(APP, duration_ns=1_000)
    prediction = scenario.predict(Model("style-net"), 100, 500)
    prediction.neural_engine(10, 100)
    prediction.gpu(200, 90, operation=2, buffers=3)
    assert scenario.neural_engine[0].label == "style_net_main__Op0_AneInference Prediction"
    assert Model("style-net").engine_label(2, "Compile") == "style_net_main__Op2_AneInference Compile"
    assert [(row.start_ns, row.duration_ns, row.command_buffer) for row in scenario.gpu] == [
        (300, 30, "style_net_main__Op2_MpsGraphInference:Compute Command 0"),
        (330, 30, "style_net_main__Op2_MpsGraphInference+:Compute Command 0"),
        (360, 30, "style_net_main__Op2_MpsGraphInference++:Compute Command 0"),
    ]
    # One dispatch stands for the first command buffer only.
    (dispatch,) = scenario.mps
    assert (dispatch.start_ns, dispatch.duration_ns) == (300, 30)
    assert dispatch.command_buffer_id == scenario.gpu[0].command_buffer_id


def test_gpu_states_tile_the_run_and_count_channels():
    scenario = Scenario(APP, duration_ns=100)
    scenario.gpu_work(10, 20, APP, channel="Compute")
    scenario.gpu_work(15, 5, APP, channel="Compute")
    scenario.gpu_work(20, 20, WINDOW_SERVER, channel="Fragment")
    derive_gpu_states(scenario)
    assert scenario.gpu_states == [
        GpuStateRow(0, 10, 0),
        GpuStateRow(10, 10, 1),
        GpuStateRow(20, 10, 2),
        GpuStateRow(30, 10, 1),
        GpuStateRow(40, 60, 0),
    ]


@pytest.mark.parametrize(
    ("duration_ns", "kind"),
    [(73_690_000, "Potential Interaction Delay"), (234_840_000, "Brief Unresponsiveness"), (900_000_000, "Hang")],
)
def test_hangs_are_named_by_their_length(duration_ns, kind):
    scenario = Scenario(APP, duration_ns=2_000_000_000)
    scenario.hang(0, duration_ns)
    assert scenario.hangs[0].state == kind
