"""Steps and drifts of series with a known truth, and how often what is found is wrong."""

import numpy as np
import pytest

from support.choice import sweep_rest
from support.simulated_histories import (
    NOISES,
    NORMAL,
    builds_until_found,
    false_alarms,
    false_changes,
    steady,
    steps_found,
    with_drift,
    with_step,
)
from support.simulated_latencies import TWO_LEVELS, steady_builds_failed
from tracekit.comparison.change_points import MIN_BUILDS, changes_in


@pytest.fixture
def histories(request):
    """Histories of each case: those of docs/history.md only with `--every-case`, since they take minutes."""
    return 200 if request.config.getoption("--every-case") else 12


def drawn(count, seed=3, noise=NORMAL):
    return steady(noise, count, np.random.default_rng(seed))


@pytest.mark.sweep
@pytest.mark.turns(3)
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_a_gate_on_steady_builds_fails_at_less_than_one_in_200(noise, histories):
    alarms = false_alarms(noise, max(histories // 4, 3))
    # A false step stays in the newest builds for several of them: of few histories one such step is allowed.
    assert alarms <= 1 / 200 + (histories < 200) * 12 / 579


@pytest.mark.parametrize("noise", sweep_rest(*NOISES), ids=lambda noise: noise.name)
def test_hardly_any_history_of_steady_builds_has_a_change(noise, histories):
    assert false_changes(noise, histories) <= 0.03 * histories + (histories < 200) * 2


@pytest.mark.parametrize("before", sweep_rest(8, 20, 50))
def test_a_drift_of_one_percent_a_build_is_found_within_twelve(before, histories):
    assert all(builds is not None for builds in builds_until_found(NORMAL, before, 0.01, histories))


@pytest.mark.parametrize(("size", "after", "least"), [(0.05, 6, 0.9), (0.1, 3, 0.9)])
def test_a_step_is_found_and_lies_in_its_range(size, after, least, histories):
    steps = steps_found(NORMAL, 20, size, after, histories)
    assert steps.found >= least * histories
    assert steps.covered >= 0.9 * steps.found


@pytest.mark.parametrize("case", TWO_LEVELS[:2], ids=lambda case: case.name)
def test_builds_that_go_between_two_levels_hardly_ever_fail(case, histories):
    # A false step stays in the newest builds for several of them. Taken for steps, they fail at 15%.
    assert steady_builds_failed(case, histories // 6, builds=60) <= 1 / 200 + (histories < 200) * 12 / 106


def test_a_drift_is_no_step_and_its_ends_are_found():
    (change,) = changes_in(with_drift(drawn(60), 40, 0.01))
    assert change.kind == "drift"
    assert change.last_before == pytest.approx(39, abs=3)
    assert change.first_after == pytest.approx(59, abs=1)
    # Each of the 20 builds is slower by a hundredth of the one before.
    assert change.after - change.before == pytest.approx(20 * np.log(1.01), rel=0.15)


def test_several_steps_are_each_found():
    values = drawn(120)
    for at, size in ((30, 0.2), (60, -0.1), (90, 0.05)):
        values = with_step(values, at, size)
    found = changes_in(values)
    assert [(one.last_before < at <= one.first_after) for one, at in zip(found, (30, 60, 90), strict=True)] == [
        True
    ] * 3
    assert [round(float(np.expm1(one.after - one.before)), 2) for one in found] == pytest.approx(
        [0.2, -0.1, 0.05], abs=0.02
    )


def test_a_step_between_exact_values_has_one_place():
    (change,) = changes_in(np.array([1.0] * 10 + [2.0] * 5))
    assert (change.last_before, change.first_after, change.before, change.after) == (9, 10, 1.0, 2.0)
    assert change.confidence == 1
    assert not changes_in(np.ones(50))


def test_one_slow_build_is_no_step():
    values = drawn(50)
    values[49] += 0.3
    values[20] += 0.5
    assert not changes_in(values)


def test_a_short_series_has_no_changes():
    assert not changes_in(np.array([1.0] * 3 + [9.0] * (MIN_BUILDS - 4)))
