"""Sorting and searching answer as numpy does, on both sides of the sizes from which on they go another way."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tracekit.sorting import (
    distinct_numbers,
    equal_groups,
    few_bits,
    group_edges,
    is_first_of_each,
    occurrence,
    places,
    ranks,
    stable_order,
)

SIZES = (0, 1, 2, 2999, 3000, 5000)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("is_ascending", [True, False])
@pytest.mark.parametrize("sought", SIZES)
@pytest.mark.parametrize("values", SIZES)
def test_places_are_those_of_numpy(
    values: int, sought: int, is_ascending: bool, side: Literal["left", "right"]
) -> None:
    draws = np.random.default_rng(values + sought)
    # Few distinct numbers, so that many are equal, and some sought ones lie outside.
    ascending = np.sort(draws.integers(0, 1000, values))
    times = draws.integers(-10, 1010, sought)
    times = np.sort(times) if is_ascending else times
    assert np.array_equal(places(ascending, times, side), np.searchsorted(ascending, times, side))


@given(values=st.lists(st.integers(-3, 9) | st.integers(-(1 << 62), 1 << 62)), kind=st.sampled_from(["i8", "i2", "u8"]))
def test_distinct_numbers_are_those_of_a_set(values: list[int], kind: str) -> None:
    fitting = [value for value in values if np.iinfo(kind).min <= value <= np.iinfo(kind).max]
    assert distinct_numbers(np.array(fitting, kind)).tolist() == sorted(set(fitting))


@pytest.mark.parametrize("span", [1, 1000, (1 << 16) - 1, 1 << 16, (1 << 32) - 1, 1 << 32, 1 << 62])
@pytest.mark.parametrize("low", [0, -(1 << 62), 1 << 61])
@pytest.mark.parametrize("size", SIZES)
def test_the_order_is_that_of_a_stable_sort(size: int, low: int, span: int) -> None:
    draws = np.random.default_rng(span)
    values = low + draws.integers(0, span, size, endpoint=True)
    # Both ends, and equal values at each.
    values[:2], values[-2:] = low, low + span
    assert np.array_equal(stable_order(values), np.argsort(values, kind="stable"))


def test_fractions_are_ordered_and_codes_keep_their_bits() -> None:
    values = np.random.default_rng(5).random(5000)
    assert np.array_equal(stable_order(values), np.argsort(values, kind="stable"))

    assert few_bits(np.array([-1, (1 << 15) - 1])).dtype == np.int16
    assert few_bits(np.array([-1, 1 << 15])).dtype == np.int64


@pytest.mark.parametrize("size", SIZES)
def test_edges_hold_the_groups_between_them(size: int) -> None:
    groups = np.sort(np.random.default_rng(size).integers(0, 700, size))
    assert np.array_equal(group_edges(groups, 700), np.searchsorted(groups, np.arange(701)))


@pytest.mark.parametrize("span", [0, 1, 1000, 1 << 62])
@pytest.mark.parametrize("low", [0, -3, -(1 << 62), 1 << 61])
@pytest.mark.parametrize("size", SIZES)
def test_ranks_are_the_places_among_the_distinct_values(size: int, low: int, span: int) -> None:
    values = low + np.random.default_rng(size).integers(0, span, size, endpoint=True)
    distinct, rank = ranks(values)
    expected = sorted(set(values.tolist()))
    assert distinct.tolist() == expected
    assert [expected[place] for place in rank.tolist()] == values.tolist()


@given(st.lists(st.integers(0, 6)))
def test_each_number_has_so_many_like_it_before(values: list[int]) -> None:
    before = [values[:place].count(value) for place, value in enumerate(values)]
    assert occurrence(np.array(values, np.int64)).tolist() == before
    assert is_first_of_each(np.array(values, np.int64)).tolist() == [not count for count in before]
    groups = {each: [at for at, value in enumerate(values) if value == each] for each in sorted(set(values))}
    assert [group.tolist() for group in equal_groups(np.array(values, np.int64))] == list(groups.values())
