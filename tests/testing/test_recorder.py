import pytest

from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.recorder import MACHINES, Stage, cpu, gpu, neural_engine, start_recording
from tracekit.testing.rng import Draws
from tracekit.testing.rows import ENGINE_LOAD, ENGINE_PREPARE, LOAD_COLD, Model

MS = 1_000_000
MODEL = Model("Segmenter")


@pytest.fixture
def app():
    """A recording without jitter or other processes, of a system that leaves no Neural Engine requests."""
    return start_recording(Draws(3), jitter=0, noise=False, machine=5)


def test_calls_move_the_time_on_to_their_end_unless_nobody_waits(app):
    start = app.now_ns
    app.load(MODEL, 20 * MS)
    assert app.now_ns == start + 20 * MS + 60_000
    prediction = app.predict(MODEL, neural_engine(6 * MS))
    assert app.now_ns == prediction.row.end_ns
    app.predict(MODEL, cpu(6 * MS), wait=False)
    app.pause(5 * MS)
    assert app.now_ns == prediction.row.end_ns + 5 * MS


def test_a_neural_engine_step_leaves_its_rows(app):
    prediction = app.predict(MODEL, neural_engine(6 * MS), inputs=2)
    labels = ["Prediction", "Input Validation", "Input Copy", "Input Copy", "Data Cast", "Output Transformation"]
    assert [row.label for row in app.scenario.coreml] == labels
    (row,) = app.scenario.neural_engine
    assert row.duration_ns == 6 * MS
    assert prediction.row.start_ns < row.start_ns < row.start_ns + row.duration_ns < prediction.row.end_ns


def test_a_gpu_step_overlaps_preparation_and_request(app):
    prediction = app.predict(MODEL, gpu(24 * MS), inputs=0)
    rows = {row.label: row for row in app.scenario.coreml}
    prepare, request = rows["Prepare GPU Request"], rows["GPU Request"]
    assert prepare.start_ns < request.start_ns < prepare.end_ns < request.end_ns < prediction.row.end_ns
    assert sum(row.duration_ns for row in app.scenario.gpu) == 24 * MS
    assert all(row.process == app.scenario.target for row in app.scenario.gpu)


def test_a_cpu_step_fills_its_prediction_and_host_time_is_explained_by_no_row(app):
    length = app.predict(MODEL, cpu(8 * MS), inputs=0).row.duration_ns
    assert next(row for row in app.scenario.coreml if row.label == "CPU").duration_ns == 8 * MS
    assert length < 8 * MS + 50_000
    assert app.predict(MODEL, cpu(8 * MS), inputs=0, host_ns=30 * MS).row.duration_ns == length + 30 * MS
    assert max(row.duration_ns for row in app.scenario.coreml if row.label != "Prediction") == 8 * MS


def test_requests_wait_for_their_unit_and_room_is_when_fewer_calls_are_in_flight(app):
    assert app.room_at(2) == 0
    for _ in range(3):
        app.predict(MODEL, neural_engine(10 * MS), wait=False)
    rows = app.scenario.neural_engine
    assert [row.duration_ns for row in rows] == [10 * MS] * 3
    assert rows[1].start_ns == rows[0].start_ns + 10 * MS
    assert rows[2].start_ns == rows[1].start_ns + 10 * MS
    lengths = [prediction.row.duration_ns for prediction in app.predictions]
    assert lengths[2] - lengths[1] == lengths[1] - lengths[0] == 10 * MS
    assert [app.room_at(1), app.room_at(2)] == [app.predictions[number].row.end_ns for number in (2, 1)]


def test_another_process_on_a_unit_makes_requests_wait_unless_told_not_to(app):
    app.occupy("neural engine", app.now_ns, 50 * MS)
    start = app.now_ns
    app.predict(MODEL, neural_engine(4 * MS))
    assert app.scenario.neural_engine[1].start_ns == start + 50 * MS
    app.occupy("gpu", app.now_ns, 50 * MS, blocks=False)
    start = app.now_ns
    app.predict(MODEL, gpu(4 * MS))
    foreign, own_rows = app.scenario.gpu[:2]
    assert (foreign.process, foreign.channel) == (WINDOW_SERVER, "Fragment")
    assert own_rows.start_ns < start + 5 * MS


def test_stages_lie_in_the_prediction_of_their_pipeline(app):
    pipeline = app.predict(MODEL, Stage("Backbone", (neural_engine(4 * MS),)), Stage("Head", (cpu(2 * MS),)))
    stages = [row for row in app.scenario.coreml if row.model.parent == MODEL and row.label == "Prediction"]
    assert [row.model.base for row in stages] == ["Backbone", "Head"]
    assert stages[0].end_ns <= stages[1].start_ns
    assert pipeline.row.start_ns < stages[0].start_ns
    assert stages[1].end_ns < pipeline.row.end_ns
    assert app.scenario.neural_engine[0].label.startswith("Backbone_main__Op0_")


def test_loads_show_on_the_neural_engine_where_asked(app):
    app.load(MODEL, engine=True)
    app.load(MODEL, 900 * MS, LOAD_COLD, engine=True)
    app.load(MODEL)
    cached, cold = app.scenario.neural_engine
    assert (cached.label, cold.label) == (ENGINE_LOAD, ENGINE_PREPARE)
    assert cold.duration_ns == 450 * MS
    assert app.models == [MODEL]


def test_labels_may_name_no_model():
    app = start_recording(Draws(3), generic_labels=True)
    app.predict(MODEL, neural_engine(4 * MS))
    assert [row.label for row in app.scenario.neural_engine] == ["Neural Engine Prediction"]


def test_states_hold_from_when_they_are_told_to_the_end(app):
    app.predict(MODEL, cpu(MS))
    hot = app.now_ns
    app.thermal("Serious")
    app.pause(2_000 * MS)
    scenario = app.finish()
    assert [(row.start_ns, row.state) for row in scenario.thermal] == [(0, "Nominal"), (hot, "Serious")]
    assert sum(row.duration_ns for row in scenario.thermal) == scenario.duration_ns
    assert scenario.gpu_performance == []


def test_finish_ends_the_recording_after_the_last_row_once_and_for_all(app):
    app.predict(MODEL, cpu(9 * MS), wait=False)
    scenario = app.finish(tail_ns=125_000)
    assert scenario.duration_ns == app.predictions[0].row.end_ns + 125_000
    assert app.finish(tail_ns=9_000_000_000) is scenario
    assert scenario.duration_ns == app.predictions[0].row.end_ns + 125_000


def test_other_processes_draw_the_screen_unless_it_is_quiet():
    noisy, quiet = (start_recording(Draws(5), noise=noise) for noise in (True, False))
    for app in (noisy, quiet):
        app.predict(MODEL, cpu(900 * MS))
        app.finish()
    assert len(noisy.scenario.gpu) > 20
    assert all(row.process != noisy.scenario.target for row in noisy.scenario.gpu)
    assert quiet.scenario.gpu == []


@pytest.mark.parametrize("machine", range(len(MACHINES)))
def test_a_recording_may_come_from_any_machine(machine):
    scenario = start_recording(Draws(1), machine=machine, attached=True).scenario
    assert (scenario.xcode_version, scenario.device, scenario.host) == MACHINES[machine]
    assert not scenario.launched
