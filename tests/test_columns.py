"""Columns of rows against lists of plain values."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tracekit import columns
from tracekit.columns import Codes, Numbers, codes_of, columns_of, constant, joined_codes, numbers_by_code, or_null
from tracekit.trace.events import Calls, Events

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", None]), max_size=12)
NAMES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), unique=True, max_size=5)
NUMBERS = st.lists(st.none() | st.integers(0, 9), max_size=12)


def coded(values):
    """A column of these texts, with values that no cell holds before and behind them."""
    distinct = ("unused", *dict.fromkeys(value for value in values if value is not None), "last")
    return Codes(np.array([-1 if value is None else distinct.index(value) for value in values], np.int32), distinct)


def numbers(values):
    return Numbers(
        np.array([value or 0 for value in values], np.int64), np.array([v is not None for v in values], bool)
    )


def listed(column):
    return [column.item(at) for at in range(len(column))]


@given(TEXTS, NAMES)
def test_texts_are_asked_as_a_list_of_them(values, names):
    column = coded(values)
    assert listed(column) == values
    assert column.as_objects().tolist() == values
    assert column.known.tolist() == [value is not None for value in values]
    assert column.is_any(*names).tolist() == [value in names for value in values]
    assert dict(zip(column.values, column.counts().tolist(), strict=True)) == {
        value: values.count(value) for value in column.values
    }
    found = [value if value in names else None for value in values]
    assert listed(column.changed(~column.is_any(*names), None)) == found
    assert listed(column.changed(~column.is_any(*names), "new")) == [
        "new" if value is None else value for value in found
    ]
    assert listed(columns.coded(values)) == values
    assert columns.coded(values, names).values[: len(names)] == tuple(names)
    assert column.passing(names.__contains__).tolist() == [value in names for value in values]
    assert sorted(column.held()) == sorted({value for value in values if value is not None})
    assert column.codes_in(names).tolist() == [names.index(value) if value in names else -1 for value in values]


@given(TEXTS, st.data())
def test_cells_are_taken_by_position_mask_and_slice(values, data):
    column = coded(values)
    places = data.draw(st.lists(st.integers(0, max(len(values) - 1, 0)), max_size=6 if values else 0))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), bool)
    assert listed(column.take(np.array(places, np.int64))) == [values[at] for at in places]
    assert listed(column.take(mask)) == [value for value, chosen in zip(values, mask, strict=True) if chosen]
    assert listed(column.take(slice(1, 4))) == values[1:4]


@given(st.lists(st.integers(-1, 3), max_size=12), st.lists(st.sampled_from(["x", "y", None]), min_size=4, max_size=4))
def test_codes_may_share_a_text_or_have_none(codes, texts):
    column = codes_of(np.array(codes, np.int32), texts, order=("y",))
    assert listed(column) == [None if code < 0 else texts[code] for code in codes]
    assert column.values[0] == "y"
    assert len(set(column.values)) == len(column.values)
    ids = [7 if text == "x" else None for text in texts]
    found = numbers_by_code(np.array(codes, np.int32), ids)
    assert listed(found) == [None if code < 0 else ids[code] for code in codes]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_columns_are_joined_by_their_values(parts):
    column = joined_codes([coded(part) for part in parts])
    assert listed(column) == [value for part in parts for value in part]
    assert len(set(column.values)) == len(column.values)


@given(TEXTS)
def test_another_value_takes_the_place_of_each(values):
    changed = coded(values).recoded(lambda text: None if text == "a" else text.upper())
    assert listed(changed) == [None if value in (None, "a") else value.upper() for value in values]


@given(NUMBERS)
def test_numbers_are_asked_as_a_list_of_them(values):
    column = numbers(values)
    assert listed(column) == values
    filled = column.filled()
    assert filled.tolist() == [-1 if value is None else value for value in values]
    assert listed(or_null(filled)) == values
    assert column.filled(5).tolist() == [5 if value is None else value for value in values]
    assert np.array_equal(column.or_nan(), [np.nan if value is None else value for value in values], equal_nan=True)


def test_one_value_in_all_cells():
    assert listed(constant("x", 2, order=("y", "x"))) == ["x", "x"]
    assert listed(constant(None, 2)) == [None, None]


def test_columns_say_what_they_hold_and_in_which_unit():
    held = {column.name: column for column in columns_of(Calls)}
    assert [column.name for column in columns_of(Events)] == list(held)[: len(columns_of(Events))]
    assert (held["resolution_ns"].unit, held["model"].unit) == ("ns", "")
    assert held["start_min_ns"].says == "earliest start"


def test_a_misspelt_column_is_no_attribute():
    with pytest.raises(AttributeError):
        _ = Events.none().modle
