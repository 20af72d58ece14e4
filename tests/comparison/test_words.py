"""Why a comparison is inconclusive, and what would help."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.comparison import words
from tracekit.comparison.latency import MIN_PREDICTIONS, Answer, LatencyChange, Reason


def undecided(reason: Reason | None, **settings: Any) -> LatencyChange:
    fields: dict[str, Any] = dict.fromkeys(("before_ns", "after_ns", "ratio", "low", "high", "wanted", "floor"))
    fields |= {
        "answer": Answer.INCONCLUSIVE,
        "reason": reason,
        "predictions": ((90,), (80,)),
        "effective": (90.0, 80.0),
    }
    return LatencyChange(**fields | settings)


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_has_words_of_its_own(reason: Reason) -> None:
    others = [words.reason(undecided(other)) for other in Reason if other is not reason]
    assert words.reason(undecided(reason)) not in ("", *others)


def test_a_change_that_is_sure_needs_no_reason() -> None:
    assert words.reason(undecided(None)) == ""


def test_too_few_predictions_are_counted_on_the_side_that_has_fewer() -> None:
    few = undecided(Reason.FEW, predictions=((90,), (MIN_PREDICTIONS - 1,)))
    assert words.reason(few).startswith(f"{MIN_PREDICTIONS - 1} predictions, {MIN_PREDICTIONS} needed")


def test_predictions_that_depend_on_each_other_are_worth_fewer() -> None:
    dependent = undecided(Reason.FEW, effective=(40.2, 4.0))
    assert "effective sample size 4" in words.reason(dependent)


def test_what_would_settle_it_is_said_where_it_is_known() -> None:
    assert "at least 200 predictions per side" in words.reason(undecided(Reason.WIDE, wanted=200))
    assert "a side" not in words.reason(undecided(Reason.WIDE))
    assert "at least 5 recordings per side" in words.reason(undecided(Reason.WIDE, effective=None, wanted=5))
    assert "in the same state of the device" in words.reason(undecided(Reason.SMALL, effective=None))


@pytest.mark.parametrize(("count", "advice"), [(50, "at least 50 predictions"), (96, "at least 3 recordings")])
def test_no_advice_takes_longer_than_recording_again(count: int, advice: str) -> None:
    change = undecided(Reason.FEW, before_ns=4.3e9, after_ns=4.3e9, wanted=count)
    assert advice in words.reason(change)


def test_a_change_that_may_be_too_small_names_what_counts() -> None:
    assert "maybe by less than 5%" in words.reason(undecided(Reason.SMALL, floor=0.05))


def test_what_is_counted_has_its_name() -> None:
    few = undecided(Reason.FEW, wanted=12, counted="first tokens", predictions=((3,), (1,)), effective=None)
    assert words.sample_counts(few) == "3 and 1 first tokens"
    few = undecided(Reason.FEW, wanted=12, counted="first tokens", predictions=((3,), (1,)))
    assert words.reason(few) == "1 first token; record at least 12 first tokens per side"
