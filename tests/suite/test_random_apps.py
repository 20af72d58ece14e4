"""Random apps and sessions: planted problems are found, nothing that is not there, and no report contradicts itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suite import random_apps, random_ill_sessions, random_sessions
from suite.planted import PLANTED
from suite.queued import queued_keys
from suite.random_apps import HEALTHY, ILL_SESSION, MAKERS, PROBLEM, SESSION, judged, judged_all, problem, table
from suite.random_uses import RandomApp
from tracekit.testing import Draws, Model
from tracekit.testing.simulation import Simulation
from tracekit.testing.threads import MS, steady
from tracekit.testing.work import cpu, gpu, neural_engine

COUNT = {HEALTHY: 2, PROBLEM: 3, SESSION: len(random_sessions.SESSIONS), ILL_SESSION: len(random_ill_sessions.SESSIONS)}
"""Apps of each kind in an ordinary run: of sessions one of each."""
EVERY = 1_000
"""Apps of each kind with `--every-case`."""
PARTS = 5
"""So that several processes of tests can share them."""
HARD = {
    (PROBLEM, 44): "gaps inside calls that also queue",
    (PROBLEM, 300): "few waits by chance",
    (PROBLEM, 757): "slow shapes that also queue",
    (HEALTHY, 137): "queues in which rows do not tell whose work is done",
}
"""Apps in which one effect lies over another."""
PLANTED_JITTER = next(number for number, planted in enumerate(PLANTED) if planted.detector == "latency-jitter")
A, B = Model("Segmenter"), Model("PoseNet")


@pytest.mark.turns(3)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", COUNT)
def test_random_apps_hold_what_was_planted_and_nothing_else(request, kind, part):
    count = EVERY if request.config.getoption("--every-case") else COUNT[kind]
    seeds = range(part, count, PARTS)
    wrong = [verdict for verdict in judged_all((kind, seed) for seed in seeds) if not verdict.right]
    assert not wrong, "\n" + "\n".join([*(verdict.complaint for verdict in wrong), table(wrong)])


@pytest.mark.turns(2)
@pytest.mark.parametrize("app", HARD, ids=lambda app: HARD[app].replace(" ", "_"))
def test_one_effect_does_not_hide_another(app):
    verdict = judged(app)
    assert verdict.right, verdict.complaint


@pytest.mark.turns(4)
@pytest.mark.parametrize("number", range(len(PLANTED)), ids=lambda number: PLANTED[number].recipe.__name__)
def test_a_planted_problem_may_be_found_in_its_model(number):
    made = problem(number)
    assert made.story[0].split()[1] == PLANTED[number].recipe.__name__
    assert PLANTED[number].detector in {key[0] for key in made.allowed}
    assert made.simulation.calls


@pytest.mark.parametrize("number", range(len(random_sessions.SESSIONS)))
def test_a_session_expects_nothing_but_what_queues_make(number):
    made = MAKERS[SESSION](number)
    assert random_sessions.SESSIONS[number].__name__ in made.story[0]
    assert made.simulation.calls
    assert {detector for detector, _ in made.planted} <= {
        "neural-engine-contention",
        "gpu-contention",
        "cpu-contention",
    }


@pytest.mark.parametrize("number", range(len(random_ill_sessions.SESSIONS)))
def test_an_ill_session_has_something_that_may_be_found(number):
    made = MAKERS[ILL_SESSION](number)
    assert random_ill_sessions.SESSIONS[number].__name__ in made.story[0]
    assert made.planted.union(made.allowed, *made.one_of)


def test_a_finding_that_ranks_too_low_or_blames_others_is_wrong(monkeypatch):
    def made(seed: int) -> RandomApp:
        app = problem(PLANTED_JITTER)
        key = next(iter(app.planted))
        return replace(app, least={key: "critical"} if seed == 0 else {}, blamed={key: {"Nobody"}} if seed == 1 else {})

    monkeypatch.setattr(random_apps, "MAKERS", {PROBLEM: made})
    errors = [" ".join(judged((PROBLEM, seed)).errors) for seed in range(3)]
    assert "must be critical at least" in errors[0]
    assert "not ['Nobody']" in errors[1]
    assert "must be" not in errors[2]
    assert "blames" not in errors[2]


def queued(*pairs, **options) -> Simulation:
    """Models of steady calls side by side, without jitter."""
    simulation = Simulation(Draws(3), **{"jitter": 0, "noise": False, "handover_ns": 0, **options})
    for model, step in pairs:
        simulation.start(steady(simulation.app, model, (step,), calls=60))
    simulation.run()
    return simulation


ENGINE = "neural-engine-contention"


@pytest.mark.parametrize(
    ("first", "second", "must", "may_not"),
    [
        pytest.param(neural_engine(8 * MS), gpu(8 * MS), set(), {A, B}, id="no unit in common"),
        pytest.param(neural_engine(8 * MS), neural_engine(8 * MS), {A, B}, set(), id="the Neural Engine in common"),
        pytest.param(neural_engine(40 * MS), neural_engine(2 * MS), {B}, {A}, id="a long and a short model"),
    ],
)
def test_models_wait_for_each_other_on_a_unit(first, second, must, may_not):
    found, may = queued_keys(queued((A, first), (B, second)))
    assert found == {(ENGINE, model.base) for model in must}
    assert found <= may
    assert not may & {(ENGINE, model.base) for model in may_not}


def test_cores_that_suffice_slow_nobody():
    busy, enough = (queued((A, cpu(8 * MS, 4)), (B, cpu(8 * MS, 4)), cores=cores) for cores in (5, 8))
    must, may = queued_keys(busy)
    assert ("cpu-contention", A.base) in may
    # They always run together, so that nothing shows how fast they would be alone.
    assert ("cpu-contention", A.base) not in must
    assert queued_keys(enough) == (set(), set())
