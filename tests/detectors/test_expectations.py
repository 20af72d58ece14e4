"""Expectations as people write them, and where they end up."""

from __future__ import annotations

import pytest

from tracekit.detectors.expectations import EXPECT_KEY, UNIT_NUMBERS, parse_expectation, with_expectations
from tracekit.detectors.options import option_infos
from tracekit.detectors.rules.unexpected_device import DETECTOR
from tracekit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ane", (None, 1)), (" GPU ", (None, 2)), ("Segmenter=cpu", ("Segmenter", 3)), ("a=b= ane", ("a=b", 1))],
)
def test_a_unit_for_all_models_or_one(text, expected):
    assert parse_expectation(text) == expected


@pytest.mark.parametrize("text", ["", "npu", "1", "=ane", "Model=", "Model", "all"])
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError, match="write ane, gpu or cpu"):
        parse_expectation(text)


def test_the_option_takes_every_unit_and_no_other_number():
    (info,) = (entry for entry in option_infos(DETECTOR) if f"{DETECTOR.id}.{entry.name}" == EXPECT_KEY)
    assert (info.default, info.maximum) == (0, max(UNIT_NUMBERS.values()))


def test_expectations_outweigh_settings_and_later_ones_earlier_ones():
    general, special = with_expectations(
        ["ane", "gpu", "A=ane", "A=cpu"], {EXPECT_KEY: 1, "cold-load.ratio": 3}, {"A": {EXPECT_KEY: 1}, "*": {}}
    )
    assert general == {EXPECT_KEY: 2, "cold-load.ratio": 3}
    assert special == {"*": {}, "A": {EXPECT_KEY: 3}}
    # Later patterns win, and what the user says on the command line comes last.
    assert list(special) == ["*", "A"]
