"""A footprint near a limit."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, NOT_APPLICABLE, POSITIVE, cases, each
from suite.memory_apps import MB, SECOND, clean, not_recorded, of_others, predicting, taking_turns
from tracekit.testing import Draws
from tracekit.testing.apps import MS
from tracekit.testing.recorder import FOOTPRINT, App

ID = "memory-peak"
LIMIT = {"memory-peak.limit_mb": 1_000.0}


def large(draws: Draws) -> App:
    """A model that takes nearly all that there is."""
    return predicting(draws, calls=70, model_mb=draws.integer(900, 1_300))


def high_for_a_while(draws: Draws) -> App:
    """A load that needs its file and its weights together for some seconds."""
    app = predicting(draws, calls=70, model_mb=300)
    app.held += [(SECOND, 650 * MB), (draws.integer(4, 9) * SECOND, -650 * MB)]
    return app


def small(draws: Draws) -> App:
    """A model that takes a part of what there is."""
    return predicting(draws, calls=70, model_mb=draws.integer(50, 700))


def exact(draws: Draws, megabytes: int) -> App:
    """A footprint of so many MB."""
    return predicting(draws, calls=70, model_mb=megabytes - FOOTPRINT // MB, noise=False, jitter=0, every_ms=300)


def two_large_copies(draws: Draws) -> App:
    """Two copies of a model that together come near the limit."""
    return taking_turns(draws, 480, 480)


def other_process(draws: Draws) -> App:
    """Another process is near the limit, and the app is not."""
    app = small(draws)
    scenario = app.finish()
    scenario.memory += [
        type(row)(row.start_ns + MS, 990 * MB, scenario.processes[-1]) for row in scenario.memory if row.process is None
    ]
    return app


CASES = [
    *cases(ID, POSITIVE, 6, large, settings=LIMIT),
    *cases(ID, POSITIVE, 4, high_for_a_while, settings=LIMIT),
    *cases(ID, POSITIVE, 2, two_large_copies, settings=LIMIT, also=("duplicate-instances", "duplicate-memory")),
    *cases(ID, NEGATIVE, 8, small, settings=LIMIT),
    *cases(ID, NEGATIVE, 3, other_process, settings=LIMIT),
    *each(ID, NEAR_ABOVE, (900, 901, 910, 950, 1_000), exact, settings=LIMIT),
    *each(ID, NEAR_BELOW, (899, 890, 880, 850, 800), exact, settings=LIMIT),
    *cases(ID, LOOKALIKE, 3, large, expected=NOT_APPLICABLE, page="No limit is set"),
    *cases(ID, LOOKALIKE, 3, clean, settings=LIMIT),
    # Activity Monitor saw other processes only.
    *cases(ID, INSUFFICIENT, 3, lambda draws: of_others(large(draws)), settings=LIMIT),
    *cases(ID, INSUFFICIENT, 2, lambda draws: not_recorded(large(draws)), settings=LIMIT),
]
