"""Clean recordings of every kind of app, and the repaired samples: no detector finds anything."""

from suite.frame import CLEAN, Case, cases, each
from support.samples import SAMPLES
from support.scenarios import CLEAN_APPS
from tracekit.testing.apps import neural_engine_app

SEEDS = 6


CASES = [
    *(Case(CLEAN, CLEAN, seed, build) for build in CLEAN_APPS.values() for seed in range(SEEDS)),
    # Rows of the Neural Engine that name no model, as in many recordings of Xcode 16.
    *cases(CLEAN, CLEAN, 3, lambda draws: neural_engine_app(draws, generic_labels=True)),
    *each(CLEAN, CLEAN, ("style_transfer_fixed", "sharpen_float16"), lambda _, name: SAMPLES[name]()),
]
