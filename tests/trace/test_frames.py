"""Event frames put together."""

from __future__ import annotations

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from pandas.api.types import union_categoricals

from tracekit.trace.frames import _united

PARTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=6), min_size=2, max_size=4)


@given(PARTS)
def test_categoricals_are_united_as_pandas_does(parts):
    columns = [
        pd.Series(
            pd.Categorical(values, categories=pd.Index(dict.fromkeys(v for v in values if v is not None), dtype=object))
        )
        for values in parts
    ]
    united, expected = _united(columns), union_categoricals(columns)
    assert list(united.categories) == list(expected.categories)
    assert united.codes.tolist() == expected.codes.tolist()
