"""Rows against lists of tuples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Flags, Numbers, Texts, codes_of, column, or_null
from tracekit.rows import (
    Rows,
    counts_by,
    first_codes,
    group_ids,
    held_texts,
    in_order,
    joined,
    places_of,
    start_order,
    sums_by,
)


@dataclass(frozen=True, slots=True, eq=False)
class Visits(Rows):
    id: IntArray = column("number")
    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    guest: Texts = column("who came", ("ann", "bob"))
    room: Numbers = column("number of the room")
    paid: BoolArray = column("whether they paid")
    back: Flags = column("whether they came back")


VISITS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.integers(0, 3),
        st.sampled_from(["ann", "bob", None]),
        st.none() | st.integers(0, 3),
        st.booleans(),
        st.sampled_from([True, False, None]),
    ),
    max_size=10,
)
IDS = st.lists(st.integers(0, 60), unique=True, max_size=10)


def visits(values):
    """Rows of (start, duration, guest, room, paid, back)."""
    start, duration, guest, room, paid, back = map(list, zip(*values, strict=True)) if values else ([],) * 6
    names = list(dict.fromkeys(name for name in guest if name is not None))
    return Visits(
        np.arange(len(values)),
        np.array(start, np.int64),
        np.array(duration, np.int64),
        codes_of(np.array([-1 if name is None else names.index(name) for name in guest], np.int32), names),
        or_null(np.array([-1 if number is None else number for number in room], np.int64)),
        np.array(paid, np.bool_),
        Flags(
            np.array([bool(each) for each in back], np.bool_), np.array([each is not None for each in back], np.bool_)
        ),
    )


def listed(rows):
    """The rows as they were given, without `id`."""
    return [
        (int(start), int(duration), rows.guest.item(at), rows.room.item(at), bool(paid), rows.back.item(at))
        for at, (start, duration, paid) in enumerate(zip(rows.start_ns, rows.duration_ns, rows.paid, strict=True))
    ]


@given(VISITS, st.data())
def test_rows_are_taken_by_position_and_by_mask(values, data):
    rows = visits(values)
    assert listed(rows) == values
    assert len(rows) == len(values)
    places = data.draw(st.lists(st.integers(0, max(len(values) - 1, 0)), max_size=5 if values else 0))
    taken = rows.take(np.array(places, np.int64))
    assert listed(taken) == [values[at] for at in places]
    assert taken.id.tolist() == places
    mask = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    chosen = rows.where(np.array(mask, np.bool_))
    assert listed(chosen) == [value for value, take in zip(values, mask, strict=True) if take]
    assert (chosen is rows) == (all(mask))


def test_rows_side_by_side_are_not_copied():
    rows = visits([(at, 1, "ann", 1, True, None) for at in range(4)])
    part = rows.where(np.array([False, True, True, False]))
    assert np.shares_memory(part.start_ns, rows.start_ns)
    assert np.shares_memory(part.guest.codes, rows.guest.codes)


@given(st.lists(VISITS, min_size=1, max_size=3))
def test_parts_are_joined_below_one_another(parts):
    whole = joined([visits(part) for part in parts])
    assert listed(whole) == [value for part in parts for value in part]
    backwards = np.arange(len(whole))[::-1]
    assert listed(joined([visits(part) for part in parts], backwards)) == listed(whole)[::-1]
    assert held_texts([visits(part).guest for part in parts]) == {
        guest for part in parts for _, _, guest, *_ in part if guest is not None
    }


@given(VISITS)
def test_rows_stand_by_start_then_longest_first_then_as_they_stood(values):
    rows = visits(values)
    found = in_order(rows, start_order(rows.start_ns, rows.duration_ns))
    assert listed(found) == sorted(values, key=lambda value: (value[0], -value[1]))
    assert listed(in_order(rows, start_order(rows.start_ns))) == sorted(values, key=lambda value: value[0])


def test_no_rows_and_blank_ones_have_all_columns():
    assert listed(Visits.none()) == []
    assert listed(Visits.blank(2)) == [(0, 0, None, None, False, None)] * 2
    assert Visits.blank(2).guest.values == Visits.none().guest.values == ("ann", "bob")
    assert list(Visits.none().columns()) == ["id", "start_ns", "duration_ns", "guest", "room", "paid", "back"]


@given(VISITS)
def test_a_frame_holds_what_rows_hold(values):
    frame = visits(values).where(np.array([value[4] for value in values], np.bool_)).frame()
    paid = [value for value in values if value[4]]
    # The labels are those of a frame of all rows, of which these are taken.
    chosen = np.flatnonzero(np.array([value[4] for value in values], np.bool_))
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(len(values))[chosen], exact=True)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        "start_ns": "int64",
        "duration_ns": "int64",
        "guest": "category",
        "room": "Int64",
        "paid": "bool",
        "back": "boolean",
    }
    for name, at in (("start_ns", 0), ("guest", 2), ("room", 3), ("back", 5)):
        assert frame[name].astype(object).where(frame[name].notna(), None).tolist() == [value[at] for value in paid]


@given(IDS, st.lists(st.integers(-2, 70), max_size=12), st.sampled_from([1, 1000]))
def test_places_counts_and_sums_by_id(ids, sought, apart):
    known = np.array(ids, np.int64) * apart
    of_rows = np.array([each * apart if each > 0 else each for each in sought], np.int64)
    values = np.arange(len(sought)) + 1
    expected = [ids.index(each) if each in ids else -1 for each in sought]
    assert places_of(known, of_rows).tolist() == expected
    assert counts_by(known, of_rows).tolist() == [expected.count(at) for at in range(len(ids))]
    assert sums_by(known, of_rows, values).tolist() == [
        sum(int(value) for at, value in zip(expected, values, strict=True) if at == place) for place in range(len(ids))
    ]


@given(st.lists(st.integers(-3, 6)), st.sampled_from([1, 1 << 40]))
def test_values_are_numbered_in_the_order_in_which_they_appear(values, apart):
    number = {}
    numbers = [number.setdefault(value * apart, len(number)) for value in values]
    found, distinct = first_codes(np.array(values, np.int64) * apart)
    assert (found.tolist(), distinct.tolist()) == (numbers, list(number))


@given(
    st.lists(st.tuples(st.sampled_from([-1, 0, 5, 1 << 62, -1 << 63]), st.integers(-1, 2), st.booleans(), st.just(7)))
)
def test_rows_have_the_same_number_where_they_are_equal_in_each_column(rows):
    columns = [np.array([row[at] for row in rows], dtype) for at, dtype in enumerate((int, np.int8, bool, int))]
    number = {}
    assert group_ids(columns, len(rows)).tolist() == [number.setdefault(row, len(number)) for row in rows]
