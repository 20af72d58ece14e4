"""Event frames put together."""

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from tracekit.trace.frames import is_any, rows_at, texts_in


@given(st.lists(st.sampled_from(["A", "B", "", None])))
def test_texts_are_those_of_the_rows_and_of_no_category_beside_them(cells):
    column = pd.Series(pd.Categorical(cells, categories=["unused", "B", "A", ""]))
    assert texts_in(column) == texts_in(column.array) == set(cells) - {None}


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=8), st.lists(st.sampled_from(["a", "b", "c", "d"])))
def test_any_of_some_values_is_told_row_by_row_and_null_is_none_of_them(cells, values):
    column = pd.Series(pd.Categorical(cells, categories=["c", "b", "a"]))
    assert is_any(column, *values).tolist() == [cell is not None and cell in values for cell in cells]


@given(st.sets(st.integers(0, 5)))
def test_rows_are_taken_as_pandas_takes_them(chosen):
    columns = {"text": pd.Categorical(list("abcab?")), "number": pd.array([1, None, 3, 4, 5, None], dtype="Int64")}
    frame = pd.DataFrame({**columns, "time": [3, 1, 2, 5, 4, 6]}, index=range(10, 16))
    places = np.array(sorted(chosen), np.int64)
    pd.testing.assert_frame_equal(rows_at(frame, places), frame.take(places), check_index_type=False)
