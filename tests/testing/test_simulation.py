"""Queues, cores, processes and heat of simulated devices, against times worked out by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tracekit
from tracekit.testing import Draws, write_bundle, write_export
from tracekit.testing.rows import Model
from tracekit.testing.simulation import Running, Simulation
from tracekit.testing.threads import decoder, drawing, overlapping, paced_app, steady
from tracekit.testing.work import Stage, cpu, gpu, neural_engine

MS = 1_000_000
A, B = Model("Segmenter"), Model("PoseNet")


def simulate(**options) -> Simulation:
    """Exact durations, no other processes, a system that leaves no Neural Engine requests."""
    return Simulation(Draws(3), **{"jitter": 0, "noise": False, "machine": 5, "handover_ns": 0, **options})


def once(app: Running, model: Model, *steps):
    yield from app.predict(model, *steps, inputs=0)


def uses(simulation: Simulation, model: Model):
    return [use for use in simulation.uses if use.model == model]


def test_a_unit_takes_one_request_after_the_other():
    simulation = simulate()
    for model in (A, B):
        simulation.start(once(simulation.app, model, neural_engine(10 * MS)))
    simulation.run()
    first, second = simulation.uses
    assert (first.begin_ns, first.end_ns - first.begin_ns) == (first.requested_ns, 10 * MS)
    assert (second.begin_ns, second.end_ns) == (first.end_ns, first.end_ns + 10 * MS)
    assert second.requested_ns == first.requested_ns
    assert [use.slowdown_ns for use in simulation.uses] == [0, 0]


def test_units_do_not_wait_for_each_other():
    simulation = simulate()
    for model, step in ((A, neural_engine(10 * MS)), (B, gpu(10 * MS))):
        simulation.start(once(simulation.app, model, step))
    simulation.run()
    assert all(use.begin_ns == use.requested_ns for use in simulation.uses)


def test_hand_over_times_differ_and_come_only_before_work_that_waited():
    simulation = simulate(handover_ns=200_000)
    simulation.start(steady(simulation.app, A, (neural_engine(10 * MS),), calls=20))
    alone = simulation.run()
    assert all(use.begin_ns == use.requested_ns for use in simulation.uses)
    assert len(alone.predictions) == 20
    simulation = simulate(handover_ns=200_000)
    for _ in range(20):
        simulation.start(once(simulation.app, A, neural_engine(10 * MS)))
    simulation.run()
    pauses = [after.begin_ns - before.end_ns for before, after in pairwise(simulation.uses)]
    assert len(set(pauses)) > 10
    assert 50_000 < min(pauses) < 200_000 < max(pauses) < 900_000


@pytest.mark.parametrize(
    ("cores", "calls", "slowdowns"),
    [
        (6, [(A, 12, 3), (B, 12, 3)], [(12, 0), (12, 0)]),
        # Both at half speed until the short one has its 6 ms, then the long one has 6 ms left and the cores to itself.
        (4, [(A, 12, 4), (B, 6, 4)], [(18, 6), (12, 6)]),
        # A call wants no more cores than there are.
        (4, [(A, 12, 9)], [(12, 0)]),
    ],
)
def test_cores_are_shared_only_where_there_are_too_few(cores, calls, slowdowns):
    simulation = simulate(cores=cores)
    for model, length, wanted in calls:
        simulation.start(once(simulation.app, model, cpu(length * MS, wanted)))
    simulation.run()
    measured = [uses(simulation, model)[0] for model, *_ in calls]
    assert [(use.end_ns - use.begin_ns, use.slowdown_ns) for use in measured] == [
        (length * MS, slowdown * MS) for length, slowdown in slowdowns
    ]


def test_rows_show_what_the_units_did():
    simulation = simulate(cores=2)
    steps = (neural_engine(6 * MS), gpu(4 * MS), cpu(3 * MS, 2))
    for model in (A, B):
        simulation.start(steady(simulation.app, model, steps, calls=5))
    scenario = simulation.run().finish()
    engine = sorted((use.begin_ns, use.end_ns) for use in simulation.uses if use.unit == "neural engine")
    shown = [row for row in scenario.neural_engine if row.prediction is not None]
    assert sorted((row.start_ns, row.start_ns + row.duration_ns) for row in shown) == engine
    processor = sorted(use.end_ns - use.begin_ns for use in simulation.uses if use.unit == "cpu")
    rows = [row for row in scenario.coreml if row.label == "CPU"]
    assert sorted(row.duration_ns for row in rows if row.duration_ns > MS) == processor
    ends = [(call.start_ns, call.end_ns) for call in simulation.calls]
    assert ends == [(call.prediction.row.start_ns, call.prediction.row.end_ns) for call in simulation.calls]
    assert all(use.end_ns <= call.end_ns for call in simulation.calls for use in call.uses)


def test_heat_slows_all_units_and_is_recorded():
    simulation = simulate()
    simulation.warm(1_000 * MS, "Serious", 1_600)
    work = (neural_engine(10 * MS), gpu(10 * MS), cpu(10 * MS))
    simulation.start(steady(simulation.app, A, work, calls=50))
    scenario = simulation.run().finish()
    cool = [use for use in simulation.uses if use.begin_ns < 1_000 * MS]
    warm = [use for use in simulation.uses if use.begin_ns >= 1_000 * MS]
    assert {use.end_ns - use.begin_ns for use in cool} == {10 * MS}
    assert {(use.unit, use.end_ns - use.begin_ns, use.slowdown_ns) for use in warm} == {
        (unit, 16 * MS, 0) for unit in ("neural engine", "gpu", "cpu")
    }
    assert [(row.state, row.start_ns) for row in scenario.thermal] == [("Nominal", 0), ("Serious", 1_000 * MS)]


def test_another_process_leaves_only_what_the_hardware_shows(tmp_path):
    simulation = simulate()
    other = simulation.process("Assistant", 931)
    simulation.start(steady(simulation.app, A, (neural_engine(8 * MS),), calls=12))
    simulation.start(steady(other, B, (neural_engine(6 * MS), gpu(5 * MS), Stage("Head", (gpu(MS),))), calls=9))
    scenario = simulation.run().finish()
    assert {row.model for row in scenario.coreml} == {A}
    assert {call.prediction is None for call in simulation.calls if call.process == other.process} == {True}
    foreign = [row for row in scenario.neural_engine if row.label == B.engine_label()]
    assert [row.prediction for row in foreign] == [None] * 9
    assert [row.process for row in scenario.gpu] == [other.process] * 18
    write_export(scenario, tmp_path)
    assert {model.name for model in tracekit.analyze(tmp_path).models} == {A.base}


def test_all_processes_can_be_recorded(tmp_path):
    simulation = simulate()
    simulation.scenario.all_processes = True
    other = simulation.process("Assistant", 931)
    for app in (simulation.app, other):
        simulation.start(steady(app, A, (gpu(8 * MS),), calls=12))
    scenario = simulation.run().finish()
    assert {row.process for row in scenario.gpu} == {simulation.app.process, other.process}
    write_export(scenario, tmp_path)
    toc = (tmp_path / "toc.xml").read_text(encoding="utf-8")
    assert "<all-processes/>" in toc
    assert 'target-pid="ALL"' in toc
    assert "SINGLE" not in toc
    report = tracekit.analyze(tmp_path)
    assert report.recording.target_kind == "all-processes"
    (model,) = report.models
    assert model.name == A.base
    with pytest.raises(ValueError, match="write an export"):
        write_bundle(scenario, tmp_path / "run.trace")


@pytest.mark.parametrize(("length", "dropped"), [(45, 9), (20, 0)])
def test_a_camera_drops_the_frames_that_come_during_a_call(length, dropped):
    simulation = simulate()
    task = simulation.start(paced_app(simulation.app, A, (cpu(length * MS),), period_ns=33_333_000, calls=10))
    simulation.run()
    assert task.result == dropped
    starts = [call.start_ns for call in simulation.calls]
    # A call of 45 ms covers the next frame, and the one after it is taken.
    if dropped:
        assert all(65 * MS < after - before < 68 * MS for before, after in pairwise(starts))


def test_without_drops_late_frames_follow_at_once():
    simulation = simulate()
    work = lambda index: (cpu((100 if index == 0 else 5) * MS),)  # noqa: E731
    task = simulation.start(paced_app(simulation.app, A, work, period_ns=33_333_000, calls=6, drops=False))
    simulation.run()
    starts = [call.start_ns for call in simulation.calls]
    assert task.result == 0
    assert starts[1] - starts[0] > 100 * MS
    assert starts[5] - starts[0] == pytest.approx(5 * 33_333_000, abs=MS)


def test_calls_without_waiting_overlap_up_to_the_limit():
    simulation = simulate()
    simulation.start(overlapping(simulation.app, A, (neural_engine(8 * MS),), in_flight=3, calls=30))
    simulation.run()
    edges = sorted([(c.start_ns, 1) for c in simulation.calls] + [(c.end_ns, -1) for c in simulation.calls])
    depth, deepest = 0, 0
    for _, step in edges:
        depth += step
        deepest = max(deepest, depth)
    assert deepest == 3


def test_a_decoder_makes_a_prefill_and_its_tokens_in_each_turn():
    simulation = simulate()
    simulation.start(decoder(simulation.app, A, B, (neural_engine(9 * MS),), turns=2, tokens=lambda turn: 5 + turn))
    simulation.run()
    assert [call.model.base[0] for call in simulation.calls] == list("SPPPPPSPPPPPP")


def test_drawing_waits_for_the_gpu_and_models_for_drawing():
    simulation = simulate()
    simulation.start(drawing(simulation.app, work_ns=4 * MS, until_ns=900 * MS))
    simulation.start(steady(simulation.app, A, (gpu(10 * MS),), calls=40))
    scenario = simulation.run().finish()
    rows = sorted((row.start_ns, row.start_ns + row.duration_ns) for row in scenario.gpu)
    assert all(end <= start for (_, end), (start, _) in pairwise(rows))
    assert any(use.begin_ns > use.requested_ns for use in uses(simulation, A))
    assert {row.channel for row in scenario.gpu} == {"Fragment", "Compute"}


def test_the_same_seed_gives_the_same_recording():
    def recorded(seed: int) -> str:
        simulation = Simulation(Draws(seed))
        simulation.start(steady(simulation.app, A, (neural_engine(8 * MS), cpu(3 * MS, 4)), calls=30))
        simulation.start(steady(simulation.app, B, (neural_engine(5 * MS), cpu(2 * MS, 4)), calls=40))
        return repr(simulation.run().finish())

    assert recorded(4) == recorded(4)
    assert recorded(4) != recorded(5)
