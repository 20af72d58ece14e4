"""What fixes save, as reports say it: in each model, each time and together."""

from __future__ import annotations

import pytest

from suite.cases.cold_load import one_wait_for_several
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.detectors import replayed, value_of
from tracekit.detectors.fixes import TOO_LARGE
from tracekit.detectors.replayed import Replays
from tracekit.detectors.runner import run_detectors
from tracekit.report.groups import results_from
from tracekit.testing import Draws, Model, Scenario
from tracekit.testing.apps import MS
from tracekit.testing.machines import Process
from tracekit.testing.simulation import Simulation, Thread
from tracekit.testing.work import Step
from tracekit.trace.events import LOAD_KINDS


def findings(trace, check, *, quick=False):
    answers = run_detectors(trace, only=[check])
    results = results_from(answers, Replays(trace, answers, quick=quick))
    (found,) = (result for result in results if result.outcome == "finding")
    return found


def test_each_model_saves_its_reloads():
    trace = trace_of(SAMPLES["style_transfer_reload"]())
    answers = run_detectors(trace, only=["reload-before-predict"])
    for result in results_from(answers, Replays(trace, answers)):
        loads = trace.activity.where(
            trace.activity.model.is_any(result.model) & trace.activity.kind.is_any(*LOAD_KINDS)
        )
        reloads = loads.duration_ns[1:]
        assert result.savings.total_ns == result.savings.extra_ns == reloads.sum()
        assert (result.savings.each.what, result.savings.each.count) == ("load", len(reloads))
        assert result.savings.each.saved_ns == result.savings.each.of_ns == round(reloads.mean())


def test_who_waits_for_several_loads_at_once_saves_one_wait():
    trace = trace_of(one_wait_for_several(Draws(1), 4).finish())
    answers = run_detectors(trace, only=["cold-load"])
    saved = [result.saved_ns for result in results_from(answers, Replays(trace, answers))]
    assert (len(saved), sum(saved)) == (4, 6_000 * MS)


@pytest.mark.parametrize(("pause_ms", "saved_ms"), [(10, 2_910), (7_000, None)])
def test_an_unused_model_saves_time_where_other_calls_wait_for_its_load(pause_ms, saved_ms):
    unused_ns, used_ns, each_ns = 2_910 * MS, 280_000 * MS, 424 * MS
    scenario = Scenario(Process("Notes", 7), duration_ns=369_000 * MS)
    end = scenario.load(Model("Unused"), 0, unused_ns)
    now = scenario.load(Model("Used"), end + pause_ms * MS, used_ns)
    for number in range(20):
        scenario.predict(Model("Used"), now + number * 500 * MS, each_ns)
    found = findings(trace_of(scenario), "unused-load")
    assert found.saved_ns == (saved_ms and saved_ms * MS)
    assert found.unknown_savings == (
        "" if saved_ms else "no call of the app waits for these loads; the fix saves memory"
    )
    assert found.severity == "low"
    if saved_ms:
        assert found.savings.share == pytest.approx(unused_ns / (unused_ns + used_ns + 20 * each_ns))


def test_of_predictions_in_flight_each_saves_and_all_take_as_long():
    found = findings(trace_of(SAMPLES["captions_concurrent"]()), "concurrent-predictions")
    assert found.saved_ns == 0
    assert 0 < found.savings.each.saved_ns < found.savings.each.of_ns


def test_two_in_flight_save_the_work_of_the_app_and_no_load():
    draws = Draws(1)
    simulation, model, gaps = Simulation(draws), Model("Own"), []
    app = simulation.app

    def calls() -> Thread:
        for _ in range(60):
            gaps.append(draws.around(48 * MS, 300))
            yield from app.pause(gaps[-1], 0)
            yield from app.load(model, 103 * MS)
            yield from app.predict(model, Step("cpu", draws.around(17 * MS, 200)), inputs=2)

    simulation.start(calls())
    found = findings(trace_of(simulation.run().finish()), "serial-predictions")
    assert found.savings.each.saved_ns == pytest.approx(sum(gaps[1:]) / 59, rel=0.02)
    assert found.severity == "high"


def test_two_on_the_cpu_share_its_cores_so_that_only_the_work_of_the_app_is_saved():
    draws = Draws(2)
    simulation, model, gaps = Simulation(draws), Model("Own"), []
    app = simulation.app

    def calls() -> Thread:
        yield from app.load(model)
        for _ in range(100):
            gaps.append(draws.around(7 * MS, 200))
            yield from app.pause(gaps[-1], 0)
            yield from app.predict(model, Step("cpu", draws.around(14 * MS, 200)))

    simulation.start(calls())
    found = findings(trace_of(simulation.run().finish()), "serial-predictions")
    assert found.savings.each.saved_ns == pytest.approx(sum(gaps[1:]) / 99, rel=0.05)
    assert found.savings.share <= value_of(found.metrics, "unit-idle")


def test_copies_that_hide_behind_another_model_save_nothing():
    simulation = Simulation(Draws(4), jitter=0, handover_permille=0)
    app, own, other = simulation.app, Model("Own"), Model("Other")

    def calls() -> Thread:
        yield from app.load(own)
        yield from app.load(other)
        begin = app.now_ns + 10 * MS
        for index in range(60):
            # The engine is busy for 20 ms from then on; the copy takes 5 of these, and all of it waits.
            yield from app.until(begin + index * 50 * MS)
            ahead = app.start(app.predict(other, Step("neural engine", 20 * MS)))
            yield from app.pause(MS, 0)
            yield from app.predict(own, Step("neural engine", 4 * MS), inputs=1, copy_ns=5 * MS)
            yield from app.join(ahead)

    simulation.start(calls())
    found = findings(trace_of(simulation.run().finish()), "excess-data-copies")
    assert found.model == "Own"
    assert found.saved_ns < 0.02 * 60 * 5 * MS
    assert found.severity == "low"


def test_a_report_leaves_long_replays_to_why(monkeypatch):
    trace = trace_of(SAMPLES["captions_concurrent"]())
    for large, unknown in ((10, TOO_LARGE), (100_000, "")):
        monkeypatch.setattr(replayed, "LARGE", large)
        found = findings(trace, "concurrent-predictions", quick=True)
        assert found.unknown_savings == unknown
        assert (found.saved_ns is None) == bool(unknown)
    # Of calls in a row, a replay takes no time.
    assert findings(trace_of(SAMPLES["sharpen_8bit"]()), "excess-data-copies", quick=True).saved_ns
