"""Calls that are inferred from samples and hardware, against the threads that were simulated."""

import pytest

from support.simulated_threads import MS, SCENES, Measured, measured, simulated

SEEDS = range(2)


@pytest.mark.turns(11)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
@pytest.mark.parametrize(("period_ns", "missed"), [(MS, 0.0), (MS, 0.1), (5 * MS, 0.0)])
def test_calls_begin_and_end_within_their_bounds_and_are_never_too_many(scene, period_ns, missed):
    total = Measured()
    for seed in SEEDS:
        total += measured(simulated(scene, seed, period_ns, missed))
    assert total.inferred + total.unseen > 0
    assert (total.starts, total.ends) == (total.inferred, total.inferred)
    assert (total.above, total.misnamed) == (0, 0)
