"""Who had a unit while a prediction waited for it."""

from __future__ import annotations

import numpy as np

from support.handover import trace_of
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.queues import HANDOVER_NS, Behind, all_waits
from tracekit.testing import Model, Process, Scenario

MS = 1_000_000
NET, OTHER = Model("Net"), Model("Other")


def waits_of(scenario: Scenario) -> dict[Behind, float]:
    """Time in ms that all predictions waited, by whom for."""
    waits = all_waits(in_order(trace_of(scenario))).values()
    total = np.sum([each.behind_ns.sum(axis=0) for each in waits], axis=0) if waits else np.zeros(3)
    for each in waits:
        assert (each.behind_ns.sum(axis=1) == each.times.durations).all()
    return {who: float(total[who]) / MS for who in Behind if total[who]}


def usual(scenario: Scenario) -> None:
    """Ten predictions that find the unit free, 1 ms after the call."""
    for number in range(10):
        for at, model in ((0, NET), (50, OTHER)):
            scenario.predict(model, (100 * number + at) * MS, 10 * MS).neural_engine(1 * MS, 8 * MS)


def recording() -> Scenario:
    scenario = Scenario(Process("App", 412), duration_ns=5_000 * MS)
    usual(scenario)
    return scenario


def test_a_unit_that_is_free_makes_nobody_wait():
    assert waits_of(recording()) == {}


def test_a_wait_goes_back_to_the_usual_way_and_is_split_by_whose_work_it_was():
    scenario = recording()
    scenario.predict(OTHER, 2_000 * MS, 20 * MS).neural_engine(1 * MS, 18 * MS)
    scenario.other_neural_engine(2_019 * MS + 200_000, 4 * MS, "Foreign_main__Op0_AneInference Prediction")
    scenario.predict(NET, 2_005 * MS, 30 * MS).neural_engine(18 * MS + 400_000, 8 * MS)
    # Ready at 2,006 ms; the other model has the unit until 2,019 and hands over, then the foreign one.
    assert waits_of(scenario) == {Behind.MODELS: 13.2, Behind.PROCESSES: 4.2}


def test_work_that_ended_long_before_was_not_waited_for():
    scenario = recording()
    scenario.predict(OTHER, 2_000 * MS, 12 * MS).neural_engine(1 * MS, 10 * MS)
    begin = 2_011 * MS + HANDOVER_NS + 1_000
    scenario.predict(NET, 2_003 * MS, 30 * MS).neural_engine(begin - 2_003 * MS, 8 * MS)
    assert waits_of(scenario) == {}


def test_drawing_of_the_app_is_no_other_process():
    scenario = Scenario(Process("App", 412), duration_ns=5_000 * MS)
    for number in range(10):
        scenario.predict(NET, 100 * number * MS, 10 * MS).gpu(1 * MS, 8 * MS)
    for at, process in ((2_000, scenario.target), (2_500, Process("backboardd", 66))):
        scenario.gpu_work(at * MS, 12 * MS, process)
        scenario.predict(NET, (at + 1) * MS, 30 * MS).gpu(11 * MS, 8 * MS)
    assert waits_of(scenario) == {Behind.MODELS: 10, Behind.PROCESSES: 10}
