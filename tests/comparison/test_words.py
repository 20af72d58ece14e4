"""Why a comparison is inconclusive, and what would help."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.comparison import words
from tracekit.comparison.latency import Answer, LatencyChange, Reason


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
