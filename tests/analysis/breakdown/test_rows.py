"""Time that rows of several predictions cover, against counting instants."""

import numpy as np
from hypothesis import given, settings, strategies as st

from tracekit.analysis.breakdown.rows import Shared, sweep
from tracekit.intervals import Intervals

ROWS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15), st.integers(0, 2), st.integers(-1, 3)), max_size=12)
WINDOWS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 25), st.integers(-1, 4)), max_size=8)


def columns(rows, width):
    return np.array(rows, np.int64).reshape(-1, width).T


@given(ROWS, WINDOWS, st.sets(st.integers(0, 2)))
@settings(deadline=None, max_examples=200)
def test_an_instant_counts_once_for_each_window_whose_model_a_row_could_have_worked_for(rows, windows, layers):
    starts, lengths, layer, model = columns(rows, 4)
    low, width, wanted = columns(windows, 3)
    shared = Shared(Intervals(starts, starts + lengths), layer, model)
    expected = [
        sum(
            any(
                start <= instant < start + length
                for start, length, layer, model in rows
                if layer in layers and model in (-1, group)
            )
            for instant in range(first, first + wide)
        )
        for first, wide, group in windows
    ]
    assert shared.time(wanted, Intervals(low, low + width), sorted(layers)).tolist() == expected


INTERVALS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 30), st.integers(0, 6)), max_size=12
)


@given(INTERVALS)
@settings(deadline=None, max_examples=200)
def test_each_instant_is_of_the_lowest_layer_that_covers_it_however_rows_of_a_window_meet(rows):
    window, layer, starts, lengths = columns(rows, 4)
    window, layer = window.astype(np.int32), layer.astype(np.int8)
    steps = sweep(window, layer, starts, starts + lengths, windows=3, layers=4)
    found = {
        (int(owner), instant): {each for each in range(4) if steps.covered(each)[at]}
        for at, (owner, start, length) in enumerate(zip(steps.window, steps.start_ns, steps.length_ns, strict=True))
        for instant in range(start, start + length)
    }
    expected = {}
    for owner, each, start, length in rows:
        for instant in range(start, start + length):
            expected.setdefault((owner, instant), set()).add(each)
    assert found == expected
    assert int(steps.length_ns.sum()) == len(expected)
    assert steps.layer.tolist() == [min(found[int(w), s]) for w, s in zip(steps.window, steps.start_ns, strict=True)]
    assert steps.edges.tolist() == np.searchsorted(steps.window, np.arange(4)).tolist()
