"""How often late frames are given to the right cause, over simulated worlds, and that healthy apps show no finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from suite.cases import model_delays_frames as cases
from suite.frame_worlds import WORLDS, measured, trace_of_app
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws
from tracekit.testing.recorder import App

HEALTHY: tuple[Callable[[Draws], App], ...] = (
    cases.in_time,
    cases.own_frames_late,
    cases.game,
    cases.half_rate,
    *(
        lambda draws, make=WORLDS[name]: make(draws, model=True).app
        for name in ("drawing_of_others", "engine_in_background")
    ),
)
"""Apps with a screen whose model makes no frame late."""


def findings_in_healthy(seeds: range) -> list[str]:
    """What is found of late frames in that many healthy apps, with the seed of each."""
    rule = [detector for detector in DETECTORS if detector.id == cases.ID]
    found: list[str] = []
    for seed in seeds:
        trace = trace_of_app(HEALTHY[seed % len(HEALTHY)](Draws(seed)))
        outcomes = (judgment.outcome for judgment in run_detectors(trace, detectors=rule))
        found += [f"{seed}: {outcome.summary}" for outcome in outcomes if isinstance(outcome, Finding)]
    return found


def test_a_few_healthy_apps_have_no_finding():
    assert not findings_in_healthy(range(7))


@pytest.mark.sweep
def test_500_healthy_apps_have_no_finding():
    assert not findings_in_healthy(range(500))


@pytest.mark.sweep
def test_causes_are_right_and_nothing_false_is_proved():
    total = sum((measured(name, range(100, 112)) for name in WORLDS), Counter())
    assert total["late"] > 2_000
    assert total["false proved"] == 0
    assert total["right"] >= 0.97 * total["late"]
