"""How often late frames are given to the right cause, over simulated worlds, and that healthy apps show no finding."""

from __future__ import annotations

from collections import Counter

import pytest

from suite.cases import model_delays_frames as cases
from suite.frame_worlds import UNKNOWN, WORLDS, later_with, measured, trace_of_app
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws

HEALTHY = (
    *(cases.in_time, cases.own_frames_late, cases.game, cases.half_rate),
    *(cases.film, cases.unsampled, cases.rotation, cases.drawing_without_core),
)
"""Apps with a screen whose model makes no frame late, by construction."""
WITHOUT = ("own_work_beside", "drawing_of_others", "engine_in_background", "cores_of_others", "drawing_beside_others")
"""Worlds in which other work makes frames late. How many the model makes later, if any, the world without it says."""


def false_findings(seeds: range) -> list[str]:
    """Findings on more late frames than a model made later, in that many apps, with the seed of each."""
    rule, found = [detector for detector in DETECTORS if detector.id == cases.ID], list[str]()
    for seed in seeds:
        place, right = seed % (len(HEALTHY) + len(WITHOUT)), 0
        if place < len(HEALTHY):
            app = HEALTHY[place](Draws(seed))
        else:
            make = WORLDS[WITHOUT[place - len(HEALTHY)]]
            world = make(Draws(seed), model=True)
            app = world.app
            right = sum(ns > 0 for ns in later_with(world.frames, make(Draws(seed), model=False).frames).values())
        for judgment in run_detectors(trace_of_app(app), detectors=rule):
            outcome = judgment.outcome
            if isinstance(outcome, Finding) and outcome.metrics[0].value > right:
                found.append(f"{seed}: {outcome.summary} Right are {right}.")
    return found


def test_a_few_healthy_apps_have_no_finding():
    assert not false_findings(range(26, 39))


@pytest.mark.sweep
def test_500_healthy_apps_have_no_finding():
    assert not false_findings(range(500))


@pytest.mark.sweep
def test_causes_are_right_and_nothing_false_is_proved():
    total = sum((measured(name, range(100, 112)) for name in WORLDS), Counter())
    assert total["late"] > 2_000
    assert total["false proved"] == total["too much"] == 0
    assert total["right"] >= 0.97 * total["late"]
    unknown = sum((measured(name, range(100, 112)) for name in UNKNOWN), Counter())
    assert unknown["late"] > 100
    assert unknown["false"] == unknown["false proved"] == 0
