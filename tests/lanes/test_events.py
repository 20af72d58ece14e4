"""Rows of a frame as they are drawn, for lanes that show all of them or some."""

import numpy as np
import pytest

from support.rows import values_of
from tracekit.lanes.events import events_of


@pytest.mark.parametrize("every", [1, 3])
def test_rows_of_a_lane_are_those_of_the_frame_at_their_places(reload_trace, every):
    positions = np.arange(0, len(reload_trace.data), every)
    events = events_of("data", reload_trace.data).at(positions)
    chosen = reload_trace.data.take(positions)
    assert events.index.tolist() == positions.tolist()
    assert events.starts.tolist() == chosen.start_ns.tolist()
    assert events.ends.tolist() == chosen.ends_ns.tolist()
    assert [events.label_texts[code] for code in events.labels] == values_of(chosen, "label")
    assert [events.model_texts[code] for code in events.models] == values_of(chosen, "model")


def test_every_lane_of_a_frame_shares_its_texts_and_not_its_rows(reload_trace):
    drawn = events_of("data", reload_trace.data)
    all_rows, first = drawn.at(np.arange(len(reload_trace.data))), drawn.at(np.arange(1))
    assert all_rows.label_texts is first.label_texts
    assert len(first) == 1
