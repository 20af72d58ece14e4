"""Shared arrays, codes of columns, and labels against the same composed one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.arrays import BLOCK_BYTES, parse_arrays
from tracekit.recording.bundle.labels import Labels
from tracekit.recording.bundle.types import KNOWN
from tracekit.recording.bundle.values import TextBudget
from tracekit.recording.table import merge_codes, number_codes

ARRAYS = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=5), min_size=1, max_size=20)


@settings(deadline=None)
@given(arrays=ARRAYS, data=st.data())
def test_every_array_is_found_by_its_reference(shared_arrays, arrays, data):
    arrays_read = parse_arrays(*shared_arrays(arrays))
    assert len(arrays_read) == len(arrays)
    wanted = data.draw(st.lists(st.integers(0, len(arrays) - 1)))
    read: list[list[int]] = [[-1]] * len(wanted)
    for positions, numbers in arrays_read.of_one_length(np.array(wanted, np.int64)):
        for position, row in zip(positions, numbers.tolist(), strict=True):
            read[position] = row
    assert read == [arrays[reference] for reference in wanted]


@settings(deadline=None)
@given(arrays=ARRAYS, data=st.data())
def test_changed_files_of_arrays_are_read_or_refused(shared_arrays, arrays, data):
    index, content = map(bytearray, shared_arrays(arrays))
    part = data.draw(st.sampled_from([index, content]))
    used = len(index) if part is index else 32 + sum(4 + 8 * len(array) for array in arrays)
    part[data.draw(st.integers(0, used - 1))] = data.draw(st.integers(0, 255))
    try:
        arrays_read = parse_arrays(bytes(index), bytes(content))
    except DamageError:
        return
    for positions, numbers in arrays_read.of_one_length(np.arange(len(arrays_read))):
        assert len(positions) == len(numbers)


def test_references_beyond_the_last_array_and_short_arrays_are_damage(shared_arrays):
    arrays_read = parse_arrays(*shared_arrays([[1, 2], [3]]))
    assert arrays_read.prefixes(np.array([0], np.int64), 2).tolist() == [[1, 2]]
    with pytest.raises(DamageError, match="refers to shared array 2, and there are 2"):
        arrays_read.check(np.array([0, 2], np.int64))
    with pytest.raises(DamageError, match="fewer than 2 numbers"):
        arrays_read.prefixes(np.array([0, 1], np.int64), 2)


@pytest.mark.parametrize(
    ("offset", "value", "reason"),
    [(0, 1, "unknown format"), (28, 2, "unknown size"), (43, 255, "points outside"), (44, 9, "points outside")],
)
def test_an_index_that_does_not_hold_is_damage(shared_arrays, offset, value, reason):
    index, data = shared_arrays([[1, 2]])
    changed = bytearray(index)
    changed[offset] = value
    with pytest.raises(DamageError, match=reason):
        parse_arrays(bytes(changed), data)


def test_an_array_does_not_leave_its_block(shared_arrays):
    index, data = shared_arrays([[1, 2]])
    changed = bytearray(data)
    changed[32:36] = (BLOCK_BYTES // 8).to_bytes(4, "little")
    with pytest.raises(DamageError, match="longer than its block"):
        parse_arrays(index, bytes(changed))
    with pytest.raises(DamageError, match="blocks of an unknown size"):
        parse_arrays(index, data[:-8])


NUMBERS = st.lists(st.integers(0, 300) | st.sampled_from([2**32 - 2, 2**63, 2**64 - 2]), max_size=40)


@settings(deadline=None)
@given(NUMBERS, st.data())
def test_codes_count_distinct_numbers_by_first_appearance(matches, data):
    valid = data.draw(st.lists(st.booleans(), min_size=len(matches), max_size=len(matches)))
    distinct, codes = number_codes(np.array(matches, np.uint64), np.array(valid, np.bool_))
    expected = list(dict.fromkeys(number for number, kept in zip(matches, valid, strict=True) if kept))
    assert distinct.tolist() == expected
    assert codes.tolist() == [expected.index(n) if kept else -1 for n, kept in zip(matches, valid, strict=True)]


def test_codes_of_many_rows_count_what_appears_late_too():
    references = np.tile(np.array([7, 3], np.uint32), 40_000)
    references[70_000] = 5
    distinct, codes = number_codes(references, np.ones(len(references), np.bool_))
    assert distinct.tolist() == [7, 3, 5]
    assert (distinct[codes] == references).all()


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.data())
def test_equal_values_get_one_code(values, data):
    codes = data.draw(st.lists(st.integers(-1, len(values) - 1)))
    cells = merge_codes(np.array(codes, np.int32), list(values))
    assert len(set(cells.values)) == len(cells.values)
    assert [cells.item(row) for row in range(len(codes))] == [None if code < 0 else values[code] for code in codes]


TYPES = [KNOWN[f"XR{name}TypeID"] for name in ("PrototypeString", "PrototypeValue", "UnsignedIntegerHexLowercase")]
PART = st.tuples(st.integers(0, 2), st.integers(0, 3))


@settings(deadline=None)
@given(labels=st.lists(st.lists(PART, max_size=4), min_size=1, max_size=15), data=st.data())
def test_labels_composed_together_are_those_composed_one_by_one(shared_arrays, labels, data):
    strings = ["", "a", "50 %d", "10"]
    arrays = parse_arrays(*shared_arrays([[number for part in label for number in part] for label in labels]))
    reader = Labels(
        arrays, list(TYPES), lambda _, numbers: [strings[number] for number in numbers.tolist()], TextBudget(0).spend
    )
    shown = (lambda value: strings[value], str, lambda value: f"{value:x}")
    wanted = data.draw(st.lists(st.integers(0, len(labels) - 1)))
    assert reader.texts(np.array(wanted, np.int64)) == [
        "".join(shown[kind](value) for kind, value in labels[reference]) for reference in wanted
    ]


def test_many_labels_that_share_their_words_differ_in_their_numbers(shared_arrays):
    """Some words are shared by a few labels each, and one by all; a percent sign stands for itself."""
    strings = ["at %x ", "load ", "run ", " end"]
    labels = [[0, 1 + number // 10 % 2, 0, 0, 2, number, 1, 7 * number, 0, 3] for number in range(200)]
    arrays = parse_arrays(*shared_arrays(labels))
    reader = Labels(
        arrays, list(TYPES), lambda _, numbers: [strings[number] for number in numbers.tolist()], TextBudget(0).spend
    )
    assert reader.texts(np.arange(200)) == [
        f"{strings[1 + number // 10 % 2]}at %x {number:x}{7 * number} end" for number in range(200)
    ]


def test_many_labels_with_several_words_that_vary_keep_each_its_own(shared_arrays):
    strings = ["load ", "run ", "here", "there"]
    labels = [[0, number % 2, 0, 2 + number // 2 % 2, 1, number] for number in range(400)]
    arrays = parse_arrays(*shared_arrays(labels))
    reader = Labels(
        arrays, list(TYPES), lambda _, numbers: [strings[number] for number in numbers.tolist()], TextBudget(0).spend
    )
    assert reader.texts(np.arange(400)) == [
        f"{strings[number % 2]}{strings[2 + number // 2 % 2]}{number}" for number in range(400)
    ]


@pytest.mark.parametrize(("labels", "allowed"), [(50, True), (51, False)])
def test_digits_count_for_the_characters_that_labels_may_have(shared_arrays, monkeypatch, labels, allowed):
    monkeypatch.setattr(limits, "MAX_TEXT_CHARS", 1000)
    largest = 2**64 - 1
    assert len(str(largest)) == 20
    reader = Labels(parse_arrays(*shared_arrays([[1, largest]] * labels)), list(TYPES), None, TextBudget(0).spend)
    if allowed:
        assert reader.texts(np.arange(labels)) == [str(largest)] * labels
    else:
        with pytest.raises(DamageError, match="more than 1,000 characters in total"):
            reader.texts(np.arange(labels))


def test_labels_inside_labels_stay_within_bounds(shared_arrays):
    """Each label holds the one before it thirty times: the fifth level would have 24 million characters a label."""
    label: Any = KNOWN["XRFormattedLabelTypeID"]
    text: Any = KNOWN["XRPrototypeStringTypeID"]
    levels = [[0, 0], *([1, below] * 30 for below in range(15))]
    arrays = parse_arrays(*shared_arrays(levels))
    reader = Labels(arrays, [text, label], lambda _, numbers: ["x"] * len(numbers), TextBudget(0).spend)
    assert len(reader.texts(np.array([2], np.int64))[0]) == 900
    with pytest.raises(DamageError, match="characters in total"):
        reader.texts(np.array([15], np.int64))
