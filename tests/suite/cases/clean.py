"""Clean recordings of every kind of app, and the repaired samples: no detector finds anything."""

from __future__ import annotations

from suite.frame import CLEAN, Case, each
from support.samples import SAMPLES
from support.scenarios import CLEAN_APPS
from tracekit.testing import Draws, Scenario
from tracekit.testing.apps import neural_engine_app
from tracekit.testing.recorder import App

SEEDS = 6


def without_names(draws: Draws) -> App:
    """Rows of the Neural Engine that name no model, as in many recordings of Xcode 16."""
    return neural_engine_app(draws, generic_labels=True)


def sample(_: Draws, name: str) -> Scenario:
    """A sample as it is."""
    return SAMPLES[name]()


CASES = [
    *(Case(CLEAN, CLEAN, seed, build) for build in CLEAN_APPS.values() for seed in range(SEEDS)),
    *(Case(CLEAN, CLEAN, seed, without_names) for seed in range(3)),
    *each(CLEAN, CLEAN, ("style_transfer_fixed", "sharpen_float16"), sample),
]
