"""States of the device at given times, and durations in each."""

import numpy as np
import pytest

from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, compare_thermal_states, states_at
from tracekit.trace.instruments.tables import Thermal


def states(*rows):
    names = ("start_ns", "duration_ns", "state")
    return Thermal.listed(len(rows), {name: [row[at] for row in rows] for at, name in enumerate(names)})


def test_the_state_that_held_counts_and_gaps_are_unknown():
    rows = states((10, 10, "Nominal"), (20, 5, "Serious"), (40, 10, "Unknown"))
    times = np.array([9, 10, 19, 20, 24, 25, 45, 60])
    assert states_at(rows, THERMAL_STATES, times).tolist() == [UNKNOWN, 0, 0, 2, 2, UNKNOWN, UNKNOWN, UNKNOWN]


def test_the_hottest_state_is_set_against_the_coolest():
    state = np.array([0] * 3 + [1] * 3 + [3] * 3 + [UNKNOWN])
    comparison = compare_thermal_states(np.array([10, 11, 12, 100, 100, 100, 22, 33, 44, 5]), state, 3)
    assert (comparison.coolest, comparison.hottest) == (0, 3)
    assert comparison.ratio == pytest.approx(3)
    assert comparison.is_cool.tolist() == [True] * 3 + [False] * 7


def test_states_that_are_not_known_or_have_few_calls_do_not_count():
    assert states_at(states(), THERMAL_STATES, np.array([1, 2])).tolist() == [UNKNOWN, UNKNOWN]
    comparison = compare_thermal_states(np.array([10, 11, 12, 30]), np.array([0, 0, 0, 2]), 2)
    assert (comparison.coolest, comparison.hottest, comparison.ratio) == (0, None, None)
    comparison = compare_thermal_states(np.array([10, 11]), np.array([1, 2]), 2)
    assert (comparison.coolest, comparison.ratio, comparison.is_cool.any()) == (None, None, False)
