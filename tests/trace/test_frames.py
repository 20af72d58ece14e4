"""Event frames put together."""

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st
from pandas.api.types import union_categoricals

from tracekit.trace.frames import is_any, joined_categories, places_of, reorder, rows_at, sort_order, texts_in

PARTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=6), min_size=2, max_size=4)


@given(PARTS)
def test_categoricals_are_united_as_pandas_does(parts):
    columns = [
        pd.Categorical(values, categories=pd.Index(dict.fromkeys(v for v in values if v is not None), dtype=object))
        for values in parts
    ]
    united, expected = joined_categories(columns), union_categoricals(columns)
    assert list(united.categories) == list(expected.categories)
    assert united.codes.tolist() == expected.codes.tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_rows_are_in_order_of_start_then_longest_first_then_as_they_stand(rows):
    frame = pd.DataFrame(rows, columns=["start_ns", "duration_ns"], dtype="int64")
    expected = sorted(range(len(rows)), key=lambda index: (rows[index][0], -rows[index][1]))
    assert sort_order(frame).tolist() == expected
    ordered = reorder(frame, sort_order(frame))
    assert list(ordered.itertuples(index=True, name=None)) == [
        (index, *rows[row]) for index, row in enumerate(expected)
    ]
    by_start = sorted(range(len(rows)), key=lambda index: rows[index][0])
    assert sort_order(frame[["start_ns"]]).tolist() == by_start


@given(st.lists(st.sampled_from(["A", "B", "", None])))
def test_texts_are_those_of_the_rows_and_of_no_category_beside_them(cells):
    column = pd.Series(pd.Categorical(cells, categories=["unused", "B", "A", ""]))
    assert texts_in(column) == texts_in(column.array) == set(cells) - {None}


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=8), st.lists(st.sampled_from(["a", "b", "c", "d"])))
def test_any_of_some_values_is_told_row_by_row_and_null_is_none_of_them(cells, values):
    column = pd.Series(pd.Categorical(cells, categories=["c", "b", "a"]))
    assert is_any(column, *values).tolist() == [cell is not None and cell in values for cell in cells]


LABELS = st.lists(st.integers(0, 300), unique=True)


@given(LABELS, st.lists(st.integers(-1, 400)))
def test_places_of_rows_are_those_that_pandas_finds(labels, rows):
    for index in (pd.Index(labels, dtype=np.int64), pd.RangeIndex(len(labels))):
        sought = np.array(rows, np.int64)
        assert places_of(index, sought).tolist() == index.get_indexer(pd.Index(sought)).tolist()


@given(st.sets(st.integers(0, 5)))
def test_rows_are_taken_as_pandas_takes_them(chosen):
    columns = {"text": pd.Categorical(list("abcab?")), "number": pd.array([1, None, 3, 4, 5, None], dtype="Int64")}
    frame = pd.DataFrame({**columns, "time": [3, 1, 2, 5, 4, 6]}, index=range(10, 16))
    places = np.array(sorted(chosen), np.int64)
    pd.testing.assert_frame_equal(rows_at(frame, places), frame.take(places), check_index_type=False)
