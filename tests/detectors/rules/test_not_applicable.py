"""Rules about predictions have no question where a model makes none."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotApplicable
from tracekit.testing.rows import Model, StateRow

MS = 1_000_000


@pytest.mark.parametrize(
    ("check", "settings"),
    [
        ("compute-unit-ping-pong", {}),
        ("concurrent-predictions", {}),
        ("duplicate-instances", {}),
        ("float-conversion", {}),
        ("gpu-contention", {}),
        ("growing-latency", {}),
        ("latency-jitter", {}),
        ("load-churn", {}),
        ("missed-deadline", {"budget_ms": 15}),
        ("neural-engine-contention", {}),
        ("neural-engine-fragmentation", {}),
        ("new-shape-spike", {}),
        ("reload-before-predict", {}),
        ("shape-switching", {}),
        ("slow-after-idle", {}),
        ("slow-load", {}),
        ("state-copies", {}),
        ("thermal-throttling", {}),
        ("unaccounted-time", {}),
        ("unexpected-device", {"expected_unit": 1}),
        ("pipeline-gaps", {}),
        ("serial-predictions", {}),
        ("warm-up-spike", {}),
    ],
)
def test_a_model_that_is_only_loaded_is_not_applicable(scenario, judge, check, settings):
    used = Model("Used")
    scenario.load(Model("Net"), 0, MS)
    scenario.load(used, 10 * MS, MS)
    scenario.predict(used, 100 * MS, 20 * MS).neural_engine(MS, 8 * MS)
    scenario.gpu_work(1_000 * MS, MS, scenario.target)
    scenario.thermal.append(StateRow(0, 1_000 * MS, "Serious"))
    assert isinstance(judge(scenario, check, **settings)["Net"], NotApplicable)
