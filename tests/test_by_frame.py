"""What is kept of a frame is kept for it alone, and no longer than it lives."""

from __future__ import annotations

import pandas as pd

from tracekit.by_frame import kept_of


def test_each_frame_has_its_own():
    one, alike = pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]})
    kept_of(one)["answer"] = 1
    assert kept_of(one) == {"answer": 1}
    assert kept_of(alike) == {}


def test_a_frame_in_the_place_of_one_that_is_gone_has_nothing():
    for rows in range(50):
        # Each is let go before the next is made, which then often lies in the same place.
        frame = pd.DataFrame({"a": range(rows)})
        assert kept_of(frame) == {}
        kept_of(frame)["answer"] = rows
        del frame
