"""Schedules of recordings: who follows whom, and what sets the time of calls."""

from __future__ import annotations

import numpy as np
import pytest

from suite.cases.pipeline_gaps import camera_in_the_dark, camera_opened_again
from suite.random_apps import healthy, problem
from support.choice import sweep_rest
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.analysis.replay import replay
from tracekit.analysis.schedule import recorded_schedule
from tracekit.testing import Draws, Model
from tracekit.testing.apps import camera_app, steady_app
from tracekit.testing.simulation import Simulation
from tracekit.testing.threads import MS, overlapping, steady
from tracekit.testing.work import neural_engine


def given_back(trace) -> bool:
    schedule = recorded_schedule(trace).schedule
    again = replay(schedule)
    return bool((again.starts == schedule.calls.starts).all() and (again.ends == schedule.calls.ends).all())


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_given_back(name):
    assert given_back(trace_of(SAMPLES[name]()))


@pytest.mark.parametrize("seed", sweep_rest(*range(4)))
def test_random_apps_are_given_back(seed):
    for app in (healthy(seed), problem(seed)):
        assert given_back(trace_of(app.simulation.recorded.finish()))


def test_a_camera_sets_the_time_of_its_calls():
    recorded = recorded_schedule(trace_of(camera_app(Draws(3)).finish()))
    assert len(recorded.paced) == 1
    assert recorded.schedule.anchored[2:].mean() > 0.95


@pytest.mark.parametrize("app", [camera_in_the_dark, camera_opened_again])
def test_a_camera_whose_rate_changes_sets_the_time_of_its_calls(app):
    recorded = recorded_schedule(trace_of(app(Draws(5), (30, 24)).finish()))
    assert len(recorded.paced) == 1
    assert recorded.schedule.anchored.mean() > 0.9


def test_calls_in_a_loop_follow_each_other():
    recorded = recorded_schedule(
        trace_of(steady_app(Draws(3), "gpu", compute_ns=9 * MS, gap_ns=4 * MS, runs=1).finish())
    )
    assert not recorded.paced
    assert not recorded.schedule.anchored[1:].any()
    assert (recorded.schedule.previous[1:] == np.arange(len(recorded.calls) - 1)).all()


def test_calls_after_a_pause_wait_for_the_user():
    recorded = recorded_schedule(
        trace_of(steady_app(Draws(3), "gpu", compute_ns=9 * MS, predictions=60, runs=3).finish())
    )
    starts = recorded.schedule.calls.starts
    assert np.flatnonzero(recorded.user)[1:].tolist() == (np.flatnonzero(np.diff(starts) > 1_000 * MS) + 1).tolist()


def test_models_that_overlap_are_used_by_threads_of_their_own():
    simulation = Simulation(Draws(5))
    for name, gap in (("One", 3 * MS), ("Other", 7 * MS)):
        simulation.start(steady(simulation.app, Model(name), (neural_engine(6 * MS),), gap_ns=gap))
    recorded = recorded_schedule(trace_of(simulation.run().finish()))
    followed = recorded.schedule.previous
    model = recorded.model
    assert (model[followed[followed >= 0]] == model[followed >= 0]).all()


def test_work_of_calls_that_overlap_is_given_to_them_in_order():
    simulation = Simulation(Draws(6), machine=0)
    simulation.start(overlapping(simulation.app, Model("Busy"), (neural_engine(8 * MS),), in_flight=4))
    recorded = recorded_schedule(trace_of(simulation.run().finish()))
    owners = recorded.schedule.call[recorded.schedule.call >= 0]
    calls = [call for call in simulation.calls if call.model.base == "Busy"]
    starts = recorded.schedule.calls.starts[owners]
    pieces = recorded.schedule.pieces.starts[recorded.schedule.call >= 0]
    assert dict(zip(starts.tolist(), pieces.tolist(), strict=True)) == {
        call.start_ns: call.uses[0].begin_ns for call in calls
    }
