"""Why a comparison is inconclusive, and what would help."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.comparison import words
from tracekit.comparison.latency import Answer, LatencyChange, Reason
from tracekit.comparison.non_inferiority import Held


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


SLOW = {"before_ns": 4.3e9, "after_ns": 4.3e9}
TOKENS = {"wanted": 12, "counted": "first tokens", "predictions": ((3,), (1,))}


@pytest.mark.parametrize(
    ("reason", "settings", "said"),
    [
        ("FEW", {"predictions": ((90,), (11,))}, "11 predictions, 12 needed"),
        ("FEW", {"effective": (40.2, 4.0)}, "effective sample size 4"),
        ("SHORT", {"wanted": 50}, "at least 50 predictions per side"),
        ("RUNS", {}, "at least 3 recordings per side"),
        ("WIDE", {"effective": None, "wanted": 5}, "at least 5 recordings per side"),
        ("SMALL", {"effective": None}, "10 per side would not tell either"),
        ("SMALL", {"floor": 0.05}, "maybe by less than 5%"),
        # No advice takes longer than recording again.
        ("FEW", {**SLOW, "wanted": 50}, "at least 50 predictions"),
        ("FEW", {**SLOW, "wanted": 96}, "at least 3 recordings"),
        ("FEW", TOKENS, "1 first token; record at least 12 first tokens per side"),
    ],
)
def test_a_reason_says_what_would_settle_it(reason: str, settings: dict[str, Any], said: str) -> None:
    assert said in words.reason(undecided(Reason[reason], **settings))


def test_what_is_not_known_is_not_said() -> None:
    assert words.reason(undecided(None)) == ""
    assert "per side" not in words.reason(undecided(Reason.HOT))
    assert words.sample_counts(undecided(Reason.FEW, **TOKENS, effective=None)) == "3 and 1 first tokens"


def seen(smallest: float, needed: int | None, allowed: float = 0.05) -> Held:
    return Held(True, None, (1e7, 1e7), 0.0, -0.1, 0.1, allowed, smallest, needed, ((60,) * 3, (60,) * 3))


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"A": seen(0.05, 3)}, "these recordings can show a slowdown of what is allowed"),
        (
            {"A": seen(0.08, 6), "B": seen(0.14, 9), "C": seen(0.05, 3), "D": None},
            "a slowdown of 14% of B, 8% of A; 9 recordings per side would make it 5%",
        ),
        (
            {"A": seen(0.4, None)},
            "a slowdown of 40% of A; 10 recordings per side would not make it 5% either: allow more",
        ),
        ({str(at): seen(0.1 + at / 100, 7) for at in range(5)}, "14% of 4, 13% of 3, 12% of 2, less of 2 other models"),
        ({"A": None}, ""),
    ],
)
def test_a_check_says_how_large_a_slowdown_it_can_show(held: dict[str, Held | None], said: str) -> None:
    assert said in words.what_is_seen(held)
