"""States of the device at given times, and durations in each."""

import numpy as np

from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, states_at
from tracekit.trace.instruments.tables import Thermal


def states(*rows):
    names = ("start_ns", "duration_ns", "state")
    return Thermal.listed(len(rows), {name: [row[at] for row in rows] for at, name in enumerate(names)})


def test_the_state_that_held_counts_and_gaps_are_unknown():
    rows = states((10, 10, "Nominal"), (20, 5, "Serious"), (40, 10, "Unknown"))
    times = np.array([9, 10, 19, 20, 24, 25, 45, 60])
    assert states_at(rows, THERMAL_STATES, times).tolist() == [UNKNOWN, 0, 0, 2, 2, UNKNOWN, UNKNOWN, UNKNOWN]


def test_without_rows_no_state_is_known():
    assert states_at(states(), THERMAL_STATES, np.array([1, 2])).tolist() == [UNKNOWN, UNKNOWN]
