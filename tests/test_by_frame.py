"""What is kept of a frame is kept for it alone, while it does not change, and no longer than it lives."""

from __future__ import annotations

import pandas as pd

from tracekit.by_frame import kept_of, unchanging
from tracekit.intervals import Intervals
from tracekit.trace.frames import cells


def test_each_frame_has_its_own_even_in_the_place_of_one_that_is_gone():
    one, alike = unchanging(pd.DataFrame({"a": [1]})), unchanging(pd.DataFrame({"a": [1]}))
    kept_of(one)["answer"] = 1
    assert kept_of(unchanging(one)) == {"answer": 1}
    assert kept_of(alike) == {}

    for rows in range(50):
        # Each is let go before the next is made, which then often lies in the same place.
        frame = unchanging(pd.DataFrame({"a": range(rows)}))
        assert kept_of(frame) == {}
        kept_of(frame)["answer"] = rows
        del frame


def test_nothing_is_kept_of_a_copy_that_is_changed():
    rows = unchanging(pd.DataFrame({"start_ns": [1, 2], "duration_ns": [3, 4]})).copy()
    assert Intervals.from_rows(rows).starts.tolist() == [1, 2]
    assert cells(rows, "duration_ns").tolist() == [3, 4]
    rows["start_ns"] += 10
    rows["duration_ns"] *= 2
    assert Intervals.from_rows(rows).starts.tolist() == [11, 12]
    assert cells(rows, "duration_ns").tolist() == [6, 8]
