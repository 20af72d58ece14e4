"""Time budgets and compute units as people write them, and where they end up."""

from __future__ import annotations

import pytest

from tracekit.detectors.expectations import (
    BUDGET_KEY,
    EXPECT_KEY,
    UNIT_NUMBERS,
    parse_budget,
    parse_expectation,
    parse_memory_limit,
    with_expectations,
)
from tracekit.detectors.options import option_infos
from tracekit.detectors.rules.not_on_expected_unit import DETECTOR
from tracekit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("neural-engine", (None, 1)),
        (" GPU ", (None, 2)),
        ("Segmenter=cpu", ("Segmenter", 3)),
        ("a=b= neural-engine", ("a=b", 1)),
    ],
)
def test_a_unit_for_all_models_or_one(text, expected):
    assert parse_expectation(text) == expected


@pytest.mark.parametrize("text", ["", "npu", "1", "=gpu", "Model=", "Model", "all"])
def test_no_other_unit_is_accepted(text):
    with pytest.raises(UsageError, match="write cpu, gpu or neural-engine"):
        parse_expectation(text)


def test_the_option_takes_every_unit_and_no_other_number():
    (info,) = (entry for entry in option_infos(DETECTOR) if f"{DETECTOR.id}.{entry.name}" == EXPECT_KEY)
    assert (info.default, info.maximum) == (0, max(UNIT_NUMBERS.values()))


def test_expectations_outweigh_settings_and_later_ones_earlier_ones():
    general, special = with_expectations(
        [],
        ["neural-engine", "gpu", "A=neural-engine", "A=cpu"],
        {EXPECT_KEY: 1, "cold-load.ratio": 3},
        {"A": {EXPECT_KEY: 1}, "*": {}},
    )
    assert general == {EXPECT_KEY: 2, "cold-load.ratio": 3}
    assert special == {"*": {}, "A": {EXPECT_KEY: 3}}
    # Later patterns win, and what the user says on the command line comes last.
    assert list(special) == ["*", "A"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16.7ms", (None, 16.7)),
        ("33.3", (None, 33.3)),
        (" 5 ms ", (None, 5.0)),
        ("30fps", (None, 1000 / 30)),
        ("60 fps", (None, 1000 / 60)),
        ("Segmenter=8ms", ("Segmenter", 8.0)),
        ("Style*=24fps", ("Style*", 1000 / 24)),
        ("a=b=.5", ("a=b", 0.5)),
    ],
)
def test_a_time_or_a_rate_for_all_models_or_one(text, expected):
    assert parse_budget(text) == expected


@pytest.mark.parametrize(
    "text", ["", "0", "0ms", "0fps", "-5", "fast", "1e3", "5 d", "inf", "nan", "=5", "Model=", "٣ms"]
)
def test_no_other_budget_is_accepted(text):
    with pytest.raises(UsageError, match="write a time or a rate above 0"):
        parse_budget(text)


def test_budgets_outweigh_settings_and_later_ones_earlier_ones():
    general, special = with_expectations(
        ["10", "20", "A=5", "A=6"],
        [],
        {BUDGET_KEY: 99, "cold-load.ratio": 3},
        {"A": {BUDGET_KEY: 1, "cold-load.ratio": 4}, "*": {BUDGET_KEY: 2}},
    )
    assert general == {BUDGET_KEY: 20.0, "cold-load.ratio": 3}
    assert special["A"] == {BUDGET_KEY: 6.0, "cold-load.ratio": 4}
    # Later patterns win, and what the user says on the command line comes last.
    assert list(special) == ["*", "A"]


def test_what_is_given_stays_as_it_is():
    settings: dict[str, float] = {}
    models: dict[str, dict[str, float]] = {"A": {}}
    with_expectations(["5", "A=6"], ["gpu", "A=cpu"], settings, models)
    assert (settings, models) == ({}, {"A": {}})


@pytest.mark.parametrize(("text", "megabytes"), [("3GB", 3_000), ("512MB", 512), (" 1.5 gb ", 1_500)])
def test_a_memory_limit_has_a_unit(text, megabytes):
    assert parse_memory_limit(text) == megabytes


@pytest.mark.parametrize("text", ["3", "", "0GB", "-1GB", "3TB", "GB", "1e3MB", "3 GB or so", "٣GB", "9" * 30 + "GB"])
def test_any_other_text_is_no_memory_limit(text):
    with pytest.raises(UsageError, match="write a size above 0 with its unit, as 3GB or 512MB"):
        parse_memory_limit(text)
