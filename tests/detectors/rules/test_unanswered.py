"""Rules about predictions have no question where a model makes none; those about requests, where nothing logs it."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotApplicable, NotEvaluated
from tracekit.testing import CoreAIChat
from tracekit.testing.rows import Model, StateRow

MS = 1_000_000


WITHOUT_SETTINGS = (
    "compute-unit-ping-pong", "concurrent-predictions", "duplicate-instances", "float-conversion", "gpu-contention",
    "growing-latency", "latency-jitter", "load-churn", "neural-engine-contention", "neural-engine-fragmentation",
    "new-shape-spike", "reload-before-predict", "shape-switching", "slow-after-idle", "slow-load", "state-copies",
    "thermal-throttling", "unexplained-time", "pipeline-gaps", "serial-predictions", "warm-up-spike",
)  # fmt: skip


@pytest.mark.parametrize(
    ("check", "settings"),
    [
        *((check, {}) for check in WITHOUT_SETTINGS),
        ("missed-deadline", {"budget_ms": 15}),
        ("not-on-expected-unit", {"expected_unit": 1}),
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


@pytest.mark.parametrize(
    ("check", "record"),
    [
        ("full-context-window", "--set full-context-window.window_tokens"),
        # The instrument of another runtime would show no more of it.
        ("rebuilt-instructions", "Core AI language model did not log it: check it in the app."),
        ("request-errors", "Core AI language model did not log it: check it in the app."),
        ("slow-tool-calls", "Core AI language model did not log it: check it in the app."),
    ],
)
def test_what_signposts_do_not_show_is_not_judged(scenario, judge, check, record):
    CoreAIChat(scenario).request(100 * MS, prompt_tokens=50, prompt_ns=99 * MS, tokens_ns=[15 * MS] * 5)
    outcome = judge(scenario, check)[None]
    assert isinstance(outcome, NotEvaluated)
    assert record in outcome.record
